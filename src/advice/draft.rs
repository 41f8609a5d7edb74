use super::command::Command;
use crate::analysis::Failure;
use crate::report::{Evidence, Safety, SuggestionKind};

/// Advice for a cause of one workload.
#[derive(Clone, Debug)]
pub(super) struct Advice {
    pub(super) kind: SuggestionKind,
    /// Why; equal texts of one kind are one suggestion.
    pub(super) why: String,
    /// Commands that run as printed.
    pub(super) commands: Vec<Command>,
    /// The facts it rests on.
    pub(super) evidence: Vec<Evidence>,
    /// What is lost by running the commands, where they destroy something.
    pub(super) loses: Option<String>,
}

impl Advice {
    pub(super) fn new(kind: SuggestionKind, why: impl Into<String>) -> Self {
        Self { kind, why: why.into(), commands: Vec::new(), evidence: Vec::new(), loses: None }
    }

    /// Advice that rests on a failure.
    pub(super) fn on(kind: SuggestionKind, why: impl Into<String>, failure: &Failure) -> Self {
        Self { evidence: failure.evidence(), ..Self::new(kind, why) }
    }

    pub(super) fn run(mut self, commands: Vec<Command>) -> Self {
        self.commands.extend(commands);
        self
    }

    pub(super) fn fact(
        mut self,
        object: impl Into<Box<str>>,
        path: impl Into<Box<str>>,
        value: impl Into<Box<str>>,
    ) -> Self {
        self.evidence.push(Evidence::new(object, path, value));
        self
    }

    pub(super) fn losing(mut self, what: Option<String>) -> Self {
        self.loses = what;
        self
    }

    /// What running all of its commands does.
    pub(super) fn safety(&self) -> Safety {
        self.commands.iter().map(|command| command.safety).max().unwrap_or(Safety::ReadOnly)
    }
}
