//! A state in Redis that each call reads and writes while it holds a lock of all instances.
//!
//! The lock is taken before the state is read and given back when the call has ended and its
//! state is written, so that no update is lost; all calls of the fleet stand in line for it.
//! The state is written only where it has changed, and whoever finds the lock taken tries again
//! after 1 ms, then twice as long, up to 32 ms, half of it drawn.

use std::time::Duration;
use std::time::SystemTime;
use std::time::UNIX_EPOCH;

use breakerbox_servers::Server;
use redis::cmd;
use tokio::time::sleep;

use crate::peers::COOLDOWN;
use crate::peers::Connections;
use crate::peers::Design;
use crate::peers::THRESHOLD;

const LOCK: &str = "lock:{shared}";
const STATE: &str = "lock:{shared}:state";

/// A lock whose holder is gone is free after so many milliseconds.
const EXPIRES: u32 = 5_000;

const FIRST_PAUSE: Duration = Duration::from_millis(1);
const LONGEST_PAUSE: Duration = Duration::from_millis(32);

/// Gives the lock back, unless it is another's by now.
const UNLOCK: &str = "\
    if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end \
    return 0";

pub(super) struct Lock(Connections);

/// The failures in a row, and until when the circuit is open, in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Circuit {
    failures: u32,
    open_until: u64,
}

impl Circuit {
    const fn after(self, succeeds: bool, now: u64) -> Self {
        if succeeds {
            return Self {
                failures: 0,
                open_until: 0,
            };
        }
        let failures = self.failures + 1;
        let opens = failures >= THRESHOLD;
        Self {
            failures,
            open_until: if opens {
                now + COOLDOWN.as_secs() * 1000
            } else {
                0
            },
        }
    }

    fn read(text: Option<&str>) -> Self {
        let read = || {
            let (failures, open_until) = text?.split_once(' ')?;
            Some(Self {
                failures: failures.parse().ok()?,
                open_until: open_until.parse().ok()?,
            })
        };
        read().unwrap_or_default()
    }

    fn write(self) -> String {
        format!("{} {}", self.failures, self.open_until)
    }
}

impl Lock {
    pub(super) async fn connect(server: &Server) -> Self {
        Self(Connections::open(server).await)
    }

    async fn lock(&self, instance: usize) -> u64 {
        let token = fastrand::u64(..);
        let mut pause = FIRST_PAUSE;
        loop {
            let set = &mut cmd("SET");
            let set = set.arg(LOCK).arg(token).arg("NX").arg("PX").arg(EXPIRES);
            let is_mine: Option<String> = self.0.ask(instance, set).await;
            if is_mine.is_some() {
                return token;
            }
            sleep(pause.mul_f64(0.5 + 0.5 * fastrand::f64())).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    async fn unlock(&self, instance: usize, token: u64) {
        let eval = &mut cmd("EVAL");
        let eval = eval.arg(UNLOCK).arg(1).arg(LOCK).arg(token);
        let () = self.0.ask(instance, eval).await;
    }
}

impl Design for Lock {
    async fn call(&self, instance: usize, succeeds: bool) -> bool {
        let token = self.lock(instance).await;
        let read: Option<String> = self.0.ask(instance, cmd("GET").arg(STATE)).await;
        let before = Circuit::read(read.as_deref());
        let is_in = before.open_until <= now();
        if is_in {
            let after = before.after(succeeds, now());
            if after != before {
                let set = &mut cmd("SET");
                let () = self
                    .0
                    .ask(instance, set.arg(STATE).arg(after.write()))
                    .await;
            }
        }
        self.unlock(instance, token).await;
        is_in
    }

    fn sent(&self) -> Option<u64> {
        Some(self.0.sent())
    }
}

fn now() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(0, |now| u64::try_from(now.as_millis()).unwrap_or(u64::MAX))
}
