//! The notation of scenarios.
//!
//! ```text
//! S F          a call that succeeds, that fails
//! I N          one that ends with an ignored error, with an error that is no failure
//! P D          one that panics, one whose future is dropped
//! R90s O90s    a failure that asks for 90 s of rest, one that opens for exactly 90 s
//! s5s f5s      the first six, taking 5 s: i5s, n5s, p5s, d5s
//! X            a call that is rejected
//! X90s         rejected by an opening of which 90 s are left
//! Xbusy Xramp  since the probes are out; since a ramp has no place for it
//! Xforced      since somebody has forced the circuit open
//! [a  a]F      call `a` begins and is admitted; it fails
//! +90s         time passes; `+90s-1ns` is one tick less
//! 3xF          three of it; `3x(2xF S)` the group three times
//! look         reads all that can be read, which changes nothing
//!
//! force-open:2h       somebody forces it for so long; force-closed:2h, shadow:2h
//! clear clear-none    ends what is forced; finds nothing to end
//! reset               closes what is beneath, and forgets
//! update:threshold=3  one key is changed while it runs
//!
//! =open        the circuit is open; =closed, =half-open, =forced-open and so on
//! beneath:open what the rules have made of it
//! why:word     the reason it is open, as metrics label it; why:none
//! left:90s     what is left of the opening; left:none, left:60s..66s
//! forced:2h    what is left of what is forced; forced:none
//! rate:0.6     the failure rate, slow-rate:0.6 that of slow calls; rate:none
//! ran:3        so many calls were let through
//! count:2      so many failures in a row are counted
//! calls:8      so many outcomes are in the window; of them failures:2, slow:3
//! hung:1       so many calls hang
//! trips:2      so many openings were there since it closed
//! moves:1      so many generations have begun
//! told:1       so many transitions were told, would-open:1 so many that would have been
//! would-reject:2  so many calls would have been rejected
//! in-flight:1  so many calls have not ended
//! late:2       so many calls by outcome: success, failure, slow_success, slow_failure,
//!              ignored, rejected, cancelled, panicked, late
//! ```

use std::ops::RangeInclusive;
use std::time::Duration;

use breakerbox::Policy;
use breakerbox::RejectedKind;
use breakerbox::State;
use breakerbox::Window;

/// How a call ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    Success,
    Failure,
    /// An error that `ignores` takes.
    Ignored,
    /// An error that `fails_on` denies.
    NotAFailure,
    Panic,
    Drop,
    RetryAfter(Duration),
    OpenFor(Duration),
}

/// How a call is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    Any,
    Open(Duration),
    /// For a time that nobody knows.
    Of(RejectedKind),
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Step {
    Call(Ending),
    Slow(Ending, Duration),
    Refused(Refusal),
    Begin(String),
    End(String, Ending),
    Pass(Duration),
    Look,
    Force(State, Duration),
    /// And whether there is something to end.
    Clear(bool),
    Reset,
    Update(Change),
    Is(State),
    Beneath(State),
    Why(Option<String>),
    Left(Option<RangeInclusive<Duration>>),
    Forced(Option<Duration>),
    FailureRate(Option<f64>),
    SlowCallRate(Option<f64>),
    Number(String, u64),
}

/// A key that is changed while the breaker runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Change {
    Threshold(u32),
    Window(Window),
    FailureRate(f64),
    MinCalls(u32),
    SlowCall(Duration),
    SlowCallRate(f64),
    Cooldown(Duration),
    Backoff(f64),
    Probes(u32),
    CloseAfter(u32),
    Shadow(bool),
}

impl Change {
    pub(crate) const fn of(self, policy: Policy) -> Policy {
        match self {
            Self::Threshold(failures) => policy.threshold(failures),
            Self::Window(window) => policy.window(window),
            Self::FailureRate(rate) => policy.failure_rate(rate),
            Self::MinCalls(calls) => policy.min_calls(calls),
            Self::SlowCall(duration) => policy.slow_call(duration),
            Self::SlowCallRate(rate) => policy.slow_call_rate(rate),
            Self::Cooldown(duration) => policy.cooldown(duration),
            Self::Backoff(factor) => policy.backoff(factor),
            Self::Probes(calls) => policy.probes(calls),
            Self::CloseAfter(successes) => policy.close_after(successes),
            Self::Shadow(shadow) => policy.shadow(shadow),
        }
    }

    fn read(text: &str) -> Option<Self> {
        let (key, value) = text.split_once('=')?;
        Some(match key {
            "threshold" => Self::Threshold(value.parse().ok()?),
            "window" => Self::Window(match value.parse() {
                Ok(calls) => Window::Calls(calls),
                Err(_) => Window::Time(duration(value)?),
            }),
            "failure_rate" => Self::FailureRate(value.parse().ok()?),
            "min_calls" => Self::MinCalls(value.parse().ok()?),
            "slow_call" => Self::SlowCall(duration(value)?),
            "slow_call_rate" => Self::SlowCallRate(value.parse().ok()?),
            "cooldown" => Self::Cooldown(duration(value)?),
            "backoff" => Self::Backoff(value.parse().ok()?),
            "probes" => Self::Probes(value.parse().ok()?),
            "close_after" => Self::CloseAfter(value.parse().ok()?),
            "shadow" => Self::Shadow(value.parse().ok()?),
            _ => return None,
        })
    }
}

/// The steps of a scenario, each with the word that asks for it.
pub(crate) fn read(script: &str) -> Vec<(String, Step)> {
    let words = unfold(script);
    words
        .into_iter()
        .map(|word| match step(&word) {
            Some(step) => (word, step),
            None => panic!("`{word}` in `{script}` is no step"),
        })
        .collect()
}

/// Writes repeated words and groups out.
fn unfold(script: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut rest = script.split_whitespace();
    while let Some(word) = rest.next() {
        let times = word
            .split_once('x')
            .and_then(|(times, what)| Some((times.parse::<usize>().ok()?, what)));
        let Some((times, what)) = times else {
            words.push(word.to_owned());
            continue;
        };
        let group = match what.strip_prefix('(') {
            None => what.to_owned(),
            Some(first) => {
                let mut group = first.to_owned();
                while !group.ends_with(')') {
                    group.push(' ');
                    group.push_str(rest.next().expect("a group ends with `)`"));
                }
                group.trim_end_matches(')').to_owned()
            }
        };
        let group = unfold(&group);
        for _ in 0..times {
            words.extend_from_slice(&group);
        }
    }
    words
}

fn step(word: &str) -> Option<Step> {
    match word {
        "look" => return Some(Step::Look),
        "clear" => return Some(Step::Clear(true)),
        "clear-none" => return Some(Step::Clear(false)),
        "reset" => return Some(Step::Reset),
        _ => {}
    }
    if let Some(ending) = ending(word) {
        return Some(Step::Call(ending));
    }
    if let Some((ending, duration)) = slow(word) {
        return Some(Step::Slow(ending, duration));
    }
    if let Some(name) = word.strip_prefix('[') {
        return Some(Step::Begin(name.to_owned()));
    }
    if let Some((name, how)) = word.split_once(']') {
        return Some(Step::End(name.to_owned(), ending(how)?));
    }
    if let Some(how) = word.strip_prefix('X') {
        return Some(Step::Refused(match how {
            "" => Refusal::Any,
            "busy" => Refusal::Of(RejectedKind::ProbesBusy),
            "ramp" => Refusal::Of(RejectedKind::Ramp),
            "forced" => Refusal::Of(RejectedKind::ForcedOpen),
            left => Refusal::Open(duration(left)?),
        }));
    }
    if let Some(time) = word.strip_prefix('+') {
        return Some(Step::Pass(duration(time)?));
    }
    if let Some(name) = word.strip_prefix('=') {
        return Some(Step::Is(state(name)?));
    }
    let (what, value) = word.split_once(':')?;
    Some(match what {
        "force-open" => Step::Force(State::ForcedOpen, duration(value)?),
        "force-closed" => Step::Force(State::ForcedClosed, duration(value)?),
        "shadow" => Step::Force(State::Shadow, duration(value)?),
        "update" => Step::Update(Change::read(value)?),
        "beneath" => Step::Beneath(state(value)?),
        "why" => Step::Why(optional(value, |it| Some(it.to_owned()))?),
        "left" => Step::Left(optional(value, durations)?),
        "forced" => Step::Forced(optional(value, duration)?),
        "rate" => Step::FailureRate(optional(value, |it| it.parse().ok())?),
        "slow-rate" => Step::SlowCallRate(optional(value, |it| it.parse().ok())?),
        what => Step::Number(what.to_owned(), value.parse().ok()?),
    })
}

/// `none`, or something.
fn optional<T>(text: &str, read: impl Fn(&str) -> Option<T>) -> Option<Option<T>> {
    if text == "none" {
        Some(None)
    } else {
        read(text).map(Some)
    }
}

fn state(name: &str) -> Option<State> {
    let known = State::ALL.iter().copied();
    known.into_iter().find(|known| known.to_string() == name)
}

/// `s5s`, a success that takes 5 s.
fn slow(word: &str) -> Option<(Ending, Duration)> {
    let ending = match word.chars().next()? {
        's' => Ending::Success,
        'f' => Ending::Failure,
        'i' => Ending::Ignored,
        'n' => Ending::NotAFailure,
        'p' => Ending::Panic,
        'd' => Ending::Drop,
        _ => return None,
    };
    Some((ending, duration(&word[1..])?))
}

fn ending(word: &str) -> Option<Ending> {
    Some(match word {
        "S" => Ending::Success,
        "F" => Ending::Failure,
        "I" => Ending::Ignored,
        "N" => Ending::NotAFailure,
        "P" => Ending::Panic,
        "D" => Ending::Drop,
        _ => {
            if let Some(rest) = word.strip_prefix('R') {
                Ending::RetryAfter(duration(rest)?)
            } else {
                Ending::OpenFor(duration(word.strip_prefix('O')?)?)
            }
        }
    })
}

/// `60s..66s`, or only one.
fn durations(text: &str) -> Option<RangeInclusive<Duration>> {
    match text.split_once("..") {
        Some((least, most)) => Some(duration(least)?..=duration(most)?),
        None => duration(text).map(|it| it..=it),
    }
}

/// `90s`, `90s-1ns` or `90s+1ns`.
fn duration(text: &str) -> Option<Duration> {
    if let Some((whole, less)) = text.split_once('-') {
        return duration(whole)?.checked_sub(duration(less)?);
    }
    if let Some((whole, more)) = text.split_once('+') {
        return duration(whole)?.checked_add(duration(more)?);
    }
    if text == "max" {
        return Some(Duration::MAX);
    }
    let unit = text.find(|char: char| !char.is_ascii_digit())?;
    let number: u32 = text[..unit].parse().ok()?;
    let unit = match &text[unit..] {
        "ns" => Duration::from_nanos(1),
        "ms" => Duration::from_millis(1),
        "s" => Duration::from_secs(1),
        "m" => Duration::from_secs(60),
        "h" => Duration::from_secs(60 * 60),
        "d" => Duration::from_secs(24 * 60 * 60),
        _ => return None,
    };
    Some(unit * number)
}

#[test]
fn a_line_is_read_word_by_word() {
    let words = |script| {
        let steps = read(script).into_iter();
        steps.map(|(_, step)| step).collect::<Vec<_>>()
    };
    assert_eq!(
        words("2xF [a +5s-1ns X3s a]R2m =half-open late:1"),
        [
            Step::Call(Ending::Failure),
            Step::Call(Ending::Failure),
            Step::Begin("a".to_owned()),
            Step::Pass(Duration::from_nanos(4_999_999_999)),
            Step::Refused(Refusal::Open(Duration::from_secs(3))),
            Step::End("a".to_owned(), Ending::RetryAfter(Duration::from_secs(120))),
            Step::Is(State::HalfOpen),
            Step::Number("late".to_owned(), 1),
        ]
    );
    assert_eq!(
        words("s4s+1ns Xramp shadow:2h update:window=5 rate:0.5 left:1s..2s clear-none"),
        [
            Step::Slow(Ending::Success, Duration::new(4, 1)),
            Step::Refused(Refusal::Of(RejectedKind::Ramp)),
            Step::Force(State::Shadow, Duration::from_secs(7_200)),
            Step::Update(Change::Window(Window::Calls(5))),
            Step::FailureRate(Some(0.5)),
            Step::Left(Some(Duration::from_secs(1)..=Duration::from_secs(2))),
            Step::Clear(false),
        ]
    );
    assert_eq!(words("2x(F S) I"), words("F S F S I"));
    assert_eq!(words("2x(2xF S)"), words("F F S F F S"));
}

#[test]
#[should_panic(expected = "`Q` in `S Q` is no step")]
fn a_word_that_means_nothing_is_refused() {
    read("S Q");
}
