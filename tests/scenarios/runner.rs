//! Plays a scenario, and says where it went another way.
//!
//! The naive law is played beside every breaker: after each step it shows the same, and
//! at the end it has told the same. It is also played alone, so that the scenarios hold
//! the law to what they say.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::mpsc;
use std::sync::mpsc::Receiver;
use std::time::Duration;

use breakerbox::Breaker;
use breakerbox::Policy;
use breakerbox::Registry;
use breakerbox::RejectedKind;
use breakerbox::State;

use super::drivers;
use super::drivers::Driver;
use super::drivers::Held;
use super::drivers::SERVICE;
use super::law::Answer;
use super::law::Hint;
use super::law::Law;
use super::law::Numbers;
use super::notation;
use super::notation::Ending;
use super::notation::Refusal;
use super::notation::Step;
use super::seen::Refused;
use super::seen::Told;
use super::seen::View;

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

/// So many changes wait at most until listeners are told.
const ALL_ARE_TOLD: usize = 60;

/// Plays `script` through the naive law, and through every driver that can say all of it.
pub(crate) async fn play(name: &str, policy: Policy, script: &str) {
    assert_eq!(policy.check(), Ok(()), "{name}");
    let steps = notation::read(script);
    play_through(name, policy, &steps, None).await;
    let drivers = Driver::ALL.into_iter().filter(|driver| {
        steps.iter().all(|(_, step)| match step {
            Step::Call(ending) => driver.can_say(*ending, true),
            Step::Slow(ending, _) | Step::End(_, ending) => driver.can_say(*ending, false),
            _ => true,
        })
    });
    for driver in drivers {
        play_through(name, policy, &steps, Some(driver)).await;
    }
}

async fn play_through(
    name: &str,
    policy: Policy,
    steps: &[(String, Step)],
    driver: Option<Driver>,
) {
    let mut play = Play {
        subject: driver.map(|driver| Subject::new(driver, policy)),
        law: Law::new(Numbers::from(policy)),
        held: BTreeMap::new(),
        ran: 0,
        has_looked: false,
    };
    let who = driver.map_or_else(|| "the naive law".to_owned(), |it| format!("{it:?}"));
    for (at, (word, step)) in steps.iter().enumerate() {
        let went = play.step(step).await.and_then(|()| play.compare());
        if let Err(wrong) = went {
            let before: Vec<_> = steps[..at].iter().map(|(word, _)| word.as_str()).collect();
            panic!(
                "{name}, through {who}, step {}: after `{}` came `{word}`: {wrong}\n{:#?}",
                at + 1,
                before.join(" "),
                play.view(),
            );
        }
    }
    for name in play.held.keys().cloned().collect::<Vec<_>>() {
        play.end(&name, Ending::Drop);
    }
    let left = play.view().in_flight;
    assert_eq!(left, 0, "{name}, through {who}: calls that never ended");
    if let Err(wrong) = play.hear() {
        panic!("{name}, through {who}: {wrong}");
    }
}

/// A breaker that is played.
struct Subject {
    driver: Driver,
    registry: Registry,
    breaker: &'static Breaker,
    told: Option<Receiver<Told>>,
}

struct Play {
    /// None where the law is played alone.
    subject: Option<Subject>,
    law: Law,
    held: BTreeMap<String, (usize, Option<Held>)>,
    ran: u64,
    has_looked: bool,
}

impl Subject {
    fn new(driver: Driver, policy: Policy) -> Self {
        // To hear costs two threads: once a scenario is enough.
        let (registry, told) = if driver == Driver::Permit {
            let (registry, told) = listening(Registry::builder().declare_with(SERVICE, policy));
            (registry, Some(told))
        } else {
            (drivers::registry(policy), None)
        };
        Self {
            driver,
            breaker: drivers::breaker(&registry),
            registry,
            told,
        }
    }

    fn look(&self, is_first: bool) {
        let _ = self.breaker.state();
        let _ = self.breaker.snapshot();
        let _ = self.breaker.policy();
        let _ = self.registry.services();
        let _ = format!("{:?}", self.registry);
        // All services of this binary, so it takes its time.
        if is_first {
            let publish = || self.registry.publish_metrics();
            metrics::with_local_recorder(&metrics::NoopRecorder, publish);
        }
    }
}

/// A registry, and all that it tells of circuits.
pub(crate) fn listening(builder: breakerbox::RegistryBuilder) -> (Registry, Receiver<Told>) {
    let (tell, told) = mpsc::channel();
    let registry = builder.on_event(move |event| {
        if let Some(event) = Told::of(event) {
            // The test may have heard enough.
            let _ = tell.send(event);
        }
    });
    (registry.build().expect("the numbers are good"), told)
}

/// Whether a registry has told what the law tells, and nothing else.
pub(crate) fn has_told(
    registry: &Registry,
    told: &Receiver<Told>,
    law: &Law,
) -> Result<(), String> {
    if law.told().count() > ALL_ARE_TOLD {
        return Ok(());
    }
    for expected in law.told() {
        // The limit is there for a breaker that tells nothing.
        let heard = told.recv_timeout(Duration::from_secs(20));
        same("told", &Ok(expected), &heard)?;
    }
    registry.close();
    same("told besides", &None, &told.iter().next())
}

impl Play {
    async fn step(&mut self, step: &Step) -> Result<(), String> {
        match step {
            Step::Call(ending) => self.call(*ending)?,
            Step::Slow(ending, duration) => {
                self.begin("a slow call")?;
                self.pass(*duration).await;
                self.end("a slow call", *ending);
            }
            Step::Refused(refusal) => match self.ask()? {
                Err(refused) => judge(refused, *refusal)?,
                Ok(_) => return Err("it was let through".to_owned()),
            },
            Step::Begin(name) => self.begin(name)?,
            Step::End(name, ending) => self.end(name, *ending),
            Step::Pass(time) => self.pass(*time).await,
            Step::Look => {
                if let Some(subject) = &self.subject {
                    subject.look(!self.has_looked);
                }
                self.has_looked = true;
            }
            Step::Force(state, lasts) => self.force(*state, *lasts),
            Step::Clear(is_there) => {
                let cleared = self.law.clear();
                if let Some(subject) = &self.subject {
                    same("cleared", &cleared, &subject.breaker.clear_override())?;
                }
                same("cleared", is_there, &cleared)?;
            }
            Step::Reset => {
                self.law.reset();
                if let Some(subject) = &self.subject {
                    subject.breaker.reset();
                }
            }
            Step::Update(change) => {
                self.law.update(|policy| change.of(policy));
                if let Some(subject) = &self.subject {
                    let changed = subject.breaker.update(|policy| change.of(policy));
                    changed.expect("the numbers are good");
                }
            }
            expected => self.expect(expected)?,
        }
        Ok(())
    }

    fn expect(&self, step: &Step) -> Result<(), String> {
        let view = self.view();
        match step {
            Step::Is(state) => same("state", state, &view.state),
            Step::Beneath(state) => same("beneath", state, &view.beneath),
            Step::Why(label) => same("reason", &label.as_deref(), &view.why.map(|it| it.label())),
            Step::Left(None) => same("time left", &None, &view.left),
            Step::Left(Some(range)) => {
                let left = view.left.ok_or_else(|| "no time is left".to_owned())?;
                if range.contains(&left) {
                    return Ok(());
                }
                Err(format!("time left: expected {range:?}, found {left:?}"))
            }
            Step::Forced(left) => same("forced for", left, &view.forced),
            Step::FailureRate(rate) => same("failure rate", rate, &view.failure_rate),
            Step::SlowCallRate(rate) => same("slow call rate", rate, &view.slow_call_rate),
            Step::Number(what, number) => same(what, number, &self.number(what, &view)),
            other => panic!("{other:?} is no expectation"),
        }
    }

    fn number(&self, what: &str, view: &View) -> u64 {
        let told = |is_meant: fn(&Told) -> bool| self.law.told().filter(is_meant).count() as u64;
        match what {
            "ran" => self.ran,
            "told" => told(|it| matches!(it, Told::Moved { .. })),
            "would-open" => told(|it| matches!(it, Told::WouldOpen { .. })),
            what => view
                .number(what)
                .unwrap_or_else(|| panic!("there is no number `{what}`")),
        }
    }

    /// A call comes, to the breaker and to the law.
    fn ask(&mut self) -> Result<Result<(usize, Option<Held>), Refused>, String> {
        let begun = self
            .subject
            .as_ref()
            .map(|subject| subject.driver.begin(&subject.registry));
        let (held, refused) = match begun {
            None => (None, None),
            Some(Ok(held)) => (Some(held), None),
            Some(Err(rejected)) => {
                same("service", &SERVICE, &rejected.service())?;
                (None, Some(Refused::from(rejected)))
            }
        };
        self.hint(held.is_some());
        match self.law.begin() {
            Answer::LetThrough(id) => {
                same("refused", &None, &refused)?;
                self.ran += 1;
                Ok(Ok((id, held)))
            }
            Answer::Refused(expected) => {
                if self.subject.is_some() {
                    same("refused", &Some(expected), &refused)?;
                }
                Ok(Err(expected))
            }
        }
    }

    /// Tells the law what only the breaker knows.
    fn hint(&mut self, admitted: bool) {
        if let Some(subject) = &self.subject {
            self.law.hint = Hint {
                left: subject.breaker.snapshot().retry_after,
                admitted: Some(admitted),
            };
        }
    }

    fn begin(&mut self, name: &str) -> Result<(), String> {
        let call = self
            .ask()?
            .map_err(|it| format!("it was rejected: {it:?}"))?;
        let before = self.held.insert(name.to_owned(), call);
        assert!(before.is_none(), "two calls are named `{name}`");
        Ok(())
    }

    fn end(&mut self, name: &str, how: Ending) {
        let held = self.held.remove(name);
        let (id, held) = held.unwrap_or_else(|| panic!("no call is named `{name}`"));
        if let Some(held) = held {
            held.end(how);
            self.hint(true);
        }
        self.law.end(id, how);
    }

    fn call(&mut self, how: Ending) -> Result<(), String> {
        let out = self
            .subject
            .as_ref()
            .map(|subject| subject.driver.call(&subject.registry, how));
        let refused = out.and_then(Result::err).map(Refused::from);
        self.hint(refused.is_none());
        match (self.law.begin(), refused) {
            (Answer::LetThrough(id), None) => {
                self.law.end(id, how);
                self.ran += 1;
                Ok(())
            }
            (Answer::LetThrough(_), Some(refused)) => Err(format!("it was rejected: {refused:?}")),
            (Answer::Refused(refused), _) => Err(format!("it is to be rejected: {refused:?}")),
        }
    }

    async fn pass(&mut self, time: Duration) {
        self.law.pass(time);
        if self.subject.is_some() {
            tokio::time::advance(time).await;
        }
    }

    fn force(&mut self, state: State, lasts: Duration) {
        self.law.force(state, lasts);
        if let Some(subject) = &self.subject {
            drivers::force(subject.breaker, state, lasts);
        }
    }

    fn view(&self) -> View {
        match &self.subject {
            Some(subject) => View::from(subject.breaker.snapshot()),
            None => self.law.view(),
        }
    }

    /// The breaker shows what the law shows.
    fn compare(&self) -> Result<(), String> {
        same("by the law", &self.law.view(), &self.view())
    }

    fn hear(&mut self) -> Result<(), String> {
        // Whoever has not noticed that an override is over does so now.
        let cleared = self.law.clear();
        if let Some(subject) = &self.subject {
            same("cleared", &cleared, &subject.breaker.clear_override())?;
        }
        // Where nothing ended, nobody needs to wait until that is told.
        self.compare()?;
        match &self.subject {
            Some(Subject {
                registry,
                told: Some(told),
                ..
            }) => has_told(registry, told, &self.law),
            _ => Ok(()),
        }
    }
}

fn judge(refused: Refused, expected: Refusal) -> Result<(), String> {
    let (kind, left) = match expected {
        Refusal::Any => return Ok(()),
        Refusal::Open(left) => (RejectedKind::Open, Some(left)),
        Refusal::Of(kind) => (kind, None),
    };
    same("kind", &kind, &refused.kind)?;
    same("time left", &left, &refused.left)
}

pub(crate) fn same<T: PartialEq + fmt::Debug>(
    what: &str,
    expected: &T,
    found: &T,
) -> Result<(), String> {
    if expected == found {
        Ok(())
    } else {
        Err(format!("{what}: expected {expected:?}, found {found:?}"))
    }
}

#[tokio::test(start_paused = true)]
#[should_panic(
    expected = "a_name, through the naive law, step 3: after `F S` came `=open`: state: \
                           expected Open, found Closed"
)]
async fn a_scenario_that_fails_says_where() {
    play("a_name", Policy::new(), "F S =open").await;
}
