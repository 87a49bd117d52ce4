//! Leave to probe: asked for, given, used and given back.

use std::pin::pin;
use std::task::Context;
use std::task::Waker;

use super::*;

/// A call that asked for leave while the store hung was rejected when the store had been
/// given up, after 250 ms or several times that, and not after its `probe_wait`.
#[test]
fn a_store_that_hangs_does_not_keep_a_call_that_waits_for_leave() {
    let store = |command: &Command| match command {
        Command::Sync => answer(Status::Done, &OPEN),
        _ => None,
    };
    play("hanging", WhenStoreIsLost::Local, store, async |scene| {
        scene.ears.up();
        eventually(|| scene.breaker.state() == State::Open).await;
        // The first has the store asked. The second comes while it is.
        for _ in 0..2 {
            let rejected = scene.breaker.acquire().await;
            let rejected = rejected.expect_err("nobody gave leave");
            assert_eq!(rejected.kind(), RejectedKind::ProbesBusy);
        }
    });
}

/// Calls that wait are woken by the work, and there is none any more.
#[test]
fn a_circuit_whose_work_has_panicked_goes_on_by_itself() {
    let store = |command: &Command| match command {
        Command::Acquire { .. } => panic!("a store that is broken"),
        _ => answer(Status::Done, &OPEN),
    };
    play("broken", WhenStoreIsLost::Local, store, async |scene| {
        scene.ears.up();
        eventually(|| scene.breaker.state() == State::Open).await;
        let permit = scene.breaker.acquire().await;
        permit.expect("it probes by itself").success();
        assert_eq!(scene.breaker.state(), State::Closed);
        let sharing = scene.member().sharing().state;
        assert!(matches!(sharing, SharingState::Apart { .. }), "{sharing:?}");
    });
}

/// The lease of a question without an answer kept all from probing until it ran out.
#[test]
fn leave_that_may_have_been_given_is_asked_for_again_as_the_same() {
    let store = |command: &Command| match command {
        Command::Acquire { .. } => Some(Err(StoreError::TimedOut)),
        _ => answer(Status::Done, &OPEN),
    };
    let token = |command: &Command| match command {
        Command::Acquire { token, .. } => Some(*token),
        _ => None,
    };
    play("again", WhenStoreIsLost::Local, store, async |scene| {
        scene.ears.up();
        eventually(|| scene.breaker.state() == State::Open).await;
        while scene.asked(token).len() < 2 {
            let rejected = scene.breaker.acquire().await;
            assert!(rejected.is_err(), "nobody gave leave");
            task::yield_now().await;
        }
        let tokens = scene.asked(token);
        assert_eq!(tokens[0], tokens[1]);
    });
}

/// Each process made a probe of its own, as soon as its override was over.
#[test]
fn leave_is_asked_for_also_by_the_first_call_after_an_override() {
    let store = |command: &Command| match command {
        Command::Acquire { .. } => answer(Status::Full, &HALF_OPEN),
        _ => answer(Status::Done, &covered(CoverKind::ForcedOpen, 7, 50)),
    };
    play("first", WhenStoreIsLost::Local, store, async |scene| {
        scene.ears.up();
        eventually(|| scene.breaker.state() == State::ForcedOpen).await;
        let rejected = loop {
            let asked = scene.breaker.acquire().await;
            let rejected = asked.expect_err("nobody gave leave");
            if rejected.kind() != RejectedKind::ForcedOpen {
                break rejected;
            }
            task::yield_now().await;
        };
        assert_eq!(rejected.kind(), RejectedKind::ProbesBusy);
    });
}

/// With another window the circuit has another generation, which was taken for a move of its
/// own: each process made a probe of its own for up to half a minute.
#[test]
fn leave_is_asked_for_also_after_a_live_change_of_the_window() {
    let store = |command: &Command| match command {
        Command::Acquire { .. } => answer(Status::Full, &HALF_OPEN),
        Command::Force(_) => answer(Status::Done, &Snapshot { live: 12, ..OPEN }),
        _ => answer(Status::Done, &OPEN),
    };
    play("window", WhenStoreIsLost::Local, store, async |scene| {
        scene.ears.up();
        eventually(|| scene.breaker.state() == State::Open).await;
        let minute = Window::Time(Duration::from_secs(60));
        let changed = scene.breaker.update(|policy| policy.window(minute));
        changed.expect("the numbers are good");
        eventually(|| scene.member().governs(scene.breaker.generation())).await;
        let rejected = scene.breaker.acquire().await;
        assert_eq!(
            rejected.expect_err("nobody gave leave").kind(),
            RejectedKind::ProbesBusy
        );
    });
}

/// The call was let in although somebody had forced the circuit open meanwhile.
#[test]
fn leave_that_came_before_an_override_lets_nobody_in_after_it() {
    let store = |command: &Command| match command {
        Command::Acquire { .. } => answer(Status::Granted, &HALF_OPEN),
        Command::Force(_) => None,
        _ => answer(Status::Done, &OPEN),
    };
    let acquired = |command: &Command| matches!(command, Command::Acquire { .. }).then_some(());
    play("late", WhenStoreIsLost::Local, store, async |scene| {
        scene.ears.up();
        eventually(|| scene.breaker.state() == State::Open).await;
        let mut asks = std::pin::pin!(scene.breaker.acquire());
        assert!(
            std::future::poll_fn(|context| Poll::Ready(asks.as_mut().poll(context).is_pending()))
                .await
        );
        eventually(|| !scene.asked(acquired).is_empty()).await;
        eventually(|| scene.breaker.state() == State::HalfOpen).await;
        task::yield_now().await;
        let forced = scene.breaker.force_open(HOUR, "ana", "a test");
        forced.expect("it has all it needs");
        let rejected = asks.await.expect_err("nobody gets in");
        assert_eq!(rejected.kind(), RejectedKind::ForcedOpen);
    });
}

/// Whether it was counted was not known, and it was not told again.
#[test]
fn a_vote_without_an_answer_is_told_again() {
    let ends = AtomicU64::new(0);
    let store = move |command: &Command| match command {
        Command::Acquire { .. } => answer(Status::Granted, &HALF_OPEN),
        Command::End { .. } if ends.fetch_add(1, Relaxed) == 0 => Some(Err(StoreError::TimedOut)),
        Command::End { .. } => answer(
            Status::Closed,
            &Snapshot {
                epoch: 11,
                ..CLOSED
            },
        ),
        _ => answer(Status::Done, &OPEN),
    };
    play("vote", WhenStoreIsLost::Local, store, async |scene| {
        scene.ears.up();
        eventually(|| scene.breaker.state() == State::Open).await;
        scene.breaker.acquire().await.expect("leave").success();
        eventually(|| scene.breaker.state() == State::Closed).await;
    });
}

/// It asked again like one that does not wait and comes back: its process got leave that
/// nobody used, and kept it longer each time.
#[test]
fn a_call_that_has_waited_in_vain_wants_nothing_more() {
    let registry = Registry::builder().declare_with("moving", Policy::new());
    let registry = registry.build().expect("a right set-up");
    let breaker: &'static Breaker = registry.breaker("moving").expect("declared");
    let link = Arc::new(Link::new(1, WhenStoreIsLost::Local));
    breaker.join(&link).expect("it joins once");
    link.set_up();
    let opens_and_cools_down = |epoch| {
        let snapshot = Snapshot {
            epoch,
            phase: Phase::Open,
            until: epoch,
            length: 1,
            trips: 1,
            ..Snapshot::default()
        };
        breaker.hear(&snapshot, epoch, &News::default(), true);
    };
    let member = breaker.member().expect("it has joined");
    let wants_leave = || member.probes(|probes| probes.want_leave(Instant::now()));
    opens_and_cools_down(9);
    let mut asks = pin!(breaker.acquire());
    let mut context = Context::from_waker(Waker::noop());
    assert!(asks.as_mut().poll(&mut context).is_pending());
    assert!(wants_leave());
    opens_and_cools_down(10);
    let Poll::Ready(Err(rejected)) = asks.as_mut().poll(&mut context) else {
        panic!("it has not asked anew, and nobody gave leave");
    };
    assert_eq!(rejected.kind(), RejectedKind::ProbesBusy);
    assert!(!wants_leave());
}

/// Takes longer than a call waits for leave.
struct Slow<S>(S);

impl<S: Store> Store for Slow<S> {
    fn start(&self, _: Arc<dyn Listener>) {}

    fn submit<'a>(
        &'a self,
        circuit: &'a str,
        request: Request,
        policy: &'a Policy,
        within: Duration,
    ) -> Submission<'a> {
        let answer = self.0.submit(circuit, request, policy, within);
        Box::pin(async move {
            time::sleep(policy.get_probe_wait() * 2).await;
            answer.await
        })
    }

    fn polls(&self) -> Option<Duration> {
        None
    }

    fn journal<'a>(&'a self, circuit: &'a str, limit: usize) -> Journal<'a> {
        self.0.journal(circuit, limit)
    }

    fn compare<'a>(&'a self, circuit: &'a str, note: &'a Note) -> Comparison<'a> {
        self.0.compare(circuit, note)
    }
}

/// Each call had given up before leave came, which was given back: where calls were seldom the
/// circuit stayed open for good.
#[test]
fn a_circuit_closes_although_the_store_takes_longer_than_calls_wait() {
    let answered = |command: &Command| match command {
        Command::Acquire { .. } => answer(Status::Granted, &HALF_OPEN),
        Command::End { outcome, .. } if !outcome.is_recorded() => answer(Status::Done, &HALF_OPEN),
        Command::End { .. } => answer(
            Status::Closed,
            &Snapshot {
                epoch: 11,
                ..CLOSED
            },
        ),
        _ => answer(Status::Done, &OPEN),
    };
    let asked = Arc::default();
    let store: Arc<dyn Store> = Arc::new(Slow(Played {
        answer: answered,
        asked: Arc::clone(&asked),
    }));
    let (policy, lost) = (Policy::new(), WhenStoreIsLost::Local);
    play_on(&store, asked, policy, "slow", lost, async |scene| {
        scene.ears.up();
        eventually(|| scene.breaker.state() == State::Open).await;
        let permit = loop {
            match scene.breaker.acquire().await {
                Ok(permit) => break permit,
                Err(_) => time::sleep(policy.get_probe_wait() * 6).await,
            }
        };
        permit.success();
        eventually(|| scene.breaker.state() == State::Closed).await;
    });
}
