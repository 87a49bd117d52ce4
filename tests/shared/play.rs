//! Plays scenarios on circuits that are shared, each word as soon as all processes have heard
//! of the one before: in the notation of `scenarios/notation.rs`, in real time.
//!
//! The calls go round: each is made by the next process, and what is expected is expected of
//! all. An expectation may take its time; it has come to be true, or the scenario fails.

mod stage;

use std::iter;
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use breakerbox::Policy;
use breakerbox_servers::Proxy;

use crate::scenarios::notation;
use crate::scenarios::notation::Step;

use super::calm::calmly;
use super::fleet::Process;

use stage::Stage;

/// A name, a policy, a line.
pub(super) type Scenario = (&'static str, Policy, &'static str);

/// Most of a scenario is waiting, so that several can be played at a time.
const AT_ONCE: usize = 8;

/// Who plays a scenario.
pub(super) struct Cast {
    processes: Vec<Process>,
    loss: Option<(Loss, Proxy)>,
}

/// When the way to the store is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Loss {
    Before,
    InTheMiddle,
}

impl Loss {
    /// Before which step. The leases of probes are lost with the store, so it is before the
    /// first probe.
    fn place(self, steps: &[(String, Step)]) -> usize {
        let is_over = |step: &Step| match step {
            Step::Left(Some(left)) => left.contains(&Duration::ZERO),
            _ => false,
        };
        match self {
            Self::Before => 0,
            Self::InTheMiddle => {
                let middle = steps.len() / 2;
                let over = steps.iter().position(|(_, step)| is_over(step));
                over.map_or(middle, |at| middle.min(at + 1))
            }
        }
    }
}

impl Cast {
    /// One process that loses its store.
    pub(super) fn losing(process: Process, loss: Loss, way: Proxy) -> Self {
        Self {
            processes: vec![process],
            loss: Some((loss, way)),
        }
    }
}

impl From<Vec<Process>> for Cast {
    fn from(processes: Vec<Process>) -> Self {
        let loss = None;
        Self { processes, loss }
    }
}

/// Plays all of them, each on processes of its own, which share circuits under the name that
/// `start` is given.
pub(super) fn play_all<C: Into<Cast>>(
    scenarios: &[&[Scenario]],
    start: &(impl Fn(&str, Policy) -> C + Sync),
) {
    let left = Mutex::new(scenarios.iter().copied().flatten());
    let next = || left.lock().expect("it only counts").next();
    let play_next = || {
        let (name, policy, script) = next()?;
        assert_eq!(policy.check(), Ok(()), "{name}");
        let played = calmly(|times| {
            let cast = start(&format!("{name}-{times}"), *policy);
            play(name, cast.into(), script)
        });
        Some(played.err())
    };
    let wrong: Vec<String> = thread::scope(|scope| {
        let play_on = || iter::from_fn(play_next).flatten().collect::<Vec<_>>();
        let playing: Vec<_> = (0..AT_ONCE).map(|_| scope.spawn(play_on)).collect();
        let played = playing.into_iter().map(|it| it.join());
        played
            .flat_map(|wrong| wrong.expect("scenarios are played to their ends"))
            .collect()
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

fn play(name: &str, cast: Cast, script: &str) -> Result<(), String> {
    let Cast { processes, loss } = cast;
    let are_alone = loss.is_some() || processes.iter().all(Process::is_alone);
    let mut loss = loss.as_ref();
    let mut stage = Stage::of(&processes);
    let steps = notation::read(script);
    for (at, (word, step)) in steps.iter().enumerate() {
        loss = loss.filter(|(when, way)| {
            let is_now = at >= when.place(&steps);
            if is_now {
                stage.lose_store(way);
            }
            !is_now
        });
        stage.step(step).map_err(|wrong| {
            let before: Vec<_> = steps[..at].iter().map(|(word, _)| word.as_str()).collect();
            let seen: Vec<_> = stage.views().collect();
            let before = before.join(" ");
            format!("{name}: after `{before}` came `{word}`: {wrong}\n{seen:?}")
        })?;
    }
    stage.clear();
    if are_alone && !processes.iter().all(Process::is_alone) {
        return Err(format!("{name}: it was not without a store all the time"));
    }
    let left: u64 = stage.views().map(|view| view.in_flight).sum();
    match left {
        0 => Ok(()),
        left => Err(format!("{name}: {left} calls never ended")),
    }
}
