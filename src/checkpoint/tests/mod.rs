//! Tables of templates. A template is told in one line, and so is what is found in it.

mod frameworks;
mod friends;
mod odd;
mod places;
mod scripts;

use super::{Answer, Checkpoints, Container, Sign, Template, Volume, VolumeSource, detect};

/// A pod with one container.
#[derive(Clone, Default)]
struct Pod<'a> {
    template: Template<'a>,
}

/// Words that no shell sees.
fn exec(line: &str) -> Pod<'_> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let container =
        Container { name: "trainer", command: words[..1].to_vec(), args: words[1..].to_vec(), ..Container::default() };
    Pod { template: Template { containers: vec![container], ..Template::default() } }
}

/// A script for a shell.
fn bash(script: &str) -> Pod<'_> {
    let (command, args) = (vec!["/bin/bash", "-c"], vec![script]);
    let container = Container { name: "trainer", command, args, ..Container::default() };
    Pod { template: Template { containers: vec![container], ..Template::default() } }
}

impl<'a> Pod<'a> {
    fn with(mut self, change: impl FnOnce(&mut Container<'a>)) -> Self {
        change(&mut self.template.containers[0]);
        self
    }

    fn env(self, name: &'a str, value: &'a str) -> Self {
        self.with(|container| container.env.push((name, Some(value))))
    }

    fn env_from(self, name: &'a str) -> Self {
        self.with(|container| container.env.push((name, None)))
    }

    fn image(self, image: &'a str) -> Self {
        self.with(|container| container.image = image)
    }

    fn dir(self, path: &'a str) -> Self {
        self.with(|container| container.working_dir = Some(path))
    }

    fn mount(mut self, path: &'a str, name: &'a str, source: VolumeSource<'a>) -> Self {
        self.template.volumes.push(Volume { name, source });
        self.with(|container| container.mounts.push((name, path)))
    }

    fn claim(self, path: &'a str, claim: &'a str) -> Self {
        self.mount(path, "data", VolumeSource::PersistentVolumeClaim(claim))
    }

    /// All variables of a `ConfigMap`, whatever they are called.
    fn all_env_from(self) -> Self {
        self.with(|container| container.env_from = true)
    }

    /// Another container that has the volume, or none.
    fn beside(mut self, name: &'a str, volume: Option<&'a str>) -> Self {
        let mounts = volume.map(|volume| (volume, "/elsewhere")).into_iter().collect();
        self.template.containers.push(Container { name, mounts, ..Container::default() });
        self
    }

    /// A restartable init container that has the volume.
    fn sidecar(mut self, name: &'a str, volume: &'a str) -> Self {
        self.template.sidecars.push(Container { name, mounts: vec![(volume, "/elsewhere")], ..Container::default() });
        self
    }

    fn sharing_processes(mut self) -> Self {
        self.template.shares_processes = true;
        self
    }

    fn grace(mut self, seconds: i64) -> Self {
        self.template.grace_seconds = Some(seconds);
        self
    }

    fn annotation(mut self, key: &'a str, value: &'a str) -> Self {
        self.template.annotations.push((key, value));
        self
    }

    fn detect(&self) -> Checkpoints {
        detect(&self.template)
    }
}

/// `framework; saves; place; every; resumes; durable kind claim; SIGTERM`.
fn told(found: &Checkpoints) -> String {
    let answer = |answer| match answer {
        Answer::Yes => "yes",
        Answer::No => "no",
        Answer::Unknown => "?",
    };
    let or_none = |text: &Option<String>| text.clone().unwrap_or("-".to_owned());
    let claim = found.durable.claim.as_ref().map(|claim| format!(" {claim}")).unwrap_or_default();
    format!(
        "{}; saves {}; {}; {}; resumes {}; durable {} {:?}{claim}; {}",
        found.framework.unwrap_or("-"),
        answer(found.saves.answer),
        or_none(&found.saves.place),
        or_none(&found.saves.every),
        answer(found.resumes.answer),
        answer(found.durable.answer),
        found.durable.kind,
        found.sigterm.as_ref().map_or("-".to_owned(), |sigterm| format!("SIGTERM {} s", sigterm.grace_seconds)),
    )
}

/// Checks a table, and tells all rows that differ.
fn check(rows: &[(Pod, &str)]) {
    let differ = rows.iter().filter_map(|(pod, expected)| {
        let found = pod.detect();
        let is = told(&found);
        (is != *expected).then(|| format!("{:?}\nexpected {expected}\n   found {is}\n{found:?}\n", pod.template))
    });
    let differ: Vec<String> = differ.collect();
    assert!(differ.is_empty(), "{}", differ.join("\n"));
}

/// Container, path and value of a sign.
fn sign(container: &str, path: &str, value: &str) -> Sign {
    let path = format!("spec.containers[name={container}].{path}");
    Sign { container: Some(container.to_owned()), path, value: Some(value.to_owned()) }
}
