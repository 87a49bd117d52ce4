//! What must hold from one entry of a journal to the next.

use crate::circuits::Circuit;
use crate::journal::entry::Entry;

/// The entries of one circuit, one after the other.
#[derive(Default)]
pub(super) struct Chain {
    /// None at the beginning, and since all data was lost.
    last: Option<Entry>,
    /// The latest epoch of all, also of those before a loss.
    highest: u64,
    /// The epoch of a round that has just closed the circuit.
    closed: Option<u64>,
}

impl Chain {
    pub(super) fn lost(&mut self) {
        self.last = None;
    }

    /// The next one. `lost_at` is when data was lost last, zero for never.
    pub(super) fn add(
        &mut self,
        entry: &Entry,
        circuit: &Circuit,
        lost_at: u64,
    ) -> Result<(), String> {
        let judged = match entry.what.as_str() {
            "restored" => self.restored(entry, lost_at),
            _ => self.moved(entry, circuit),
        };
        self.highest = self.highest.max(entry.epoch);
        self.last = Some(entry.clone());
        judged
    }

    /// The epoch of the round that the last entry has ended well, once.
    pub(super) fn take_closed(&mut self) -> Option<u64> {
        self.closed.take()
    }

    /// What was lost is put back by who knows it, and nothing else is.
    fn restored(&self, entry: &Entry, lost_at: u64) -> Result<(), String> {
        if lost_at == 0 {
            return Err("nothing had been lost".to_owned());
        }
        // A round of which the leases are lost becomes an opening of now.
        if entry.epoch > lost_at && entry.epoch < entry.now {
            return Err(format!("nothing has been lost since {lost_at}"));
        }
        Ok(())
    }

    fn moved(&mut self, entry: &Entry, circuit: &Circuit) -> Result<(), String> {
        if entry.epoch <= self.highest {
            return Err(format!("its epoch does not rise above {}", self.highest));
        }
        let stood = self.last.as_ref().map_or("closed", |last| &last.to);
        if entry.from != stood {
            return Err(format!("it was {stood}"));
        }
        let (from, to, reason) = (&*entry.from, &*entry.to, &*entry.reason);
        let is_known = match (from, to) {
            (_, "forced_open" | "forced_closed" | "shadow") => reason == "override",
            ("forced_open", _) => reason == "override_ended",
            ("forced_closed" | "shadow", "closed") => reason == "override_ended",
            (_, "closed") if reason == "reset" => true,
            ("closed", "open") => matches!(
                reason,
                "threshold" | "threshold_in_window" | "failure_rate" | "slow_call_rate"
            ),
            ("open", "half_open") => reason == "cooldown",
            ("half_open", "closed") => reason == "probes_succeeded",
            ("half_open", "open") => matches!(
                reason,
                "probe_failed" | "probe_slow" | "probe_failure_rate" | "probes_hung"
            ),
            _ => false,
        };
        // Beneath an override that stays.
        let is_reset = reason == "reset" && from == to;
        if !is_known && !is_reset {
            return Err("that rule does not make this move".to_owned());
        }
        match (from, to) {
            ("closed" | "half_open", "open") => self.opened(entry, circuit),
            ("open", "half_open") => self.cooled_down(entry),
            ("half_open", "closed") if reason == "probes_succeeded" => self.closed(entry, circuit),
            _ => Ok(()),
        }
    }

    /// It has opened for as long as the policy says.
    fn opened(&self, entry: &Entry, circuit: &Circuit) -> Result<(), String> {
        let policy = &circuit.policy;
        let trips = match (&self.last, &*entry.from) {
            (Some(last), "half_open") => last.trips + 1,
            (Some(last), _) if policy.get_ramp().is_some() && entry.trips > 1 => last.trips + 1,
            _ => 1,
        };
        if entry.trips != trips {
            return Err(format!("that is trip {trips}"));
        }
        let cooldown = policy.get_cooldown().as_secs_f64() * 1_000.0;
        let longest = policy.get_max_cooldown().as_secs_f64() * 1_000.0;
        let grown = cooldown * policy.get_backoff().powf(f64::from(trips) - 1.0);
        let least = grown.min(longest).floor();
        let most = least * (1.0 + policy.get_jitter());
        let length = f64::from(u32::try_from(entry.length).unwrap_or(u32::MAX));
        // Multiplied one by one, a number may come out a hair smaller.
        if length < least - 1.0 || length > most + 1.0 {
            return Err(format!("it should open for {least} to {most} ms"));
        }
        if entry.until != entry.now + entry.length {
            return Err("that is not when it ends".to_owned());
        }
        Ok(())
    }

    /// Nobody probes before an opening is over.
    fn cooled_down(&self, entry: &Entry) -> Result<(), String> {
        match &self.last {
            Some(last) if last.phase == "open" && entry.now < last.until => {
                Err(format!("it should stay open until {}", last.until))
            }
            _ => Ok(()),
        }
    }

    /// Enough probes have succeeded.
    fn closed(&mut self, entry: &Entry, circuit: &Circuit) -> Result<(), String> {
        self.closed = self.last.as_ref().map(|last| last.epoch);
        let enough = least_successes(circuit);
        if entry.number < enough {
            return Err(format!("it takes {enough} probes"));
        }
        Ok(())
    }
}

/// So many probes of a round have to succeed before it closes a circuit.
pub(crate) fn least_successes(circuit: &Circuit) -> u64 {
    let policy = &circuit.policy;
    let Some(rate) = policy.get_probe_failure_rate() else {
        return u64::from(policy.get_close_after());
    };
    // As soon as all the others could fail without the rate being reached.
    let probes = policy.get_probes();
    let mut failed = 0;
    while f64::from(failed + 1) / f64::from(probes) < rate {
        failed += 1;
    }
    u64::from(probes - failed)
}
