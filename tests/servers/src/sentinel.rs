//! A master, its replica, and three sentinels that watch them.

use crate::error::Error;
use crate::options::Kind;
use crate::options::Options;
use crate::server::Server;
use crate::tls::Certificates;
use crate::tls::Peers;
use crate::wait::until;
use crate::wait::wait;

/// A master and a replica under three sentinels, two of which must agree that the master is
/// down, after 500 ms.
///
/// On a machine that is busy enough to let a master wait for so long, sentinels go over to
/// the other without being asked to.
#[derive(Debug)]
pub struct Sentinels {
    servers: [Server; 2],
    sentinels: Vec<Server>,
    peers: Option<Peers>,
}

impl Sentinels {
    /// The name of the master, which its clients ask the sentinels for.
    pub const NAME: &'static str = "main";

    /// Starts all five, and returns once the sentinels know each other and the replica:
    /// after about a second.
    ///
    /// # Errors
    ///
    /// As [`Options::start`].
    pub fn start() -> Result<Self, Error> {
        Self::among(None)
    }

    /// The same, where all speak TLS to each other: [`urls`](Self::urls) are `rediss://`.
    ///
    /// # Errors
    ///
    /// As [`Options::start`].
    pub fn with_tls() -> Result<Self, Error> {
        Self::among(Some(Peers::new()?))
    }

    fn among(peers: Option<Peers>) -> Result<Self, Error> {
        let files = peers.as_ref().map(|peers| &peers.certificates);
        let master = Server::options().tls_among(files).start()?;
        let port = master.plan.port_for_peers();
        let replica = Server::options()
            .tls_among(files)
            .config(&format!("replicaof 127.0.0.1 {port}"))
            .start()?;
        wait("the replica is in step", || replica.in_step().then_some(()))?;
        let sentinels = (0..3)
            .map(|_| sentinel(port, files))
            .collect::<Result<_, _>>()?;
        let all = Self {
            servers: [master, replica],
            sentinels,
            peers,
        };
        wait("the sentinels know all others", || {
            all.sentinels.iter().all(knows_all).then_some(())
        })?;
        Ok(all)
    }

    /// Where the sentinels are.
    pub fn urls(&self) -> Vec<String> {
        self.sentinels.iter().map(Server::url).collect()
    }

    /// The certificates that all of them show.
    ///
    /// # Panics
    ///
    /// If they were started without TLS.
    #[track_caller]
    pub fn certificates(&self) -> &Certificates {
        let peers = self.peers.as_ref().expect("they were started without TLS");
        &peers.certificates
    }

    /// The two servers: the first master, and its replica.
    pub fn servers(&self) -> &[Server; 2] {
        &self.servers
    }

    /// The sentinels, which are servers that can be killed and stopped like others.
    pub fn sentinels(&self) -> &[Server] {
        &self.sentinels
    }

    /// The master, once all sentinels that answer agree about it and it knows of its rank.
    ///
    /// # Panics
    ///
    /// If they never agree.
    #[track_caller]
    pub fn master(&self) -> &Server {
        until("the sentinels agree about a master", || self.agreed(None))
    }

    /// Lets the sentinels make the replica the master, as an operator would, and returns the
    /// new master once they agree about it.
    #[track_caller]
    pub fn failover(&self) -> &Server {
        let old = self.master().plan.port_for_peers();
        let order = ["SENTINEL", "FAILOVER", Self::NAME];
        // They refuse while the last failover is not quite over.
        until("a sentinel starts a failover", || {
            (!self.sentinels[0].command(&order).is_error()).then_some(())
        });
        self.master_other_than(old)
    }

    /// Kills the master with SIGKILL and returns its port; the sentinels will notice.
    #[track_caller]
    pub fn kill_master(&self) -> u16 {
        let master = self.master();
        master.kill();
        master.port()
    }

    /// The master, once the sentinels agree that it is not the one at `old` any more.
    ///
    /// # Panics
    ///
    /// If they never do, or none of the servers is there.
    #[track_caller]
    pub fn next_master(&self, old: u16) -> &Server {
        let mut servers = self.servers.iter();
        let old = servers.find(|server| server.port() == old);
        let old = old.expect("one of the two servers");
        self.master_other_than(old.plan.port_for_peers())
    }

    #[track_caller]
    fn master_other_than(&self, old: u16) -> &Server {
        until("the sentinels agree about another master", || {
            self.agreed(Some(old))
        })
    }

    /// The master, once the other server is its replica and has its data: after a failover,
    /// and the [`restart`](Server::restart) of a dead one.
    ///
    /// # Panics
    ///
    /// If that never comes.
    #[track_caller]
    pub fn settled(&self) -> &Server {
        until("the other server is a replica of the master", || {
            let master = self.agreed(None)?;
            let mut servers = self.servers.iter();
            servers.any(|other| other.obeys(master)).then_some(master)
        })
    }

    fn agreed(&self, not: Option<u16>) -> Option<&Server> {
        let mut ports = self.sentinels.iter().filter_map(|sentinel| {
            let query = ["SENTINEL", "GET-MASTER-ADDR-BY-NAME", Self::NAME];
            let address = sentinel.try_command(&query).ok()?;
            u16::try_from(address.elements().get(1)?.integer()?).ok()
        });
        let port = ports.next()?;
        if not == Some(port) || ports.any(|other| other != port) {
            return None;
        }
        let mut servers = self.servers.iter();
        let master = servers.find(|server| server.plan.port_for_peers() == port)?;
        let role = master.try_command(&["ROLE"]).ok()?;
        (role.elements().first()?.text() == "master").then_some(master)
    }
}

fn sentinel(master: u16, peers: Option<&Certificates>) -> Result<Server, Error> {
    let name = Sentinels::NAME;
    let mut options = Options::of("redis-server")
        .tls_among(peers)
        .config(&format!("sentinel monitor {name} 127.0.0.1 {master} 2"))
        .config(&format!("sentinel down-after-milliseconds {name} 500"))
        .config(&format!("sentinel failover-timeout {name} 2000"))
        .config(&format!("sentinel parallel-syncs {name} 1"));
    options.kind = Kind::Sentinel;
    let sentinel = options.start()?;
    // Older ones know no such order, and take their usual seconds to find each other.
    let hurry = [
        "SENTINEL",
        "DEBUG",
        "publish-period",
        "200",
        "info-period",
        "500",
    ];
    sentinel.try_command(&hurry)?;
    Ok(sentinel)
}

fn knows_all(sentinel: &Server) -> bool {
    let answer = sentinel.command(&["SENTINEL", "MASTER", Sentinels::NAME]);
    let fields = answer.elements();
    let has = |name, value| {
        let mut pairs = fields.chunks(2);
        pairs.any(|pair| pair[0].text() == name && pair[1].text() == value)
    };
    has("flags", "master") && has("num-slaves", "1") && has("num-other-sentinels", "2")
}
