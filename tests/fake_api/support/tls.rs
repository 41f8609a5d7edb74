//! Certificates made for one test.

use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use rustls::ServerConfig;
use rustls::pki_types::PrivateKeyDer;
use rustls::server::WebPkiClientVerifier;

/// An authority, for servers and clients alike.
pub(crate) struct Authority {
    issuer: Issuer<'static, KeyPair>,
    certificate: rcgen::Certificate,
}

/// A certificate and its key, in PEM.
pub(crate) struct Identity {
    pub(crate) certificate: String,
    pub(crate) key: String,
}

impl Authority {
    pub(crate) fn new() -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, "test authority");
        let key = KeyPair::generate().unwrap();
        let certificate = params.self_signed(&key).unwrap();
        Self { issuer: Issuer::new(params, key), certificate }
    }

    /// Its certificate in PEM, and that as base64 as a kubeconfig holds it.
    pub(crate) fn pem(&self) -> String {
        self.certificate.pem()
    }

    pub(crate) fn base64(&self) -> String {
        base64(&self.pem())
    }

    /// A server with a certificate for these names, which takes clients with a certificate of this authority and those
    /// without any.
    pub(crate) fn server(&self, names: &[&str]) -> ServerConfig {
        self.server_with(names, |_| {})
    }

    /// The same, with a certificate of the last century.
    pub(crate) fn expired_server(&self, names: &[&str]) -> ServerConfig {
        self.server_with(names, |params| {
            (params.not_before, params.not_after) =
                (rcgen::date_time_ymd(1998, 1, 1), rcgen::date_time_ymd(1999, 1, 1));
        })
    }

    fn server_with(&self, names: &[&str], change: impl FnOnce(&mut CertificateParams)) -> ServerConfig {
        let names: Vec<String> = names.iter().map(ToString::to_string).collect();
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(names).unwrap();
        change(&mut params);
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        let mut roots = rustls::RootCertStore::empty();
        roots.add(self.certificate.der().clone()).unwrap();
        let clients = WebPkiClientVerifier::builder(Arc::new(roots)).allow_unauthenticated().build().unwrap();
        let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
        ServerConfig::builder()
            .with_client_cert_verifier(clients)
            .with_single_cert(vec![certificate.der().clone()], key)
            .unwrap()
    }

    pub(crate) fn client(&self) -> Identity {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.distinguished_name.push(DnType::CommonName, "someone");
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        Identity { certificate: certificate.pem(), key: key.serialize_pem() }
    }
}

pub(crate) fn base64(text: &str) -> String {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.encode(text)
}
