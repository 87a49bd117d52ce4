//! Policies and commands as they may come, and as they had better not.

use std::time::Duration;

use fastrand::Rng;

use crate::policy::Policy;
use crate::policy::Window;
use crate::reason::Reason;
use crate::rules::Outcome;
use crate::rules::fleet::Command;
use crate::rules::fleet::Cover;
use crate::rules::fleet::CoverKind;
use crate::rules::fleet::Delta;
use crate::rules::fleet::Flush;
use crate::rules::fleet::Force;
use crate::rules::fleet::Live;
use crate::rules::fleet::Phase;
use crate::rules::fleet::Request;
use crate::rules::fleet::Shared;
use crate::rules::fleet::Snapshot;
use crate::rules::fleet::View;
use crate::verdict::Verdict;

/// Some are one number in doubles.
const TOKENS: [u64; 6] = [1, 7, 1 << 60, (1 << 60) + 1, u64::MAX - 1, u64::MAX];

const INSTANCES: [u64; 4] = [0, 3, (1 << 62) + 1, (1 << 62) + 2];

/// A policy that passes its check, with numbers that are soon reached.
pub(super) fn policy(random: &mut Rng) -> Policy {
    loop {
        let policy = unchecked(random);
        if policy.check().is_ok() {
            return policy;
        }
    }
}

fn unchecked(random: &mut Rng) -> Policy {
    let mut policy = Policy::new()
        .cooldown(micros(random, 20_000))
        .max_open_for(micros(random, 60_000))
        .min_instances(random.choice([1, 1, 1, 2, 3]).unwrap_or(1));
    match random.u8(..4) {
        0 => policy = policy.threshold(random.u32(1..=4)),
        kind => {
            policy = policy.window(match kind {
                1 => Window::Calls(random.u32(1..=60)),
                _ => Window::Time(micros(random, 450_000) + Duration::from_millis(50)),
            });
            if random.u8(..3) == 0 {
                policy = policy.threshold(random.u32(1..=8));
            }
            if random.u8(..3) > 0 {
                policy = policy.failure_rate(rate(random));
            }
            if random.bool() {
                policy = policy.slow_call(Duration::from_millis(1));
                if random.bool() {
                    policy = policy.slow_call_rate(rate(random));
                }
            }
            if random.u8(..4) > 0 {
                policy = policy.min_calls(random.u32(1..=8));
            }
            if random.u8(..4) == 0 {
                policy = policy.min_failures(random.u32(1..=4));
            }
        }
    }
    if random.bool() {
        let longest = policy.get_cooldown() + micros(random, 40_000);
        policy = policy.max_cooldown(longest);
        policy = policy.backoff(1.0 + random.f64() * 3.0);
    }
    if random.bool() {
        policy = policy.jitter(random.f64());
    }
    if random.bool() {
        policy = policy.probes(random.u32(1..=6));
    }
    if random.u8(..3) == 0 {
        policy = policy.close_after(random.u32(1..=4));
    }
    if random.u8(..3) == 0 {
        policy = policy.probe_concurrency(random.u32(1..=4));
    }
    if random.u8(..3) == 0 {
        let probes = policy.get_probes();
        let share = f64::from(random.u32(1..=probes)) / f64::from(probes);
        let rate = if random.bool() { share } else { rate(random) };
        policy = policy.probe_failure_rate(rate);
    }
    if random.bool() {
        policy = policy.probe_timeout(micros(random, 9_000));
    }
    if random.u8(..3) == 0 {
        policy = policy.ramp(micros(random, 60_000));
    }
    policy
}

fn micros(random: &mut Rng, most: u64) -> Duration {
    Duration::from_micros(random.u64(1..=most))
}

fn rate(random: &mut Rng) -> f64 {
    match random.u8(..3) {
        0 => random.choice([0.1, 0.3, 0.5, 0.7, 1.0]).unwrap_or(0.1),
        1 => f64::from(random.u32(1..=9)) / f64::from(random.u32(9..=12)),
        _ => random.f64().max(1e-9),
    }
}

/// What a caller may send in front of what lies there at `now`. `seen` are snapshots of any time
/// and circuit.
pub(super) fn request(
    random: &mut Rng,
    state: Option<&Shared>,
    seen: &[Snapshot],
    now: u64,
) -> Request {
    Request {
        command: command(random, state, now),
        view: view(random, state, seen, now),
        instance: random.choice(INSTANCES).unwrap_or(0),
        draw: random.u32(..),
        deadline: match random.u8(..20) {
            // The next command comes within a few milliseconds of the last one.
            0 => (now + random.u64(..4)).saturating_sub(1),
            1 => now.saturating_sub(random.u64(1..1_000)),
            2 | 3 => now + 60_000,
            _ => 0,
        },
    }
}

fn view(random: &mut Rng, state: Option<&Shared>, seen: &[Snapshot], now: u64) -> View {
    let live = live(random, state, now);
    View {
        live,
        ..view_of_state(random, state, seen, now)
    }
}

/// Mostly what lies there, or nothing.
fn live(random: &mut Rng, state: Option<&Shared>, now: u64) -> Live {
    let right = state.map(|it| it.live.clone()).unwrap_or_default();
    match random.u8(..40) {
        0..10 => Live::default(),
        10 => Live {
            id: right.id.max(now) + random.u64(..3),
            text: live_text(random),
        },
        11 => Live {
            id: right.id.saturating_sub(random.u64(..3)),
            text: live_text(random),
        },
        _ => right,
    }
}

fn live_text(random: &mut Rng) -> String {
    let written = random.choice([
        "",
        "-",
        "threshold=3 cooldown=7",
        "a:b|c;d,{e}%41=\n",
        "größe",
    ]);
    written.unwrap_or_default().to_owned()
}

fn view_of_state(random: &mut Rng, state: Option<&Shared>, seen: &[Snapshot], now: u64) -> View {
    let right = state.map(Shared::snapshot).unwrap_or_default();
    match random.u8(..20) {
        0 => View::default(),
        1 | 2 => {
            let old = random.choice(seen).cloned().unwrap_or(right);
            view_of(&old, now)
        }
        3 => View {
            epoch: right.epoch.max(now) + random.u64(..3),
            phase: random
                .choice([Phase::Closed, Phase::Open, Phase::HalfOpen])
                .unwrap_or_default(),
            remaining: random.u64(..30),
            length: random.u64(..30),
            trips: random.u32(..4),
            opened_by: random
                .choice([
                    None,
                    Some(Reason::OpenFor),
                    Some(Reason::FailureRate {
                        failures: 1,
                        calls: 3,
                        limit: 1.0 / 3.0,
                    }),
                ])
                .flatten(),
            cover: (random.u8(..3) == 0).then(|| Cover {
                kind: kind(random),
                id: right.epoch,
                began: 0,
                until: random.u64(..20),
                actor: actor(random),
                why: actor(random),
            }),
            live: Live::default(),
        },
        _ => view_of(&right, now),
    }
}

/// As a caller keeps it.
pub(super) fn view_of(snapshot: &Snapshot, now: u64) -> View {
    View {
        epoch: snapshot.epoch,
        phase: snapshot.phase,
        remaining: snapshot.until.saturating_sub(now),
        length: snapshot.length,
        trips: snapshot.trips,
        opened_by: snapshot.opened_by,
        cover: snapshot.cover.clone().map(|cover| Cover {
            began: 0,
            until: cover.until.saturating_sub(now),
            ..cover
        }),
        live: Live::default(),
    }
}

fn command(random: &mut Rng, state: Option<&Shared>, now: u64) -> Command {
    let phase = state.map_or(Phase::Closed, |it| it.phase);
    let is_covered = state.is_some_and(|it| it.cover.is_some());
    // Of a hundred: flush, acquire, renew, end, force; the rest asks what is known.
    let weights: [u8; 5] = match phase {
        _ if is_covered => [25, 25, 5, 10, 20],
        Phase::Closed => [80, 6, 2, 3, 4],
        Phase::Open => [15, 60, 5, 8, 4],
        Phase::HalfOpen => [6, 40, 12, 36, 3],
    };
    let mut drawn = random.u8(..100);
    for (which, weight) in weights.into_iter().enumerate() {
        if drawn >= weight {
            drawn -= weight;
            continue;
        }
        return match which {
            0 => Command::Flush(flush(random)),
            1 => Command::Acquire {
                token: token(random, state),
                ttl: ttl(random),
            },
            2 => Command::Renew {
                token: token(random, state),
                ttl: ttl(random),
            },
            3 => Command::End {
                token: (random.u8(..6) > 0).then(|| token(random, state)),
                outcome: outcome(random),
            },
            _ => Command::Force(force(random, state, now)),
        };
    }
    Command::Sync
}

/// Mostly one that has a lease.
fn token(random: &mut Rng, state: Option<&Shared>) -> u64 {
    let leases = state.map_or(&[][..], |it| &it.round.leases);
    let leased = random.choice(leases).map(|lease| lease.token);
    match random.u8(..3) {
        0 => random.choice(TOKENS).unwrap_or(0),
        _ => leased.unwrap_or_else(|| random.choice(TOKENS).unwrap_or(0)),
    }
}

fn ttl(random: &mut Rng) -> u64 {
    match random.u8(..8) {
        0 => random.choice([0, 60_000, 60_001, u64::MAX]).unwrap_or(0),
        1 => 1_000,
        _ => random.u64(1..12),
    }
}

fn flush(random: &mut Rng) -> Flush {
    let ages = [0, 1, 60, 1_000, u64::MAX];
    let deltas = (0..random.usize(..4)).map(|_| {
        let calls = random.u64(..8);
        Delta {
            age: match random.u8(..4) {
                0 => random.choice(ages).unwrap_or(0),
                _ => random.u64(..600),
            },
            calls,
            failures: random.u64(..=calls) * random.u64(..2),
            slow: random.u64(..=calls) * u64::from(random.u8(..4) == 0),
        }
    });
    Flush {
        deltas: deltas.collect(),
        success: random.u8(..4) == 0,
        failures: match random.u8(..100) {
            0 => u32::MAX,
            _ => random.u32(..3),
        },
        at_least: length(random),
        exactly: (random.u8(..40) == 0).then(|| length(random)),
    }
}

fn length(random: &mut Rng) -> u64 {
    match random.u8(..8) {
        0 => random.choice([1, 3_600_000, u64::MAX]).unwrap_or(0),
        1 | 2 => random.u64(..30),
        _ => 0,
    }
}

fn outcome(random: &mut Rng) -> Outcome {
    Outcome {
        verdict: match random.u8(..12) {
            0 => Verdict::Failure,
            1 => Verdict::RetryAfter(micros(random, 30_000)),
            2 => Verdict::OpenFor(micros(random, 30_000)),
            3 => Verdict::OpenFor(Duration::MAX),
            4 | 5 => Verdict::Ignore,
            _ => Verdict::Success,
        },
        is_slow: random.u8(..6) == 0,
    }
}

fn force(random: &mut Rng, state: Option<&Shared>, now: u64) -> Force {
    match random.u8(..10) {
        0 => Force::Reset,
        1 => Force::Clear,
        8 | 9 => Force::Renumber {
            text: live_text(random),
            after: match random.u8(..8) {
                0 => random.u64(..3),
                _ => state.map_or(0, |it| it.live.id),
            },
        },
        2 => {
            let laid = state.and_then(|it| it.cover.as_ref());
            Force::ClearOnly(laid.map_or(now, |it| it.id + random.u64(..2)))
        }
        _ => Force::Cover {
            kind: kind(random),
            ttl: match random.u8(..10) {
                0 => random.choice([0, 3_600_000, u64::MAX]).unwrap_or(0),
                _ => random.u64(1..15),
            },
            actor: actor(random),
            why: actor(random),
        },
    }
}

fn kind(random: &mut Rng) -> CoverKind {
    random
        .choice([
            CoverKind::ForcedOpen,
            CoverKind::ForcedClosed,
            CoverKind::Shadow,
        ])
        .unwrap_or(CoverKind::Shadow)
}

fn actor(random: &mut Rng) -> String {
    let said = random.choice(["", "-", "ann", "a:b|c;d,{e}%41\n", "größe \u{85}"]);
    said.unwrap_or_default().to_owned()
}
