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
    resetting: Option<Arc<()>>,
}

/// A wish is not tried any more that is older.
const STALE: Duration = Duration::from_secs(30);

impl Wish {
    /// It has `wishing` until it is answered, and `resetting` until the answer is heard where it
    /// is a reset.
    pub(super) fn new(
        force: Force,
        mine: Arc<AtomicU64>,
        wishing: &Arc<()>,
        resetting: &Arc<()>,
    ) -> Self {
        let is_reset = force == Force::Reset;
        Self {
            force,
            mine,
            since: Instant::now(),
            told_in: None,
            _wishing: Arc::clone(wishing),
            resetting: is_reset.then(|| Arc::clone(resetting)),
        }
    }

    /// It is answered. What this gives is to be kept until that is heard.
    pub(crate) fn answered(self) -> Option<Arc<()>> {
        self.resetting
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

    /// Whether it is the end of that override, of which nobody may know yet which one it is.
    pub(crate) fn ends(&self, override_: &Self) -> bool {
        let is_one = matches!(override_.force, Force::Cover { .. });
        is_one && self.ends_one() && Arc::ptr_eq(&self.mine, &override_.mine)
    }

    /// Whether nobody wants that any more who wants this.
    pub(crate) fn replaces(&self, earlier: &Self) -> bool {
        match (&self.force, &earlier.force) {
            (Force::Reset, Force::Reset) => true,
            (Force::ClearOnly(_), Force::ClearOnly(_)) => {
                let id = self.mine.load(Acquire);
                let is_known = id != 0 && id == earlier.mine.load(Acquire);
                is_known || Arc::ptr_eq(&self.mine, &earlier.mine)
            }
            (one, other) => is_of_overrides(one) && is_of_overrides(other),
        }
    }

    pub(super) fn is_stale(&self) -> bool {
        self.since.elapsed() >= STALE
    }
}

/// Whether it says what lies over the circuit, whatever lay there before.
const fn is_of_overrides(force: &Force) -> bool {
    matches!(force, Force::Cover { .. } | Force::Clear)
}

#[cfg(test)]
mod tests {
    use crate::member::Link;
    use crate::member::Member;
    use crate::sharing::WhenStoreIsLost;

    use super::*;

    fn wish(force: Force, since: Instant) -> Wish {
        Wish {
            since,
            ..Wish::new(force, Arc::default(), &Arc::default(), &Arc::default())
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

    /// Where the store could not be reached for half a minute, the override lasted for all others.
    #[test]
    fn the_end_of_one_override_is_told_however_late() {
        let link = Arc::new(Link::new(1, WhenStoreIsLost::Local));
        let member = Member::new("stripe".to_owned(), link, 0);
        let now = Instant::now();
        let then = now.checked_sub(STALE).expect("the machine runs longer");
        member.wish_again(vec![wish(Force::Reset, then)]);
        assert!(!member.has_wishes());
        member.wish_again(vec![wish(Force::ClearOnly(0), then)]);
        assert!(member.has_wishes());
    }
}
