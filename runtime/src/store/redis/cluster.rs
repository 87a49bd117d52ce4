//! A cluster: each circuit lies at the node that has its slot, and messages come from one of
//! the nodes, whichever published them.
//!
//! A command is sent on only where a node has said that it did nothing with it.

use std::collections::HashMap;
use std::collections::hash_map::Entry as Slot;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::MutexGuard;
use std::sync::PoisonError;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use redis::Cmd;
use redis::Value;
use tokio::time::Instant;

use crate::policy::Policy;
use crate::rules::fleet::Reply;
use crate::rules::fleet::Request;
use crate::store::StoreError;
use crate::store::redis::address::Address;
use crate::store::redis::address::Place;
use crate::store::redis::calls::Calls;
use crate::store::redis::calls::Way;
use crate::store::redis::connection::Connection;
use crate::store::redis::connection::RESPONSE;
use crate::store::redis::fault::Fault;
use crate::store::redis::pushes::Pushes;
use crate::store::redis::server::TRIAL;
use crate::store::redis::server::trial;
use crate::store::redis::slots::Slots;
use crate::store::redis::slots::redirected;
use crate::store::redis::slots::slot;
use crate::store::redis::tls::Tls;
use crate::store::redis::wire;

pub(super) struct Cluster {
    /// Brings the messages, and knows the slots. The cluster is as good as lost with it.
    subscriber: Arc<Connection>,
    tls: Option<Tls>,
    calls: Arc<Calls>,
    slots: Mutex<Slots>,
    /// A node has said that the slots are not what they were.
    has_changed: AtomicBool,
    nodes: Mutex<HashMap<Place, Arc<Connection>>>,
    /// Held by whoever opens a connection, so that there is one to a node.
    opening: tokio::sync::Mutex<()>,
}

impl Cluster {
    /// Connects to the first of `nodes` that answers, and by it to the others.
    pub(super) async fn connect(
        nodes: &[Address],
        tls: Option<&Tls>,
        calls: &Arc<Calls>,
        pushes: &Arc<Pushes>,
    ) -> Result<Self, StoreError> {
        let mut cause = StoreError::Unavailable("no node was named".into());
        for node in nodes {
            match Self::connect_by(node, tls, calls, pushes).await {
                Ok(cluster) => return Ok(cluster),
                Err(error) => cause = error,
            }
        }
        Err(cause)
    }

    async fn connect_by(
        node: &Address,
        tls: Option<&Tls>,
        calls: &Arc<Calls>,
        pushes: &Arc<Pushes>,
    ) -> Result<Self, StoreError> {
        let subscriber = Connection::open(node, tls, pushes.clock(), pushes.taker()).await?;
        let cluster = Self {
            subscriber,
            tls: tls.cloned(),
            calls: Arc::clone(calls),
            slots: Mutex::default(),
            has_changed: AtomicBool::new(false),
            nodes: Mutex::default(),
            opening: tokio::sync::Mutex::default(),
        };
        let steps = async {
            cluster.learn_slots().await?;
            match cluster
                .subscriber
                .subscribe(&wire::channel(&calls.prefix))
                .await
            {
                // Circuits are asked for anyway.
                Ok(()) | Err(Fault::Refused(_)) => {}
                Err(fault) => return Err(fault),
            }
            cluster.subscriber.beat().await?;
            let policy = Policy::new();
            match cluster.call(TRIAL, &trial(), &policy, RESPONSE).await {
                Ok(_) | Err(Fault::Refused(StoreError::Denied(_))) => Ok(()),
                Err(fault) => Err(fault),
            }
        };
        let connected = steps.await;
        connected.map_err(Fault::into_store_error)?;
        // A node that is missing is tried again.
        let is_whole = cluster.open_missing().await.is_ok();
        cluster.has_changed.store(!is_whole, Relaxed);
        Ok(cluster)
    }

    pub(super) fn subscriber(&self) -> &Arc<Connection> {
        &self.subscriber
    }

    /// All masters that are known, for whoever has to connect anew.
    pub(super) fn masters(&self) -> Vec<Address> {
        self.slots().masters().to_vec()
    }

    pub(super) async fn call(
        &self,
        circuit: &str,
        request: &Request,
        policy: &Policy,
        within: Duration,
    ) -> Result<Reply, Fault> {
        let begun = Instant::now();
        let slot = slot(&wire::journal_key(&self.calls.prefix, circuit));
        let master = self.slots().master(slot).cloned();
        let Some(master) = master else {
            self.has_changed.store(true, Relaxed);
            return Err(no_node());
        };
        let called = self.call_at(&master, Way::Straight, circuit, request, policy, within);
        let (node, way) = match called.await {
            Err(Fault::Moved(node)) => (node, Way::Straight),
            Err(Fault::Ask(node)) => (node, Way::Asking),
            answer => return answer,
        };
        let node = redirected(&master, &node).ok_or_else(no_node)?;
        let left = within.saturating_sub(begun.elapsed());
        if way == Way::Straight {
            self.slots().assign(slot, &node);
            self.has_changed.store(true, Relaxed);
        }
        self.call_at(&node, way, circuit, request, policy, left)
            .await
    }

    async fn call_at(
        &self,
        node: &Address,
        way: Way,
        circuit: &str,
        request: &Request,
        policy: &Policy,
        within: Duration,
    ) -> Result<Reply, Fault> {
        let begun = Instant::now();
        let connection = self.node(node, within).await?;
        let left = within.saturating_sub(begun.elapsed());
        let called = self
            .calls
            .call(&connection, way, circuit, request, policy, left)
            .await;
        match &called {
            Err(Fault::Lost(_)) => self.has_changed.store(true, Relaxed),
            // Every node says so, until all is well again.
            Err(Fault::ClusterDown(cause)) => self.subscriber.lose(cause.clone()),
            Ok(_) | Err(_) => {}
        }
        called.map(|answer| answer.reply)
    }

    /// Asks for texts that are kept of a circuit.
    pub(super) async fn list(&self, circuit: &str, command: &Cmd) -> Result<Vec<String>, Fault> {
        let slot = slot(&wire::journal_key(&self.calls.prefix, circuit));
        let master = self.slots().master(slot).cloned();
        let Some(master) = master else {
            return Err(no_node());
        };
        let connection = self.node(&master, RESPONSE).await?;
        match connection.ask_for_texts(command).await {
            Err(Fault::Moved(node)) => {
                self.has_changed.store(true, Relaxed);
                let node = redirected(&master, &node).ok_or_else(no_node)?;
                let connection = self.node(&node, RESPONSE).await?;
                connection.ask_for_texts(command).await
            }
            listed => listed,
        }
    }

    /// Asks every node what time it is, and sets right what has changed.
    pub(super) async fn beat(&self) -> Result<(), Fault> {
        self.subscriber.beat().await?;
        let nodes: Vec<_> = self.nodes().values().cloned().collect();
        for node in nodes {
            self.calls.counts.beat();
            if node.beat().await.is_err() {
                self.has_changed.store(true, Relaxed);
            }
        }
        if self.has_changed.swap(false, Relaxed) {
            match self.learn_slots().await {
                // What a node does not tell is corrected by those that it concerns.
                Ok(()) | Err(Fault::Refused(_)) => {}
                Err(fault) => return Err(fault),
            }
            if self.open_missing().await.is_err() {
                self.has_changed.store(true, Relaxed);
            }
        }
        Ok(())
    }

    async fn learn_slots(&self) -> Result<(), Fault> {
        let mut command = redis::cmd("CLUSTER");
        command.arg("SLOTS");
        let answer: Value = self.subscriber.ask(&command, RESPONSE).await?;
        let slots = Slots::read(&answer, self.subscriber.address());
        self.nodes().retain(|place, node| {
            let stays = slots.has(place) && node.lost_by().is_none();
            if !stays {
                node.lose(StoreError::Unavailable("it has no slots any more".into()));
            }
            stays
        });
        *self.slots() = slots;
        Ok(())
    }

    /// Connects to all masters, so that no command waits for that.
    async fn open_missing(&self) -> Result<(), Fault> {
        let mut opened = Ok(());
        for master in self.masters() {
            opened = self.node(&master, RESPONSE).await.map(drop).and(opened);
        }
        opened
    }

    /// The connection to a node, which is opened where there is none.
    async fn node(&self, node: &Address, within: Duration) -> Result<Arc<Connection>, Fault> {
        if let Some(connection) = self.standing(&node.place) {
            return Ok(connection);
        }
        let opening = async {
            let _first = self.opening.lock().await;
            if let Some(connection) = self.standing(&node.place) {
                return Ok(connection);
            }
            let clock = Arc::default();
            let opened = Connection::open(node, self.tls.as_ref(), clock, Box::new(|_| {})).await;
            let connection = opened.map_err(Fault::Refused)?;
            connection.beat().await?;
            self.nodes()
                .insert(node.place.clone(), Arc::clone(&connection));
            Ok(connection)
        };
        match tokio::time::timeout(within, opening).await {
            Ok(Ok(connection)) => Ok(connection),
            Ok(Err(fault)) => {
                self.has_changed.store(true, Relaxed);
                Err(fault)
            }
            Err(_) => Err(Fault::Refused(StoreError::Unavailable(
                format!("{} does not answer", node.place).into(),
            ))),
        }
    }

    fn standing(&self, place: &Place) -> Option<Arc<Connection>> {
        match self.nodes().entry(place.clone()) {
            Slot::Occupied(node) if node.get().lost_by().is_none() => Some(Arc::clone(node.get())),
            Slot::Occupied(node) => {
                node.remove();
                None
            }
            Slot::Vacant(_) => None,
        }
    }

    fn slots(&self) -> MutexGuard<'_, Slots> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn nodes(&self) -> MutexGuard<'_, HashMap<Place, Arc<Connection>>> {
        self.nodes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn no_node() -> Fault {
    let why = "no node of the cluster has its slot";
    Fault::Refused(StoreError::Unavailable(why.into()))
}
