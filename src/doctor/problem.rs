use crate::report::{DoctorProblem, DoctorStep, DoctorStepName, DoctorStepState};
use crate::source::cluster::{ClusterError, SignIn, Way};

const STEPS: [DoctorStepName; 9] = [
    DoctorStepName::Kubeconfig,
    DoctorStepName::Context,
    DoctorStepName::Settings,
    DoctorStepName::Credentials,
    DoctorStepName::NameLookup,
    DoctorStepName::Connection,
    DoctorStepName::Tls,
    DoctorStepName::Answer,
    DoctorStepName::SignIn,
];

/// How far it went.
pub(super) fn steps(problem: Option<&DoctorProblem>) -> Vec<DoctorStep> {
    let state = |name| match problem {
        Some(problem) if problem.step == name => DoctorStepState::Failed,
        Some(problem) if problem.step < name => DoctorStepState::NotReached,
        _ => DoctorStepState::Passed,
    };
    STEPS.into_iter().map(|name| DoctorStep { name, state: state(name) }).collect()
}

/// What an error means, and what to do.
pub(super) fn of(error: &ClusterError, way: &Way) -> DoctorProblem {
    use DoctorStepName as Step;
    let behind_proxy = way.proxy.as_ref().is_some_and(|proxy| proxy.url.is_some());
    let (step, message, fix) = match error {
        ClusterError::NoKubeconfig { .. } => (
            Step::Kubeconfig,
            "no kubeconfig is there, and this is not a pod in a cluster".to_owned(),
            "name one with --kubeconfig or KUBECONFIG, or have it made by what made the cluster; a dump is read without: \
             kubectl sigapps failures -f FILE"
                .to_owned(),
        ),
        ClusterError::UnreadableKubeconfig { .. } => {
            (Step::Kubeconfig, error.to_string(), "mend the file, or name another with --kubeconfig".to_owned())
        }
        ClusterError::NoSuchContext { .. }
        | ClusterError::NoCurrentContext { .. }
        | ClusterError::NoSuchEntry { .. } => (
            Step::Context,
            error.to_string(),
            "kubectl config get-contexts lists what there is; choose with --context, or for good with kubectl config \
             use-context NAME"
                .to_owned(),
        ),
        ClusterError::Setting { setting, .. } => {
            let of_user = ["the token", "the kubeconfig's user", "the kubeconfig user"];
            let step = if of_user.iter().any(|of| setting.starts_with(of)) { Step::Credentials } else { Step::Settings };
            (step, error.to_string(), "correct it in the kubeconfig, or give the flag that overrides it".to_owned())
        }
        ClusterError::Plugin { command, why, hint } => {
            (Step::Credentials, format!("the credential plugin {command:?} {why}"), plugin_fix(why, hint.as_deref()))
        }
        ClusterError::Lookup { proxy: true, .. } => (Step::NameLookup, error.to_string(), proxy_fix()),
        ClusterError::Lookup { .. } => (
            Step::NameLookup,
            error.to_string(),
            "look for a typing error in the server's name; is the network up, and a VPN where the name is known only \
             there?"
                .to_owned(),
        ),
        ClusterError::Refused { proxy: true, .. } => (Step::Connection, error.to_string(), proxy_fix()),
        ClusterError::Refused { .. } => (
            Step::Connection,
            error.to_string(),
            "is the cluster up, and is it the right port? A local cluster that was made anew has another one".to_owned(),
        ),
        ClusterError::Unreachable { .. } if behind_proxy => (Step::Connection, error.to_string(), proxy_fix()),
        ClusterError::Unreachable { .. } => (
            Step::Connection,
            error.to_string(),
            "is the network up, and a VPN or a proxy (HTTPS_PROXY, --proxy-url) where one is needed?".to_owned(),
        ),
        ClusterError::Tls { host, why, hint } => (
            Step::Tls,
            format!("no secure connection to {host}: {why}"),
            hint.clone().unwrap_or_else(|| "is there a TLS server at this address, or something in between?".to_owned()),
        ),
        ClusterError::Unauthorized { message } => {
            (Step::SignIn, format!("the server does not accept the credentials (401): {message}"), sign_in(way))
        }
        ClusterError::Timeout { .. } => (
            Step::Answer,
            error.to_string(),
            "the server is overloaded, or something in between holds the answer back; --request-timeout=60s waits longer"
                .to_owned(),
        ),
        ClusterError::Answer { .. } => (
            Step::Answer,
            error.to_string(),
            "is it a Kubernetes API server? A page to log in, or a proxy's, is no answer of one".to_owned(),
        ),
        ClusterError::Process(_) => (Step::Settings, error.to_string(), "it is the tool's own trouble".to_owned()),
        ClusterError::Server { .. }
        | ClusterError::Denied { .. }
        | ClusterError::NotFound { .. }
        | ClusterError::NoNamespace(_)
        | ClusterError::NotInstalled { .. }
        | ClusterError::Interrupted { .. } => (
            Step::Answer,
            error.to_string(),
            "the server, or what stands before it, has trouble of its own: kubectl get --raw /readyz?verbose tells more"
                .to_owned(),
        ),
    };
    DoctorProblem { step, message, fix }
}

fn plugin_fix(why: &str, hint: Option<&str>) -> String {
    match hint {
        Some(hint) => format!("as the kubeconfig says: {hint}"),
        None if why == "is not installed" => "install it, or put its folder on the PATH".to_owned(),
        None => "sign in again with the program that it belongs to; what it said stands above".to_owned(),
    }
}

fn proxy_fix() -> String {
    "is it the right proxy, and does it let this server through? With the server in NO_PROXY it is left out, unless the \
     kubeconfig or --proxy-url names it"
        .to_owned()
}

/// What to do where the server does not know the user.
pub(super) fn sign_in(way: &Way) -> String {
    if !way.secure {
        return "credentials are sent to an https server alone: correct the server's address".to_owned();
    }
    match way.sign_in.first() {
        None => "the kubeconfig's user has no credentials: sign in with what made the kubeconfig".to_owned(),
        Some(SignIn::Plugin(name)) => format!("sign in again with the program that {name} belongs to"),
        Some(SignIn::Token | SignIn::TokenFile(_)) => {
            "the token has expired, was taken back, or is another cluster's: get a new one".to_owned()
        }
        Some(SignIn::ServiceAccount) => {
            "the service account's token is another cluster's, or the account is gone: look at the pod's \
             serviceAccountName"
                .to_owned()
        }
        Some(SignIn::Certificate) => {
            "the client certificate has expired, or is another cluster's: get a new kubeconfig".to_owned()
        }
        Some(SignIn::Password) => "Kubernetes takes no passwords since 1.19: get another kubeconfig".to_owned(),
        Some(SignIn::Provider(name)) => format!("sign in again with the provider {name}"),
    }
}
