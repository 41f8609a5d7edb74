//! Words for a POSIX shell, as commands printed for copying need them.

/// A word as a shell takes it: quoted only where it must be.
pub(crate) fn quote(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,@%+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::quote;

    #[test]
    fn words_that_a_shell_would_take_apart_are_quoted() {
        for (word, quoted) in [
            ("a-b_c./=:,@%+1", "a-b_c./=:,@%+1"),
            ("", "''"),
            ("a b", "'a b'"),
            ("it's", r"'it'\''s'"),
            ("$(x)", "'$(x)'"),
        ] {
            assert_eq!(quote(word), quoted);
        }
    }
}
