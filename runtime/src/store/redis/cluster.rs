//! A cluster: each circuit lies at the node that has its slot, and messages come from one of
//! the nodes, whichever published them.
//!
//! A command is sent on only where a node has said that it did nothing with it.

use std::sync::Arc;
use std::sync::Mutex;
use std::sync::MutexGuard;
use std::sync::PoisonError;
use std::time::Duration;

use redis::Cmd;
use redis::Value;
use tokio::time::Instant;

use crate::policy::Policy;
use crate::rules::fleet::Reply;
use crate::rules::fleet::Request;
use crate::store::StoreError;
use crate::store::redis::address::Address;
use crate::store::redis::calls::Calls;
use crate::store::redis::changes::Changes;
use crate::store::redis::connection::Connection;
use crate::store::redis::connection::RESPONSE;
use crate::store::redis::connection::Way;
use crate::store::redis::fault::Fault;
use crate::store::redis::nodes::Nodes;
use crate::store::redis::pushes::Pushes;
use crate::store::redis::server::try_script;
use crate::store::redis::slots::Slots;
use crate::store::redis::slots::redirected;
use crate::store::redis::slots::slot;
use crate::store::redis::stream::Dialer;
use crate::store::redis::wire;

pub(super) struct Cluster {
    /// Brings the messages, and knows the slots. The cluster is as good as lost with it.
    subscriber: Arc<Connection>,
    calls: Arc<Calls>,
    slots: Mutex<Slots>,
    /// A node has said that the slots are not what they were, or one is missing.
    changes: Changes,
    nodes: Nodes,
}

/// Where a command is to be sent, and how often nodes may still send it on: one that has not
/// heard of a move leads to one from which the slot is just moving on.
struct Route {
    slot: u16,
    node: Address,
    way: Way,
    redirections: u32,
    until: Instant,
}

impl Route {
    const REDIRECTIONS: u32 = 4;

    fn left(&self) -> Duration {
        self.until.saturating_duration_since(Instant::now())
    }
}

impl Cluster {
    /// Connects to the first of `nodes` that answers, and by it to the others.
    pub(super) async fn connect(
        nodes: &[Address],
        dialer: &Dialer,
        calls: &Arc<Calls>,
        pushes: &Arc<Pushes>,
    ) -> Result<Self, StoreError> {
        let mut cause = StoreError::Unavailable("no node was named".into());
        for node in nodes {
            match Self::connect_by(node, dialer, calls, pushes).await {
                Ok(cluster) => return Ok(cluster),
                Err(error) => cause = error,
            }
        }
        Err(cause)
    }

    async fn connect_by(
        node: &Address,
        dialer: &Dialer,
        calls: &Arc<Calls>,
        pushes: &Arc<Pushes>,
    ) -> Result<Self, StoreError> {
        let subscriber = Connection::open(node, dialer, pushes.clock(), pushes.taker()).await?;
        let cluster = Self {
            subscriber,
            calls: Arc::clone(calls),
            slots: Mutex::default(),
            changes: Changes::default(),
            nodes: Nodes::new(dialer.clone()),
        };
        let steps = async {
            cluster.learn_slots().await?;
            let channel = wire::channel(&calls.prefix);
            match cluster.subscriber.subscribe(&channel).await {
                // Circuits are asked for anyway.
                Ok(()) | Err(Fault::Refused(_)) => {}
                Err(fault) => return Err(fault),
            }
            cluster.subscriber.beat().await
        };
        let connected = steps.await;
        connected.map_err(Fault::into_store_error)?;
        // Each node knows whether the cluster is down.
        try_script(&cluster.subscriber, calls).await?;
        let is_whole = cluster.open_all().await;
        // A node that is missing is tried again.
        cluster.changes.looked(is_whole);
        Ok(cluster)
    }

    pub(super) fn subscriber(&self) -> &Arc<Connection> {
        &self.subscriber
    }

    /// All masters that are known, for whoever has to connect anew.
    pub(super) fn masters(&self) -> Vec<Address> {
        self.slots().masters().to_vec()
    }

    /// Does one command on a circuit.
    pub(super) async fn call(
        &self,
        circuit: &str,
        request: &Request,
        policy: &Policy,
        within: Duration,
    ) -> Result<Reply, Fault> {
        let mut route = self.route(circuit, within)?;
        loop {
            let node = self.node(&route).await?;
            let calls = &self.calls;
            let called = calls.call(&node, route.way, circuit, request, policy, route.left());
            if let Some(answer) = self.arrived(&mut route, called.await).await? {
                return Ok(answer.reply);
            }
        }
    }

    /// Asks for texts that are kept of a circuit.
    pub(super) async fn list(&self, circuit: &str, command: &Cmd) -> Result<Vec<String>, Fault> {
        let mut route = self.route(circuit, RESPONSE)?;
        loop {
            let node = self.node(&route).await?;
            let listed = node.ask_for_texts(route.way, command, route.left());
            if let Some(texts) = self.arrived(&mut route, listed.await).await? {
                return Ok(texts);
            }
        }
    }

    /// Asks every node what time it is, and sets right what has changed.
    pub(super) async fn beat(&self) -> Result<(), Fault> {
        self.subscriber.beat().await?;
        if !self.nodes.beat(&self.calls.counts).await {
            self.changes.note();
        }
        match self.changes.are_noted() {
            true => self.look().await,
            false => Ok(()),
        }
    }

    /// Waits until it is time to [`look`](Self::look): commands in vain may tell that sooner
    /// than the next heartbeat.
    pub(super) async fn has_changed(&self) {
        self.changes.due().await;
    }

    /// Asks who has which slots, and connects to those.
    pub(super) async fn look(&self) -> Result<(), Fault> {
        self.changes.look();
        let learned = self.learn_slots().await;
        let is_whole = self.nodes.open(&self.masters());
        self.changes.looked(learned.is_ok() && is_whole);
        match learned {
            // What a node does not tell is corrected by those that it concerns.
            Ok(()) | Err(Fault::Refused(_)) => Ok(()),
            Err(fault) => Err(fault),
        }
    }

    async fn learn_slots(&self) -> Result<(), Fault> {
        let mut command = redis::cmd("CLUSTER");
        command.arg("SLOTS");
        let answer: Value = self.subscriber.ask(&command, RESPONSE).await?;
        let slots = Slots::read(&answer, self.subscriber.address());
        if slots.masters().is_empty() {
            // It was taken out of the cluster, or never was in one. The masters that it knew
            // of before lead back.
            let why = format!("{} is in no cluster", self.subscriber.address().place);
            let cause = StoreError::Unavailable(why.into());
            self.subscriber.lose(cause.clone());
            return Err(Fault::Lost(cause));
        }
        self.nodes.retain(|place| slots.has(place));
        *self.slots() = slots;
        Ok(())
    }

    /// Connects to all masters, so that no command waits for that. Says whether all are there.
    async fn open_all(&self) -> bool {
        let masters = self.masters();
        self.nodes.open(&masters);
        let until = Instant::now() + RESPONSE;
        let mut is_whole = true;
        for master in &masters {
            let left = until.saturating_duration_since(Instant::now());
            is_whole &= self.nodes.get(master, left).await.is_ok();
        }
        is_whole
    }

    fn route(&self, circuit: &str, within: Duration) -> Result<Route, Fault> {
        let until = Instant::now() + within;
        let slot = slot(&wire::journal_key(&self.calls.prefix, circuit));
        let master = self.slots().master(slot).cloned();
        let node = master.ok_or_else(|| {
            self.changes.note();
            no_node()
        })?;
        Ok(Route {
            slot,
            node,
            way: Way::Straight,
            redirections: Route::REDIRECTIONS,
            until,
        })
    }

    async fn node(&self, route: &Route) -> Result<Arc<Connection>, Fault> {
        let connection = self.nodes.get(&route.node, route.left()).await;
        connection.inspect_err(|_| self.changes.note())
    }

    /// What came of a command, unless it has to be sent on: then the route leads there.
    async fn arrived<T>(
        &self,
        route: &mut Route,
        answer: Result<T, Fault>,
    ) -> Result<Option<T>, Fault> {
        let (node, way) = match answer {
            Ok(answer) => return Ok(Some(answer)),
            Err(Fault::Moved(node)) => (node, Way::Straight),
            Err(Fault::Ask(node)) => (node, Way::Asking),
            Err(fault) => {
                match &fault {
                    Fault::Lost(_) => self.changes.note(),
                    // A node that has just come back says so alone. The subscriber is lost if
                    // it says so, too.
                    Fault::ClusterDown(_) => {
                        let _ = try_script(&self.subscriber, &self.calls).await;
                    }
                    _ => {}
                }
                return Err(fault);
            }
        };
        let left = route.redirections.checked_sub(1);
        route.redirections = left.ok_or_else(no_node)?;
        route.node = redirected(&route.node, &node).ok_or_else(no_node)?;
        route.way = way;
        if way == Way::Straight {
            self.slots().assign(route.slot..=route.slot, &route.node);
            self.changes.note();
        }
        Ok(None)
    }

    fn slots(&self) -> MutexGuard<'_, Slots> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn no_node() -> Fault {
    let why = "no node of the cluster has its slot";
    Fault::Refused(StoreError::Unavailable(why.into()))
}
