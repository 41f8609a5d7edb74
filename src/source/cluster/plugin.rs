use std::cell::Cell;
use std::collections::BTreeMap;
use std::io::{self, ErrorKind, Read as _};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use kube::config::{AuthInfo, Cluster, ExecAuthCluster, ExecConfig, ExecInteractiveMode};
use secrecy::SecretString;
use serde::Deserialize;

use super::environment::Environment;
use super::error::ClusterError;

/// Held by the plugin that may ask the person.
static ASKING: Mutex<()> = Mutex::new(());
/// Process ids of the plugins that run, each with who waits for it.
static RUNNING: Mutex<BTreeMap<u32, u64>> = Mutex::new(BTreeMap::new());
static WAITERS: AtomicU64 = AtomicU64::new(1);

thread_local! {
    /// Who waits for the plugins that this thread runs; 0 for nobody in particular.
    static WAITER: Cell<u64> = const { Cell::new(0) };
}

/// Somebody who waits for plugins that are run beside it, and may go before they have ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiter(u64);

impl Waiter {
    pub(super) fn new() -> Self {
        Self(WAITERS.fetch_add(1, Ordering::Relaxed))
    }

    /// Runs something that may run plugins, for this one.
    pub(super) fn run<T>(self, with_plugins: impl FnOnce() -> T) -> T {
        let before = WAITER.replace(self.0);
        let result = with_plugins();
        WAITER.set(before);
        result
    }

    /// Ends the plugins that run for it: nobody waits any more for what they would say.
    pub(super) fn leave(self) {
        let running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
        running.iter().filter(|(_, waiter)| **waiter == self.0).for_each(|(id, _)| terminate(*id));
    }
}

fn terminate(id: u32) {
    #[cfg(unix)]
    if let Some(id) = i32::try_from(id).ok().and_then(rustix::process::Pid::from_raw) {
        let _ = rustix::process::kill_process(id, rustix::process::Signal::TERM);
    }
    #[cfg(not(unix))]
    let _ = id;
}

/// Runs a plugin to its end.
fn run_to_end(mut command: Command) -> std::io::Result<Output> {
    let running = || RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
    let child = command.stdout(Stdio::piped()).spawn()?;
    let id = child.id();
    running().insert(id, WAITER.get());
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
pub(super) fn run(user: &mut AuthInfo, cluster: &Cluster, environment: &Environment) -> Result<(), ClusterError> {
    let Some(exec) = user.exec.take() else { return Ok(()) };
    let command = exec.command.clone().unwrap_or_default();
    let failed = |why: String| ClusterError::Plugin { command: command.clone(), why, hint: None };
    let stdin = asks(&exec, environment.interactive).map_err(failed)?;
    // One question at a time, where several clusters are read side by side.
    let _alone = stdin.then(|| ASKING.lock().unwrap_or_else(PoisonError::into_inner));
    let mut prepared = prepare(&exec, &command, cluster, stdin).map_err(failed)?;
    let ran = match environment.deadline {
        Some(deadline) => output_by(&mut prepared, deadline),
        None => run_to_end(prepared),
    };
    let output = ran.map_err(|error| match error.kind() {
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

/// What a program prints, unless it has not ended by then; then it is ended, with what it has started. It has no terminal:
/// where it opens one to ask something, it is stopped as a job in the background is.
fn output_by(command: &mut Command, deadline: Instant) -> io::Result<Output> {
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
    let (sender, receiver) = channel();
    let pipe = child.stdout.take();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let read = pipe.map_or(Ok(0), |mut pipe| pipe.read_to_end(&mut bytes));
        // Nobody listens any more once the time is over.
        let _ = sender.send(read.map(|_| bytes));
    });
    let Ok(stdout) = receiver.recv_timeout(deadline.saturating_duration_since(Instant::now())) else {
        end(&mut child);
        return Err(io::Error::new(ErrorKind::TimedOut, "it took too long"));
    };
    // One that has closed its output and goes on would be waited for.
    while child.try_wait()?.is_none() {
        if Instant::now() >= deadline {
            end(&mut child);
            return Err(io::Error::new(ErrorKind::TimedOut, "it took too long"));
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    Ok(Output { status: child.wait()?, stdout: stdout?, stderr: Vec::new() })
}

/// Ends a program that leads a process group, and all of the group.
fn end(child: &mut Child) {
    #[cfg(unix)]
    {
        let group = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw);
        let _ = group.map(|group| rustix::process::kill_process_group(group, rustix::process::Signal::KILL));
    }
    let _ = child.kill();
    let _ = child.wait();
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
