//! One line a test, and the total.

use anyhow::Result;

#[derive(Default)]
pub(crate) struct Results {
    only: Option<String>,
    passed: usize,
    failed: usize,
}

impl Results {
    pub(crate) fn new(only: Option<String>) -> Self {
        Self { only, ..Self::default() }
    }

    /// Whether a test of this name was asked for.
    pub(crate) fn wants(&self, name: &str) -> bool {
        self.only.as_ref().is_none_or(|only| name.contains(only.as_str()))
    }

    /// For what went wrong before single tests could be told apart.
    pub(crate) fn record_error(&mut self, name: &str, outcome: Result<()>) {
        if outcome.is_err() {
            self.record(name, outcome);
        }
    }

    pub(crate) fn record(&mut self, name: &str, outcome: Result<()>) {
        match outcome {
            Ok(()) => {
                self.passed += 1;
                println!("ok {name}");
            }
            Err(error) => {
                self.failed += 1;
                println!("FAILED {name}: {error:#}");
            }
        }
    }

    /// The very last line of a run; true when nothing failed and something ran.
    pub(crate) fn finish(mut self) -> bool {
        if self.passed + self.failed == 0 {
            println!("FAILED no test is called like {:?}", self.only.unwrap_or_default());
            self.failed = 1;
        }
        println!("{} passed, {} failed", self.passed, self.failed);
        self.failed == 0
    }
}
