//! Containers that the kernel killed because they, or the node, had no memory left.

use serde_json::{Map, Value, json};

use super::case::{Case, list_of};
use super::change::Change;
use super::draft::Advice;
use super::maker::Maker;
use crate::analysis::object;
use crate::model::{ContainerEnd, SUFFIXES};
use crate::report::{Safety, SuggestionKind};

impl Case<'_> {
    /// The end of a container that was OOM-killed. Exit code 137 alone is no sign of that.
    pub(super) fn out_of_memory(&self) -> Option<&ContainerEnd> {
        self.failure.end.filter(|end| end.reason.as_deref() == Some("OOMKilled"))
    }

    pub(super) fn raise_memory(&self, end: &ContainerEnd) -> Advice {
        let container = &end.container;
        let mut why = killed(end);
        if let Some(retries) = self.retried() {
            why = format!("{why}; {retries}");
        }
        let mut commands = self.describe_pod();
        let mut loses = None;
        if let Some(maker) = self.maker() {
            match (more_memory(end, maker), maker.memory().map(|template| template.of(container))) {
                (Some(change), _) => {
                    let way = maker.change(&change, self.analysis.snapshot, self.kubectl);
                    let changes = way.commands.iter().any(|command| command.safety > Safety::ReadOnly);
                    let twice = if changes { " (the command doubles it)" } else { "" };
                    why = format!("{why}; {}{twice}", way.note);
                    loses = way.loses;
                    commands.extend(way.commands);
                }
                // What a webhook adds to the pods is not to be given a second, half container in the template.
                (None, Some(None)) => {
                    why = format!("{why}; its template has no such container: change it in what adds it to the pods");
                }
                (None, _) => {
                    let way = maker.by_hand(self.kubectl);
                    why = format!("{why}; {}", way.note);
                    commands.extend(way.commands);
                }
            }
        }
        let advice = self.advice(SuggestionKind::RaiseMemory, why).run(commands).losing(loses);
        self.with_memory(advice, end)
    }

    fn with_memory(&self, mut advice: Advice, end: &ContainerEnd) -> Advice {
        let Some(pod) = self.failure.pod else { return advice };
        let pod = object("pod", &pod.namespace, &pod.name);
        let memory = end.memory.as_deref();
        let path = |list| format!("spec.{}[name={}].resources.{list}.memory", list_of(end), end.container);
        let of = |value: Option<&Option<Box<str>>>| value.and_then(Option::as_deref).unwrap_or("<unset>").to_owned();
        advice = advice.fact(&*pod, path("limits"), of(memory.map(|memory| &memory.limit)));
        advice = advice.fact(&*pod, path("requests"), of(memory.map(|memory| &memory.request)));
        match memory.and_then(|memory| memory.pod_limit.as_deref()) {
            Some(limit) => advice.fact(&*pod, "spec.resources.limits.memory", limit),
            None => advice,
        }
    }
}

/// Which memory was used up.
fn killed(end: &ContainerEnd) -> String {
    let container = &end.container;
    let memory = end.memory.as_deref();
    let request = memory.and_then(|memory| memory.request.as_deref()).unwrap_or("none");
    let limit = memory.and_then(|memory| memory.limit.as_deref());
    match (limit, memory.and_then(|memory| memory.pod_limit.as_deref())) {
        (Some(limit), None) => {
            format!("{container} was OOM-killed at its memory limit {limit} (request {request}): give it more")
        }
        (Some(limit), Some(of_pod)) => format!(
            "{container} was OOM-killed at its memory limit {limit} (request {request}) or at that of the pod, {of_pod} \
             (spec.resources), which all of its containers share: see which it was, and give it more"
        ),
        (None, Some(of_pod)) => format!(
            "{container} was OOM-killed at the memory limit {of_pod} of the pod (spec.resources), which all of its containers \
             share: give the pod more"
        ),
        (None, None) => format!(
            "{container} was OOM-killed without a memory limit of its own (request {request}), so that the node had none left: \
             request what it needs"
        ),
    }
}

/// Twice the memory: what was needed is not known, only that it was more than the limit. Nothing where a limit of the pod as a
/// whole is to be weighed against it, or where the API server would refuse the outcome: a request must not be above its
/// limit.
///
/// Source: Kubernetes `pkg/apis/core/validation`, `ValidateContainerResourceRequirements` and `validatePodResources`.
fn more_memory(end: &ContainerEnd, maker: Maker) -> Option<Change> {
    let memory = end.memory.as_deref().filter(|memory| memory.pod_limit.is_none())?;
    let template = maker.memory()?.of(&end.container)?;
    let value = |quantity: Option<&str>| quantity.and_then(bytes_doubled);
    let limit = memory.limit.as_deref().map(doubled);
    // A limit that cannot be read cannot be raised, and nothing is to be asked for above it.
    let limit = limit.map_or(Some(None), |limit| limit.map(Some))?;
    // A request below the limit stays: only that the limit was too low is known.
    let is_equal = value(memory.request.as_deref()) == value(memory.limit.as_deref());
    let request = memory.request.as_deref().filter(|_| limit.is_none() || is_equal).and_then(doubled);
    let mut resources = Map::new();
    if let Some(limit) = &limit {
        resources.insert("limits".to_owned(), json!({"memory": limit}));
    }
    if let Some(request) = &request {
        resources.insert("requests".to_owned(), json!({"memory": request}));
    }
    let outcome = [(&request, &template.request), (&limit, &template.limit)];
    let [asked, most] = outcome.map(|(new, old)| value(new.as_deref().or(old.as_deref())));
    let is_refused = asked.zip(most).is_some_and(|(asked, most)| asked > most);
    if resources.is_empty() || is_refused {
        return None;
    }
    let container = json!({"name": &*end.container, "resources": Value::Object(resources)});
    Some(Change::Resources(end.container.clone(), json!({list_of(end): [container]})))
}

/// A quantity, doubled: a whole one in the unit in which it is written, any other in the one that makes it shortest.
fn doubled(quantity: &str) -> Option<String> {
    let bytes = bytes_doubled(quantity)?;
    let digits = quantity.find(|c: char| !c.is_ascii_digit()).unwrap_or(quantity.len());
    let (number, unit) = quantity.split_at(digits);
    let units = SUFFIXES.iter().filter(|(_, _, by)| *by == 1).map(|(unit, size, _)| (*unit, *size));
    if let (Ok(number), true) = (number.parse::<u128>(), units.clone().any(|(known, _)| known == unit)) {
        return Some(format!("{}{unit}", number * 2));
    }
    let whole = units.filter(|(_, size)| bytes % size == 0);
    whole.map(|(unit, size)| format!("{}{unit}", bytes / size)).min_by_key(String::len)
}

/// Twice as many bytes as a quantity says, rounded up. `None` where it is none, is nothing, or is more than the API server
/// keeps (`resource.Quantity`: 2^63 - 1).
fn bytes_doubled(quantity: &str) -> Option<u128> {
    let digits = quantity.find(|c: char| !matches!(c, '0'..='9' | '.')).unwrap_or(quantity.len());
    let (number, unit) = quantity.split_at(digits);
    let (whole, part) = number.split_once('.').unwrap_or((number, ""));
    if part.len() > 18 || whole.len() > 19 {
        return None;
    }
    let scaled: u128 = format!("{whole}{part}").parse().ok()?;
    let below = 10_u128.pow(u32::try_from(part.len()).ok()?);
    let (times, by) = match SUFFIXES.iter().find(|(known, ..)| *known == unit) {
        Some((_, times, by)) => (*times, *by),
        // The exponent form, "12e6".
        None => (10_u128.checked_pow(unit.strip_prefix(['e', 'E'])?.parse().ok()?)?, 1),
    };
    let bytes = scaled.checked_mul(times)?.checked_mul(2)?.div_ceil(below.checked_mul(by)?);
    (bytes > 0 && bytes <= i64::MAX.unsigned_abs().into()).then_some(bytes)
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
            ("2Pi", Some("4Pi")),
            ("1.5Gi", Some("3Gi")),
            ("0.7Gi", Some("1503238554")),
            // What the API server makes of 0.7Gi.
            ("751619276800m", Some("1503238554")),
            ("1e9", Some("2G")),
            ("1E3", Some("2k")),
            ("1E", Some("2E")),
            ("0", None),
            ("-1Gi", None),
            ("1e", None),
            ("1e-3", None),
            ("1.2.3", None),
            (".", None),
            ("1Zi", None),
            ("many", None),
            ("", None),
            ("5E", None),
            ("1e40", None),
            ("18446744073709551615", None),
        ] {
            assert_eq!(doubled(quantity).as_deref(), twice, "{quantity}");
        }
    }
}
