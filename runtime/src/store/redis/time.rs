//! What time it is at the server, as far as its answers tell.

use std::sync::Mutex;
use std::sync::PoisonError;
use std::time::Duration;

use tokio::time::Instant;

/// The clock of one server. It never reads the clock of this machine as a date: only how much
/// time has passed since an answer.
#[derive(Debug, Default)]
pub(super) struct ServerClock(Mutex<Option<Sample>>);

/// The server had this time, in microseconds, at `at`, give or take `error`.
#[derive(Clone, Copy, Debug)]
struct Sample {
    at: Instant,
    micros: u64,
    error: Duration,
}

impl ServerClock {
    /// Two clocks may run apart by so many microseconds in a second.
    const DRIFT: u32 = 500;

    /// An answer to what was sent at `sent` came at `received`, and holds the server's time in
    /// microseconds, known to `grain`. The better of two samples stays; one that contradicts
    /// what was known shows that the clock has jumped, and takes its place.
    pub(super) fn heard(&self, sent: Instant, received: Instant, micros: u64, grain: Duration) {
        let way = received.saturating_duration_since(sent) / 2;
        let new = Sample {
            at: sent + way,
            micros,
            error: way + grain,
        };
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let stays = kept.is_some_and(|kept| {
            let (expected, error) = kept.tell(new.at);
            let apart = Duration::from_micros(expected.abs_diff(new.micros));
            apart <= error + new.error && error <= new.error
        });
        if !stays {
            *kept = Some(new);
        }
    }

    /// The server's time in microseconds; nothing before the first answer.
    pub(super) fn micros(&self, at: Instant) -> Option<u64> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.map(|kept| kept.tell(at).0)
    }

    /// The last millisecond of the server at which something may be done that has to be done
    /// `within` so long from `at`. Zero, which is any time, where its clock is not known.
    pub(super) fn deadline(&self, at: Instant, within: Duration) -> u64 {
        let within = u64::try_from(within.as_micros()).unwrap_or(u64::MAX);
        let now = self.micros(at);
        now.map_or(0, |now| now.saturating_add(within) / 1000)
    }
}

impl Sample {
    /// The time at `at`, and how far that may be off.
    fn tell(&self, at: Instant) -> (u64, Duration) {
        let (micros, age) = match at.checked_duration_since(self.at) {
            Some(age) => (self.micros.saturating_add(micros_of(age)), age),
            None => {
                let age = self.at.saturating_duration_since(at);
                (self.micros.saturating_sub(micros_of(age)), age)
            }
        };
        (micros, self.error + age * ServerClock::DRIFT / 1_000_000)
    }
}

fn micros_of(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);
    const START: u64 = 1_000_000_000;

    /// A clock, and the instant at which the server had `START` and one answer came at once.
    fn clock() -> (ServerClock, Instant) {
        let (clock, at) = (ServerClock::default(), Instant::now());
        clock.heard(at, at + 2 * MS, START + 1000, Duration::ZERO);
        (clock, at)
    }

    #[test]
    fn an_answer_is_taken_to_have_been_given_halfway() {
        let (clock, at) = clock();
        assert_eq!(clock.micros(at + 1 * MS), Some(START + 1000));
        assert_eq!(clock.micros(at + 101 * MS), Some(START + 101_000));
        assert_eq!(clock.micros(at), Some(START));
    }

    #[test]
    fn the_answer_that_came_faster_is_believed() {
        let (clock, at) = clock();
        // It took 50 ms, 49 of them on the way there.
        clock.heard(
            at + 100 * MS,
            at + 150 * MS,
            START + 149_000,
            Duration::ZERO,
        );
        assert_eq!(clock.micros(at + 200 * MS), Some(START + 200_000));
        // It took none.
        clock.heard(
            at + 200 * MS,
            at + 200 * MS,
            START + 200_100,
            Duration::ZERO,
        );
        assert_eq!(clock.micros(at + 300 * MS), Some(START + 300_100));
    }

    #[test]
    fn an_old_answer_gives_way_to_a_new_one_that_took_longer() {
        let (clock, at) = clock();
        let later = at + Duration::from_secs(100);
        clock.heard(later, later + 20 * MS, START + 100_000_000, Duration::ZERO);
        assert_eq!(clock.micros(later + 10 * MS), Some(START + 100_000_000));
    }

    #[test]
    fn a_clock_that_has_jumped_is_believed_at_once() {
        for jumped in [START + 3_600_000_000, START - 900_000_000] {
            let (clock, at) = clock();
            clock.heard(at + 10 * MS, at + 30 * MS, jumped, Duration::ZERO);
            assert_eq!(clock.micros(at + 20 * MS), Some(jumped));
        }
    }

    #[test]
    fn a_deadline_is_the_last_whole_millisecond_and_none_without_a_clock() {
        let (clock, at) = clock();
        assert_eq!(clock.deadline(at, 50 * MS), START / 1000 + 50);
        assert_eq!(ServerClock::default().deadline(at, 50 * MS), 0);
    }
}
