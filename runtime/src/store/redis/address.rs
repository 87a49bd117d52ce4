//! Where a server is, read from a URL and judged at once.
//!
//! No error of it quotes what was written, since that may be a part of a password.

mod error;
mod escape;
mod login;

use std::fmt;
use std::path::PathBuf;

use escape::unescape;

pub use error::AddressError;
pub(super) use login::Login;

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

impl Address {
    const PORT: u16 = 6379;

    pub(super) fn parse(url: &str) -> Result<Self, AddressError> {
        let url = url.trim();
        let (scheme, rest) = url.split_once("://").ok_or(AddressError::Scheme)?;
        match scheme {
            "redis" | "valkey" => Self::parse_tcp(rest, false),
            "rediss" | "valkeys" => Self::parse_tcp(rest, true),
            "redis+unix" | "valkey+unix" | "unix" => Self::parse_unix(rest),
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
        let (mut user, mut password) = (None, None);
        for parameter in query.split('&').filter(|part| !part.is_empty()) {
            let (name, value) = parameter.split_once('=').ok_or(AddressError::Parameter)?;
            let value = unescape(value)?;
            match name {
                "db" => address.database = value.parse().map_err(|_| AddressError::Database)?,
                "user" => user = Some(value),
                "pass" => password = Some(value),
                _ => return Err(AddressError::Parameter),
            }
        }
        address.login = Login::new(user, password);
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
    fn valkey_may_be_called_by_its_name() {
        for (valkey, redis) in [
            (
                "valkey://app:secret@cache:7000/3",
                "redis://app:secret@cache:7000/3",
            ),
            ("valkeys://cache", "rediss://cache"),
        ] {
            assert_eq!(Address::parse(valkey), Address::parse(redis));
        }
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
        for scheme in ["redis+unix", "valkey+unix", "unix"] {
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
            ("valkeyss://cache", AddressError::Scheme),
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
