//! Time that passes, or jumps, without anybody waiting for it: what lies in the store is made
//! older or younger instead.

use fastrand::Rng;

use crate::policy::Policy;
use crate::rules::fleet::Shared;
use crate::rules::fleet::Width;
use crate::rules::fleet::millis;

/// So many milliseconds are added to every time. Epochs only ever rise, and stay.
fn shift(state: &mut Shared, by: i64) {
    let times = [
        &mut state.until,
        &mut state.closed_at,
        &mut state.suspect_since,
        &mut state.told_at,
    ];
    let reporters = state.reporters.iter_mut().map(|it| &mut it.at);
    let leases = state.round.leases.iter_mut();
    let leases = leases.flat_map(|it| [&mut it.started, &mut it.expires]);
    let cover = state.cover.iter_mut();
    let cover = cover.flat_map(|it| [&mut it.began, &mut it.until]);
    let all = times
        .into_iter()
        .chain(reporters)
        .chain(leases)
        .chain(cover);
    for time in all.filter(|time| **time > 0) {
        *time = time.saturating_add_signed(by).max(1);
    }
    for slot in &mut state.slots {
        let buckets = match slot.width {
            Width::Millis(width) => by / width.cast_signed(),
            Width::Calls(_) => by,
        };
        slot.index = slot.index.saturating_add_signed(buckets);
    }
}

/// Mostly to where something happens, or a little before or after it.
pub(super) fn age(random: &mut Rng, state: &mut Shared, policy: &Policy, now: u64) {
    let by = match random.u8(..12) {
        0 => random.i64(-3_600_000..3_600_000),
        1 => -random.i64(0..60),
        _ => {
            let Some(border) = random.choice(borders(state, policy)) else {
                return;
            };
            // It is a little later when the next command comes.
            (now + random.u64(..4)).cast_signed() - border.cast_signed()
        }
    };
    shift(state, by);
}

/// The instants at which something is different from before.
fn borders(state: &Shared, policy: &Policy) -> Vec<u64> {
    let window = match Width::of(policy) {
        Some(Width::Millis(width)) => width * Width::BUCKETS,
        Some(Width::Calls(_)) | None => 0,
    };
    let ramp = policy.get_ramp().map_or(0, millis);
    let mut borders = vec![
        state.until,
        state.closed_at + ramp * u64::from(state.closed_at > 0),
        state.suspect_since + 100 * u64::from(state.suspect_since > 0),
        state.told_at + 100 * u64::from(state.told_at > 0),
    ];
    borders.extend(state.reporters.iter().map(|it| it.at + window));
    for lease in &state.round.leases {
        borders.push(lease.expires);
        borders.push(lease.started + millis(policy.get_probe_timeout()));
    }
    // A bucket leaves its window, or is forgotten by another version.
    borders.extend(state.slots.iter().map(|slot| match slot.width {
        Width::Millis(width) => (slot.index + Width::BUCKETS) * width,
        Width::Calls(_) => slot.index + 3_600_000,
    }));
    borders.extend(state.cover.as_ref().map(|it| it.until));
    borders.retain(|border| *border > 0);
    borders
}
