//! The script and `rules::fleet::apply` are one: whatever is asked of a circuit, in whatever
//! order, they answer, tell and leave behind the same.
//!
//! The script reads the server's clock and says what it read; `apply` is then told the same
//! time. Policies, commands, views and faults are drawn at random, from seeds: where the two
//! differ, the test prints the seed of the sequence and all that went in. Since the time is real,
//! a seed repeats what was drawn and not quite when; what was printed is enough for a test of the
//! rules.
//!
//! `BREAKERBOX_COMMANDS` is how many commands are compared, 24,000 where it is not set, and
//! `BREAKERBOX_SEED` the seed to begin with:
//!
//! ```sh
//! BREAKERBOX_COMMANDS=1000000 cargo test -p breakerbox --features redis --lib differential
//! ```

mod aging;
mod random;

use std::collections::BTreeSet;
use std::env;
use std::thread;
use std::time::Duration;

use breakerbox_servers::Error;
use breakerbox_servers::Server;
use fastrand::Rng;

use crate::policy::Policy;
use crate::reason::Reason;
use crate::rules::fleet::Applied;
use crate::rules::fleet::Phase;
use crate::rules::fleet::Request;
use crate::rules::fleet::Shared;
use crate::rules::fleet::Snapshot;
use crate::rules::fleet::Status;
use crate::rules::fleet::What;
use crate::rules::fleet::apply;
use crate::store::redis::twin::Twin;
use crate::store::redis::twin::server;

/// So many commands come by everything that can happen.
const ENOUGH: u64 = 24_000;

/// One circuit, so many commands.
const SEQUENCE: u64 = 240;

#[test]
fn whatever_is_asked_of_them_the_script_and_the_rules_do_the_same() {
    compare(&server());
}

#[test]
fn in_valkey_the_script_and_the_rules_do_the_same() {
    // Not every system has it, and it is Redis that has to be there.
    match Server::valkey().start() {
        Err(error @ Error::Missing { .. }) => eprintln!("skipped: {error}"),
        Err(error) => panic!("{error}"),
        Ok(server) => compare(&server),
    }
}

fn compare(server: &Server) {
    let commands = number("BREAKERBOX_COMMANDS").unwrap_or(ENOUGH);
    let first = number("BREAKERBOX_SEED").unwrap_or(1);
    let mut twin = Twin::connect(&server.url());
    let mut met = Met::default();
    let mut seen = vec![Snapshot::default()];
    for seed in first..first + commands.div_ceil(SEQUENCE) {
        let mut sequence = Sequence {
            twin: &mut twin,
            met: &mut met,
            random: Rng::with_seed(seed),
            seed,
            circuit: format!("seed {seed}|{{}}"),
            state: None,
            now: 0,
        };
        sequence.play(&mut seen);
        seen.drain(..seen.len().saturating_sub(200));
    }
    if commands >= ENOUGH {
        met.assert_everything();
    }
}

fn number(variable: &str) -> Option<u64> {
    let text = env::var(variable).ok()?;
    Some(
        text.parse()
            .unwrap_or_else(|_| panic!("{variable} is no number: {text}")),
    )
}

/// One circuit and what is done to it.
struct Sequence<'a> {
    twin: &'a mut Twin,
    met: &'a mut Met,
    random: Rng,
    seed: u64,
    circuit: String,
    state: Option<Shared>,
    now: u64,
}

impl Sequence<'_> {
    fn play(&mut self, seen: &mut Vec<Snapshot>) {
        let mut policy = random::policy(&mut self.random);
        let mut other = random::policy(&mut self.random);
        for _ in 0..SEQUENCE {
            match self.random.u8(..100) {
                // Two versions of a service at once.
                0..4 => std::mem::swap(&mut policy, &mut other),
                4 => policy = random::policy(&mut self.random),
                5 => self.lose(),
                6..8 => thread::sleep(Duration::from_millis(self.random.u64(1..5))),
                8..30 => self.age(&policy),
                _ => {}
            }
            let state = self.state.as_ref();
            let request = random::request(&mut self.random, state, seen, self.now);
            let applied = self.step(&request, &policy);
            seen.push(applied.reply.snapshot);
        }
    }

    fn lose(&mut self) {
        match self.random.bool() {
            true => self.twin.exec(&["FLUSHALL"]),
            false => {
                let key = crate::store::redis::twin::hash_key(&self.circuit);
                self.twin.exec(&["DEL", &key]);
            }
        }
        self.state = None;
    }

    /// Lets time pass, or jump, by making what lies there older or younger.
    fn age(&mut self, policy: &Policy) {
        let Some(state) = &mut self.state else {
            return;
        };
        aging::age(&mut self.random, state, policy, self.now);
        self.twin.lay(&self.circuit, state);
    }

    fn step(&mut self, request: &Request, policy: &Policy) -> Applied {
        let before = self.state.take();
        let reply = self.twin.run(&self.circuit, request, policy);
        self.now = reply.now;
        let applied = apply(before.as_ref(), request, policy, reply.now);
        let told = self.twin.hear(&self.circuit);
        let lies = self.twin.state(&self.circuit);
        let expected = match applied.is_changed {
            true => &applied.state,
            false => &before,
        };
        let is_one = reply == applied.reply && told == applied.told && lies == *expected;
        assert!(
            is_one,
            "seed {}: the two differ\n\nbefore: {before:#?}\n\nrequest: {request:#?}\n\n\
             policy: {policy:#?}\n\nscript: {reply:#?}\n{told:#?}\n{lies:#?}\n\n\
             rules: {:#?}\n{:#?}\n{expected:#?}",
            self.seed, applied.reply, applied.told
        );
        self.met.note(before.as_ref(), request, &applied);
        self.state = lies;
        applied
    }
}

/// What the sequences have come by.
#[derive(Debug, Default)]
struct Met {
    statuses: BTreeSet<&'static str>,
    reasons: BTreeSet<&'static str>,
    others: BTreeSet<&'static str>,
}

impl Met {
    fn note(&mut self, before: Option<&Shared>, request: &Request, applied: &Applied) {
        self.statuses.insert(match applied.reply.status {
            Status::Done => "done",
            Status::Late => "late",
            Status::Stale => "stale",
            Status::Opened => "opened",
            Status::Closed => "closed",
            Status::Settling(_) => "settling",
            Status::Granted => "granted",
            Status::Full => "full",
            Status::Wait(_) => "wait",
            Status::Pass => "pass",
            Status::Refused => "refused",
        });
        for told in &applied.told {
            match told.what {
                What::Moved { reason, .. } => {
                    self.reasons.insert(reason.label());
                }
                What::Renumbered => {
                    self.others.insert(match told.live.as_deref() {
                        Some("") => "live changes taken back",
                        _ => "live changes",
                    });
                }
                What::Suspect => {
                    self.others.insert("suspect");
                }
                What::Restored => {
                    self.others.insert(match request.view.phase {
                        Phase::Closed => "restored closed",
                        Phase::Open => "restored open",
                        Phase::HalfOpen => "restored half-open",
                    });
                }
            }
        }
        let now = applied.reply.now;
        let Some(before) = before else {
            return;
        };
        let mut mended = before.clone();
        mended.mend(now);
        let others = [
            (mended != *before, "mended"),
            (before.until == now, "the very end of an opening"),
            (before.slots.len() > 1, "several buckets"),
            (
                before
                    .slots
                    .iter()
                    .any(|it| it.width != before.slots[0].width),
                "windows of two versions",
            ),
            (before.reporters.len() > 1, "several reporters"),
            (
                request.view.live.id > before.live.id && before.live.id > 0,
                "a live change that the store had lost",
            ),
            (before.trips > 1, "several trips"),
            (before.round.hung > 0, "hung probes"),
            (before.round.failures > 0, "failed probes that did not open"),
            (before.round.leases.len() > 1, "several leases"),
            (
                before.cover.as_ref().is_some_and(|it| it.until <= now),
                "an override that ended by itself",
            ),
            (
                before.round.leases.iter().any(|it| it.expires == now),
                "the very end of a lease",
            ),
        ];
        let met = others.into_iter().filter(|(is_met, _)| *is_met);
        self.others.extend(met.map(|(_, what)| what));
    }

    /// A test that no longer reaches something would no longer say anything about it.
    fn assert_everything(&self) {
        assert_eq!(self.statuses.len(), 11, "{:?}", self.statuses);
        assert_eq!(self.reasons.len(), Reason::KINDS, "{:?}", self.reasons);
        assert_eq!(self.others.len(), 18, "{:?}", self.others);
    }
}
