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
    let kind = workload.kind.to_ascii_lowercase();
    let known = TargetKind::ALL.into_iter().find(|known| *known.kind() == *workload.kind);
    let group = known.map(TargetKind::group).filter(|group| !group.is_empty());
    let group = group.map(|group| format!(".{group}")).unwrap_or_default();
    writeln!(out, "{kind}{group}/{}", one_line(&workload.name))
}
