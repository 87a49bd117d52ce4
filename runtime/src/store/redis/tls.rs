//! TLS, where it is compiled in. Its provider of cryptography is its own: nothing global is
//! installed, and nothing that the program has installed is needed or disturbed.

#[cfg(feature = "redis-tls")]
pub(super) use with::Tls;
#[cfg(not(feature = "redis-tls"))]
pub(super) use without::Tls;

use std::path::PathBuf;

/// The files that a connection over TLS needs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Files {
    /// Whom to trust instead of the roots of the web.
    pub(super) ca: Option<PathBuf>,
    /// The certificate that the client shows, and its key.
    pub(super) client: Option<(PathBuf, PathBuf)>,
}

#[cfg(feature = "redis-tls")]
mod with {
    use std::io;
    use std::path::Path;
    use std::sync::Arc;

    use tokio::net::TcpStream;
    use tokio_rustls::TlsConnector;
    use tokio_rustls::rustls::ClientConfig;
    use tokio_rustls::rustls::RootCertStore;
    use tokio_rustls::rustls::crypto::ring;
    use tokio_rustls::rustls::pki_types::CertificateDer;
    use tokio_rustls::rustls::pki_types::PrivateKeyDer;
    use tokio_rustls::rustls::pki_types::ServerName;
    use tokio_rustls::rustls::pki_types::pem::PemObject;

    use super::Files;
    use crate::store::redis::address::AddressError;
    use crate::store::redis::stream::Socket;

    #[derive(Clone)]
    pub(in crate::store::redis) struct Tls(TlsConnector);

    impl Tls {
        pub(in crate::store::redis) fn load(files: &Files) -> Result<Self, AddressError> {
            let mut roots = RootCertStore::empty();
            match &files.ca {
                Some(path) => {
                    for certificate in certificates(path)? {
                        let added = roots.add(certificate);
                        added.map_err(|error| wrong(path, &error.to_string()))?;
                    }
                }
                None => roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned()),
            }
            let provider = Arc::new(ring::default_provider());
            let config = ClientConfig::builder_with_provider(provider)
                .with_safe_default_protocol_versions()
                .map_err(|error| AddressError::Certificate(error.to_string()))?
                .with_root_certificates(roots);
            let config = match &files.client {
                Some((certificate, key)) => {
                    let chain = certificates(certificate)?;
                    let key = PrivateKeyDer::from_pem_file(key)
                        .map_err(|error| wrong(key, &error.to_string()))?;
                    let config = config.with_client_auth_cert(chain, key);
                    config.map_err(|error| wrong(certificate, &error.to_string()))?
                }
                None => config.with_no_client_auth(),
            };
            Ok(Self(TlsConnector::from(Arc::new(config))))
        }

        pub(in crate::store::redis) async fn wrap(
            &self,
            host: &str,
            stream: TcpStream,
        ) -> io::Result<Box<dyn Socket>> {
            let name = ServerName::try_from(host.to_owned()).map_err(io::Error::other)?;
            Ok(Box::new(self.0.connect(name, stream).await?))
        }
    }

    fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, AddressError> {
        let read = CertificateDer::pem_file_iter(path).and_then(Iterator::collect);
        let read: Vec<_> = read.map_err(|error| wrong(path, &error.to_string()))?;
        if read.is_empty() {
            return Err(wrong(path, "it holds no certificate"));
        }
        Ok(read)
    }

    fn wrong(path: &Path, why: &str) -> AddressError {
        AddressError::Certificate(format!("{} cannot be used: {why}", path.display()))
    }
}

#[cfg(not(feature = "redis-tls"))]
mod without {
    use std::io;

    use tokio::net::TcpStream;

    use super::Files;
    use crate::store::redis::address::AddressError;
    use crate::store::redis::stream::Socket;

    /// There is none.
    #[derive(Clone)]
    pub(in crate::store::redis) enum Tls {}

    impl Tls {
        pub(in crate::store::redis) fn load(_: &Files) -> Result<Self, AddressError> {
            Err(AddressError::NoTls)
        }

        pub(in crate::store::redis) async fn wrap(
            &self,
            _: &str,
            _: TcpStream,
        ) -> io::Result<Box<dyn Socket>> {
            match *self {}
        }
    }
}
