//! Containers that the kernel killed because they, or the node, had no memory left.

use serde_json::{Map, Value, json};

use super::case::{Case, list_of};
use super::draft::Advice;
use super::maker::{Change, Maker};
use crate::analysis::object;
use crate::model::ContainerEnd;
use crate::report::SuggestionKind;

impl Case<'_> {
    /// The end of a container that was OOM-killed. Exit code 137 alone is no sign of that.
    pub(super) fn out_of_memory(&self) -> Option<&ContainerEnd> {
        self.failure.end.filter(|end| end.reason.as_deref() == Some("OOMKilled"))
    }

    pub(super) fn raise_memory(&self, end: &ContainerEnd) -> Advice {
        let container = &end.container;
        let memory = end.memory.as_deref();
        let limit = memory.and_then(|memory| memory.limit.as_deref());
        let request = memory.and_then(|memory| memory.request.as_deref());
        let mut why = match limit {
            Some(limit) => format!(
                "{container} was OOM-killed at its memory limit {limit} (request {}): give it more",
                request.unwrap_or("none")
            ),
            None => format!(
                "{container} was OOM-killed without a memory limit of its own (request {}), so that the node had none left: \
                 request what it needs",
                request.unwrap_or("none")
            ),
        };
        if let Some(retries) = self.retried() {
            why = format!("{why}; {retries}");
        }
        let mut commands = self.failure.pod.map(|pod| self.describe(pod)).unwrap_or_default();
        let mut loses = None;
        if let (Some(maker), Some(patch)) = (self.maker(), more_memory(end)) {
            let way = maker.change(&patch, self.kubectl);
            why = format!("{why}; {}", way.note);
            let twice = if matches!(maker, Maker::Other(..)) { "" } else { " (the command doubles it)" };
            if way.commands.iter().any(|command| command.safety > crate::report::Safety::ReadOnly) {
                why.push_str(twice);
            }
            loses = way.loses;
            commands.extend(way.commands);
        }
        let mut advice = self.advice(SuggestionKind::RaiseMemory, why).run(commands).losing(loses);
        if let Some(pod) = self.failure.pod {
            let pod = object("pod", &pod.namespace, &pod.name);
            let path = |list| format!("spec.{}[name={container}].resources.{list}.memory", list_of(end));
            advice = advice.fact(&pod, path("limits"), limit.unwrap_or("<unset>"));
            advice = advice.fact(&pod, path("requests"), request.unwrap_or("<unset>"));
        }
        advice
    }
}

/// Twice the memory: what was needed is not known, only that it was more than the limit.
fn more_memory(end: &ContainerEnd) -> Option<Change> {
    let memory = end.memory.as_deref()?;
    let mut resources = Map::new();
    let limit = memory.limit.as_deref().and_then(doubled);
    if let Some(limit) = &limit {
        resources.insert("limits".to_owned(), json!({"memory": limit}));
    }
    // A request below the limit stays: only that the limit was too low is known.
    let request =
        memory.request.as_deref().filter(|request| limit.is_none() || memory.limit.as_deref() == Some(request));
    if let Some(request) = request.and_then(doubled) {
        resources.insert("requests".to_owned(), json!({"memory": request}));
    }
    if resources.is_empty() {
        return None;
    }
    let container = json!({"name": &*end.container, "resources": Value::Object(resources)});
    Some(Change::Resources(json!({list_of(end): [container]})))
}

/// A whole quantity, doubled, in the unit in which it is written.
fn doubled(quantity: &str) -> Option<String> {
    let digits = quantity.find(|c: char| !c.is_ascii_digit()).unwrap_or(quantity.len());
    let (number, unit) = quantity.split_at(digits);
    if !["", "k", "M", "G", "T", "Ki", "Mi", "Gi", "Ti"].contains(&unit) {
        return None;
    }
    let number: u64 = number.parse().ok().filter(|number| *number > 0)?;
    Some(format!("{}{unit}", number.checked_mul(2)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quantity_is_doubled_as_it_is_written() {
        for (quantity, twice) in [
            ("1Gi", Some("2Gi")),
            ("900Gi", Some("1800Gi")),
            ("512M", Some("1024M")),
            ("134217728", Some("268435456")),
            ("1.5Gi", None),
            ("0", None),
            ("1e9", None),
            ("many", None),
            ("", None),
            ("18446744073709551615", None),
        ] {
            assert_eq!(doubled(quantity).as_deref(), twice, "{quantity}");
        }
    }
}
