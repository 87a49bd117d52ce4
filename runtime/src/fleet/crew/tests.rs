//! The work for one circuit, with stores that answer as a test says.

mod leave;
mod losses;
mod many;
mod telling;
mod wants;

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
use crate::store::Submission;

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
    let asked = Arc::default();
    let store: Arc<dyn Store> = Arc::new(Played {
        answer: store,
        asked: Arc::clone(&asked),
    });
    play_on(&store, asked, policy, name, when_lost, test);
}

/// With a store that keeps in `asked` what it is asked for.
fn play_on(
    store: &Arc<dyn Store>,
    asked: Arc<Mutex<Vec<Command>>>,
    policy: Policy,
    name: &'static str,
    when_lost: WhenStoreIsLost,
    test: impl AsyncFnOnce(&Scene),
) {
    let registry = Registry::builder().declare_with(name, policy);
    let registry = registry.build().expect("a right set-up");
    let breaker: &'static Breaker = registry.breaker(name).expect("declared");
    let link = Arc::new(Link::new(1, when_lost));
    breaker.join(&link).expect("it joins once");
    let ears = Arc::new(Ears::new(Arc::clone(&link), Box::new(|_| {})));
    ears.know(breaker);
    let looks = Arc::new(Semaphore::new(LOOKS_AT_ONCE));
    let crew = Crew::new(breaker, store, &ears, &looks).expect("it is a member");
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
