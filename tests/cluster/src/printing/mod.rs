//! JSONPath templates, custom columns and `--sort-by`: each printed by the real kubectl and by the tool's own evaluator, of
//! the same objects, and compared to the letter, errors included.

mod cases;
mod random;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use futures_util::{StreamExt, stream};
use serde_json::{Value, json};
use sigapps::jsonpath::{Missing, Printing, Template, order_by};
use sigapps::render::Columns;
use tokio::process::Command;

use crate::assets::Assets;
use crate::control_plane::{ControlPlane, Parts};
use crate::results::Results;
use crate::tool::{self, Tool};
use crate::wait::{Answer, until};

pub(crate) const NAMES: [&str; 7] = [
    "print-jsonpath",
    "print-jsonpath-as-json",
    "print-jsonpath-missing-keys-refused",
    "print-jsonpath-random",
    "print-custom-columns",
    "print-sort-by",
    "print-of-the-tool",
];

/// Random templates to compare.
const RANDOM: usize = 400;
/// kubectls at once.
const AT_ONCE: usize = 4;
const SAMPLES: &str = "/apis/printing.example.com/v1/samples";
const DEFINITION: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/// What a printer made: text, or why not.
type Printed = Result<String, String>;

pub(crate) async fn run_all(assets: &Assets, program: &Path, seed: u64, results: &mut Results) -> Result<()> {
    let plane = ControlPlane::start(assets, Parts::JobsOnly).await?;
    let tool = Tool::new(program, &plane.kubeconfig)?;
    create_samples(&plane).await?;
    let report = report(&tool, &plane).await?;
    let kubectl = Kubectl { program: plane.assets.binary("kubectl"), kubeconfig: plane.kubeconfig.clone() };
    let list: Value = serde_json::from_str(
        &kubectl.get(&["-l", "kind=sample", "-o", "json", "--show-managed-fields"]).await.unwrap_or_default(),
    )
    .context("kubectl get -o json printed something else")?;
    let bench = Bench { kubectl, tool, list };
    results.record("print-jsonpath", bench.templates(cases::TEMPLATES, "jsonpath", &[]).await);
    results.record("print-jsonpath-as-json", bench.templates(cases::AS_JSON, "jsonpath-as-json", &[]).await);
    let refused = bench.templates(cases::MISSING, "jsonpath", &["--allow-missing-template-keys=false"]).await;
    results.record("print-jsonpath-missing-keys-refused", refused);
    let templates = random::templates(seed, RANDOM);
    let templates: Vec<&str> = templates.iter().map(String::as_str).collect();
    let compared = bench.templates(&templates, "jsonpath", &[]).await;
    results.record("print-jsonpath-random", compared.with_context(|| format!("seed {seed}")));
    results.record("print-custom-columns", bench.columns().await);
    results.record("print-sort-by", bench.sorted().await);
    results.record("print-of-the-tool", bench.report(&report).await);
    Ok(())
}

/// Objects of a kind that keeps any field.
async fn create_samples(plane: &ControlPlane) -> Result<()> {
    let schema = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    let definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "samples.printing.example.com"},
        "spec": {
            "group": "printing.example.com", "scope": "Cluster",
            "names": {"plural": "samples", "singular": "sample", "kind": "Sample", "listKind": "SampleList"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}}],
        },
    });
    plane.api.create(DEFINITION, &definition).await?;
    until("samples are served", std::time::Duration::from_secs(60), async || {
        Ok(match plane.api.get(SAMPLES).await {
            Ok(_) => Answer::Ready(()),
            Err(error) => Answer::NotYet(format!("{error:#}")),
        })
    })
    .await?;
    for sample in cases::samples() {
        plane.api.create(SAMPLES, &sample).await?;
    }
    Ok(())
}

/// The tool's own report of a recorded cluster, stored as an object for kubectl to print.
async fn report(tool: &Tool, plane: &ControlPlane) -> Result<PathBuf> {
    let dump = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/cluster.json.gz")).to_owned();
    let sample = json!({
        "apiVersion": "printing.example.com/v1", "kind": "Sample", "metadata": {"name": "report"},
        "report": tool.report_in(&dump).await?,
    });
    plane.api.create(SAMPLES, &sample).await?;
    Ok(dump)
}

struct Kubectl {
    program: PathBuf,
    kubeconfig: PathBuf,
}

impl Kubectl {
    async fn get(&self, arguments: &[&str]) -> Printed {
        let mut command = Command::new(&self.program);
        command.args(["get", "samples"]).args(arguments).arg("--kubeconfig").arg(&self.kubeconfig);
        // What it has learnt of the API is kept for the next call.
        command.env("KUBECACHEDIR", self.kubeconfig.with_extension("cache"));
        match tool::run(command).await {
            Ok(output) if output.code == 0 => Ok(output.stdout),
            Ok(output) => Err(reason(&output.stderr)),
            Err(error) => Err(format!("{error:#}")),
        }
    }
}

/// Why kubectl refused, without its surroundings: the template, and the whole object.
fn reason(stderr: &str) -> String {
    if let Some((_, behind)) = stderr.split_once("Error executing template: ") {
        return behind.split(". Printing more information").next().unwrap_or(behind).to_owned();
    }
    let line = stderr.trim_end().trim_start_matches("error: ");
    match line.strip_prefix("error parsing jsonpath ").and_then(|behind| behind.rsplit_once(", ")) {
        // An error may hold a comma itself; none of kubectl's does.
        Some((_, why)) => why.to_owned(),
        None => line.to_owned(),
    }
}

struct Bench {
    kubectl: Kubectl,
    tool: Tool,
    list: Value,
}

impl Bench {
    async fn templates(&self, templates: &[&str], format: &str, more: &[&str]) -> Result<()> {
        let (as_json, refused) = (format == "jsonpath-as-json", !more.is_empty());
        let compared = stream::iter(templates.iter().map(|template| async move {
            let option = format!("{format}={template}");
            let theirs = self.kubectl.get(&[&["-l", "kind=sample", "-o", &option], more].concat()).await;
            let missing = if refused { Missing::Refused } else { Missing::Allowed };
            difference(template, &theirs, &ours(template, &self.list, as_json, missing))
        }));
        told(compared.buffered(AT_ONCE).collect().await)
    }

    async fn columns(&self) -> Result<()> {
        let rows = self.items()?;
        let compared = stream::iter(cases::COLUMNS.iter().map(|(columns, headers)| async move {
            let option = format!("custom-columns={columns}");
            let mut arguments = vec!["-l", "kind=sample", "-o", &option];
            if !headers {
                arguments.push("--no-headers");
            }
            let theirs = self.kubectl.get(&arguments).await;
            let mut printed = Vec::new();
            let ours = Columns::parse(columns).map_err(|error| error.to_string()).and_then(|columns| {
                // What kubectl says of a path that does not apply stands alone.
                let why =
                    |error: sigapps::render::FieldsError| error.to_string().rsplit("}\": ").next().map(str::to_owned);
                columns.print(rows, *headers, &mut printed).map_err(|error| why(error).unwrap_or_default())
            });
            difference(columns, &theirs, &ours.map(|()| String::from_utf8_lossy(&printed).into_owned()))
        }));
        told(compared.buffered(AT_ONCE).collect().await)
    }

    async fn sorted(&self) -> Result<()> {
        let rows = self.items()?;
        let compared = stream::iter(cases::SORTS.iter().map(|(path, is_error)| async move {
            let sort = format!("--sort-by={path}");
            let names = "jsonpath={.items[*].metadata.name}";
            let theirs = self.kubectl.get(&["-l", "kind=sample", &sort, "-o", names]).await;
            let name = |at: usize| rows[at]["metadata"]["name"].as_str().unwrap_or_default();
            let ours = order_by(path, rows).map_err(|error| error.to_string());
            let ours = ours.map(|order| order.into_iter().map(name).collect::<Vec<_>>().join(" "));
            // Of what has no order kubectl says it in a log line with the time in it.
            if *is_error && theirs.is_err() && ours.is_err() { None } else { difference(path, &theirs, &ours) }
        }));
        told(compared.buffered(AT_ONCE).collect().await)
    }

    /// The tool itself on a dump, and kubectl on the tool's report of it.
    async fn report(&self, dump: &Path) -> Result<()> {
        let compared = stream::iter(cases::OF_THE_REPORT.iter().map(|template| async move {
            let theirs = template.replace("{.", "{.report.").replace("{range .", "{range .report.");
            let theirs = theirs.replace("{.report.item", "{.item");
            let theirs = self.kubectl.get(&["report", "-o", &format!("jsonpath={theirs}")]).await;
            let mut command = self.tool.command();
            command.args(["failures", "-A", "--all", "-o", &format!("jsonpath={template}"), "-f"]).arg(dump);
            let ours = tool::run(command).await.map_err(|error| format!("{error:#}"));
            let ours = ours.and_then(|output| if output.code == 0 { Ok(output.stdout) } else { Err(output.stderr) });
            difference(template, &theirs, &ours)
        }));
        told(compared.buffered(AT_ONCE).collect().await)
    }

    fn items(&self) -> Result<&[Value]> {
        let items = self.list["items"].as_array().context("kubectl's list has no items")?;
        ensure!(items.len() == cases::samples().len(), "{} samples", items.len());
        Ok(items)
    }
}

fn ours(template: &str, document: &Value, as_json: bool, missing: Missing) -> Printed {
    let template = Template::parse(template).map_err(|error| error.to_string())?;
    let found = template.find(document, missing).map_err(|error| error.to_string())?;
    let mut printed = Vec::new();
    for items in &found {
        let written =
            if as_json { Printing::Raw.json(items, &mut printed) } else { Printing::Raw.text(items, &mut printed) };
        written.map_err(|error| error.to_string())?;
    }
    String::from_utf8(printed).map_err(|error| error.to_string())
}

/// In what the two differ. The fields of an object come in any order under `.*` and `..` in kubectl: there, only what is
/// printed is compared, and not its order.
fn difference(case: &str, theirs: &Printed, ours: &Printed) -> Option<String> {
    let any_order = case.contains(".*") || case.contains("..");
    let letters = |printed: &Printed| {
        let mut letters: Vec<char> = printed.as_ref().map_or_else(|_| Vec::new(), |text| text.chars().collect());
        letters.sort_unstable();
        letters
    };
    let is_same = match (theirs, ours) {
        (Ok(_), Ok(_)) if any_order => letters(theirs) == letters(ours),
        // Which one is met first.
        (Err(_), Err(_)) if any_order => true,
        _ => theirs == ours,
    };
    (!is_same).then(|| format!("\n  {case}\n    kubectl: {theirs:?}\n    here:    {ours:?}"))
}

fn told(differences: Vec<Option<String>>) -> Result<()> {
    let all = differences.len();
    let differences: Vec<String> = differences.into_iter().flatten().collect();
    if !differences.is_empty() {
        bail!("{} of {all} differ:{}", differences.len(), differences.concat());
    }
    Ok(())
}
