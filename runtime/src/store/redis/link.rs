//! What stands between a loss and the next one: the connection to a server or to a cluster.

use std::sync::Arc;
use std::time::Duration;

use redis::Cmd;

use crate::policy::Policy;
use crate::rules::fleet::Reply;
use crate::rules::fleet::Request;
use crate::store::StoreError;
use crate::store::redis::address::Address;
use crate::store::redis::calls::Calls;
use crate::store::redis::cluster::Cluster;
use crate::store::redis::connection::Connection;
use crate::store::redis::fault::Fault;
use crate::store::redis::plan::Plan;
use crate::store::redis::plan::Target;
use crate::store::redis::pushes::Pushes;
use crate::store::redis::sentinel;
use crate::store::redis::server::Server;

pub(super) enum Link {
    Server(Server),
    Cluster(Cluster),
}

impl Link {
    /// Connects as planned. `known` are nodes of the cluster that were there the last time,
    /// which may be all that is left of it.
    pub(super) async fn connect(
        plan: &Plan,
        known: &[Address],
        calls: &Arc<Calls>,
        pushes: &Arc<Pushes>,
    ) -> Result<Self, StoreError> {
        let dialer = &plan.dialer;
        match &plan.target {
            Target::Server(address) => {
                let server = Server::connect(address, dialer, calls, pushes).await?;
                Ok(Self::Server(server))
            }
            Target::Sentinel {
                name,
                sentinels,
                master,
            } => {
                let (host, port) = sentinel::master(name, &shuffled(sentinels), dialer).await?;
                let address = master.beside(&host, port);
                let server = Server::connect(&address, dialer, calls, pushes).await?;
                Ok(Self::Server(server))
            }
            Target::Cluster(named) => {
                let mut nodes = shuffled(named);
                nodes.extend(known.iter().filter(|node| !named.contains(node)).cloned());
                let cluster = Cluster::connect(&nodes, dialer, calls, pushes).await?;
                Ok(Self::Cluster(cluster))
            }
        }
    }

    pub(super) async fn call(
        &self,
        circuit: &str,
        request: &Request,
        policy: &Policy,
        within: Duration,
    ) -> Result<Reply, Fault> {
        match self {
            Self::Server(server) => server.call(circuit, request, policy, within).await,
            Self::Cluster(cluster) => cluster.call(circuit, request, policy, within).await,
        }
    }

    /// Asks for texts that are kept of a circuit.
    pub(super) async fn list(&self, circuit: &str, command: &Cmd) -> Result<Vec<String>, Fault> {
        match self {
            Self::Server(server) => server.list(command).await,
            Self::Cluster(cluster) => cluster.list(circuit, command).await,
        }
    }

    /// Asks whether it still stands.
    pub(super) async fn beat(&self) -> Result<(), Fault> {
        match self {
            Self::Server(server) => server.connection().beat().await,
            Self::Cluster(cluster) => cluster.beat().await,
        }
    }

    /// Waits until it is worth while to [`look`](Self::look).
    pub(super) async fn has_changed(&self) {
        match self {
            Self::Server(_) => std::future::pending().await,
            Self::Cluster(cluster) => cluster.has_changed().await,
        }
    }

    /// Sets right what has changed.
    pub(super) async fn look(&self) -> Result<(), Fault> {
        match self {
            Self::Server(_) => Ok(()),
            Self::Cluster(cluster) => cluster.look().await,
        }
    }

    pub(super) fn polls(&self, plan: &Plan) -> Option<Duration> {
        match self {
            Self::Server(server) => server.is_mute().then(|| plan.poll()),
            Self::Cluster(_) => Some(plan.poll_of_cluster()),
        }
    }

    /// The nodes of a cluster, to find it again by.
    pub(super) fn nodes(&self) -> Vec<Address> {
        match self {
            Self::Server(_) => Vec::new(),
            Self::Cluster(cluster) => cluster.masters(),
        }
    }

    /// The connection that it stands and falls with.
    pub(super) fn connection(&self) -> &Connection {
        match self {
            Self::Server(server) => server.connection(),
            Self::Cluster(cluster) => cluster.subscriber(),
        }
    }
}

/// Not all processes are to ask the same one.
fn shuffled(addresses: &[Address]) -> Vec<Address> {
    let mut addresses = addresses.to_vec();
    fastrand::shuffle(&mut addresses);
    addresses
}
