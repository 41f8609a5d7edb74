/// Makes kubectl commands that run as they are printed, on the cluster that was read.
#[derive(Clone, Debug, Default)]
pub struct Kubectl {
    /// Flags that lead to the same cluster: `--context`, `--kubeconfig`, where they were given.
    pub flags: Vec<String>,
}

impl Kubectl {
    /// A command, each word quoted as far as a shell needs it.
    pub fn command(&self, words: &[&str]) -> String {
        let flags = self.flags.iter().map(String::as_str);
        let all = std::iter::once("kubectl").chain(words.iter().copied()).chain(flags);
        all.map(quote).collect::<Vec<_>>().join(" ")
    }
}

/// A word as a POSIX shell takes it.
fn quote(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,@%+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_a_shell_would_take_apart_are_quoted() {
        let kubectl = Kubectl { flags: vec!["--context".into(), "my cluster; rm -rf ~".into()] };
        assert_eq!(
            kubectl.command(&["logs", "-n", "it's", "job-x"]),
            r"kubectl logs -n 'it'\''s' job-x --context 'my cluster; rm -rf ~'"
        );
        assert_eq!(Kubectl::default().command(&["get", "pods", "-l", "a.io/b=c"]), "kubectl get pods -l a.io/b=c");
        assert_eq!(quote(""), "''");
    }
}
