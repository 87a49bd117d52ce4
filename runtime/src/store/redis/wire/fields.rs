//! What a circuit is, as text: its snapshot, and the parts of it.

use std::str::Split;

use crate::reason::Reason;
use crate::rules::fleet::Cover;
use crate::rules::fleet::CoverKind;
use crate::rules::fleet::Live;
use crate::rules::fleet::Phase;
use crate::rules::fleet::Snapshot;
use crate::rules::fleet::Width;
use crate::state::State;
use crate::store::redis::wire::escape::escape;
use crate::store::redis::wire::escape::unescape;

/// What is not there.
pub(super) const NONE: &str = "-";

/// The end of the year 9999: no time is later, nor an epoch or the number of a live change,
/// which are times. One that is has been broken by somebody, and after it none could be later.
const LATEST: u64 = 253_402_300_799_999;

/// The next nine of the fields between bars.
pub(super) fn snapshot(fields: &mut Split<'_, char>) -> Option<Snapshot> {
    Some(Snapshot {
        epoch: time(fields.next()?)?,
        phase: phase(fields.next()?)?,
        until: fields.next()?.parse().ok()?,
        length: fields.next()?.parse().ok()?,
        trips: fields.next()?.parse().ok()?,
        opened_by: optional(fields.next()?, reason)?,
        is_suspect: flag(fields.next()?)?,
        cover: optional(fields.next()?, cover)?,
        live: time(fields.next()?)?,
    })
}

fn time(text: &str) -> Option<u64> {
    text.parse().ok().filter(|time| *time <= LATEST)
}

pub(super) fn flag(text: &str) -> Option<bool> {
    match text {
        "0" => Some(false),
        "1" => Some(true),
        _ => None,
    }
}

pub(super) fn phase(text: &str) -> Option<Phase> {
    let all = [Phase::Closed, Phase::Open, Phase::HalfOpen];
    all.into_iter().find(|it| it.state().label() == text)
}

pub(super) fn state(text: &str) -> Option<State> {
    State::ALL.iter().copied().find(|it| it.label() == text)
}

fn kind(text: &str) -> Option<CoverKind> {
    let all = [
        CoverKind::ForcedOpen,
        CoverKind::ForcedClosed,
        CoverKind::Shadow,
    ];
    all.into_iter().find(|it| it.state().label() == text)
}

/// `None` where it cannot be read, `Some(None)` where it says that there is none.
pub(super) fn optional<T>(text: &str, read: impl Fn(&str) -> Option<T>) -> Option<Option<T>> {
    match text {
        NONE => Some(None),
        text => read(text).map(Some),
    }
}

/// `label:a:b:limit`, where what is missing is empty.
pub(super) fn reason(text: &str) -> Option<Reason> {
    let mut parts = text.split(':');
    let (label, a, b, limit) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
    if parts.next().is_some() {
        return None;
    }
    let number = |text: &str| text.parse::<u32>().ok();
    let rate = |text: &str| text.parse::<f64>().ok();
    Some(match label {
        "threshold" => Reason::Threshold {
            failures: number(a)?,
            threshold: number(b)?,
        },
        "threshold_in_window" => Reason::FailuresInWindow {
            failures: number(a)?,
            threshold: number(b)?,
        },
        "failure_rate" => Reason::FailureRate {
            failures: number(a)?,
            calls: number(b)?,
            limit: rate(limit)?,
        },
        "slow_call_rate" => Reason::SlowCallRate {
            slow: number(a)?,
            calls: number(b)?,
            limit: rate(limit)?,
        },
        "open_for" => Reason::OpenFor,
        "cooldown" => Reason::CooldownOver,
        "probes_succeeded" => Reason::ProbesSucceeded {
            successes: number(a)?,
        },
        "probe_failed" => Reason::ProbeFailed,
        "probe_slow" => Reason::ProbeSlow,
        "probe_failure_rate" => Reason::ProbeFailureRate {
            failed: number(a)?,
            probes: number(b)?,
            limit: rate(limit)?,
        },
        "probes_hung" => Reason::ProbesHung { hung: number(a)? },
        "override" => Reason::Override,
        "override_ended" => Reason::OverrideEnded,
        "reset" => Reason::Reset,
        "shared" => Reason::Shared,
        _ => return None,
    })
}

/// The shortest text that reads back as the same number stands for a limit.
pub(super) fn write_reason(reason: Option<Reason>) -> String {
    let Some(reason) = reason else {
        return NONE.to_owned();
    };
    let label = reason.label();
    match reason {
        Reason::Threshold {
            failures: a,
            threshold: b,
        }
        | Reason::FailuresInWindow {
            failures: a,
            threshold: b,
        } => format!("{label}:{a}:{b}:"),
        Reason::FailureRate {
            failures: a,
            calls: b,
            limit,
        }
        | Reason::SlowCallRate {
            slow: a,
            calls: b,
            limit,
        }
        | Reason::ProbeFailureRate {
            failed: a,
            probes: b,
            limit,
        } => format!("{label}:{a}:{b}:{limit}"),
        Reason::ProbesSucceeded { successes: a } | Reason::ProbesHung { hung: a } => {
            format!("{label}:{a}::")
        }
        Reason::OpenFor
        | Reason::CooldownOver
        | Reason::ProbeFailed
        | Reason::ProbeSlow
        | Reason::Override
        | Reason::OverrideEnded
        | Reason::Reset
        | Reason::Shared => format!("{label}:::"),
    }
}

/// A letter for the kind, and how wide.
pub(super) fn write_width(width: Width) -> String {
    match width {
        Width::Millis(width) => format!("m{width}"),
        Width::Calls(width) => format!("c{width}"),
    }
}

/// `kind:id:began:until:actor:why`.
pub(super) fn cover(text: &str) -> Option<Cover> {
    let mut parts = text.split(':');
    let cover = Cover {
        kind: kind(parts.next()?)?,
        id: parts.next()?.parse().ok()?,
        began: parts.next()?.parse().ok()?,
        until: parts.next()?.parse().ok()?,
        actor: unescape(parts.next()?)?,
        why: unescape(parts.next()?)?,
    };
    parts.next().is_none().then_some(cover)
}

pub(super) fn write_cover(cover: Option<&Cover>) -> String {
    let Some(cover) = cover else {
        return NONE.to_owned();
    };
    format!(
        "{}:{}:{}:{}:{}:{}",
        cover.kind.state().label(),
        cover.id,
        cover.began,
        cover.until,
        escape(&cover.actor),
        escape(&cover.why)
    )
}

/// `id:text`.
#[cfg(test)]
pub(super) fn live(text: &str) -> Option<Live> {
    let (id, text) = text.split_once(':')?;
    Some(Live {
        id: id.parse().ok()?,
        text: unescape(text)?,
    })
}

pub(super) fn write_live(live: &Live) -> String {
    format!("{}:{}", live.id, escape(&live.text))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One of each kind, with numbers as they come.
    fn reasons(random: &mut fastrand::Rng) -> Vec<Reason> {
        let (a, b) = (random.u32(..), random.u32(..));
        let limit = match random.u8(..4) {
            0 => random.f64(),
            1 => f64::from_bits(random.u64(..0x3ff0_0000_0000_0000)),
            2 => 1.0,
            _ => f64::from(random.u32(1..=100)) / 100.0,
        };
        vec![
            Reason::Threshold {
                failures: a,
                threshold: b,
            },
            Reason::FailuresInWindow {
                failures: a,
                threshold: b,
            },
            Reason::FailureRate {
                failures: a,
                calls: b,
                limit,
            },
            Reason::SlowCallRate {
                slow: a,
                calls: b,
                limit,
            },
            Reason::OpenFor,
            Reason::CooldownOver,
            Reason::ProbesSucceeded { successes: a },
            Reason::ProbeFailed,
            Reason::ProbeSlow,
            Reason::ProbeFailureRate {
                failed: a,
                probes: b,
                limit,
            },
            Reason::ProbesHung { hung: a },
            Reason::Override,
            Reason::OverrideEnded,
            Reason::Reset,
        ]
    }

    #[test]
    fn every_reason_reads_back_with_the_very_same_limit() {
        let mut random = fastrand::Rng::with_seed(7);
        for _ in 0..500 {
            for it in reasons(&mut random) {
                let text = write_reason(Some(it));
                assert_eq!(reason(&text), Some(it), "{text}");
                assert_eq!(optional(&text, reason), Some(Some(it)));
                assert!(!text.contains('|'), "{text}");
            }
        }
        assert_eq!(optional(&write_reason(None), reason), Some(None));
    }

    #[test]
    fn a_reason_that_is_cut_or_unknown_is_none() {
        for broken in [
            "",
            "threshold",
            "threshold:1:2",
            "threshold:1::",
            "threshold:1:2::",
            "threshold:-1:2:",
            "threshold:4294967296:2:",
            "failure_rate:1:2:",
            "gravity:1:2:",
        ] {
            assert_eq!(reason(broken), None, "{broken}");
        }
    }

    #[test]
    fn a_cover_reads_back_whatever_people_say() {
        for (actor, why) in [("", ""), ("ann", "a:b|c;d,e{f}%"), ("-", "größe\n")] {
            for kind in [
                CoverKind::ForcedOpen,
                CoverKind::ForcedClosed,
                CoverKind::Shadow,
            ] {
                let it = Cover {
                    kind,
                    id: 1_800_000_000_000,
                    began: 7,
                    until: 9_007_199_254_740_991,
                    actor: actor.to_owned(),
                    why: why.to_owned(),
                };
                let text = write_cover(Some(&it));
                assert_eq!(optional(&text, cover), Some(Some(it)), "{text}");
            }
        }
        assert_eq!(optional(&write_cover(None), cover), Some(None));
        assert_eq!(cover("forced_open:1:2:3:ann"), None);
        assert_eq!(cover("forced_open:1:2:3:ann:why:more"), None);
        assert_eq!(cover("closed:1:2:3:ann:why"), None);
    }

    #[test]
    fn states_and_phases_read_back() {
        for it in State::ALL {
            assert_eq!(state(it.label()), Some(*it));
        }
        for it in [Phase::Closed, Phase::Open, Phase::HalfOpen] {
            assert_eq!(phase(it.state().label()), Some(it));
        }
        assert_eq!(phase("shadow"), None);
        assert_eq!(
            (flag("1"), flag("0"), flag("")),
            (Some(true), Some(false), None)
        );
    }
}
