//! Kubeflow SDK's `TransformersTrainer` (opendatahub-io/kubeflow-sdk `kubeflow/trainer/rhai/transformers.py`,
//! `instrumentation/transformers_checkpoint.py`), which puts a Python script with its settings into the arguments. The
//! script patches the Trainer: it saves on SIGTERM if told so, and takes up the latest checkpoint by itself.

use super::finding::Finding;
use super::words::{At, Word};
use super::{Answer, Container, Sign, shown::shown};

const CALL: &str = "_create_checkpoint_instrumentation(checkpoint_config)";
const SETTINGS: &str = "checkpoint_config = {";

/// What the script's settings tell.
pub(super) fn finding(container: &Container) -> Option<Finding> {
    let all = container.command.iter().enumerate().map(|(index, text)| ("command", index, text));
    let mut all = all.chain(container.args.iter().enumerate().map(|(index, text)| ("args", index, text)));
    let (list, index, text) = all.find(|(_, _, text)| text.contains(CALL))?;
    let settings = text.split_once(SETTINGS)?.1;
    let settings = settings.split_once('}').map_or(settings, |(settings, _)| settings);
    let saves_on_sigterm = entry(settings, "enable_jit") == Some("True");
    let strategy = entry(settings, "save_strategy");
    let every = match strategy {
        Some("steps") => entry(settings, "save_steps").map(|steps| format!("{steps} steps")),
        Some("epoch") => Some("1 epoch".to_owned()),
        _ => None,
    };
    let place = entry(settings, "cloud_remote_storage_uri").or_else(|| entry(settings, "output_dir"));
    let path = format!("spec.containers[name={}].{list}[{index}]", container.name);
    let sign = |key: &str| {
        let value = Some(shown(&format!("'{key}': {}", entry(settings, key)?)));
        Some(Sign { container: Some(container.name.to_owned()), path: path.clone(), value })
    };
    let keys = ["enable_jit", "output_dir", "cloud_remote_storage_uri", "save_strategy", "save_steps"];
    let saves = saves_on_sigterm || strategy.is_some_and(|strategy| strategy != "no");
    let resumes_why =
        if saves { "the SDK's script takes up the latest checkpoint by itself" } else { "nothing is saved" };
    Some(Finding {
        framework: Some("Kubeflow TransformersTrainer"),
        saves: if saves { Answer::Yes } else { Answer::No },
        saves_why: match place {
            Some(place) if saves => format!("the SDK's script is configured to save to {}", shown(place)),
            _ if saves => "the SDK's script is configured to save where the Trainer is told to".to_owned(),
            _ => "the SDK's script saves neither on SIGTERM nor from time to time".to_owned(),
        },
        place: place.filter(|_| saves).map(|place| Word::of(place, At::Args(index))),
        every,
        resumes: if saves { Answer::Yes } else { Answer::No },
        resumes_why: resumes_why.to_owned(),
        saver: saves_on_sigterm.then(|| "enable_jit_checkpoint".to_owned()),
        signs: keys.iter().filter_map(|key| sign(key)).collect(),
        ..Finding::none()
    })
}

/// A value of a Python dict that is printed with one entry a line.
fn entry<'t>(settings: &'t str, key: &str) -> Option<&'t str> {
    let (_, behind) = settings.split_once(&format!("'{key}':"))?;
    let value = behind.lines().next().unwrap_or_default().trim().trim_end_matches(',').trim();
    Some(value.trim_matches(['\'', '"'])).filter(|value| !matches!(*value, "" | "None"))
}
