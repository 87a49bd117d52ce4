//! What comes on the channel: what circuits have done, and our own voice as a proof that
//! messages come at all.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use redis::FromRedisValue;
use redis::PushInfo;
use redis::PushKind;
use tokio::time::Instant;

use crate::store::redis::connection::OnPush;
use crate::store::redis::counts::Counts;
use crate::store::redis::ear::Ear;
use crate::store::redis::time::ServerClock;
use crate::store::redis::wire;

/// What a message begins with by which somebody tests whether it hears itself.
const HELLO: &str = "hello|";

/// The messages that one connection brings.
pub(super) struct Pushes {
    connection: u64,
    hello: String,
    heard_hello: AtomicBool,
    ear: Arc<Ear>,
    counts: Arc<Counts>,
    clock: Arc<ServerClock>,
}

impl Pushes {
    pub(super) fn new(connection: u64, ear: Arc<Ear>, counts: Arc<Counts>) -> Arc<Self> {
        Arc::new(Self {
            connection,
            hello: format!("{HELLO}{:016x}", fastrand::u64(..)),
            heard_hello: AtomicBool::new(false),
            ear,
            counts,
            clock: Arc::default(),
        })
    }

    pub(super) fn taker(self: &Arc<Self>) -> OnPush {
        let pushes = Arc::clone(self);
        Box::new(move |push| pushes.take(push))
    }

    pub(super) fn clock(&self) -> Arc<ServerClock> {
        Arc::clone(&self.clock)
    }

    /// What to say on the channel, to hear it.
    pub(super) fn hello(&self) -> &str {
        &self.hello
    }

    pub(super) fn has_heard_itself(&self) -> bool {
        self.heard_hello.load(Relaxed)
    }

    fn take(&self, push: &PushInfo) {
        if push.kind != PushKind::Message {
            return;
        }
        let [_, text] = push.data.as_slice() else {
            return self.counts.foreign_message();
        };
        let Ok(text) = String::from_redis_value_ref(text) else {
            return self.counts.foreign_message();
        };
        if text.starts_with(HELLO) {
            if text == self.hello {
                self.heard_hello.store(true, Relaxed);
            }
            return;
        }
        if let Some(circuit) = wire::renumbered(&text) {
            return self.ear.renumbered(self.connection, &circuit);
        }
        let Some((circuit, entry)) = wire::message(&text) else {
            return self.counts.foreign_message();
        };
        if let Some(now) = self.clock.micros(Instant::now()) {
            let sent = entry.told.now.saturating_mul(1000);
            self.counts.lagged(now.saturating_sub(sent));
        }
        self.ear.told(self.connection, &circuit, &entry);
    }
}

#[cfg(test)]
mod tests {
    use redis::Value;

    use super::*;
    use crate::rules::fleet::Told;
    use crate::store::Listener;
    use crate::store::StoreError;

    struct Deaf;

    impl Listener for Deaf {
        fn up(&self) {}

        fn down(&self, _: &StoreError) {}

        fn told(&self, _: &str, _: &Told, _: &Arc<str>) {}

        fn renumbered(&self, _: &str) {}
    }

    fn message(data: &[&str]) -> PushInfo {
        let texts = data
            .iter()
            .map(|text| Value::BulkString(text.as_bytes().to_vec()));
        PushInfo {
            kind: PushKind::Message,
            data: texts.collect(),
        }
    }

    #[test]
    fn only_its_own_voice_proves_that_it_hears() {
        let counts = Arc::new(Counts::default());
        let pushes = Pushes::new(1, Arc::new(Ear::new(Arc::new(Deaf))), Arc::clone(&counts));
        let take = pushes.taker();
        take(&message(&["channel", "hello|of somebody else"]));
        assert!(!pushes.has_heard_itself());
        take(&message(&["channel", pushes.hello()]));
        assert!(pushes.has_heard_itself());
        assert_eq!(counts.foreign_messages(), 0);
        take(&message(&["channel"]));
        take(&message(&["channel", "news"]));
        assert_eq!(counts.foreign_messages(), 2);
    }
}
