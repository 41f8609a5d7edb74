use std::fmt::Write as _;

/// How the tool ends. The numbers never change their meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExitCode {
    /// The report was made.
    Success,
    /// It could not be made.
    Error,
    /// Wrong usage.
    Usage,
    /// Failures were found; only with `--exit-code`.
    FailuresFound,
    /// The report is incomplete; only with `--exit-code`.
    Incomplete,
    /// `wait` timed out.
    TimedOut,
    /// Interrupted.
    Interrupted,
}

impl ExitCode {
    const ALL: [Self; 7] = [
        Self::Success,
        Self::Error,
        Self::Usage,
        Self::FailuresFound,
        Self::Incomplete,
        Self::TimedOut,
        Self::Interrupted,
    ];
    /// Those of what prints a report.
    const OF_REPORTS: [Self; 6] =
        [Self::Success, Self::Error, Self::Usage, Self::FailuresFound, Self::Incomplete, Self::Interrupted];

    /// The number.
    pub const fn number(self) -> u8 {
        match self {
            Self::Success => 0,
            Self::Error => 1,
            Self::Usage => 2,
            Self::FailuresFound => 3,
            Self::Incomplete => 4,
            Self::TimedOut => 5,
            Self::Interrupted => 130,
        }
    }

    const fn meaning(self) -> &'static str {
        match self {
            Self::Success => "the report was made",
            Self::Error => "it could not be made",
            Self::Usage => "wrong usage",
            Self::FailuresFound => "failures found (only with --exit-code)",
            Self::Incomplete => {
                "the report is incomplete: jobs, pods or a file were not read whole (only with --exit-code)"
            }
            Self::TimedOut => "wait timed out",
            Self::Interrupted => "interrupted",
        }
    }
}

/// The table of exit codes in the help.
pub(super) fn table() -> String {
    table_of(&ExitCode::ALL)
}

/// The same for what prints a report.
pub(super) fn report_table() -> String {
    table_of(&ExitCode::OF_REPORTS)
}

/// The same for what waits.
pub(super) fn wait_table() -> String {
    let table = table_with(&[
        (ExitCode::Success, "what was waited for has come"),
        (ExitCode::Error, "it could not be waited for, or was deleted"),
        (ExitCode::Usage, "wrong usage"),
        (ExitCode::FailuresFound, "it failed, or ended otherwise than was waited for"),
        (ExitCode::TimedOut, "the time was over"),
        (ExitCode::Interrupted, "interrupted"),
    ]);
    format!("{table}\nOf several, the worst counts: 1, then 5, then 3; with --any that of the first\nthat is decided.")
}

/// The same for a command without `--exit-code`.
pub(super) fn plain_table() -> String {
    table_of(&[ExitCode::Success, ExitCode::Error, ExitCode::Usage, ExitCode::Interrupted])
}

/// The same for what prints something that is no report.
pub(super) fn print_table() -> String {
    table_with(&[
        (ExitCode::Success, "it was printed, or written"),
        (ExitCode::Error, "it could not be"),
        (ExitCode::Usage, "wrong usage"),
    ])
}

/// The same for what changes a cluster.
pub(super) fn restart_table() -> String {
    table_with(&[
        (ExitCode::Success, "it was restarted, or the dry run passed"),
        (ExitCode::Error, "it was refused, declined, or failed: nothing was changed unless it says so"),
        (ExitCode::Usage, "wrong usage"),
        (ExitCode::Interrupted, "interrupted: run it again to go on"),
    ])
}

/// The same for what records.
pub(super) fn record_table() -> String {
    table_with(&[
        (ExitCode::Success, "it was recorded; with --follow, it was asked to end and all is written"),
        (ExitCode::Error, "it could not be recorded, or no more of it"),
        (ExitCode::Usage, "wrong usage"),
        (ExitCode::Interrupted, "interrupted before a snapshot was whole: none was written"),
    ])
}

fn table_of(codes: &[ExitCode]) -> String {
    table_with(&codes.iter().map(|code| (*code, code.meaning())).collect::<Vec<_>>())
}

/// Columns of the help, less one: clap breaks a longer line without regard to the column that its second half belongs in.
const WIDTH: usize = 79;

fn table_with(rows: &[(ExitCode, &str)]) -> String {
    let mut table = "Exit codes:".to_owned();
    for (code, meaning) in rows {
        let mut line = format!("  {:<4}", code.number());
        for word in meaning.split(' ') {
            if line.len() + 1 + word.len() > WIDTH {
                let _ = write!(table, "\n{line}");
                " ".repeat(6).clone_into(&mut line);
            }
            let _ = write!(line, " {word}");
        }
        let _ = write!(table, "\n{line}");
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_are_those_of_the_contract() {
        let numbers: Vec<u8> = ExitCode::ALL.into_iter().map(ExitCode::number).collect();
        assert_eq!(numbers, [0, 1, 2, 3, 4, 5, 130]);
        assert!(table().contains("  130  interrupted"));
    }
}
