//! Splits a shell script into commands and words, as POSIX' Shell Command Language (2.2, 2.3, 2.6, 2.7, 2.9) and bash
//! have it, as far as command lines in pod templates use it. What a shell would have to run to know stays open.

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
    nested(script, at, variables, 0)
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

pub(super) fn nested(script: &str, at: At, variables: &mut Variables, depth: usize) -> Vec<Command> {
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
        directory: None,
        branches: 0,
    };
    shell.run();
    shell.done
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
    words: Vec<Word>,
    word: Option<Word>,
    operand: Operand,
    heredocs: Vec<String>,
    /// An array being read: its name, and the words before it.
    array: Option<(String, Vec<Word>)>,
    exported: Vec<(String, Word)>,
    directory: Option<Word>,
    /// How many `if` and `case` are open: what is set there may not be.
    branches: usize,
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
                    self.end_command();
                    self.skip_heredocs();
                }
                '(' if self.array.is_none() && self.starts_array() => {}
                ')' if self.array.is_some() => self.end_array(),
                ';' | '&' | '|' | '(' | ')' => self.end_command(),
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

    fn assign(&mut self, name: &str, words: Vec<Word>) {
        self.variables.set(name, Some(words).filter(|_| self.branches == 0));
    }

    fn end_command(&mut self) {
        self.end_word();
        let mut words = std::mem::take(&mut self.words);
        let mut environment = self.exported.clone();
        let mut start = 0;
        while let Some(first) = words.get(start) {
            if let Some((name, value)) = assignment(first) {
                environment.push((name.to_owned(), value));
            } else if is_prefix(&first.text) {
                self.branch(&first.text.clone());
            } else {
                break;
            }
            start += 1;
        }
        words.drain(..start);
        match words.first().map(|word| &*word.text) {
            None => {
                for (name, value) in environment.split_off(self.exported.len()) {
                    self.assign_or_append(&name, value);
                }
            }
            Some("case") => self.branches += 1,
            Some("export" | "declare" | "local" | "readonly" | "typeset") => self.export(&words[1..]),
            Some("cd") => self.change_directory(words.get(1)),
            Some("eval") if self.depth < DEEPEST => {
                let script: Vec<&str> = words[1..].iter().map(|word| &*word.text).collect();
                let script = script.join(" ");
                self.read_inside(&script, &[], &environment);
            }
            Some(_) => match script_of(&words).filter(|_| self.depth < DEEPEST) {
                Some(at) => self.read_inside(&words[at].text.clone(), &words[at + 1..], &environment),
                None => self.add(Command { environment, words, directory: self.directory.clone() }),
            },
        }
    }

    fn add(&mut self, command: Command) {
        if self.done.len() < MOST_COMMANDS {
            self.done.push(command);
        }
    }

    fn branch(&mut self, keyword: &str) {
        match keyword {
            "if" => self.branches += 1,
            "fi" | "esac" => self.branches = self.branches.saturating_sub(1),
            _ => {}
        }
    }

    fn assign_or_append(&mut self, name: &str, value: Word) {
        let Some(name) = name.strip_suffix('+') else { return self.assign(name, vec![value]) };
        let mut all = self.variables.get(name).and_then(|words| words.into_iter().next()).unwrap_or(Word::new(self.at));
        all.push_word(&value);
        self.assign(name, vec![all]);
    }

    /// A script in this one; `rest` are its positional parameters, which it may run.
    fn read_inside(&mut self, script: &str, rest: &[Word], environment: &[(String, Word)]) {
        let inner = nested(script, self.at, self.variables, self.depth + 1);
        for mut command in inner {
            command.environment.extend_from_slice(environment);
            command.directory = command.directory.or_else(|| self.directory.clone());
            self.add(command);
        }
        if !rest.is_empty() {
            let (environment, directory) = (environment.to_vec(), self.directory.clone());
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

    fn change_directory(&mut self, to: Option<&Word>) {
        self.directory = match (to, &self.directory) {
            (Some(to), Some(base)) if !to.text.starts_with('/') && to.open != Some(0) => {
                let mut joined = base.clone();
                joined.push_word(&Word::of("/", self.at));
                joined.push_word(to);
                Some(joined)
            }
            (to, _) => to.cloned(),
        };
    }
}

/// Words before a command that do not change what it is.
fn is_prefix(word: &str) -> bool {
    let keywords = ["if", "then", "else", "elif", "fi", "esac", "do", "while", "until", "!", "{", "}", "time"];
    let runners = ["exec", "nohup", "env", "command", "sudo"];
    keywords.contains(&word) || runners.contains(&word)
}

fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c == '_' || c.is_ascii_alphabetic())
        && text.chars().all(|c| c == '_' || c.is_ascii_alphanumeric())
}

/// `NAME=value`; the name of `NAME+=value` keeps its plus sign.
fn assignment(word: &Word) -> Option<(&str, Word)> {
    let (name, _) = word.known().split_once('=')?;
    is_name(name.strip_suffix('+').unwrap_or(name)).then(|| (name, word.from(name.len() + 1)))
}
