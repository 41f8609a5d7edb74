//! The JobSet controller's log: the only place where it tells the rule of every decision.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use crate::api::text;
use crate::jobsets::failure_policy::Chosen;

/// For each JobSet, by uid, what of its policy spoke, one decision after the other.
///
/// A decision that could not be written down, as when another write came between, is made again in another reconcile;
/// only the one that was written is here.
pub(crate) fn choices(log: &str) -> HashMap<String, Vec<Chosen>> {
    let lines: Vec<Value> = log.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let failed: HashSet<&str> = lines
        .iter()
        .filter(|line| text(line, "/msg") == "Reconciler error")
        .map(|line| text(line, "/reconcileID"))
        .collect();
    let mut choices: HashMap<String, Vec<Chosen>> = HashMap::new();
    for line in lines.iter().filter(|line| !failed.contains(text(line, "/reconcileID"))) {
        if let Some(chosen) = chosen(text(line, "/msg")) {
            choices.entry(text(line, "/jobSetUID").to_owned()).or_default().push(chosen);
        }
    }
    choices
}

/// The controller's sentences, from `findFirstFailedPolicyRuleAndJob`.
fn chosen(message: &str) -> Option<Chosen> {
    if message == "never found a matched failure policy rule." {
        return Some(Chosen::Default);
    }
    let rest = message.strip_prefix("found a failed job matching failure policy rule with index ")?;
    rest.split_once(' ')?.0.parse().ok().map(Chosen::Rule)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decision_that_could_not_be_written_does_not_count() {
        let log = r#"
{"level":"debug-2","msg":"found a failed job matching failure policy rule with index 3 and name r3","jobSetUID":"u","reconcileID":"1"}
{"level":"error","msg":"Reconciler error","reconcileID":"1"}
{"level":"debug-2","msg":"did not find a failed job matching failure policy rule with index 0 and name r0","jobSetUID":"u","reconcileID":"2"}
{"level":"debug-2","msg":"found a failed job matching failure policy rule with index 1 and name r1","jobSetUID":"u","reconcileID":"2"}
not JSON
{"level":"error","msg":"invalid regex for onJobFailureMessagePatterns","jobSetUID":"u","reconcileID":"3"}
{"level":"debug-2","msg":"never found a matched failure policy rule.","jobSetUID":"u","reconcileID":"3"}"#;
        assert_eq!(choices(log)["u"], [Chosen::Rule(1), Chosen::Default]);
    }
}
