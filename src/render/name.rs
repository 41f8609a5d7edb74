use std::io::{self, Write};

use super::text::one_line;
use crate::report::{FailureReport, WorkloadRef};
use crate::request::TargetKind;

/// `job.batch/x`, as kubectl's `-o name` prints resources.
pub(super) fn print(report: &FailureReport, out: &mut impl Write) -> io::Result<()> {
    report.workloads.iter().try_for_each(|workload| print_one(&workload.workload, out))
}

/// The same of one.
pub(super) fn print_one(workload: &WorkloadRef, out: &mut impl Write) -> io::Result<()> {
    match TargetKind::ALL.into_iter().find(|known| *known.kind() == *workload.kind) {
        Some(kind) => print_known(kind, &workload.name, out),
        None => writeln!(out, "{}/{}", workload.kind.to_ascii_lowercase(), one_line(&workload.name)),
    }
}

/// The same of an object of a known kind.
pub(super) fn print_known(kind: TargetKind, name: &str, out: &mut impl Write) -> io::Result<()> {
    let separator = if kind.group().is_empty() { "" } else { "." };
    writeln!(out, "{}{separator}{}/{}", kind.kind().to_ascii_lowercase(), kind.group(), one_line(name))
}
