//! Completion in real shells, at their prompts: keys are typed into a pseudo-terminal, and what the line has become is read.
//!
//! bash is run always; `COMPLETION_SHELLS='zsh fish'` names the others that are installed, as CI does.

use std::io::{Read as _, Write as _};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::completion::{names, program};
use crate::support::{FakeApi, Home, Reply, kubeconfig};

/// The longest a test waits for what it waits for: then it fails.
const LONGEST: Duration = Duration::from_secs(60);

/// A home for shells: the program on the PATH, and the script of each.
fn home(api: &FakeApi) -> Home {
    let home = Home::empty();
    let mut config = kubeconfig(&json!({"server": api.url("127.0.0.1")}), &json!({}));
    let context = config["contexts"][0]["context"].clone();
    config["contexts"].as_array_mut().unwrap().push(json!({"name": "arn:aws:eks:eu/ml", "context": context}));
    home.write(".kube/config", &config.to_string());
    home.write("dump file.json", "");
    home.write("folder/in it", "");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_kubectl-sigapps"), home.path().join("kubectl-sigapps")).unwrap();
    home
}

fn script(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("completions").join(name)
}

fn in_shell(home: &Home, shell: &str) -> Command {
    let mut command = Command::new(shell);
    let path = std::env::var("PATH").unwrap_or_default();
    command
        .env_clear()
        .envs(program(home).get_envs().filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned()))))
        .env("PATH", format!("{}:{path}", home.path().display()))
        .env("TERM", "xterm")
        .env("LC_ALL", "C.UTF-8")
        .current_dir(home.path());
    command
}

/// A shell in a pseudo-terminal, of util-linux' `script`.
struct Terminal {
    child: Child,
    keys: Option<ChildStdin>,
    screen: Receiver<Vec<u8>>,
    seen: String,
}

/// How a line is begun, so that it prints its words when it is run: typed at its beginning, after completion.
const PRINT: &str = "\u{1}printf '<%s>' \r";

impl Terminal {
    fn start(home: &Home, shell: &str, prepare: &str) -> Self {
        let mut command = in_shell(home, "script");
        command.args(["-qfec", shell, "/dev/null"]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit()).spawn().unwrap();
        let (sender, screen) = channel();
        let mut output = child.stdout.take().unwrap();
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(read @ 1..) = output.read(&mut bytes) {
                if sender.send(bytes[..read].to_vec()).is_err() {
                    break;
                }
            }
        });
        let keys = child.stdin.take();
        let mut terminal = Self { child, keys, screen, seen: String::new() };
        terminal.press(prepare);
        // The echo of what is typed has a sign between the words.
        terminal.press("\rprintf '%s%s\\n' all ready\r");
        terminal.await_text("allready");
        terminal
    }

    fn press(&mut self, keys: &str) {
        self.keys.as_mut().unwrap().write_all(keys.as_bytes()).unwrap();
    }

    fn await_text(&mut self, text: &str) {
        let until = Instant::now() + LONGEST;
        while !self.seen.contains(text) {
            match self.screen.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(bytes) => self.seen.push_str(&String::from_utf8_lossy(&bytes)),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                    panic!("{text:?} never came, but:\n{}", self.seen);
                }
            }
        }
    }

    /// Types a line, and then expects that it has become these words.
    fn becomes(&mut self, typed: &str, words: &[&str]) {
        self.seen.clear();
        self.press(typed);
        self.press(PRINT);
        let words = format!("<{}>", words.join("><"));
        self.await_text(&words);
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        drop(self.keys.take());
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What is typed, and the words that it is to become.
const LINES: [(&str, &[&str]); 10] = [
    ("kubectl-sigapps fail\t", &["kubectl-sigapps", "failures"]),
    ("kubectl-sigapps failures --all-n\t", &["kubectl-sigapps", "failures", "--all-namespaces"]),
    ("kubectl-sigapps failures --group-by=wor\t", &["kubectl-sigapps", "failures", "--group-by=workload"]),
    ("kubectl-sigapps failures -o mark\t-A", &["kubectl-sigapps", "failures", "-o", "markdown", "-A"]),
    ("kubectl-sigapps explain jobs\t", &["kubectl-sigapps", "explain", "jobset/"]),
    ("kubectl-sigapps failures job/train-\t1\t", &["kubectl-sigapps", "failures", "job/train-1"]),
    (
        "kubectl-sigapps failures -n ot'her' job/else\t",
        &["kubectl-sigapps", "failures", "-n", "other", "job/elsewhere"],
    ),
    (
        "kubectl-sigapps failures --context arn\t-A",
        &["kubectl-sigapps", "failures", "--context", "arn:aws:eks:eu/ml", "-A"],
    ),
    (
        "kubectl-sigapps failures --context=arn:aws\t-A",
        &["kubectl-sigapps", "failures", "--context=arn:aws:eks:eu/ml", "-A"],
    ),
    ("kubectl-sigapps failures -f du\t-A", &["kubectl-sigapps", "failures", "-f", "dump file.json", "-A"]),
];

fn types_lines(terminal: &mut Terminal) {
    for (typed, words) in LINES {
        terminal.becomes(typed, words);
    }
}

/// Whether a shell is to be tested, as CI asks for.
fn is_asked_for(shell: &str) -> bool {
    std::env::var("COMPLETION_SHELLS").unwrap_or_default().split_whitespace().any(|asked| asked == shell)
}

#[test]
fn bash_completes_at_its_prompt() {
    let api = FakeApi::start(names);
    let home = home(&api);
    let source = format!(". '{}'", script("kubectl-sigapps.bash").display());
    let mut bash = Terminal::start(&home, "bash --norc --noprofile -i", &source);
    types_lines(&mut bash);
    // Asked twice, it shows what there is with what it is.
    bash.seen.clear();
    bash.press("kubectl-sigapps re\t\t");
    bash.await_text("(Restart one workload)");
    bash.await_text("(Keep evidence that Kubernetes forgets)");
}

#[test]
fn zsh_completes_at_its_prompt() {
    if !is_asked_for("zsh") {
        return;
    }
    let api = FakeApi::start(names);
    let home = home(&api);
    let folder = script("").display().to_string();
    let found = format!("fpath=('{folder}' $fpath); autoload -Uz compinit; compinit -u -D; bindkey -e; unsetopt beep");
    let mut zsh = Terminal::start(&home, "zsh -f -i", &found);
    types_lines(&mut zsh);
    zsh.seen.clear();
    zsh.press("kubectl-sigapps re\t\t");
    zsh.await_text("-- Restart one workload");
    let sourced = format!("autoload -Uz compinit; compinit -u -D; bindkey -e; . '{folder}/_kubectl-sigapps'");
    types_lines(&mut Terminal::start(&home, "zsh -f -i", &sourced));
}

#[test]
fn fish_offers_what_may_follow() {
    if !is_asked_for("fish") {
        return;
    }
    let api = FakeApi::start(names);
    let home = home(&api);
    let source = format!("source '{}'", script("kubectl-sigapps.fish").display());
    for (typed, expected) in [
        ("kubectl-sigapps fail", &["failures\tShow what failed"][..]),
        ("kubectl-sigapps failures --group-by=wor", &["--group-by=workload\tWorkload"]),
        ("kubectl-sigapps failures job/tr", &["job/train-0", "job/train-1"]),
        ("kubectl-sigapps failures -n 'other' job/", &["job/elsewhere"]),
        ("kubectl-sigapps failures --context arn:", &["arn:aws:eks:eu/ml"]),
        ("kubectl-sigapps failures -f du", &["dump file.json"]),
        ("kubectl-sigapps failures -f fol", &["folder/"]),
        ("kubectl-sigapps failures --kubeconfig=du", &["--kubeconfig=dump file.json"]),
        ("kubectl-sigapps failures --since ", &[]),
        ("kubectl-sigapps restart --save-to fol", &["folder/"]),
    ] {
        let mut fish = in_shell(&home, "fish");
        fish.args(["--no-config", "-c", &format!("{source}; complete -C $argv[1]"), typed]);
        let output = fish.stdin(Stdio::null()).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{typed}");
        let offered = String::from_utf8(output.stdout).unwrap();
        // fish says of what it found itself what that is.
        let is_one = |line: &&str| expected.iter().any(|one| line == one || line.starts_with(&format!("{one}\t")));
        let offered: Vec<&str> = offered.lines().collect();
        assert!(offered.iter().all(is_one) && offered.len() == expected.len(), "{typed}: {offered:?}");
    }
}

/// A cluster that does not answer takes away the names, and nothing else: no error is shown, and the prompt goes on.
#[test]
fn a_prompt_is_not_held_up_by_a_cluster() {
    let api = FakeApi::start(|_| Reply::silence());
    let home = home(&api);
    let source = format!("unset KUBECTL_SIGAPPS_COMPLETION_MS; . '{}'", script("kubectl-sigapps.bash").display());
    let mut bash = Terminal::start(&home, "bash --norc --noprofile -i", &source);
    bash.becomes("kubectl-sigapps failures job/\tetl", &["kubectl-sigapps", "failures", "job/etl"]);
    assert!(!bash.seen.to_lowercase().contains("error"), "{}", bash.seen);
    assert!(!api.asked().is_empty());
}
