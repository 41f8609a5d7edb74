//! What one command line tells, by a row of the table.

use super::line::{Line, Setting};
use super::rule::{Every, Framework, Held, Part, Saving, first};
use super::words::Word;
use super::{Answer, Sign, shown::shown};

/// What a command line, or a container, tells.
#[derive(Clone, Debug)]
pub(super) struct Finding {
    pub(super) framework: Option<&'static str>,
    pub(super) saves: Answer,
    pub(super) saves_why: String,
    pub(super) place: Option<Word>,
    pub(super) directory: Option<Word>,
    pub(super) every: Option<String>,
    pub(super) resumes: Answer,
    pub(super) resumes_why: String,
    pub(super) saver: Option<String>,
    pub(super) signs: Vec<Sign>,
}

/// More are not listed.
const MOST_SIGNS: usize = 64;

impl Finding {
    /// Nothing.
    pub(super) fn none() -> Self {
        Self {
            framework: None,
            saves: Answer::Unknown,
            saves_why: "nothing in the template tells of checkpoints".to_owned(),
            place: None,
            directory: None,
            every: None,
            resumes: Answer::Unknown,
            resumes_why: "nothing in the template tells of resuming".to_owned(),
            saver: None,
            signs: Vec::new(),
        }
    }

    /// How much it tells; of several, the one that tells most is it.
    pub(super) fn weight(&self) -> u8 {
        match (self.framework.is_some(), self.saves, &self.place) {
            (true, Answer::Yes, _) => 6,
            (true, Answer::No, _) => 5,
            (false, Answer::Yes, _) => 4,
            (true, Answer::Unknown, _) => 3,
            (false, _, Some(_)) => 2,
            (false, _, None) => u8::from(!self.signs.is_empty()),
        }
    }
}

/// Where a line saves.
struct Placed {
    place: Word,
    /// The setting that gives it; `None` where it is the default.
    by: Option<String>,
    /// Whether each start makes another.
    is_anew: bool,
}

/// What a line that runs `framework` tells.
pub(super) fn finding(framework: &Framework, line: &Line, container: &str) -> Finding {
    let with_variables = framework.env_prefix.map(|prefix| line.with_variables(prefix));
    let line = with_variables.as_ref().unwrap_or(line);
    let hidden = framework.is_hidden(line);
    let placed = placed(framework, line);
    let is_placed = placed.as_ref().is_some_and(|placed| placed.by.is_some());
    let saver = saver(framework, line);
    let (mut saves, mut saves_why) = saves(framework, line, is_placed, hidden);
    if saves == Answer::No && framework.saver.is_some_and(|saver| saver.alone) && saver.is_some() {
        (saves, saves_why) = (Answer::Yes, format!("{saves_why}, but on SIGTERM"));
    }
    let place = placed.as_ref().filter(|placed| saves == Answer::Yes || placed.by.is_some());
    if let (Answer::Yes, Some(placed)) = (saves, place) {
        let by = placed.by.as_ref().map_or("its default".to_owned(), Clone::clone);
        saves_why = format!("{saves_why}; configured to save to {} ({by})", shown(&placed.place.text));
    }
    let (resumes, resumes_why) = resumes(framework, line, saves, placed.as_ref(), hidden);
    let tells = line.settings.iter().filter(|setting| framework.tells(&setting.key));
    Finding {
        framework: Some(framework.name),
        saves,
        saves_why,
        every: if saves == Answer::No { None } else { every(framework.every, line, !hidden && saves == Answer::Yes) },
        resumes,
        resumes_why,
        saver: saver.filter(|_| saves != Answer::No),
        signs: tells.map(|setting| setting.sign(container)).take(MOST_SIGNS).collect(),
        place: place.filter(|_| saves != Answer::No).map(|placed| placed.place.clone()),
        directory: line.directory.clone(),
    }
}

fn saves(framework: &Framework, line: &Line, is_placed: bool, hidden: bool) -> (Answer, String) {
    let name = framework.name;
    match first(framework.off, line) {
        Some((switch, Held::Yes)) => return (Answer::No, format!("{} is set so that nothing is saved", switch.key)),
        Some((switch, Held::Open)) => return (Answer::Unknown, format!("what {} is set to is not told", switch.key)),
        _ => {}
    }
    let unseen =
        || (Answer::Unknown, format!("{name} may be told to save by arguments, variables or a file that are not seen"));
    match framework.saving {
        Saving::ByDefault if is_placed || !hidden => (Answer::Yes, format!("{name} saves by default")),
        Saving::WithPlace | Saving::Script if is_placed => (Answer::Yes, format!("{name} is given a place")),
        Saving::Script => (Answer::Unknown, format!("whether {name} saves is up to its script")),
        Saving::ByDefault => unseen(),
        Saving::WithPlace if hidden => unseen(),
        Saving::WithPlace => {
            let key = framework.places.first().and_then(|place| place.base.first()).copied().unwrap_or_default();
            (Answer::No, format!("{name} saves only if {key} is set"))
        }
        Saving::With(switches) => match first(switches, line) {
            Some((switch, Held::Yes)) => (Answer::Yes, format!("{} is on", switch.key)),
            Some((switch, Held::Open)) => (Answer::Unknown, format!("what {} is set to is not told", switch.key)),
            _ if hidden => unseen(),
            _ => (Answer::No, format!("{name} does not save unless told to")),
        },
    }
}

fn placed(framework: &Framework, line: &Line) -> Option<Placed> {
    let given = |keys: &[&str]| line.last(keys).and_then(|setting| Some((setting, setting.named()?)));
    for place in framework.places {
        if let Some((setting, base)) = given(place.base) {
            return Some(below(base.clone(), Some(setting.written.clone()), place.below, line));
        }
    }
    let place = framework.places.last()?;
    // A part that is set means as much as the base.
    let keys = place.below.iter().filter_map(|part| match part {
        Part::Key(keys, _) => line.last(keys),
        _ => None,
    });
    let by = keys.rev().find(|setting| setting.named().is_some()).map(|setting| setting.written.clone());
    Some(below(Word::of(place.default?, super::words::At::Args(0)), by, place.below, line))
}

fn below(base: Word, by: Option<String>, parts: &[Part], line: &Line) -> Placed {
    let mut placed = Placed { place: base, by, is_anew: false };
    for part in parts {
        let word = match part {
            Part::Fixed(text) => Some(Word::of(text, placed.place.at)),
            Part::Key(keys, default) => {
                let set = line.last(keys).and_then(Setting::named).cloned();
                set.or_else(|| Some(Word::of(default, placed.place.at)))
            }
            Part::Run(keys, variable) => {
                let set = line.last(keys).and_then(Setting::named).cloned();
                set.or_else(|| line.variable(variable).map(Setting::word))
            }
        };
        let Some(word) = word else {
            placed.is_anew = true;
            break;
        };
        placed.place = join(placed.place, &word);
    }
    placed
}

/// As Python's `os.path.join`, which frameworks use.
fn join(base: Word, below: &Word) -> Word {
    if below.text.is_empty() {
        return base;
    }
    if below.text.starts_with('/') || below.known().contains("://") {
        return below.clone();
    }
    let mut joined = base;
    if !joined.text.ends_with('/') {
        joined.push_word(&Word::of("/", joined.at));
    }
    joined.push_word(below);
    joined
}

/// How often, as written; the default only if it holds.
pub(super) fn every(rules: &[Every], line: &Line, by_default: bool) -> Option<String> {
    match line.last(&["save_strategy"]).and_then(Setting::named).map(|word| &*word.text) {
        Some("epoch") => return Some("1 epoch".to_owned()),
        Some("no") => return None,
        Some("best") => return Some("when the metric is better".to_owned()),
        _ => {}
    }
    let set = rules.iter().find_map(|every| Some((line.last(&[every.key])?.named()?, every.unit)));
    if let Some((value, unit)) = set {
        return Some(format!("{} {unit}", shown(&value.text)).trim_end().to_owned());
    }
    let default = rules.iter().find(|every| every.default.is_some()).filter(|_| by_default)?;
    Some(format!("{} {} (the default)", default.default.unwrap_or_default(), default.unit))
}

fn saver(framework: &Framework, line: &Line) -> Option<String> {
    let saver = framework.saver?;
    match line.last(&[saver.key]) {
        Some(setting) => (setting.is_on() != Some(false)).then(|| setting.written.clone()),
        None => saver.default.then(|| format!("{} (the default)", saver.key)),
    }
}

fn resumes(
    framework: &Framework,
    line: &Line,
    saves: Answer,
    placed: Option<&Placed>,
    hidden: bool,
) -> (Answer, String) {
    let name = framework.name;
    if saves == Answer::No {
        return (Answer::No, "nothing is saved that it could take up".to_owned());
    }
    if let Some((switch, Held::Yes)) = first(framework.weights_only, line) {
        return (Answer::No, format!("{} saves the model alone, without the optimizer's state", switch.key));
    }
    if let Some((switch, held @ (Held::Yes | Held::Open))) = first(framework.resume.never, line) {
        let answer = if held == Held::Yes { Answer::No } else { Answer::Unknown };
        return (answer, format!("with {} it begins anew from what it loads", switch.key));
    }
    let (answer, why) = match (line.last(framework.resume.on), line.last(framework.resume.load)) {
        (Some(setting), _) => by_switch(setting),
        (None, Some(setting)) => by_directory(setting, placed),
        (None, None) if hidden && framework.resume.absent == Answer::No => (
            Answer::Unknown,
            format!("{name} may be told to resume by arguments, variables or a file that are not seen"),
        ),
        (None, None) if saves == Answer::Unknown && framework.resume.absent == Answer::Yes => {
            (Answer::Unknown, format!("whether it saves is not told; if so, {}", framework.resume.absent_why))
        }
        (None, None) => (framework.resume.absent, framework.resume.absent_why.to_owned()),
    };
    match placed.filter(|_| answer == Answer::Yes) {
        Some(placed) if placed.is_anew && hidden => (Answer::Unknown, "its run name is not told".to_owned()),
        Some(placed) if placed.is_anew => {
            (Answer::No, "without a run name, each start makes one from the time, so it finds nothing".to_owned())
        }
        Some(placed) => stable(&placed.place).unwrap_or((answer, why)),
        None => (answer, why),
    }
}

/// `resume=…`.
pub(super) fn by_switch(setting: &Setting) -> (Answer, String) {
    let written = &setting.written;
    match (setting.is_on(), &setting.value) {
        (None, _) => (Answer::Unknown, format!("what {written} is set to is not told")),
        (Some(false), _) => (Answer::No, format!("{written} is off")),
        (Some(true), Some(value)) if value.text.contains('/') => {
            (Answer::Yes, format!("{written}: each start takes up {}", shown(&value.text)))
        }
        (Some(true), _) => (Answer::Yes, format!("{written} is set")),
    }
}

fn by_directory(setting: &Setting, placed: Option<&Placed>) -> (Answer, String) {
    let written = &setting.written;
    let Some(from) = setting.named() else { return (Answer::No, format!("{written} is empty")) };
    let Some(placed) = placed.filter(|placed| placed.by.is_some()) else {
        return (
            Answer::Unknown,
            format!("it loads from {} ({written}); where it saves is not told", shown(&from.text)),
        );
    };
    let plain = |word: &Word| word.text.trim_end_matches('/').to_owned();
    if plain(from) == plain(&placed.place) {
        return (Answer::Yes, format!("it loads from where it saves ({written})"));
    }
    if from.open.is_some() || placed.place.open.is_some() {
        return (Answer::Unknown, format!("whether it loads from where it saves ({written}) is not told"));
    }
    let why = format!("each start loads {} ({written}), not what it saved itself", shown(&from.text));
    (Answer::No, why)
}

/// What is to be said if the place changes from start to start.
fn stable(place: &Word) -> Option<(Answer, String)> {
    let open = &place.text[place.open?..];
    let anew = ["$(date", "`date", "$RANDOM", "${RANDOM", "uuidgen"];
    if anew.iter().any(|anew| open.contains(anew)) {
        return Some((Answer::No, "each start makes another place, so it finds nothing".to_owned()));
    }
    let pods = ["POD_NAME", "HOSTNAME", "POD_UID", "POD_IP", "$(hostname"];
    let of_pod = pods.iter().any(|name| open.contains(name));
    of_pod.then(|| (Answer::Unknown, "the place is named for the pod, and a new pod may have a new name".to_owned()))
}
