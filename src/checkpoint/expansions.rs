//! What stands behind a `$` in a shell script (POSIX' Shell Command Language, 2.6).

use super::shell::{DEEPEST, Shell, nested};
use super::words::Word;

impl Shell<'_> {
    pub(super) fn backquote(&mut self) {
        let from = self.next - 1;
        while self.take().is_some_and(|c| c != '`') {}
        self.open_since(from);
    }

    /// What was read since `from` stays as written, as it is not known.
    fn open_since(&mut self, from: usize) {
        let written: String = self.input[from..self.next].iter().collect();
        self.current().push_open(&written);
    }

    /// Behind a `$`.
    pub(super) fn dollar(&mut self, quoted: bool) {
        let from = self.next - 1;
        match self.peek() {
            Some('{') => {
                let body = self.balanced('{', '}');
                if !self.braced(&body, quoted) {
                    self.open_since(from);
                }
            }
            Some('(') => {
                self.balanced('(', ')');
                self.open_since(from);
            }
            Some(c) if c == '_' || c.is_ascii_alphabetic() => {
                while self.peek().is_some_and(|c| c == '_' || c.is_ascii_alphanumeric()) {
                    self.next += 1;
                }
                let name: String = self.input[from + 1..self.next].iter().collect();
                if !self.value(&name, quoted, false) {
                    self.open_since(from);
                }
            }
            Some('@' | '*' | '#' | '?' | '$' | '!' | '-' | '0'..='9') => {
                self.next += 1;
                self.open_since(from);
            }
            Some('\'' | '"') if !quoted => {}
            _ => self.push('$'),
        }
    }

    /// What stands between two brackets, the first of which is next.
    fn balanced(&mut self, opening: char, closing: char) -> String {
        let from = self.next + 1;
        let mut depth = 0_usize;
        while let Some(c) = self.take() {
            if c == opening {
                depth += 1;
            } else if c == closing {
                depth -= 1;
                if depth == 0 {
                    return self.input[from..self.next - 1].iter().collect();
                }
            }
        }
        self.input[from.min(self.next)..].iter().collect()
    }

    /// `${body}`; false where it is not known.
    fn braced(&mut self, body: &str, quoted: bool) -> bool {
        let end = body.find(|c: char| c != '_' && !c.is_ascii_alphanumeric()).unwrap_or(body.len());
        let (name, operator) = body.split_at(end);
        if name.is_empty() {
            return false;
        }
        if matches!(operator, "[@]" | "[*]") {
            return self.value(name, quoted, true);
        }
        let without_colon = operator.strip_prefix(':').unwrap_or(operator);
        match without_colon.chars().next() {
            None if operator.is_empty() => self.value(name, quoted, false),
            Some('?') => self.value(name, quoted, false),
            Some(first @ ('-' | '=')) => {
                let is_empty = |words: &[Word]| words.iter().all(|word| word.text.is_empty() && word.open.is_none());
                let told = self.variables.get(name);
                if self.variables.may_be_set(name) && !told.as_deref().is_some_and(is_empty) {
                    return self.value(name, quoted, false);
                }
                let default = self.quoted_text(&without_colon[1..]);
                if first == '=' {
                    self.variables.set(name, Some(vec![default.clone()]));
                }
                self.insert(&[default], quoted, false);
                true
            }
            _ => false,
        }
    }

    /// Text in which only `$` and backslashes mean something.
    fn quoted_text(&mut self, text: &str) -> Word {
        if self.depth >= DEEPEST || !text.contains(['$', '`', '\\', '"', '\'']) {
            return Word::of(text, self.at);
        }
        let line = format!(": \"{}\"", text.trim_matches(['"', '\'']));
        let commands = nested(&line, self.at, self.variables, self.depth + 1);
        let word = commands.into_iter().next().and_then(|command| command.words.into_iter().nth(1));
        word.unwrap_or_else(|| Word::of(text, self.at))
    }

    fn value(&mut self, name: &str, quoted: bool, each: bool) -> bool {
        match self.variables.get(name) {
            Some(words) => {
                self.insert(&words, quoted, each);
                true
            }
            None => false,
        }
    }

    /// Puts a value into the current word; unquoted, it is split at white space (2.6.5).
    fn insert(&mut self, words: &[Word], quoted: bool, each: bool) {
        for (index, word) in words.iter().take(if each { words.len() } else { 1 }).enumerate() {
            if index > 0 {
                self.end_word();
            }
            if quoted || word.open.is_some() {
                self.current().push_word(word);
                continue;
            }
            for c in word.text.chars() {
                if c.is_ascii_whitespace() { self.end_word() } else { self.push(c) }
            }
        }
    }
}
