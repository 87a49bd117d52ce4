//! Certificates for servers and their clients.

use std::fs;
use std::path::Path;
use std::path::PathBuf;

use rcgen::BasicConstraints;
use rcgen::CertificateParams;
use rcgen::DnType;
use rcgen::ExtendedKeyUsagePurpose;
use rcgen::IsCa;
use rcgen::Issuer;
use rcgen::KeyPair;
use rcgen::KeyUsagePurpose;
use tempfile::TempDir;

use crate::error::Error;

/// Where the PEM files of a server with TLS are. Its authority is known to nobody else.
#[derive(Clone, Debug)]
pub struct Certificates {
    /// The certificate of the authority that signed the other two.
    pub authority: PathBuf,
    /// The server's, for `localhost` and `127.0.0.1`.
    pub server: PathBuf,
    /// The server's key.
    pub server_key: PathBuf,
    /// One for clients; whether it is asked for is said by the options.
    pub client: PathBuf,
    /// The key of the client.
    pub client_key: PathBuf,
}

impl Certificates {
    pub(crate) fn write(folder: &Path) -> Result<Self, Error> {
        let files = Self {
            authority: folder.join("authority.pem"),
            server: folder.join("server.pem"),
            server_key: folder.join("server.key"),
            client: folder.join("client.pem"),
            client_key: folder.join("client.key"),
        };
        let key = KeyPair::generate()?;
        let mut authority = named("the authority of a test", &[])?;
        authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        authority.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        fs::write(&files.authority, authority.self_signed(&key)?.pem())?;

        let issuer = Issuer::new(authority, key);
        let mut server = named("the server of a test", &["localhost", "127.0.0.1"])?;
        server.extended_key_usages = vec![
            ExtendedKeyUsagePurpose::ServerAuth,
            // Replicas and nodes of a cluster call others with the same certificate.
            ExtendedKeyUsagePurpose::ClientAuth,
        ];
        sign(&server, &issuer, &files.server, &files.server_key)?;
        let mut client = named("the client of a test", &[])?;
        client.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        sign(&client, &issuer, &files.client, &files.client_key)?;
        Ok(files)
    }
}

/// What several servers show, and each other want to see.
#[derive(Debug)]
pub(crate) struct Peers {
    pub(crate) certificates: Certificates,
    _folder: TempDir,
}

impl Peers {
    pub(crate) fn new() -> Result<Self, Error> {
        let folder = TempDir::with_prefix("breakerbox-")?;
        Ok(Self {
            certificates: Certificates::write(folder.path())?,
            _folder: folder,
        })
    }
}

fn named(name: &str, hosts: &[&str]) -> Result<CertificateParams, Error> {
    let hosts: Vec<String> = hosts.iter().map(|&host| host.into()).collect();
    let mut params = CertificateParams::new(hosts)?;
    params.distinguished_name.push(DnType::CommonName, name);
    Ok(params)
}

fn sign(
    params: &CertificateParams,
    issuer: &Issuer<'_, KeyPair>,
    certificate: &Path,
    key: &Path,
) -> Result<(), Error> {
    let pair = KeyPair::generate()?;
    fs::write(certificate, params.signed_by(&pair, issuer)?.pem())?;
    fs::write(key, pair.serialize_pem())?;
    Ok(())
}
