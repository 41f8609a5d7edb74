use std::cell::RefCell;
use std::collections::HashMap;

use super::go_pattern::{GoPattern, PatternError};
use crate::model::Word;

/// Patterns kept; each may take 2 MiB, and how many there are is for a cluster's users to say.
const MOST_KEPT: usize = 16;

/// Compiled patterns: of one policy the same ones are asked for again and again, by each Job of each attempt.
#[derive(Debug, Default)]
pub struct Patterns {
    kept: RefCell<HashMap<Word, Result<GoPattern, PatternError>>>,
}

impl Patterns {
    /// Whether a text holds a match of a pattern.
    pub(super) fn is_match(&self, pattern: &Word, text: &str) -> Result<bool, PatternError> {
        let judge = |compiled: &Result<GoPattern, PatternError>| match compiled {
            Ok(compiled) => Ok(compiled.is_match(text)),
            Err(error) => Err(error.clone()),
        };
        if let Some(compiled) = self.kept.borrow().get(pattern) {
            return judge(compiled);
        }
        let compiled = GoPattern::compile(pattern);
        let judged = judge(&compiled);
        let mut kept = self.kept.borrow_mut();
        if kept.len() < MOST_KEPT {
            kept.insert(pattern.clone(), compiled);
        }
        judged
    }
}
