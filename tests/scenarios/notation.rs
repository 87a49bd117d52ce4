//! The notation of scenarios.
//!
//! ```text
//! S F          a call that succeeds, that fails
//! I N          one that ends with an ignored error, with an error that is no failure
//! P D          one that panics, one whose future is dropped
//! R90s O90s    a failure that asks for 90 s of rest, one that opens for exactly 90 s
//! X            a call that is rejected
//! X90s Xbusy   rejected by an opening of which 90 s are left; since the probes are out
//! [a  a]F      call `a` begins and is admitted; it fails
//! +90s         time passes; `+90s-1ns` is one tick less
//! 3xF          three of it; `3x(2xF S)` the group three times
//! look         reads all that can be read, which changes nothing
//! =open        the circuit is open; =closed, =half-open
//! why:word     the reason it is open, as metrics label it
//! left:90s     what is left of the opening; left:none
//! ran:3        so many calls were let through
//! count:2      so many failures in a row are counted
//! moves:1      so many transitions there were
//! in-flight:1  so many calls have not ended
//! late:2       so many calls by outcome: success, failure, ignored, rejected, cancelled,
//!              panicked, late
//! ```

use std::time::Duration;

use breakerbox::State;

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
    Busy,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Call(Ending),
    Refused(Refusal),
    Begin(String),
    End(String, Ending),
    Pass(Duration),
    Look,
    Is(State),
    Why(String),
    Left(Option<Duration>),
    Number(String, u64),
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
    if word == "look" {
        return Some(Step::Look);
    }
    if let Some(ending) = ending(word) {
        return Some(Step::Call(ending));
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
            "busy" => Refusal::Busy,
            left => Refusal::Open(duration(left)?),
        }));
    }
    if let Some(time) = word.strip_prefix('+') {
        return Some(Step::Pass(duration(time)?));
    }
    if let Some(state) = word.strip_prefix('=') {
        let state = State::ALL.iter().find(|known| known.to_string() == state)?;
        return Some(Step::Is(*state));
    }
    match word.split_once(':')? {
        ("why", label) => Some(Step::Why(label.to_owned())),
        ("left", "none") => Some(Step::Left(None)),
        ("left", left) => Some(Step::Left(Some(duration(left)?))),
        (what, number) => Some(Step::Number(what.to_owned(), number.parse().ok()?)),
    }
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

/// `90s`, or `90s-1ns`.
fn duration(text: &str) -> Option<Duration> {
    if let Some((whole, less)) = text.split_once('-') {
        return duration(whole)?.checked_sub(duration(less)?);
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
    assert_eq!(words("2x(F S) I"), words("F S F S I"));
    assert_eq!(words("2x(2xF S)"), words("F F S F F S"));
}

#[test]
#[should_panic(expected = "`Q` in `S Q` is no step")]
fn a_word_that_means_nothing_is_refused() {
    read("S Q");
}
