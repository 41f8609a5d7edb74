//! What of a script holds only in a part of it: branches, loops, groups and subshells, and the rest of a list behind
//! `&&` or `||` (POSIX' Shell Command Language, 2.9). In it, what is set there holds. Behind it, it may.

use super::change::Change;
use super::shell::Shell;
use super::words::Word;

/// A part of a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// All of it.
    Script,
    /// What is run only if a command before it has ended well, or not.
    List,
    /// `if`, a loop, or a group, which may be a function that is never called.
    Block,
    /// `case`, in which a closing parenthesis ends a pattern.
    Case,
    /// `(…)`, or another shell: what is set in it is gone behind it.
    Subshell,
}

/// A part that is open.
pub(super) struct Scope {
    part: Part,
    /// The variables that were set in it.
    pub(super) names: Vec<String>,
    /// The directory before it, where it has gone to another.
    directory: Option<Directory>,
    /// Whether a branch of it has gone to another.
    has_left: bool,
}

/// A directory; `None` where it is the container's.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Directory(Option<Word>);

impl Scope {
    /// An empty one.
    pub(super) fn of(part: Part) -> Self {
        Self { part, names: Vec::new(), directory: None, has_left: false }
    }
}

impl Shell<'_> {
    pub(super) fn open(&mut self, part: Part) {
        self.scopes.push(Scope::of(part));
    }

    fn is_in(&self, parts: &[Part]) -> bool {
        self.scopes.last().is_some_and(|scope| parts.contains(&scope.part))
    }

    /// Notes that a variable was set in the part that is open.
    pub(super) fn note(&mut self, name: &str) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.names.push(name.to_owned());
        }
    }

    fn close(&mut self) {
        let Some(scope) = self.scopes.pop() else { return };
        self.forget(&scope.names);
        let has_left = |before: &Directory| scope.has_left || before.0 != self.directory;
        let Some(before) = scope.directory.filter(has_left) else { return };
        if scope.part == Part::Subshell {
            self.directory = before.0;
            self.pushed.clear();
            return;
        }
        self.directory = Some(self.not_told());
        if let Some(outer) = self.scopes.last_mut() {
            outer.directory.get_or_insert(before);
        }
    }

    /// What was set in a part may hold behind it, or what was set before.
    fn forget(&mut self, names: &[String]) {
        for name in names {
            self.variables.set(name, None);
        }
        let at = self.at;
        for (name, value) in self.exported.iter_mut().filter(|(name, _)| names.contains(name)) {
            *value = Word::new(at);
            value.push_open(&format!("${name}"), Change::Perhaps);
        }
    }

    /// Whether a word where a command begins is a keyword, which then is done with.
    pub(super) fn is_keyword(&mut self, word: &Word) -> bool {
        let is_body = |words: &[Word]| matches!(words, [first, _] if first.text == "function");
        if word.text == "{" && is_body(&self.words) {
            self.words.clear();
        }
        if !self.words.is_empty() {
            return false;
        }
        match &*word.text {
            "if" | "while" | "until" | "{" => self.open(Part::Block),
            "else" | "elif" => self.next_branch(),
            "fi" | "done" | "esac" | "}" => {
                self.end_list();
                if self.is_in(&[Part::Block, Part::Case]) {
                    self.close();
                }
            }
            "then" | "do" => {}
            // The words behind these are read as those of a command.
            "for" | "select" => {
                self.open(Part::Block);
                return false;
            }
            "case" => {
                self.open(Part::Case);
                return false;
            }
            _ => return false,
        }
        true
    }

    /// What one branch has set does not hold in the next, which begins where the first did.
    fn next_branch(&mut self) {
        self.end_list();
        let Some(scope) = self.scopes.last_mut().filter(|scope| matches!(scope.part, Part::Block | Part::Case)) else {
            return;
        };
        let names = std::mem::take(&mut scope.names);
        if let Some(Directory(before)) = scope.directory.clone() {
            scope.has_left |= before != self.directory;
            self.directory = before;
        }
        self.forget(&names);
    }

    pub(super) fn close_subshell(&mut self) {
        self.end_list();
        if self.is_in(&[Part::Subshell]) {
            self.close();
        }
    }

    pub(super) fn end_line(&mut self) {
        self.end_command();
        if !self.joined {
            self.end_list();
        }
    }

    fn end_list(&mut self) {
        if self.is_in(&[Part::List]) {
            self.close();
        }
    }

    /// `;`, `&` and `|`, alone or doubled.
    pub(super) fn operator(&mut self, c: char) {
        let is_double = self.peek() == Some(c);
        self.next += usize::from(is_double);
        self.end_command();
        match (c, is_double) {
            ('&' | '|', true) => {
                if (c == '|' || self.may_fail) && !self.is_in(&[Part::List]) {
                    self.open(Part::List);
                }
                self.joined = true;
            }
            ('|', false) => {
                self.next += usize::from(self.peek() == Some('&'));
                self.joined = true;
            }
            (';', true) => self.next_branch(),
            _ => self.end_list(),
        }
    }

    /// `cd`, `pushd` and `popd` (bash manual, 4.1 and 6.8.1).
    pub(super) fn change_directory(&mut self, words: &[Word]) {
        let is_option = |word: &&Word| word.text.len() > 1 && word.text.starts_with('-');
        let operand = words[1..].iter().find(|word| !is_option(word));
        let to = match (&*words[0].text, operand) {
            ("popd", _) => self.pushed.pop().unwrap_or_else(|| Some(self.not_told())),
            (_, Some(to)) if to.text == "-" => {
                self.last_directory.clone().map_or_else(|| Some(self.not_told()), |last| last.0)
            }
            (_, Some(to)) if !to.text.starts_with('~') => Some(match &self.directory {
                Some(base) if to.is_relative() => to.below(base),
                _ => to.clone(),
            }),
            _ => Some(self.not_told()),
        };
        if words[0].text == "pushd" {
            self.pushed.push(self.directory.clone());
        }
        self.go_to(to);
    }

    pub(super) fn go_to(&mut self, to: Option<Word>) {
        if to == self.directory {
            return;
        }
        let before = Directory(std::mem::replace(&mut self.directory, to));
        if let Some(scope) = self.scopes.last_mut() {
            scope.directory.get_or_insert_with(|| before.clone());
        }
        self.last_directory = Some(before);
    }

    fn not_told(&self) -> Word {
        let mut word = Word::new(self.at);
        word.push_open("$PWD", Change::Perhaps);
        word
    }
}
