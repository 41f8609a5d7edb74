//! `__complete`: what may follow on a command line, for a shell or for kubectl to offer.
//!
//! There is one engine, and it is asked at the time of typing. The shells' scripts (`completion`) hold no list of commands
//! and flags: they pass the words on and show what comes back. So they never tell another version's flags, all shells and
//! kubectl offer the same, and what only the cluster knows needs no second way. The protocol is the one that Cobra's
//! `__complete` speaks, because kubectl speaks it with plugins: the words after the program's name, the last of which is
//! being typed and may be empty; printed are candidates, one a line, each with a tab and a description where there is one,
//! and at the end `:` and a number, the sum of [`Directive`]s. `clap_complete` is not used: its scripts list flags alone,
//! and its dynamic engine speaks another protocol and is unstable.
//! Source: kubectl `pkg/cmd/plugin/plugin_completion.go`; Cobra `completions.go`.
//!
//! Nothing that goes wrong here is told: an error in a prompt is worse than no candidate.

mod fields;
mod live;
mod subjects;
mod values;
mod words;

use std::ffi::OsString;
use std::io::{self, Write};
use std::panic;
use std::path::Path;

use clap::{Arg, ArgAction, Command, CommandFactory};

use super::Arguments;
use words::{Line, Next};

/// Under this name kubectl runs what completes a plugin. Source: kubectl `pkg/cmd/plugin/plugin_completion.go`.
pub(super) const PLUGIN: &str = "kubectl_complete-sigapps";
const ASKED: &str = "__complete";
/// The same with an empty word behind the others, for shells that lose an empty argument on the way: `PowerShell` before 7.3.
const ASKED_FOR_NEXT: &str = "__complete_next";

/// What the shell is to do with the candidates. The numbers are Cobra's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Directive {
    /// A space is put behind, files are offered where there is no candidate.
    Plain = 0,
    /// Files are never offered.
    NoFiles = 4,
    /// The same, and no space is put behind: the word goes on. 2 is for the latter.
    NoSpaceNoFiles = 6,
    /// Folders are offered.
    Folders = 16,
}

/// Something that may stand there.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Candidate {
    /// The whole word; of `--flag=value` the value.
    text: String,
    /// What it is, on one line.
    help: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Answer {
    candidates: Vec<Candidate>,
    directive: Directive,
}

/// The words to complete, where that is what the program was started for: as `__complete`, or under the name that kubectl
/// looks for.
pub(super) fn asked(arguments: &[OsString]) -> Option<Vec<String>> {
    let words = |words: &[OsString]| words.iter().map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>();
    let [program, rest @ ..] = arguments else { return None };
    if Path::new(program).file_stem().is_some_and(|stem| stem == PLUGIN) {
        return Some(words(rest));
    }
    let (first, rest) = rest.split_first()?;
    match first.to_str()? {
        ASKED => Some(words(rest)),
        ASKED_FOR_NEXT => Some([words(rest), vec![String::new()]].concat()),
        _ => None,
    }
}

/// Prints what may stand in the place of the last word.
pub(super) fn answer(words: &[String]) {
    panic::set_hook(Box::new(|_| {}));
    let answer = panic::catch_unwind(|| Answer::to(words)).unwrap_or_else(|_| Answer::none());
    let _ = io::stdout().lock().write_all(answer.to_string().as_bytes());
}

impl Answer {
    fn none() -> Self {
        Self::of(Vec::new())
    }

    /// Candidates and nothing else.
    fn of(candidates: Vec<Candidate>) -> Self {
        Self { candidates, directive: Directive::NoFiles }
    }

    fn without(directive: Directive) -> Self {
        Self { candidates: Vec::new(), directive }
    }

    /// The same, where the word may go on behind a candidate.
    fn open(candidates: Vec<Candidate>) -> Self {
        Self { candidates, directive: Directive::NoSpaceNoFiles }
    }

    fn to(words: &[String]) -> Self {
        let mut root = Arguments::command();
        root.build();
        let line = Line::read(&root, words);
        let mut answer = match &line.next {
            Next::Value { option, begins, typed } => {
                let mut answer = values::of(&line, option, typed);
                for candidate in &mut answer.candidates {
                    candidate.text.insert_str(0, begins);
                }
                answer
            }
            Next::Flag(typed) => Self::of(flags(&line, typed)),
            Next::Word(typed) if line.positionals.is_empty() && has_commands(line.command) => {
                Self::of(commands(line.command, typed))
            }
            Next::Word(typed) => positional(&line, typed),
        };
        let mut seen = std::collections::BTreeSet::new();
        answer.candidates.retain(|candidate| seen.insert(candidate.text.clone()));
        answer
    }
}

impl std::fmt::Display for Answer {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        for Candidate { text, help } in &self.candidates {
            // What would break the lines is no candidate.
            if text.is_empty() || text.contains(char::is_control) {
                continue;
            }
            if help.is_empty() {
                writeln!(f, "{text}")?;
            } else {
                writeln!(f, "{text}\t{}", crate::render::one_line(help))?;
            }
        }
        writeln!(f, ":{}", self.directive as u8)
    }
}

impl Candidate {
    /// Of the help, what stands before the first details.
    fn new(text: impl Into<String>, help: &str) -> Self {
        let details = [": ", "; ", ", ", " [", ". "].into_iter().filter_map(|sign| help.find(sign)).min();
        let brief = &help[..details.unwrap_or(help.len())];
        Self { text: text.into(), help: brief.trim_end_matches('.').replace('`', "") }
    }

    fn plain(text: impl Into<String>) -> Self {
        Self::new(text, "")
    }
}

fn has_commands(command: &Command) -> bool {
    command.get_subcommands().next().is_some()
}

fn commands(command: &Command, typed: &str) -> Vec<Candidate> {
    let shown = command.get_subcommands().filter(|command| !command.is_hide_set());
    let help = |command: &Command| command.get_about().map(ToString::to_string).unwrap_or_default();
    shown
        .filter(|command| command.get_name().starts_with(typed))
        .map(|command| Candidate::new(command.get_name(), &help(command)))
        .collect()
}

/// The flags that may still be given.
fn flags(line: &Line, typed: &str) -> Vec<Candidate> {
    let is_given = |flag: &Arg| line.options.iter().any(|(given, _)| given.get_id() == flag.get_id());
    let is_repeated = |flag: &Arg| matches!(flag.get_action(), ArgAction::Append | ArgAction::Count);
    let may_be = |flag: &&Arg| !flag.is_positional() && !flag.is_hide_set() && (is_repeated(flag) || !is_given(flag));
    let mut candidates = Vec::new();
    for flag in line.command.get_arguments().filter(may_be) {
        let help = flag.get_help().map(ToString::to_string).unwrap_or_default();
        let long = flag.get_long().map(|long| format!("--{long}"));
        // A short one is offered where one was begun.
        let short = flag.get_short().map(|short| format!("-{short}")).filter(|_| !typed.starts_with("--"));
        let names = long.into_iter().chain(short).filter(|name| name.starts_with(typed));
        candidates.extend(names.map(|name| Candidate::new(name, &help)));
    }
    candidates
}

fn positional(line: &Line, typed: &str) -> Answer {
    if let Some(subjects) = subjects::of(line.name()) {
        return subjects.answer(line, typed);
    }
    let mut positionals = line.command.get_positionals();
    match positionals.nth(line.positionals.len()) {
        Some(positional) => values::of(line, positional, typed),
        None => Answer::none(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(words: &[&str]) -> Vec<String> {
        let words: Vec<String> = words.iter().map(ToString::to_string).collect();
        Answer::to(&words).candidates.into_iter().map(|candidate| candidate.text).collect()
    }

    fn printed(words: &[&str]) -> String {
        let words: Vec<String> = words.iter().map(ToString::to_string).collect();
        Answer::to(&words).to_string()
    }

    #[test]
    fn commands_are_told_with_what_they_do() {
        assert_eq!(printed(&["fail"]), "failures\tShow what failed\n:4\n");
        assert_eq!(texts(&["help", "expl"]), ["explain"]);
        assert!(texts(&[""]).contains(&"completion".to_owned()));
        assert!(!texts(&[""]).contains(&"man".to_owned()));
        assert_eq!(printed(&["nonsense", ""]), ":4\n");
        assert_eq!(printed(&[]), printed(&[""]));
    }

    #[test]
    fn a_flag_is_offered_as_long_as_it_may_be_given() {
        assert_eq!(texts(&["failures", "--all-n"]), ["--all-namespaces"]);
        assert!(texts(&["failures", "-A", "--all-n"]).is_empty());
        assert_eq!(texts(&["failures", "--context", "a", "--conte"]), ["--context"]);
        assert_eq!(texts(&["failures", "-n"]), ["-n"]);
        assert!(texts(&["failures", "--pass"]).is_empty());
        assert!(texts(&["failures", "--", "--all"]).is_empty());
        assert_eq!(texts(&["why", "--rul"]), ["--rules"]);
    }

    #[test]
    fn values_are_offered_in_each_form_of_a_flag() {
        let expected = ["namespace", "node"];
        assert_eq!(texts(&["failures", "--group-by", "n"]), ["node", "namespace"]);
        assert_eq!(texts(&["failures", "--group-by=n"]).len(), expected.len());
        assert_eq!(texts(&["failures", "--color", "a"]), ["auto", "always"]);
        assert_eq!(
            texts(&["failures", "-ojs"]),
            ["-ojson", "-ojsonl", "-ojsonpath=", "-ojsonpath-as-json=", "-ojsonpath-file="]
        );
        assert_eq!(texts(&["failures", "-Ao", "ya"]), ["yaml"]);
        assert_eq!(texts(&["restart", "job/x", "--dry-run", "s"]), ["server"]);
        assert_eq!(texts(&["schema", "fail"]), ["failure"]);
        assert_eq!(texts(&["schema", "failure", ""]), [""; 0]);
        assert_eq!(texts(&["wait", "--for", "re"]), ["restarted", "ready"]);
    }

    #[test]
    fn of_a_list_the_last_member_is_completed() {
        assert_eq!(texts(&["failures", "--class", "lost,noR"]), ["lost,noRule"]);
        assert!(!texts(&["failures", "--class", "lost,"]).contains(&"lost,lost".to_owned()));
    }

    #[test]
    fn files_are_left_to_the_shell_only_where_one_is_meant() {
        assert_eq!(printed(&["failures", "-f", ""]), ":0\n");
        assert_eq!(printed(&["failures", "--kubeconfig=/e"]), ":0\n");
        assert_eq!(printed(&["restart", "--save-to", ""]), ":16\n");
        assert_eq!(printed(&["failures", "--since", ""]), ":4\n");
    }

    #[test]
    fn kinds_are_offered_in_the_forms_that_kubectl_takes() {
        assert_eq!(texts(&["failures", "job"]), ["job/", "jobset/"]);
        assert_eq!(texts(&["failures", "jobs"]), ["jobs", "jobset/"]);
        assert_eq!(texts(&["failures", "lw"]), ["lws/"]);
        assert_eq!(texts(&["failures", "cronjobs,jobs"]), ["cronjobs,jobs", "cronjobs,jobsets"]);
        assert!(texts(&["failures", ""]).contains(&"trainjob/".to_owned()));
        assert!(!texts(&["failures", ""]).contains(&"pod/".to_owned()));
        assert!(texts(&["explain", ""]).contains(&"pod/".to_owned()));
        assert!(!texts(&["restart", ""]).contains(&"node/".to_owned()));
        assert!(texts(&["restart", "job/a", ""]).is_empty());
        assert!(texts(&["explain", "job", "a", ""]).is_empty());
        assert!(printed(&["failures", "jobse"]).ends_with(":6\n"));
    }

    #[test]
    fn fields_are_those_of_the_published_schema() {
        assert_eq!(texts(&["failures", "--sort-by", ".fa"]), [".failures"]);
        assert_eq!(printed(&["failures", "--sort-by", ".rul"]), ".rule.\n:6\n");
        assert_eq!(texts(&["failures", "--sort-by", ".rule.l"]), [".rule.label"]);
        assert_eq!(texts(&["failures", "-o", "jsonl", "--sort-by", ".po"]), [".pod"]);
        assert_eq!(texts(&["failures", "-o", "custom-columns=A:.cause.exitC"]), ["custom-columns=A:.cause.exitCode"]);
        assert!(
            texts(&["failures", "-o", "custom-columns=A:.id,FAIL"])
                .contains(&"custom-columns=A:.id,FAILURES:.failures".to_owned())
        );
        assert!(
            texts(&["explain", "job/a", "-o", "custom-columns=A:.verd"]).iter().any(|text| text.contains(".verdict"))
        );
    }

    #[test]
    fn what_completes_is_known_by_its_name_or_its_first_word() {
        let asked = |words: &[&str]| asked(&words.iter().map(OsString::from).collect::<Vec<_>>());
        let words = |words: &[&str]| Some(words.iter().map(ToString::to_string).collect::<Vec<_>>());
        assert_eq!(asked(&["/bin/kubectl_complete-sigapps", "fail"]), words(&["fail"]));
        assert_eq!(asked(&["kubectl-sigapps", "__complete", "fail", ""]), words(&["fail", ""]));
        assert_eq!(asked(&["kubectl-sigapps", "__complete_next", "fail"]), words(&["fail", ""]));
        assert_eq!(asked(&["kubectl-sigapps", "failures"]), None);
        assert_eq!(asked(&[]), None);
    }

    #[test]
    fn no_candidate_breaks_the_lines() {
        let answer = Answer::of(vec![Candidate::new("a\nb", ""), Candidate::new("c", "d\te\nf")]);
        assert_eq!(answer.to_string().lines().count(), 2, "{answer}");
    }
}
