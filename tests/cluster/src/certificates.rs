//! A certificate authority for one run: a server certificate, one for webhooks, and one for each client.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose,
};

/// Writes everything into one folder; clients are signed on demand.
pub(crate) struct Authority {
    folder: PathBuf,
    issuer: Issuer<'static, KeyPair>,
    pem: String,
}

/// A client's certificate and key, both PEM.
pub(crate) struct Identity {
    pub(crate) certificate: String,
    pub(crate) key: String,
}

impl Authority {
    pub(crate) fn create(folder: &Path) -> Result<Self> {
        fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
        let key = KeyPair::generate()?;
        let mut params = named("cluster-tests", None);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages =
            vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign, KeyUsagePurpose::DigitalSignature];
        let pem = params.self_signed(&key)?.pem();
        fs::write(folder.join("ca.crt"), &pem)?;
        let authority = Self { folder: folder.to_owned(), issuer: Issuer::new(params, key), pem };
        authority.server("apiserver")?;
        authority.server("tls")?;
        authority.service_account_key()?;
        Ok(authority)
    }

    pub(crate) fn pem(&self) -> &str {
        &self.pem
    }

    pub(crate) fn path(&self, file: &str) -> PathBuf {
        self.folder.join(file)
    }

    /// `group` is what RBAC calls a group; `system:masters` may do everything.
    pub(crate) fn client(&self, user: &str, group: Option<&str>) -> Result<Identity> {
        let key = KeyPair::generate()?;
        let mut params = named(user, group);
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        let certificate = params.signed_by(&key, &self.issuer)?;
        Ok(Identity { certificate: certificate.pem(), key: key.serialize_pem() })
    }

    fn server(&self, name: &str) -> Result<()> {
        let key = KeyPair::generate()?;
        let mut params = CertificateParams::new(["127.0.0.1".to_owned(), "localhost".to_owned()])?;
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        let certificate = params.signed_by(&key, &self.issuer)?;
        fs::write(self.path(&format!("{name}.crt")), certificate.pem())?;
        fs::write(self.path(&format!("{name}.key")), key.serialize_pem())?;
        Ok(())
    }

    fn service_account_key(&self) -> Result<()> {
        let key = KeyPair::generate()?;
        fs::write(self.path("sa.key"), key.serialize_pem())?;
        fs::write(self.path("sa.pub"), key.public_key_pem())?;
        Ok(())
    }
}

fn named(user: &str, group: Option<&str>) -> CertificateParams {
    let mut params = CertificateParams::default();
    let mut name = DistinguishedName::new();
    if let Some(group) = group {
        name.push(DnType::OrganizationName, group);
    }
    name.push(DnType::CommonName, user);
    params.distinguished_name = name;
    params
}
