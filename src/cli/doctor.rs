use std::io::{self, BufWriter, Write};
use std::time::Duration;

use clap::Args;

use super::connection::ConnectionArgs;
use super::input::{Color, clock, ensure_one_namespace};
use super::output::{Chosen, Output, PrintArgs};
use super::{ExitCode, OUTPUT, SELECTION, talk, width};
use crate::doctor::{self, About};
use crate::kubectl::Kubectl;
use crate::render::{self, DoctorFormat, Look};
use crate::report::{DoctorTool, Version};
use crate::source::cluster::{self, Environment, Questions};

const EXAMPLES: &str = "\
Examples:
  # What can be seen of the current namespace, and what not
  kubectl sigapps doctor

  # Of all namespaces of another cluster
  kubectl sigapps doctor -A --context prod-eu

  # What a colleague, or a service account, is allowed
  kubectl sigapps doctor -n ml-team --as system:serviceaccount:ml-team:reporter

  # The commands that grant what is missing
  kubectl sigapps doctor -n ml-team -o json | jq -r '.grants[].commands[]'";

/// Without `--request-timeout`: longer than a connection may take, so that it is told which of the two was too slow.
const TIMEOUT: Duration = Duration::from_secs(15);

#[derive(Debug, Args)]
#[command(before_help = EXAMPLES)]
pub(super) struct DoctorArgs {
    /// Ask for the rights in all namespaces
    #[arg(short = 'A', long, help_heading = SELECTION)]
    all_namespaces: bool,

    /// Output format: text, json, yaml, jsonpath=TEMPLATE, jsonpath-as-json=TEMPLATE, jsonpath-file=FILE,
    /// custom-columns=HEAD:PATH,…, custom-columns-file=FILE
    #[arg(short = 'o', long, value_name = "FORMAT", value_parser = parse_output, help_heading = OUTPUT)]
    output: Option<Output>,

    #[command(flatten)]
    print: PrintArgs,

    /// Use colours
    #[arg(long, value_enum, default_value_t, value_name = "WHEN", help_heading = OUTPUT)]
    color: Color,

    #[command(flatten)]
    connection: ConnectionArgs,
}

const FORMATS: [(&str, DoctorFormat); 3] =
    [("text", DoctorFormat::Text), ("json", DoctorFormat::Json), ("yaml", DoctorFormat::Yaml)];

fn parse_output(text: &str) -> Result<Output, String> {
    Output::parse(text, &FORMATS, |_| None)
}

impl DoctorArgs {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        self.print.ensure_no_go_template(self.output.as_ref())?;
        let chosen = match &self.output {
            None => Chosen::Format(DoctorFormat::Text),
            Some(output) => self.print.choose(output, &FORMATS)?,
        };
        ensure_one_namespace(self.all_namespaces, false, self.connection.namespace().as_deref())?;
        let kubectl = Kubectl { flags: flags_for_others(self.connection.flags_for_kubectl()) };
        let mut connection = self.connection.into_connection()?;
        connection.request_timeout.get_or_insert(TIMEOUT);
        let tiers = doctor::tiers()?;
        let environment = Environment::of_process();
        let way = cluster::way(&environment, &connection);
        let namespace = way.namespace.clone().filter(|_| !self.all_namespaces);
        let groups = doctor::groups();
        let rights = doctor::questions(&tiers, namespace.as_deref());
        let questions = Questions { groups: &groups, rights: &rights, namespace: namespace.as_deref() };
        let is_way = way.error.is_none();
        let checkup = is_way.then(|| cluster::check(&environment, &connection, &questions, &mut talk));
        let about = About {
            tool: tool(),
            all_namespaces: self.all_namespaces,
            now: clock()?,
            tiers: &tiers,
            kubectl: &kubectl,
        };
        let report = doctor::judge(way, checkup, &about);
        let mut out = BufWriter::new(io::stdout().lock());
        match &chosen {
            Chosen::Format(format) => {
                let look = Look { width: width(), color: self.color.is_on(), headers: self.print.headers() };
                render::doctor(&report, *format, look, &mut out)?;
            }
            // One object is one row.
            Chosen::Fields(fields) => {
                let document = serde_json::to_value(&report)?;
                fields.print(&document, std::slice::from_ref(&document), self.print.headers(), &mut out)?;
            }
        }
        out.flush()?;
        Ok(if report.can_read == Some(true) { ExitCode::Success } else { ExitCode::Error })
    }
}

fn tool() -> DoctorTool {
    let Version { version, commit, platform, .. } = Version::of_this_program();
    DoctorTool { version: version.to_owned(), commit: commit.map(ToOwned::to_owned), platform }
}

/// The flags that lead to the cluster, without those that say as whom: rights are granted by somebody else.
fn flags_for_others(mut flags: Vec<String>) -> Vec<String> {
    const AS_WHOM: [&str; 5] = ["--user=", "--client-certificate=", "--client-key=", "--as=", "--as-"];
    flags.retain(|flag| !AS_WHOM.iter().any(|of| flag.starts_with(of)));
    flags
}
