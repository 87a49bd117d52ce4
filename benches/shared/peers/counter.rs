//! A counter of failures in Redis that each call reads, and each failure raises.
//!
//! A call reads whether the circuit is open and how many failures there are with one command. A
//! success ends a row of failures, if there is one; a failure raises the counter, and the one
//! that reaches the threshold opens the circuit. Between what is read and what is written others
//! do the same, and nothing limits who calls when the cooldown is over.

use breakerbox_servers::Server;
use redis::cmd;

use crate::peers::COOLDOWN;
use crate::peers::Connections;
use crate::peers::Design;
use crate::peers::THRESHOLD;

const OPEN: &str = "counter:{shared}:open";
const FAILURES: &str = "counter:{shared}:failures";

pub(super) struct Counter(Connections);

impl Counter {
    pub(super) async fn connect(server: &Server) -> Self {
        Self(Connections::open(server).await)
    }

    async fn succeeded(&self, instance: usize, failures: Option<u32>) {
        if failures.is_some() {
            let () = self.0.ask(instance, cmd("DEL").arg(FAILURES)).await;
        }
    }

    async fn failed(&self, instance: usize) {
        let failures: u32 = self.0.ask(instance, cmd("INCR").arg(FAILURES)).await;
        let cooldown = COOLDOWN.as_secs();
        if failures == 1 {
            let expire = &mut cmd("EXPIRE");
            let () = self
                .0
                .ask(instance, expire.arg(FAILURES).arg(cooldown))
                .await;
        }
        if failures >= THRESHOLD {
            let set = &mut cmd("SET");
            let set = set.arg(OPEN).arg(1).arg("EX").arg(cooldown);
            let () = self.0.ask(instance, set).await;
        }
    }
}

impl Design for Counter {
    async fn call(&self, instance: usize, succeeds: bool) -> bool {
        let read = &mut cmd("MGET");
        let (open, failures): (Option<u32>, Option<u32>) =
            self.0.ask(instance, read.arg(OPEN).arg(FAILURES)).await;
        if open.is_some() {
            return false;
        }
        if succeeds {
            self.succeeded(instance, failures).await;
        } else {
            self.failed(instance).await;
        }
        true
    }

    fn sent(&self) -> Option<u64> {
        Some(self.0.sent())
    }
}
