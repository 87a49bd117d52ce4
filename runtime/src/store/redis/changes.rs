//! That a cluster is not what it was known to be, and when it is time to look at it again.

use std::sync::Mutex;
use std::sync::MutexGuard;
use std::sync::PoisonError;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;

/// Whoever notices something notes it, and one looks, at once but not too often: while a node
/// is dead and nobody has taken its place, every command to it fails.
#[derive(Default)]
pub(super) struct Changes {
    are_noted: AtomicBool,
    noted: Notify,
    pace: Mutex<Pace>,
}

#[derive(Default)]
struct Pace {
    /// Not before this is it looked at again.
    next: Option<Instant>,
    /// Looks in a row that did not set everything right.
    in_vain: u32,
}

impl Changes {
    const FIRST: Duration = Duration::from_secs(1);
    const LONGEST: Duration = Duration::from_secs(5);

    pub(super) fn note(&self) {
        self.are_noted.store(true, Relaxed);
        self.noted.notify_one();
    }

    pub(super) fn are_noted(&self) -> bool {
        self.are_noted.load(Relaxed)
    }

    /// Waits until something is noted and it is time to look. It may be given up and begun
    /// anew at any time.
    pub(super) async fn due(&self) {
        while !self.are_noted() {
            self.noted.notified().await;
        }
        let next = self.pace().next;
        if let Some(next) = next {
            tokio::time::sleep_until(next).await;
        }
    }

    /// Somebody begins to look: what is noted from now on is news.
    pub(super) fn look(&self) {
        self.are_noted.store(false, Relaxed);
    }

    /// Whoever looked has found everything, or has not.
    pub(super) fn looked(&self, is_settled: bool) {
        let mut pace = self.pace();
        let grown = Self::FIRST.saturating_mul(1 << pace.in_vain.min(8));
        // Spread, since all processes notice at once that a node is dead.
        let wait = grown.min(Self::LONGEST).mul_f64(1.0 + fastrand::f64());
        pace.next = Some(Instant::now() + wait);
        pace.in_vain = match is_settled {
            true => 0,
            false => pace.in_vain.saturating_add(1),
        };
        drop(pace);
        if !is_settled {
            self.note();
        }
    }

    fn pace(&self) -> MutexGuard<'_, Pace> {
        self.pace.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(all(test, feature = "test-util"))]
mod tests {
    use super::*;

    /// How long it takes until it is time to look, which is done then.
    async fn look(changes: &Changes, is_settled: bool) -> Duration {
        let begun = Instant::now();
        changes.due().await;
        changes.look();
        changes.looked(is_settled);
        begun.elapsed()
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_noted_first_is_looked_at_at_once() {
        let changes = Changes::default();
        let waited = tokio::time::timeout(Duration::from_secs(3600), changes.due()).await;
        assert!(waited.is_err(), "there is nothing to look at");
        changes.note();
        assert_eq!(look(&changes, true).await, Duration::ZERO);
        let waited = tokio::time::timeout(Duration::from_secs(3600), changes.due()).await;
        assert!(waited.is_err(), "it was looked at");
        changes.note();
        assert_eq!(look(&changes, true).await, Duration::ZERO);
    }

    #[tokio::test(start_paused = true)]
    async fn however_much_is_noted_it_is_looked_at_once_a_second_at_most() {
        let changes = Changes::default();
        changes.note();
        look(&changes, true).await;
        for _ in 0..100 {
            changes.note();
            changes.note();
            let waited = look(&changes, true).await;
            assert!(waited >= Changes::FIRST, "{waited:?}");
            assert!(waited <= 2 * Changes::FIRST + Duration::from_millis(1));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_not_set_right_is_looked_at_ever_later_up_to_an_end() {
        let changes = Changes::default();
        changes.note();
        look(&changes, false).await;
        for in_vain in 0..100 {
            let waited = look(&changes, false).await;
            let grown = Duration::from_secs(1 << in_vain.min(8)).min(Changes::LONGEST);
            assert!(waited >= grown, "{in_vain}: {waited:?}");
            assert!(waited <= 2 * grown + Duration::from_millis(1));
        }
        look(&changes, true).await;
        changes.note();
        look(&changes, true).await;
        changes.note();
        let waited = look(&changes, true).await;
        assert!(waited <= 2 * Changes::FIRST + Duration::from_millis(1));
    }

    /// Whoever waits for it also waits for other things, and comes back.
    #[tokio::test(start_paused = true)]
    async fn whoever_gives_up_misses_nothing() {
        let changes = Changes::default();
        changes.note();
        look(&changes, true).await;
        changes.note();
        let given_up = tokio::time::timeout(Duration::from_millis(1), changes.due()).await;
        assert!(given_up.is_err(), "it was looked at just now");
        changes.due().await;
        changes.look();
        assert!(!changes.are_noted());
    }
}
