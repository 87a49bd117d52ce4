//! The journals in Redis, read so often that nothing is lost between two readings.

mod entry;
mod law;

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::MutexGuard;
use std::sync::PoisonError;
use std::time::SystemTime;
use std::time::UNIX_EPOCH;

use breakerbox_servers::Server;
use breakerbox_servers::Value;

use crate::circuits::CIRCUITS;
use crate::log::Log;
use entry::Entry;
use law::Chain;
pub(crate) use law::least_successes;

/// What all of them say, from the beginning.
pub(crate) struct Journal(Mutex<Read>);

struct Read {
    circuits: [Circuit; CIRCUITS.len()],
    rounds: BTreeSet<(usize, u64)>,
    closings: Vec<Closing>,
    /// The last time that Redis lost all data, by its own clock.
    lost_at: u64,
    lost: u32,
}

#[derive(Default)]
struct Circuit {
    /// The newest entry that was read, as it stands there.
    newest: Option<String>,
    chain: Chain,
    counts: Counts,
}

/// What has happened to one circuit.
#[derive(Clone, Copy, Default)]
pub(crate) struct Counts {
    pub(crate) entries: usize,
    pub(crate) opened: usize,
    pub(crate) closed: usize,
    pub(crate) forced: usize,
    pub(crate) restored: usize,
}

/// A round of probes has closed a circuit.
#[derive(Clone, Copy)]
pub(crate) struct Closing {
    pub(crate) circuit: usize,
    pub(crate) round: u64,
}

/// Nobody reads while this is held: the server can be stopped, killed and emptied.
pub(crate) struct Hold<'j>(MutexGuard<'j, Read>);

impl Journal {
    pub(crate) fn new() -> Self {
        Self(Mutex::new(Read {
            circuits: std::array::from_fn(|_| Circuit::default()),
            rounds: BTreeSet::new(),
            closings: Vec::new(),
            lost_at: 0,
            lost: 0,
        }))
    }

    /// Reads what is new.
    pub(crate) fn read(&self, server: &Server, log: &Log) {
        self.hold().read(server, log);
    }

    pub(crate) fn hold(&self) -> Hold<'_> {
        Hold(self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn counts(&self) -> [Counts; CIRCUITS.len()] {
        let read = self.hold().0;
        std::array::from_fn(|at| read.circuits[at].counts)
    }

    /// All half-open periods, by circuit and epoch.
    pub(crate) fn rounds(&self) -> BTreeSet<(usize, u64)> {
        self.hold().0.rounds.clone()
    }

    pub(crate) fn closings(&self) -> Vec<Closing> {
        self.hold().0.closings.clone()
    }

    pub(crate) fn losses(&self) -> u32 {
        self.hold().0.lost
    }
}

impl Hold<'_> {
    pub(crate) fn read(&mut self, server: &Server, log: &Log) {
        for (at, circuit) in CIRCUITS.iter().enumerate() {
            let key = format!("breakerbox:{{{}}}:journal", circuit.name);
            match server.try_command(&["LRANGE", &key, "0", "-1"]) {
                Ok(Value::Array(lines)) => self.0.take(at, &lines, log),
                // What is not said now is said the next time.
                Ok(_) | Err(_) => log.note("the journal could not be read"),
            }
        }
    }

    /// All data is gone since it was read last.
    pub(crate) fn lost(&mut self) {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let now = now.expect("it is later than 1970").as_millis();
        self.0.lost_at = u64::try_from(now).expect("it is not that late");
        self.0.lost += 1;
        for circuit in &mut self.0.circuits {
            circuit.newest = None;
            circuit.chain.lost();
        }
    }
}

impl Read {
    /// These lie there now, the newest first.
    fn take(&mut self, at: usize, lines: &[Value], log: &Log) {
        let Self {
            circuits,
            rounds,
            closings,
            lost_at,
            ..
        } = self;
        let circuit = &mut circuits[at];
        let name = CIRCUITS[at].name;
        let lines: Vec<&str> = lines.iter().map(Value::text).collect();
        let new = match &circuit.newest {
            Some(newest) => match lines.iter().position(|line| line == newest) {
                Some(known) => &lines[..known],
                None => {
                    log.wrong(&format!("what {name} had in its journal is gone"));
                    &lines[..]
                }
            },
            None => &lines[..],
        };
        for line in new.iter().rev() {
            log.note(&format!("journal: {line}"));
            let Some(entry) = Entry::of(line) else {
                log.wrong(&format!("an entry of {name} that nobody can read: {line}"));
                continue;
            };
            if let Err(wrong) = circuit.chain.add(&entry, &CIRCUITS[at], *lost_at) {
                log.wrong(&format!("{name}: {wrong}: {line}"));
            }
            circuit.counts.add(&entry);
            if entry.to == "half_open" {
                rounds.insert((at, entry.epoch));
            }
            if let Some(round) = circuit.chain.take_closed() {
                closings.push(Closing { circuit: at, round });
            }
        }
        if let Some(newest) = new.first() {
            circuit.newest = Some((*newest).to_owned());
        }
    }
}

impl Counts {
    fn add(&mut self, entry: &Entry) {
        self.entries += 1;
        match entry.to.as_str() {
            _ if entry.what == "restored" => self.restored += 1,
            "open" => self.opened += 1,
            "closed" => self.closed += 1,
            "forced_open" | "forced_closed" | "shadow" => self.forced += 1,
            _ => {}
        }
    }
}
