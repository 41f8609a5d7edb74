//! Whether what is not told is the same at each start. A checkpoint is found again only if its place is.

use super::words::Variables;

/// How it may change, the least first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Change {
    /// All pods of the workload have it alike, or it is told.
    Never,
    /// It is not known.
    Perhaps,
    /// It is of the pod or its attempt, and a new one has another.
    WithPod,
    /// Each start makes it anew.
    WithStart,
}

/// Prefixes of keys that controllers set alike for the pods that follow one another: names, indices, keys made from
/// names (jobset `api/jobset/v1alpha2/jobset_types.go`, lws `api/leaderworkerset/v1`, batch/v1, apps/v1).
const ALIKE: [&str; 8] = [
    "jobset.sigs.k8s.io",
    "batch.kubernetes.io",
    "leaderworkerset.sigs.k8s.io",
    "apps.kubernetes.io",
    "app.kubernetes.io",
    "statefulset.kubernetes.io",
    "training.kubeflow.org",
    "trainer.kubeflow.org",
];

/// Of a field of the downward API (kubernetes.io `docs/concepts/workloads/pods/downward-api`).
pub(super) fn of_field(path: &str) -> Change {
    let key = ["metadata.labels[", "metadata.annotations["].iter().find_map(|of| path.strip_prefix(of));
    match (path, key) {
        (_, Some(key)) => of_key(key.trim_end_matches(']').trim_matches(['\'', '"'])),
        ("metadata.namespace" | "spec.serviceAccountName", _) => Change::Never,
        ("metadata.name" | "metadata.uid" | "spec.nodeName", _) => Change::WithPod,
        _ if path.starts_with("status.") => Change::WithPod,
        _ => Change::Perhaps,
    }
}

/// Of a label or an annotation. Without a prefix it is the user's own, as automated components must write one
/// (kubernetes.io `docs/concepts/overview/working-with-objects/labels`, syntax); older ones of Kubernetes do not.
fn of_key(key: &str) -> Change {
    let of_attempt = ["restart-attempt", "uid", "hash", "generation", "restartedAt"];
    if of_attempt.iter().any(|part| key.contains(part)) {
        return Change::WithPod;
    }
    match key.split_once('/') {
        Some((prefix, _)) if !ALIKE.contains(&prefix) => Change::Perhaps,
        _ => Change::Never,
    }
}

/// Of a variable that neither the template nor the script sets.
pub(super) fn of_unset(name: &str) -> Change {
    // Bash makes these (bash manual, 5.2).
    if matches!(name, "RANDOM" | "SRANDOM" | "EPOCHSECONDS" | "EPOCHREALTIME" | "SECONDS") {
        return Change::WithStart;
    }
    if ["POD_NAME", "PODNAME", "HOSTNAME", "POD_UID", "POD_IP", "NODE_NAME"].iter().any(|of| name.contains(of)) {
        return Change::WithPod;
    }
    // The Job controller's (`addCompletionIndexEnvVariable`, kubernetes `pkg/controller/job/indexed_job_utils.go`),
    // LeaderWorkerSet's (lws `api/leaderworkerset/v1`), the user's of the image.
    let alike = ["JOB_COMPLETION_INDEX", "LWS_GROUP_SIZE", "LWS_WORKER_INDEX", "HOME", "PWD", "USER"];
    if alike.contains(&name) { Change::Never } else { Change::Perhaps }
}

/// Of what stands behind a dollar, or between backquotes, as written.
pub(super) fn of_reference(written: &str, variables: &Variables) -> Change {
    let inside = |open: &str, close: char| Some(written.strip_prefix(open)?.trim_end_matches(close));
    if let Some(command) = inside("$(", ')').or_else(|| inside("`", '`')) {
        // The kubelet replaces `$(NAME)` before a shell sees it.
        return if variables.may_be_set(command) { variables.change(command) } else { of_command(command) };
    }
    let body = inside("${", '}').or_else(|| written.strip_prefix('$')).unwrap_or(written);
    let end = body.find(|c: char| c != '_' && !c.is_ascii_alphanumeric()).unwrap_or(body.len());
    let (name, operator) = body.split_at(end);
    // What stands for a value that is not set may come from anywhere.
    let of_default = if operator.contains(['$', '`']) { Change::Perhaps } else { Change::Never };
    if name.is_empty() { Change::Perhaps } else { variables.change(name).max(of_default) }
}

/// Of what a command prints. One that may have kept what it printed before is not known.
fn of_command(command: &str) -> Change {
    let command = command.trim();
    let mut words = command.split_whitespace();
    let (program, first) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let is_one = !command.contains(['|', '&', ';', '>', '\n', '`']) && !command.contains("$(");
    match program.rsplit('/').next().unwrap_or_default() {
        "hostname" => Change::WithPod,
        "uname" if first.contains('n') => Change::WithPod,
        "date" if is_one => of_date(command),
        "uuidgen" | "mktemp" if is_one => Change::WithStart,
        "openssl" if is_one && first == "rand" => Change::WithStart,
        "cat" if is_one && first == "/proc/sys/kernel/random/uuid" => Change::WithStart,
        "pwd" | "whoami" | "id" | "nproc" if is_one && !command.contains('$') => Change::Never,
        "dirname" | "basename" | "realpath" | "readlink" if is_one && !command.replace("$0", "").contains('$') => {
            Change::Never
        }
        _ => Change::Perhaps,
    }
}

/// Two starts on one day have the same `%F`, but never the same second.
fn of_date(command: &str) -> Change {
    let seconds = ["%s", "%S", "%T", "%N", "%c", "%r", "%X"];
    let is_fixed = ["-d", "--date", "-r", "--reference"].iter().any(|option| command.contains(option));
    let has_format = command.contains('+');
    if !is_fixed && (!has_format || seconds.iter().any(|format| command.contains(format))) {
        Change::WithStart
    } else {
        Change::Perhaps
    }
}
