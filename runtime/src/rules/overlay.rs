//! What somebody lays over a circuit by hand, and how that ends by itself.

use std::time::Duration;

use crate::clock::Tick;
use crate::policy::Policy;
use crate::reason::Reason;
use crate::rules::change::Change;
use crate::rules::change::Changes;
use crate::rules::change::Scope;
use crate::rules::circuit::Circuit;
use crate::rules::circuit::Law;
use crate::rules::circuit::Mode;
#[cfg(feature = "redis")]
use crate::rules::fleet::CoverKind;
use crate::rules::half_open::Round;
use crate::state::State;

/// A state that lies over what the rules have made of the circuit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Overlay {
    kind: Kind,
    /// The generation that began with it: which one it is.
    id: u64,
    began: Tick,
    /// The first instant at which it is over; none for a policy's own shadow.
    until: Option<Tick>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    ForcedOpen,
    ForcedClosed,
    Shadow,
}

/// What somebody wants of a circuit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Command {
    ForceOpen(Duration),
    ForceClosed(Duration),
    Shadow(Duration),
    /// Ends what lies over it.
    Clear,
    /// The same, if that is still the override which began with this generation.
    ClearOnly(u64),
    /// Closes what lies beneath and forgets all that was counted.
    Reset,
}

impl Overlay {
    /// What lies over a circuit while nobody forces anything.
    pub(super) fn at_rest(policy: &Policy, now: Tick) -> Option<Box<Self>> {
        let shadow = || {
            Box::new(Self {
                kind: Kind::Shadow,
                id: 0,
                began: now,
                until: None,
            })
        };
        policy.get_shadow().then(shadow)
    }

    pub(crate) const fn state(&self) -> State {
        match self.kind {
            Kind::ForcedOpen => State::ForcedOpen,
            Kind::ForcedClosed => State::ForcedClosed,
            Kind::Shadow => State::Shadow,
        }
    }

    /// Its end, where somebody has forced it.
    pub(crate) const fn until(&self) -> Option<Tick> {
        self.until
    }
}

/// Somebody wants something at `now`.
pub(crate) fn command(
    law: &Law<'_>,
    circuit: &mut Circuit,
    command: Command,
    now: Tick,
) -> Changes {
    let mut changes = Changes::default();
    expire(law, circuit, now, &mut changes);
    match command {
        Command::ForceOpen(ttl) => begin(circuit, Kind::ForcedOpen, ttl, now, &mut changes),
        Command::ForceClosed(ttl) => begin(circuit, Kind::ForcedClosed, ttl, now, &mut changes),
        Command::Shadow(ttl) => begin(circuit, Kind::Shadow, ttl, now, &mut changes),
        Command::Clear => clear(law, circuit, |_| true, now, &mut changes),
        Command::ClearOnly(id) => clear(law, circuit, |it| it.id == id, now, &mut changes),
        Command::Reset => {
            let from = circuit.state();
            circuit.start_afresh(now);
            if circuit.state() != from {
                changes.push(seen(circuit, from, Reason::Reset, now));
            }
        }
    }
    changes
}

fn clear(
    law: &Law<'_>,
    circuit: &mut Circuit,
    is_meant: impl Fn(&Overlay) -> bool,
    now: Tick,
    changes: &mut Changes,
) {
    let by_hand = |overlay: &Overlay| overlay.until.is_some() && is_meant(overlay);
    if circuit.overlay.as_deref().is_some_and(by_hand) {
        end(law, circuit, now, changes);
    }
}

/// An override whose time has passed ended when it had.
pub(crate) fn expire(law: &Law<'_>, circuit: &mut Circuit, now: Tick, changes: &mut Changes) {
    let over = circuit.overlay.as_ref().and_then(|it| it.until);
    if let Some(over) = over
        && over <= now
    {
        end(law, circuit, over, changes);
    }
}

/// Other numbers are in force: state and counts stay, but a window of another kind or
/// length starts empty, and a shadow that the numbers ask for begins or ends.
pub(crate) fn renumber(
    law: &Law<'_>,
    before: &Policy,
    circuit: &mut Circuit,
    now: Tick,
) -> Changes {
    let mut changes = Changes::default();
    // It ended while the numbers before were in force.
    let then = Law {
        policy: before,
        ..*law
    };
    expire(&then, circuit, now, &mut changes);
    if before.get_window() != law.policy.get_window() {
        leave_generation(circuit, now);
        circuit.emptied = circuit.generation;
        if let Mode::Closed(closed) = &mut circuit.mode {
            closed.failures = 0;
        }
    }
    let rests = |overlay: &Overlay| overlay.until.is_none();
    match (circuit.overlay.as_deref(), law.policy.get_shadow()) {
        (None, true) => {
            let from = circuit.state();
            circuit.overlay = Overlay::at_rest(law.policy, now);
            leave_generation(circuit, now);
            changes.push(seen(circuit, from, Reason::Override, now));
        }
        (Some(overlay), false) if rests(overlay) => end(law, circuit, now, &mut changes),
        (None, false) | (Some(_), _) => {}
    }
    changes
}

/// A later override replaces an earlier one, which ends as it would have.
fn begin(circuit: &mut Circuit, kind: Kind, ttl: Duration, now: Tick, changes: &mut Changes) {
    let from = circuit.state();
    if let Some(earlier) = circuit.overlay.take() {
        uncover(circuit, *earlier, now);
    }
    leave_generation(circuit, now);
    circuit.overlay = Some(Box::new(Overlay {
        kind,
        id: circuit.generation,
        began: now,
        until: Some(now + ttl),
    }));
    changes.push(Change {
        is_by_hand: true,
        ..seen(circuit, from, Reason::Override, now)
    });
}

fn end(law: &Law<'_>, circuit: &mut Circuit, now: Tick, changes: &mut Changes) {
    let from = circuit.state();
    let Some(overlay) = circuit.overlay.take() else {
        return;
    };
    uncover(circuit, *overlay, now);
    circuit.overlay = match overlay.until {
        Some(_) => Overlay::at_rest(law.policy, now),
        None => None,
    };
    changes.push(Change {
        is_by_hand: overlay.until.is_some(),
        ..seen(circuit, from, Reason::OverrideEnded, now)
    });
}

/// Takes off what somebody has forced, without a word: something else takes its place.
#[cfg(feature = "redis")]
pub(super) fn lift(law: &Law<'_>, circuit: &mut Circuit, now: Tick) {
    let is_forced = |overlay: &Overlay| overlay.until.is_some();
    if circuit.overlay.as_deref().is_some_and(is_forced)
        && let Some(overlay) = circuit.overlay.take()
    {
        uncover(circuit, *overlay, now);
        circuit.overlay = Overlay::at_rest(law.policy, now);
    }
}

/// Lays over it what somebody has forced elsewhere.
#[cfg(feature = "redis")]
pub(super) fn lay(circuit: &mut Circuit, kind: CoverKind, until: Tick, now: Tick) {
    leave_generation(circuit, now);
    circuit.overlay = Some(Box::new(Overlay {
        kind: match kind {
            CoverKind::ForcedOpen => Kind::ForcedOpen,
            CoverKind::ForcedClosed => Kind::ForcedClosed,
            CoverKind::Shadow => Kind::Shadow,
        },
        id: circuit.generation,
        began: now,
        until: Some(until),
    }));
}

/// What an override leaves behind that has been taken off.
fn uncover(circuit: &mut Circuit, overlay: Overlay, now: Tick) {
    match overlay.kind {
        Kind::ForcedClosed | Kind::Shadow => circuit.start_afresh(now),
        Kind::ForcedOpen => {
            leave_generation(circuit, now);
            if let Mode::Open(opening) = &mut circuit.mode {
                // What was left of it is left of it still.
                opening.until = now + opening.until.since(overlay.began);
            }
        }
    }
}

/// The calls that are out will be late: none of them holds a place any more.
fn leave_generation(circuit: &mut Circuit, now: Tick) {
    circuit.next_generation();
    match &mut circuit.mode {
        Mode::Closed(closed) => {
            closed.began = now;
            if let Some(ramp) = &mut closed.ramp {
                ramp.forget_calls();
            }
        }
        Mode::HalfOpen(round) => *round = Round::default(),
        Mode::Open(_) => {}
    }
}

fn seen(circuit: &Circuit, from: State, reason: Reason, now: Tick) -> Change {
    let to = circuit.state();
    Change {
        from,
        to,
        reason,
        generation: circuit.generation,
        at: now,
        until: match (&circuit.mode, to) {
            (Mode::Open(opening), State::Open) => Some(opening.until),
            _ => circuit.overlay.as_ref().and_then(|it| it.until),
        },
        scope: Scope::Seen,
        is_by_hand: false,
    }
}
