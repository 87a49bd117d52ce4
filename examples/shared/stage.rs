//! Where the story is played: what is done to the provider and the workers, what is noted of
//! it, and what is claimed.

use std::error::Error;
use std::sync::Arc;
use std::thread;
use std::time::Duration;
use std::time::Instant;

use breakerbox_servers::Server;
use breakerbox_servers::Value;

use crate::fleet::Fleet;
use crate::provider;
use crate::provider::Answer;
use crate::provider::Call;
use crate::provider::HEALTHY;
use crate::provider::Provider;
use crate::report;
use crate::report::Claim;
use crate::report::Opening;
use crate::report::Probes;
use crate::report::Told;
use crate::words::Counts;
use crate::words::What;
use crate::worker;

/// The provider fails at once.
pub(crate) const FAILS: Answer = Answer::Status(503, Duration::from_millis(2));

/// What was sent before the last circuit opened has arrived by then.
const ARRIVED: Duration = Duration::from_millis(100);

pub(crate) type Outcome<T = ()> = Result<T, Box<dyn Error>>;

/// All there is on it.
pub(crate) struct Stage<'a> {
    pub(crate) start: Instant,
    pub(crate) redis: &'a Server,
    pub(crate) provider: Arc<Provider>,
    pub(crate) fleet: Fleet,
    /// What else there is to show of this scene.
    notes: Vec<(Duration, String, String)>,
    /// How much of what was said is shown.
    shown: usize,
    pub(crate) told: Told,
}

impl<'a> Stage<'a> {
    pub(crate) const fn new(
        start: Instant,
        redis: &'a Server,
        provider: Arc<Provider>,
        fleet: Fleet,
        told: Told,
    ) -> Self {
        Self {
            start,
            redis,
            provider,
            fleet,
            notes: Vec::new(),
            shown: 0,
            told,
        }
    }

    pub(crate) fn all(&self) -> Vec<usize> {
        self.fleet.numbers().collect()
    }

    /// The provider fails until all circuits are open, by what one of them has told the
    /// others, and then answers `probes`. Returns a time
    /// at which what came before has arrived there.
    pub(crate) fn open_all(&mut self, probes: Answer) -> Outcome<Duration> {
        self.counts()?;
        let mark = self.fleet.mark();
        self.provider("fails", FAILS);
        let opened = |what: &What| moved(what, "closed", "open");
        let opened = self.fleet.until_each(mark, "all circuits open", opened)?;
        let first = opened.iter().map(|(_, at)| *at).min().unwrap_or_default();
        let last = opened.iter().map(|(_, at)| *at).max().unwrap_or_default();
        thread::sleep(ARRIVED);
        self.provider.set(probes);
        let counts = self.counts()?;
        self.note("journal", &self.last_of_journal("open"));
        self.note("workers", &report::in_vain(&counts));
        self.told.openings.push(Opening {
            within: last - first,
            in_vain: counts.iter().map(|(_, counts)| counts.in_vain).sum(),
        });
        Ok(last + ARRIVED)
    }

    /// Waits until the circuits of all `workers` are closed, and looks at the probes since they
    /// opened.
    pub(crate) fn close_all(&mut self, workers: &[usize], mark: usize, open: Duration) -> Outcome {
        let closed = |what: &What| moved(what, "half_open", "closed");
        let closed = self
            .fleet
            .until_these(workers, mark, "all circuits close", closed)?;
        self.provider.set(HEALTHY);
        let first = closed.iter().map(|(_, at)| *at).min().unwrap_or_default();
        let probes = self.probes(open, first);
        for probe in &probes {
            let text = format!("a probe of {}", worker::name(probe.worker));
            self.notes.push((probe.came, "provider".to_owned(), text));
            let text = match probe.status {
                Some(status) => format!("answers it {status}"),
                None => "it is gone without an answer".to_owned(),
            };
            let went = probe.went.unwrap_or_else(|| self.start.elapsed());
            self.notes.push((went, "provider".to_owned(), text));
        }
        let good = probes
            .iter()
            .filter(|probe| probe.status == Some(200))
            .count();
        self.told.probes.push(Probes {
            made: probes.len(),
            good,
            at_once: provider::at_once(&probes),
        });
        Ok(())
    }

    pub(crate) fn note_refused(&mut self) -> Outcome {
        let counts = self.counts()?;
        let refused: u64 = counts.iter().map(|(_, counts)| counts.others_probed).sum();
        let text = format!("{refused} calls were refused since another one probed");
        self.note("workers", &text);
        Ok(())
    }

    /// The calls that came while all circuits were open or half-open.
    pub(crate) fn probes(&self, open: Duration, closed: Duration) -> Vec<Call> {
        let is_probe = |call: &Call| call.came > open && call.came < closed;
        self.provider.calls().into_iter().filter(is_probe).collect()
    }

    /// Who moved the circuit there last, as Redis has it.
    fn last_of_journal(&self, state: &str) -> String {
        let entries = self
            .redis
            .order(&["LRANGE", "breakerbox:{stripe}:journal", "0", "9"]);
        let texts = entries.elements().iter().map(Value::text);
        let mut read = texts.filter_map(|text| {
            let words: Vec<&str> = text.split('|').collect();
            match *words.as_slice() {
                ["moved", from, to, .., origin] if to == state => {
                    Some(format!("{from} -> {to}, by what {origin} told"))
                }
                _ => None,
            }
        });
        read.next().unwrap_or_else(|| "nothing of that".to_owned())
    }

    pub(crate) fn counts(&mut self) -> Outcome<Vec<(usize, Counts)>> {
        let counts = self.fleet.counts()?;
        for (worker, counts) in &counts {
            self.told.add(*worker, counts);
        }
        Ok(counts)
    }

    pub(crate) fn provider(&mut self, does: &str, answer: Answer) {
        self.note("provider", does);
        self.provider.set(answer);
    }

    pub(crate) fn note(&mut self, who: &str, text: &str) {
        self.notes
            .push((self.start.elapsed(), who.to_owned(), text.to_owned()));
    }

    pub(crate) fn claim(&mut self, holds: bool, text: String) {
        self.told.claims.push(Claim { text, holds });
    }

    pub(crate) fn scene(&self, title: &str) {
        println!("\n{title}");
    }

    /// Shows what has happened since it was shown last.
    pub(crate) fn show(&mut self) {
        let said = self.fleet.since(self.shown);
        self.shown += said.len();
        print!("{}", report::scene(std::mem::take(&mut self.notes), &said));
    }
}

pub(crate) fn moved(what: &What, before: &str, after: &str) -> bool {
    matches!(what, What::Moved { from, to, .. } if from == before && to == after)
}

pub(crate) fn is_found(what: &What) -> bool {
    matches!(what, What::Found)
}

pub(crate) fn is_lost(what: &What) -> bool {
    matches!(what, What::Lost(_))
}
