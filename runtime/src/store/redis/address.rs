//! Where a server is, read from a URL and judged at once.
//!
//! No error of it quotes what was written, since that may be a part of a password.

use std::fmt;
use std::path::PathBuf;

/// One server, and who connects to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Address {
    pub(super) place: Place,
    /// Whether TLS is spoken there.
    pub(super) tls: bool,
    pub(super) database: u32,
    pub(super) login: Login,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Place {
    Tcp { host: String, port: u16 },
    Unix(PathBuf),
}

/// Who connects. Without a password nobody logs in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Login {
    pub(super) user: Option<String>,
    pub(super) password: Option<Password>,
}

/// A password, which nothing shows.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Password(String);

/// Why an address of Redis cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AddressError {
    /// It begins with none of the schemes that are known.
    #[error(
        "an address of Redis begins with redis://, rediss://, redis+unix:// or unix://, as in \
         redis://localhost:6379"
    )]
    Scheme,
    /// It names no host.
    #[error("the address of Redis names no host, as in redis://localhost:6379")]
    Host,
    /// Its port is not one.
    #[error(
        "the port in the address of Redis is not a number from 1 to 65535; where it is a part of \
         a password, write / as %2F, ? as %3F, # as %23 and @ as %40"
    )]
    Port,
    /// Its database is not one.
    #[error("the database in the address of Redis is not a number, as in redis://localhost:6379/2")]
    Database,
    /// A `%` in it is followed by something else than two hexadecimal digits.
    #[error(
        "a % in the address of Redis is not followed by two hexadecimal digits; write % as %25"
    )]
    Escape,
    /// It has a parameter that is not known.
    #[error(
        "an address of Redis has no parameters but db, user and pass, and these with a socket; in \
         a password write ? as %3F and # as %23"
    )]
    Parameter,
    /// It names no socket.
    #[error("the address of Redis names no socket, as in redis+unix:///run/redis.sock")]
    Socket,
    /// A user was given without a password.
    #[error("the address of Redis has a user and no password, as in redis://user:password@host")]
    Password,
    /// A list of addresses is empty.
    #[error("Redis needs one address at least")]
    None,
    /// Addresses in a list that cannot be there: a socket, or one of another scheme.
    #[error("Sentinels and the nodes of a cluster are either all redis:// or all rediss://")]
    Mixed,
    /// A database was given where there is none.
    #[error(
        "a cluster has no databases, and a Sentinel neither: say that of its master with \
         Redis::database"
    )]
    NoDatabase,
    /// TLS is not compiled in.
    #[error("rediss:// needs the feature `redis-tls` of breakerbox")]
    NoTls,
    /// There are files of TLS, and no address to speak it at.
    #[error(
        "certificates are of use with rediss:// alone, and the address of Redis is another one"
    )]
    NotOverTls,
    /// A file of TLS cannot be read or does not hold what it should.
    #[error("{0}")]
    Certificate(String),
    /// The prefix of the keys is not one.
    #[error(
        "the prefix of the keys in Redis has 1 to 128 bytes and no braces, bars, spaces or \
         control characters"
    )]
    Prefix,
    /// The lease is too short or too long.
    #[error("the lease of a connection to Redis is from 100ms to 60s")]
    Lease,
    /// The name of the process is not one.
    #[error("the name of an instance has 1 to 64 bytes and no bars or control characters")]
    Instance,
}

impl Address {
    const PORT: u16 = 6379;

    pub(super) fn parse(url: &str) -> Result<Self, AddressError> {
        let url = url.trim();
        let (scheme, rest) = url.split_once("://").ok_or(AddressError::Scheme)?;
        match scheme {
            "redis" => Self::parse_tcp(rest, false),
            "rediss" => Self::parse_tcp(rest, true),
            "redis+unix" | "unix" => Self::parse_unix(rest),
            _ => Err(AddressError::Scheme),
        }
    }

    fn parse_tcp(rest: &str, tls: bool) -> Result<Self, AddressError> {
        if rest.contains(['?', '#']) {
            return Err(AddressError::Parameter);
        }
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        let (login, host) = match authority.rsplit_once('@') {
            Some((login, host)) => (Login::parse(login)?, host),
            None => (Login::default(), authority),
        };
        let (host, port) = host_and_port(host)?;
        let database = match path.trim_end_matches('/') {
            "" => 0,
            database => database.parse().map_err(|_| AddressError::Database)?,
        };
        Ok(Self {
            place: Place::Tcp {
                host: unescape(host)?,
                port: port.unwrap_or(Self::PORT),
            },
            tls,
            database,
            login,
        })
    }

    fn parse_unix(rest: &str) -> Result<Self, AddressError> {
        let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
        if path.is_empty() || path.ends_with('/') {
            return Err(AddressError::Socket);
        }
        let mut address = Self {
            place: Place::Unix(PathBuf::from(unescape(path)?)),
            tls: false,
            database: 0,
            login: Login::default(),
        };
        for parameter in query.split('&').filter(|part| !part.is_empty()) {
            let (name, value) = parameter.split_once('=').ok_or(AddressError::Parameter)?;
            let value = unescape(value)?;
            match name {
                "db" => address.database = value.parse().map_err(|_| AddressError::Database)?,
                "user" => address.login.user = Some(value),
                "pass" => address.login.password = Some(Password(value)),
                _ => return Err(AddressError::Parameter),
            }
        }
        address.login.check()?;
        Ok(address)
    }

    /// The same server as someone else names it, with the login of this address: a master that
    /// Sentinel names, a node of a cluster. An empty host is the one that says so.
    pub(super) fn beside(&self, host: &str, port: u16) -> Self {
        let place = match &self.place {
            Place::Tcp { host: own, .. } if host.is_empty() => Place::Tcp {
                host: own.clone(),
                port,
            },
            Place::Tcp { .. } | Place::Unix(_) => Place::Tcp {
                host: host.to_owned(),
                port,
            },
        };
        Self {
            place,
            ..self.clone()
        }
    }
}

impl Login {
    fn parse(text: &str) -> Result<Self, AddressError> {
        let (user, password) = match text.split_once(':') {
            Some((user, password)) => (unescape(user)?, Some(Password(unescape(password)?))),
            None => (unescape(text)?, None),
        };
        let login = Self {
            user: Some(user).filter(|user| !user.is_empty()),
            password: password.filter(|password| !password.0.is_empty()),
        };
        login.check()?;
        Ok(login)
    }

    pub(super) fn new(user: Option<String>, password: Option<String>) -> Self {
        Self {
            user,
            password: password.map(Password),
        }
    }

    pub(super) fn check(&self) -> Result<(), AddressError> {
        match (&self.user, &self.password) {
            (Some(_), None) => Err(AddressError::Password),
            (Some(_) | None, _) => Ok(()),
        }
    }
}

impl Password {
    /// For the server, and nobody else.
    pub(super) fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(a password)")
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp { host, port } if host.contains(':') => write!(f, "[{host}]:{port}"),
            Self::Tcp { host, port } => write!(f, "{host}:{port}"),
            Self::Unix(path) => write!(f, "{}", path.display()),
        }
    }
}

/// `host`, `host:port`, `[v6]` or `[v6]:port`.
pub(super) fn host_and_port(text: &str) -> Result<(&str, Option<u16>), AddressError> {
    let (host, port) = match text.strip_prefix('[') {
        Some(rest) => {
            let (host, rest) = rest.split_once(']').ok_or(AddressError::Host)?;
            match rest.strip_prefix(':') {
                Some(port) => (host, Some(port)),
                None if rest.is_empty() => (host, None),
                None => return Err(AddressError::Port),
            }
        }
        None => match text.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (text, None),
        },
    };
    let port = match port {
        Some(port) => match port.parse() {
            Ok(0) | Err(_) => return Err(AddressError::Port),
            Ok(port) => Some(port),
        },
        None => None,
    };
    if host.is_empty() || host.contains(char::is_whitespace) {
        return Err(AddressError::Host);
    }
    Ok((host, port))
}

fn unescape(text: &str) -> Result<String, AddressError> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let digits = [rest.next(), rest.next()].map(|digit| digit.and_then(hex));
        let [Some(high), Some(low)] = digits else {
            return Err(AddressError::Escape);
        };
        bytes.push(high << 4 | low);
    }
    String::from_utf8(bytes).map_err(|_| AddressError::Escape)
}

fn hex(digit: u8) -> Option<u8> {
    let value = char::from(digit).to_digit(16)?;
    u8::try_from(value).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tcp(host: &str, port: u16) -> Place {
        Place::Tcp {
            host: host.to_owned(),
            port,
        }
    }

    fn login(user: Option<&str>, password: Option<&str>) -> Login {
        Login::new(user.map(str::to_owned), password.map(str::to_owned))
    }

    #[test]
    fn what_is_not_written_is_what_everybody_has() {
        let address = Address::parse("redis://cache").expect("an address");
        assert_eq!(address.place, tcp("cache", 6379));
        assert_eq!((address.tls, address.database), (false, 0));
        assert_eq!(address.login, Login::default());
    }

    #[test]
    fn all_that_can_be_written_is_read() {
        let address = Address::parse("rediss://app:a%2Fb%40c:d@[::1]:7000/3").expect("an address");
        assert_eq!(address.place, tcp("::1", 7000));
        assert_eq!((address.tls, address.database), (true, 3));
        assert_eq!(address.login, login(Some("app"), Some("a/b@c:d")));
        assert_eq!(address.place.to_string(), "[::1]:7000");
    }

    #[test]
    fn a_password_needs_no_user_and_a_user_a_password() {
        let address = Address::parse("redis://:secret@cache").expect("an address");
        assert_eq!(address.login, login(None, Some("secret")));
        let error = Address::parse("redis://app@cache").expect_err("a user alone");
        assert_eq!(error, AddressError::Password);
    }

    #[test]
    fn a_socket_has_its_parameters_behind_it() {
        for scheme in ["redis+unix", "unix"] {
            let url = format!("{scheme}:///run/my%20redis.sock?db=2&user=app&pass=a%26b");
            let address = Address::parse(&url).expect("an address");
            assert_eq!(address.place, Place::Unix("/run/my redis.sock".into()));
            assert_eq!(address.database, 2);
            assert_eq!(address.login, login(Some("app"), Some("a&b")));
        }
    }

    #[test]
    fn each_mistake_is_told_as_what_it_is() {
        for (url, error) in [
            ("cache:6379", AddressError::Scheme),
            ("http://cache", AddressError::Scheme),
            ("redis://", AddressError::Host),
            ("redis://:6379", AddressError::Host),
            ("redis://my cache", AddressError::Host),
            ("redis://[::1", AddressError::Host),
            ("redis://cache:0", AddressError::Port),
            ("redis://cache:65536", AddressError::Port),
            ("redis://cache/one", AddressError::Database),
            ("redis://cache/-1", AddressError::Database),
            ("redis://:%zz@cache", AddressError::Escape),
            ("redis://cache?db=1", AddressError::Parameter),
            ("unix://", AddressError::Socket),
            ("unix:///run/", AddressError::Socket),
            ("unix:///a.sock?database=1", AddressError::Parameter),
            ("unix:///a.sock?user=app", AddressError::Password),
        ] {
            assert_eq!(Address::parse(url).expect_err(url), error, "{url}");
        }
    }

    #[test]
    fn nothing_shows_a_password() {
        for url in [
            "redis://:hunter2@cache:x",
            "redis://:hun/ter2@cache",
            "redis://:hunter2%@cache",
            "redis://:hunter2@cache/x",
            "unix:///a?pass=hunter2%",
        ] {
            let error = Address::parse(url).expect_err(url);
            for shown in [error.to_string(), format!("{error:?}")] {
                assert!(
                    !shown.contains("hunter2") && !shown.contains("ter2"),
                    "{shown}"
                );
            }
        }
        let address = Address::parse("redis://app:hunter2@cache").expect("an address");
        assert!(!format!("{address:?}").contains("hunter2"));
    }

    #[test]
    fn a_node_that_another_one_names_is_asked_by_the_same_login() {
        let address = Address::parse("redis://app:secret@cache").expect("an address");
        let other = address.beside("10.0.0.7", 7001);
        assert_eq!(other.place, tcp("10.0.0.7", 7001));
        assert_eq!(other.login, address.login);
        assert_eq!(address.beside("", 7001).place, tcp("cache", 7001));
    }
}
