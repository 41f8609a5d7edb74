//! Splits a shell script into commands and words, as POSIX' Shell Command Language (2.2, 2.3, 2.6, 2.7, 2.9) and bash
//! have it, as far as command lines in pod templates use it. What a shell would have to run to know stays open.

use super::scope::{Directory, Part, Scope};
use super::words::{At, Variables, Word};

/// Scripts in scripts, and defaults in defaults, are read so deep.
pub(super) const DEEPEST: usize = 4;
/// Commands behind these are not read.
const MOST_COMMANDS: usize = 1000;

/// One simple command.
#[derive(Clone, Debug)]
pub(super) struct Command {
    /// Variables exported before it in the script, and those set for it alone.
    pub(super) environment: Vec<(String, Word)>,
    /// Its words.
    pub(super) words: Vec<Word>,
    /// The directory that `cd` went to before it.
    pub(super) directory: Option<Word>,
}

/// The commands of a script.
pub(super) fn commands(script: &str, at: At, variables: &mut Variables) -> Vec<Command> {
    nested(script, at, variables, 0, None).done
}

/// The script that a shell among `words` is given by `-c`, as its index: `sh -c …`, `bash -euo pipefail -c …`.
pub(super) fn script_of(words: &[Word]) -> Option<usize> {
    let is_shell = |word: &Word| {
        let name = word.text.rsplit('/').next().unwrap_or_default();
        matches!(name, "sh" | "bash" | "dash" | "ash" | "zsh" | "ksh")
    };
    let mut at = words.iter().position(is_shell)? + 1;
    let mut is_command = false;
    while let Some(option) = words.get(at).and_then(|word| word.text.strip_prefix(['-', '+'])) {
        let letters = !option.starts_with('-');
        is_command |= letters && option.contains('c');
        at += if letters && option.contains('o') { 2 } else { 1 };
    }
    (is_command && at < words.len()).then_some(at)
}

/// A script that was read.
pub(super) struct Read {
    /// Its commands.
    pub(super) done: Vec<Command>,
    /// The variables that it has set.
    names: Vec<String>,
    /// The directory that it ended in.
    directory: Option<Word>,
}

pub(super) fn nested(script: &str, at: At, variables: &mut Variables, depth: usize, directory: Option<Word>) -> Read {
    let mut shell = Shell {
        input: script.chars().collect(),
        next: 0,
        at,
        variables,
        depth,
        done: Vec::new(),
        words: Vec::new(),
        word: None,
        operand: Operand::Word,
        heredocs: Vec::new(),
        array: None,
        exported: Vec::new(),
        directory,
        last_directory: None,
        pushed: Vec::new(),
        scopes: vec![Scope::of(Part::Script)],
        joined: false,
        may_fail: false,
    };
    shell.run();
    let names = shell.scopes.drain(..).flat_map(|scope| scope.names).collect();
    Read { done: shell.done, names, directory: shell.directory }
}

/// What the next word is.
#[derive(Clone, Copy, PartialEq)]
enum Operand {
    Word,
    Target,
    Delimiter,
}

pub(super) struct Shell<'v> {
    pub(super) input: Vec<char>,
    pub(super) next: usize,
    pub(super) at: At,
    pub(super) variables: &'v mut Variables,
    pub(super) depth: usize,
    done: Vec<Command>,
    pub(super) words: Vec<Word>,
    word: Option<Word>,
    operand: Operand,
    heredocs: Vec<String>,
    /// An array being read: its name, and the words before it.
    array: Option<(String, Vec<Word>)>,
    pub(super) exported: Vec<(String, Word)>,
    pub(super) directory: Option<Word>,
    /// The directory before the last `cd`.
    pub(super) last_directory: Option<Directory>,
    /// Those that `pushd` left.
    pub(super) pushed: Vec<Option<Word>>,
    /// Parts of the script that are open, the script itself first.
    pub(super) scopes: Vec<Scope>,
    /// Whether the command before is joined to the next one, on whatever line.
    pub(super) joined: bool,
    /// Whether the command before is one that is run to see whether it fails.
    pub(super) may_fail: bool,
}

impl Shell<'_> {
    fn run(&mut self) {
        while let Some(c) = self.take() {
            match c {
                '\\' => self.escape(),
                '\'' => self.single(),
                '"' => self.double(),
                '$' => self.dollar(false),
                '`' => self.backquote(),
                '#' if self.word.is_none() => self.skip_line(),
                ' ' | '\t' | '\r' => self.end_word(),
                '\n' if self.array.is_some() => self.end_word(),
                '\n' => {
                    self.end_line();
                    self.skip_heredocs();
                }
                '(' if self.array.is_none() && self.starts_array() => {}
                ')' if self.array.is_some() => self.end_array(),
                '(' => {
                    self.end_command();
                    self.open(Part::Subshell);
                }
                ')' => {
                    self.end_command();
                    self.close_subshell();
                }
                ';' | '&' | '|' => self.operator(c),
                '<' | '>' => self.redirect(c),
                c => self.push(c),
            }
        }
        if self.array.is_some() {
            self.end_array();
        }
        self.end_command();
    }

    pub(super) fn take(&mut self) -> Option<char> {
        let c = self.input.get(self.next).copied();
        self.next += usize::from(c.is_some());
        c
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.input.get(self.next).copied()
    }

    pub(super) fn current(&mut self) -> &mut Word {
        let at = self.at;
        self.word.get_or_insert_with(|| Word::new(at))
    }

    pub(super) fn push(&mut self, c: char) {
        self.current().text.push(c);
    }

    fn escape(&mut self) {
        match self.take() {
            Some('\n') => {}
            Some(c) => self.push(c),
            None => self.push('\\'),
        }
    }

    fn single(&mut self) {
        self.current();
        while let Some(c) = self.take().filter(|c| *c != '\'') {
            self.push(c);
        }
    }

    fn double(&mut self) {
        self.current();
        while let Some(c) = self.take() {
            match c {
                '"' => return,
                '\\' if matches!(self.peek(), Some('$' | '`' | '"' | '\\' | '\n')) => self.escape(),
                '$' => self.dollar(true),
                '`' => self.backquote(),
                c => self.push(c),
            }
        }
    }

    fn skip_line(&mut self) {
        while self.peek().is_some_and(|c| c != '\n') {
            self.next += 1;
        }
    }

    /// Here-documents are not read: what they hold goes to another program or file.
    fn skip_heredocs(&mut self) {
        for delimiter in std::mem::take(&mut self.heredocs) {
            while self.next < self.input.len() {
                let from = self.next;
                self.skip_line();
                let line: String = self.input[from..self.next].iter().collect();
                self.next += 1;
                if line.trim() == delimiter {
                    break;
                }
            }
        }
    }

    fn redirect(&mut self, c: char) {
        if self.word.as_ref().is_some_and(|word| word.text.chars().all(|c| c.is_ascii_digit())) {
            self.word = None;
        }
        self.end_word();
        let from = self.next;
        while matches!(self.peek(), Some('<' | '>' | '&' | '|' | '-')) {
            self.next += 1;
        }
        let is_heredoc = c == '<' && matches!(&self.input[from..self.next], ['<'] | ['<', '-']);
        self.operand = if is_heredoc { Operand::Delimiter } else { Operand::Target };
    }

    pub(super) fn end_word(&mut self) {
        let Some(word) = self.word.take() else { return };
        match std::mem::replace(&mut self.operand, Operand::Word) {
            Operand::Word if self.array.is_none() && self.is_keyword(&word) => {}
            Operand::Word => self.words.push(word),
            Operand::Target => {}
            Operand::Delimiter => self.heredocs.push(word.text),
        }
    }

    /// `NAME=(`.
    fn starts_array(&mut self) -> bool {
        let Some(name) = self.word.as_ref().and_then(|word| word.text.strip_suffix('=')) else { return false };
        let name = name.to_owned();
        if !is_name(name.strip_suffix('+').unwrap_or(&name)) {
            return false;
        }
        self.word = None;
        self.array = Some((name, std::mem::take(&mut self.words)));
        true
    }

    fn end_array(&mut self) {
        self.end_word();
        let Some((name, before)) = self.array.take() else { return };
        let mut words = std::mem::replace(&mut self.words, before);
        if let Some(name) = name.strip_suffix('+') {
            let mut all = self.variables.get(name).unwrap_or_default();
            all.append(&mut words);
            self.assign(name, all);
        } else {
            self.assign(&name, words);
        }
    }

    pub(super) fn assign(&mut self, name: &str, words: Vec<Word>) {
        self.note(name);
        self.variables.set(name, Some(words));
    }

    /// What the script reads, or unsets, is not told.
    fn unset(&mut self, words: &[Word]) {
        for word in words.iter().filter(|word| is_name(&word.text)) {
            self.note(&word.text);
            self.variables.set(&word.text, None);
        }
    }

    pub(super) fn end_command(&mut self) {
        self.end_word();
        let mut words = std::mem::take(&mut self.words);
        self.joined &= words.is_empty();
        let mut environment = self.exported.clone();
        let (mut start, mut is_negated) = (0, false);
        while let Some(first) = words.get(start) {
            if let Some((name, value)) = assignment(first) {
                environment.push((name.to_owned(), value));
            } else if !is_prefix(&first.text) {
                break;
            }
            is_negated |= first.text == "!";
            start += 1;
        }
        words.drain(..start);
        self.may_fail = if words.is_empty() && start == 0 { self.may_fail } else { is_negated || may_fail(&words) };
        match words.first().map(|word| &*word.text) {
            None => {
                for (name, value) in environment.split_off(self.exported.len()) {
                    self.assign_or_append(&name, value);
                }
            }
            Some("case") => {}
            Some("for" | "select") => self.unset(&words[1..words.len().min(2)]),
            Some("read" | "mapfile" | "readarray" | "getopts" | "unset") => self.unset(&words[1..]),
            Some("export" | "declare" | "local" | "readonly" | "typeset") => self.export(&words[1..]),
            Some("cd" | "pushd" | "popd") => self.change_directory(&words),
            Some("eval") if self.depth < DEEPEST => {
                let script: Vec<&str> = words[1..].iter().map(|word| &*word.text).collect();
                let read = self.read_inside(&script.join(" "), &environment);
                read.names.iter().for_each(|name| self.note(name));
                self.go_to(read.directory);
            }
            Some(_) => match script_of(&words).filter(|_| self.depth < DEEPEST) {
                Some(at) => self.read_child(&words[at].text, &words[at + 1..], environment),
                None => self.add(Command { environment, words, directory: self.directory.clone() }),
            },
        }
    }

    fn add(&mut self, command: Command) {
        if self.done.len() < MOST_COMMANDS {
            self.done.push(command);
        }
    }

    fn assign_or_append(&mut self, name: &str, value: Word) {
        let Some(name) = name.strip_suffix('+') else { return self.assign(name, vec![value]) };
        let mut all = self.variables.get(name).and_then(|words| words.into_iter().next()).unwrap_or(Word::new(self.at));
        all.push_word(&value);
        self.assign(name, vec![all]);
    }

    /// A script in this one.
    fn read_inside(&mut self, script: &str, environment: &[(String, Word)]) -> Read {
        let mut read = nested(script, self.at, self.variables, self.depth + 1, self.directory.clone());
        for mut command in std::mem::take(&mut read.done) {
            command.environment.extend_from_slice(environment);
            self.add(command);
        }
        read
    }

    /// A script that another shell runs, which changes nothing of this one's; `rest` are its positional parameters,
    /// which it may run.
    fn read_child(&mut self, script: &str, rest: &[Word], environment: Vec<(String, Word)>) {
        self.open(Part::Subshell);
        let read = self.read_inside(script, &environment);
        read.names.iter().for_each(|name| self.note(name));
        self.close_subshell();
        if !rest.is_empty() {
            let directory = self.directory.clone();
            self.add(Command { environment, words: rest.to_vec(), directory });
        }
    }

    fn export(&mut self, words: &[Word]) {
        for (name, value) in words.iter().filter_map(assignment) {
            self.assign_or_append(name, value.clone());
            // Only names that tell of checkpoints matter; a long script does not make a long list.
            if super::generic::is_sign_name(name) {
                self.exported.retain(|(other, _)| other != name);
                self.exported.push((name.to_owned(), value));
            }
        }
    }
}

/// Words before a command that do not change what it is.
fn is_prefix(word: &str) -> bool {
    matches!(word, "!" | "time" | "exec" | "nohup" | "env" | "command" | "sudo")
}

fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c == '_' || c.is_ascii_alphabetic())
        && text.chars().all(|c| c == '_' || c.is_ascii_alphanumeric())
}

/// Whether a command is run to see whether it fails. One of the others that does ends most scripts.
fn may_fail(words: &[Word]) -> bool {
    let sure = [
        "cd", "pushd", "popd", "mkdir", "export", "declare", "local", "readonly", "typeset", "set", "source", ".",
        "echo", "printf", "cp", "mv", "ln", "rm", "chmod", "chown", "touch", "pip", "pip3", "apt", "apt-get", "git",
        "tar", "unzip", "wget", "curl", "sleep", "ulimit", "umask", "unset", "true", ":", "eval",
    ];
    words.first().is_some_and(|word| !sure.contains(&&*word.text))
}

/// `NAME=value`; the name of `NAME+=value` keeps its plus sign.
fn assignment(word: &Word) -> Option<(&str, Word)> {
    let (name, _) = word.known().split_once('=')?;
    is_name(name.strip_suffix('+').unwrap_or(name)).then(|| (name, word.from(name.len() + 1)))
}
