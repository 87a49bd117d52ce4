//! Judges policies together: what stands around what, and what that means.

use std::time::Duration;

use proc_macro2::Span;
use quote::ToTokens;

use crate::args::Predicate;
use crate::args::When;
use crate::errors::Errors;
use crate::kind::Kind;
use crate::model::Warning;
use crate::model::policy::settings::Said;

/// What others must know of one policy.
pub(super) struct Facts {
    pub(super) kind: Kind,
    /// Where something about it as a whole is said.
    pub(super) at: Span,
    /// Whether all of its arguments could be read.
    pub(super) is_read: bool,
    /// Whether it stands on the `impl` block around the method.
    pub(super) of_block: bool,
    /// Of a timeout: how long.
    pub(super) limit: Said<Duration>,
    /// Of a retry: what its delays take together if jitter makes none shorter.
    pub(super) delays: Option<Duration>,
    pub(super) budget: Option<Span>,
    pub(super) wait_for_circuit: Option<Span>,
    /// Of a bulkhead or a rate limit.
    pub(super) waiting: Option<Waiting>,
    pub(super) counts: Option<Span>,
    /// Of a breaker: the age beyond which a dropped call is a failure, where it is written.
    pub(super) drops_fail_after: Option<(Duration, Span)>,
    pub(super) classifies: bool,
    /// Of a fallback.
    pub(super) occasion: Option<Occasion>,
    pub(super) never_fails: bool,
    /// The parameter of its closure.
    pub(super) parameter: Option<Span>,
}

/// The longest that a call waits for its turn.
#[derive(Clone, Copy)]
pub(super) struct Waiting {
    pub(super) longest: Duration,
    pub(super) at: Span,
}

/// When a fallback runs.
#[derive(PartialEq, Eq)]
pub(super) enum Occasion {
    Rejected,
    TimedOut,
    Failed,
    Any,
    Asked(String),
}

impl Occasion {
    pub(super) fn of(when: Option<&When>) -> Self {
        match when {
            None | Some(When::Rejected) => Self::Rejected,
            Some(When::TimedOut) => Self::TimedOut,
            Some(When::Failed) => Self::Failed,
            Some(When::Any) => Self::Any,
            Some(When::Predicate(predicate)) => Self::Asked(match predicate {
                Predicate::Path(path) => path.to_token_stream().to_string(),
                Predicate::Closure(closure) => closure.to_token_stream().to_string(),
                Predicate::Pattern { pattern, guard } => {
                    let guard = guard.to_token_stream();
                    format!("{} if {guard}", pattern.to_token_stream())
                }
            }),
        }
    }
}

impl Facts {
    pub(super) const fn new(kind: Kind, at: Span, is_read: bool) -> Self {
        Self {
            kind,
            at,
            is_read,
            of_block: false,
            limit: Said::Nothing,
            delays: None,
            budget: None,
            wait_for_circuit: None,
            waiting: None,
            counts: None,
            drops_fail_after: None,
            classifies: false,
            occasion: None,
            never_fails: false,
            parameter: None,
        }
    }

    pub(super) fn rejects(&self) -> bool {
        matches!(
            self.kind,
            Kind::CircuitBreaker | Kind::Bulkhead | Kind::RateLimit
        )
    }

    /// Whether it looks at every error, that of a rejection as well.
    pub(super) fn takes_errors(&self) -> bool {
        matches!(self.occasion, Some(Occasion::Any | Occasion::Asked(_)))
    }
}

pub(super) fn judge(all: &[Facts], has_service: bool, errors: &mut Errors) {
    for (index, facts) in all.iter().enumerate() {
        let around = &all[..index];
        let inside = &all[index + 1..];
        no_second_one(facts, around, errors);
        in_time(facts, around, errors);
        match facts.kind {
            Kind::Retry => retry(facts, inside, errors),
            Kind::CircuitBreaker => breaker(facts, around, inside, errors),
            Kind::Fallback => fallback(facts, around, inside, errors),
            Kind::Bulkhead => bulkhead(facts, around, errors),
            Kind::Timeout | Kind::RateLimit | Kind::Resilient => {}
        }
        if !has_service {
            of_a_service(facts, errors);
        }
    }
}

/// What is legal and hardly meant.
pub(super) fn warnings(all: &[Facts]) -> Vec<Warning> {
    let mut warnings = Vec::new();
    for (index, facts) in all.iter().enumerate() {
        let in_bulkhead = all[..index]
            .iter()
            .any(|outer| outer.kind == Kind::Bulkhead);
        if facts.kind == Kind::Retry && in_bulkhead {
            warnings.push(Warning {
                at: facts.at,
                kind: Kind::Retry,
                text: "a retry under a bulkhead keeps its place while it waits between attempts: \
                       write it above the bulkhead, or `#[allow(deprecated)]` on the function if \
                       that is meant",
            });
        }
    }
    warnings
}

fn no_second_one(facts: &Facts, around: &[Facts], errors: &mut Errors) {
    if !around.iter().any(|outer| outer.kind == facts.kind) {
        return;
    }
    match facts.kind {
        Kind::CircuitBreaker => errors.at(
            facts.at,
            "two circuit breakers on one function: put one of them on a function that it calls",
        ),
        Kind::Retry => errors.at(
            facts.at,
            "two retries on one function multiply its attempts: write one with more `attempts`",
        ),
        Kind::Bulkhead => errors.at(
            facts.at,
            "two bulkheads of one service would share their places: remove one",
        ),
        Kind::RateLimit => errors.at(
            facts.at,
            "two rate limits of one service would be one and the same: remove one",
        ),
        Kind::Fallback if around.iter().any(|outer| outer.occasion == facts.occasion) => errors.at(
            facts.at,
            "two fallbacks for the same occasion: the outer one would never run; remove one, or \
             give one of them another `when`",
        ),
        Kind::Timeout | Kind::Fallback | Kind::Resilient => {}
    }
}

/// What a policy takes at most, beside the timeouts around it.
fn in_time(facts: &Facts, around: &[Facts], errors: &mut Errors) {
    let Some(outer) = shortest(around) else {
        return;
    };
    if let Some((limit, span)) = facts.limit.known()
        && limit >= outer
    {
        let message = format!(
            "this timeout is not shorter than the one of {outer:?} around it, so it would never \
             strike: write a shorter one, or remove it"
        );
        errors.at(span, message);
    }
    if let Some(delays) = facts.delays
        && delays >= outer
    {
        let message = format!(
            "the delays between the attempts add up to {delays:?}, and the timeout around them \
             strikes after {outer:?}: write fewer `attempts`, shorter delays or a longer timeout"
        );
        errors.at(facts.at, message);
    }
    if let Some(Waiting { longest, at }) = facts.waiting
        && longest >= outer
    {
        let message = format!(
            "a call may wait {longest:?} for its turn, and the timeout around it strikes after \
             {outer:?}: write a `max_wait` that leaves time for the call"
        );
        errors.at(at, message);
    }
}

/// The shortest timeout among those that are known.
fn shortest(around: &[Facts]) -> Option<Duration> {
    around
        .iter()
        .filter_map(|outer| Some(outer.limit.known()?.0))
        .min()
}

fn retry(facts: &Facts, inside: &[Facts], errors: &mut Errors) {
    if let Some(span) = facts.wait_for_circuit
        && !has(inside, Kind::CircuitBreaker)
    {
        errors.at(
            span,
            "there is no circuit inside to wait for: put `#[circuit_breaker(..)]` below, or remove \
             `wait_for_circuit`",
        );
    }
    for inner in inside {
        if inner.never_fails && matches!(inner.occasion, Some(Occasion::Any | Occasion::Failed)) {
            errors.at(
                inner.at,
                "the retry around this fallback would never see an error: put `#[fallback(..)]` \
                 above `#[retry(..)]`",
            );
        }
    }
}

/// The timeout that gives up the calls of the breaker at this place, where it is known: one below
/// the breaker tells it of its own.
pub(super) fn gives_up_after(all: &[Facts], breaker: usize) -> Option<Duration> {
    let (around, inside) = (&all[..breaker], &all[breaker + 1..]);
    if has(inside, Kind::Timeout) {
        return None;
    }
    shortest(around)
}

fn breaker(facts: &Facts, around: &[Facts], inside: &[Facts], errors: &mut Errors) {
    let Some((after, at)) = facts.drops_fail_after else {
        return;
    };
    if !has(around, Kind::Timeout) || has(inside, Kind::Timeout) {
        return;
    }
    if after == Duration::MAX {
        errors.at(
            at,
            "with `on_cancel = ignore` the timeout around this breaker hides a service that hangs: \
             remove it, or put a timeout below",
        );
    } else if shortest(around).is_some_and(|limit| limit <= after) {
        errors.at(
            at,
            "the timeout around this breaker strikes before that, so a service that hangs would \
             never count: write less, or put a timeout below",
        );
    }
}

fn fallback(facts: &Facts, around: &[Facts], inside: &[Facts], errors: &mut Errors) {
    let mut breakers = around.iter().filter(|it| it.kind == Kind::CircuitBreaker);
    if let Some(breaker) = breakers.next() {
        errors.at(
            facts.at,
            if breaker.of_block {
                "the breaker of the `impl` block would take this fallback's output for that of the \
                 service: write a `#[circuit_breaker(..)]` of the method's own below \
                 `#[fallback(..)]`, which it then has in place of the block's"
            } else {
                "the breaker above would take this fallback's output for that of the service: put \
                 `#[fallback(..)]` above `#[circuit_breaker(..)]`"
            },
        );
        return;
    }
    match facts.occasion {
        Some(Occasion::Rejected) if facts.is_read && !inside.iter().any(Facts::rejects) => errors.at(
            facts.at,
            "nothing inside rejects a call, so this fallback would never run: put a policy that \
             does below it, or say `when = failed`",
        ),
        Some(Occasion::TimedOut) if !has(inside, Kind::Timeout) => errors.at(
            facts.at,
            "nothing inside times out, so this fallback would never run: put `#[timeout(..)]` \
             below it",
        ),
        _ => {}
    }
    // An `Ok` that counts as a failure has no error that a closure could be given.
    if let (Some(Occasion::Failed | Occasion::Any), Some(span)) = (&facts.occasion, facts.parameter)
        && inside.iter().any(|inner| inner.classifies)
    {
        errors.at(
            span,
            "with `classify` a failure need not be an error: write the fallback as an expression \
             without an argument",
        );
    }
}

fn bulkhead(facts: &Facts, around: &[Facts], errors: &mut Errors) {
    if let Some(span) = facts.counts
        && !has(around, Kind::CircuitBreaker)
    {
        errors.at(
            span,
            "`counts` is about the breaker around the bulkhead, and there is none: put \
             `#[circuit_breaker(..)]` above, or remove `counts`",
        );
    }
}

/// What is shared by all functions that call one service.
fn of_a_service(facts: &Facts, errors: &mut Errors) {
    let (at, what) = match facts.kind {
        Kind::Bulkhead => (facts.at, "places of a bulkhead belong"),
        Kind::RateLimit => (facts.at, "rate belongs"),
        Kind::Retry => match facts.budget {
            Some(span) => (span, "budget for retries belongs"),
            None => return,
        },
        _ => return,
    };
    let verb = if what.starts_with("places") {
        "the"
    } else {
        "a"
    };
    let message = format!("{verb} {what} to a service: add `service = \"name\"`");
    errors.at(at, message);
}

fn has(facts: &[Facts], kind: Kind) -> bool {
    facts.iter().any(|facts| facts.kind == kind)
}
