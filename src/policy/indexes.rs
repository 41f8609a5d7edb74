/// Completion indexes as Kubernetes writes them in `failedIndexes`: `1,3-5,7`, runs of three or more with a dash.
pub fn compress_indexes(indexes: impl IntoIterator<Item = u32>) -> String {
    let mut sorted: Vec<u32> = indexes.into_iter().collect();
    sorted.sort_unstable();
    sorted.dedup();
    let mut parts = Vec::new();
    for run in sorted.chunk_by(|a, b| a + 1 == *b) {
        match run {
            [first, _, .., last] => parts.push(format!("{first}-{last}")),
            few => parts.extend(few.iter().map(u32::to_string)),
        }
    }
    parts.join(",")
}

/// Whether indexes written as Kubernetes writes them hold `index`.
pub fn holds_index(indexes: &str, index: u32) -> bool {
    indexes.split(',').any(|part| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        matches!((first.trim().parse::<u32>(), last.trim().parse::<u32>()), (Ok(first), Ok(last)) if (first..=last).contains(&index))
    })
}

/// The indexes that are written so by [`compress_indexes`].
pub fn expand_indexes(indexes: &str) -> impl Iterator<Item = u32> {
    indexes
        .split(',')
        .filter_map(|part| {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            Some(first.trim().parse().ok()?..=last.trim().parse().ok()?)
        })
        .flatten()
}

/// How many indexes are written so.
pub fn count_indexes(indexes: &str) -> u32 {
    let count = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (u32, u32) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        last.checked_sub(first)?.checked_add(1)
    };
    indexes.split(',').filter_map(count).fold(0, u32::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::{compress_indexes, count_indexes, expand_indexes, holds_index};

    #[test]
    fn indexes_are_counted_alone_and_in_runs() {
        for (indexes, count) in
            [("", 0), ("4", 1), ("1,3-5,7", 5), ("0-9", 10), ("9-0", 0), ("x", 0), ("0-4294967295", 0), ("1-,2", 1)]
        {
            assert_eq!(count_indexes(indexes), count, "{indexes}");
        }
    }

    #[test]
    fn an_index_is_found_alone_and_in_a_run() {
        for (index, held) in [(0, false), (1, true), (2, false), (3, true), (4, true), (5, true), (6, false), (7, true)]
        {
            assert_eq!(holds_index("1,3-5,7", index), held, "{index}");
        }
        assert!(!holds_index("", 0));
        assert!(!holds_index("x-y,5-", 5));
    }

    #[test]
    fn runs_of_three_or_more_get_a_dash() {
        for (indexes, text) in [
            (vec![], ""),
            (vec![4], "4"),
            (vec![1, 2], "1,2"),
            (vec![5, 3, 4, 1, 7], "1,3-5,7"),
            (vec![0, 0, 1, 2, 3, 3], "0-3"),
        ] {
            assert_eq!(compress_indexes(indexes), text);
        }
    }

    #[test]
    fn what_was_compressed_is_expanded_to_what_it_was() {
        for indexes in [vec![], vec![4], vec![1, 2], vec![1, 3, 4, 5, 7], vec![0, 1, 2, 3, 9]] {
            assert_eq!(expand_indexes(&compress_indexes(indexes.clone())).collect::<Vec<u32>>(), indexes);
        }
    }
}
