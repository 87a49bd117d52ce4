//! The numbers of a night, counted from its evidence.

use std::collections::HashSet;
use std::time::Duration;
use std::time::Instant;

use breakerbox::State;

use crate::night::Night;

impl Night {
    /// Until the last payment was confirmed, or the night was stopped.
    pub(crate) fn elapsed(&self) -> Duration {
        self.end - self.start
    }

    /// Orders that the provider booked.
    pub(crate) fn charged(&self) -> usize {
        self.booked().len()
    }

    /// Orders that the provider booked more than once.
    pub(crate) fn charged_twice(&self) -> usize {
        let bookings = &self.books.bookings;
        let mut once = HashSet::new();
        let again = bookings.iter().filter(|order| !once.insert(*order));
        again.collect::<HashSet<_>>().len()
    }

    /// Orders neither in the queue nor both booked and confirmed.
    pub(crate) fn lost(&self) -> usize {
        let (booked, lanes) = (self.booked(), &self.lanes);
        let confirmed = lanes.confirmed.iter().map(|(payment, _)| payment.order);
        let made = confirmed.filter(|order| booked.contains(order));
        let queued = lanes.payments.iter().map(|payment| payment.0.order);
        self.jobs - made.chain(queued).collect::<HashSet<_>>().len()
    }

    fn booked(&self) -> HashSet<usize> {
        self.books.bookings.iter().copied().collect()
    }

    /// How long the given share of the e-mails waited at most.
    pub(crate) fn mail_wait(&self, percent: usize) -> Option<Duration> {
        let mails = &self.tally.mails;
        let rank = (mails.len() * percent).div_ceil(100);
        Some(mails.get(rank.checked_sub(1)?)?.0)
    }

    /// The median time it took to put a rejected payment back.
    pub(crate) fn put_back_in(&self) -> Option<Duration> {
        let put_back = &self.tally.put_back;
        put_back.get(put_back.len() / 2).copied()
    }

    /// How often the circuit opened, by failures in a row or by a probe that failed.
    pub(crate) fn trips(&self) -> usize {
        let states = self.circuit.iter().map(|(_, to)| *to);
        states.filter(|state| *state == State::Open).count()
    }

    /// From the first moment of the outage until the circuit opened.
    pub(crate) fn detected_in(&self) -> Option<Duration> {
        self.first(State::Open, self.books.down?)
    }

    /// From the provider's recovery until the circuit closed.
    pub(crate) fn recovered_in(&self) -> Option<Duration> {
        self.first(State::Closed, self.books.up_again?)
    }

    fn first(&self, state: State, after: Instant) -> Option<Duration> {
        let after = after - self.start;
        let mut found = self.circuit.iter().filter(|(_, to)| *to == state);
        let (at, _) = found.find(|(at, _)| *at >= after)?;
        Some(*at - after)
    }
}
