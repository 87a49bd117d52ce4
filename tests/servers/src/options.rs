//! How a server is to be started.

use crate::error::Error;
use crate::server::Server;
use crate::tls::Certificates;

/// What a server is started with. [`Server::options`] has the defaults: `redis-server` on a
/// port of the loopback, nothing written to disk.
#[derive(Clone, Debug)]
#[must_use = "nothing is started before `start`"]
pub struct Options {
    pub(crate) program: &'static str,
    pub(crate) lines: Vec<String>,
    pub(crate) password: Option<String>,
    pub(crate) unix_socket: bool,
    pub(crate) tls: Option<ClientCertificate>,
    /// Shows these certificates instead of ones of its own, and speaks TLS to other servers.
    pub(crate) peers: Option<Certificates>,
    pub(crate) clock: bool,
    pub(crate) kind: Kind,
}

/// What a server with TLS wants of its clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ClientCertificate {
    Ignored,
    Required,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Single,
    Node,
    Sentinel,
}

impl Options {
    pub(crate) fn of(program: &'static str) -> Self {
        Self {
            program,
            lines: Vec::new(),
            password: None,
            unix_socket: false,
            tls: None,
            peers: None,
            clock: false,
            kind: Kind::Single,
        }
    }

    /// One more line of its configuration, which wins over the defaults: `maxmemory 1mb`,
    /// `appendonly yes`.
    pub fn config(mut self, line: &str) -> Self {
        self.lines.push(line.into());
        self
    }

    /// A user, by the rules of `ACL SETUSER`: `app on >secret ~* &* +@all -publish`.
    pub fn user(self, user: &str) -> Self {
        self.config(&format!("user {user}"))
    }

    /// The password of the user `default`, who needs none without this.
    pub fn password(mut self, password: &str) -> Self {
        self.password = Some(password.into());
        self
    }

    /// Serves a Unix socket, too: [`Server::unix_socket`].
    pub fn unix_socket(mut self) -> Self {
        self.unix_socket = true;
        self
    }

    /// Serves TLS on one more port, with certificates made for it: [`Server::tls_url`].
    pub fn tls(mut self) -> Self {
        self.tls = Some(ClientCertificate::Ignored);
        self
    }

    /// As [`tls`](Self::tls), and clients without a certificate are turned away.
    pub fn tls_with_client_certificates(mut self) -> Self {
        self.tls = Some(ClientCertificate::Required);
        self
    }

    /// One of several that speak TLS to each other and to clients, all with the same
    /// certificates.
    pub(crate) fn tls_among(mut self, peers: Option<&Certificates>) -> Self {
        if let Some(peers) = peers {
            self = self.tls();
            self.peers = Some(peers.clone());
        }
        self
    }

    /// Gives it a clock that [`Server::set_clock`] sets. Needs libfaketime.
    pub fn clock(mut self) -> Self {
        self.clock = true;
        self
    }

    /// Starts it, and returns once it answers.
    ///
    /// # Errors
    ///
    /// [`Error::Missing`] where there is no such program, or no libfaketime for a clock;
    /// [`Error::WithoutTls`]; [`Error::Ended`] with its log where it did not like its
    /// configuration.
    pub fn start(self) -> Result<Server, Error> {
        Server::launch(self)
    }
}
