//! Dumps to read, and what reading them came to.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::PathBuf;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};
use sigapps::source::file::read;
use sigapps::source::{Filter, Snapshot, Source};
use tempfile::TempDir;

/// What reading came to: the snapshot, the warnings, and the files' sources.
pub(crate) struct Outcome {
    pub(crate) snapshot: Snapshot,
    pub(crate) warnings: Vec<String>,
}

impl Outcome {
    pub(crate) fn files(&self) -> Vec<&Source> {
        self.snapshot.sources.iter().filter(|source| source.resource == "files").collect()
    }

    pub(crate) fn file(&self) -> &Source {
        match self.files()[..] {
            [file] => file,
            ref files => panic!("{files:?}"),
        }
    }

    /// Names of the pods that were kept.
    pub(crate) fn pods(&self) -> Vec<&str> {
        self.snapshot.pods.iter().map(|pod| &*pod.name).collect()
    }
}

pub(crate) struct Dumps(pub(crate) TempDir);

impl Dumps {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }

    /// Reads files, with the folder cut out of all messages.
    pub(crate) fn read(&self, paths: &[PathBuf]) -> Result<Outcome, String> {
        let paths: Vec<String> = paths.iter().map(|path| path.to_str().unwrap().to_owned()).collect();
        let folder = format!("{}/", self.0.path().display());
        let mut warnings = Vec::new();
        let snapshot = read(&paths, Filter::default(), &mut |line| warnings.push(line.replace(&folder, "")));
        match snapshot {
            Ok(snapshot) => Ok(Outcome { snapshot, warnings }),
            Err(error) => Err(error.to_string().replace(&folder, "")),
        }
    }
}

/// Reads `content` as the one file `name`.
pub(crate) fn read_as(name: &str, content: impl AsRef<[u8]>) -> Result<Outcome, String> {
    let dumps = Dumps::new();
    let path = dumps.file(name, content);
    dumps.read(&[path])
}

/// Reads `content` and gives the one warning there has to be.
pub(crate) fn warning_of(content: impl AsRef<[u8]>) -> (Outcome, String) {
    let outcome = read_as("dump.json", content).unwrap();
    let [warning] = &outcome.warnings[..] else { panic!("{:?}", outcome.warnings) };
    let warning = warning.clone();
    (outcome, warning)
}

pub(crate) fn pod(name: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": name, "namespace": "ns", "uid": format!("uid-of-{name}"), "resourceVersion": "7"},
        "spec": {"containers": [{"name": "main"}]},
        "status": {"phase": "Failed", "message": "say \"{[\\", "containerStatuses": [
            {"name": "main", "state": {"terminated": {"exitCode": 42, "finishedAt": "2026-11-30T09:12:05Z"}}}
        ]}
    })
}

pub(crate) fn list(items: &[Value]) -> Value {
    json!({"apiVersion": "v1", "items": items, "kind": "List", "metadata": {"resourceVersion": ""}})
}

pub(crate) fn pretty(value: &Value) -> String {
    let mut out = Vec::new();
    let formatter = serde_json::ser::PrettyFormatter::with_indent(b"    ");
    serde::Serialize::serialize(value, &mut serde_json::Serializer::with_formatter(&mut out, formatter)).unwrap();
    String::from_utf8(out).unwrap() + "\n"
}

pub(crate) fn gzip(content: impl AsRef<[u8]>) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(content.as_ref()).unwrap();
    encoder.finish().unwrap()
}

pub(crate) fn tar(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut archive = tar::Builder::new(Vec::new());
    for (name, content) in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(content.len() as u64);
        header.set_mode(0o644);
        archive.append_data(&mut header, name, *content).unwrap();
    }
    archive.into_inner().unwrap()
}

pub(crate) fn utf16(text: &str) -> Vec<u8> {
    format!("\u{feff}{text}").encode_utf16().flat_map(u16::to_le_bytes).collect()
}

pub(crate) const YAML_POD: &str = "apiVersion: v1
kind: Pod
metadata:
  name: a
  namespace: ns
  uid: uid-of-a
spec:
  containers:
  - name: main
status:
  phase: Failed
  message: |
    --- not a marker
    items:
    - no item
  containerStatuses:
  - name: main
    state:
      terminated:
        exitCode: 42
        finishedAt: \"2026-11-30T09:12:05Z\"
";

/// A list as `kubectl get -o yaml` prints it.
pub(crate) fn yaml_list(names: &[&str]) -> String {
    let mut yaml = String::from("apiVersion: v1\nitems:\n");
    for name in names {
        let pod = YAML_POD.replace("name: a\n", &format!("name: {name}\n")).replace("of-a", &format!("of-{name}"));
        for (number, line) in pod.lines().enumerate() {
            let _ = writeln!(yaml, "{} {line}", if number == 0 { "-" } else { " " });
        }
    }
    yaml + "kind: List\nmetadata:\n  resourceVersion: \"\"\n"
}

/// A list as `kubectl get -o kyaml` prints it.
pub(crate) fn kyaml_list(names: &[&str]) -> String {
    let item = |name: &&str| {
        format!(
            "{{\n    # the pod {{\n    apiVersion: \"v1\",\n    kind: \"Pod\",\n    metadata: {{\n      name: \"{name}\",\n      \
             namespace: \"ns\",\n    }},\n    spec: {{\n      containers: [{{\n        name: \"main\",\n      }}],\n    }},\n    \
             status: {{\n      phase: \"Failed\",\n      message: \"a \\\"}}]\\n\\\n         b\",\n    }},\n  }}"
        )
    };
    let items: Vec<String> = names.iter().map(item).collect();
    format!(
        "---\n{{\n  apiVersion: \"v1\",\n  items: [{}],\n  kind: \"List\",\n  metadata: {{\n    resourceVersion: \"\",\n  }},\n}}\n",
        items.join(", ")
    )
}
