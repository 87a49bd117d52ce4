//! One server: where it is, and what it says of itself.

use std::collections::BTreeMap;
use std::io;
use std::net::Ipv4Addr;
use std::net::SocketAddr;
use std::path::Path;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::MutexGuard;
use std::sync::PoisonError;

use crate::error::Error;
use crate::launch::ADMIN;
use crate::launch::Plan;
use crate::launch::field;
use crate::options::Options;
use crate::process::Process;
use crate::resp::Connection;
use crate::resp::Value;
use crate::tls::Certificates;

/// A server on a port of the loopback, in a folder of its own; dropped, it is killed, and
/// the folder removed.
///
/// Its orders travel on a connection of the user `house`, who keeps all rights whatever
/// becomes of the others.
#[derive(Debug)]
pub struct Server {
    // In this order: the process ends before its folder does.
    pub(crate) process: Mutex<Process>,
    admin: Mutex<Option<Connection>>,
    pub(crate) plan: Plan,
}

impl Server {
    /// A `redis-server` with all defaults.
    ///
    /// # Errors
    ///
    /// As [`Options::start`].
    pub fn start() -> Result<Self, Error> {
        Self::options().start()
    }

    /// A `redis-server` whose clock can be set.
    ///
    /// # Errors
    ///
    /// As [`Options::start`].
    pub fn with_clock() -> Result<Self, Error> {
        Self::options().clock().start()
    }

    /// What there is to choose of a `redis-server`.
    pub fn options() -> Options {
        Options::of("redis-server")
    }

    /// What there is to choose of a `valkey-server`.
    pub fn valkey() -> Options {
        Options::of("valkey-server")
    }

    pub(crate) fn launch(options: Options) -> Result<Self, Error> {
        let (plan, process, connection) = Plan::start(options)?;
        Ok(Self {
            process: Mutex::new(process),
            admin: Mutex::new(Some(connection)),
            plan,
        })
    }

    /// Its port, which it keeps when it is started again.
    pub fn port(&self) -> u16 {
        self.plan.ports.plain
    }

    /// Its address on the loopback.
    pub fn address(&self) -> SocketAddr {
        SocketAddr::from((Ipv4Addr::LOCALHOST, self.port()))
    }

    /// `redis://127.0.0.1:PORT`, with the password of the user `default` if there is one; of one
    /// that speaks TLS to other servers its [`tls_url`](Self::tls_url).
    pub fn url(&self) -> String {
        if self.plan.options.peers.is_some() {
            return self.tls_url();
        }
        match &self.plan.options.password {
            Some(password) => self.url_of("", password),
            None => format!("redis://{}", self.address()),
        }
    }

    /// `redis://USER:PASSWORD@127.0.0.1:PORT`.
    pub fn url_of(&self, user: &str, password: &str) -> String {
        format!("redis://{user}:{password}@{}", self.address())
    }

    /// Its socket in the file system, which exists if the options say so.
    pub fn unix_socket(&self) -> PathBuf {
        self.plan.socket()
    }

    /// `redis+unix:///PATH` of that socket.
    pub fn unix_url(&self) -> String {
        format!("redis+unix://{}", self.unix_socket().display())
    }

    /// Its port for TLS, which is served if the options say so.
    pub fn tls_port(&self) -> u16 {
        self.plan.ports.tls
    }

    /// `rediss://127.0.0.1:PORT` with the port for TLS.
    pub fn tls_url(&self) -> String {
        format!("rediss://127.0.0.1:{}", self.tls_port())
    }

    /// The files of its certificates.
    ///
    /// # Panics
    ///
    /// If it was started without TLS.
    #[track_caller]
    pub fn certificates(&self) -> &Certificates {
        let certificates = self.plan.certificates.as_ref();
        certificates.expect("it was started without TLS")
    }

    /// Its folder, which holds `server.conf` and `log`.
    pub fn folder(&self) -> &Path {
        self.plan.folder.path()
    }

    /// The number of its process.
    pub fn process_id(&self) -> u32 {
        self.process().id()
    }

    /// Lets it execute a command, and returns the answer, also where that is an error.
    ///
    /// # Panics
    ///
    /// If it does not answer within [`LIMIT`](crate::LIMIT).
    #[track_caller]
    pub fn command(&self, words: &[&str]) -> Value {
        match self.try_command(words) {
            Ok(answer) => answer,
            Err(error) => panic!("{words:?} has no answer: {error}"),
        }
    }

    /// As [`command`](Self::command), of a server that may be gone.
    ///
    /// # Errors
    ///
    /// If it does not answer.
    pub fn try_command(&self, words: &[&str]) -> io::Result<Value> {
        let mut admin = self.admin.lock().unwrap_or_else(PoisonError::into_inner);
        // Between two commands somebody may have closed the connection.
        if let Some(mut connection) = admin.take() {
            match connection.ask(words) {
                Ok(answer) => {
                    *admin = Some(connection);
                    return Ok(answer);
                }
                Err(error) if timed_out(&error) => return Err(error),
                Err(_) => {}
            }
        }
        let mut connection = self.plan.connect()?;
        let answer = connection.ask(words)?;
        *admin = Some(connection);
        Ok(answer)
    }

    /// As [`command`](Self::command), of one that has to succeed.
    ///
    /// # Panics
    ///
    /// If it does not answer, or answers with an error.
    #[track_caller]
    pub fn order(&self, words: &[&str]) -> Value {
        let answer = self.command(words);
        assert!(!answer.is_error(), "{words:?}: {}", answer.text());
        answer
    }

    /// One field of `INFO`, or nothing.
    #[track_caller]
    pub fn info(&self, section: &str, name: &str) -> String {
        let info = self.order(&["INFO", section]);
        field(&info, name).unwrap_or_default().into()
    }

    /// How often it has executed each command, including the house's own `auth`, `info` and
    /// `ping`. A subcommand is `client|list`.
    #[track_caller]
    pub fn command_stats(&self) -> BTreeMap<String, u64> {
        let info = self.order(&["INFO", "commandstats"]);
        let counts = info.text().lines().filter_map(|line| {
            let (command, figures) = line.strip_prefix("cmdstat_")?.split_once(":calls=")?;
            let (calls, _) = figures.split_once(',')?;
            Some((command.to_owned(), calls.parse().ok()?))
        });
        counts.collect()
    }

    /// Lets [`command_stats`](Self::command_stats) begin from zero.
    #[track_caller]
    pub fn reset_command_stats(&self) {
        self.order(&["CONFIG", "RESETSTAT"]);
    }

    /// How many bytes it has allocated.
    #[track_caller]
    pub fn memory(&self) -> u64 {
        let used = self.info("memory", "used_memory");
        used.parse().expect("a number of bytes")
    }

    /// How many clients are connected, without the house's own and without replicas.
    #[track_caller]
    pub fn client_count(&self) -> usize {
        let own = format!(" user={ADMIN} ");
        ["normal", "pubsub"]
            .into_iter()
            .map(|kind| self.order(&["CLIENT", "LIST", "TYPE", kind]))
            .map(|list| {
                let others = |line: &&str| !line.contains(&own);
                list.text().lines().filter(others).count()
            })
            .sum()
    }

    pub(crate) fn process(&self) -> MutexGuard<'_, Process> {
        self.process.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes this connection for its next orders.
    pub(crate) fn reconnected(&self, connection: Option<Connection>) {
        *self.admin.lock().unwrap_or_else(PoisonError::into_inner) = connection;
    }
}

fn timed_out(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut
    )
}
