use serde_json::Value;

use crate::kubectl::{Kubectl, is_name};
use crate::report::Safety;

/// A command, and what running it does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Command {
    pub(super) text: String,
    pub(super) safety: Safety,
}

/// Flags of ours; any other word that is made like a flag came from the data.
const FLAGS: [&str; 9] =
    ["-n", "-c", "-l", "-o", "--previous", "--type=json", "--type=merge", "--force", "--grace-period=0"];

impl Kubectl {
    /// A command, each word quoted as far as a shell needs it. `None` where a name in it cannot be one of a Kubernetes
    /// object: a dump is not to be trusted, and a name such as `--all` would be taken for a flag.
    pub fn command(&self, words: &[&str]) -> Option<String> {
        self.with_patch(words, None)
    }

    /// A command that reads.
    pub(super) fn read(&self, words: &[&str]) -> Vec<Command> {
        self.command(words).map(|text| Command { text, safety: Safety::ReadOnly }).into_iter().collect()
    }

    /// A command that changes the cluster.
    pub(super) fn write(&self, safety: Safety, words: &[&str], patch: Option<&Value>) -> Vec<Command> {
        self.with_patch(words, patch).map(|text| Command { text, safety }).into_iter().collect()
    }

    fn with_patch(&self, words: &[&str], patch: Option<&Value>) -> Option<String> {
        if !words.iter().all(|word| FLAGS.contains(word) || is_name(word)) {
            return None;
        }
        let patch = patch.map(|patch| format!("--patch={patch}"));
        Some(self.line(words.iter().copied().chain(patch.as_deref())))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn words_that_a_shell_would_take_apart_are_quoted() {
        let kubectl = Kubectl { flags: vec!["--context=it's my cluster; rm -rf ~".into()] };
        assert_eq!(
            kubectl.command(&["logs", "-n", "ns", "job-x"]).unwrap(),
            r"kubectl logs -n ns job-x '--context=it'\''s my cluster; rm -rf ~'"
        );
        assert_eq!(
            Kubectl::default().command(&["get", "pods", "-l", "a.io/b=c"]).unwrap(),
            "kubectl get pods -l a.io/b=c"
        );
    }

    #[test]
    fn a_patch_is_one_word() {
        let patch = json!({"it's": ["$(reboot)"]});
        let command = Kubectl::default().write(Safety::Mutating, &["patch", "cronjob", "x"], Some(&patch));
        assert_eq!(command[0].text, r#"kubectl patch cronjob x '--patch={"it'\''s":["$(reboot)"]}'"#);
    }

    #[test]
    fn nothing_is_suggested_for_what_is_no_name() {
        for name in ["--all", "-n", "a b", "$(reboot)", "it's", "a\nb", ""] {
            assert_eq!(
                Kubectl::default().command(&["describe", "pod", name, "-n", "ns"]).filter(|_| name != "-n"),
                None,
                "{name}"
            );
        }
    }
}
