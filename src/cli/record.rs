use std::fs;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::Path;

use anyhow::Context as _;
use clap::{Args, ValueHint};
use flate2::Compression;
use flate2::write::GzEncoder;

use super::connection::ConnectionArgs;
use super::input::{clock, ensure_one_namespace};
use super::options::{UsageError, parse_duration};
use super::sink::Half;
use super::stdout::stdout;
use super::{CONNECTION, ExitCode, OUTPUT, SELECTION, talk};
use crate::model::Time;
use crate::record::{self, Journal, Keeping, Logs, Marker, Order, Policy, RecordError, Recorded};
use crate::request::Connection;
use crate::source::Header;
use crate::source::Resource;
use crate::source::cluster::{self, Environment, Watch, said};

const EXAMPLES: &str = "\
Examples:
  # The namespace as it is now, to be read with -f
  kubectl sigapps record -n ml-team -o before.jsonl.gz
  kubectl sigapps failures -f before.jsonl.gz

  # The whole cluster, what bears on the last day, with logs of what failed
  kubectl sigapps record -A --since 1d --logs

  # Every change from now on; started again, it goes on where it left off
  kubectl sigapps record -A --follow -o /var/lib/sigapps/journal.jsonl
  kubectl sigapps explain jobset/llama-70b -f /var/lib/sigapps";

#[derive(Debug, Args)]
#[command(before_help = EXAMPLES)]
pub(super) struct RecordArgs {
    /// The file to write, - for standard output; packed unless it ends in .jsonl, which a journal must [default: one named
    /// after the cluster, the namespace and the time]
    #[arg(short = 'o', long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = OUTPUT)]
    output: Option<String>,

    /// Record all namespaces
    #[arg(short = 'A', long, help_heading = SELECTION)]
    all_namespaces: bool,

    /// Leave out what was over before this time (30m, 12h, 2d); of what was not, all is kept
    #[arg(long, value_name = "DURATION", value_parser = parse_duration, conflicts_with = "follow", help_heading = SELECTION)]
    since: Option<i64>,

    /// Go on recording changes, in a journal that grows
    #[arg(long)]
    follow: bool,

    /// Also the last 64 KiB of the logs of containers that failed or restarted
    #[arg(long, help_heading = SELECTION)]
    logs: bool,

    /// Leave out commands, arguments and what containers said at their end as well; values of variables never stay
    #[arg(long, conflicts_with = "logs", help_heading = SELECTION)]
    redact: bool,

    /// Write over a file that is there
    #[arg(long, conflicts_with = "follow", help_heading = OUTPUT)]
    force: bool,

    /// With --follow: begin a new file after so many bytes; takes Ki, Mi and Gi
    #[arg(long, value_name = "BYTES", default_value = "64Mi", value_parser = parse_rotate_size, requires = "follow", help_heading = OUTPUT)]
    rotate_size: u64,

    /// With --follow: files before the current one that are kept, 0 for all; what objects that are still there were last is
    /// carried over
    #[arg(long, value_name = "NUMBER", default_value_t = 16, requires = "follow", help_heading = OUTPUT)]
    keep: usize,

    /// Objects read at once from a cluster; 0 for all
    #[arg(long, value_name = "NUMBER", default_value_t = 500, help_heading = CONNECTION)]
    chunk_size: u32,

    #[command(flatten)]
    connection: ConnectionArgs,
}

/// Bytes, with `Ki`, `Mi` or `Gi` behind them.
fn parse_bytes(text: &str) -> Result<u64, String> {
    let units = [("Ki", 10), ("Mi", 20), ("Gi", 30)];
    let unit = units.into_iter().find_map(|(unit, shift)| Some((text.strip_suffix(unit)?, shift)));
    let (digits, shift) = unit.unwrap_or((text, 0));
    let number: Option<u64> = digits.parse().ok().filter(|number| (1..1 << 30).contains(number));
    number
        .map(|number| number << shift)
        .ok_or_else(|| format!("{text:?} is not a number of bytes such as 512Ki or 64Mi"))
}

/// Less would begin a new file at almost every write.
const SMALLEST_FILE: u64 = 64 << 10;

fn parse_rotate_size(text: &str) -> Result<u64, String> {
    let bytes = parse_bytes(text)?;
    if bytes < SMALLEST_FILE {
        return Err(format!("{text:?} is too little: a file has at least 64Ki"));
    }
    Ok(bytes)
}

impl RecordArgs {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        ensure_one_namespace(self.all_namespaces, false, self.connection.namespace().as_deref())?;
        if let Some(output) = self.output.as_deref() {
            ensure_name(output, self.follow)?;
        }
        if self.output.as_deref() == Some("-") {
            if self.follow {
                return Err(UsageError("a journal is written to a file: give -o FILE".to_owned()).into());
            }
            if io::stdout().is_terminal() {
                return Err(UsageError("a packed recording is nothing for a terminal: give -o FILE".to_owned()).into());
            }
        }
        let connection = self.connection.clone().into_connection()?;
        let namespace = match self.connection.namespace() {
            _ if self.all_namespaces => None,
            Some(namespace) => Some(namespace),
            None => Some(cluster::default_namespace(&connection)?),
        };
        let mut tell = |line: &str| talk(line);
        let mut watch = Watch::open(&Environment::of_process(), &connection, self.chunk_size, &mut tell)?;
        let now = clock()?;
        let header = Header {
            form: if self.follow { "journal" } else { "snapshot" }.to_owned(),
            tool: env!("CARGO_PKG_VERSION").to_owned(),
            cluster: watch.cluster().to_owned(),
            namespace,
            started_at: now.to_string(),
            file: 1,
            since: self.since,
            redacted: self.redact,
        };
        if self.follow {
            self.follow(&connection, &mut watch, header)
        } else {
            self.snapshot(&connection, &mut watch, &header)
        }
    }

    fn snapshot(&self, connection: &Connection, watch: &mut Watch, header: &Header) -> anyhow::Result<ExitCode> {
        let key = Marker::random_key().context("cannot record")?;
        let policy = Policy { redact: self.redact, marker: Marker::new(&key) };
        let logs = self.logs(connection)?;
        let order = Order { namespace: header.namespace.as_deref(), since: self.since };
        let write = |out: &mut dyn Write| -> Result<Recorded, RecordError> {
            out.write_all(&record::header_line(header))?;
            record::snapshot(watch, order, &policy, logs, &now, out)
        };
        let path = self.output.clone().unwrap_or_else(|| default_name(header, "jsonl.gz"));
        let recorded = if path == "-" {
            let mut out = GzEncoder::new(BufWriter::new(io::stdout().lock()), Compression::default());
            write(&mut out).and_then(|recorded| {
                out.finish()?.flush()?;
                Ok(recorded)
            })
        } else {
            self.ensure_free(Path::new(&path))?;
            whole_file(Path::new(&path), write)
        };
        let recorded = match recorded {
            Err(RecordError::Interrupted) => return Ok(ExitCode::Interrupted),
            // Of a reader that has gone nothing is told.
            Err(RecordError::Write(error)) if path == "-" => return Err(error.into()),
            Err(RecordError::Write(error)) => anyhow::bail!("cannot write {path}: {error}"),
            recorded => recorded?,
        };
        for line in said(&recorded.sources) {
            talk(&line);
        }
        talk(&summary(&recorded, header));
        if path != "-" {
            writeln!(stdout(), "{path}")?;
        }
        Ok(ExitCode::Success)
    }

    fn follow(&self, connection: &Connection, watch: &mut Watch, header: Header) -> anyhow::Result<ExitCode> {
        let path = self.output.clone().unwrap_or_else(|| journal_name(&header));
        let namespace = header.namespace.clone();
        let keeping = Keeping { rotate_size: self.rotate_size, keep: self.keep };
        ensure_regular(Path::new(&path))?;
        let mut journal = Journal::open(Path::new(&path), header, keeping)?;
        for damaged in journal.damaged() {
            talk(&format!("warning: {damaged}; what it told of objects that are still there is written anew"));
        }
        let policy = Policy { redact: self.redact, marker: journal.marker() };
        let logs = self.logs(connection)?;
        let order = Order { namespace: namespace.as_deref(), since: None };
        record::follow(watch, order, &policy, &mut journal, logs, &now)?;
        Ok(ExitCode::Success)
    }

    /// A second way to the cluster, to ask for logs.
    fn logs(&self, connection: &Connection) -> anyhow::Result<Option<Logs>> {
        Ok(if self.logs { Some(Logs::open(&Environment::of_process(), connection)?) } else { None })
    }

    fn ensure_free(&self, path: &Path) -> anyhow::Result<()> {
        if !self.force && path.symlink_metadata().is_ok() {
            anyhow::bail!("{} is there already; give another -o, or --force to write over it", path.display());
        }
        ensure_regular(path)
    }
}

/// A name that leads whoever reads it to take it for something else is refused before anything is made.
fn ensure_name(output: &str, is_journal: bool) -> Result<(), UsageError> {
    let ending = Path::new(output).extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    let refusal = match &*ending {
        _ if output.is_empty() => "-o needs the name of a file, or - for standard output",
        "json" | "yaml" | "yml" | "kyaml" => {
            "a recording is JSON Lines: give it a name that ends in .jsonl, or in .jsonl.gz to have it packed"
        }
        "gz" if is_journal => {
            "a journal is written plain, so that no line is lost, and packed file by file: give it a name that ends in .jsonl"
        }
        _ => return Ok(()),
    };
    Err(UsageError(format!("-o {output:?}: {refusal}")))
}

/// A device, a pipe or a socket would be replaced, or never come to its end.
fn ensure_regular(path: &Path) -> anyhow::Result<()> {
    match fs::metadata(path) {
        Ok(found) if !found.is_file() => Err(UsageError(format!(
            "{} is no regular file; a recording is written to one, or with -o - to standard output",
            path.display()
        ))
        .into()),
        _ => Ok(()),
    }
}

/// The machine's clock; where it stands before 1970, its beginning.
fn now() -> Time {
    clock().unwrap_or(Time::from_seconds(0))
}

/// Writes a file whole or not at all, packed unless its name says otherwise.
fn whole_file(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> Result<Recorded, RecordError>,
) -> Result<Recorded, RecordError> {
    let mut file = Half::open(path)?;
    let is_plain = path.extension().is_some_and(|ending| ending == "jsonl");
    let recorded = if is_plain {
        write(&mut file)?
    } else {
        let mut packed = GzEncoder::new(&mut file, Compression::default());
        let recorded = write(&mut packed)?;
        packed.finish()?;
        recorded
    };
    file.finish()?;
    Ok(recorded)
}

fn default_name(header: &Header, ending: &str) -> String {
    let time: String = header.started_at.chars().filter(|c| !matches!(c, '-' | ':')).collect();
    format!("{}-{time}.{ending}", base_name(header))
}

fn journal_name(header: &Header) -> String {
    format!("{}.jsonl", base_name(header))
}

/// Contexts are named after addresses and roles, with slashes and colons.
fn base_name(header: &Header) -> String {
    let cluster = header.cluster.chars().map(|c| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '-' });
    let cluster: String = cluster.collect();
    format!("sigapps-{}-{}", cluster.trim_start_matches(['.', '-']), header.namespace.as_deref().unwrap_or("all"))
}

fn summary(recorded: &Recorded, header: &Header) -> String {
    let written: Vec<String> =
        recorded.written.iter().map(|(resource, count)| format!("{count} {}", resource.name())).collect();
    let logs = recorded.logs.map(|count| format!("{count} logs"));
    let written: Vec<String> = written.into_iter().chain(logs).collect();
    let what = if written.is_empty() { "nothing is there".to_owned() } else { written.join(", ") };
    let of =
        header.namespace.as_deref().map_or_else(|| "all namespaces".to_owned(), |name| format!("namespace {name}"));
    // Nodes are in no namespace; and whether there is one of that name is not asked, which takes a right more.
    let is_empty = recorded.written.keys().all(|resource| *resource == Resource::Nodes);
    let doubt = header.namespace.as_deref().filter(|_| is_empty);
    let doubt = doubt.map(|name| format!("; nothing is in namespace {name}: is that its name?")).unwrap_or_default();
    format!("recorded {of} of {}: {what}{doubt}", header.cluster)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_take_the_suffixes_of_quantities() {
        assert_eq!(parse_bytes("64Mi"), Ok(64 << 20));
        assert_eq!(parse_bytes("512Ki"), Ok(512 << 10));
        assert_eq!(parse_bytes("100"), Ok(100));
        assert!(parse_rotate_size("64Ki").is_ok() && parse_rotate_size("1").is_err());
        for text in ["", "0", "-1", "64M", "1Ti", "Mi", "99999999999Gi"] {
            assert!(parse_bytes(text).is_err(), "{text}");
        }
    }

    #[test]
    fn names_of_files_hold_nothing_that_leads_elsewhere() {
        let header = Header {
            cluster: "arn:aws:eks:eu-1:1:cluster/../prod".into(),
            started_at: "2026-11-30T09:12:05Z".into(),
            ..Header::default()
        };
        let name = default_name(&header, "jsonl.gz");
        assert_eq!(name, "sigapps-arn-aws-eks-eu-1-1-cluster-..-prod-all-20261130T091205Z.jsonl.gz");
        assert_eq!(
            journal_name(&Header { namespace: Some("ml".into()), ..header }).rsplit_once("-prod-").unwrap().1,
            "ml.jsonl"
        );
    }
}
