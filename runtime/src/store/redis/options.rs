//! What an application says about its Redis.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use crate::store::name;
use crate::store::redis::RedisStore;
use crate::store::redis::address::Address;
use crate::store::redis::address::AddressError;
use crate::store::redis::address::Login;
use crate::store::redis::address::Place;
use crate::store::redis::plan::Plan;
use crate::store::redis::plan::Target;
use crate::store::redis::stream::Dialer;
use crate::store::redis::tls::Files;
use crate::store::redis::tls::Tls;

/// Where the processes of a fleet share their circuits: one server, the master that Sentinels
/// watch over, or a cluster.
///
/// ```no_run
/// use std::time::Duration;
///
/// let redis = breakerbox::Redis::new("rediss://app:secret@cache.internal/2")
///     .ca_file("/etc/ssl/internal.pem")
///     .prefix("payments")
///     .lease(Duration::from_secs(5));
/// ```
///
/// Nothing is judged before the registry is built; then everything is, at once, and before
/// anything is connected to.
#[derive(Clone, Debug)]
pub struct Redis {
    to: To,
    /// Shown as little as those in addresses.
    login: Login,
    database: Option<u32>,
    files: Files,
    prefix: String,
    lease: Duration,
    instance: Option<String>,
    seed: Option<u64>,
}

#[derive(Clone)]
enum To {
    Server(String),
    Sentinel { master: String, urls: Vec<String> },
    Cluster(Vec<String>),
}

impl Redis {
    /// One server: `redis://[user[:password]@]host[:port][/database]`, the same with
    /// `rediss://` over TLS (feature `redis-tls`), or a socket,
    /// `redis+unix:///path?db=1&user=app&pass=secret`. In a password `/`, `?`, `#`, `@` and
    /// `%` are written as `%2F`, `%3F`, `%23`, `%40` and `%25`. All of them may also begin with
    /// `valkey`, as in `valkeys://`.
    pub fn new(url: impl Into<String>) -> Self {
        Self::to(To::Server(url.into()))
    }

    /// The server that these Sentinels know as the master called `master`. They are asked
    /// anew at each connect. Users and passwords in their addresses are those of the
    /// Sentinels; the master's are said with [`login`](Self::login), and its database with
    /// [`database`](Self::database). With `rediss://` all of them speak TLS.
    pub fn sentinel<U: Into<String>>(
        master: impl Into<String>,
        urls: impl IntoIterator<Item = U>,
    ) -> Self {
        Self::to(To::Sentinel {
            master: master.into(),
            urls: urls.into_iter().map(Into::into).collect(),
        })
    }

    /// A cluster, by some of its nodes; the others are found by them. All are logged in to as
    /// the first address says.
    pub fn cluster<U: Into<String>>(urls: impl IntoIterator<Item = U>) -> Self {
        Self::to(To::Cluster(urls.into_iter().map(Into::into).collect()))
    }

    fn to(to: To) -> Self {
        Self {
            to,
            login: Login::default(),
            database: None,
            files: Files::default(),
            prefix: "breakerbox".to_owned(),
            lease: Duration::from_secs(2),
            instance: None,
            seed: None,
        }
    }

    /// Who logs in, instead of whom the address names. An empty user is the default one.
    #[must_use]
    pub fn login(mut self, user: impl Into<String>, password: impl Into<String>) -> Self {
        let user = Some(user.into()).filter(|user| !user.is_empty());
        self.login = Login::new(user, Some(password.into()));
        self
    }

    /// The number of the database, instead of the one in the address.
    #[must_use]
    pub fn database(mut self, number: u32) -> Self {
        self.database = Some(number);
        self
    }

    /// What all keys begin with, and the channel, `breakerbox` where nothing is said: fleets
    /// that are not to know of each other have different ones.
    #[must_use]
    pub fn prefix(mut self, prefix: impl Into<String>) -> Self {
        self.prefix = prefix.into();
        self
    }

    /// A file of certificates in PEM that are trusted, instead of the roots of the web. A
    /// certificate that a server has signed itself is trusted, too, unless it is marked as that
    /// of an authority (`CA:TRUE`, as `openssl req -x509` marks it).
    ///
    /// It is an error where no address is `rediss://`.
    #[must_use]
    pub fn ca_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.files.ca = Some(path.into());
        self
    }

    /// The certificate that this process shows the server, and its key: files in PEM. They are
    /// an error where no address is `rediss://`.
    #[must_use]
    pub fn client_certificate(
        mut self,
        certificate: impl Into<PathBuf>,
        key: impl Into<PathBuf>,
    ) -> Self {
        self.files.client = Some((certificate.into(), key.into()));
        self
    }

    /// How long a process may believe what it knows without an answer, 2 s where nothing is
    /// said; the server is asked three times as often. From 100 ms to a minute.
    #[must_use]
    pub fn lease(mut self, lease: Duration) -> Self {
        self.lease = lease;
        self
    }

    /// What events and the journal call this process, 64 bytes at most; its host and number
    /// where nothing is said.
    #[must_use]
    pub fn instance(mut self, name: impl Into<String>) -> Self {
        self.instance = Some(name.into());
        self
    }

    /// Draws the spread of its reconnects from this seed.
    pub(crate) fn seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }

    /// The store, which is not connected before it is started.
    pub(crate) fn open(&self) -> Result<RedisStore, AddressError> {
        self.plan().map(RedisStore::new)
    }

    pub(super) fn plan(&self) -> Result<Plan, AddressError> {
        let target = self.target()?;
        let has_tls = match &target {
            Target::Server(address) => address.tls,
            Target::Sentinel { master, .. } => master.tls,
            Target::Cluster(nodes) => nodes.iter().any(|node| node.tls),
        };
        // Whoever gives certificates does not want to be heard by everybody.
        if !has_tls && self.files != Files::default() {
            return Err(AddressError::NotOverTls);
        }
        let is_wrong = |char: char| char.is_control() || matches!(char, '|' | '{' | '}' | ' ');
        if self.prefix.is_empty() || self.prefix.len() > 128 || self.prefix.contains(is_wrong) {
            return Err(AddressError::Prefix);
        }
        if !(Duration::from_millis(100)..=Duration::from_secs(60)).contains(&self.lease) {
            return Err(AddressError::Lease);
        }
        let origin = self.instance.clone().unwrap_or_else(name::of_process);
        let is_wrong = |char: char| char.is_control() || char == '|';
        if origin.is_empty() || origin.len() > 64 || origin.contains(is_wrong) {
            return Err(AddressError::Instance);
        }
        Ok(Plan {
            target,
            dialer: Dialer::new(match has_tls {
                true => Some(Tls::load(&self.files)?),
                false => None,
            }),
            prefix: self.prefix.clone(),
            origin,
            lease: self.lease,
            seed: self.seed.unwrap_or_else(|| fastrand::u64(..)),
        })
    }

    fn target(&self) -> Result<Target, AddressError> {
        match &self.to {
            To::Server(url) => {
                let mut address = Address::parse(url)?;
                self.override_in(&mut address);
                Ok(Target::Server(address))
            }
            To::Sentinel { master, urls } => {
                if master.is_empty() {
                    return Err(AddressError::Master);
                }
                let sentinels = list(urls)?;
                let first = sentinels.first().ok_or(AddressError::None)?;
                let mut address = Address {
                    login: Login::default(),
                    ..first.clone()
                };
                self.override_in(&mut address);
                Ok(Target::Sentinel {
                    name: master.clone(),
                    master: address,
                    sentinels,
                })
            }
            To::Cluster(urls) => {
                let mut nodes = list(urls)?;
                let login = nodes.first().ok_or(AddressError::None)?.login.clone();
                for node in &mut nodes {
                    node.login = login.clone();
                    self.override_in(node);
                    if node.database != 0 {
                        return Err(AddressError::NoDatabase);
                    }
                }
                Ok(Target::Cluster(nodes))
            }
        }
    }

    fn override_in(&self, address: &mut Address) {
        if self.login != Login::default() {
            address.login = self.login.clone();
        }
        if let Some(database) = self.database {
            address.database = database;
        }
    }
}

/// What they lead to may hold passwords, and cannot be told from what may be shown.
impl fmt::Debug for To {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Server(_) => "a server",
            Self::Sentinel { .. } => "a master by its Sentinels",
            Self::Cluster(_) => "a cluster",
        })
    }
}

/// Several addresses, all of one kind and without a database.
fn list(urls: &[String]) -> Result<Vec<Address>, AddressError> {
    let parsed = urls.iter().map(|url| Address::parse(url));
    let addresses: Vec<_> = parsed.collect::<Result<_, _>>()?;
    let mut schemes = addresses.iter().map(|address| match address.place {
        Place::Tcp { .. } => Some(address.tls),
        Place::Unix(_) => None,
    });
    let first = schemes.next().ok_or(AddressError::None)?;
    if first.is_none() || schemes.any(|other| other != first) {
        return Err(AddressError::Mixed);
    }
    if addresses.iter().any(|address| address.database != 0) {
        return Err(AddressError::NoDatabase);
    }
    Ok(addresses)
}
