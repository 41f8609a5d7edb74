//! Names of flags and variables that many scripts share. Keys with dots are taken by their last part.

use super::finding::{Finding, by_switch, unless_it_changes};
use super::line::{Line, Setting};
use super::{Answer, Container, shown::shown};

/// Names of a directory to save to.
const PLACES: [&str; 21] = [
    "checkpoint_dir",
    "checkpoints_dir",
    "checkpoint_directory",
    "checkpoint_folder",
    "checkpoint_root",
    "checkpoint_base_dir",
    "checkpoint_save_dir",
    "checkpoint_save_path",
    "checkpoint_output_dir",
    "ckpt_dir",
    "ckpts_dir",
    "ckpt_folder",
    "ckpt_save_dir",
    "ckpt_save_path",
    "ckpt_output_dir",
    "save_checkpoint_dir",
    "save_checkpoint_path",
    "save_ckpt_dir",
    "save_ckpt_path",
    "snapshot_dir",
    "default_local_dir",
];
/// Names that may be of something else, too: a model to start from, results.
const PERHAPS: [&str; 15] = [
    "checkpoint_path",
    "path_checkpoint",
    "checkpoint",
    "ckpt_path",
    "ckpt",
    "save_dir",
    "save_path",
    "save_folder",
    "output_dir",
    "output_path",
    "out_dir",
    "model_dir",
    "snapshot_path",
    "storage_path",
    "local_checkpoint_directory",
];
/// Names of how often, with the unit where the name has it.
const EVERY: [(&str, &str); 19] = [
    ("save_steps", "steps"),
    ("checkpointing_steps", "steps"),
    ("save_every_n_steps", "steps"),
    ("save_checkpoint_steps", "steps"),
    ("every_n_train_steps", "steps"),
    ("save_interval", ""),
    ("non_persistent_save_interval", ""),
    ("save_every", ""),
    ("save_freq", ""),
    ("save_frequency", ""),
    ("save_period", ""),
    ("checkpoint_interval", ""),
    ("checkpoint_period", ""),
    ("checkpoint_every", ""),
    ("checkpoint_freq", ""),
    ("checkpoint_frequency", ""),
    ("ckpt_interval", ""),
    ("ckpt_every", ""),
    ("ckpt_freq", ""),
];
/// Names that say to resume.
const RESUME: [&str; 12] = [
    "resume",
    "auto_resume",
    "autoresume",
    "resume_from_checkpoint",
    "resume_from",
    "resume_from_ckpt",
    "resume_if_exists",
    "resume_training",
    "resume_path",
    "resume_checkpoint",
    "resume_mode",
    "restart_from_checkpoint",
];
/// Before a dot, these say that the key is of recomputing, or of a model to start from.
const FRIENDS: [&str; 10] =
    ["checkpointer", "activation", "gradient", "pretrain", "load", "init", "teacher", "eval", "tokenizer", "reference"];
/// Programs that do not train.
const NOT_TRAINING: [&str; 19] = [
    "vllm",
    "sglang",
    "tritonserver",
    "serve",
    "serving",
    "server",
    "inference",
    "infer",
    "generate",
    "predict",
    "eval",
    "evaluate",
    "decode",
    "jetstream",
    "convert",
    "export",
    "merge",
    "download",
    "validate",
];

/// Whether a variable of this name may tell of checkpoints.
pub(crate) fn is_sign_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let is_every = || EVERY.iter().any(|(every, _)| *every == name);
    let lists: [&[&str]; 3] = [&PLACES, &PERHAPS, &RESUME];
    lists.iter().any(|list| list.contains(&&*name)) || is_every() || name == "jobset_name" || name.starts_with("m_")
}

/// Whether the line, or the image, serves or converts models.
pub(super) fn is_not_training(line: &Line, container: &Container) -> bool {
    let of = |word: &str| {
        let last = word.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
        last.split(|c: char| !c.is_ascii_alphanumeric()).any(|part| NOT_TRAINING.contains(&part))
    };
    let servers = ["vllm", "sglang", "tritonserver", "text-generation-inference", "jetstream"];
    line.words.iter().any(|word| of(word)) || servers.iter().any(|name| container.image.contains(name))
}

/// What the names in a line and its variables tell.
pub(super) fn generic(line: &Line, container: &Container) -> Finding {
    let mut finding = Finding { directory: line.directory.clone(), ..Finding::none() };
    if is_not_training(line, container) {
        return Finding { saves_why: "the program does not train, by its name".to_owned(), ..finding };
    }
    let mut every = None;
    let mut perhaps = None;
    let mut place = None;
    for (setting, name) in names(line) {
        let value = setting.named();
        if PLACES.contains(&&*name) && (value.is_some() || setting.value.is_none()) {
            place = Some(setting);
        } else if PERHAPS.contains(&&*name) && value.is_some() {
            perhaps = Some(setting);
        } else if let Some((value, (_, unit))) = value.zip(EVERY.iter().find(|(every, _)| *every == name)) {
            let unit = if unit.is_empty() { format!("({})", setting.written) } else { (*unit).to_owned() };
            every = Some(format!("{} {unit}", shown(&value.text)));
        } else if RESUME.contains(&&*name) {
            (finding.resumes, finding.resumes_why) = by_switch(setting);
        } else {
            continue;
        }
        finding.signs.push(setting.sign(container.name));
    }
    let found = match (place, perhaps) {
        // Beside a directory for what it puts out, a directory of checkpoints may be the model that it starts from.
        (Some(place), Some(out)) if may_be_read(&place.key) && is_output(&out.key) => Some(out),
        (place, perhaps) => place.or(perhaps),
    };
    let is_place = place.is_some() && found.map(|found| &found.key) == place.map(|place| &place.key);
    finding.place = found.map(Setting::word);
    (finding.saves, finding.saves_why) = match found {
        Some(setting) if is_place || every.is_some() => {
            let to = finding.place.as_ref().map(|word| shown(&word.text)).unwrap_or_default();
            (Answer::Yes, format!("by its name, {} has it save to {to}", setting.written))
        }
        Some(setting) => (Answer::Unknown, format!("{} may be where it saves, or what it reads", setting.written)),
        None if every.is_some() => (Answer::Unknown, "it is told how often to save, but not where".to_owned()),
        None => (Answer::Unknown, finding.saves_why),
    };
    finding.every = every;
    let change = finding.place.as_ref().filter(|_| finding.resumes == Answer::Yes).map(|place| place.change);
    if let Some(changes) = change.and_then(unless_it_changes) {
        (finding.resumes, finding.resumes_why) = changes;
    }
    finding
}

/// Names that say of checkpoints, but not that they are saved there (`LitGPT`'s `--checkpoint_dir` is the model).
fn may_be_read(key: &str) -> bool {
    let names =
        ["checkpoint_dir", "checkpoints_dir", "checkpoint_directory", "checkpoint_folder", "ckpt_dir", "ckpts_dir"];
    names.contains(&last_part(key))
}

fn is_output(key: &str) -> bool {
    let names = ["output_dir", "output_path", "out_dir", "save_dir", "save_path", "save_folder"];
    names.contains(&last_part(key))
}

fn last_part(key: &str) -> &str {
    key.rsplit_once('.').map_or(key, |(_, name)| name)
}

/// Variables, then flags, with their names in lower case and without what stands before a dot.
fn names(line: &Line) -> impl Iterator<Item = (&Setting, String)> {
    line.environment.iter().chain(&line.settings).filter_map(|setting| {
        let (before, name) = setting.key.rsplit_once('.').unwrap_or(("", &setting.key));
        let is_friend = FRIENDS.iter().any(|friend| before.contains(friend));
        (!is_friend).then(|| (setting, name.to_ascii_lowercase()))
    })
}
