//! All that is known before the first connection.

use std::time::Duration;

use crate::store::redis::address::Address;
use crate::store::redis::stream::Dialer;

pub(super) struct Plan {
    pub(super) target: Target,
    pub(super) dialer: Dialer,
    pub(super) prefix: String,
    pub(super) origin: String,
    /// No answer for so long, and the connection is lost.
    pub(super) lease: Duration,
    /// What the spread of the reconnects is drawn from.
    pub(super) seed: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Target {
    Server(Address),
    Sentinel {
        name: String,
        sentinels: Vec<Address>,
        /// How to log in to the master, wherever it is.
        master: Address,
    },
    Cluster(Vec<Address>),
}

impl Plan {
    /// How often a connection is asked whether it still is one.
    pub(super) fn beat(&self) -> Duration {
        self.lease / 3
    }

    /// How often circuits are asked for where messages do not come.
    pub(super) fn poll(&self) -> Duration {
        self.lease / 4
    }

    /// The same where no answer proves that messages have come.
    pub(super) fn poll_of_cluster(&self) -> Duration {
        self.lease / 2
    }
}
