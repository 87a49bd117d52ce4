//! The clock of a registry where tests may choose it.

use std::time::Duration;

use crate::clock::ManualClock;
use crate::clock::Sleep;
use crate::clock::Tick;
use crate::clock::followed::Followed;
use crate::clock::system::System;

/// The clock of one registry, for [`RegistryBuilder::clock`](crate::RegistryBuilder::clock).
///
/// Every clock begins at zero, when it is made; it is the same for all registries that are
/// given a clone of it. A clock that a test moves by hand comes from a [`ManualClock`].
#[derive(Clone, Debug)]
pub struct Clock(Kind);

#[derive(Clone, Debug)]
enum Kind {
    System(System),
    Followed(Followed),
    Manual(ManualClock),
}

impl Clock {
    /// The clock of the system, as without the feature `test-util`: it goes on where tokio's
    /// is paused.
    #[must_use]
    pub fn system() -> Self {
        Self(Kind::System(System::default()))
    }

    /// Tokio's clock, which stands still and jumps where a test has paused it, and is the
    /// system's everywhere else. A registry has it unless it is given another.
    ///
    /// A thread outside of the paused runtime sees the system's time, also that of a
    /// registry that follows the runtime elsewhere.
    #[must_use]
    pub fn tokio() -> Self {
        Self(Kind::Followed(Followed::new()))
    }

    pub(super) const fn manual(time: ManualClock) -> Self {
        Self(Kind::Manual(time))
    }

    /// As of [`System::now`].
    #[inline]
    pub(crate) fn now(&self) -> Tick {
        match &self.0 {
            Kind::System(system) => system.now(),
            Kind::Followed(tokio) => tokio.now(),
            Kind::Manual(time) => time.now(),
        }
    }

    /// As of [`System::coarse`]; exact where a test has its hand in time.
    #[inline]
    pub(crate) fn coarse(&self) -> Tick {
        match &self.0 {
            Kind::System(system) => system.coarse(),
            Kind::Followed(_) | Kind::Manual(_) => self.now(),
        }
    }

    /// As of [`System::sleep`].
    pub(crate) fn sleep(&self, duration: Duration) -> Sleep {
        match &self.0 {
            Kind::System(system) => system.sleep(duration),
            Kind::Followed(tokio) => tokio.sleep(duration),
            Kind::Manual(time) => time.sleep(duration),
        }
    }

    /// As of [`System::beside`].
    #[inline]
    pub(crate) fn beside(&self, border: Tick) -> Tick {
        match &self.0 {
            Kind::System(system) => system.beside(border),
            Kind::Followed(_) | Kind::Manual(_) => self.now(),
        }
    }
}

impl Default for Clock {
    fn default() -> Self {
        Self::tokio()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manual_clock_is_exact_in_all_its_readings() {
        let time = ManualClock::new();
        let clock = time.clock();
        time.advance(Duration::from_nanos(7));
        assert_eq!(clock.now(), Tick(7));
        assert_eq!(clock.coarse(), Tick(7));
        assert_eq!(clock.beside(Tick(8)), Tick(7));
    }

    #[test]
    fn a_manual_clock_stops_at_the_end_of_time() {
        let time = ManualClock::new();
        time.advance(Duration::from_nanos(1));
        time.advance(Duration::MAX);
        assert_eq!(time.clock().now(), Tick(u64::MAX));
    }

    #[tokio::test(start_paused = true)]
    async fn a_clock_that_follows_tokio_is_exact_in_all_its_readings() {
        let clock = Clock::tokio();
        tokio::time::advance(Duration::from_nanos(7)).await;
        assert_eq!(clock.now(), Tick(7));
        assert_eq!(clock.coarse(), Tick(7));
    }

    #[tokio::test(start_paused = true)]
    async fn the_clock_of_the_system_does_not_stand_still_with_tokio() {
        let clock = Clock::system();
        let begin = clock.now();
        while clock.now() == begin {
            std::hint::spin_loop();
        }
    }
}
