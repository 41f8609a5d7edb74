use crate::shell::quote;

/// Makes kubectl commands that run as they are printed, on the cluster that was read.
#[derive(Clone, Debug, Default)]
pub struct Kubectl {
    /// Flags that lead to the same cluster: `--context`, `--kubeconfig`, where they were given.
    pub flags: Vec<String>,
}

impl Kubectl {
    /// A command, each word quoted as far as a shell needs it. `None` where a name in it cannot be one of a Kubernetes
    /// object: a dump is not to be trusted, and a name such as `--all` would be taken for a flag.
    pub fn command(&self, words: &[&str]) -> Option<String> {
        let is_ours = |word: &str| matches!(word, "-n" | "-c" | "-l" | "-o" | "--previous");
        if !words.iter().all(|word| is_ours(word) || is_name(word)) {
            return None;
        }
        let flags = self.flags.iter().map(String::as_str);
        let all = std::iter::once("kubectl").chain(words.iter().copied()).chain(flags);
        Some(all.map(quote).collect::<Vec<_>>().join(" "))
    }
}

/// Whether a word is made as names of objects, and selectors by them, are.
fn is_name(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_alphanumeric())
        && word.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_' | '/' | '='))
}

#[cfg(test)]
mod tests {
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
        assert_eq!(quote(""), "''");
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
