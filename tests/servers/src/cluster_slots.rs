//! Slots that move while the cluster serves.

use crate::cluster::Cluster;
use crate::cluster::master_of;
use crate::server::Server;
use crate::wait::until;

/// A slot on its way: its old node answers `ASK` for keys that it does not have, and so for
/// all that are new. Dropped, it stays on its way.
#[derive(Debug)]
#[must_use = "the slot is on its way until `finish`"]
pub struct SlotMove<'a> {
    cluster: &'a Cluster,
    slot: u16,
    from: &'a Server,
    to: &'a Server,
}

impl Cluster {
    /// Moves the slot of a key with everything in it to another master, and returns once
    /// every living node knows.
    ///
    /// # Panics
    ///
    /// If `to` is no master, or has the slot already.
    #[track_caller]
    pub fn move_slot(&self, key: &str, to: usize) {
        self.begin_slot_move(key, to).finish();
    }

    /// Begins to move the slot of a key.
    ///
    /// # Panics
    ///
    /// If `to` is no master, or has the slot already.
    #[track_caller]
    pub fn begin_slot_move(&self, key: &str, to: usize) -> SlotMove<'_> {
        let slot = self.slot(key);
        let (from, to) = (&self.nodes[self.owner(key)], &self.nodes[to]);
        let number = slot.to_string();
        to.order(&["CLUSTER", "SETSLOT", &number, "IMPORTING", &id(from)]);
        from.order(&["CLUSTER", "SETSLOT", &number, "MIGRATING", &id(to)]);
        SlotMove {
            cluster: self,
            slot,
            from,
            to,
        }
    }
}

impl SlotMove<'_> {
    /// Moves what is in the slot to its new node. The slot itself is still on its way: the
    /// old node answers `ASK` for every key.
    #[track_caller]
    pub fn move_keys(&self) {
        let (slot, port) = (
            self.slot.to_string(),
            self.to.plan.port_for_peers().to_string(),
        );
        loop {
            let keys = self.from.order(&["CLUSTER", "GETKEYSINSLOT", &slot, "100"]);
            if keys.elements().is_empty() {
                return;
            }
            let mut words = vec!["MIGRATE", "127.0.0.1", &port, "", "0", "10000", "KEYS"];
            words.extend(keys.elements().iter().map(|key| key.text()));
            self.from.order(&words);
        }
    }

    /// Moves what is in the slot, gives the slot to its new node, and returns once every
    /// living node knows: the old one answers `MOVED`.
    #[track_caller]
    pub fn finish(self) {
        self.move_keys();
        let (slot, owner) = (self.slot.to_string(), id(self.to));
        let assign = ["CLUSTER", "SETSLOT", &slot, "NODE", &owner];
        self.to.order(&assign);
        self.from.order(&assign);
        until("every node knows the new owner of the slot", || {
            let knows = |node: &Server| {
                let dead = node.try_command(&["PING"]).is_err();
                dead || master_of(node, self.slot) == Some(self.to.port())
            };
            self.cluster.nodes.iter().all(knows).then_some(())
        });
    }
}

fn id(node: &Server) -> String {
    node.order(&["CLUSTER", "MYID"]).text().into()
}
