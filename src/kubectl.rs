//! kubectl commands that run as they are printed, on the cluster that was read.

use serde_json::{Value, json};

use crate::shell::quote;

/// Makes kubectl commands.
#[derive(Clone, Debug, Default)]
pub struct Kubectl {
    /// Flags that lead to the same cluster: `--context`, `--kubeconfig`, where they were given.
    pub flags: Vec<String>,
}

impl Kubectl {
    /// `kubectl WORDS FLAGS`, each word quoted as far as a shell needs it. What comes from a dump, or from a field that the
    /// server does not check, must be a name by [`is_name`]: `--all` would be taken for a flag.
    pub(crate) fn line<'a>(&'a self, words: impl IntoIterator<Item = &'a str>) -> String {
        let words = std::iter::once("kubectl").chain(words).chain(self.flags.iter().map(String::as_str));
        words.map(quote).collect::<Vec<_>>().join(" ")
    }
}

/// JSON patch operations that take one owner reference away and leave those of others: the place alone might be another
/// owner's by the time they are run, so that `field` of it (`uid`, `name`) is tested first.
pub(crate) fn without_owner(place: usize, field: &str, value: &str) -> [Value; 2] {
    let path = format!("/metadata/ownerReferences/{place}");
    [json!({"op": "test", "path": format!("{path}/{field}"), "value": value}), json!({"op": "remove", "path": path})]
}

/// Whether a word is made as names of objects, selectors by them, and taints are.
pub(crate) fn is_name(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_alphanumeric())
        && word.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_' | '/' | '=' | ':'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_is_quoted_as_far_as_a_shell_needs_it() {
        let kubectl = Kubectl { flags: vec!["--context=my cluster".into()] };
        assert_eq!(kubectl.line(["get", "pods", "$(x)"]), "kubectl get pods '$(x)' '--context=my cluster'");
    }

    #[test]
    fn a_name_is_never_taken_for_a_flag() {
        for (word, expected) in
            [("etl-0.x", true), ("job/etl", true), ("a.io/b=c", true), ("--all", false), ("", false), ("a b", false)]
        {
            assert_eq!(is_name(word), expected, "{word}");
        }
    }
}
