use std::io::{self, Write};

use super::text::one_line;
use crate::report::FailureReport;

/// `job.batch/x`, as kubectl's `-o name` prints resources.
pub(super) fn print(report: &FailureReport, out: &mut impl Write) -> io::Result<()> {
    for workload in report.workloads.iter().map(|workload| &workload.workload) {
        let kind = workload.kind.to_ascii_lowercase();
        let group = match &*kind {
            "job" | "cronjob" => ".batch",
            "jobset" => ".jobset.x-k8s.io",
            _ => "",
        };
        writeln!(out, "{kind}{group}/{}", one_line(&workload.name))?;
    }
    Ok(())
}
