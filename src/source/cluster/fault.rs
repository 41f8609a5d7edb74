use std::error::Error;
use std::fmt;
use std::io;
use std::time::Duration;

use serde::Deserialize;

use super::error::ClusterError;
use super::reach::Reach;

/// What went wrong with one request.
#[derive(Debug)]
pub(super) enum Fault {
    /// The server answered with an error.
    Status(Status),
    /// Nothing listens at the address.
    Refused,
    /// The connection broke.
    Dropped(String),
    /// Nothing came for this long.
    Timeout(Duration),
    /// A certificate was not accepted.
    Tls { why: String, hint: Option<String> },
    /// The server cannot be reached, or not through the proxy.
    Unreachable(String),
    /// Nobody knows an address for the server's name, or the proxy's.
    Lookup(String),
    /// Credentials could not be had.
    Credentials(String),
    /// A good answer with something unexpected in it.
    Answer(String),
    /// The user does not wait for the answer.
    Interrupted,
}

/// An error that the server answered with.
#[derive(Debug, Default)]
pub(super) struct Status {
    pub(super) code: u16,
    pub(super) reason: String,
    pub(super) message: String,
    /// A token with which an expired list can be continued, though not as the same snapshot.
    /// Source: Kubernetes `apiserver/pkg/storage/etcd3`, "inconsistent continue token".
    pub(super) continue_token: Option<String>,
    pub(super) retry_after: Option<Duration>,
}

/// The longest pause that a server is granted.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// Characters of an answer that is no `Status`.
const SHOWN: usize = 200;
/// Of a `Status`: webhooks quote whole fields before they say what is wrong with them.
const SHOWN_OF_STATUS: usize = 4000;

impl Status {
    /// Reads an error's body: a `Status`, or whatever a load balancer says.
    pub(super) fn read(code: u16, retry_after: Option<&str>, body: &[u8]) -> Self {
        #[derive(Deserialize)]
        #[serde(default)]
        #[derive(Default)]
        struct Body {
            kind: String,
            reason: String,
            message: String,
            metadata: Metadata,
        }
        #[derive(Deserialize, Default)]
        #[serde(default)]
        struct Metadata {
            r#continue: String,
        }
        let retry_after = retry_after.and_then(|text| text.trim().parse().ok()).map(Duration::from_secs);
        match serde_json::from_slice::<Body>(body) {
            Ok(body) if body.kind == "Status" => Self {
                code,
                reason: body.reason,
                message: if body.message.is_empty() {
                    canonical(code)
                } else {
                    line(body.message.as_bytes(), SHOWN_OF_STATUS)
                },
                continue_token: Some(body.metadata.r#continue).filter(|token| !token.is_empty()),
                retry_after,
            },
            _ => {
                let text = first_line(body);
                let message = if text.is_empty() { canonical(code) } else { text };
                Self { code, message, retry_after, ..Self::default() }
            }
        }
    }
}

fn canonical(code: u16) -> String {
    let status = http::StatusCode::from_u16(code).ok();
    status.and_then(|status| status.canonical_reason()).unwrap_or("an error without a word").to_owned()
}

/// The first line of a text that says something, without HTML's tags and control characters, cut short.
pub(super) fn first_line(bytes: &[u8]) -> String {
    line(bytes, SHOWN)
}

fn line(bytes: &[u8], most: usize) -> String {
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(64 << 10)]);
    let mut plain = String::new();
    let mut rest = text.as_ref();
    while let Some((before, tag)) = rest.split_once('<') {
        plain += before;
        // Something that opens like a tag and never closes is text.
        let Some((inside, after)) = tag.split_once('>') else {
            plain.push('<');
            rest = tag;
            break;
        };
        let name = inside.split_ascii_whitespace().next().unwrap_or_default().to_ascii_lowercase();
        rest = after;
        if name == "style" || name == "script" {
            rest = after.find(&format!("</{name}")).map_or("", |end| &after[end..]);
        }
    }
    plain += rest;
    let line = plain.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    line.chars().map(|c| if c.is_control() { ' ' } else { c }).take(most).collect()
}

impl Fault {
    /// How long to wait before another try, if one may help.
    pub(super) fn pause(&self, otherwise: Duration) -> Option<Duration> {
        match self {
            Self::Status(status) if matches!(status.code, 429 | 503 | 504) => {
                Some(status.retry_after.unwrap_or(otherwise).min(LONGEST_PAUSE))
            }
            Self::Dropped(_) => Some(otherwise),
            _ => None,
        }
    }

    /// The HTTP status, where there is one.
    pub(super) fn code(&self) -> Option<u16> {
        match self {
            Self::Status(status) => Some(status.code),
            _ => None,
        }
    }

    /// What kube says went wrong, by the errors beneath.
    pub(super) fn of(error: &kube::Error) -> Self {
        if let kube::Error::Auth(_) = error {
            return Self::Credentials("the credentials could not be renewed".to_owned());
        }
        let mut texts: Vec<String> = Vec::new();
        let mut next: Option<&(dyn Error + 'static)> = Some(error);
        while let Some(current) = next {
            if let Some(known) = known(current) {
                return known;
            }
            next = current.source();
            // Only the innermost says something; those around it repeat it or say "error".
            texts.push(current.to_string());
        }
        let text = texts.pop().unwrap_or_default();
        // The words of hyper-util's connector, around those of the system's resolver.
        if texts.iter().any(|text| text == "dns error") {
            return Self::Lookup(text);
        }
        if texts.iter().any(|text| text.contains("tunnel error") || text.contains("SOCKS error"))
            || text.contains("tunnel error")
            || text.contains("SOCKS error")
        {
            return Self::Unreachable(format!("the proxy did not let the connection through ({text})"));
        }
        Self::Unreachable(text)
    }
}

/// An error that says by itself what went wrong.
fn known(error: &(dyn Error + 'static)) -> Option<Fault> {
    if let Some(error) = error.downcast_ref::<rustls::Error>() {
        return Some(of_tls(error));
    }
    if let Some(error) = error.downcast_ref::<io::Error>() {
        // `source` passes over the error that an I/O error is made of, and gives that one's source.
        if let Some(known) = error.get_ref().and_then(|inner| known(inner)) {
            return Some(known);
        }
        return match error.kind() {
            io::ErrorKind::ConnectionRefused => Some(Fault::Refused),
            io::ErrorKind::TimedOut => Some(Fault::Unreachable("no connection within 10 s".to_owned())),
            io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::BrokenPipe
            | io::ErrorKind::UnexpectedEof => Some(Fault::Dropped("the connection broke".to_owned())),
            _ => None,
        };
    }
    // hyper's own errors are known by their words only: it is not a dependency of this crate.
    match error.to_string().as_str() {
        "connection closed before message completed" | "connection error" if error.source().is_none() => {
            Some(Fault::Dropped("the connection broke".to_owned()))
        }
        text if text.starts_with("end of file before message length reached") => {
            Some(Fault::Dropped("the answer was cut off".to_owned()))
        }
        _ => None,
    }
}

fn of_tls(error: &rustls::Error) -> Fault {
    use rustls::CertificateError as Certificate;
    let hint = match error {
        // A cluster made anew has an authority of the same name with another key: a bad signature.
        rustls::Error::InvalidCertificate(Certificate::UnknownIssuer | Certificate::BadSignature) => Some(
            "the kubeconfig's certificate-authority (or --certificate-authority) is not the one that signed the \
             server's certificate; a self-signed certificate must itself be marked as an authority",
        ),
        rustls::Error::InvalidCertificate(
            Certificate::NotValidForName | Certificate::NotValidForNameContext { .. },
        ) => Some("where the certificate is right and the address is not, name its host with --tls-server-name"),
        rustls::Error::InvalidCertificate(
            Certificate::Expired
            | Certificate::ExpiredContext { .. }
            | Certificate::NotValidYet
            | Certificate::NotValidYetContext { .. },
        ) => Some("compare the clocks, or renew the server's certificate"),
        rustls::Error::InvalidMessage(_) => Some("the server does not speak TLS there: is it http:// ?"),
        rustls::Error::AlertReceived(_) => Some("the server refused the connection: is the client certificate right?"),
        _ => None,
    };
    Fault::Tls { why: error.to_string(), hint: hint.map(ToOwned::to_owned) }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Status(status) => write!(f, "the server answered {}: {}", status.code, status.message),
            Self::Refused => f.write_str("the connection was refused"),
            Self::Dropped(why)
            | Self::Unreachable(why)
            | Self::Lookup(why)
            | Self::Credentials(why)
            | Self::Tls { why, .. } => f.write_str(why),
            Self::Timeout(waited) => write!(f, "no answer within {} s", waited.as_secs_f64()),
            Self::Answer(found) => write!(f, "the server answered with something else: {found}"),
            Self::Interrupted => f.write_str("interrupted"),
        }
    }
}

/// What was asked for, for messages.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked<'a> {
    /// Plural name and group, as RBAC names them: `jobs.batch`.
    pub(super) resource: &'a str,
    /// Where; `None` for all namespaces.
    pub(super) namespace: Option<&'a str>,
}

impl Fault {
    /// The error that the user sees.
    pub(super) fn into_error(self, reach: &Destination, asked: Asked) -> ClusterError {
        let host = reach.host.clone();
        match self {
            Self::Status(status) if status.code == 401 => ClusterError::Unauthorized { message: status.message },
            Self::Status(status) if status.code == 403 => ClusterError::Denied {
                resource: asked.resource.to_owned(),
                verbs: "get, list",
                namespace: asked.namespace.map(ToOwned::to_owned),
                message: status.message,
            },
            Self::Status(Status { code, reason, message, .. }) => {
                ClusterError::Server { host, code, reason, what: asked.resource.to_owned(), message }
            }
            Self::Refused => match &reach.proxy {
                Some(proxy) => ClusterError::Refused { host: proxy.clone(), proxy: true },
                None => ClusterError::Refused { host, proxy: false },
            },
            Self::Timeout(waited) => {
                ClusterError::Timeout { host, seconds: waited.as_secs_f64(), what: asked.resource.to_owned() }
            }
            Self::Tls { why, hint } => ClusterError::Tls { host, why, hint },
            Self::Lookup(why) => match &reach.proxy {
                Some(proxy) => ClusterError::Lookup { host: proxy.clone(), proxy: true, why },
                None => ClusterError::Lookup { host, proxy: false, why },
            },
            Self::Dropped(why) | Self::Unreachable(why) => {
                let through = reach.proxy.as_ref().map_or_else(String::new, |proxy| format!(" through {proxy}"));
                ClusterError::Unreachable { host: format!("{host}{through}"), why }
            }
            Self::Credentials(why) => ClusterError::Setting { setting: "the kubeconfig's user".to_owned(), why },
            Self::Interrupted => ClusterError::Interrupted { what: asked.resource.to_owned() },
            Self::Answer(found) => ClusterError::Answer { host, what: asked.resource.to_owned(), found },
        }
    }
}

/// Where requests go, for messages.
#[derive(Clone, Debug)]
pub(super) struct Destination {
    pub(super) host: String,
    pub(super) proxy: Option<String>,
}

impl From<&Reach> for Destination {
    fn from(reach: &Reach) -> Self {
        Self { host: reach.host.clone(), proxy: reach.proxy.clone() }
    }
}

/// Why kube could not make a client: of its words only those that cannot hold a secret.
pub(super) fn client_error(error: &kube::Error) -> ClusterError {
    use kube::client::AuthError;
    let user = "the kubeconfig's user";
    match error {
        kube::Error::Auth(AuthError::Oidc(_)) => {
            super::reach::setting(user, "its OpenID Connect token cannot be used or renewed: log in again")
        }
        kube::Error::Auth(_) => super::reach::setting(user, "its credentials cannot be used"),
        kube::Error::InferKubeconfig(error) => super::reach::setting("the client certificate", error.to_string()),
        kube::Error::RustlsTls(error) => super::reach::setting("the TLS settings", error.to_string()),
        error => ClusterError::Process(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_load_balancers_page_becomes_one_short_line() {
        let long = format!("<p>{}", "x".repeat(1000));
        for (body, expected) in [
            ("404 page not found\n", "404 page not found"),
            ("", "Bad Gateway"),
            ("<html>\n<head><style>p {}\n</style></head><body>\n<h1>502 Bad\tGateway</h1>\nnginx", "502 Bad Gateway"),
            ("a < b", "a < b"),
            ("<br>\u{1b}[31mred", " [31mred"),
            (&long, &"x".repeat(200)),
            (r#"{"kind":"Other","message":"m"}"#, r#"{"kind":"Other","message":"m"}"#),
            (r#"{"kind":"Status","message":"m"}"#, "m"),
            (r#"{"kind":"Status"}"#, "Bad Gateway"),
        ] {
            assert_eq!(Status::read(502, None, body.as_bytes()).message, expected, "{body}");
        }
    }

    #[test]
    fn only_what_may_pass_is_tried_again() {
        let first = Duration::from_millis(200);
        let status = |code, retry_after| Fault::Status(Status::read(code, retry_after, b""));
        for (fault, pause) in [
            (status(429, Some("3")), Some(Duration::from_secs(3))),
            (status(429, Some("3000")), Some(LONGEST_PAUSE)),
            (status(503, None), Some(first)),
            (status(504, Some("soon")), Some(first)),
            (Fault::Dropped(String::new()), Some(first)),
            (status(500, None), None),
            (status(401, None), None),
            (Fault::Refused, None),
            (Fault::Timeout(first), None),
        ] {
            assert_eq!(fault.pause(first), pause, "{fault}");
        }
    }
}
