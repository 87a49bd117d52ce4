//! Listeners that panic, block, or call back.

use std::panic;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::OnceLock;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc;
use std::task::Context;
use std::task::Poll;
use std::task::Wake;
use std::task::Waker;
use std::thread;
use std::time::Duration;

use breakerbox::Breaker;
use breakerbox::Event;
use breakerbox::Policy;
use breakerbox::Registry;
use breakerbox::RegistryBuilder;
use breakerbox::State;
use breakerbox::circuit_breaker;

use super::eventually::DEADLINE;
use super::eventually::eventually;
use super::listening;

/// Opens at the first failure, and is back at the next call.
const QUICK: Policy = Policy::new().threshold(1).cooldown(Duration::from_nanos(1));

fn build(builder: RegistryBuilder, service: &str) -> (Registry, &'static Breaker) {
    let registry = builder.declare_with(service, QUICK).build();
    let registry = registry.expect("a good policy");
    let breaker = registry.breaker(service).expect("declared above");
    (registry, breaker)
}

/// Lets the circuit move once or twice: open, or through half-open to open again.
fn fail(breaker: &Breaker) {
    breaker
        .try_acquire()
        .expect("the cooldown is over at once")
        .failure();
}

/// K7, B135, B136
#[test]
fn a_listener_that_panics_hears_the_next_event_and_so_do_the_others() {
    let attempts = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&attempts);
    let builder = Registry::builder().on_event(move |event| {
        if matches!(event, Event::Transition(_)) {
            counted.fetch_add(1, Relaxed);
        }
        panic::resume_unwind(Box::new("the listener"));
    });
    let (builder, heard) = listening(builder);
    let (registry, breaker) = build(builder, "panicking listener");
    for n in 1..=5 {
        fail(breaker);
        let expected = 2 * n - 1;
        eventually("it was told again", || {
            (attempts.load(Relaxed) == expected).then_some(())
        });
    }
    assert_eq!(breaker.snapshot().calls.failure, 5);
    assert_eq!(breaker.snapshot().calls.panicked, 0);
    registry.close();
    assert_eq!(heard.to_the_end().len(), 9);
}

/// K7
#[test]
fn a_listener_that_blocks_harms_neither_calls_nor_listeners_nor_metrics_nor_closing() {
    let (lets_go, blocked) = mpsc::channel::<()>();
    let blocked = Mutex::new(blocked);
    let builder = Registry::builder().on_event(move |_| {
        let blocked = blocked.lock().expect("it is alone");
        let _ = blocked.recv();
    });
    let (builder, heard) = listening(builder);
    let (registry, breaker) = build(builder, "blocking listener");

    // More than it could ever be behind, and at a time no more than a breaker remembers until
    // somebody tells it: publishing after each move would be dear, with as many services as
    // there are tests.
    let mut told = 0;
    for _ in 0..50 {
        (0..30).for_each(|_| fail(breaker));
        registry.publish_metrics();
        while told < breaker.snapshot().generation {
            told += 1;
            assert_eq!(heard.next().generation, told);
        }
    }
    assert_eq!(told, 2_999);

    let (closed, closes) = mpsc::channel();
    let closing = registry.clone();
    thread::spawn(move || {
        closing.close();
        closed.send(()).unwrap();
    });
    closes.recv_timeout(DEADLINE).unwrap();
    assert_eq!(heard.to_the_end().len(), 0);
    fail(breaker);
    drop(lets_go);
}

#[circuit_breaker(service = "observers: called back", threshold = 2)]
fn called_back(fails: bool) -> std::io::Result<()> {
    if fails {
        return Err(std::io::Error::other("no"));
    }
    Ok(())
}

/// B135, B138: no lock is held while a listener runs.
#[test]
fn a_listener_may_call_guarded_functions_read_and_publish() {
    let own: Arc<OnceLock<(Registry, &'static Breaker)>> = Arc::default();
    let seen = Arc::clone(&own);
    let (hears, heard) = mpsc::channel();
    let builder = Registry::builder().on_event(move |event| {
        // What all of this program's functions disagree about is told as well: publishing each
        // time would cost the product of two numbers that grow with every test.
        let Event::Transition(transition) = event else {
            return;
        };
        let (registry, breaker) = seen.wait();
        let entered = registry.enter();
        let answers = (
            called_back(true).is_err(),
            breaker.snapshot().generation,
            registry.services().len(),
        );
        registry.publish_metrics();
        breakerbox::publish_metrics();
        drop(entered);
        let _ = hears.send((transition.service, answers));
    });
    let (registry, breaker) = build(builder, "called back from");
    assert!(own.set((registry.clone(), breaker)).is_ok());

    fail(breaker);
    let mut services = Vec::new();
    // The listener's own calls open a circuit, of which it hears in turn.
    while services.len() < 2 {
        let (service, (failed, generation, known)) = heard.recv_timeout(DEADLINE).unwrap();
        assert!(failed && generation == 1 && known >= 2);
        services.push(service);
        let _entered = registry.enter();
        let _ = called_back(true);
    }
    services.sort_unstable();
    assert_eq!(services, ["called back from", "observers: called back"]);
    let other = registry.breaker("observers: called back").unwrap();
    assert_eq!(other.state(), State::Open);
    registry.close();
}

#[test]
fn a_listener_may_close_its_registry() {
    let own: Arc<OnceLock<Registry>> = Arc::default();
    let seen = Arc::clone(&own);
    let builder = Registry::builder().on_event(move |event| {
        if matches!(event, Event::Transition(_)) {
            seen.wait().close();
        }
    });
    let (builder, heard) = listening(builder);
    let (registry, breaker) = build(builder, "closed from within");
    assert!(own.set(registry).is_ok());
    fail(breaker);
    assert_eq!(heard.to_the_end().len(), 1);
}

/// A task whose executor is gone: whoever wakes it is the last to have it, and drops it.
struct Orphan(Mutex<Option<Pin<Box<dyn Future<Output = ()> + Send>>>>);

impl Orphan {
    /// Polls it once, as its executor did before that ended.
    fn leave(future: impl Future<Output = ()> + Send + 'static) {
        let task = Arc::new(Self(Mutex::new(Some(Box::pin(future)))));
        let waker = Waker::from(Arc::clone(&task));
        let mut future = task.0.lock().expect("nobody else has it");
        let future = future.as_mut().map(Pin::as_mut);
        let polled = future.map(|it| it.poll(&mut Context::from_waker(&waker)));
        assert_eq!(polled, Some(Poll::Pending));
    }
}

impl Wake for Orphan {
    fn wake(self: Arc<Self>) {}
}

/// B138: nobody is woken under a lock that the end of a subscriber takes.
#[test]
fn a_subscriber_whose_executor_is_gone_holds_up_no_call() {
    let (done, waits) = mpsc::channel();
    thread::spawn(move || {
        let (_registry, breaker) = build(Registry::builder(), "orphaned subscriber");
        let mut events = breaker.subscribe();
        Orphan::leave(async move { while events.next().await.is_some() {} });
        fail(breaker);
        done.send(breaker.state()).unwrap();
    });
    assert_eq!(waits.recv_timeout(DEADLINE), Ok(State::Open));
}

/// An executor that takes no more tasks, and says so.
struct Overrun;

impl Wake for Overrun {
    fn wake(self: Arc<Self>) {
        panic::resume_unwind(Box::new("the executor"));
    }
}

/// K7, B135
#[test]
fn an_executor_that_panics_as_it_is_woken_harms_neither_the_call_nor_those_who_wait() {
    let policy = Policy::new().threshold(1);
    let builder = Registry::builder().declare_with("overrun executor", policy);
    let registry = builder.build().unwrap();
    let breaker = registry.breaker("overrun executor").unwrap();
    let forced = breaker
        .force_open(Duration::from_secs(3600), "ana", "a test")
        .unwrap()
        .guard();
    let waker = Waker::from(Arc::new(Overrun));
    let mut context = Context::from_waker(&waker);
    let mut events = breaker.subscribe();
    let mut waits: Vec<_> = (0..3)
        .map(|_| Box::pin(breaker.wait_until_admitting()))
        .collect();
    for wait in &mut waits {
        assert!(wait.as_mut().poll(&mut context).is_pending());
    }
    let mut next = Box::pin(events.next());
    assert!(next.as_mut().poll(&mut context).is_pending());
    drop(forced);
    fail(breaker);
    assert_eq!(breaker.state(), State::Open);
    assert!(next.as_mut().poll(&mut context).is_ready());
}
