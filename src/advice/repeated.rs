//! Failures that come again as they were: another try of the same will not help.

use std::collections::HashMap;

use super::case::Case;
use super::draft::Advice;
use crate::analysis::{Failure, is_sent, telling_line};
use crate::report::SuggestionKind;

/// So many ends alike of one index are no accident where the message is the same.
const ALIKE: usize = 2;
/// And so many where the container said nothing.
const ALIKE_SILENT: usize = 3;

impl Case<'_> {
    /// Where the pods of one index end with the same exit code and the same message again and again.
    pub(super) fn repeated(&self) -> Option<Advice> {
        let job = self.failure.job?;
        let one_at_a_time = job.parallelism.unwrap_or(1) <= 1;
        let mut ends: HashMap<Option<u32>, HashMap<_, Vec<&Failure>>> = HashMap::new();
        for failure in self.all() {
            let (Some(pod), Some(end)) = (failure.pod, failure.end) else { continue };
            let index = pod.index.map(crate::model::Ordinal::get);
            // Without an index, which of the pods does what is not told, unless there is one at a time.
            if (index.is_none() && !one_at_a_time) || is_sent(end.exit_code) || failure.ended_by_disruption() {
                continue;
            }
            let said = end.message.as_deref().and_then(telling_line);
            let alike = ends.entry(index).or_default();
            alike.entry((&*end.container, end.exit_code, said)).or_default().push(failure);
        }
        let most = ends.into_iter().flat_map(|(index, ends)| ends.into_iter().map(move |(end, all)| (index, end, all)));
        let enough = |(_, (_, _, said), all): &(_, (&str, i32, Option<&str>), Vec<&Failure>)| {
            all.len() >= if said.is_some() { ALIKE } else { ALIKE_SILENT }
        };
        let most = most.filter(enough).min_by_key(|(index, end, all)| (std::cmp::Reverse(all.len()), *index, *end));
        let (index, (container, exit_code, said), all) = most?;
        let of_index = index.map(|index| format!(" of index {index}")).unwrap_or_default();
        let said = said.map(|said| format!(" ({said})")).unwrap_or_default();
        let retries = self.retried().map(|retries| format!(" ({retries})")).unwrap_or_default();
        let why = format!(
            "{} pods{of_index} ended alike{retries}: {container} exited {exit_code}{said}; unless that came from outside and has \
             passed, another try ends so, too",
            all.len()
        );
        let mut advice = self.advice(SuggestionKind::FixThenRestart, why).run(self.look());
        for failure in all.iter().take(2) {
            advice.evidence.extend(failure.evidence());
        }
        advice.evidence.dedup();
        Some(advice)
    }
}
