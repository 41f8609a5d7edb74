//! Reads a command line that is not finished, and may be wrong.

use clap::{Arg, Command};

/// What the words before the last have said.
pub(super) struct Line<'a> {
    /// The command that they have led to.
    pub(super) command: &'a Command,
    /// Options with their values, in their order; of a flag without one, nothing.
    pub(super) options: Vec<(&'a Arg, String)>,
    /// What is no option.
    pub(super) positionals: Vec<String>,
    /// What is being typed.
    pub(super) next: Next<'a>,
}

/// The word that is being typed.
pub(super) enum Next<'a> {
    /// An option's value.
    Value {
        /// The option.
        option: &'a Arg,
        /// What stands before the value in the same word and is repeated in each candidate: `-o` of `-ojson`. Of
        /// `--output=json` nothing is: shells and kubectl take the value alone.
        begins: String,
        /// The value so far.
        typed: String,
    },
    /// An option's name.
    Flag(String),
    /// A command or an argument.
    Word(String),
}

impl<'a> Line<'a> {
    pub(super) fn read(root: &'a Command, words: &[String]) -> Self {
        let (last, before) = words.split_last().map_or(("", words), |(last, before)| (last.as_str(), before));
        let mut line =
            Self { command: root, options: Vec::new(), positionals: Vec::new(), next: Next::Word(last.to_owned()) };
        let mut awaits: Option<&Arg> = None;
        let mut only_arguments = false;
        for word in before {
            if let Some(option) = awaits.take() {
                line.options.push((option, word.clone()));
            } else if only_arguments {
                line.positionals.push(word.clone());
            } else if word == "--" {
                only_arguments = true;
            } else if let Some(long) = word.strip_prefix("--") {
                awaits = line.take_long(long);
            } else if let Some(shorts) = word.strip_prefix('-').filter(|shorts| !shorts.is_empty()) {
                awaits = line.take_shorts(shorts);
            } else if let Some(command) = line.command_named(word) {
                line.command = command;
            } else {
                line.positionals.push(word.clone());
            }
        }
        line.next = match awaits {
            Some(option) => Next::Value { option, begins: String::new(), typed: last.to_owned() },
            None if only_arguments || !last.starts_with('-') => Next::Word(last.to_owned()),
            None => line.begun(last),
        };
        line
    }

    /// The command's name, as it is called first.
    pub(super) fn name(&self) -> &'a str {
        self.command.get_name()
    }

    /// The values given to an option, by clap's name for it.
    pub(super) fn values<'l>(&'l self, id: &'l str) -> impl Iterator<Item = &'l str> {
        self.options.iter().filter(move |(option, _)| option.get_id() == id).map(|(_, value)| value.as_str())
    }

    fn command_named(&self, word: &str) -> Option<&'a Command> {
        if !self.positionals.is_empty() {
            return None;
        }
        self.command.find_subcommand(word)
    }

    fn long(&self, name: &str) -> Option<&'a Arg> {
        self.command.get_arguments().find(|option| option.get_long() == Some(name))
    }

    fn short(&self, name: char) -> Option<&'a Arg> {
        self.command.get_arguments().find(|option| option.get_short() == Some(name))
    }

    /// Takes `flag` or `flag=value`; the option where its value is yet to come.
    fn take_long(&mut self, text: &str) -> Option<&'a Arg> {
        let (name, value) = text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value)));
        let option = self.long(name)?;
        if value.is_none() && awaits_value(option) {
            return Some(option);
        }
        self.options.push((option, value.unwrap_or_default().to_owned()));
        None
    }

    /// Takes `Af`, `nml` or `n=ml`; the option where its value is yet to come.
    fn take_shorts(&mut self, text: &str) -> Option<&'a Arg> {
        for (at, name) in text.char_indices() {
            let option = self.short(name)?;
            if awaits_value(option) {
                let value = &text[at + name.len_utf8()..];
                if value.is_empty() {
                    return Some(option);
                }
                self.options.push((option, value.strip_prefix('=').unwrap_or(value).to_owned()));
                return None;
            }
            self.options.push((option, String::new()));
        }
        None
    }

    /// What is being typed with a dash before it.
    fn begun(&self, last: &str) -> Next<'a> {
        let flag = || Next::Flag(last.to_owned());
        if let Some(long) = last.strip_prefix("--") {
            let Some((name, typed)) = long.split_once('=') else { return flag() };
            return match self.long(name).filter(|option| option.get_action().takes_values()) {
                Some(option) => Next::Value { option, begins: String::new(), typed: typed.to_owned() },
                None => flag(),
            };
        }
        for (at, name) in last.char_indices().skip(1) {
            let Some(option) = self.short(name) else { return flag() };
            let (begins, typed) = last.split_at(at + name.len_utf8());
            if awaits_value(option) && !typed.is_empty() {
                return match typed.strip_prefix('=') {
                    Some(typed) => Next::Value { option, begins: String::new(), typed: typed.to_owned() },
                    None => Next::Value { option, begins: begins.to_owned(), typed: typed.to_owned() },
                };
            }
        }
        flag()
    }
}

/// Whether the next word is its value.
fn awaits_value(option: &Arg) -> bool {
    option.get_action().takes_values() && !option.is_require_equals_set()
}
