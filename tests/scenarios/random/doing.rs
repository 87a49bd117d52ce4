//! What happens in a random sequence, and when.

use std::time::Duration;

use breakerbox::State;
use proptest::prelude::*;
use proptest::sample::select;

use super::numbers;
use crate::scenarios::drivers::Driver;
use crate::scenarios::drivers::seconds;
use crate::scenarios::law::Law;
use crate::scenarios::law::Numbers;
use crate::scenarios::notation::Change;
use crate::scenarios::notation::Ending;

#[derive(Clone, Copy, Debug)]
pub(super) enum Doing {
    /// A call begins and is held.
    Begin(Driver),
    /// One of the held calls ends; which one is taken modulo their number.
    End(usize, Ending),
    /// A call begins and ends.
    Call(Driver, Ending),
    Pass(Time),
    Force(State, Duration),
    Clear,
    Reset,
    Update(Change),
}

/// How much time passes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Time {
    Exactly(Duration),
    /// Until the next bucket begins.
    Bucket,
    /// Until what is told to be left is over: an opening, or an override.
    Left,
    /// So many windows.
    Windows(u32),
    /// One tick less than that.
    JustNot(Until),
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Until {
    Bucket,
    Left,
}

/// Which kinds of things happen in a sequence at all.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kinds {
    by_hand: bool,
    live: bool,
}

impl Kinds {
    pub(super) fn allow(self, doing: Doing, numbers: &Numbers) -> bool {
        match doing {
            // How long an opening would last is not to be seen in shadow.
            Doing::Force(State::Shadow, _) => self.by_hand && numbers.jitter.is_none(),
            Doing::Update(Change::Shadow(_)) => self.live && numbers.jitter.is_none(),
            Doing::Force(..) | Doing::Clear | Doing::Reset => self.by_hand,
            // When the calls that are out began, nobody has asked.
            Doing::Update(Change::SlowCall(_)) => self.live && numbers.slow_call.is_some(),
            Doing::Update(_) => self.live,
            _ => true,
        }
    }
}

impl Time {
    pub(super) fn duration(self, law: &Law) -> Duration {
        match self {
            Self::Exactly(duration) => duration,
            Self::Windows(windows) => seconds(1) + nanos(10 * law.numbers.width()) * windows,
            Self::Bucket => Until::Bucket.duration(law),
            Self::Left => Until::Left.duration(law),
            Self::JustNot(until) => until.duration(law).saturating_sub(nanos(1)),
        }
    }
}

impl Until {
    fn duration(self, law: &Law) -> Duration {
        match self {
            Self::Bucket => {
                let width = law.numbers.width();
                nanos(width - law.now.as_nanos() % width)
            }
            Self::Left => {
                let view = law.view();
                view.left.or(view.forced).unwrap_or(seconds(1))
            }
        }
    }
}

fn nanos(nanos: u128) -> Duration {
    Duration::from_nanos(u64::try_from(nanos).expect("windows are short"))
}

pub(super) fn kinds() -> impl Strategy<Value = Kinds> {
    (prop::bool::weighted(0.4), prop::bool::weighted(0.25))
        .prop_map(|(by_hand, live)| Kinds { by_hand, live })
}

pub(super) fn doing() -> impl Strategy<Value = Doing> {
    let driver = || select(Driver::ALL.as_slice());
    let forced = vec![State::ForcedOpen, State::ForcedClosed, State::Shadow];
    prop_oneof![
        24 => driver().prop_map(Doing::Begin),
        20 => (0_usize..64, ending()).prop_map(|(which, how)| Doing::End(which, how)),
        20 => (driver(), ending()).prop_map(|(driver, how)| Doing::Call(driver, how)),
        24 => time().prop_map(Doing::Pass),
        4 => (select(forced), 1_u64..=9).prop_map(|(state, lasts)| Doing::Force(state, seconds(lasts))),
        1 => Just(Doing::Clear),
        1 => Just(Doing::Reset),
        3 => change().prop_map(Doing::Update),
    ]
}

fn ending() -> impl Strategy<Value = Ending> {
    let asked = || (1_u64..=10).prop_map(seconds);
    prop_oneof![
        10 => Just(Ending::Success),
        7 => Just(Ending::Failure),
        2 => Just(Ending::Ignored),
        1 => Just(Ending::NotAFailure),
        1 => Just(Ending::Panic),
        2 => Just(Ending::Drop),
        1 => asked().prop_map(Ending::RetryAfter),
        1 => asked().prop_map(Ending::OpenFor),
    ]
}

/// Whole seconds, as most numbers are, so that borders are met; and one tick off.
fn time() -> impl Strategy<Value = Time> {
    prop_oneof![
        6 => (1_u64..=3).prop_map(|it| Time::Exactly(seconds(it))),
        1 => Just(Time::Exactly(Duration::from_nanos(1))),
        1 => Just(Time::Exactly(Duration::from_nanos(999_999_999))),
        1 => (1_u64..=9).prop_map(|it| Time::Exactly(Duration::from_millis(100 * it))),
        3 => Just(Time::Bucket),
        2 => Just(Time::JustNot(Until::Bucket)),
        3 => Just(Time::Left),
        2 => Just(Time::JustNot(Until::Left)),
        1 => (1_u32..=3).prop_map(Time::Windows),
    ]
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        (1_u32..=4).prop_map(Change::Threshold),
        numbers::window().prop_map(Change::Window),
        numbers::rate().prop_map(Change::FailureRate),
        (1_u32..=5).prop_map(Change::MinCalls),
        numbers::few().prop_map(Change::SlowCall),
        numbers::rate().prop_map(Change::SlowCallRate),
        numbers::few().prop_map(Change::Cooldown),
        select(vec![1.0, 2.0]).prop_map(Change::Backoff),
        (1_u32..=4).prop_map(Change::Probes),
        (1_u32..=4).prop_map(Change::CloseAfter),
        any::<bool>().prop_map(Change::Shadow),
    ]
}
