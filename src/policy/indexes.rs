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

#[cfg(test)]
mod tests {
    use super::compress_indexes;

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
