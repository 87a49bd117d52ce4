//! The clock of the system.

use std::time::Duration;

use crate::clock::Sleep;
use crate::clock::Tick;
use crate::clock::kernel;
use crate::clock::kernel::Kernel;
use crate::clock::sleep;

/// The clock of the system, from the instant at which it was made.
#[derive(Clone, Debug)]
pub(crate) struct System {
    kernel: Kernel,
    /// On the kernel's scale, so that exact and coarse ticks can be compared.
    origin: u64,
}

impl Default for System {
    fn default() -> Self {
        let kernel = Kernel::new();
        Self {
            kernel,
            origin: kernel.exact(),
        }
    }
}

impl System {
    /// The exact time. It never goes back, whichever threads read it one after the other.
    #[inline]
    pub(crate) fn now(&self) -> Tick {
        Tick(self.kernel.exact().saturating_sub(self.origin))
    }

    /// The time as of a short while ago: never ahead of [`now`](Self::now), and behind it
    /// by at most [`lag`](Self::lag).
    #[inline]
    pub(crate) fn coarse(&self) -> Tick {
        Tick(self.kernel.coarse().saturating_sub(self.origin))
    }

    /// How far the coarse time may be behind; zero where it is exact.
    #[inline]
    pub(crate) const fn lag(&self) -> Duration {
        kernel::LAG
    }

    /// Ready when so much time has passed.
    pub(crate) fn sleep(&self, duration: Duration) -> Sleep {
        sleep::by_system(duration)
    }

    /// A time that is on the right side of `border`: coarse where that is enough to tell.
    #[inline]
    pub(crate) fn beside(&self, border: Tick) -> Tick {
        let coarse = self.coarse();
        if coarse < border && coarse + self.lag() >= border {
            self.now()
        } else {
            coarse
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU64;
    use std::sync::atomic::Ordering::AcqRel;
    use std::sync::atomic::Ordering::Acquire;
    use std::thread;

    use super::*;

    const ROUNDS: usize = 100_000;

    #[test]
    fn the_coarse_time_is_never_ahead_of_the_exact_one() {
        let clock = System::default();
        for _ in 0..ROUNDS {
            let coarse = clock.coarse();
            assert!(coarse <= clock.now());
        }
    }

    /// A machine that was kept waiting may be further behind once, and not for long.
    #[test]
    fn the_coarse_time_follows_within_its_lag() {
        let clock = System::default();
        let begin = clock.now();
        // The lag itself has to pass before the coarse time can be seen to follow.
        while clock.now() < begin + clock.lag() * 2 {
            let now = clock.now();
            let follows = (0..ROUNDS).any(|_| {
                let follows = clock.coarse() + clock.lag() >= now;
                if !follows {
                    thread::yield_now();
                }
                follows
            });
            assert!(follows, "it stays behind {now:?}");
        }
    }

    #[test]
    fn a_time_that_one_thread_has_read_is_not_ahead_of_any_other() {
        let clock = System::default();
        let latest = AtomicU64::new(0);
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..ROUNDS {
                        let seen = latest.load(Acquire);
                        let (coarse, now) = (clock.coarse(), clock.now());
                        assert!(coarse <= now && seen <= now.0);
                        latest.fetch_max(now.0, AcqRel);
                    }
                });
            }
        });
    }

    #[test]
    fn a_time_beside_a_border_is_on_its_right_side() {
        let clock = System::default();
        for _ in 0..ROUNDS {
            let border = clock.now();
            assert!(clock.beside(border) >= border);
        }
        let far = clock.now() + Duration::from_secs(3_600);
        assert!(clock.beside(far) < far);
    }

    #[test]
    fn a_clock_begins_at_nothing() {
        let before = System::default();
        let clock = System::default();
        assert!(clock.now() <= before.now());
        let later = System::default();
        assert!(later.coarse() <= later.now());
        assert!(later.now() <= clock.now());
    }
}
