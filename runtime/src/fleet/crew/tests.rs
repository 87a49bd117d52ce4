//! The work for one circuit, with stores that answer as a test says.

use std::sync::Mutex;
use std::sync::MutexGuard;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::task::Poll;

use tokio::runtime;
use tokio::task;
use tokio::task::LocalSet;

use crate::member::Link;
use crate::policy::Policy;
use crate::policy::Window;
use crate::registry::Registry;
use crate::rejected::RejectedKind;
use crate::rules::Sums;
use crate::rules::fleet::Cover;
use crate::rules::fleet::CoverKind;
use crate::rules::fleet::Force;
use crate::rules::fleet::Phase;
use crate::rules::fleet::Snapshot;
use crate::rules::fleet::Told;
use crate::rules::fleet::What;
use crate::sharing::SharingState;
use crate::sharing::WhenStoreIsLost;
use crate::state::State;
use crate::store::Comparison;
use crate::store::Journal;
use crate::store::Listener;

use super::*;

/// So long nothing takes, however busy the machine is.
const LONG: Duration = Duration::from_secs(20);

const HOUR: Duration = Duration::from_secs(3_600);

/// What it answers; nothing where it hangs.
type Answered = Option<Result<Reply, StoreError>>;

/// A store that answers as a test says.
struct Played<F> {
    answer: F,
    asked: Arc<Mutex<Vec<Command>>>,
}

impl<F: Fn(&Command) -> Answered + Send + Sync> Store for Played<F> {
    fn start(&self, _: Arc<dyn Listener>) {}

    fn submit<'a>(
        &'a self,
        _: &'a str,
        request: Request,
        _: &'a Policy,
        _: Duration,
    ) -> Submission<'a> {
        self.asked().push(request.command.clone());
        match (self.answer)(&request.command) {
            Some(answer) => Box::pin(std::future::ready(answer)),
            None => Box::pin(std::future::pending()),
        }
    }

    fn polls(&self) -> Option<Duration> {
        None
    }

    fn journal<'a>(&'a self, _: &'a str, _: usize) -> Journal<'a> {
        Box::pin(std::future::pending())
    }

    fn compare<'a>(&'a self, _: &'a str, _: &'a Note) -> Comparison<'a> {
        Box::pin(std::future::ready(Ok(Vec::new())))
    }
}

impl<F> Played<F> {
    fn asked(&self) -> MutexGuard<'_, Vec<Command>> {
        self.asked.lock().expect("nobody panics with it")
    }
}

struct Scene {
    breaker: &'static Breaker,
    ears: Arc<Ears>,
    asked: Arc<Mutex<Vec<Command>>>,
}

impl Scene {
    /// What the store was asked for that is meant.
    fn asked<T>(&self, meant: impl Fn(&Command) -> Option<T>) -> Vec<T> {
        let asked = self.asked.lock().expect("nobody panics with it");
        asked.iter().filter_map(meant).collect()
    }

    fn flushes(&self) -> Vec<(bool, u32)> {
        self.asked(|command| match command {
            Command::Flush(flush) => Some((flush.success, flush.failures)),
            _ => None,
        })
    }

    fn end(&self, succeeds: bool) {
        let permit = self.breaker.try_acquire().expect("a closed circuit");
        match succeeds {
            true => permit.success(),
            false => permit.failure(),
        }
    }

    fn member(&self) -> &'static Member {
        self.breaker.member().expect("it has joined")
    }
}

/// The circuit as it stands in the store, which is at nine by its clock.
const CLOSED: Snapshot = Snapshot {
    epoch: 9,
    phase: Phase::Closed,
    until: 0,
    length: 0,
    trips: 0,
    opened_by: None,
    cover: None,
    is_suspect: false,
    live: 0,
};

/// Open, and its cooldown is over.
const OPEN: Snapshot = Snapshot {
    phase: Phase::Open,
    until: 9,
    length: 1,
    trips: 1,
    ..CLOSED
};

/// Open for ten minutes.
const LONG_OPEN: Snapshot = Snapshot {
    until: 600_009,
    length: 600_000,
    ..OPEN
};

const HALF_OPEN: Snapshot = Snapshot {
    epoch: 10,
    phase: Phase::HalfOpen,
    trips: 1,
    ..CLOSED
};

/// Somebody has laid this over an opening that is over, for so many milliseconds from now.
fn covered(kind: CoverKind, id: u64, lasts: u64) -> Snapshot {
    Snapshot {
        cover: Some(Cover {
            kind,
            id,
            began: 9,
            until: 9 + lasts,
            actor: "ana".to_owned(),
            why: "a test".to_owned(),
        }),
        ..OPEN
    }
}

const SUSPECT: Snapshot = Snapshot {
    is_suspect: true,
    ..CLOSED
};

fn answer(status: Status, snapshot: &Snapshot) -> Answered {
    Some(Ok(Reply {
        status,
        now: 9,
        snapshot: snapshot.clone(),
        sums: Sums::default(),
        live: None,
    }))
}

/// Lets a crew work for a circuit while `test` runs, which begins without a connection.
fn play(
    name: &'static str,
    when_lost: WhenStoreIsLost,
    store: impl Fn(&Command) -> Answered + Send + Sync + 'static,
    test: impl AsyncFnOnce(&Scene),
) {
    play_with(Policy::new(), name, when_lost, store, test);
}

fn play_with(
    policy: Policy,
    name: &'static str,
    when_lost: WhenStoreIsLost,
    store: impl Fn(&Command) -> Answered + Send + Sync + 'static,
    test: impl AsyncFnOnce(&Scene),
) {
    let registry = Registry::builder().declare_with(name, policy);
    let registry = registry.build().expect("a right set-up");
    let breaker: &'static Breaker = registry.breaker(name).expect("declared");
    let link = Arc::new(Link::new(1, when_lost));
    breaker.join(&link).expect("it joins once");
    let asked = Arc::default();
    let store: Arc<dyn Store> = Arc::new(Played {
        answer: store,
        asked: Arc::clone(&asked),
    });
    let ears = Arc::new(Ears::new(Arc::clone(&link), Box::new(|_| {})));
    ears.know(breaker);
    let crew = Crew::new(breaker, &store, &ears).expect("it is a member");
    let (_close, closing) = watch::channel(false);
    let mut runtime = runtime::Builder::new_current_thread();
    let runtime = runtime.enable_all().build().expect("a runtime");
    let set = LocalSet::new();
    set.spawn_local(crew.run(closing));
    let scene = Scene {
        breaker,
        ears,
        asked,
    };
    set.block_on(&runtime, async {
        let test = time::timeout(LONG, test(&scene)).await;
        test.expect("it comes to an end");
    });
}

async fn eventually(is_so: impl Fn() -> bool) {
    while !is_so() {
        task::yield_now().await;
    }
}

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
