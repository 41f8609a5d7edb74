/// Names that are offered.
const OFFERED: usize = 3;

/// The names most like `name`, the likest first: few letters apart, or one the other's beginning.
pub fn nearest(name: &str, there: impl Iterator<Item = String>) -> Vec<String> {
    let most = match name.chars().count() {
        0..=3 => 1,
        letters => (letters / 3).max(2),
    };
    let mut near: Vec<(usize, String)> = there
        .filter(|other| other.len() >= 3 || name.len() < 3)
        .map(|other| (distance(name, &other), other))
        .filter(|(distance, other)| {
            *distance <= most || (name.len() >= 3 && (other.starts_with(name) || name.starts_with(other.as_str())))
        })
        .collect();
    near.sort();
    near.into_iter().take(OFFERED).map(|(_, other)| other).collect()
}

/// Levenshtein's edit distance.
fn distance(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (i, a) in from.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, b) in to.iter().enumerate() {
            let replaced = diagonal + usize::from(a != *b);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_likest_names_are_offered_first() {
        let there = ["train", "train-2", "drain", "etl", "thumbnails", "t"];
        for (name, expected) in [
            ("trian", vec!["train"]),
            ("train-", vec!["train", "train-2", "drain"]),
            ("rain", vec!["drain", "train"]),
            ("thumb", vec!["thumbnails"]),
            ("etll", vec!["etl"]),
            ("unrelated", vec![]),
        ] {
            assert_eq!(nearest(name, there.iter().map(ToString::to_string)), expected, "{name}");
        }
    }
}
