//! What the others are told.

use crate::reason::Reason;

use super::*;

/// It was told as one that came after their failures, and ended their row.
#[test]
fn a_success_of_an_outage_does_not_end_the_row_of_others() {
    let store = |_: &Command| answer(Status::Done, &SUSPECT);
    play("row", WhenStoreIsLost::Local, store, async |scene| {
        scene.end(false);
        scene.end(true);
        scene.ears.up();
        eventually(|| scene.member().known().epoch == 9).await;
        scene.end(false);
        eventually(|| !scene.flushes().is_empty()).await;
        assert_eq!(scene.flushes(), [(false, 1)]);
    });
}

/// The message that there are more of them took back what was to be told.
#[test]
fn a_success_after_failures_of_others_is_told_although_there_are_more_of_them() {
    let store = |_: &Command| answer(Status::Done, &SUSPECT);
    play("more", WhenStoreIsLost::Local, store, async |scene| {
        scene.ears.up();
        eventually(|| scene.member().known().epoch == 9).await;
        task::yield_now().await;
        scene.end(true);
        let told = Told {
            what: What::Suspect,
            snapshot: SUSPECT,
            now: 9,
            instance: 2,
            live: None,
        };
        scene.ears.told("more", &told, &Arc::from("other"));
        eventually(|| !scene.flushes().is_empty()).await;
        assert_eq!(scene.flushes(), [(true, 0)]);
    });
}

/// Where nobody knows whether it was done, it was done twice or not at all.
#[test]
fn a_reset_is_told_again_unless_something_has_happened_since() {
    for (moves, expected) in [(false, 2), (true, 1)] {
        let asked = AtomicU64::new(0);
        let store = move |command: &Command| match command {
            Command::Force(Force::Reset) if asked.fetch_add(1, Relaxed) == 0 => {
                Some(Err(StoreError::Unavailable("it is gone".into())))
            }
            _ if moves && asked.load(Relaxed) > 0 => answer(
                Status::Done,
                &Snapshot {
                    epoch: 10,
                    ..LONG_OPEN
                },
            ),
            _ => answer(Status::Done, &LONG_OPEN),
        };
        let is_reset =
            |command: &Command| matches!(command, Command::Force(Force::Reset)).then_some(());
        let is_sync = |command: &Command| (*command == Command::Sync).then_some(());
        play("reset", WhenStoreIsLost::Local, store, async |scene| {
            scene.ears.up();
            eventually(|| scene.breaker.state() == State::Open).await;
            let syncs = scene.asked(is_sync).len();
            scene.breaker.reset();
            eventually(|| scene.asked(is_sync).len() > syncs).await;
            task::yield_now().await;
            assert_eq!(scene.asked(is_reset).len(), expected);
            // What has happened since is in force here, too.
            eventually(|| scene.breaker.state() == State::Open).await;
        });
    }
}

/// An answer or a message that did not know of it yet took it off for a moment.
#[test]
fn what_somebody_wants_stands_until_the_store_knows_of_it() {
    let store = |command: &Command| match command {
        Command::Force(_) => None,
        _ => answer(Status::Done, &CLOSED),
    };
    play("wanted", WhenStoreIsLost::Local, store, async |scene| {
        scene.ears.up();
        eventually(|| scene.member().known().epoch == 9).await;
        let forced = scene.breaker.force_open(HOUR, "ana", "a test");
        forced.expect("it has all it needs");
        let told = Told {
            what: What::Restored,
            snapshot: HALF_OPEN,
            now: 9,
            instance: 2,
            live: None,
        };
        scene.ears.told("wanted", &told, &Arc::from("other"));
        assert_eq!(scene.breaker.state(), State::ForcedOpen);
    });
}

/// Until then what is heard is only known, and it is in force afterwards.
#[test]
fn what_was_heard_before_the_store_knew_what_somebody_wants_is_in_force_after_it() {
    let speaks = Arc::new(Mutex::new(None::<Arc<Ears>>));
    let ears = Arc::clone(&speaks);
    let snapshot = Snapshot {
        epoch: 10,
        ..LONG_OPEN
    };
    let store = move |command: &Command| match command {
        Command::Force(_) => {
            let told = Told {
                what: What::Restored,
                snapshot: snapshot.clone(),
                now: 9,
                instance: 2,
                live: None,
            };
            if let Some(ears) = &*ears.lock().expect("nobody panics with it") {
                ears.told("heard", &told, &Arc::from("other"));
            }
            answer(Status::Stale, &snapshot)
        }
        _ => answer(Status::Done, &CLOSED),
    };
    play("heard", WhenStoreIsLost::Local, store, async |scene| {
        *speaks.lock().expect("nobody panics with it") = Some(Arc::clone(&scene.ears));
        scene.ears.up();
        eventually(|| scene.member().known().epoch == 9).await;
        scene.breaker.clear_override();
        eventually(|| scene.breaker.state() == State::Open).await;
    });
}

/// M20. They were dropped with what had been told before them, and where no more came the circuit
/// stayed closed.
#[test]
fn failures_that_nobody_was_told_of_are_told_to_a_store_that_has_forgotten_the_circuit() {
    let has_forgotten = Arc::new(AtomicBool::new(false));
    let store = {
        let has_forgotten = Arc::clone(&has_forgotten);
        move |command: &Command| match command {
            Command::Sync if has_forgotten.load(Relaxed) => {
                answer(Status::Done, &Snapshot::default())
            }
            _ => answer(Status::Done, &CLOSED),
        }
    };
    play("forgotten", WhenStoreIsLost::Local, store, async |scene| {
        scene.ears.up();
        eventually(|| scene.member().known().epoch == CLOSED.epoch).await;
        has_forgotten.store(true, Relaxed);
        for _ in 0..3 {
            scene.end(false);
        }
        // It is asked how the circuit stands before anything is told.
        scene.member().ask_again();
        scene.member().bell.notify_one();
        eventually(|| !scene.flushes().is_empty()).await;
        assert_eq!(scene.flushes(), [(false, 3)]);
    });
}

/// They were dropped with what had passed beneath the override.
#[test]
fn failures_after_somebody_has_ended_an_override_here_are_told() {
    let is_cleared = AtomicBool::new(false);
    let beneath = Snapshot {
        phase: Phase::Closed,
        ..covered(CoverKind::ForcedClosed, 7, 600_000)
    };
    let after = Snapshot {
        epoch: 10,
        ..CLOSED
    };
    let store = move |command: &Command| {
        is_cleared.fetch_or(matches!(command, Command::Force(_)), Relaxed);
        let snapshot = if is_cleared.load(Relaxed) {
            &after
        } else {
            &beneath
        };
        answer(Status::Done, snapshot)
    };
    play("cleared", WhenStoreIsLost::Local, store, async |scene| {
        scene.ears.up();
        eventually(|| scene.breaker.state() == State::ForcedClosed).await;
        scene.breaker.clear_override();
        for _ in 0..3 {
            scene.end(false);
        }
        eventually(|| !scene.flushes().is_empty()).await;
        assert_eq!(scene.flushes(), [(false, 3)]);
    });
}

/// They were dropped with what had passed before the store knew of the reset, whether its answer
/// or its message came first; those from before the reset are no matter of anybody.
#[test]
fn failures_after_somebody_has_reset_the_circuit_here_are_told() {
    for (speaks_first, window) in [
        (false, None),
        (true, None),
        (false, Some(Window::Calls(50))),
        (true, Some(Window::Time(Duration::from_secs(60)))),
    ] {
        let ears = Arc::new(Mutex::new(None::<Arc<Ears>>));
        let speaks = Arc::clone(&ears);
        let is_reset = AtomicBool::new(false);
        let after = Snapshot {
            epoch: 10,
            ..CLOSED
        };
        let store = move |command: &Command| {
            is_reset.fetch_or(matches!(command, Command::Force(_)), Relaxed);
            if !is_reset.load(Relaxed) {
                return answer(Status::Done, &CLOSED);
            }
            if speaks_first && matches!(command, Command::Force(_)) {
                let told = Told {
                    what: What::Moved {
                        from: State::Closed,
                        to: State::Closed,
                        reason: Reason::Reset,
                    },
                    snapshot: after.clone(),
                    now: 9,
                    instance: 1,
                    live: None,
                };
                let ears = speaks.lock().expect("nobody panics with it");
                let ears = ears.as_ref().expect("it has begun");
                ears.told("reset here", &told, &Arc::from("this one"));
            }
            answer(Status::Done, &after)
        };
        let policy = Policy::new().threshold(9);
        let policy = window.map_or(policy, |window| policy.window(window));
        let lost = WhenStoreIsLost::Local;
        play_with(policy, "reset here", lost, store, async |scene| {
            *ears.lock().expect("nobody panics with it") = Some(Arc::clone(&scene.ears));
            scene.ears.up();
            eventually(|| scene.member().known().epoch == 9).await;
            for _ in 0..2 {
                scene.end(false);
            }
            scene.breaker.reset();
            for _ in 0..3 {
                scene.end(false);
            }
            let failures = |command: &Command| match command {
                Command::Flush(flush) => {
                    let deltas = flush.deltas.iter().map(|delta| delta.failures);
                    Some(u64::from(flush.failures) + deltas.sum::<u64>())
                }
                _ => None,
            };
            eventually(|| !scene.asked(failures).is_empty()).await;
            assert_eq!(scene.asked(failures), [3]);
        });
    }
}

/// The override was over here a little sooner than in the store, which was asked once too soon;
/// nothing was told until it was asked again, half a minute later.
#[test]
fn failures_after_an_override_are_told_as_soon_as_it_is_over_in_the_store_too() {
    let syncs = AtomicU64::new(0);
    let beneath = Snapshot {
        phase: Phase::Closed,
        ..covered(CoverKind::ForcedClosed, 7, 50)
    };
    let after = Snapshot {
        epoch: 10,
        ..CLOSED
    };
    let store = move |command: &Command| {
        let asked = match command {
            Command::Sync => syncs.fetch_add(1, Relaxed),
            _ => syncs.load(Relaxed),
        };
        answer(Status::Done, if asked < 2 { &beneath } else { &after })
    };
    play("sooner", WhenStoreIsLost::Local, store, async |scene| {
        scene.ears.up();
        eventually(|| scene.breaker.state() == State::ForcedClosed).await;
        eventually(|| scene.breaker.state() == State::Closed).await;
        for _ in 0..3 {
            scene.end(false);
        }
        eventually(|| !scene.flushes().is_empty()).await;
        assert_eq!(scene.flushes(), [(false, 3)]);
    });
}
