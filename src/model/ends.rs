use std::fmt;
use std::ops::Deref;

use super::ContainerEnd;

/// How containers of one pod ended. Most pods have one container, whose end stands here itself: of a hundred thousand
/// pods, that many allocations less.
#[derive(Clone, PartialEq)]
pub struct Ends(Of);

#[derive(Clone, PartialEq)]
enum Of {
    One(ContainerEnd),
    Other(Box<[ContainerEnd]>),
}

impl FromIterator<ContainerEnd> for Ends {
    fn from_iter<I: IntoIterator<Item = ContainerEnd>>(ends: I) -> Self {
        let mut ends = ends.into_iter();
        Self(match (ends.next(), ends.next()) {
            (Some(one), None) => Of::One(one),
            (first, second) => Of::Other(first.into_iter().chain(second).chain(ends).collect()),
        })
    }
}

impl Deref for Ends {
    type Target = [ContainerEnd];

    fn deref(&self) -> &[ContainerEnd] {
        match &self.0 {
            Of::One(end) => std::slice::from_ref(end),
            Of::Other(ends) => ends,
        }
    }
}

impl fmt::Debug for Ends {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        (**self).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::model::{ContainerKind, ContainerOutcome};

    #[test]
    fn all_that_ended_are_there_in_their_order() {
        let end = |exit_code| {
            let outcome = ContainerOutcome {
                container: "main".into(),
                kind: ContainerKind::App,
                exit_code,
                reason: None,
                message: None,
                memory: None,
            };
            ContainerEnd { outcome: Arc::new(outcome), started_at: None, finished_at: None }
        };
        for count in 0..4 {
            let ends: Ends = (0..count).map(end).collect();
            assert_eq!(ends.iter().map(|end| end.exit_code).collect::<Vec<_>>(), (0..count).collect::<Vec<_>>());
        }
        assert!(size_of::<Ends>() <= size_of::<ContainerEnd>(), "it takes no more room than one end");
    }
}
