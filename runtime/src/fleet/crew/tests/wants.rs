//! What somebody wants of all, in any order and where it fails.

use super::*;

/// Who resets a circuit leaves the override, and was taken for somebody who wants that instead of
/// its end: it lasted for all others.
#[test]
fn the_end_of_an_override_is_told_again_although_somebody_has_reset_the_circuit_since() {
    let failed = AtomicBool::new(false);
    let is_covered = AtomicBool::new(false);
    let store = move |command: &Command| match command {
        Command::Force(Force::ClearOnly(_)) if !failed.swap(true, Relaxed) => {
            Some(Err(StoreError::Unavailable("it is gone".into())))
        }
        command => {
            is_covered.fetch_or(matches!(command, Command::Force(_)), Relaxed);
            match is_covered.load(Relaxed) {
                true => answer(Status::Done, &covered(CoverKind::ForcedOpen, 77, 600_000)),
                false => answer(Status::Done, &CLOSED),
            }
        }
    };
    let ended = |command: &Command| match command {
        Command::Force(Force::ClearOnly(id)) => Some(*id),
        _ => None,
    };
    play("both", WhenStoreIsLost::Local, store, async |scene| {
        scene.ears.up();
        eventually(|| scene.member().known().epoch == 9).await;
        let forced = scene.breaker.force_open(HOUR, "ana", "a test");
        let guard = forced.expect("it has all it needs").guard();
        eventually(|| scene.member().known().is_covered()).await;
        drop(guard);
        scene.breaker.reset();
        eventually(|| scene.asked(ended).len() == 2).await;
        assert_eq!(scene.asked(ended), [77, 77]);
    });
}

#[test]
fn what_somebody_wants_otherwise_since_is_not_told_again() {
    let store = move |command: &Command| match command {
        Command::Force(Force::Cover { actor, .. }) if actor == "ana" => {
            Some(Err(StoreError::Unavailable("it is gone".into())))
        }
        _ => answer(Status::Done, &CLOSED),
    };
    let actor = |command: &Command| match command {
        Command::Force(Force::Cover { actor, .. }) => Some(actor.clone()),
        _ => None,
    };
    play("otherwise", WhenStoreIsLost::Local, store, async |scene| {
        scene.ears.up();
        eventually(|| scene.member().known().epoch == 9).await;
        for actor in ["ana", "ben"] {
            let forced = scene.breaker.force_open(HOUR, actor, "a test");
            forced.expect("it has all it needs");
        }
        eventually(|| !scene.member().is_wishing()).await;
        assert_eq!(scene.asked(actor), ["ana", "ben"]);
        assert!(!scene.member().has_wishes());
    });
}

/// It was only known, and in force half a minute later.
#[test]
fn what_was_heard_while_somebody_wanted_something_in_vain_is_in_force_after_it() {
    let speaks = Arc::new(Mutex::new(None::<Arc<Ears>>));
    let ears = Arc::clone(&speaks);
    let has_opened = AtomicBool::new(false);
    let opened = Snapshot {
        epoch: 10,
        ..LONG_OPEN
    };
    let store = move |command: &Command| {
        if matches!(command, Command::Force(_)) {
            has_opened.store(true, Relaxed);
            let told = Told {
                what: What::Restored,
                snapshot: opened.clone(),
                now: 9,
                instance: 2,
                live: None,
            };
            if let Some(ears) = &*ears.lock().expect("nobody panics with it") {
                ears.told("in vain", &told, &Arc::from("other"));
            }
            return Some(Err(StoreError::TimedOut));
        }
        let snapshot = if has_opened.load(Relaxed) {
            &opened
        } else {
            &CLOSED
        };
        answer(Status::Done, snapshot)
    };
    play("in vain", WhenStoreIsLost::Local, store, async |scene| {
        *speaks.lock().expect("nobody panics with it") = Some(Arc::clone(&scene.ears));
        scene.ears.up();
        eventually(|| scene.member().known().epoch == 9).await;
        scene.breaker.clear_override();
        eventually(|| scene.breaker.state() == State::Open).await;
    });
}

/// It was told when the store was found, and in force for all. Until the store was lost it was
/// told without a pause.
#[test]
fn an_override_that_nobody_knows_yet_is_not_told_once_it_has_ended_here() {
    let store = |command: &Command| match command {
        Command::Force(_) => Some(Err(StoreError::Unavailable("it is gone".into()))),
        _ => answer(Status::Done, &CLOSED),
    };
    let is_cover =
        |command: &Command| matches!(command, Command::Force(Force::Cover { .. })).then_some(());
    let is_sync = |command: &Command| (*command == Command::Sync).then_some(());
    play("unknown", WhenStoreIsLost::Local, store, async |scene| {
        scene.ears.up();
        eventually(|| scene.member().known().epoch == 9).await;
        let forced = scene.breaker.force_open(HOUR, "ana", "a test");
        forced.expect("it has all it needs");
        let begin = Instant::now();
        eventually(|| !scene.asked(is_cover).is_empty()).await;
        time::sleep(AGAIN / 4).await;
        scene.ears.down(&StoreError::TimedOut);
        let covers = scene.asked(is_cover).len();
        let pauses = begin.elapsed().as_millis() / AGAIN.as_millis();
        assert!(
            covers as u128 <= pauses + 1,
            "{covers} times in {pauses} pauses"
        );
        let syncs = scene.asked(is_sync).len();
        scene.breaker.clear_override();
        scene.ears.up();
        eventually(|| scene.asked(is_sync).len() > syncs).await;
        assert_eq!(scene.asked(is_cover).len(), covers);
        assert!(!scene.member().is_wishing());
    });
}

/// Whether it had begun was not known, and its end was told as that of no override at all.
#[test]
fn an_override_that_may_have_begun_is_told_again_and_then_ended() {
    let failed = AtomicBool::new(false);
    let store = move |command: &Command| match command {
        Command::Force(Force::Cover { .. }) if !failed.swap(true, Relaxed) => {
            Some(Err(StoreError::Unavailable("it is gone".into())))
        }
        Command::Force(Force::Cover { .. }) => {
            answer(Status::Done, &covered(CoverKind::ForcedOpen, 77, 600_000))
        }
        _ => answer(Status::Done, &CLOSED),
    };
    let ended = |command: &Command| match command {
        Command::Force(Force::ClearOnly(id)) => Some(*id),
        _ => None,
    };
    play("ended", WhenStoreIsLost::Local, store, async |scene| {
        scene.ears.up();
        eventually(|| scene.member().known().epoch == 9).await;
        let forced = scene.breaker.force_open(HOUR, "ana", "a test");
        drop(forced.expect("it has all it needs").guard());
        eventually(|| !scene.asked(ended).is_empty()).await;
        assert_eq!(scene.asked(ended), [77]);
    });
}

/// A probe of the round before would have a vote otherwise.
#[test]
fn an_override_that_ends_at_once_is_told_all_the_same() {
    let store = |_: &Command| answer(Status::Done, &CLOSED);
    let forces = |command: &Command| match command {
        Command::Force(force) => Some(matches!(force, Force::Cover { .. })),
        _ => None,
    };
    play("at once", WhenStoreIsLost::Local, store, async |scene| {
        scene.ears.up();
        eventually(|| scene.member().known().epoch == 9).await;
        let forced = scene.breaker.force_open(HOUR, "ana", "a test");
        forced.expect("it has all it needs");
        scene.breaker.clear_override();
        eventually(|| !scene.member().is_wishing()).await;
        assert_eq!(scene.asked(forces), [true, false]);
    });
}
