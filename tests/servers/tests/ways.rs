//! The ways to a server: a password, a Unix socket, TLS.

use std::io;
use std::io::Read;
use std::io::Write;
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;

use breakerbox_servers::Certificates;
use breakerbox_servers::Error;
use breakerbox_servers::LIMIT;
use breakerbox_servers::Server;
use breakerbox_servers::installed;
use rustls::ClientConfig;
use rustls::ClientConnection;
use rustls::RootCertStore;
use rustls::StreamOwned;
use rustls::crypto::ring;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::PrivateKeyDer;
use rustls::pki_types::pem::PemObject;

use crate::client::Client;

#[test]
fn a_password_is_asked_for_and_stands_in_the_url() {
    let Some(server) = installed(Server::options().password("swordfish").start()) else {
        return;
    };
    let mut client = Client::of(server.address());
    assert!(client.ask("PING").starts_with("-NOAUTH"));
    assert_eq!(client.ask("AUTH swordfish"), "+OK");
    let url = format!("redis://:swordfish@127.0.0.1:{}", server.port());
    assert_eq!(server.url(), url);
}

#[test]
fn a_unix_socket_is_served() {
    let Some(server) = installed(Server::options().unix_socket().start()) else {
        return;
    };
    let mut stream = UnixStream::connect(server.unix_socket()).unwrap();
    assert_eq!(pong(&mut stream).unwrap(), "+PONG\r\n");
    let path = server.unix_url();
    assert!(path.starts_with("redis+unix:///"), "{path}");
}

#[test]
fn tls_is_served_to_those_who_trust_its_authority() {
    let Some(server) = with_tls(Server::options().tls().start()) else {
        return;
    };
    let own = server.certificates();
    assert_eq!(pong(&mut tls(&server, own, None)).unwrap(), "+PONG\r\n");
    let other = Server::options().tls().start().unwrap();
    let stranger = pong(&mut tls(&server, other.certificates(), None));
    assert!(
        stranger
            .unwrap_err()
            .to_string()
            .contains("invalid peer certificate")
    );
    // A port for TLS speaks nothing else.
    let mut plain = TcpStream::connect(("127.0.0.1", server.tls_port())).unwrap();
    assert!(pong(&mut plain).map_or(true, |answer| answer.is_empty()));
}

#[test]
fn a_client_certificate_can_be_asked_for() {
    let options = Server::options().tls_with_client_certificates();
    let Some(server) = with_tls(options.start()) else {
        return;
    };
    let own = server.certificates();
    let known = pong(&mut tls(&server, own, Some(own)));
    assert_eq!(known.unwrap(), "+PONG\r\n");
    assert!(pong(&mut tls(&server, own, None)).is_err());
}

/// A server with TLS, unless the one that is installed has none, which is said.
fn with_tls(started: Result<Server, Error>) -> Option<Server> {
    match started {
        Err(error @ Error::WithoutTls { .. }) => {
            eprintln!("skipped: {error}");
            None
        }
        other => installed(other),
    }
}

fn pong(stream: &mut (impl Read + Write)) -> io::Result<String> {
    stream.write_all(b"PING\r\n")?;
    let mut answer = [0; 7];
    let mut heard = 0;
    while heard < answer.len() {
        match stream.read(&mut answer[heard..])? {
            0 => break,
            more => heard += more,
        }
    }
    Ok(String::from_utf8_lossy(&answer[..heard]).into_owned())
}

fn tls(
    server: &Server,
    trusted: &Certificates,
    client: Option<&Certificates>,
) -> StreamOwned<ClientConnection, TcpStream> {
    let mut roots = RootCertStore::empty();
    roots
        .add(certificate(&trusted.authority))
        .expect("a certificate");
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("a version")
        .with_root_certificates(roots);
    let config = match client {
        Some(files) => config
            .with_client_auth_cert(
                vec![certificate(&files.client)],
                PrivateKeyDer::from_pem_file(&files.client_key).expect("a key"),
            )
            .expect("the key of the certificate"),
        None => config.with_no_client_auth(),
    };
    let name = "127.0.0.1".try_into().expect("a name");
    let connection = ClientConnection::new(Arc::new(config), name).expect("a connection");
    let stream = TcpStream::connect(("127.0.0.1", server.tls_port())).expect("somebody listens");
    stream.set_read_timeout(Some(LIMIT)).expect("a timeout");
    StreamOwned::new(connection, stream)
}

fn certificate(file: &Path) -> CertificateDer<'static> {
    CertificateDer::from_pem_file(file).expect("a certificate")
}
