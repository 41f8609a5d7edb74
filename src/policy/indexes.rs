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

#[cfg(test)]
mod tests {
    use super::{compress_indexes, holds_index};

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
}
