//! The probes that the service saw, and whether there were too many at a time.

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::MutexGuard;
use std::sync::PoisonError;
use std::time::Duration;
use std::time::Instant;

use crate::circuits::CIRCUITS;
use crate::spans::Spans;

#[derive(Default)]
pub(crate) struct Probes(Mutex<Vec<Probe>>);

#[derive(Clone, Copy)]
struct Probe {
    circuit: usize,
    seat: usize,
    /// What its process calls the round: the epoch that began with it, where all have decided.
    generation: u64,
    begin: Instant,
    end: Option<(Instant, Ended)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    Well,
    Badly,
    /// Its caller has given it up, or is gone.
    Gone,
}

/// When it may be that more of them are under way than there is leave for.
pub(crate) struct Excuses<'s> {
    /// Of each process, when it was stopped: it cannot renew a lease, and may use one later.
    pub(crate) stops: &'s [Spans],
    /// When Redis or the way to it was out of order: nobody can renew one.
    pub(crate) troubles: &'s Spans,
}

/// What came out.
pub(crate) struct Counted {
    /// By leave of all.
    pub(crate) shared: usize,
    /// Those of them that began while nothing was an excuse.
    pub(crate) judged: usize,
    /// By what one process had decided for itself.
    pub(crate) alone: usize,
    /// Those of them that began while nothing was an excuse.
    pub(crate) alone_in_peace: usize,
    pub(crate) wrong: Vec<String>,
}

/// The service hears that a caller has dropped its call when the place may be taken again.
const HEARING: Duration = Duration::from_millis(300);

/// After a fault of Redis all are connected again, and after a stop nothing is left of it.
const SETTLED: Duration = Duration::from_secs(5);

/// A process does not move so often by itself in one round, and no round follows another within
/// so many milliseconds.
const MOVES: u64 = 100;

impl Probes {
    /// One begins. Says which it is.
    pub(crate) fn begin(&self, circuit: usize, seat: usize, generation: u64) -> usize {
        let mut probes = self.lock();
        probes.push(Probe {
            circuit,
            seat,
            generation,
            begin: Instant::now(),
            end: None,
        });
        probes.len() - 1
    }

    pub(crate) fn end(&self, probe: usize, how: Ended) {
        self.lock()[probe].end = Some((Instant::now(), how));
    }

    /// Whose probes are under way.
    pub(crate) fn under_way(&self) -> Vec<usize> {
        let probes = self.lock();
        let live = probes.iter().rev().take(100).filter(|it| it.end.is_none());
        live.map(|it| it.seat).collect()
    }

    /// How many of the probes of a round the service has answered well. A process that had moved
    /// by itself before it took part has a slightly later generation.
    pub(crate) fn successes(&self, circuit: usize, round: u64) -> usize {
        let probes = self.lock();
        let of_round = probes
            .iter()
            .filter(|it| it.circuit == circuit && (round..round + MOVES).contains(&it.generation));
        of_round
            .filter(|it| it.end.is_some_and(|(_, how)| how == Ended::Well))
            .count()
    }

    /// Those that began about when a round did, for whoever looks for the reason of something.
    pub(crate) fn about(&self, circuit: usize, round: u64) -> String {
        let probes = self.lock();
        let about = probes.iter().filter(|it| {
            it.circuit == circuit && it.generation.abs_diff(round) < SETTLED.as_millis() as u64
        });
        let shown: Vec<_> = about
            .map(|it| format!("{} {}", it.generation, it.show(it)))
            .collect();
        shown.join("; ")
    }

    /// Judges all of them. `rounds` are those that the journal tells of.
    pub(crate) fn judge(&self, rounds: &BTreeSet<(usize, u64)>, excuses: &Excuses<'_>) -> Counted {
        let mut counted = Counted {
            shared: 0,
            judged: 0,
            alone: 0,
            alone_in_peace: 0,
            wrong: Vec::new(),
        };
        let mut together: BTreeMap<_, Vec<Probe>> = BTreeMap::new();
        for probe in self.lock().iter() {
            let is_shared = rounds.contains(&(probe.circuit, probe.generation));
            let owner = (!is_shared).then_some(probe.seat);
            match is_shared {
                true => counted.shared += 1,
                false => counted.alone += 1,
            }
            if !excuses.hold(probe, probe.begin) {
                match is_shared {
                    true => counted.judged += 1,
                    false => counted.alone_in_peace += 1,
                }
            }
            let round = (probe.circuit, probe.generation, owner);
            together.entry(round).or_default().push(*probe);
        }
        for ((circuit, generation, owner), probes) in together {
            let most = CIRCUITS[circuit].policy.get_probe_concurrency() as usize;
            for (at, probe) in probes.iter().enumerate() {
                let others = probes[..at]
                    .iter()
                    .filter(|other| excuses.counts(other, probe.begin));
                let count = others.count() + 1;
                if count > most && !excuses.hold(probe, probe.begin) {
                    let whose = owner.map_or_else(String::new, |seat| format!(" of worker {seat}"));
                    let list: Vec<_> = probes[..=at].iter().map(|it| it.show(probe)).collect();
                    counted.wrong.push(format!(
                        "{count} probes of {} at a time in round {generation}{whose}: {}",
                        CIRCUITS[circuit].name,
                        list.join("; ")
                    ));
                }
            }
        }
        counted
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Probe>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Probe {
    fn show(&self, now: &Self) -> String {
        let end = match self.end {
            Some((end, how)) => format!("{how:?} after {:?}", end - self.begin),
            None => "under way".to_owned(),
        };
        let ago = now.begin - self.begin;
        format!("of worker {} {ago:?} before, {end}", self.seat)
    }
}

impl Excuses<'_> {
    /// Whether this probe holds a place for sure when another begins.
    fn counts(&self, probe: &Probe, then: Instant) -> bool {
        let is_over = match probe.end {
            Some((end, Ended::Gone)) => end <= then + HEARING,
            Some((end, _)) => end <= then,
            None => false,
        };
        !is_over && !self.hold(probe, then)
    }

    /// Whether leave of this probe may have passed to another by then, or was not asked for.
    fn hold(&self, probe: &Probe, then: Instant) -> bool {
        let before = probe.begin.checked_sub(SETTLED).unwrap_or(probe.begin);
        self.stops[probe.seat].touch(before, then) || self.troubles.touch(before, then)
    }
}
