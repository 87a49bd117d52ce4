//! Publishing while calls come and circuits move.

use std::collections::HashMap;
use std::hint;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::time::Duration;

use breakerbox::Breaker;
use breakerbox::Policy;
use breakerbox::Registry;
use metrics::Counter;
use metrics::CounterFn;
use metrics::Gauge;
use metrics::GaugeFn;
use metrics::Histogram;
use metrics::Key;
use metrics::KeyName;
use metrics::Metadata;
use metrics::Recorder;
use metrics::SharedString;
use metrics::Unit;

const SERVICE: &str = "hammered";
const THREADS: usize = 4;
const CALLS: u64 = 20_000;

/// Looks at everything after each single write, as a scrape at that instant would.
#[derive(Clone, Default)]
struct Ledger(Arc<Mutex<Book>>);

#[derive(Default)]
struct Book {
    states: HashMap<String, f64>,
    counts: HashMap<String, u64>,
    wrong: Vec<String>,
}

struct Line {
    key: String,
    ledger: Ledger,
}

impl Ledger {
    fn line(&self, key: &Key) -> Option<Arc<Line>> {
        let label = |name: &str| key.labels().find(|l| l.key() == name).map(|l| l.value());
        (label("service") == Some(SERVICE)).then(|| {
            let labels: Vec<_> = key.labels().map(|label| label.value()).collect();
            Arc::new(Line {
                key: format!("{} {}", key.name(), labels.join(" ")),
                ledger: self.clone(),
            })
        })
    }
}

impl GaugeFn for Line {
    fn increment(&self, _: f64) {
        unreachable!("gauges are set");
    }

    fn decrement(&self, _: f64) {
        unreachable!("gauges are set");
    }

    fn set(&self, value: f64) {
        if !self.key.starts_with("breakerbox_state ") {
            return;
        }
        let mut book = self.ledger.0.lock().expect("nobody panics with it");
        book.states.insert(self.key.clone(), value);
        // The very first round begins with nothing.
        if book.states.values().sum::<f64>() < 1.0 {
            let wrong = format!("no state at 1: {:?}", book.states);
            book.wrong.push(wrong);
        }
    }
}

impl CounterFn for Line {
    fn increment(&self, _: u64) {
        unreachable!("counters are published in full");
    }

    fn absolute(&self, value: u64) {
        let mut book = self.ledger.0.lock().expect("nobody panics with it");
        let before = book.counts.insert(self.key.clone(), value).unwrap_or(0);
        if value < before {
            let wrong = format!("{} fell from {before} to {value}", self.key);
            book.wrong.push(wrong);
        }
    }
}

impl Recorder for Ledger {
    fn describe_counter(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn describe_gauge(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn describe_histogram(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn register_counter(&self, key: &Key, _: &Metadata<'_>) -> Counter {
        self.line(key).map_or_else(Counter::noop, Counter::from_arc)
    }

    fn register_gauge(&self, key: &Key, _: &Metadata<'_>) -> Gauge {
        self.line(key).map_or_else(Gauge::noop, Gauge::from_arc)
    }

    fn register_histogram(&self, _: &Key, _: &Metadata<'_>) -> Histogram {
        Histogram::noop()
    }
}

/// Calls, three of four successes, and trips whenever it can.
fn calls(breaker: &Breaker) {
    for n in 0..CALLS {
        match breaker.try_acquire() {
            Ok(permit) if n % 4 == 3 => permit.failure(),
            Ok(permit) => permit.success(),
            Err(_) => hint::spin_loop(),
        }
    }
}

/// K3, J6
#[test]
fn at_no_instant_is_every_state_at_zero_and_no_counter_ever_falls() {
    let policy = Policy::new()
        .threshold(1)
        .cooldown(Duration::from_micros(50));
    let registry = Registry::builder().declare_with(SERVICE, policy).build();
    let registry = registry.unwrap();
    let breaker = registry.breaker(SERVICE).unwrap();
    let ledger = Ledger::default();
    let publish = || metrics::with_local_recorder(&ledger, || registry.publish_metrics());
    let over = AtomicBool::new(false);

    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !over.load(Relaxed) {
                    publish();
                }
            });
        }
        let callers: Vec<_> = (0..THREADS)
            .map(|_| scope.spawn(|| calls(breaker)))
            .collect();
        for caller in callers {
            caller.join().unwrap();
        }
        over.store(true, Relaxed);
    });
    publish();

    let book = ledger.0.lock().unwrap();
    assert_eq!(book.wrong, [""; 0]);
    assert_eq!(book.states.values().sum::<f64>(), 1.0);
    let sum = |name: &str| -> u64 {
        let ours = book.counts.iter().filter(|(key, _)| key.starts_with(name));
        ours.map(|(_, count)| count).sum()
    };
    assert_eq!(sum("breakerbox_calls_total "), THREADS as u64 * CALLS);
    // As often as a circuit leaves a state it has entered it, give or take the one it is in.
    let moves = |edge: &str| sum(&format!("breakerbox_transitions_total {SERVICE} {edge}"));
    assert!(moves("closed open") > 1, "it never came back");
    let opened = moves("closed open") + moves("half_open open");
    let probed = moves("open half_open");
    assert!(opened - probed <= 1, "{opened} {probed}");
    let ended = moves("half_open open") + moves("half_open closed");
    assert!(probed - ended <= 1, "{probed} {ended}");
    assert_eq!(
        breaker.snapshot().generation,
        opened + probed + moves("half_open closed")
    );
}
