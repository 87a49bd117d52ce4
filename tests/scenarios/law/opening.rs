//! Openings: how many there were, and how long one lasts.

use std::time::Duration;

use breakerbox::Reason;

use super::Fault;
use super::Law;
use super::Logged;
use super::Mode;
use super::later;
use crate::scenarios::notation::Ending;
use crate::scenarios::seen::Held;

/// One opening.
#[derive(Clone, Copy, Debug)]
pub(super) struct Opening {
    pub(super) until: Duration,
    pub(super) why: Reason,
    /// What a closed circuit's window held when it opened.
    pub(super) held: Held,
}

impl Law {
    /// The circuit opens, because of a call that ended so, if one did.
    pub(super) fn trip(&mut self, how: Option<Ending>, why: Reason) {
        let mut held = Held::default();
        if let Mode::Closed { ramp } = self.present().beneath {
            held = self.window().unwrap_or_default();
            // What comes in a ramp says nothing about what would come without one.
            if ramp.is_none() || self.goes_wrong(Fault::RampTakesItsOwnRate) {
                self.log.push(Logged::Rate(self.calls_per_second()));
            }
        }
        let opening = Opening {
            until: later(self.now, self.length(how, self.trips() + 1)),
            why,
            held,
        };
        self.log.push(Logged::Opened(opening));
        self.enter(Mode::Open(opening), why);
    }

    /// The openings by rules since the circuit closed, or since its ramp ended.
    pub(super) fn trips(&self) -> usize {
        let log = self.log.iter().rev();
        log.take_while(|logged| !matches!(logged, Logged::Forgiven))
            .filter(|logged| match logged {
                Logged::Opened(opening) => {
                    opening.why != Reason::OpenFor || !self.goes_wrong(Fault::BanIsNoTrip)
                }
                _ => false,
            })
            .count()
    }

    fn length(&self, how: Option<Ending>, trips: usize) -> Duration {
        let longest = if self.goes_wrong(Fault::RestHasNoCap) {
            Duration::MAX
        } else {
            self.numbers.max_open_for()
        };
        match how {
            // A ban is obeyed to the tick.
            Some(Ending::OpenFor(ban)) => ban.min(longest),
            Some(Ending::RetryAfter(rest)) => self.cooldown(trips, rest.min(longest)),
            _ => self.cooldown(trips, Duration::ZERO),
        }
    }

    /// `cooldown * backoff^(trips - 1)`, up to `max_cooldown`, and with the jitter up to
    /// `1 + jitter` times that: but not less than `rest`.
    fn cooldown(&self, trips: usize, rest: Duration) -> Duration {
        let mut factor = 1.0;
        let before = if self.goes_wrong(Fault::BackoffOneEarly) {
            0
        } else {
            1
        };
        for _ in before..trips {
            factor *= self.numbers.backoff.unwrap_or(1.0);
        }
        let cap = self.numbers.max_cooldown();
        let mut length = times(self.numbers.cooldown(), factor);
        if !self.goes_wrong(Fault::CooldownHasNoCap) {
            length = length.min(cap);
        }
        let jitter = self.numbers.jitter.unwrap_or(0.0);
        let mut most = times(length, 1.0 + jitter);
        if self.goes_wrong(Fault::JitterIsCapped) {
            most = most.min(cap);
        }
        let within = length.max(rest)..=most.max(rest);
        match self.hint.left {
            Some(drawn) if jitter > 0.0 && within.contains(&drawn) => drawn,
            _ => *within.start(),
        }
    }
}

fn times(duration: Duration, factor: f64) -> Duration {
    if factor == 1.0 {
        return duration;
    }
    let product = duration.as_secs_f64() * factor;
    Duration::try_from_secs_f64(product).unwrap_or(Duration::MAX)
}
