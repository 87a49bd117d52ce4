//! What somebody here wants of all processes, until they know it.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Acquire;
use std::sync::atomic::Ordering::Release;
use std::time::Duration;
use std::time::Instant;

use crate::rules::fleet::Force;

/// What somebody here wants of all processes.
pub(crate) struct Wish {
    force: Force,
    /// Which override that is: noted where one begins, and looked up where it is to end.
    mine: Arc<AtomicU64>,
    since: Instant,
    /// The epoch that was known when it was told first.
    told_in: Option<u64>,
    _wishing: Arc<()>,
}

/// A wish is not tried any more that is older.
const STALE: Duration = Duration::from_secs(30);

impl Wish {
    /// It has `wishing` until it is answered.
    pub(super) fn new(force: Force, mine: Arc<AtomicU64>, wishing: &Arc<()>) -> Self {
        Self {
            force,
            mine,
            since: Instant::now(),
            told_in: None,
            _wishing: Arc::clone(wishing),
        }
    }

    /// What is to be told now; nothing where its time is over.
    pub(crate) fn now(&self) -> Option<Force> {
        let mut force = self.force.clone();
        match &mut force {
            // Something else may have happened since that nobody wants to end.
            Force::Clear | Force::Reset if self.is_stale() => return None,
            Force::ClearOnly(id) => *id = self.mine.load(Acquire),
            Force::Cover { ttl, .. } => {
                let gone = self.since.elapsed().as_millis();
                *ttl = ttl.saturating_sub(u64::try_from(gone).unwrap_or(u64::MAX));
                if *ttl == 0 {
                    return None;
                }
            }
            _ => {}
        }
        Some(force)
    }

    /// It is told, while this epoch is known. Says which one was when it was told before.
    pub(crate) fn tell_in(&mut self, epoch: u64) -> Option<u64> {
        let before = self.told_in;
        self.told_in = before.or(Some(epoch));
        before
    }

    /// Whether it may be done twice, or late.
    pub(crate) const fn is_harmless(&self) -> bool {
        matches!(self.force, Force::Cover { .. } | Force::ClearOnly(_))
    }

    /// It began as this one, as all know it.
    pub(crate) fn began(&self, id: u64) {
        self.mine.store(id, Release);
    }

    /// The end of whatever lies over it is that of this override from now on, where there is one.
    pub(super) fn narrowed(mut self, cover: Option<u64>) -> Option<Self> {
        if self.force == Force::Clear {
            let id = cover?;
            self.force = Force::ClearOnly(id);
            self.mine = Arc::new(AtomicU64::new(id));
        }
        Some(self)
    }

    /// Whether it is the end of one override alone.
    pub(super) const fn ends_one(&self) -> bool {
        matches!(self.force, Force::ClearOnly(_))
    }

    /// Whether both are, and of the same one.
    pub(super) fn ends_the_same(&self, other: &Self) -> bool {
        let mine = |it: &Self| it.mine.load(Acquire);
        self.ends_one() && other.ends_one() && mine(self) == mine(other)
    }

    pub(super) fn is_stale(&self) -> bool {
        self.since.elapsed() >= STALE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wish(force: Force, since: Instant) -> Wish {
        Wish {
            since,
            ..Wish::new(force, Arc::default(), &Arc::default())
        }
    }

    /// A connection that was lost before it was told brought it whenever it was back.
    #[test]
    fn a_reset_that_was_wanted_long_ago_is_not_told() {
        let now = Instant::now();
        let then = now.checked_sub(STALE).expect("the machine runs longer");
        for force in [Force::Reset, Force::Clear] {
            assert_eq!(wish(force.clone(), then).now(), None);
            assert_eq!(wish(force.clone(), now).now(), Some(force));
        }
        let one = wish(Force::ClearOnly(0), then);
        one.began(7);
        assert_eq!(one.now(), Some(Force::ClearOnly(7)));
    }
}
