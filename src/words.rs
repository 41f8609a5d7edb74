//! Names and numbers in sentences, and what of text no terminal may be given.

use std::fmt::Display;

/// The first `most` of some names, and how many more there are: `a, b and 3 more`.
pub(crate) fn list_names<T: AsRef<str>>(names: &[T], most: usize) -> String {
    let shown = names.iter().take(most).map(AsRef::as_ref).collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(most) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// `1 pod`, `3 pods`.
pub(crate) fn counted<T: Copy + Display + PartialEq + From<u8>>(number: T, singular: &str) -> String {
    let plural = if number == T::from(1) { "" } else { "s" };
    format!("{number} {singular}{plural}")
}

/// Characters that move the cursor, ring, or turn the reading direction.
pub(crate) fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_names_are_counted() {
        assert_eq!(list_names(&["a"], 2), "a");
        assert_eq!(list_names(&["a", "b", "c", "d"], 2), "a, b and 2 more");
    }
}
