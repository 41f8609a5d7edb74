//! The servers: built from Go modules into one folder, as `KUBEBUILDER_ASSETS` names it.

use std::collections::hash_map::DefaultHasher;
use std::fs;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, anyhow, bail, ensure};

const KUBERNETES: &str = "v1.37.2";

/// One Go module under `components/`: a folder with a go.mod that pins what is built and everything below it.
struct Component {
    name: &'static str,
    /// The programs it gives, and the packages they are built from.
    programs: &'static [(&'static str, &'static str)],
    /// The module that holds its manifests, and what is copied: from the module's path into `manifests/<name>/`.
    manifests: Option<(&'static str, &'static [(&'static str, &'static str)])>,
}

/// Another component is one more folder and one more entry here.
const COMPONENTS: &[Component] = &[
    Component {
        name: "kubernetes",
        programs: &[
            ("kube-apiserver", "k8s.io/kubernetes/cmd/kube-apiserver"),
            ("kube-controller-manager", "k8s.io/kubernetes/cmd/kube-controller-manager"),
            ("kube-scheduler", "k8s.io/kubernetes/cmd/kube-scheduler"),
            ("kubectl", "k8s.io/kubernetes/cmd/kubectl"),
        ],
        manifests: None,
    },
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
}

impl Assets {
    /// `$KUBEBUILDER_ASSETS`, else a folder of our own in the user's cache.
    pub(crate) fn from_environment() -> Result<Self> {
        let folder = match std::env::var_os("KUBEBUILDER_ASSETS") {
            Some(folder) => PathBuf::from(folder),
            None => cache()?.join("bin"),
        };
        Ok(Self { folder })
    }

    pub(crate) fn binary(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    pub(crate) fn manifests(&self, component: &str) -> PathBuf {
        self.folder.join("manifests").join(component)
    }

    /// A missing program is a failure with the way out, never a reason to skip a test.
    pub(crate) fn ensure_present(&self) -> Result<()> {
        let programs = COMPONENTS.iter().flat_map(|component| component.programs).map(|(program, _)| *program);
        let missing: Vec<_> = programs.filter(|program| !self.binary(program).is_file()).collect();
        ensure!(
            missing.is_empty(),
            "{} not in {}: run `cargo run -p cluster-tests -- build` first",
            missing.join(", "),
            self.folder.display()
        );
        Ok(())
    }

    /// Builds what is not up to date. Cold it takes a quarter of an hour on two cores, warm seconds.
    pub(crate) fn build(&self) -> Result<()> {
        let version = Command::new("go").arg("version").output();
        let version = version.map_err(|error| anyhow!("building the control plane needs Go 1.26 in PATH: {error}"))?;
        let toolchain = String::from_utf8_lossy(&version.stdout).into_owned();
        fs::create_dir_all(&self.folder)?;
        for component in COMPONENTS {
            let stamp = self.folder.join(format!(".{}.stamp", component.name));
            let wanted = component.fingerprint(&toolchain)?;
            let present = component.programs.iter().all(|(program, _)| self.binary(program).is_file());
            if present && fs::read_to_string(&stamp).is_ok_and(|found| found == wanted) {
                println!("{} is up to date", component.name);
                continue;
            }
            self.build_component(component)?;
            fs::write(stamp, wanted)?;
            println!("built {}", component.name);
        }
        println!("{}", self.folder.display());
        Ok(())
    }

    fn build_component(&self, component: &Component) -> Result<()> {
        for (program, package) in component.programs {
            let status = Command::new("go")
                .args(["build", "-mod=readonly", "-trimpath", "-ldflags", &linker_flags(), "-o"])
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
    fn fingerprint(&self, toolchain: &str) -> Result<String> {
        let mut hasher = DefaultHasher::new();
        (toolchain, linker_flags()).hash(&mut hasher);
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

/// Without the version, the servers call themselves v0.0.0 and kubectl warns of skew.
fn linker_flags() -> String {
    let mut numbers = KUBERNETES.trim_start_matches('v').split('.');
    let (major, minor) = (numbers.next().unwrap_or_default(), numbers.next().unwrap_or_default());
    let set = |name: &str, value: &str| format!("-X k8s.io/component-base/version.{name}={value}");
    ["-s -w".to_owned(), set("gitVersion", KUBERNETES), set("gitMajor", major), set("gitMinor", minor)].join(" ")
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
