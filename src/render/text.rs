use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

pub(super) use crate::words::is_hidden;

/// One line of text that came from a cluster: line ends become blanks, control characters and sequences are taken out.
/// Termination messages are whatever a container wrote.
pub(super) fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\u{1b}' => skip_sequence(&mut chars),
            '\u{9b}' => skip_control_sequence(&mut chars),
            '\n' | '\r' | '\t' => line.push(' '),
            c if is_hidden(c) => {}
            c => line.push(c),
        }
    }
    line.trim().to_owned()
}

/// Behind an escape: a control sequence, a string up to its terminator, or a single character.
fn skip_sequence(chars: &mut std::iter::Peekable<std::str::Chars>) {
    match chars.next() {
        Some('[') => skip_control_sequence(chars),
        Some(']' | 'P' | 'X' | '^' | '_') => {
            while let Some(c) = chars.next() {
                if matches!(c, '\u{7}' | '\u{9c}') {
                    return;
                }
                if c == '\u{1b}' {
                    chars.next_if_eq(&'\\');
                    return;
                }
            }
        }
        _ => {}
    }
}

fn skip_control_sequence(chars: &mut std::iter::Peekable<std::str::Chars>) {
    for c in chars.by_ref() {
        if matches!(c, '\u{40}'..='\u{7e}') {
            return;
        }
    }
}

/// The text in lines of at most `width` columns, broken between words.
pub(super) fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split(' ') {
        if !line.is_empty() && line.width() + 1 + word.width() > width {
            lines.push(std::mem::take(&mut line));
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    lines.push(line);
    lines
}

/// The text cut to `width` columns, with `…` where something is missing.
pub(super) fn cut(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut used = 0;
    let mut kept = String::new();
    for c in text.chars() {
        let columns = c.width().unwrap_or(0);
        if used + columns + 1 > width {
            break;
        }
        used += columns;
        kept.push(c);
    }
    kept.truncate(kept.trim_end().len());
    if width > 0 {
        kept.push('…');
    }
    kept
}

/// The text's end, cut to `width` columns, with `…` in front where something is missing.
pub(super) fn cut_front(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut room = width.saturating_sub(1);
    let fits = |c: &char| {
        let left = room.checked_sub(c.width().unwrap_or(0));
        room = left.unwrap_or(room);
        left.is_some()
    };
    let end: Vec<char> = text.chars().rev().take_while(fits).collect();
    let mark = if width > 0 { "…" } else { "" };
    format!("{mark}{}", end.into_iter().rev().collect::<String>().trim_start())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_from_the_cluster_moves_the_cursor() {
        for (text, line) in [
            ("plain", "plain"),
            ("\u{1b}[31mred\u{1b}[0m", "red"),
            ("\u{1b}]0;title\u{7}after", "after"),
            ("\u{1b}]8;;http://x\u{1b}\\link", "link"),
            ("\u{9b}2Jcleared", "cleared"),
            ("a\nb\tc\r\n", "a b c"),
            ("bell\u{7}\u{8}\u{0}", "bell"),
            ("\u{202e}desrever", "desrever"),
            ("grüße 火", "grüße 火"),
            ("cut \u{1b}[3", "cut"),
        ] {
            assert_eq!(one_line(text), line, "{text:?}");
        }
    }

    #[test]
    fn text_is_broken_between_words_and_a_long_word_is_not() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("a-word-too-long b", 6), ["a-word-too-long", "b"]);
        assert_eq!(wrap("", 6), [""]);
    }

    #[test]
    fn text_is_cut_by_columns_not_by_bytes() {
        assert_eq!(cut("abcdef", 6), "abcdef");
        assert_eq!(cut("abcdef", 4), "abc…");
        assert_eq!(cut("火火火", 4), "火…");
        assert_eq!(cut("a    b", 4), "a…");
        assert_eq!(cut("x", 0), "");
        assert_eq!(cut_front("abcdef", 6), "abcdef");
        assert_eq!(cut_front("abcdef", 4), "…def");
        assert_eq!(cut_front("火火火", 4), "…火");
        assert_eq!(cut_front("a    b", 4), "…b");
        assert_eq!(cut_front("x", 0), "");
    }
}
