//! From options to a process that answers.

use std::fs;
use std::io;
use std::path::PathBuf;

use tempfile::TempDir;

use crate::clock;
use crate::clock::Clock;
use crate::error::Error;
use crate::options::ClientCertificate;
use crate::options::Kind;
use crate::options::Options;
use crate::port;
use crate::process::Process;
use crate::process::Recipe;
use crate::resp::Connection;
use crate::resp::Value;
use crate::tls::Certificates;
use crate::tools;
use crate::wait::wait;

/// The user that gives the orders, whatever a test does to the others.
pub(crate) const ADMIN: &str = "house";

/// So often another port is tried before a clash is believed to be something else.
const CLASHES: usize = 20;

/// The ports of one server.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ports {
    pub(crate) plain: u16,
    pub(crate) tls: u16,
    pub(crate) bus: u16,
}

/// Everything but the process itself: it can be started again from this.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) options: Options,
    pub(crate) folder: TempDir,
    pub(crate) ports: Ports,
    pub(crate) certificates: Option<Certificates>,
    secret: String,
    recipe: Recipe,
}

/// Why a process does not serve.
enum Failed {
    /// Somebody else has its port.
    Clash,
    Other(Error),
}

impl Plan {
    /// Starts a server on free ports.
    pub(crate) fn start(options: Options) -> Result<(Self, Process, Connection), Error> {
        let mut plan = Self::new(options)?;
        for _ in 0..CLASHES {
            plan.ports = Ports {
                plain: port::free()?,
                tls: port::free()?,
                bus: port::free()?,
            };
            fs::write(plan.folder.path().join("server.conf"), plan.configuration())?;
            match plan.attempt() {
                Ok((process, connection)) => return Ok((plan, process, connection)),
                Err(Failed::Clash) => {}
                Err(Failed::Other(error)) => return Err(error),
            }
        }
        Err(io::Error::from(io::ErrorKind::AddrInUse).into())
    }

    /// Starts it once more on the ports that it had.
    pub(crate) fn start_again(&self) -> Result<(Process, Connection), Error> {
        wait("the old port is free again", || match self.attempt() {
            Ok(started) => Some(Ok(started)),
            Err(Failed::Clash) => None,
            Err(Failed::Other(error)) => Some(Err(error)),
        })?
    }

    /// A connection with all rights.
    pub(crate) fn connect(&self) -> io::Result<Connection> {
        let mut connection = Connection::open(self.ports.plain)?;
        if self.options.kind != Kind::Sentinel {
            let answer = connection.ask(&["AUTH", ADMIN, &self.secret])?;
            if answer.is_error() {
                return Err(io::Error::other(answer.text()));
            }
        }
        Ok(connection)
    }

    /// The port by which other servers know it.
    pub(crate) fn port_for_peers(&self) -> u16 {
        match self.options.peers {
            Some(_) => self.ports.tls,
            None => self.ports.plain,
        }
    }

    pub(crate) fn clock_file(&self) -> PathBuf {
        self.folder.path().join("clock")
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.folder.path().join("socket")
    }

    fn new(options: Options) -> Result<Self, Error> {
        let program = tools::find(options.program)?;
        let folder = TempDir::with_prefix("breakerbox-")?;
        let certificates = match (&options.peers, options.tls) {
            (Some(peers), _) => Some(peers.clone()),
            (None, Some(_)) => Some(Certificates::write(folder.path())?),
            (None, None) => None,
        };
        let mut recipe = Recipe {
            program,
            arguments: vec![folder.path().join("server.conf").into()],
            environment: vec![("LD_LIBRARY_PATH", tools::library_path())],
            log: folder.path().join("log"),
        };
        if options.kind == Kind::Sentinel {
            recipe.arguments.push("--sentinel".into());
        }
        if options.clock {
            let file = folder.path().join("clock");
            Clock::Right.set(&file)?;
            recipe.environment.extend(clock::environment(&file)?);
        }
        Ok(Self {
            options,
            folder,
            ports: Ports {
                plain: 0,
                tls: 0,
                bus: 0,
            },
            certificates,
            secret: format!("{:032x}", fastrand::u128(..)),
            recipe,
        })
    }

    fn attempt(&self) -> Result<(Process, Connection), Failed> {
        let other = |error: io::Error| Failed::Other(error.into());
        let mut process = self.recipe.start().map_err(other)?;
        let answers = || {
            if process.ended() {
                return Some(None);
            }
            self.serves(process.id()).map(Some)
        };
        match wait("a server answers", answers).map_err(Failed::Other)? {
            Some(connection) => Ok((process, connection)),
            None => Err(self.judge()),
        }
    }

    /// A connection, if the one who answers on the port is this process and nobody else.
    fn serves(&self, process: u32) -> Option<Connection> {
        let mut connection = self.connect().ok()?;
        let info = connection.ask(&["INFO", "server"]).ok()?;
        let own = field(&info, "process_id")? == process.to_string();
        let pong = connection.ask(&["PING"]).ok()?;
        (own && pong == Value::Status("PONG".into())).then_some(connection)
    }

    fn judge(&self) -> Failed {
        let log = match fs::read_to_string(&self.recipe.log) {
            Ok(log) => log,
            Err(error) => return Failed::Other(error.into()),
        };
        let program = self.options.program;
        if log.contains("Address already in use") || log.contains("Failed listening on port") {
            return Failed::Clash;
        }
        let without_tls =
            self.options.tls.is_some() && (log.contains("'tls-") || log.contains("TLS support"));
        Failed::Other(if without_tls {
            Error::WithoutTls { program }
        } else {
            Error::Ended { program, log }
        })
    }

    fn configuration(&self) -> String {
        let Ports { plain, tls, bus } = self.ports;
        let folder = self.folder.path().display();
        let mut lines = vec![
            "bind 127.0.0.1".into(),
            "protected-mode no".into(),
            format!("port {plain}"),
            format!("dir {folder}"),
            "loglevel warning".into(),
        ];
        if self.options.kind != Kind::Sentinel {
            lines.extend([
                format!("user {ADMIN} on >{} ~* &* +@all", self.secret),
                "save \"\"".into(),
                "appendonly no".into(),
                "repl-diskless-sync-delay 0".into(),
            ]);
        }
        if self.options.kind == Kind::Node {
            lines.extend(["cluster-enabled yes".into(), format!("cluster-port {bus}")]);
        }
        if let Some(password) = &self.options.password {
            lines.push(format!("requirepass {password}"));
        }
        if self.options.unix_socket {
            lines.push(format!("unixsocket {}", self.socket().display()));
        }
        if let (Some(wanted), Some(files)) = (self.options.tls, &self.certificates) {
            let clients = match wanted {
                ClientCertificate::Required => "yes",
                ClientCertificate::Ignored => "no",
            };
            lines.extend([
                format!("tls-port {tls}"),
                format!("tls-cert-file {}", files.server.display()),
                format!("tls-key-file {}", files.server_key.display()),
                format!("tls-ca-cert-file {}", files.authority.display()),
                format!("tls-auth-clients {clients}"),
            ]);
        }
        if self.options.peers.is_some() {
            lines.push("tls-replication yes".into());
            if self.options.kind == Kind::Node {
                lines.push("tls-cluster yes".into());
            }
        }
        lines.extend(self.options.lines.iter().cloned());
        lines.join("\n") + "\n"
    }
}

/// The field of an `INFO`.
pub(crate) fn field<'a>(info: &'a Value, name: &str) -> Option<&'a str> {
    info.text()
        .lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))
}
