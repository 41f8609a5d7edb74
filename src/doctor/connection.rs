use crate::report::{
    DoctorAuthority, DoctorConnection, DoctorFile, DoctorFileState, DoctorKubeconfig, DoctorNamedBy, DoctorProxy,
    DoctorProxyReason, DoctorSignIn, DoctorSignInBy, DoctorTls,
};
use crate::source::cluster::{Authority, NamedBy, ProxyReason, ProxyUsed, SignIn, Way};

pub(super) fn kubeconfig(way: &Way) -> DoctorKubeconfig {
    let file = |file: &crate::source::cluster::LookedAt| DoctorFile {
        path: file.path.clone(),
        state: match (&file.error, file.there) {
            (Some(_), _) => DoctorFileState::Unreadable,
            (None, true) => DoctorFileState::Read,
            (None, false) => DoctorFileState::Absent,
        },
        message: file.error.clone(),
    };
    DoctorKubeconfig {
        named_by: match way.named_by {
            NamedBy::Flag => DoctorNamedBy::Flag,
            NamedBy::Variable => DoctorNamedBy::Variable,
            NamedBy::Default => DoctorNamedBy::Default,
        },
        files: way.files.iter().map(file).collect(),
        contexts: way.contexts,
    }
}

/// `None` where no server is known.
pub(super) fn of(way: Way) -> Option<DoctorConnection> {
    let server = way.server?;
    Some(DoctorConnection {
        context: way.name.unwrap_or_else(|| server.clone()),
        server,
        secure: way.secure,
        sign_in: way.sign_in.into_iter().map(sign_in).collect(),
        impersonates: way.impersonates,
        proxy: proxy(way.proxy?),
        tls: way.authority.filter(|_| way.secure).map(|authority| tls(authority, way.tls_server_name)),
    })
}

fn sign_in(sign_in: SignIn) -> DoctorSignIn {
    let (by, name) = match sign_in {
        SignIn::ServiceAccount => (DoctorSignInBy::ServiceAccount, None),
        SignIn::Plugin(name) => (DoctorSignInBy::Plugin, Some(name)),
        SignIn::Token => (DoctorSignInBy::Token, None),
        SignIn::TokenFile(path) => (DoctorSignInBy::TokenFile, Some(path)),
        SignIn::Certificate => (DoctorSignInBy::Certificate, None),
        SignIn::Password => (DoctorSignInBy::Password, None),
        SignIn::Provider(name) => (DoctorSignInBy::Provider, Some(name)),
    };
    DoctorSignIn { by, name }
}

fn proxy(used: ProxyUsed) -> DoctorProxy {
    let (because, variable) = match used.because {
        ProxyReason::Flag => (DoctorProxyReason::Flag, None),
        ProxyReason::Kubeconfig => (DoctorProxyReason::Kubeconfig, None),
        ProxyReason::Variable(name) => (DoctorProxyReason::Variable, Some(name)),
        ProxyReason::Unset => (DoctorProxyReason::NoneSet, None),
        ProxyReason::Loopback => (DoctorProxyReason::Loopback, None),
        ProxyReason::Excepted(name) => (DoctorProxyReason::NoProxy, Some(name)),
    };
    DoctorProxy { url: used.url, because, variable }
}

fn tls(authority: Authority, server_name: Option<String>) -> DoctorTls {
    let (authority, file) = match authority {
        Authority::Given => (DoctorAuthority::Given, None),
        Authority::File(path) => (DoctorAuthority::File, Some(path)),
        Authority::System => (DoctorAuthority::System, None),
        Authority::Unchecked => (DoctorAuthority::Unchecked, None),
    };
    DoctorTls { authority, file, server_name }
}
