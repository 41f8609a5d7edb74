use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The recorded cluster that the documents show.
pub(crate) const WORLD: &str = "examples/cluster.json.gz";

/// A run of the binary, from the project's folder, with an environment of its own.
pub(crate) struct Run {
    command: Command,
    stdin: Vec<u8>,
}

/// What it printed.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Starts the description of a run.
pub(crate) fn run(arguments: &[&str]) -> Run {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kubectl-sigapps"));
    command.args(arguments).current_dir(project()).env_clear().env("HOME", "/nonexistent");
    Run { command, stdin: Vec::new() }
}

/// The project's folder.
pub(crate) fn project() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_owned()
}

impl Run {
    pub(crate) fn env(mut self, name: &str, value: &str) -> Self {
        self.command.env(name, value);
        self
    }

    pub(crate) fn stdin(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.stdin = bytes.into();
        self
    }

    pub(crate) fn done(mut self) -> Ran {
        let mut child =
            self.command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut to_child = child.stdin.take().unwrap();
        let bytes = std::mem::take(&mut self.stdin);
        // The child may end without having read it all.
        let writer = std::thread::spawn(move || drop(to_child.write_all(&bytes)));
        let output = child.wait_with_output().unwrap();
        writer.join().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Ran { code: output.status.code().unwrap(), stdout: text(output.stdout), stderr: text(output.stderr) }
    }

    /// The standard output of a run that must succeed in silence.
    pub(crate) fn output(self) -> String {
        let ran = self.done();
        assert_eq!((ran.code, &*ran.stderr), (0, ""), "{}", ran.stdout);
        ran.stdout
    }
}

impl Ran {
    /// Asserts a failure with one line of complaint that holds `words`, and nothing on standard output.
    pub(crate) fn refused(&self, code: i32, words: &[&str]) {
        assert_eq!(self.code, code, "{self:?}");
        assert_eq!(self.stdout, "", "{self:?}");
        assert_eq!(self.stderr.lines().count(), 1, "{}", self.stderr);
        assert!(self.stderr.starts_with("error: "), "{}", self.stderr);
        for word in words {
            assert!(self.stderr.contains(word), "{word:?} is missing in {}", self.stderr);
        }
    }
}

/// Whether a line is a command of a suggestion, which is never cut.
pub(crate) fn is_command(line: &str) -> bool {
    ["   kubectl ", "   changes: kubectl ", "   destroys: kubectl "].iter().any(|begin| line.starts_with(begin))
}
