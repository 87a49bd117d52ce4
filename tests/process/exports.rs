//! The global registry on the page of the global recorder.

use std::hint;
use std::io;
use std::panic;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::time::Duration;
use std::time::SystemTime;
use std::time::UNIX_EPOCH;

use breakerbox::Breaker;
use breakerbox::Policy;
use breakerbox::Registry;
use breakerbox::State;
use breakerbox::Verdict;
use breakerbox::circuit_breaker;
use metrics::Counter;
use metrics::Gauge;
use metrics::Histogram;
use metrics::Key;
use metrics::KeyName;
use metrics::Metadata;
use metrics::Recorder;
use metrics::SharedString;
use metrics::Unit;
use metrics_exporter_prometheus::PrometheusBuilder;
use metrics_exporter_prometheus::PrometheusRecorder;
use metrics_util::MetricKindMask;

use crate::alone::alone;
use crate::eventually::eventually;
use crate::exposition::Exposition;
use crate::exposition::Labels;
use crate::page::Page;

const SERVICE: &str = "process: exported";

#[circuit_breaker(service = "process: exported", threshold = 2, cooldown = "20ms")]
fn call(fails: bool) -> io::Result<()> {
    if fails {
        return Err(io::Error::other("no"));
    }
    Ok(())
}

#[circuit_breaker(service = "process: never called")]
#[expect(dead_code, reason = "it is exported all the same")]
async fn never_called() -> io::Result<()> {
    Ok(())
}

fn exporter() -> PrometheusBuilder {
    PrometheusBuilder::new()
}

fn breaker(service: &str) -> &'static Breaker {
    breakerbox::breaker(service).expect("declared")
}

/// K4, B195
#[test]
fn everything_is_exported_at_zero_before_the_first_call() {
    alone(|| {
        let page = Page::install(exporter());
        Registry::builder().declare("declared").install().unwrap();
        let services = [SERVICE, "process: never called", "declared"];
        let scrape = page.shows("every service", |scrape| {
            let all = |name| services.iter().all(|s| scrape.of(name, s).count() > 0);
            // The last family that is published.
            all("breakerbox_transitions_total")
        });
        for service in services {
            assert_eq!(scrape.of("breakerbox_calls_total", service).count(), 9);
            assert!(
                scrape
                    .of("breakerbox_calls_total", service)
                    .all(|(_, n)| n == 0.0)
            );
            assert_eq!(scrape.states(service), ["closed"]);
            assert_eq!(scrape.moves(service), []);
            assert_eq!(scrape.open_until(service), Some(0.0));
        }
    });
}

/// K3, B196: closed, open, half-open, open, half-open, closed, and nobody publishes but the
/// background.
#[test]
fn a_whole_life_is_exported_step_by_step() {
    alone(|| {
        let page = Page::install(exporter());
        let policy = Policy::new().threshold(1).cooldown(Duration::from_nanos(1));
        let builder = Registry::builder().declare_with("life", policy);
        builder.install().unwrap();
        let breaker = breaker("life");
        page.shows("the service", |scrape| !scrape.states("life").is_empty());
        let shows = |state: State| {
            assert_eq!(breaker.state(), state);
            page.shows(state.label(), |scrape| {
                let states = scrape.states("life");
                assert!(!states.is_empty(), "no state is at 1");
                let has_end = scrape.open_until("life") != Some(0.0);
                states == [state.label()] && has_end == (state == State::Open)
            });
        };

        shows(State::Closed);
        breaker.try_acquire().unwrap().failure();
        shows(State::Open);
        let probe = breaker.try_acquire().unwrap();
        shows(State::HalfOpen);
        probe.failure();
        shows(State::Open);
        let probe = breaker.try_acquire().unwrap();
        shows(State::HalfOpen);
        probe.success();
        shows(State::Closed);

        let scrape = page.shows("all moves", |scrape| scrape.moves("life").len() == 4);
        let count = scrape
            .moves("life")
            .iter()
            .map(|(_, count)| count)
            .sum::<f64>();
        assert_eq!(count, 5.0);
    });
}

/// B201: no `install`, and the calls come first.
#[test]
fn a_recorder_that_comes_after_the_first_call_gets_everything() {
    alone(|| {
        for _ in 0..5 {
            call(false).unwrap();
        }
        call(true).unwrap_err();
        call(true).unwrap_err();
        assert_eq!(breaker(SERVICE).state(), State::Open);
        let page = Page::install(exporter());
        let scrape = page.shows("the state", |scrape| scrape.states(SERVICE) == ["open"]);
        assert_eq!(scrape.calls(SERVICE, "success"), Some(5.0));
        assert_eq!(scrape.calls(SERVICE, "failure"), Some(2.0));
        let scrape = page.shows("the move", |scrape| scrape.moves(SERVICE).len() == 1);
        assert_eq!(
            scrape.moves(SERVICE),
            [("closed>open:threshold".to_owned(), 1.0)]
        );
    });
}

/// Breakers that exist, and those that are made later.
#[test]
fn durations_that_are_asked_for_after_the_first_call_are_exported_from_then_on() {
    alone(|| {
        let page = Page::install(exporter());
        call(false).unwrap();
        let under_way = breaker(SERVICE).try_acquire().unwrap();
        let builder = Registry::builder().declare("made later");
        builder.call_durations().install().unwrap();
        under_way.success();
        for _ in 0..3 {
            call(false).unwrap();
            breaker("made later").try_acquire().unwrap().success();
        }
        for (service, calls) in [(SERVICE, 5.0), ("made later", 3.0)] {
            let scrape = page.shows("all durations", |scrape| {
                let counted = scrape.calls(service, "success") == Some(calls);
                let durations = scrape.durations(service, "success");
                counted && durations.is_some_and(|(calls, _)| calls >= 3.0)
            });
            let (calls, seconds) = scrape.durations(service, "success").unwrap();
            assert_eq!(calls, 3.0);
            assert!(seconds > 0.0 && seconds < 60.0, "{seconds}");
        }
    });
}

/// B191, B208
#[test]
fn a_recorder_that_forgets_idle_series_gets_them_back_in_full() {
    alone(|| {
        let idle = Some(Duration::from_millis(50));
        let page = Page::install(exporter().idle_timeout(MetricKindMask::ALL, idle));
        Registry::builder().install().unwrap();
        let successes = |scrape: &Exposition| scrape.calls(SERVICE, "success");
        for _ in 0..5 {
            call(false).unwrap();
        }
        page.shows("five", |scrape| successes(scrape) == Some(5.0));
        for _ in 0..2 {
            page.shows("nothing", |scrape| successes(scrape).is_none());
            page.shows("five again", |scrape| match successes(scrape) {
                // A recorder makes a series at zero, and only then can it be set.
                None | Some(0.0) => false,
                count => count == Some(5.0) || panic!("{count:?}"),
            });
        }
        call(false).unwrap();
        page.shows("six", |scrape| successes(scrape) == Some(6.0));
    });
}

#[test]
fn the_end_of_an_opening_is_exported_right_within_a_second() {
    alone(|| {
        let page = Page::install(exporter());
        Registry::builder().install().unwrap();
        let hour = Duration::from_secs(3600);
        let permit = breaker(SERVICE).try_acquire().unwrap();
        permit.record(Verdict::OpenFor(hour));
        let expected = SystemTime::now() + hour;
        let expected = expected.duration_since(UNIX_EPOCH).unwrap().as_secs_f64();
        page.shows("the end", |scrape| {
            let end = scrape.open_until(SERVICE).unwrap_or(0.0);
            assert!(
                end == 0.0 || (end - expected).abs() < 1.0,
                "{end} {expected}"
            );
            end != 0.0
        });
    });
}

#[test]
fn without_any_recorder_everything_works() {
    alone(|| {
        let registry = Registry::builder().install().unwrap();
        call(true).unwrap_err();
        call(true).unwrap_err();
        assert!(call(false).is_err());
        breakerbox::publish_metrics();
        eventually("the cooldown is over", || call(false).ok());
        assert_eq!(breaker(SERVICE).state(), State::Closed);
        registry.close();
        call(false).unwrap();
    });
}

/// A recorder that panics as long as it is in a bad mood.
struct Moody {
    inner: PrometheusRecorder,
    is_bad: Arc<AtomicBool>,
    panicked: Arc<AtomicBool>,
}

impl Moody {
    fn mood(&self) {
        if self.is_bad.load(Relaxed) {
            self.panicked.store(true, Relaxed);
            panic::resume_unwind(Box::new("the recorder"));
        }
    }
}

impl Recorder for Moody {
    fn describe_counter(&self, name: KeyName, unit: Option<Unit>, text: SharedString) {
        self.mood();
        self.inner.describe_counter(name, unit, text);
    }

    fn describe_gauge(&self, name: KeyName, unit: Option<Unit>, text: SharedString) {
        self.mood();
        self.inner.describe_gauge(name, unit, text);
    }

    fn describe_histogram(&self, name: KeyName, unit: Option<Unit>, text: SharedString) {
        self.mood();
        self.inner.describe_histogram(name, unit, text);
    }

    fn register_counter(&self, key: &Key, metadata: &Metadata<'_>) -> Counter {
        self.mood();
        self.inner.register_counter(key, metadata)
    }

    fn register_gauge(&self, key: &Key, metadata: &Metadata<'_>) -> Gauge {
        self.mood();
        self.inner.register_gauge(key, metadata)
    }

    fn register_histogram(&self, key: &Key, metadata: &Metadata<'_>) -> Histogram {
        self.mood();
        self.inner.register_histogram(key, metadata)
    }
}

/// B135
#[test]
fn a_recorder_that_panics_does_not_end_the_background() {
    alone(|| {
        let inner = exporter().build_recorder();
        let page = Page::serve(inner.handle());
        let (is_bad, panicked) = (Arc::new(AtomicBool::new(true)), Arc::default());
        let moody = Moody {
            inner,
            is_bad: Arc::clone(&is_bad),
            panicked: Arc::clone(&panicked),
        };
        assert!(metrics::set_global_recorder(moody).is_ok());
        Registry::builder().install().unwrap();
        call(true).unwrap_err();
        eventually("it panicked", || panicked.load(Relaxed).then_some(()));
        // Calls and transitions go on.
        call(true).unwrap_err();
        assert!(call(false).is_err());
        is_bad.store(false, Relaxed);
        let scrape = page.shows("the state", |scrape| scrape.states(SERVICE) == ["open"]);
        assert_eq!(scrape.calls(SERVICE, "failure"), Some(2.0));
    });
}

/// Only the global registry publishes, unless a private one is told to.
#[test]
fn a_private_registry_publishes_only_if_it_is_told_to() {
    alone(|| {
        let page = Page::install(exporter());
        let private = |name| Registry::builder().declare(name);
        let quiet = private("quiet").on_event(|_| {}).build().unwrap();
        let loud = private("loud").publishes_metrics().build().unwrap();
        let policy = Policy::new().threshold(1);
        let _global = Registry::builder().declare_with("global", policy).install();
        for registry in [&quiet, &loud] {
            let _entered = registry.enter();
            for name in ["quiet", "loud"] {
                if let Some(breaker) = registry.breaker(name) {
                    breaker
                        .try_acquire()
                        .unwrap()
                        .record(Verdict::OpenFor(Duration::MAX));
                }
            }
        }
        breaker("global").try_acquire().unwrap().failure();
        let scrape = page.shows("the loud one and the global one", |scrape| {
            ["loud", "global"]
                .iter()
                .all(|name| scrape.states(name) == ["open"])
        });
        assert_eq!(scrape.of("breakerbox_state", "quiet").count(), 0);
    });
}

#[test]
fn closing_the_global_registry_publishes_the_last_counts() {
    alone(|| {
        let page = Page::install(exporter());
        let registry = Registry::builder().install().unwrap();
        call(true).unwrap_err();
        call(true).unwrap_err();
        registry.close();
        let scrape = page.scrape();
        assert_eq!(scrape.calls(SERVICE, "failure"), Some(2.0));
        assert_eq!(scrape.states(SERVICE), ["open"]);
        call(false).unwrap_err();
        Registry::global().close();
    });
}

/// K3, J6: real scrapes while four threads call and trip, and the background publishes.
#[test]
fn scrapes_under_load_show_a_state_and_counts_that_never_fall() {
    const SCRAPES: usize = 500;
    alone(|| {
        let page = Page::install(exporter());
        let policy = Policy::new()
            .threshold(1)
            .cooldown(Duration::from_millis(1));
        let builder = Registry::builder().declare_with("hammered", policy);
        builder.install().unwrap();
        let breaker = breaker("hammered");
        page.shows("the service", |scrape| {
            !scrape.states("hammered").is_empty()
        });

        let over = AtomicBool::new(false);
        let total: u64 = thread::scope(|scope| {
            let callers = [(); 4].map(|()| scope.spawn(|| calls(breaker, &over)));
            let stop = Stop(&over);
            let mut before = counts(&page.scrape());
            let mut was_shown = true;
            for _ in 0..SCRAPES {
                let scrape = page.scrape();
                // The exporter reads one series after the other, so that a scrape in the
                // midst of which a new state is published may miss both; the next cannot.
                let is_shown = !scrape.states("hammered").is_empty();
                assert!(is_shown || was_shown, "no state is at 1");
                was_shown = is_shown;
                let now = counts(&scrape);
                assert_eq!(now.len(), before.len());
                for ((labels, before), (_, now)) in before.iter().zip(&now) {
                    assert!(before <= now, "{labels:?} fell from {before} to {now}");
                }
                before = now;
            }
            drop(stop);
            callers
                .into_iter()
                .map(|caller| caller.join().unwrap())
                .sum()
        });

        assert!(breaker.snapshot().generation > 3, "it never came back");
        let labels = [("service", "hammered")];
        page.shows("what became of it", |scrape| {
            let calls = scrape.of("breakerbox_calls_total", "hammered");
            calls.map(|(_, count)| count).sum::<f64>() == total as f64
                && scrape.states("hammered") == [breaker.state().label()]
                && scrape.value("breakerbox_in_flight", &labels) == Some(0.0)
        });
    });
}

/// Tells the callers to stop, also when the test fails.
struct Stop<'a>(&'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Relaxed);
    }
}

/// Calls and trips until it is over; gives the number of calls.
fn calls(breaker: &Breaker, over: &AtomicBool) -> u64 {
    let mut made = 0;
    while !over.load(Relaxed) {
        made += 1;
        match breaker.try_acquire() {
            Ok(permit) if made % 2 == 0 => permit.failure(),
            Ok(permit) => permit.success(),
            Err(_) => hint::spin_loop(),
        }
    }
    made
}

/// Every counter of the hammered service.
fn counts(scrape: &Exposition) -> Vec<(Labels, f64)> {
    ["breakerbox_calls_total", "breakerbox_transitions_total"]
        .iter()
        .flat_map(|name| scrape.of(name, "hammered"))
        .map(|(labels, count)| (labels.clone(), count))
        .collect()
}
