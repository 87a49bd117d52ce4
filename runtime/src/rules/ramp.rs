//! The ramp after a close: more and more of the calls that came before the trip.

use std::time::Duration;

use crate::clock::Tick;

/// The share of the former calls that is admitted at first.
const FIRST: f64 = 0.1;

/// A closed circuit that does not admit all calls yet: a bucket of tokens, one a call,
/// which fills faster and faster.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Ramp {
    began: Tick,
    /// Calls a second before the circuit opened.
    rate: f64,
    tokens: f64,
    /// When the tokens were counted.
    counted: Tick,
    /// The calls admitted in this ramp that have not ended.
    in_flight: u32,
}

impl Ramp {
    pub(super) const fn begin(rate: f64, now: Tick) -> Self {
        Self {
            began: now,
            rate,
            tokens: 1.0,
            counted: now,
            in_flight: 0,
        }
    }

    pub(super) fn is_over(&self, length: Duration, now: Tick) -> bool {
        now.since(self.began) >= length
    }

    /// Whether a call that comes is admitted. While none is in flight one always is, or
    /// a ramp that expects nothing would admit nobody.
    pub(super) fn admits(&mut self, length: Duration, now: Tick) -> bool {
        self.fill(length, now);
        let admits = if self.tokens >= 1.0 {
            self.tokens -= 1.0;
            true
        } else {
            self.in_flight == 0
        };
        if admits {
            self.in_flight += 1;
        }
        admits
    }

    pub(super) const fn ended(&mut self) {
        self.in_flight = self.in_flight.saturating_sub(1);
    }

    /// The calls that are out belong to a generation before, and will not be told here.
    pub(super) const fn forget_calls(&mut self) {
        self.in_flight = 0;
    }

    fn fill(&mut self, length: Duration, now: Tick) {
        let whole = length.as_secs_f64();
        let then = self.counted.since(self.began).as_secs_f64();
        let now_in = now.since(self.began).as_secs_f64();
        // The integral of the share from then to now.
        let shares = FIRST * (now_in - then)
            + (1.0 - FIRST) * (now_in * now_in - then * then) / (2.0 * whole);
        let share = FIRST + (1.0 - FIRST) * now_in / whole;
        // What a second brings may come at once; the one more loses no part of a token.
        let most = 1.0 + self.rate * share;
        self.tokens = (self.tokens + self.rate * shares).min(most);
        self.counted = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LENGTH: Duration = Duration::from_secs(100);

    fn at(seconds: u64) -> Tick {
        Tick(seconds * 1_000_000_000)
    }

    /// Of the calls that come once a second, so many are admitted between two seconds.
    fn admitted(ramp: &mut Ramp, seconds: std::ops::Range<u64>) -> usize {
        // One is always in flight, so that none is admitted for want of that.
        ramp.in_flight = 1;
        seconds
            .filter(|second| ramp.admits(LENGTH, at(*second)))
            .count()
    }

    #[test]
    fn a_tenth_is_admitted_at_first_and_nearly_all_at_the_end() {
        let mut ramp = Ramp::begin(1.0, at(0));
        let first = admitted(&mut ramp, 0..20);
        let last = admitted(&mut ramp, 80..100);
        assert!((3..=5).contains(&first), "{first}");
        assert!((17..=19).contains(&last), "{last}");
    }

    #[test]
    fn one_call_in_flight_is_admitted_however_few_came_before() {
        let mut ramp = Ramp::begin(0.0, at(0));
        assert!(ramp.admits(LENGTH, at(0)), "the first has a token");
        assert!(!ramp.admits(LENGTH, at(50)));
        ramp.ended();
        assert!(ramp.admits(LENGTH, at(50)));
    }

    #[test]
    fn a_lull_saves_up_no_more_than_a_second_brings() {
        let mut ramp = Ramp::begin(10.0, at(0));
        ramp.in_flight = 1;
        let burst = (0..100).filter(|_| ramp.admits(LENGTH, at(50))).count();
        assert_eq!(burst, 6);
    }

    #[test]
    fn a_ramp_is_over_at_exactly_its_length() {
        let ramp = Ramp::begin(1.0, at(7));
        assert!(!ramp.is_over(LENGTH, Tick(at(107).0 - 1)));
        assert!(ramp.is_over(LENGTH, at(107)));
    }
}
