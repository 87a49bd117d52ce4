//! Plays a scenario, and says where it went another way.

use std::collections::BTreeMap;
use std::fmt;

use breakerbox::Breaker;
use breakerbox::Policy;
use breakerbox::Registry;
use breakerbox::Rejected;
use breakerbox::RejectedKind;

use super::drivers;
use super::drivers::Driver;
use super::drivers::Held;
use super::drivers::SERVICE;
use super::notation;
use super::notation::Refusal;
use super::notation::Step;

/// A table of scenarios: a name, a policy, a line. Each becomes a test under a paused
/// clock.
macro_rules! scenarios {
    ($($(#[$doc:meta])* $name:ident: $policy:expr, $script:expr;)+) => {$(
        $(#[$doc])*
        #[tokio::test(start_paused = true)]
        async fn $name() {
            $crate::scenarios::runner::play(stringify!($name), $policy, $script).await;
        }
    )+};
}

pub(crate) use scenarios;

/// Plays `script` through every driver that can say all of it.
pub(crate) async fn play(name: &str, policy: Policy, script: &str) {
    let steps = notation::read(script);
    let drivers = Driver::ALL.into_iter().filter(|driver| {
        steps.iter().all(|(_, step)| match step {
            Step::Call(ending) => driver.can_say(*ending, true),
            Step::End(_, ending) => driver.can_say(*ending, false),
            _ => true,
        })
    });
    for driver in drivers {
        let registry = drivers::registry(policy);
        let mut play = Play {
            driver,
            breaker: drivers::breaker(&registry),
            registry,
            held: BTreeMap::new(),
            ran: 0,
        };
        for (at, (word, step)) in steps.iter().enumerate() {
            if let Err(wrong) = play.step(step).await {
                let before: Vec<_> = steps[..at].iter().map(|(word, _)| word.as_str()).collect();
                panic!(
                    "{name}, through {driver:?}, step {}: after `{}` came `{word}`: {wrong}\n{:#?}",
                    at + 1,
                    before.join(" "),
                    play.breaker.snapshot(),
                );
            }
        }
        play.held.clear();
        let left = play.breaker.snapshot().in_flight;
        assert_eq!(
            left, 0,
            "{name}, through {driver:?}: calls that never ended"
        );
    }
}

struct Play {
    driver: Driver,
    registry: Registry,
    breaker: &'static Breaker,
    held: BTreeMap<String, Held>,
    ran: u64,
}

impl Play {
    async fn step(&mut self, step: &Step) -> Result<(), String> {
        match step {
            Step::Call(ending) => {
                let out = self.driver.call(&self.registry, *ending);
                out.map_err(not_expected)?;
                self.ran += 1;
                Ok(())
            }
            Step::Refused(refusal) => match self.driver.begin(&self.registry) {
                Ok(_) => Err("it was let through".to_owned()),
                Err(rejected) => judge(rejected, *refusal),
            },
            Step::Begin(name) => {
                let held = self.driver.begin(&self.registry).map_err(not_expected)?;
                self.ran += 1;
                let before = self.held.insert(name.clone(), held);
                assert!(before.is_none(), "two calls are named `{name}`");
                Ok(())
            }
            Step::End(name, ending) => {
                let held = self.held.remove(name);
                held.unwrap_or_else(|| panic!("no call is named `{name}`"))
                    .end(*ending);
                Ok(())
            }
            Step::Pass(time) => {
                tokio::time::advance(*time).await;
                Ok(())
            }
            Step::Look => {
                self.look();
                Ok(())
            }
            Step::Is(state) => same("state", state, &self.breaker.state()),
            Step::Why(label) => {
                let reason = self.breaker.snapshot().reason;
                same(
                    "reason",
                    &Some(label.as_str()),
                    &reason.map(|it| it.label()),
                )
            }
            Step::Left(left) => {
                let snapshot = self.breaker.snapshot();
                same("time left", left, &snapshot.retry_after)
            }
            Step::Number(what, number) => same(what, number, &self.number(what)),
        }
    }

    fn number(&self, what: &str) -> u64 {
        let snapshot = self.breaker.snapshot();
        match what {
            "ran" => self.ran,
            "count" => snapshot.consecutive_failures.into(),
            "moves" => snapshot.generation,
            "in-flight" => snapshot.in_flight,
            outcome => {
                let calls = snapshot.calls.by_label();
                let found = calls.into_iter().find(|(label, _)| *label == outcome);
                found
                    .unwrap_or_else(|| panic!("no number is called `{what}`"))
                    .1
            }
        }
    }

    fn look(&self) {
        let _ = self.breaker.state();
        let _ = self.breaker.snapshot();
        let _ = self.breaker.policy();
        let _ = self.registry.services();
        let _ = format!("{:?}", self.registry);
        metrics::with_local_recorder(&metrics::NoopRecorder, || self.registry.publish_metrics());
    }
}

fn not_expected(rejected: Rejected) -> String {
    format!("it was rejected: {rejected:?}")
}

fn judge(rejected: Rejected, expected: Refusal) -> Result<(), String> {
    same("service", &SERVICE, &rejected.service())?;
    match expected {
        Refusal::Any => Ok(()),
        Refusal::Open(left) => {
            same("kind", &RejectedKind::Open, &rejected.kind())?;
            same("time left", &Some(left), &rejected.retry_after())
        }
        Refusal::Busy => {
            same("kind", &RejectedKind::ProbesBusy, &rejected.kind())?;
            same("time left", &None, &rejected.retry_after())
        }
    }
}

fn same<T: PartialEq + fmt::Debug>(what: &str, expected: &T, found: &T) -> Result<(), String> {
    if expected == found {
        Ok(())
    } else {
        Err(format!("{what}: expected {expected:?}, found {found:?}"))
    }
}

#[tokio::test(start_paused = true)]
#[should_panic(
    expected = "a_name, through Permit, step 3: after `F S` came `=open`: state: expected \
                           Open, found Closed"
)]
async fn a_scenario_that_fails_says_where() {
    play("a_name", Policy::new(), "F S =open").await;
}
