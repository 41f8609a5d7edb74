use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::process::{Command, Output, Stdio};
use std::sync::{Mutex, PoisonError};

use kube::config::{AuthInfo, Cluster, ExecAuthCluster, ExecConfig, ExecInteractiveMode};
use secrecy::SecretString;
use serde::Deserialize;

use super::error::ClusterError;

/// Held by the plugin that may ask the person.
static ASKING: Mutex<()> = Mutex::new(());
/// Process ids of the plugins that run.
static RUNNING: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());

/// Ends the plugins that run: nobody waits for what they would say.
pub(super) fn end_those_running() {
    for id in RUNNING.lock().unwrap_or_else(PoisonError::into_inner).iter() {
        #[cfg(unix)]
        if let Some(id) = i32::try_from(*id).ok().and_then(rustix::process::Pid::from_raw) {
            let _ = rustix::process::kill_process(id, rustix::process::Signal::TERM);
        }
        #[cfg(not(unix))]
        let _ = id;
    }
}

/// Runs a plugin to its end.
fn run_to_end(mut command: Command) -> std::io::Result<Output> {
    let running = || RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
    let child = command.stdout(Stdio::piped()).spawn()?;
    let id = child.id();
    running().insert(id);
    let output = child.wait_with_output();
    running().remove(&id);
    output
}

/// What a credential plugin prints.
#[derive(Deserialize)]
struct ExecCredential {
    status: Option<ExecCredentialStatus>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ExecCredentialStatus {
    token: Option<String>,
    client_certificate_data: Option<String>,
    client_key_data: Option<String>,
}

/// Runs the user's credential plugin, if it has one, and puts what it gives in its place.
///
/// kube would run it, too: once for the token and once more for a certificate, with a question to the person each time;
/// and it prints the plugin's output, credentials and all, where it fails, but not the `installHint`.
/// Source: client-go `plugin/pkg/client/auth/exec/exec.go`.
pub(super) fn run(user: &mut AuthInfo, cluster: &Cluster, interactive: bool) -> Result<(), ClusterError> {
    let Some(exec) = user.exec.take() else { return Ok(()) };
    let command = exec.command.clone().unwrap_or_default();
    let failed = |why: String| ClusterError::Plugin { command: command.clone(), why, hint: None };
    let stdin = asks(&exec, interactive).map_err(failed)?;
    // One question at a time, where several clusters are read side by side.
    let _alone = stdin.then(|| ASKING.lock().unwrap_or_else(PoisonError::into_inner));
    let prepared = prepare(&exec, &command, cluster, stdin).map_err(failed)?;
    let output = run_to_end(prepared).map_err(|error| match error.kind() {
        ErrorKind::NotFound => ClusterError::Plugin {
            command: command.clone(),
            why: "is not installed".to_owned(),
            hint: exec.install_hint.as_deref().map(on_one_line).filter(|hint| !hint.is_empty()),
        },
        _ => failed(format!("cannot be run: {error}")),
    })?;
    if !output.status.success() {
        return Err(failed(match output.status.code() {
            Some(code) => format!("failed with exit code {code}"),
            None => "was ended by a signal".to_owned(),
        }));
    }
    // A parser's words may quote the credentials: they are left out.
    let credential: ExecCredential = serde_json::from_slice(&output.stdout)
        .ok()
        .or_else(|| serde_saphyr::from_str(std::str::from_utf8(&output.stdout).ok()?).ok())
        .ok_or_else(|| failed("printed something that is not an ExecCredential".to_owned()))?;
    let status = credential.status.ok_or_else(|| failed("printed an ExecCredential without a status".to_owned()))?;
    take(status, user).map_err(failed)
}

/// Whether the plugin may ask the person.
fn asks(exec: &ExecConfig, interactive: bool) -> Result<bool, String> {
    match exec.interactive_mode {
        Some(ExecInteractiveMode::Never) => Ok(false),
        Some(ExecInteractiveMode::Always) if !interactive => {
            Err("has questions to ask (interactiveMode: Always), and standard input is not a terminal".to_owned())
        }
        _ => Ok(interactive),
    }
}

fn prepare(exec: &ExecConfig, command: &str, cluster: &Cluster, asks: bool) -> Result<Command, String> {
    if command.is_empty() {
        return Err("has no command in the kubeconfig".to_owned());
    }
    let mut info = serde_json::json!({
        "apiVersion": exec.api_version,
        "kind": "ExecCredential",
        "spec": { "interactive": asks },
    });
    if exec.provide_cluster_info {
        let cluster = ExecAuthCluster::try_from(cluster).map_err(|error| format!("needs the cluster: {error}"))?;
        info["spec"]["cluster"] =
            serde_json::to_value(cluster).map_err(|error| format!("needs the cluster: {error}"))?;
    }
    let mut prepared = Command::new(command);
    prepared.args(exec.args.iter().flatten());
    for variable in exec.env.iter().flatten() {
        if let (Some(name), Some(value)) = (variable.get("name"), variable.get("value")) {
            prepared.env(name, value);
        }
    }
    prepared.env("KUBERNETES_EXEC_INFO", info.to_string());
    prepared.stdin(if asks { Stdio::inherit() } else { Stdio::null() }).stderr(Stdio::inherit());
    Ok(prepared)
}

fn take(status: ExecCredentialStatus, user: &mut AuthInfo) -> Result<(), String> {
    let some = |text: Option<String>| text.filter(|text| !text.is_empty());
    let token = some(status.token);
    match (some(status.client_certificate_data), some(status.client_key_data)) {
        (Some(certificate), Some(key)) => {
            user.client_certificate = None;
            user.client_certificate_data = Some(base64(&certificate));
            user.client_key = None;
            user.client_key_data = Some(SecretString::from(base64(&key)));
        }
        (None, None) if token.is_none() => return Err("printed neither a token nor a client certificate".to_owned()),
        (None, None) => {}
        _ => return Err("printed a client certificate or key without the other".to_owned()),
    }
    if let Some(token) = token {
        user.token = Some(SecretString::from(token));
        user.token_file = None;
    }
    Ok(())
}

fn base64(text: &str) -> String {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.encode(text)
}

fn on_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
