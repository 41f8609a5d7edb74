//! Scenario files: the objects to create, and how their pods end.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::api::{Api, annotation, array, label, text};
use crate::family::step::Step;
use crate::wait::{Answer, until};
use crate::{kinds, yaml};

#[derive(Clone)]
pub(crate) struct Scenario {
    /// The file's, without its extension.
    pub(crate) name: String,
    objects: Vec<Value>,
    endings: Vec<Case>,
    /// What is done and waited for once the objects are there.
    pub(crate) steps: Vec<Step>,
}

/// The first case that fits a pod is played.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    #[serde(default)]
    when: When,
    then: Ending,
}

/// An empty list fits everything.
#[derive(Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct When {
    /// Completion indexes.
    index: Vec<u64>,
    /// How many pods of the same Job and index came before.
    earlier: Vec<u64>,
    /// The JobSet's restart attempt.
    restart: Vec<u64>,
    /// How often its Job alone was recreated.
    recreated: Vec<u64>,
    /// Part of the pod's name.
    name: Option<String>,
    /// The nodes it runs on.
    node: Vec<String>,
    /// Part of the image, or of an argument, of one of its containers: an update's pods differ by these.
    image: Option<String>,
    argument: Option<String>,
}

/// How a pod ends; times are in seconds. Without a word it runs for a second and succeeds.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Ending {
    pub(crate) run: f64,
    /// The exit code of the containers that `exit` does not name.
    pub(crate) code: i32,
    pub(crate) exit: BTreeMap<String, Exit>,
    /// Exit codes of init containers that fail.
    pub(crate) init: BTreeMap<String, i32>,
    /// The exit code of sidecars; else what a stop by signal gives.
    pub(crate) sidecar: Option<i32>,
    /// Pod conditions set at the end.
    pub(crate) conditions: Vec<Value>,
    /// The status of the pod at its end, as the kubelet's evictions have one.
    pub(crate) status: Option<Reason>,
    /// Whether the containers are ready while they run.
    pub(crate) ready: bool,
    /// The pod never starts: why its containers wait.
    pub(crate) waiting: Option<Reason>,
    /// The node refuses the pod.
    pub(crate) admission: Option<Reason>,
    /// Ends that the kubelet answers by starting the container again.
    pub(crate) restarts: Vec<Restart>,
    /// After the restarts the containers stay in back-off.
    pub(crate) crashloop: bool,
    /// Ends at the same moment as so many pods of its Job, itself among them.
    pub(crate) together: Option<usize>,
    /// From SIGTERM to the end.
    pub(crate) grace: f64,
    /// The exit code after SIGTERM.
    pub(crate) sigterm: i32,
}

impl Default for Ending {
    fn default() -> Self {
        Self {
            run: 1.0,
            code: 0,
            exit: BTreeMap::new(),
            init: BTreeMap::new(),
            sidecar: None,
            conditions: Vec::new(),
            status: None,
            ready: true,
            waiting: None,
            admission: None,
            restarts: Vec::new(),
            crashloop: false,
            together: None,
            grace: 1.0,
            sigterm: 143,
        }
    }
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Exit {
    pub(crate) code: i32,
    pub(crate) reason: Option<String>,
    pub(crate) message: Option<String>,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Reason {
    pub(crate) reason: String,
    pub(crate) message: String,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Restart {
    pub(crate) code: i32,
    pub(crate) reason: Option<String>,
    pub(crate) message: Option<String>,
    /// Seconds of running before it.
    pub(crate) after: f64,
}

/// Creates an object, and asks again where a webhook refuses it: Kueue's for `TrainJob`s serves before it knows the Trainer's
/// runtimes, and calls them unsupported until then. What is wrong with an object stays wrong.
async fn admitted(api: &Api, path: &str, object: &Value) -> Result<()> {
    let limit = std::time::Duration::from_secs(30);
    until("an object to be admitted", limit, || async {
        match api.create(path, object).await {
            Ok(_) => Ok(Answer::Ready(())),
            Err(error) if format!("{error:#}").contains("admission webhook") => {
                Ok(Answer::NotYet(format!("{error:#}")))
            }
            Err(error) => Err(error),
        }
    })
    .await
}

impl Scenario {
    /// Every file of `scenarios/`.
    pub(crate) fn all() -> Result<Vec<Self>> {
        Self::of("scenarios")
    }

    /// Those that need the feature gate `RestartJob`.
    pub(crate) fn with_restart_job() -> Result<Vec<Self>> {
        Self::of("scenarios/restart-job")
    }

    /// Those that are restarted.
    pub(crate) fn restarted() -> Result<Vec<Self>> {
        Self::of("scenarios/restarts")
    }

    /// Those that are waited for.
    pub(crate) fn waited() -> Result<Vec<Self>> {
        Self::of("scenarios/waits")
    }

    /// One object of each kind that the published roles name.
    pub(crate) fn one_of_each() -> Result<Vec<Self>> {
        Self::of("scenarios/access")
    }

    /// Those of the kinds beside Jobs and `JobSet`s, and of what stands above these.
    pub(crate) fn family() -> Result<Vec<Self>> {
        Self::of("scenarios/family")
    }

    fn of(folder: &str) -> Result<Vec<Self>> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
        let entries = std::fs::read_dir(&folder).with_context(|| format!("cannot read {}", folder.display()))?;
        let mut files: Vec<PathBuf> = entries.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
        files.retain(|file| file.is_file());
        files.sort();
        files.iter().map(|file| Self::read(file)).collect()
    }

    fn read(file: &Path) -> Result<Self> {
        let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let (mut objects, mut endings, mut steps) = (Vec::new(), Vec::new(), Vec::new());
        for mut document in yaml::documents(file)? {
            match text(&document, "/kind") {
                "Endings" => endings.extend(listed::<Case>(document["pods"].take(), file)?),
                "Steps" => steps.extend(listed::<Step>(document["steps"].take(), file)?),
                _ => objects.push(document),
            }
        }
        Ok(Self { name, objects, endings, steps })
    }

    /// The namespace its objects are in, which is one, or that of the first.
    pub(crate) fn namespace(&self) -> &str {
        let namespaces = self.objects.iter().map(|object| text(object, "/metadata/namespace"));
        namespaces.into_iter().find(|namespace| !namespace.is_empty()).unwrap_or_default()
    }

    pub(crate) async fn create(&self, api: &Api) -> Result<()> {
        for object in &self.objects {
            let namespace = text(object, "/metadata/namespace");
            if !namespace.is_empty() {
                let body = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}});
                api.ensure("/api/v1/namespaces", &body).await?;
            }
            let path = kinds::collection_of(object)?;
            // Those of the whole cluster may be another scenario's too.
            if namespace.is_empty() {
                api.ensure(&path, object).await?;
            } else {
                admitted(api, &path, object).await?;
            }
        }
        Ok(())
    }

    /// The pod's ending if it belongs to one of this file's objects.
    pub(crate) fn ending(&self, pod: &Value, earlier: u64) -> Option<&Ending> {
        let name = text(pod, "/metadata/name");
        let ours = self.objects.iter().any(|object| {
            // A Sandbox's pod has its name, others' begin with it.
            let rest = name.strip_prefix(text(object, "/metadata/name"));
            text(object, "/metadata/namespace") == text(pod, "/metadata/namespace")
                && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
        });
        if !ours {
            return None;
        }
        self.endings.iter().find(|case| case.when.fits(pod, earlier)).map(|case| &case.then)
    }
}

impl When {
    fn fits(&self, pod: &Value, earlier: u64) -> bool {
        let parsed = |value: Option<&str>| value.and_then(|value| value.parse().ok());
        let index = parsed(annotation(pod, "batch.kubernetes.io/job-completion-index"));
        let restart = parsed(label(pod, "jobset.sigs.k8s.io/restart-attempt"));
        let recreated = parsed(label(pod, "jobset.sigs.k8s.io/job-restart-attempt"));
        let named = self.name.as_ref().is_none_or(|part| text(pod, "/metadata/name").contains(part.as_str()));
        let containers = array(pod, "/spec/containers");
        let pictured = |part: &String| containers.iter().any(|container| text(container, "/image").contains(part));
        let told = |part: &String| {
            let mut arguments = containers.iter().flat_map(|container| array(container, "/args"));
            arguments.any(|argument| argument.as_str().is_some_and(|argument| argument.contains(part)))
        };
        let node = text(pod, "/spec/nodeName");
        named
            && (self.node.is_empty() || self.node.iter().any(|name| name == node))
            && self.image.as_ref().is_none_or(pictured)
            && self.argument.as_ref().is_none_or(told)
            && among(&self.index, index)
            && among(&self.earlier, Some(earlier))
            && among(&self.restart, restart)
            && among(&self.recreated, recreated)
    }
}

fn among(list: &[u64], value: Option<u64>) -> bool {
    list.is_empty() || value.is_some_and(|value| list.contains(&value))
}

/// The items of a document that is no object of the API.
fn listed<T: for<'a> Deserialize<'a>>(items: Value, file: &Path) -> Result<Vec<T>> {
    serde_json::from_value(items).with_context(|| file.display().to_string())
}
