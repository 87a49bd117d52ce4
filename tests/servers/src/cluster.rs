//! Masters that share the slots of a cluster, with or without replicas.

use std::ops::Range;

use crate::error::Error;
use crate::options::Kind;
use crate::server::Server;
use crate::tls::Certificates;
use crate::tls::Peers;
use crate::wait::until;
use crate::wait::wait;

/// How many slots a cluster has.
const SLOTS: usize = 16_384;

/// Three masters, a third of the slots each, and perhaps a replica of each. It takes a Redis
/// of version 7 or later.
#[derive(Debug)]
pub struct Cluster {
    pub(crate) nodes: Vec<Server>,
    peers: Option<Peers>,
}

impl Cluster {
    /// How many masters there are: the nodes 0, 1 and 2.
    pub const MASTERS: usize = 3;

    /// Three masters, without replicas. Returns once every node says that all is well, which
    /// takes a few seconds.
    ///
    /// # Errors
    ///
    /// As [`Options::start`](crate::Options::start).
    pub fn start() -> Result<Self, Error> {
        Self::of(Self::MASTERS, None)
    }

    /// Three masters, and node `i + 3` as the replica of node `i`.
    ///
    /// # Errors
    ///
    /// As [`Options::start`](crate::Options::start).
    pub fn with_replicas() -> Result<Self, Error> {
        let cluster = Self::of(2 * Self::MASTERS, None)?;
        cluster.replicate()?;
        Ok(cluster)
    }

    /// Three masters that speak TLS to each other, and node 3 as the replica of node 0:
    /// [`urls`](Self::urls) are `rediss://`.
    ///
    /// # Errors
    ///
    /// As [`Options::start`](crate::Options::start).
    pub fn with_tls() -> Result<Self, Error> {
        let cluster = Self::of(Self::MASTERS + 1, Some(Peers::new()?))?;
        cluster.replicate()?;
        Ok(cluster)
    }

    /// Makes the nodes beyond the masters replicas of those.
    fn replicate(&self) -> Result<(), Error> {
        let replicas = &self.nodes[Self::MASTERS..];
        for (replica, master) in replicas.iter().zip(&self.nodes) {
            let id = master.order(&["CLUSTER", "MYID"]);
            wait("the replica knows its master", || {
                let answer = replica.command(&["CLUSTER", "REPLICATE", id.text()]);
                (!answer.is_error()).then_some(())
            })?;
            wait("the replica is in step", || replica.in_step().then_some(()))?;
        }
        // A master gives no vote to a replica that it takes for something else.
        wait("every node knows the replicas", || {
            let knows_all = |node: &Server| {
                let nodes = node.order(&["CLUSTER", "NODES"]);
                nodes.text().matches("slave ").count() == replicas.len()
            };
            self.nodes.iter().all(knows_all).then_some(())
        })?;
        self.wait_until_well()
    }

    /// Where the nodes are, masters first.
    pub fn urls(&self) -> Vec<String> {
        self.nodes.iter().map(Server::url).collect()
    }

    /// The certificates that all nodes show.
    ///
    /// # Panics
    ///
    /// If they were started without TLS.
    #[track_caller]
    pub fn certificates(&self) -> &Certificates {
        let peers = self.peers.as_ref().expect("they were started without TLS");
        &peers.certificates
    }

    /// The nodes, masters first.
    pub fn nodes(&self) -> &[Server] {
        &self.nodes
    }

    /// The slot of a key.
    #[track_caller]
    pub fn slot(&self, key: &str) -> u16 {
        let alive = until("any node answers", || {
            self.nodes
                .iter()
                .find_map(|node| node.try_command(&["CLUSTER", "KEYSLOT", key]).ok())
        });
        let slot = alive.integer().and_then(|slot| slot.try_into().ok());
        slot.expect("the number of a slot")
    }

    /// The node that serves a key, as it says itself.
    #[track_caller]
    pub fn owner(&self, key: &str) -> usize {
        let slot = self.slot(key);
        until("a node serves the key", || {
            self.nodes
                .iter()
                .position(|node| master_of(node, slot) == Some(node.port()))
        })
    }

    /// Kills a node with SIGKILL. Without a replica of it the cluster soon says
    /// `CLUSTERDOWN`; with one, that becomes the master.
    #[track_caller]
    pub fn kill_node(&self, node: usize) {
        self.nodes[node].kill();
    }

    /// Starts a killed node again. Its database is empty; its place in the cluster it knows.
    #[track_caller]
    pub fn restart_node(&self, node: usize) {
        self.nodes[node].restart();
    }

    /// Lets the replica of a master take its place, and returns the replica's number once it
    /// has. Where the master is dead this is what happens by itself.
    ///
    /// # Panics
    ///
    /// If the node has no replica.
    #[track_caller]
    pub fn failover(&self, master: usize) -> usize {
        let replica = master + Self::MASTERS;
        let server = self.nodes.get(replica).expect("the node has no replica");
        let alive = self.nodes[master].try_command(&["PING"]).is_ok();
        if alive {
            server.order(&["CLUSTER", "FAILOVER"]);
        }
        until("the replica is the master", || {
            let role = server.order(&["ROLE"]);
            (role.elements().first()?.text() == "master").then_some(replica)
        })
    }

    /// Whether a node says that the cluster serves all slots; `false` of a dead one.
    pub fn is_well(&self, node: usize) -> bool {
        let info = self.nodes[node].try_command(&["CLUSTER", "INFO"]);
        info.is_ok_and(|info| info.text().contains("cluster_state:ok"))
    }

    fn of(nodes: usize, peers: Option<Peers>) -> Result<Self, Error> {
        let files = peers.as_ref().map(|peers| &peers.certificates);
        let nodes = (0..nodes)
            .map(|_| {
                let options = Server::options().config("cluster-node-timeout 1000");
                let mut options = options.tls_among(files);
                options.kind = Kind::Node;
                options.start()
            })
            .collect::<Result<Vec<_>, _>>()?;
        for (number, node) in nodes.iter().enumerate() {
            let epoch = (number + 1).to_string();
            node.order(&["CLUSTER", "SET-CONFIG-EPOCH", &epoch]);
            if number < Self::MASTERS {
                let slots: Vec<String> = share(number).map(|slot| slot.to_string()).collect();
                let mut words = vec!["CLUSTER", "ADDSLOTS"];
                words.extend(slots.iter().map(String::as_str));
                node.order(&words);
            }
            // All of the earlier ones, as gossip alone takes longer.
            for other in &nodes[..number] {
                let port = other.plan.port_for_peers().to_string();
                let bus = other.plan.ports.bus.to_string();
                node.order(&["CLUSTER", "MEET", "127.0.0.1", &port, &bus]);
            }
        }
        let cluster = Self { nodes, peers };
        cluster.wait_until_well()?;
        Ok(cluster)
    }

    fn wait_until_well(&self) -> Result<(), Error> {
        let known = format!("cluster_known_nodes:{}\r\n", self.nodes.len());
        let well = |node: &Server| {
            let info = node.order(&["CLUSTER", "INFO"]);
            let nodes = node.order(&["CLUSTER", "NODES"]);
            info.text().contains("cluster_state:ok")
                && info.text().contains(&known)
                && !nodes.text().contains("handshake")
        };
        wait("the cluster is well", || {
            self.nodes.iter().all(well).then_some(())
        })
    }
}

/// The port of the master of a slot, as a node sees it.
pub(crate) fn master_of(node: &Server, slot: u16) -> Option<u16> {
    let slots = node.try_command(&["CLUSTER", "SLOTS"]).ok()?;
    let ranges = slots.elements().iter();
    ranges.map(|range| range.elements()).find_map(|range| {
        let (first, last) = (range.first()?.integer()?, range.get(1)?.integer()?);
        let port = range.get(2)?.elements().get(1)?.integer()?;
        let inside = (first..=last).contains(&i64::from(slot));
        inside.then(|| u16::try_from(port).ok()).flatten()
    })
}

fn share(master: usize) -> Range<usize> {
    let bound = |number| SLOTS * number / Cluster::MASTERS;
    bound(master)..bound(master + 1)
}
