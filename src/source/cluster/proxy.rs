use std::net::IpAddr;

use super::environment::Environment;

/// The proxy that the environment asks for on the way to a server, or `None` for the direct way.
///
/// The rules are Go's, as kubectl follows them: `HTTPS_PROXY` or `https_proxy` for an `https` server, `HTTP_PROXY` or
/// `http_proxy` for an `http` one, except for what `NO_PROXY` or `no_proxy` names, `localhost` and loopback addresses.
/// Source: `golang.org/x/net/http/httpproxy`.
pub(super) fn from_environment(server: &http::Uri, environment: &Environment) -> Option<String> {
    match choose(server, environment) {
        Choice::Through { proxy, .. } => Some(proxy),
        Choice::Direct(_) => None,
    }
}

/// What the environment says of the way to a server.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Choice {
    /// Through the proxy that a variable names.
    Through { proxy: String, variable: &'static str },
    /// The direct way.
    Direct(Direct),
}

/// Why no proxy is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direct {
    /// No variable names one, or the server's address has no host.
    Unset,
    /// The server is this machine.
    Loopback,
    /// This variable names the server.
    Excepted(&'static str),
}

/// The same, with the reason.
pub(super) fn choose(server: &http::Uri, environment: &Environment) -> Choice {
    let secure = server.scheme_str() != Some("http");
    let names = if secure { ["HTTPS_PROXY", "https_proxy"] } else { ["HTTP_PROXY", "http_proxy"] };
    let set = |names: [&'static str; 2]| names.into_iter().find_map(|name| Some((name, environment.first(&[name])?)));
    let (Some((variable, proxy)), Some(host)) = (set(names), server.host()) else {
        return Choice::Direct(Direct::Unset);
    };
    let host = host.trim_matches(['[', ']']).to_lowercase();
    let port = server.port_u16().unwrap_or(if secure { 443 } else { 80 });
    if is_loopback(&host) {
        return Choice::Direct(Direct::Loopback);
    }
    match set(["NO_PROXY", "no_proxy"]) {
        Some((name, no_proxy)) if is_excepted(&host, port, no_proxy) => Choice::Direct(Direct::Excepted(name)),
        _ => Choice::Through { proxy: with_scheme(proxy), variable },
    }
}

/// A proxy without a scheme is an HTTP proxy.
pub(super) fn with_scheme(proxy: &str) -> String {
    if proxy.contains("://") { proxy.to_owned() } else { format!("http://{proxy}") }
}

/// Whether a host is this machine.
fn is_loopback(host: &str) -> bool {
    let address: Option<IpAddr> = host.parse().ok();
    host == "localhost" || address.is_some_and(|address| address.to_canonical().is_loopback())
}

/// Whether `NO_PROXY` names the host.
fn is_excepted(host: &str, port: u16, no_proxy: &str) -> bool {
    let address: Option<IpAddr> = host.parse().ok();
    no_proxy.split(',').map(|entry| entry.trim().to_lowercase()).any(|entry| excepts(&entry, host, address, port))
}

/// Whether one entry of `NO_PROXY` names the host.
fn excepts(entry: &str, host: &str, address: Option<IpAddr>, port: u16) -> bool {
    if entry.is_empty() {
        return false;
    }
    if entry == "*" {
        return true;
    }
    if let Some((network, bits)) = network(entry) {
        return address.is_some_and(|address| contains(network, bits, address));
    }
    let (name, its_port) = split_port(entry);
    if its_port.is_some_and(|its_port| its_port != port.to_string()) {
        return false;
    }
    if let Ok(its_address) = name.parse::<IpAddr>() {
        return address.is_some_and(|address| address.to_canonical() == its_address.to_canonical());
    }
    // Names never except addresses.
    if name.is_empty() || address.is_some() {
        return false;
    }
    let name = name.strip_prefix('*').filter(|rest| rest.starts_with('.')).unwrap_or(name);
    match name.strip_prefix('.') {
        Some(_) => host.ends_with(name),
        None => host == name || host.strip_suffix(name).is_some_and(|before| before.ends_with('.')),
    }
}

/// `host:port` or `[address]:port` in two; what has no port, an IPv6 address among it, stays whole.
fn split_port(entry: &str) -> (&str, Option<&str>) {
    if let Some((address, rest)) = entry.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        return (address, rest.strip_prefix(':').filter(|port| !port.is_empty()));
    }
    match entry.split_once(':') {
        Some((host, port)) if !port.contains(':') => (host, Some(port).filter(|port| !port.is_empty())),
        _ => (entry, None),
    }
}

/// A network as `address/bits`.
fn network(entry: &str) -> Option<(IpAddr, u32)> {
    let (address, bits) = entry.split_once('/')?;
    let address: IpAddr = address.parse().ok()?;
    let bits: u32 = bits.parse().ok()?;
    let most = if address.is_ipv4() { 32 } else { 128 };
    (bits <= most).then_some((address, bits))
}

fn contains(network: IpAddr, bits: u32, address: IpAddr) -> bool {
    match (network, address.to_canonical()) {
        (IpAddr::V4(network), IpAddr::V4(address)) => {
            let mask = u32::MAX.checked_shl(32 - bits).unwrap_or(0);
            network.to_bits() & mask == address.to_bits() & mask
        }
        (IpAddr::V6(network), IpAddr::V6(address)) => {
            let mask = u128::MAX.checked_shl(128 - bits).unwrap_or(0);
            network.to_bits() & mask == address.to_bits() & mask
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_proxy_is_read_by_the_rules_of_go() {
        let corp = "https://api.corp.example:6443";
        for (server, no_proxy, proxied) in [
            (corp, "", true),
            (corp, "*", false),
            (corp, "other,*", false),
            (corp, "corp.example", false),
            (corp, ".corp.example", false),
            (corp, "*.corp.example", false),
            (corp, "api.corp.example", false),
            (corp, "API.Corp.Example", false),
            (corp, "example", false),
            (corp, "p.example", true),
            (corp, ".api.corp.example", true),
            (corp, "api.corp.example:6443", false),
            (corp, "api.corp.example:443", true),
            (corp, "corp.example:", false),
            (corp, ":6443", true),
            (corp, " , localhost , corp.example , ", false),
            (corp, "localhost,127.0.0.1,", true),
            (corp, "10.0.0.0/8", true),
            ("https://corp.example", "corp.example", false),
            ("https://corp.example", ".corp.example", true),
            ("https://corp.example", "corp.example:443", false),
            ("http://corp.example", "corp.example:80", false),
            ("https://10.1.2.3:6443", "10.0.0.0/8", false),
            ("https://10.1.2.3:6443", "0.0.0.0/0", false),
            ("https://10.1.2.3:6443", "10.1.2.3/32", false),
            ("https://10.1.2.3:6443", "11.0.0.0/8", true),
            ("https://10.1.2.3:6443", "10.0.0.0/33", true),
            ("https://10.1.2.3:6443", "10.1.2.3", false),
            ("https://10.1.2.3:6443", "10.1.2.3:6443", false),
            ("https://10.1.2.3:6443", "10.1.2.3:443", true),
            ("https://10.1.2.3:6443", "2.3", true),
            ("https://[2001:db8::7]:6443", "2001:db8::7", false),
            ("https://[2001:db8::7]:6443", "[2001:db8::7]:6443", false),
            ("https://[2001:db8::7]:6443", "[2001:db8::7]:443", true),
            ("https://[2001:db8::7]:6443", "2001:db8::/32", false),
            ("https://[2001:db8::7]:6443", "::/0", false),
            ("https://localhost:6443", "", false),
            ("https://127.0.0.1:6443", "", false),
            ("https://127.8.8.8:6443", "", false),
            ("https://[::1]:6443", "", false),
        ] {
            let environment = Environment::default()
                .with("HTTPS_PROXY", "http://proxy:3128")
                .with("HTTP_PROXY", "http://proxy:3128")
                .with("NO_PROXY", no_proxy);
            let found = from_environment(&server.parse().unwrap(), &environment);
            assert_eq!(found.is_some(), proxied, "{server} with NO_PROXY={no_proxy:?}");
        }
    }

    #[test]
    fn the_variable_is_chosen_by_the_servers_scheme() {
        let plain = Environment::default();
        let both = plain.clone().with("HTTPS_PROXY", "proxy:3128").with("http_proxy", "socks5://other:1080");
        let lower = plain.clone().with("HTTPS_PROXY", "").with("https_proxy", "https://lower");
        for (environment, server, expected) in [
            (&plain, "https://corp.example", None),
            (&both, "https://corp.example", Some("http://proxy:3128")),
            (&both, "http://corp.example", Some("socks5://other:1080")),
            (&lower, "https://corp.example", Some("https://lower")),
            (&lower, "http://corp.example", None),
        ] {
            assert_eq!(from_environment(&server.parse().unwrap(), environment).as_deref(), expected, "{server}");
        }
    }

    #[test]
    fn why_a_proxy_is_used_or_not_is_told() {
        let plain = Environment::default();
        let set = plain.clone().with("https_proxy", "proxy:3128").with("no_proxy", "corp.example");
        let through = Choice::Through { proxy: "http://proxy:3128".into(), variable: "https_proxy" };
        for (environment, server, expected) in [
            (&plain, "https://other.example", Choice::Direct(Direct::Unset)),
            (&set, "http://other.example", Choice::Direct(Direct::Unset)),
            (&set, "https://other.example", through),
            (&set, "https://api.corp.example", Choice::Direct(Direct::Excepted("no_proxy"))),
            (&set, "https://localhost:6443", Choice::Direct(Direct::Loopback)),
        ] {
            assert_eq!(choose(&server.parse().unwrap(), environment), expected, "{server}");
        }
    }
}
