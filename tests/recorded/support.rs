use std::path::{Path, PathBuf};

use serde_json::Value;
use sigapps::advice::{Kubectl, advise, advise_on};
use sigapps::analysis::{FindError, Options, analyse, explain, failure_line, find, report};
use sigapps::report::{Class, ReportScope};
use sigapps::request::{GroupBy, Scope, Subject, TargetKind};
use sigapps::source::{Filter, file};

/// A file of `tests/fixtures`.
pub(crate) fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

/// What the tool makes of some input.
pub(crate) struct Story {
    /// The report, as `-o json` prints it.
    pub report: Value,
    /// The failures, as `-o jsonl` prints them.
    pub lines: Vec<Value>,
}

/// How the input is looked at.
#[derive(Clone, Default)]
pub(crate) struct View {
    pub all: bool,
    pub since: Option<i64>,
    pub pending_after: Option<i64>,
    pub classes: Vec<Class>,
    pub selector: &'static str,
    pub group_by: GroupBy,
}

/// The story of a recording in `tests/fixtures/recorded`.
pub(crate) fn story(name: &str) -> Story {
    story_of(&fixture(&format!("recorded/{name}.json")), &View::default())
}

/// The same with `--all`.
pub(crate) fn story_with_all(name: &str) -> Story {
    story_of(&fixture(&format!("recorded/{name}.json")), &View { all: true, ..View::default() })
}

/// The story of a file.
pub(crate) fn story_of(path: &Path, view: &View) -> Story {
    let selector = view.selector.parse().unwrap();
    let mut said = Vec::new();
    let filter = Filter { selector, ..Filter::default() };
    let snapshot =
        file::read(&[path.to_str().unwrap().to_owned()], filter.clone(), &mut |line| said.push(line.to_owned()))
            .unwrap();
    assert_eq!(said, Vec::<String>::new(), "nothing to complain of in {}", path.display());
    let options = Options {
        kinds: Vec::new(),
        now: snapshot.newest,
        pending_after: view.pending_after.unwrap_or(300),
        since: view.since,
        classes: view.classes.clone(),
        all: view.all,
        selector: filter.selector,
        targets: Vec::new(),
    };
    let analysis = analyse(&snapshot, &options);
    let reported = report(&analysis, &options, view.group_by, ReportScope::default());
    let lines = analysis.failures.iter().map(|failure| serde_json::to_value(failure_line(&analysis, failure)).unwrap());
    let lines = lines.collect();
    let report = serde_json::to_value(advise(&analysis, reported, &Kubectl::default())).unwrap();
    let story = Story { report, lines };
    story.is_consistent();
    story
}

/// The objects of a recording.
pub(crate) fn items_of(recording: &str) -> Vec<Value> {
    items_of_file(&fixture(&format!("recorded/{recording}.json")))
}

/// The objects of a file.
pub(crate) fn items_of_file(path: &Path) -> Vec<Value> {
    let mut dump: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    serde_json::from_value(dump["items"].take()).unwrap()
}

/// What `explain` makes of a file.
pub(crate) fn explanation(path: &Path, subject: &str) -> Result<Value, FindError> {
    let (kind, name) = subject.split_once('/').map_or((None, subject), |(kind, name)| (Some(kind), name));
    let kind = kind.map(|kind| TargetKind::ALL.into_iter().find(|of| of.name() == kind).unwrap());
    let scope = Scope { subject: Some(Subject { kind, name: name.to_owned() }), ..Scope::default() };
    let snapshot = file::read(&[path.to_str().unwrap().to_owned()], (&scope).into(), &mut |_| {}).unwrap();
    let found = find(&snapshot, kind, name)?;
    let now = snapshot.newest;
    let targets = found.judged_with(&snapshot).into_iter().collect();
    let options = Options { now, pending_after: 30, all: true, targets, ..Options::default() };
    let analysis = analyse(&snapshot, &options);
    let mut explanation = explain(&analysis, found, now);
    explanation.suggestions = advise_on(&analysis, found, now, &Kubectl::default());
    Ok(serde_json::to_value(explanation).unwrap())
}

/// What `explain` makes of a recording in `tests/fixtures/recorded`.
pub(crate) fn explained(name: &str, subject: &str) -> Value {
    explanation(&fixture(&format!("recorded/{name}.json")), subject).unwrap()
}

/// The same of objects written down in a test.
pub(crate) fn explained_of_objects(objects: &Value, subject: &str) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("objects.json");
    std::fs::write(&path, serde_json::json!({"apiVersion": "v1", "kind": "List", "items": objects}).to_string())
        .unwrap();
    explanation(&path, subject).unwrap()
}

/// Asserts where a subject of a recording stands, the kinds of its situations and of what is advised, and its verdict.
pub(crate) fn tells(
    recording: &str,
    subject: &str,
    (state, situations, advice): (&str, &[&str], &[&str]),
    verdict: &str,
) {
    let told = explained(recording, subject);
    let (own_state, own_situations, own_advice) = outline(&told);
    let own = (&*own_state, &own_situations[..], &own_advice[..]);
    assert_eq!(format!("{own:?}"), format!("{:?}", (state, situations, advice)), "{recording}: {told:#}");
    assert_eq!(told["verdict"], verdict, "{recording}");
}

/// Where an explanation's subject stands, the kinds of its situations, and those of what is advised.
pub(crate) fn outline(explanation: &Value) -> (String, Vec<String>, Vec<String>) {
    let kinds = |field: &str| -> Vec<String> {
        let all = explanation[field].as_array().unwrap();
        all.iter().map(|one| one["kind"].as_str().unwrap().to_owned()).collect()
    };
    (explanation["state"].as_str().unwrap().to_owned(), kinds("situations"), kinds("suggestions"))
}

/// The story of objects written down in a test.
pub(crate) fn story_of_objects(objects: &Value, view: &View) -> Story {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("objects.json");
    std::fs::write(&path, serde_json::json!({"apiVersion": "v1", "kind": "List", "items": objects}).to_string())
        .unwrap();
    story_of(&path, view)
}

impl Story {
    /// What holds for every report: groups' sums are the totals, and every suggestion is one that exists.
    fn is_consistent(&self) {
        let groups = self.report["groups"].as_array().unwrap();
        let sum = |field: &str| groups.iter().map(|group| group[field].as_u64().unwrap()).sum::<u64>();
        let of_lines = |test: &dyn Fn(&Value) -> bool| {
            self.lines.iter().filter(|line| test(line)).map(|line| line["count"].as_u64().unwrap()).sum::<u64>()
        };
        let summary = &self.report["summary"];
        assert_eq!(sum("failures"), summary["failures"]);
        assert_eq!(of_lines(&|_| true), summary["failures"]);
        assert_eq!(of_lines(&|line| line["counted"] == true), sum("counted"));
        assert_eq!(of_lines(&|line| line["class"] == "collateral"), summary["collateral"]);
        assert_eq!(of_lines(&|line| line["class"] == "lost"), summary["lost"]);
        assert_eq!(groups.len() as u64, summary["groups"]);
        let suggestions: Vec<&Value> =
            self.report["suggestions"].as_array().unwrap().iter().map(|suggestion| &suggestion["id"]).collect();
        for id in groups.iter().flat_map(|group| group["suggestions"].as_array().unwrap()) {
            assert!(suggestions.contains(&id), "{id}");
        }
    }

    /// The failures of a class.
    pub(crate) fn of_class(&self, class: &str) -> Vec<&Value> {
        self.lines.iter().filter(|line| line["class"] == class).collect()
    }

    /// Classes with how many failures each has, by name.
    pub(crate) fn classes(&self) -> Vec<(String, u64)> {
        let mut counts = std::collections::BTreeMap::new();
        for line in &self.lines {
            *counts.entry(line["class"].as_str().unwrap().to_owned()).or_default() += line["count"].as_u64().unwrap();
        }
        counts.into_iter().collect()
    }

    /// The only group of a class.
    pub(crate) fn group(&self, class: &str) -> &Value {
        let groups: Vec<&Value> =
            self.report["groups"].as_array().unwrap().iter().filter(|group| group["class"] == class).collect();
        assert_eq!(groups.len(), 1, "groups of class {class}: {groups:?}");
        groups[0]
    }

    /// The only workload.
    pub(crate) fn workload(&self) -> &Value {
        let workloads = self.report["workloads"].as_array().unwrap();
        assert_eq!(workloads.len(), 1, "{workloads:?}");
        &workloads[0]
    }

    /// The only suggestion of a kind.
    pub(crate) fn suggestion(&self, kind: &str) -> &Value {
        let found: Vec<&Value> = self.report["suggestions"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|suggestion| suggestion["kind"] == kind)
            .collect();
        assert_eq!(found.len(), 1, "suggestions of kind {kind}: {:?}", self.report["suggestions"]);
        found[0]
    }

    /// Class, workload, reason and count of each failure.
    pub(crate) fn failures(&self) -> Vec<(&str, &str, &str, u64)> {
        self.lines
            .iter()
            .map(|line| {
                let text = |field: &str| line[field].as_str().unwrap_or_default();
                (text("class"), text("workload"), text("reason"), line["count"].as_u64().unwrap())
            })
            .collect()
    }

    /// Commands of all suggestions that change or delete something, each with what is lost by it.
    pub(crate) fn writes(&self) -> Vec<(&str, &str)> {
        let suggestions = self.report["suggestions"].as_array().unwrap();
        suggestions
            .iter()
            .flat_map(|suggestion| {
                let safeties = suggestion["commandSafety"].as_array().unwrap();
                let loses = suggestion["loses"].as_str().unwrap_or_default();
                let commands = suggestion["commands"].as_array().unwrap().iter().zip(safeties);
                commands
                    .filter(|(_, safety)| *safety != "readOnly")
                    .map(move |(command, _)| (command.as_str().unwrap(), loses))
            })
            .collect()
    }

    /// Kinds of all suggestions, in their order.
    pub(crate) fn advice(&self) -> Vec<&str> {
        let suggestions = self.report["suggestions"].as_array().unwrap();
        suggestions.iter().map(|suggestion| suggestion["kind"].as_str().unwrap()).collect()
    }

    /// How many failures are in `status.failed`.
    pub(crate) fn counted(&self) -> u64 {
        let counted = self.lines.iter().filter(|line| line["counted"] == true);
        counted.map(|line| line["count"].as_u64().unwrap()).sum()
    }
}

/// Classes and counts as [`Story::classes`] gives them.
pub(crate) fn classes(counts: &[(&str, u64)]) -> Vec<(String, u64)> {
    counts.iter().map(|(class, count)| ((*class).to_owned(), *count)).collect()
}
