//! What a row of the table of frameworks says.

use super::Answer;
use super::line::{Line, extension};

/// How a framework is told to save and resume. Keys are without leading dashes, with underscores for dashes.
#[derive(Clone, Copy)]
pub(super) struct Framework {
    /// Its own name.
    pub(super) name: &'static str,
    /// Programs and modules that are it, in lower case, as [`Line::runs`] takes them.
    pub(super) programs: &'static [&'static str],
    /// Those among them that do not train.
    pub(super) except: &'static [&'static str],
    /// Keys that only it has; one that ends with a dot stands for all that begin so.
    pub(super) keys: &'static [&'static str],
    /// Keys of which it must have one too, if any are named here; as above with a dot.
    pub(super) needs: &'static [&'static str],
    /// Keys that say it is another.
    pub(super) other_keys: &'static [&'static str],
    /// Prefix of variables that are settings, too.
    pub(super) env_prefix: Option<&'static str>,
    /// Keys that name a file of settings, which is not seen; empty ones mean any word that is such a file.
    pub(super) configs: &'static [&'static str],
    /// Parts of the paths of such files that the framework ships, with its defaults in them.
    pub(super) shipped: &'static [&'static str],
    /// When it saves.
    pub(super) saving: Saving,
    /// What turns saving off.
    pub(super) off: &'static [Switch],
    /// Where it saves: the first that is set, else the last one's default.
    pub(super) places: &'static [Place],
    /// How often it saves: the first that is set, else the first default.
    pub(super) every: &'static [Every],
    /// What makes it save the model alone, from which training does not go on.
    pub(super) weights_only: &'static [Switch],
    /// How it resumes.
    pub(super) resume: Resume,
    /// What saves on SIGTERM.
    pub(super) saver: Option<Saver>,
    /// Other keys that tell of checkpoints.
    pub(super) also: &'static [&'static str],
}

/// When a framework saves.
#[derive(Clone, Copy)]
pub(super) enum Saving {
    /// If nothing is said.
    ByDefault,
    /// If a place is given.
    WithPlace,
    /// If switched on.
    With(&'static [Switch]),
    /// As the user's script says.
    Script,
}

/// A key with a value that means something.
#[derive(Clone, Copy)]
pub(super) struct Switch {
    /// The key.
    pub(super) key: &'static str,
    /// The value.
    pub(super) is: Is,
}

/// A value that means something.
#[derive(Clone, Copy)]
pub(super) enum Is {
    /// A flag alone, or any but a word for "no".
    On,
    /// A word for "no".
    Off,
    /// This word.
    Word(&'static str),
}

/// A place: a base and what comes below it.
#[derive(Clone, Copy)]
pub(super) struct Place {
    /// Keys of the base.
    pub(super) base: &'static [&'static str],
    /// The base if no key is set.
    pub(super) default: Option<&'static str>,
    /// What comes below.
    pub(super) below: &'static [Part],
}

/// A part of a place.
#[derive(Clone, Copy)]
pub(super) enum Part {
    /// Always this.
    Fixed(&'static str),
    /// A key's value, else the default.
    Key(&'static [&'static str], &'static str),
    /// A key's value, else a variable's, else a name that each start makes anew.
    Run(&'static [&'static str], &'static str),
}

/// How often.
#[derive(Clone, Copy)]
pub(super) struct Every {
    /// The key.
    pub(super) key: &'static str,
    /// Its unit.
    pub(super) unit: &'static str,
    /// Its value if not set.
    pub(super) default: Option<&'static str>,
}

/// How a framework resumes.
#[derive(Clone, Copy)]
pub(super) struct Resume {
    /// Keys that make it resume: on, or a checkpoint.
    pub(super) on: &'static [&'static str],
    /// Keys of the directory it loads from; it resumes if it is the one it saves to.
    pub(super) load: &'static [&'static str],
    /// What makes it begin anew all the same.
    pub(super) never: &'static [Switch],
    /// If none of the keys is set.
    pub(super) absent: Answer,
    /// Why.
    pub(super) absent_why: &'static str,
}

/// A saver on SIGTERM.
#[derive(Clone, Copy)]
pub(super) struct Saver {
    /// The key that turns it on.
    pub(super) key: &'static str,
    /// Whether it is on if not set.
    pub(super) default: bool,
    /// Whether it saves where saving is off otherwise.
    pub(super) alone: bool,
}

/// Whether a switch is as it means something; `None` where its value is not told, or it is not set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Held {
    /// It is.
    Yes,
    /// It is set otherwise.
    No,
    /// It is set to what is not told.
    Open,
    /// It is not set.
    Absent,
}

impl Switch {
    /// Whether the line has it so.
    pub(super) fn held(self, line: &Line) -> Held {
        let Some(setting) = line.last(&[self.key]) else { return Held::Absent };
        let is = match self.is {
            Is::On => setting.is_on(),
            Is::Off => setting.is_on().map(|on| !on),
            Is::Word(word) => match &setting.value {
                Some(value) if value.open.is_some() => None,
                value => Some(value.as_ref().is_some_and(|value| value.text.eq_ignore_ascii_case(word))),
            },
        };
        match is {
            Some(true) => Held::Yes,
            Some(false) => Held::No,
            None => Held::Open,
        }
    }
}

/// The first switch that holds, else the first whose value is not told, else the first that is set.
pub(super) fn first<'s>(switches: &'s [Switch], line: &Line) -> Option<(&'s Switch, Held)> {
    let held = || switches.iter().map(|switch| (switch, switch.held(line)));
    let is = |wanted: Held| held().find(|(_, held)| *held == wanted);
    is(Held::Yes).or_else(|| is(Held::Open)).or_else(|| is(Held::No))
}

impl Framework {
    /// Whether the line runs it.
    pub(super) fn is_run_by(&self, line: &Line) -> bool {
        if self.except.iter().any(|name| line.runs(name)) || line.last(self.other_keys).is_some() {
            return false;
        }
        let has = |keys: &[&str]| {
            let is = |key: &str, own: &&str| if own.ends_with('.') { key.starts_with(own) } else { key == *own };
            line.settings.iter().any(|setting| keys.iter().any(|own| is(&setting.key, own)))
        };
        (self.needs.is_empty() || has(self.needs))
            && (self.programs.iter().any(|name| line.runs(name)) || has(self.keys))
    }

    /// Whether settings may stand where they are not seen.
    pub(super) fn is_hidden(&self, line: &Line) -> bool {
        let is_file = |path: &str| {
            matches!(extension(path), "yaml" | "yml" | "toml" | "json" | "py")
                && !self.shipped.iter().any(|part| path.contains(part))
        };
        let is_given = |key: &&str| {
            let value = line.last(&[*key]).and_then(|setting| setting.value.as_ref());
            value.is_some_and(|value| value.open.is_some() || is_file(&value.text))
        };
        let is_data = |path: &&String| extension(path) != "py" && is_file(path);
        line.is_partial
            || line.has_hidden_variables && self.env_prefix.is_some()
            || self.configs.iter().any(is_given)
            || self.configs.contains(&"") && line.words.iter().any(|word| is_data(&word))
    }

    /// Whether a key tells of its checkpoints.
    pub(super) fn tells(&self, key: &str) -> bool {
        let switches = [self.off, self.weights_only, self.resume.never];
        let by_switch = match self.saving {
            Saving::With(switches) => switches,
            _ => &[],
        };
        let in_place = |place: &Place| {
            let part = |part: &Part| match part {
                Part::Fixed(_) => false,
                Part::Key(keys, _) | Part::Run(keys, _) => keys.contains(&key),
            };
            place.base.contains(&key) || place.below.iter().any(part)
        };
        self.places.iter().any(in_place)
            || switches.iter().copied().flatten().chain(by_switch).any(|switch| switch.key == key)
            || self.every.iter().any(|every| every.key == key)
            || [self.resume.on, self.resume.load, self.also].iter().any(|keys| keys.contains(&key))
            || self.saver.is_some_and(|saver| saver.key == key)
    }
}
