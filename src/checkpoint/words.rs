//! Words of a command line, and the environment variables that stand in them.

use std::collections::HashMap;

use super::change::{Change, of_field, of_unset};
use super::{Container, Value, shown::is_secret_name};

/// Longer values are left as their reference: a path has at most 4,096 bytes.
const LONGEST_VALUE: usize = 4096;
/// All that substitution may add for one container, so that references to references stay small.
const MOST_ADDED: usize = 1 << 20;

/// Where a word stands in its container.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum At {
    /// `command[…]`.
    Command(usize),
    /// `args[…]`.
    Args(usize),
}

/// A word as the program gets it, as far as that can be told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Word {
    /// Its text; what cannot be replaced stays as written.
    pub(super) text: String,
    /// The byte from which on the text is not what the program gets.
    pub(super) open: Option<usize>,
    /// Whether what is not told is the same at each start.
    pub(super) change: Change,
    /// Where it stands.
    pub(super) at: At,
}

impl Word {
    /// An empty one.
    pub(super) fn new(at: At) -> Self {
        Self { text: String::new(), open: None, change: Change::Never, at }
    }

    /// A known one.
    pub(super) fn of(text: &str, at: At) -> Self {
        Self { text: text.to_owned(), ..Self::new(at) }
    }

    /// Appends what is not known, as it is written.
    pub(super) fn push_open(&mut self, written: &str, change: Change) {
        self.change = self.change.max(change);
        self.open.get_or_insert(self.text.len());
        self.text.push_str(written);
    }

    /// Appends another word's text.
    pub(super) fn push_word(&mut self, other: &Self) {
        if let (None, Some(open)) = (self.open, other.open) {
            self.open = Some(self.text.len() + open);
        }
        self.change = self.change.max(other.change);
        self.text.push_str(&other.text);
    }

    /// Whether, as a path, it is below the directory that the program runs in: it begins with something known, and no slash.
    pub(super) fn is_relative(&self) -> bool {
        !self.text.starts_with('/') && self.open != Some(0)
    }

    /// As a path below a directory.
    pub(super) fn below(&self, directory: &Self) -> Self {
        let mut joined = directory.clone();
        joined.push_word(&Self::of("/", self.at));
        joined.push_word(self);
        joined
    }

    /// The part behind the first `bytes`, which must end at a character.
    pub(super) fn from(&self, bytes: usize) -> Self {
        let open = self.open.map(|open| open.saturating_sub(bytes));
        Self { text: self.text[bytes..].to_owned(), open, change: self.change, at: self.at }
    }

    /// Its fields, as an unquoted value is split (POSIX' Shell Command Language, 2.6.5); `None` is white space. What
    /// stands in a reference that is not told is not split, and is taken for one field.
    pub(super) fn fields(&self) -> Vec<Option<Self>> {
        let mut fields = Vec::new();
        let mut from = 0;
        let mut open = None;
        let mut skipped_to = 0;
        for (index, c) in self.text.char_indices().chain([(self.text.len(), ' ')]) {
            if index < skipped_to {
                continue;
            }
            if c.is_ascii_whitespace() {
                if from < index {
                    let change = if open.is_some() { self.change } else { Change::Never };
                    let open = open.take().map(|open: usize| open - from);
                    fields.push(Some(Self { text: self.text[from..index].to_owned(), open, change, at: self.at }));
                }
                if index < self.text.len() {
                    fields.push(None);
                }
                from = index + 1;
            } else if matches!(c, '$' | '`') && self.open.is_some_and(|open| open <= index) {
                open.get_or_insert(index);
                skipped_to = index + reference(&self.text[index..]);
            }
        }
        fields
    }

    /// The part that the program gets for sure.
    pub(super) fn known(&self) -> &str {
        &self.text[..self.open.unwrap_or(self.text.len())]
    }
}

/// How long the reference is that the text begins with: to its last bracket, or the backquote.
fn reference(text: &str) -> usize {
    let ends: &[char] = match text.as_bytes() {
        [b'$', b'(', ..] => &['(', ')'],
        [b'$', b'{', ..] => &['{', '}'],
        [b'`', ..] => return text[1..].find('`').map_or(text.len(), |end| end + 2),
        _ => return 1,
    };
    let mut depth = 0_usize;
    for (index, c) in text.char_indices() {
        if c == ends[0] {
            depth += 1;
        } else if c == ends[1] {
            depth -= 1;
            if depth == 0 {
                return index + 1;
            }
        }
    }
    text.len()
}

/// A variable's value; `None` where it is not told.
struct Stored {
    words: Option<Vec<Word>>,
    change: Change,
}

/// The variables of a container, and of a script that runs in it.
pub(super) struct Variables {
    values: HashMap<String, Stored>,
    /// Whether there are others, of which not even the names are told.
    has_others: bool,
    left: usize,
}

impl Variables {
    /// Those of `env`. A value may refer to variables before it, as the kubelet replaces them in their order
    /// (`makeEnvironmentVariables`, kubernetes `pkg/kubelet/kubelet_pods.go`); so there are no circles.
    pub(super) fn of(container: &Container) -> Self {
        let mut variables = Self { values: HashMap::new(), has_others: container.env_from, left: MOST_ADDED };
        for (name, value) in &container.env {
            let (word, change) = match value {
                Value::Told(text) => (Some(variables.expand(text, At::Args(0))), Change::Never),
                Value::Field(path) => (None, of_field(path)),
                Value::Configured => (None, Change::Never),
                Value::Unknown => (None, Change::Perhaps),
            };
            let change = word.as_ref().map_or(change, |word| word.change);
            let word = word.filter(|word| word.text.len() <= LONGEST_VALUE);
            variables.store(name, word.map(|word| vec![word]), change);
        }
        variables
    }

    /// Sets a variable; `None` where the value is not told.
    pub(super) fn set(&mut self, name: &str, words: Option<Vec<Word>>) {
        let change = if words.is_some() { Change::Never } else { Change::Perhaps };
        self.store(name, words, change);
    }

    fn store(&mut self, name: &str, words: Option<Vec<Word>>, change: Change) {
        let change = words.iter().flatten().map(|word| word.change).fold(change, Change::max);
        let words = words.filter(|_| !is_secret_name(name));
        self.values.insert(name.to_owned(), Stored { words, change });
    }

    /// Whether its value, told or not, is the same at each start.
    pub(super) fn change(&self, name: &str) -> Change {
        self.values.get(name).map_or_else(|| of_unset(name), |stored| stored.change)
    }

    /// Whether the variable is, or may be, set, told or not.
    pub(super) fn may_be_set(&self, name: &str) -> bool {
        self.has_others || self.values.contains_key(name)
    }

    /// The value, if it is told and there is room for it.
    pub(super) fn get(&mut self, name: &str) -> Option<Vec<Word>> {
        let words = self.values.get(name)?.words.as_ref()?;
        let length: usize = words.iter().map(|word| word.text.len() + 1).sum();
        self.left = self.left.checked_sub(length)?;
        Some(words.clone())
    }

    /// The text with `$(NAME)` replaced and `$$` halved, as the kubelet does; a reference to no variable stays
    /// (`Expand`, kubernetes `third_party/forked/golang/expansion/expand.go`).
    pub(super) fn expand(&mut self, text: &str, at: At) -> Word {
        let mut word = Word::new(at);
        let mut rest = text;
        while let Some(dollar) = rest.find('$') {
            word.text.push_str(&rest[..dollar]);
            rest = &rest[dollar..];
            if let Some(behind) = rest.strip_prefix("$$") {
                word.text.push('$');
                rest = behind;
                continue;
            }
            let Some(inside) = rest.strip_prefix("$(") else {
                word.text.push('$');
                rest = &rest[1..];
                continue;
            };
            let Some((name, behind)) = inside.split_once(')') else { break };
            match self.get(name).as_deref() {
                Some([value]) => word.push_word(value),
                _ => word.push_open(&rest[..name.len() + 3], self.change(name)),
            }
            rest = behind;
        }
        word.text.push_str(rest);
        word
    }

    /// A word of `command` or `args`, which no shell sees. Only `$(NAME)` is replaced; whether the program itself
    /// replaces `$NAME` is not known.
    pub(super) fn word(&mut self, text: &str, at: At) -> Word {
        let mut word = self.expand(text, at);
        let dollar = word.text.find('$');
        if dollar != word.open {
            word.change = word.change.max(Change::Perhaps);
        }
        word.open = dollar;
        word
    }
}
