//! Values of arguments: durations, classes, workloads by name.

use std::fmt;

use clap::ValueEnum;

use crate::report::Class;
use crate::request::{GroupBy, Subject, Target, TargetKind};

/// Wrong usage that clap cannot see: it exits with 2.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct UsageError(pub(super) String);

impl fmt::Display for UsageError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for UsageError {}

/// Seconds from a duration as kubectl takes it, with days and weeks besides: `90s`, `10m`, `1h30m`, `2d`, `1w`.
pub(super) fn parse_duration(text: &str) -> Result<i64, String> {
    let refuse = || format!("{text:?} is not a duration: it takes forms such as 30s, 10m, 1h30m, 12h, 2d, 1w");
    let mut seconds = 0.0;
    let mut rest = text.trim();
    if rest.is_empty() {
        return Err(refuse());
    }
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !(c.is_ascii_digit() || c == '.')).ok_or_else(refuse)?;
        let number: f64 = rest[..digits].parse().map_err(|_| refuse())?;
        let after = &rest[digits..];
        let unit_end = after.find(|c: char| c.is_ascii_digit()).unwrap_or(after.len());
        let unit = match &after[..unit_end] {
            "ms" => 0.001,
            "s" => 1.0,
            "m" => 60.0,
            "h" => 3_600.0,
            "d" => 86_400.0,
            "w" => 604_800.0,
            _ => return Err(refuse()),
        };
        seconds += number * unit;
        rest = &after[unit_end..];
    }
    // A hundred years; more is a slip of the keyboard, and would overflow times.
    if !(0.0..=3_155_760_000.0).contains(&seconds) {
        return Err(refuse());
    }
    #[allow(clippy::cast_possible_truncation)] // within the bounds just checked
    Ok(seconds.ceil() as i64)
}

/// Something to explain, in one argument or two: `KIND/NAME`, `KIND NAME` or `NAME`, which may be of any kind.
pub(super) fn parse_subject(arguments: &[String]) -> Result<Subject, String> {
    let is_kind = |text: &str| parse_kind(text).is_ok();
    let (kind, name) = split_subject(arguments, is_kind)
        .ok_or("give one thing to explain: KIND/NAME, KIND NAME or NAME")?
        .map_err(|kind| format!("give the name as well: {kind}/NAME"))?;
    let kind = kind.map(parse_kind).transpose()?;
    ensure_is_name(name)?;
    Ok(Subject { kind, name: name.to_owned() })
}

/// Kind and name of `KIND/NAME`, `KIND NAME` or `NAME`. An error is a kind without a name; `None`, that it is none of these.
pub(super) fn split_subject(
    arguments: &[String],
    is_kind: impl Fn(&str) -> bool,
) -> Option<Result<(Option<&str>, &str), &str>> {
    match arguments {
        [one] => Some(match one.split_once('/') {
            Some((kind, name)) => Ok((Some(kind), name)),
            None if is_kind(one) => Err(one),
            None => Ok((None, one)),
        }),
        [kind, name] if !kind.contains('/') => Some(Ok((Some(kind), name))),
        _ => None,
    }
}

/// Workloads as kubectl takes them: each by its name, `job/a jobset/b c`, names behind a kind, `jobset a b`, or all of some
/// kinds, `cronjobs,lws`.
pub(super) fn parse_targets(arguments: &[String]) -> Result<(Vec<TargetKind>, Vec<Target>), String> {
    let [first, names @ ..] = arguments else { return Ok((Vec::new(), Vec::new())) };
    let kinds: Option<Vec<TargetKind>> = first.split(',').map(TargetKind::parse).collect();
    if let Some(unknown) =
        first.split(',').find(|kind| TargetKind::parse(kind).is_none()).filter(|_| first.contains(','))
    {
        return Err(format!("kind {unknown:?} is not known: it takes {KINDS}"));
    }
    let targets = match (kinds, names) {
        (Some(kinds), []) => {
            return match kinds.iter().find_map(|kind| not_by_kind(*kind)) {
                Some(refusal) => Err(refusal.to_owned()),
                None => Ok((kinds, Vec::new())),
            };
        }
        (Some(kinds), names) if kinds.len() == 1 => {
            names.iter().map(|name| parse_target(&format!("{first}/{name}"))).collect::<Result<_, _>>()?
        }
        _ => arguments.iter().map(|target| parse_target(target)).collect::<Result<_, _>>()?,
    };
    Ok((Vec::new(), targets))
}

/// Why failures are not asked for by a kind alone.
const fn not_by_kind(kind: TargetKind) -> Option<&'static str> {
    match kind {
        TargetKind::Pod => Some(NO_PODS),
        TargetKind::Node => Some("give a node by name, node/NAME, or --group-by node for all of them"),
        _ => None,
    }
}

const NO_PODS: &str = "failures are asked for by their workload, not by pod: explain pod/NAME tells of one pod";
const KINDS: &str = "job, cronjob, jobset, deployment, statefulset, daemonset, leaderworkerset, disaggregatedset, sandbox, \
                     sandboxclaim, sandboxwarmpool, trainjob, workload (of Kueue), node or pod";

/// A workload by name: `NAME` and `job/NAME` are a Job, `cronjob/NAME`, `lws/NAME` what they say; kinds in the forms that
/// kubectl takes.
fn parse_target(text: &str) -> Result<Target, String> {
    let (kind, name) = text.split_once('/').unwrap_or(("job", text));
    let kind = match parse_kind(kind)? {
        TargetKind::Pod => return Err(NO_PODS.to_owned()),
        kind => kind,
    };
    ensure_is_name(name)?;
    Ok(Target { kind, name: name.to_owned() })
}

fn parse_kind(kind: &str) -> Result<TargetKind, String> {
    TargetKind::parse(kind).ok_or_else(|| format!("kind {kind:?} is not known: it takes {KINDS}"))
}

pub(super) fn ensure_is_name(name: &str) -> Result<(), String> {
    let valid = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '.');
    if name.is_empty() || !name.chars().all(valid) {
        return Err(format!("{name:?} is not a name of a Kubernetes object"));
    }
    Ok(())
}

impl ValueEnum for Class {
    fn value_variants<'a>() -> &'a [Self] {
        &Self::ALL
    }

    fn to_possible_value(&self) -> Option<clap::builder::PossibleValue> {
        Some(clap::builder::PossibleValue::new(self.name()))
    }
}

impl ValueEnum for GroupBy {
    fn value_variants<'a>() -> &'a [Self] {
        &[Self::Rule, Self::Cause, Self::Node, Self::Workload, Self::Namespace, Self::Reason]
    }

    fn to_possible_value(&self) -> Option<clap::builder::PossibleValue> {
        let help = match self {
            Self::Rule => "Pod-failure-policy rule, else cause",
            Self::Cause => "Container, exit code and reason",
            Self::Node => "Node",
            Self::Workload => "Workload",
            Self::Namespace => "Namespace",
            Self::Reason => "Reason",
        };
        Some(clap::builder::PossibleValue::new(self.name()).help(help))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_as_kubectl_reads_them() {
        for (text, seconds) in [
            ("30s", 30),
            ("10m", 600),
            ("1h30m", 5_400),
            ("12h", 43_200),
            ("2d", 172_800),
            ("1w", 604_800),
            ("500ms", 1),
        ] {
            assert_eq!(parse_duration(text), Ok(seconds), "{text}");
        }
        for text in ["", "5", "h", "1y", "-5m", "1h-", "yesterday", "99999999999d"] {
            assert!(parse_duration(text).unwrap_err().contains("1h30m"), "{text}");
        }
    }

    #[test]
    fn what_to_explain_is_told_in_one_argument_or_two() {
        let parse = |arguments: &[&str]| parse_subject(&arguments.iter().map(ToString::to_string).collect::<Vec<_>>());
        let subject = |kind, name: &str| Ok(Subject { kind, name: name.to_owned() });
        assert_eq!(parse(&["jobset/llama"]), subject(Some(TargetKind::JobSet), "llama"));
        assert_eq!(parse(&["po", "p-0"]), subject(Some(TargetKind::Pod), "p-0"));
        assert_eq!(parse(&["llama"]), subject(None, "llama"));
        for (arguments, said) in [
            (&["jobset"][..], "give the name as well: jobset/NAME"),
            (&["job/a", "b"], "give one thing to explain"),
            (&["service/a"], "it takes job, cronjob, jobset, deployment"),
            (&["job/A B"], "not a name"),
        ] {
            assert!(parse(arguments).unwrap_err().contains(said), "{arguments:?}");
        }
    }

    #[test]
    fn workloads_are_named_as_kubectl_names_them() {
        let target = |kind, name: &str| Ok(Target { kind, name: name.to_owned() });
        assert_eq!(parse_target("etl"), target(TargetKind::Job, "etl"));
        assert_eq!(parse_target("jobs.batch/etl"), target(TargetKind::Job, "etl"));
        assert_eq!(parse_target("cj/backup"), target(TargetKind::CronJob, "backup"));
        assert_eq!(parse_target("JobSet/llama"), target(TargetKind::JobSet, "llama"));
        let targets =
            |arguments: &[&str]| parse_targets(&arguments.iter().map(ToString::to_string).collect::<Vec<_>>());
        assert_eq!(targets(&["job/a", "b"]).unwrap().1.len(), 2);
        let (_, both) = targets(&["jobset", "a", "b"]).unwrap();
        assert!(both.iter().all(|target| target.kind == TargetKind::JobSet) && both.len() == 2);
        assert_eq!(targets(&["jobs"]).unwrap(), (vec![TargetKind::Job], Vec::new()));
        let several = vec![TargetKind::CronJob, TargetKind::LeaderWorkerSet];
        assert_eq!(targets(&["cronjobs,lws"]).unwrap(), (several, Vec::new()));
        assert!(targets(&["jobs", "job/a"]).is_err());
        assert!(targets(&["pods"]).unwrap_err().contains("explain pod/NAME"));
        assert!(targets(&["nodes"]).unwrap_err().contains("--group-by node"));
        assert!(targets(&["jobs,odd"]).unwrap_err().contains("\"odd\" is not known"));
        assert!(targets(&["node/n"]).is_ok());
        assert!(parse_target("pod/x").unwrap_err().contains("explain pod/NAME"));
        assert!(parse_target("sts/db").is_ok());
        assert!(parse_target("job/").is_err());
        assert!(parse_target("job/X Y").is_err());
    }
}
