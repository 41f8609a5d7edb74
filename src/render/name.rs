use std::io::{self, Write};

use super::text::one_line;
use crate::report::FailureReport;
use crate::request::TargetKind;

/// `job.batch/x`, as kubectl's `-o name` prints resources.
pub(super) fn print(report: &FailureReport, out: &mut impl Write) -> io::Result<()> {
    for workload in report.workloads.iter().map(|workload| &workload.workload) {
        let kind = workload.kind.to_ascii_lowercase();
        let known = TargetKind::ALL.into_iter().find(|known| *known.kind() == *workload.kind);
        let group = known.map(TargetKind::group).filter(|group| !group.is_empty());
        let group = group.map(|group| format!(".{group}")).unwrap_or_default();
        writeln!(out, "{kind}{group}/{}", one_line(&workload.name))?;
    }
    Ok(())
}
