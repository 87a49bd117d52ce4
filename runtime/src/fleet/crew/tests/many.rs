//! Circuits that are many.

use std::sync::atomic::AtomicUsize;

use crate::registry::RegistryBuilder;

use super::*;

/// It answers after a while, and counts how many it is asked for at once.
#[derive(Default)]
struct Counting {
    asked: AtomicUsize,
    most: AtomicUsize,
    answered: AtomicUsize,
}

impl Store for Counting {
    fn start(&self, _: Arc<dyn Listener>) {}

    fn submit<'a>(&'a self, _: &'a str, _: Request, _: &'a Policy, _: Duration) -> Submission<'a> {
        Box::pin(async {
            let asked = self.asked.fetch_add(1, Relaxed) + 1;
            self.most.fetch_max(asked, Relaxed);
            for _ in 0..10 {
                task::yield_now().await;
            }
            self.asked.fetch_sub(1, Relaxed);
            self.answered.fetch_add(1, Relaxed);
            Err(StoreError::Late)
        })
    }

    fn polls(&self) -> Option<Duration> {
        None
    }

    fn journal<'a>(&'a self, _: &'a str, _: usize) -> Journal<'a> {
        Box::pin(std::future::pending())
    }

    fn compare<'a>(&'a self, _: &'a str, _: &'a Note) -> Comparison<'a> {
        Box::pin(std::future::pending())
    }
}

/// All of them were, and with some thousands of circuits the last answers came too late: the
/// connection was given up, and the next one fared no better.
#[test]
fn many_circuits_are_not_all_asked_for_at_once_when_a_connection_stands() {
    const MANY: usize = 200;
    let names = (0..MANY).map(|at| format!("one-of-many-{at}"));
    let registry = names.fold(Registry::builder(), RegistryBuilder::declare);
    let registry = registry.build().expect("a right set-up");
    let link = Arc::new(Link::new(1, WhenStoreIsLost::Local));
    link.set_up();
    let counting = Arc::new(Counting::default());
    let store: Arc<dyn Store> = Arc::clone(&counting) as Arc<_>;
    let ears = Arc::new(Ears::new(Arc::clone(&link), Box::new(|_| {})));
    let looks = Arc::new(Semaphore::new(LOOKS_AT_ONCE));
    let (_close, closing) = watch::channel(false);
    let mut runtime = runtime::Builder::new_current_thread();
    let runtime = runtime.enable_all().build().expect("a runtime");
    let set = LocalSet::new();
    let many = registry.services().into_iter();
    for breaker in many.filter(|it| it.name().starts_with("one-of-many-")) {
        breaker.join(&link).expect("it joins once");
        let crew = Crew::new(breaker, &store, &ears, &looks).expect("it is a member");
        set.spawn_local(crew.run(closing.clone()));
    }
    set.block_on(&runtime, async {
        while counting.answered.load(Relaxed) < MANY {
            task::yield_now().await;
        }
    });
    assert_eq!(counting.most.load(Relaxed), LOOKS_AT_ONCE);
}
