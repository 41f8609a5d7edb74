//! The servers: built from Go modules into one folder, as `KUBEBUILDER_ASSETS` names it.

use std::collections::hash_map::DefaultHasher;
use std::fs;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, anyhow, bail, ensure};

/// A release of Kubernetes to test against. What else runs beside it is the same with each.
pub(crate) struct Release {
    /// Its component, which pins the version.
    component: Component,
    /// As its servers call themselves.
    version: &'static str,
    /// Of the folder that its programs are in, so that those of two releases lie side by side.
    suffix: &'static str,
}

/// What the tool is developed against.
pub(crate) const NEWEST: Release = Release { component: kubernetes("kubernetes"), version: "v1.37.2", suffix: "" };

/// The oldest that is supported.
pub(crate) const OLDEST: Release =
    Release { component: kubernetes("kubernetes-1.34"), version: "v1.34.4", suffix: "-1.34" };

const fn kubernetes(name: &'static str) -> Component {
    Component {
        name,
        programs: &[
            ("kube-apiserver", "k8s.io/kubernetes/cmd/kube-apiserver"),
            ("kube-controller-manager", "k8s.io/kubernetes/cmd/kube-controller-manager"),
            ("kube-scheduler", "k8s.io/kubernetes/cmd/kube-scheduler"),
            ("kubectl", "k8s.io/kubernetes/cmd/kubectl"),
        ],
        manifests: None,
    }
}

/// One Go module under `components/`: a folder with a go.mod that pins what is built and everything below it.
struct Component {
    name: &'static str,
    /// The programs it gives, and the packages they are built from.
    programs: &'static [(&'static str, &'static str)],
    /// The module that holds its manifests, and what is copied: from the module's path into `manifests/<name>/`.
    manifests: Option<(&'static str, &'static [(&'static str, &'static str)])>,
}

/// What runs with any release of Kubernetes. Another component is one more folder and one more entry here.
const COMPONENTS: &[Component] = &[
    Component { name: "etcd", programs: &[("etcd", "go.etcd.io/etcd/server/v3")], manifests: None },
    Component {
        name: "jobset",
        programs: &[("jobset-controller", "sigs.k8s.io/jobset")],
        manifests: Some((
            "sigs.k8s.io/jobset",
            &[("config/components/crd/bases", "crds"), ("config/components/webhook/manifests.yaml", "webhooks.yaml")],
        )),
    },
    Component {
        name: "lws",
        programs: &[("lws-controller", "sigs.k8s.io/lws/cmd")],
        manifests: Some((
            "sigs.k8s.io/lws",
            &[("config/crd/bases", "crds"), ("config/webhook/manifests.yaml", "webhooks.yaml")],
        )),
    },
    Component {
        name: "agent-sandbox",
        programs: &[("agent-sandbox-controller", "sigs.k8s.io/agent-sandbox/cmd/agent-sandbox-controller")],
        manifests: Some(("sigs.k8s.io/agent-sandbox", &[("k8s/crds", "crds")])),
    },
    Component {
        name: "kueue",
        programs: &[("kueue-controller", "sigs.k8s.io/kueue/cmd/kueue")],
        manifests: Some((
            "sigs.k8s.io/kueue",
            &[("config/components/crd/bases", "crds"), ("config/components/webhook/manifests.yaml", "webhooks.yaml")],
        )),
    },
    Component {
        name: "trainer",
        programs: &[("trainer-controller", "github.com/kubeflow/trainer/v2/cmd/trainer-controller-manager")],
        manifests: Some((
            "github.com/kubeflow/trainer/v2",
            &[
                (
                    "manifests/base/crds/trainer.kubeflow.org_clustertrainingruntimes.yaml",
                    "crds/clustertrainingruntimes.yaml",
                ),
                ("manifests/base/crds/trainer.kubeflow.org_trainingruntimes.yaml", "crds/trainingruntimes.yaml"),
                ("manifests/base/crds/trainer.kubeflow.org_trainjobs.yaml", "crds/trainjobs.yaml"),
                ("manifests/base/webhook/manifests.yaml", "webhooks.yaml"),
                ("manifests/base/runtimes/torch_distributed.yaml", "objects/torch_distributed.yaml"),
            ],
        )),
    },
];

#[derive(Clone)]
pub(crate) struct Assets {
    folder: PathBuf,
    release: &'static Release,
}

impl Assets {
    /// `$KUBEBUILDER_ASSETS`, else a folder of our own in the user's cache; for another release than the newest a folder
    /// beside it.
    pub(crate) fn from_environment(release: &'static Release) -> Result<Self> {
        let folder = match std::env::var_os("KUBEBUILDER_ASSETS") {
            Some(folder) => PathBuf::from(folder),
            None => cache()?.join("bin"),
        };
        Ok(Self { folder, release })
    }

    pub(crate) fn binary(&self, name: &str) -> PathBuf {
        let component = self.components().find(|component| component.programs.iter().any(|(known, _)| *known == name));
        component.map_or(self.folder.clone(), |component| self.folder_of(component)).join(name)
    }

    fn components(&self) -> impl Iterator<Item = &'static Component> {
        std::iter::once(&self.release.component).chain(COMPONENTS)
    }

    /// Where a component's programs are.
    fn folder_of(&self, component: &Component) -> PathBuf {
        if component.name != self.release.component.name {
            return self.folder.clone();
        }
        let mut name = self.folder.clone().into_os_string();
        name.push(self.release.suffix);
        name.into()
    }

    pub(crate) fn manifests(&self, component: &str) -> PathBuf {
        self.folder.join("manifests").join(component)
    }

    /// A missing program is a failure with the way out, never a reason to skip a test.
    pub(crate) fn ensure_present(&self) -> Result<()> {
        let programs = self.components().flat_map(|component| component.programs).map(|(program, _)| *program);
        let missing: Vec<_> = programs.filter(|program| !self.binary(program).is_file()).collect();
        ensure!(
            missing.is_empty(),
            "{} not in {}: run `cargo run -p cluster-tests -- build` first, with the same --kubernetes",
            missing.join(", "),
            self.folder_of(&self.release.component).display()
        );
        Ok(())
    }

    /// Builds what is not up to date. Cold it takes a quarter of an hour on two cores, warm seconds.
    pub(crate) fn build(&self) -> Result<()> {
        let version = Command::new("go").arg("version").output();
        let version = version.map_err(|error| anyhow!("building the control plane needs Go 1.26 in PATH: {error}"))?;
        let toolchain = String::from_utf8_lossy(&version.stdout).into_owned();
        for component in self.components() {
            let folder = self.folder_of(component);
            fs::create_dir_all(&folder)?;
            let stamp = folder.join(format!(".{}.stamp", component.name));
            let flags = self.linker_flags(component);
            let wanted = component.fingerprint(&toolchain, &flags)?;
            let present = component.programs.iter().all(|(program, _)| self.binary(program).is_file());
            if present && fs::read_to_string(&stamp).is_ok_and(|found| found == wanted) {
                println!("{} is up to date", component.name);
                continue;
            }
            self.build_component(component, &flags)?;
            fs::write(stamp, wanted)?;
            println!("built {}", component.name);
        }
        println!("{}", self.folder.display());
        Ok(())
    }

    /// Without the version, the servers call themselves v0.0.0 and kubectl warns of skew. Other components bear the newest, so
    /// that they are the same with each release.
    fn linker_flags(&self, component: &Component) -> String {
        let of_release = component.name == self.release.component.name;
        let version = if of_release { self.release.version } else { NEWEST.version };
        let mut numbers = version.trim_start_matches('v').split('.');
        let (major, minor) = (numbers.next().unwrap_or_default(), numbers.next().unwrap_or_default());
        let set = |name: &str, value: &str| format!("-X k8s.io/component-base/version.{name}={value}");
        ["-s -w".to_owned(), set("gitVersion", version), set("gitMajor", major), set("gitMinor", minor)].join(" ")
    }

    fn build_component(&self, component: &Component, flags: &str) -> Result<()> {
        for (program, package) in component.programs {
            let status = Command::new("go")
                .args(["build", "-mod=readonly", "-trimpath", "-ldflags", flags, "-o"])
                .arg(self.binary(program))
                .arg(package)
                .current_dir(component.folder())
                .status()?;
            ensure!(status.success(), "go build {package} ended with {status}");
        }
        let Some((module, copies)) = component.manifests else { return Ok(()) };
        let source = component.module_folder(module)?;
        for (from, to) in copies {
            copy(&source.join(from), &self.manifests(component.name).join(to))?;
        }
        Ok(())
    }
}

impl Component {
    fn folder(&self) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("components").join(self.name)
    }

    /// Changes with anything that could change the result.
    fn fingerprint(&self, toolchain: &str, flags: &str) -> Result<String> {
        let mut hasher = DefaultHasher::new();
        (toolchain, flags).hash(&mut hasher);
        for file in ["go.mod", "go.sum"] {
            let path = self.folder().join(file);
            fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?.hash(&mut hasher);
        }
        Ok(format!("{:016x}\n", hasher.finish()))
    }

    fn module_folder(&self, module: &str) -> Result<PathBuf> {
        let output =
            Command::new("go").args(["list", "-m", "-f", "{{.Dir}}", module]).current_dir(self.folder()).output()?;
        ensure!(output.status.success(), "go list -m {module}: {}", String::from_utf8_lossy(&output.stderr));
        Ok(PathBuf::from(String::from_utf8(output.stdout)?.trim()))
    }
}

/// Where builds and long-running control planes live unless told otherwise.
pub(crate) fn cache() -> Result<PathBuf> {
    let base = match std::env::var_os("XDG_CACHE_HOME") {
        Some(base) => PathBuf::from(base),
        None => {
            PathBuf::from(std::env::var_os("HOME").context("neither XDG_CACHE_HOME nor HOME is set")?).join(".cache")
        }
    };
    Ok(base.join("kubectl-sigapps-cluster"))
}

/// A file, or the files of a folder. Written anew, as files in the module cache are read-only.
fn copy(from: &Path, to: &Path) -> Result<()> {
    if !from.is_dir() {
        let Some(parent) = to.parent() else { bail!("{} has no folder", to.display()) };
        fs::create_dir_all(parent)?;
        return fs::write(to, fs::read(from).with_context(|| format!("cannot read {}", from.display()))?)
            .map_err(Into::into);
    }
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        copy(&entry.path(), &to.join(entry.file_name()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_versions_that_the_docs_tell_are_those_that_are_built() {
        let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/compatibility.md");
        let docs = fs::read_to_string(docs).unwrap();
        let mut versions = vec![NEWEST.version.to_owned(), OLDEST.version.to_owned()];
        for (module, component) in COMPONENTS.iter().filter_map(|it| Some((it.manifests?.0, it))) {
            let pinned = fs::read_to_string(component.folder().join("go.mod")).unwrap();
            let line = pinned.lines().find_map(|line| line.split_once(&format!("{module} v")));
            let version = line.unwrap().1.split_whitespace().next().unwrap();
            versions.push(format!("v{version}"));
        }
        for version in versions {
            assert!(docs.contains(&version), "docs/compatibility.md does not tell of {version}");
        }
    }

    #[test]
    fn each_release_pins_what_it_says() {
        for release in [&NEWEST, &OLDEST] {
            let pinned = fs::read_to_string(release.component.folder().join("go.mod")).unwrap();
            assert!(pinned.contains(&format!("k8s.io/kubernetes {}", release.version)), "{}", release.version);
        }
    }

    #[test]
    fn programs_of_another_release_lie_beside_and_all_others_are_shared() {
        let assets = |release| Assets { folder: "/cache/bin".into(), release };
        assert_eq!(assets(&NEWEST).binary("kubectl"), Path::new("/cache/bin/kubectl"));
        assert_eq!(assets(&OLDEST).binary("kubectl"), Path::new("/cache/bin-1.34/kubectl"));
        assert_eq!(assets(&OLDEST).binary("etcd"), Path::new("/cache/bin/etcd"));
    }
}
