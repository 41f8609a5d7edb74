use crate::kubectl::Kubectl;

/// Makes the commands that are printed: each runs as it stands, on the same cluster and namespace.
#[derive(Clone, Debug)]
pub struct Commands {
    kubectl: Kubectl,
    namespace: String,
}

impl Commands {
    /// With the flags that lead to the cluster.
    pub fn new(kubectl: Kubectl, namespace: &str) -> Self {
        Self { kubectl, namespace: namespace.to_owned() }
    }

    /// `kubectl WORDS -n NAMESPACE FLAGS`, each word quoted as far as a shell needs it. Names in it are those of objects
    /// that the server has: none begins with a dash.
    pub(super) fn kubectl(&self, words: &[&str]) -> String {
        let namespace = ["-n", self.namespace.as_str()];
        self.kubectl.line(words.iter().copied().chain(namespace))
    }

    /// `kubectl sigapps restart KIND/NAME -n NAMESPACE FLAGS MORE`.
    pub(super) fn restart(&self, kind: &str, name: &str, more: &[&str]) -> String {
        let subject = format!("{kind}/{name}");
        self.kubectl(&[&["sigapps", "restart", subject.as_str()], more].concat())
    }

    /// A run's own command, with the flags it had and one more.
    pub(super) fn again(&self, kind: &str, name: &str, flags: &[String], flag: &str) -> String {
        let mut more: Vec<&str> = flags.iter().map(String::as_str).collect();
        if !more.contains(&flag) {
            more.push(flag);
        }
        self.restart(kind, name, &more)
    }

    /// A JSON merge patch of an object.
    pub(super) fn merge(&self, resource: &str, name: &str, patch: &str) -> String {
        self.kubectl(&["patch", resource, name, "--type=merge", "-p", patch])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_lead_to_the_same_cluster_and_are_quoted() {
        let commands = Commands::new(Kubectl { flags: vec!["--context=my cluster".into()] }, "ml");
        assert_eq!(
            commands.restart("job", "etl", &["--force"]),
            "kubectl sigapps restart job/etl --force -n ml '--context=my cluster'"
        );
        assert_eq!(
            commands.merge("jobset", "llama", r#"{"spec":{"suspend":false}}"#),
            r#"kubectl patch jobset llama --type=merge -p '{"spec":{"suspend":false}}' -n ml '--context=my cluster'"#
        );
    }
}
