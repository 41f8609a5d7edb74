//! A command line as settings: `--flag value`, `--flag=value`, `key=value`, and variables.

use super::change::Change;
use super::generic::is_sign_name;
use super::shell::{Command, commands, script_of};
use super::words::{At, Variables, Word};
use super::{Container, Sign, shown::shown};

/// Programs stand in front, and have short names.
const MOST_WORDS: usize = 256;
const LONGEST_WORD: usize = 256;

/// A flag, a `key=value` or a variable.
#[derive(Clone, Debug)]
pub(super) struct Setting {
    /// Its name without leading dashes, dashes as underscores.
    pub(super) key: String,
    /// Its name as written.
    pub(super) written: String,
    /// Its value; `None` for a flag alone, or a variable whose value is not told.
    pub(super) value: Option<Word>,
    /// Where it stands; `None` for the container's `env`.
    at: Option<At>,
    /// What stands between name and value.
    between: &'static str,
    /// Of a variable whose value is not told, whether it is the same at each start.
    change: Change,
}

/// One command line.
#[derive(Clone, Debug, Default)]
pub(super) struct Line {
    /// Flags and `key=value`, in their order.
    pub(super) settings: Vec<Setting>,
    /// Variables that the program sees, in their order.
    pub(super) environment: Vec<Setting>,
    /// Programs, modules and other words, in lower case.
    pub(super) words: Vec<String>,
    /// Those of them that stand where a program does: up to the first script, and scripts and modules behind it, which
    /// it may run.
    programs: Vec<String>,
    /// Whether the next word is a module: behind `-m`.
    is_module_next: bool,
    /// Whether a script or a module is among the programs that is no launcher of others.
    has_script: bool,
    /// Whether arguments stand in it that are not told: `$ARGS`, `"$@"`, `@file`.
    pub(super) is_partial: bool,
    /// Whether the program may see variables that are not told: `envFrom`.
    pub(super) has_hidden_variables: bool,
    /// The directory it runs in, if told.
    pub(super) directory: Option<Word>,
}

/// The command lines of a container; at least one, which may be empty.
pub(super) fn lines(container: &Container) -> Vec<Line> {
    let mut variables = Variables::of(container);
    let raw = container.command.iter().enumerate().map(|(index, text)| (At::Command(index), *text));
    let raw: Vec<(At, &str)> =
        raw.chain(container.args.iter().enumerate().map(|(index, text)| (At::Args(index), *text))).collect();
    let words: Vec<Word> = raw.iter().map(|(at, text)| variables.word(text, *at)).collect();
    let names = container.env.iter().map(|(name, _)| *name).filter(|name| is_sign_name(name));
    let environment: Vec<Setting> = names.map(|name| of_env(name, &mut variables)).collect();
    let mut found = Vec::new();
    if let Some(script) = script_of(&words) {
        let (at, text) = raw[script];
        let expanded = variables.expand(text, at);
        found = commands(&expanded.text, at, &mut variables);
        let rest = words[script + 1..].to_vec();
        found.push(Command { environment: Vec::new(), words: rest, directory: None });
    } else {
        found.push(Command { environment: Vec::new(), words, directory: None });
    }
    let directory = container.working_dir.map(|path| Word::of(path, At::Command(0)));
    let line = |command| Line {
        has_hidden_variables: container.env_from,
        ..Line::of(command, &environment, directory.as_ref())
    };
    found.into_iter().map(line).collect()
}

fn of_env(name: &str, variables: &mut Variables) -> Setting {
    let value = variables.get(name).and_then(|words| words.into_iter().next());
    let change = variables.change(name);
    Setting { key: name.to_owned(), written: name.to_owned(), value, at: None, between: "=", change }
}

impl Line {
    fn of(command: Command, environment: &[Setting], directory: Option<&Word>) -> Self {
        let mut environment = environment.to_vec();
        for (name, value) in command.environment {
            let at = Some(value.at);
            let (written, change) = (name.clone(), value.change);
            environment.push(Setting { key: name, written, value: Some(value), at, between: "=", change });
        }
        let directory = match (command.directory, directory) {
            (Some(to), Some(base)) if to.is_relative() => Some(to.below(base)),
            (to, base) => to.or(base.cloned()),
        };
        let is_partial = command.words.iter().any(|word| is_given_words(&word.text));
        let mut line = Self { environment, is_partial, directory, ..Self::default() };
        if is_tool(&command.words) {
            return Self { is_partial: false, ..line };
        }
        let mut words = command.words.iter().peekable();
        let mut is_value = false;
        while let Some(word) = words.next() {
            let next = words.peek().copied();
            is_value = line.read(word, next, is_value);
        }
        line
    }

    /// Reads a word; true where the next one may be its value.
    fn read(&mut self, word: &Word, next: Option<&Word>, is_value: bool) -> bool {
        if let Some(key) = flag(&word.text) {
            if let Some(equals) = word.known().find('=') {
                self.push(&word.text[..equals], Some(word.from(equals + 1)), word.at, "=");
                return false;
            }
            let value = next.filter(|next| flag(&next.text).is_none());
            self.push(&word.text, value.cloned(), word.at, " ");
            self.is_module_next = matches!(key, "m" | "module");
            return value.is_some() && !self.is_module_next;
        }
        let is_module = std::mem::take(&mut self.is_module_next);
        if is_open(word, is_value) || word.text.starts_with('@') {
            self.is_partial = true;
        } else if let Some(equals) = word.known().find('=').filter(|equals| is_key(&word.text[..*equals])) {
            self.push(&word.text[..equals], Some(word.from(equals + 1)), word.at, "=");
        } else if holds_a_command(word) {
            self.is_partial = true;
        } else if (!is_value || extension(&word.text) == "py") && self.is_room_for(word) {
            self.add(word.text.to_ascii_lowercase(), is_value, is_module);
        }
        false
    }

    /// Adds a word, and tells whether it stands where a program does.
    fn add(&mut self, word: String, is_value: bool, is_module: bool) {
        let is_script = extension(&word) == "py";
        if !self.has_script || is_module || is_script && !is_value {
            self.programs.push(word.clone());
        }
        let launchers = ["launch", "run", "torchrun", "distributed", "accelerate", "deepspeed", "debugpy"];
        let is_launcher = || word.split(['.', '/', '_']).any(|part| launchers.contains(&part));
        self.has_script |= is_script || is_module && !is_launcher();
        self.words.push(word);
    }

    fn is_room_for(&self, word: &Word) -> bool {
        self.words.len() < MOST_WORDS && word.text.len() <= LONGEST_WORD
    }

    fn push(&mut self, written: &str, value: Option<Word>, at: At, between: &'static str) {
        let key = written.trim_start_matches(['-', '+']).replace('-', "_");
        let change = value.as_ref().map_or(Change::Never, |value| value.change);
        self.settings.push(Setting { key, written: written.to_owned(), value, at: Some(at), between, change });
    }

    /// The last setting of one of these names, as the last holds.
    pub(super) fn last(&self, keys: &[&str]) -> Option<&Setting> {
        self.settings.iter().rev().find(|setting| keys.contains(&&*setting.key))
    }

    /// The last variable of this name.
    pub(super) fn variable(&self, name: &str) -> Option<&Setting> {
        self.environment.iter().rev().find(|setting| setting.key == name)
    }

    /// Variables that are settings of the program, told or not, as if they stood before the others: `M_CHECKPOINT_PERIOD`.
    pub(super) fn with_variables(&self, prefix: &str) -> Self {
        let mut line = self.clone();
        let settings = self.environment.iter().filter_map(|setting| {
            let key = setting.key.strip_prefix(prefix)?.to_ascii_lowercase();
            Some(Setting { key, value: Some(setting.word()), ..setting.clone() })
        });
        line.settings = settings.chain(self.settings.iter().cloned()).collect();
        line
    }

    /// Whether it runs a program, or a word of it says so. As [`Self::has`], but of words that stand where a program does,
    /// except for `=name`.
    pub(super) fn runs(&self, name: &str) -> bool {
        has(if name.starts_with('=') { &self.words } else { &self.programs }, name)
    }

    /// Whether it has a word. `name` is a part of a word between slashes, dots and colons; with such or an
    /// underscore in it, any part of a word; `=name`, a word; `name+text`, a word with that part and the text;
    /// `name sub`, a program and the word behind it.
    pub(super) fn has(&self, name: &str) -> bool {
        has(&self.words, name)
    }
}

fn has(words: &[String], name: &str) -> bool {
    let has_part = |word: &String, name: &str| word.split(['/', '.', ':', '@']).any(|part| part == name);
    if let Some(name) = name.strip_prefix('=') {
        return words.iter().any(|word| word == name);
    }
    if let Some((name, text)) = name.split_once('+') {
        return words.iter().any(|word| has_part(word, name) && word.contains(text));
    }
    if let Some((name, sub)) = name.split_once(' ') {
        let is = |pair: &[String]| pair[0].rsplit('/').next() == Some(name) && pair[1] == sub;
        return words.windows(2).any(is);
    }
    let is_text = name.contains(['/', '.', '_']);
    words.iter().any(|word| if is_text { word.contains(name) } else { has_part(word, name) })
}

impl Setting {
    /// Its value, where it has one that names something.
    pub(super) fn named(&self) -> Option<&Word> {
        self.value.as_ref().filter(|word| !matches!(&*word.text, "" | "null" | "None" | "none" | "''" | "\"\""))
    }

    /// Whether it is on; `None` where its value is not told. A flag alone is on, and so is one whose value is no word
    /// for a truth.
    pub(super) fn is_on(&self) -> Option<bool> {
        match &self.value {
            None => self.at.map(|_| true),
            Some(word) if word.open.is_some() => None,
            Some(word) => Some(!is_false(&word.text)),
        }
    }

    /// Its value, or its reference where the value is not told.
    pub(super) fn word(&self) -> Word {
        self.value.clone().unwrap_or_else(|| {
            let mut word = Word::new(self.at.unwrap_or(At::Args(0)));
            word.push_open(&self.reference(), self.change);
            word
        })
    }

    fn reference(&self) -> String {
        format!("$({})", self.written)
    }

    /// As evidence.
    pub(super) fn sign(&self, container: &str) -> Sign {
        let path = match self.at {
            Some(At::Command(index)) => format!("command[{index}]"),
            Some(At::Args(index)) => format!("args[{index}]"),
            None => format!("env[name={}]", self.written),
        };
        let value = match (&self.value, self.at) {
            (Some(value), Some(_)) => Some(shown(&format!("{}{}{}", self.written, self.between, value.text))),
            (Some(value), None) => Some(shown(&value.text)).filter(|_| value.text != self.reference()),
            (None, Some(_)) => Some(self.written.clone()),
            (None, None) => None,
        };
        let path = format!("spec.containers[name={container}].{path}");
        Sign { container: Some(container.to_owned()), path, value }
    }
}

/// Words for what is not, of argparse's, Hydra's and tyro's users.
pub(super) fn is_false(text: &str) -> bool {
    ["false", "0", "no", "off", "n", "f", "none", "null", "disabled", ""]
        .iter()
        .any(|word| text.eq_ignore_ascii_case(word))
}

/// What stands behind a path's last dot.
pub(super) fn extension(path: &str) -> &str {
    path.rsplit_once('.').map_or("", |(_, extension)| extension)
}

/// The name of a flag without its dashes. Negative numbers and `--` are none.
fn flag(text: &str) -> Option<&str> {
    let name = text.strip_prefix("--").or_else(|| text.strip_prefix('-'))?;
    name.starts_with(|c: char| c == '_' || c.is_ascii_alphabetic()).then_some(name)
}

/// A name before an equals sign, with dots, and with Hydra's leading plus signs.
fn is_key(text: &str) -> bool {
    let text = text.trim_start_matches('+');
    text.starts_with(|c: char| c == '_' || c.is_ascii_alphabetic())
        && text.chars().all(|c| "_.-".contains(c) || c.is_ascii_alphanumeric())
}

/// Whether a command copies, shows, installs or tests, whatever names and flags stand behind it (POSIX.1-2024 Shell and
/// Utilities, 4; GNU coreutils; package managers; copiers of buckets).
fn is_tool(words: &[Word]) -> bool {
    let tools = [
        "[",
        "[[",
        "test",
        "type",
        "which",
        "trap",
        "alias",
        "ls",
        "cp",
        "mv",
        "rm",
        "ln",
        "cat",
        "echo",
        "printf",
        "mkdir",
        "rmdir",
        "touch",
        "chmod",
        "chown",
        "stat",
        "head",
        "tail",
        "wc",
        "grep",
        "egrep",
        "fgrep",
        "find",
        "sed",
        "awk",
        "cut",
        "sort",
        "uniq",
        "tr",
        "diff",
        "cmp",
        "du",
        "df",
        "tee",
        "file",
        "tree",
        "basename",
        "dirname",
        "realpath",
        "readlink",
        "md5sum",
        "sha256sum",
        "cksum",
        "sleep",
        "wait",
        "kill",
        "pkill",
        "pgrep",
        "sync",
        "mount",
        "umount",
        "tar",
        "gzip",
        "gunzip",
        "zip",
        "unzip",
        "jq",
        "yq",
        "envsubst",
        "wget",
        "curl",
        "rsync",
        "scp",
        "git",
        "pip",
        "pip3",
        "apt",
        "apt-get",
        "apk",
        "yum",
        "dnf",
        "gsutil",
        "gcloud",
        "aws",
        "azcopy",
        "rclone",
        "s5cmd",
        "huggingface-cli",
        "hf",
        "kubectl",
    ];
    let name = |index: usize| words.get(index).map_or("", |word| &*word.text);
    // `./test` is the user's.
    let folders = ["/bin/", "/usr/bin/", "/usr/local/bin/"];
    let program = folders.iter().find_map(|folder| name(0).strip_prefix(folder)).unwrap_or(name(0));
    match program {
        "conda" | "mamba" => name(1) != "run",
        "uv" => matches!(name(1), "pip" | "sync" | "add" | "venv" | "lock"),
        _ if program.starts_with("python") && name(1) == "-m" => {
            matches!(name(2), "pip" | "venv" | "ensurepip" | "py_compile" | "compileall")
        }
        _ => tools.contains(&program),
    }
}

/// Programs that put words from elsewhere behind those of another.
fn is_given_words(program: &str) -> bool {
    matches!(program.rsplit('/').next(), Some("xargs" | "parallel"))
}

/// Whether a word is a command line with flags of its own, for a program that is no shell: `ssh host "t.py --save /c"`.
fn holds_a_command(word: &Word) -> bool {
    let is_flag = |field: &Option<Word>| field.as_ref().is_some_and(|field| field.text.starts_with('-'));
    word.text.contains(" -") && word.fields().iter().skip(1).any(is_flag)
}

/// Whether a word stands for others that are not told. Behind a flag, it is its value, but for a name that says more.
fn is_open(word: &Word, is_value: bool) -> bool {
    let names = ["ARG", "OPT", "FLAG", "EXTRA", "PARAM", "OVERRIDE", "$(CAT ", "`CAT ", "$(<"];
    let says_more =
        || word.text.contains('@') || names.iter().any(|name| word.text.to_ascii_uppercase().contains(name));
    word.open == Some(0) && (!is_value || says_more())
}
