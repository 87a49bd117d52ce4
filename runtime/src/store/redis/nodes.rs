//! The connections to the masters of a cluster: one to each, opened where somebody wants it.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::MutexGuard;
use std::sync::PoisonError;
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::AbortHandle;
use tokio::task::JoinSet;

use crate::store::StoreError;
use crate::store::redis::address::Address;
use crate::store::redis::address::Place;
use crate::store::redis::connection::Connection;
use crate::store::redis::counts::Counts;
use crate::store::redis::fault::Fault;
use crate::store::redis::stream::Dialer;

pub(super) struct Nodes {
    dialer: Dialer,
    all: Mutex<HashMap<Place, Node>>,
}

/// Opened by a task of its own: to let one in may take longer than any command waits, and is
/// not to begin anew with each.
struct Node {
    opened: watch::Receiver<Option<Opened>>,
    opening: AbortHandle,
}

type Opened = Result<Arc<Connection>, StoreError>;

impl Nodes {
    pub(super) fn new(dialer: Dialer) -> Self {
        Self {
            dialer,
            all: Mutex::default(),
        }
    }

    /// The connection to a node, which is waited for at most `within`.
    pub(super) async fn get(
        &self,
        node: &Address,
        within: Duration,
    ) -> Result<Arc<Connection>, Fault> {
        let mut opened = self.want(node);
        let opened = opened.wait_for(Option::is_some);
        let opened = match tokio::time::timeout(within, opened).await {
            Ok(Ok(opened)) => opened.clone(),
            // Nobody opens it any more, or not in time.
            Ok(Err(_)) | Err(_) => None,
        };
        match opened {
            Some(opened) => opened.map_err(Fault::Refused),
            None => Err(Fault::Refused(StoreError::Unavailable(
                format!("{} does not answer", node.place).into(),
            ))),
        }
    }

    /// Begins to open what is missing. Says whether nothing is.
    pub(super) fn open(&self, nodes: &[Address]) -> bool {
        let missing = nodes.iter().filter(|node| {
            let opened = self.want(node);
            let is_open = matches!(&*opened.borrow(), Some(Ok(_)));
            !is_open
        });
        missing.count() == 0
    }

    /// Leaves all nodes but these.
    pub(super) fn retain(&self, stays: impl Fn(&Place) -> bool) {
        self.all().retain(|place, node| {
            let stays = stays(place);
            if let (false, Some(connection)) = (stays, node.standing()) {
                connection.lose(StoreError::Unavailable("it has no slots any more".into()));
            }
            stays
        });
    }

    /// Asks all of them at once what time it is, and says whether all have answered.
    pub(super) async fn beat(&self, counts: &Counts) -> bool {
        let standing: Vec<_> = self.all().values().filter_map(Node::standing).collect();
        let mut beats = JoinSet::new();
        for node in standing {
            counts.beat();
            beats.spawn(async move { node.beat().await.is_ok() });
        }
        beats.join_all().await.into_iter().all(|answered| answered)
    }

    /// What comes of opening it, which begins now where there is no connection and nobody
    /// opens one.
    fn want(&self, node: &Address) -> watch::Receiver<Option<Opened>> {
        let mut all = self.all();
        if let Some(known) = all.get(&node.place)
            && !known.is_over()
        {
            return known.opened.clone();
        }
        let (sender, opened) = watch::channel(None);
        let (address, dialer) = (node.clone(), self.dialer.clone());
        let opening = tokio::spawn(async move {
            sender.send_replace(Some(open(&address, &dialer).await));
        });
        let begun = Node {
            opened: opened.clone(),
            opening: opening.abort_handle(),
        };
        all.insert(node.place.clone(), begun);
        opened
    }

    fn all(&self) -> MutexGuard<'_, HashMap<Place, Node>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Node {
    fn standing(&self) -> Option<Arc<Connection>> {
        match &*self.opened.borrow() {
            Some(Ok(connection)) if connection.lost_by().is_none() => Some(Arc::clone(connection)),
            Some(_) | None => None,
        }
    }

    /// It could not be opened, or is lost.
    fn is_over(&self) -> bool {
        match &*self.opened.borrow() {
            Some(Ok(connection)) => connection.lost_by().is_some(),
            Some(Err(_)) => true,
            None => self.opening.is_finished(),
        }
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        self.opening.abort();
    }
}

/// Opens it, and asks what time it is there: without that no command has a deadline.
async fn open(node: &Address, dialer: &Dialer) -> Opened {
    let connection = Connection::open(node, dialer, Arc::default(), Box::new(|_| {})).await?;
    let beaten = connection.beat().await;
    beaten.map_err(Fault::into_store_error)?;
    Ok(connection)
}
