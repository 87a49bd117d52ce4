//! What a loss of the store leaves behind, and what ends it.

use super::*;

/// What is rejected since the store is lost was rejected half a minute longer where a message
/// of others came between the first question and its answer.
#[test]
fn what_was_forced_by_a_loss_ends_although_others_speak_when_the_store_is_found() {
    let asked = AtomicU64::new(0);
    let speaks = Arc::new(Mutex::new(None::<&'static Member>));
    let member = Arc::clone(&speaks);
    let store = move |command: &Command| {
        if *command == Command::Sync
            && asked.fetch_add(1, Relaxed) == 1
            && let Some(member) = *member.lock().expect("nobody panics with it")
        {
            member.was_told(9);
        }
        answer(Status::Done, &CLOSED)
    };
    play("spoken", WhenStoreIsLost::OpenFails, store, async |scene| {
        *speaks.lock().expect("nobody panics with it") = Some(scene.member());
        scene.ears.up();
        eventually(|| scene.member().known().epoch == 9).await;
        scene.ears.down(&StoreError::TimedOut);
        assert_eq!(scene.breaker.state(), State::ForcedOpen);
        scene.ears.up();
        eventually(|| scene.breaker.state() == State::Closed).await;
    });
}

/// A shadow heard nothing of the others, and so was never let go.
#[test]
fn a_shadow_rejects_nobody_when_the_store_is_lost_nor_for_ever_afterwards() {
    for was_shadow in [true, false] {
        let policy = Policy::new().shadow(was_shadow);
        let store = |command: &Command| match command {
            Command::Force(_) => None,
            _ => answer(Status::Done, &CLOSED),
        };
        let lost = WhenStoreIsLost::OpenFails;
        play_with(policy, "shadow", lost, store, async |scene| {
            scene.ears.up();
            eventually(|| scene.member().known().epoch == 9).await;
            scene.ears.down(&StoreError::TimedOut);
            match was_shadow {
                true => assert_eq!(scene.breaker.state(), State::Shadow),
                false => assert_eq!(scene.breaker.state(), State::ForcedOpen),
            }
            let changed = scene.breaker.update(|policy| policy.shadow(true));
            changed.expect("the numbers are good");
            scene.ears.up();
            eventually(|| scene.breaker.state() == State::Shadow).await;
        });
    }
}

/// It was taken for an opening of its own, since the loss had moved the circuit.
#[test]
fn what_the_others_have_closed_while_the_store_was_lost_is_closed() {
    let is_closed = Arc::new(AtomicBool::new(false));
    let closes = Arc::clone(&is_closed);
    let store = move |_: &Command| match closes.load(Relaxed) {
        false => answer(Status::Done, &LONG_OPEN),
        true => answer(
            Status::Done,
            &Snapshot {
                epoch: 10,
                ..CLOSED
            },
        ),
    };
    play("closed", WhenStoreIsLost::OpenFails, store, async |scene| {
        scene.ears.up();
        eventually(|| scene.breaker.state() == State::Open).await;
        scene.ears.down(&StoreError::TimedOut);
        is_closed.store(true, Relaxed);
        scene.ears.up();
        eventually(|| scene.breaker.state() == State::Closed).await;
    });
}

/// It let all calls in, since what had forced it before the override was forgotten.
#[test]
fn what_is_rejected_since_the_store_is_lost_is_rejected_after_an_override_too() {
    let store = |_: &Command| answer(Status::Done, &CLOSED);
    play("over", WhenStoreIsLost::OpenFails, store, async |scene| {
        scene.ears.down(&StoreError::TimedOut);
        let forced = scene.breaker.force_closed(HOUR, "ana", "a test");
        let guard = forced.expect("it has all it needs").guard();
        assert_eq!(scene.breaker.state(), State::ForcedClosed);
        drop(guard);
        assert_eq!(scene.breaker.state(), State::ForcedOpen);
        let moment = Duration::from_millis(1);
        let forced = scene.breaker.force_closed(moment, "ana", "a test");
        forced.expect("it has all it needs");
        eventually(|| scene.breaker.state() != State::ForcedClosed).await;
        let rejected = scene.breaker.try_acquire();
        let rejected = rejected.expect_err("the store is lost");
        assert_eq!(rejected.kind(), RejectedKind::ForcedOpen);
        // Who wants it otherwise has the last word.
        assert!(scene.breaker.clear_override());
        assert_eq!(scene.breaker.state(), State::Closed);
    });
}

/// All calls were let through, and none was rejected after that.
#[test]
fn who_admits_all_admits_nobody_whom_somebody_rejects() {
    let lost = WhenStoreIsLost::Admit(HOUR);
    let store = |_: &Command| answer(Status::Done, &covered(CoverKind::ForcedOpen, 7, 600_000));
    play("rejected", lost, store, async |scene| {
        scene.ears.up();
        eventually(|| scene.breaker.state() == State::ForcedOpen).await;
        scene.ears.down(&StoreError::TimedOut);
        assert_eq!(scene.breaker.state(), State::ForcedOpen);
        scene.breaker.clear_override();
        assert_eq!(scene.breaker.state(), State::Open);
    });
}

/// The store had it still when it was found again, and it was in force again.
#[test]
fn an_override_that_has_ended_while_the_store_was_lost_has_ended_for_all() {
    for by_guard in [true, false] {
        let store =
            |_: &Command| answer(Status::Done, &covered(CoverKind::ForcedOpen, 77, 1_000_000));
        play("ended", WhenStoreIsLost::Local, store, async |scene| {
            scene.ears.up();
            eventually(|| scene.breaker.state() == State::ForcedOpen).await;
            let forced = scene.breaker.force_open(HOUR, "ana", "a test");
            let guard = forced.expect("it has all it needs").guard();
            let is_cover = |command: &Command| {
                matches!(command, Command::Force(Force::Cover { .. })).then_some(())
            };
            eventually(|| !scene.asked(is_cover).is_empty()).await;
            task::yield_now().await;
            scene.ears.down(&StoreError::TimedOut);
            match by_guard {
                true => drop(guard),
                false => {
                    scene.breaker.clear_override();
                    scene.breaker.clear_override();
                    std::mem::forget(guard);
                }
            }
            scene.ears.up();
            let ended = |command: &Command| match command {
                Command::Force(Force::ClearOnly(id)) => Some(*id),
                _ => None,
            };
            eventually(|| !scene.asked(ended).is_empty()).await;
            task::yield_now().await;
            assert_eq!(scene.asked(ended), [77]);
        });
    }
}

/// All its calls were made for up to half a minute, while the others probed.
#[test]
fn a_probe_of_an_outage_that_ends_after_it_closes_nothing_for_long() {
    let store = |_: &Command| answer(Status::Done, &HALF_OPEN);
    play("outage", WhenStoreIsLost::Local, store, async |scene| {
        scene.ears.up();
        eventually(|| scene.breaker.state() == State::HalfOpen).await;
        scene.ears.down(&StoreError::TimedOut);
        let permit = scene.breaker.try_acquire().expect("it probes by itself");
        scene.ears.up();
        let is_sync = |command: &Command| (*command == Command::Sync).then_some(());
        eventually(|| scene.asked(is_sync).len() == 2).await;
        task::yield_now().await;
        permit.success();
        assert_eq!(scene.breaker.state(), State::Closed);
        eventually(|| scene.breaker.state() == State::HalfOpen).await;
    });
}

/// A node of a cluster was gone and the others were there: whoever came was rejected for as long
/// as it was, since nobody gave leave to probe.
#[test]
fn a_circuit_that_cannot_be_reached_while_others_can_goes_on_by_itself() {
    let is_gone = Arc::new(AtomicBool::new(false));
    let goes = Arc::clone(&is_gone);
    let store = move |_: &Command| match goes.load(Relaxed) {
        true => Some(Err(StoreError::Unavailable("it is gone".into()))),
        false => answer(Status::Done, &OPEN),
    };
    play("node", WhenStoreIsLost::Local, store, async |scene| {
        scene.ears.up();
        eventually(|| scene.breaker.state() == State::Open).await;
        is_gone.store(true, Relaxed);
        let permit = scene.breaker.acquire().await;
        permit.expect("it probes by itself").success();
        assert_eq!(scene.breaker.state(), State::Closed);
        let sharing = || scene.member().sharing().state;
        assert!(matches!(sharing(), SharingState::Apart { .. }));
        is_gone.store(false, Relaxed);
        eventually(|| sharing() == SharingState::Shared).await;
        // Where all is lost it is no matter of one circuit.
        is_gone.store(true, Relaxed);
        scene.member().ask_again();
        eventually(|| sharing() != SharingState::Shared).await;
        scene.ears.down(&StoreError::TimedOut);
        eventually(|| !scene.member().is_apart()).await;
    });
}
