//! How long calls took, where that is asked for.

use std::collections::BTreeMap;
use std::panic;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::Barrier;
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use breakerbox::Breaker;
use breakerbox::Error;
use breakerbox::ManualClock;
use breakerbox::Policy;
use breakerbox::Registry;
use breakerbox::State;
use breakerbox::Verdict;
use breakerbox::Window;
use metrics::Counter;
use metrics::Gauge;
use metrics::Histogram;
use metrics::HistogramFn;
use metrics::Key;
use metrics::KeyName;
use metrics::Metadata;
use metrics::Recorder;
use metrics::SharedString;
use metrics::Unit;

use super::Exporter;

const FAMILY: &str = "breakerbox_call_duration_seconds";
const SERVICE: &str = "metrics: durations";
const MILLISECOND: Duration = Duration::from_millis(1);
const SECOND: Duration = Duration::from_secs(1);

fn measured(clock: &ManualClock, policy: Policy) -> (Registry, &'static Breaker) {
    let registry = Registry::builder()
        .clock(clock.clock())
        .declare_with(SERVICE, policy)
        .call_durations()
        .build()
        .expect("a good policy");
    let breaker = registry.breaker(SERVICE).expect("declared above");
    (registry, breaker)
}

/// By service and outcome: seconds, and how many calls took so long.
type ByName = BTreeMap<String, Vec<(f64, usize)>>;

/// What a recorder was given.
#[derive(Clone, Default)]
struct Samples(Arc<Mutex<ByName>>);

struct Series {
    name: String,
    samples: Samples,
}

impl Samples {
    fn published(&self, registry: &Registry) -> ByName {
        metrics::with_local_recorder(self, || registry.publish_metrics());
        std::mem::take(&mut *self.0.lock().expect("nobody panics with it"))
    }
}

impl HistogramFn for Series {
    fn record(&self, value: f64) {
        self.record_many(value, 1);
    }

    fn record_many(&self, value: f64, count: usize) {
        let mut all = self.samples.0.lock().expect("nobody panics with it");
        all.entry(self.name.clone())
            .or_default()
            .push((value, count));
    }
}

impl Recorder for Samples {
    fn describe_counter(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn describe_gauge(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn describe_histogram(&self, name: KeyName, unit: Option<Unit>, text: SharedString) {
        assert_eq!((name.as_str(), unit), (FAMILY, Some(Unit::Seconds)));
        assert!(text.ends_with('.'), "{text}");
    }

    fn register_counter(&self, _: &Key, _: &Metadata<'_>) -> Counter {
        Counter::noop()
    }

    fn register_gauge(&self, _: &Key, _: &Metadata<'_>) -> Gauge {
        Gauge::noop()
    }

    fn register_histogram(&self, key: &Key, _: &Metadata<'_>) -> Histogram {
        assert_eq!(key.name(), FAMILY);
        let labels: Vec<_> = key.labels().map(|label| label.value()).collect();
        Histogram::from_arc(Arc::new(Series {
            name: labels.join(" "),
            samples: self.clone(),
        }))
    }
}

fn name(outcome: &str) -> String {
    format!("{SERVICE} {outcome}")
}

#[test]
fn nothing_is_measured_where_nobody_has_asked() {
    let registry = Registry::builder().declare(SERVICE).build().unwrap();
    let breaker = registry.breaker(SERVICE).unwrap();
    breaker.try_acquire().unwrap().success();
    breaker.try_acquire().unwrap().failure();
    let scrape = Exporter::new().published(&registry);
    assert!(scrape.families().all(|(name, _)| name != FAMILY));
}

#[test]
fn each_call_is_measured_from_leave_to_outcome_and_under_its_own_outcome() {
    let clock = ManualClock::new();
    let policy = Policy::new().threshold(4).slow_call(SECOND);
    let (registry, breaker) = measured(&clock, policy.cooldown(SECOND));
    let recorder = Samples::default();
    let adds = |outcome: &str, took: Duration| {
        let expected = BTreeMap::from([(name(outcome), vec![(took.as_secs_f64(), 1)])]);
        assert_eq!(recorder.published(&registry), expected);
    };
    let enter = || breaker.try_acquire().unwrap();
    let after = |took, permit| {
        clock.advance(took);
        permit
    };

    after(3 * MILLISECOND, enter()).success();
    adds("success", 3 * MILLISECOND);
    after(SECOND + MILLISECOND, enter()).success();
    adds("slow_success", SECOND + MILLISECOND);
    after(5 * MILLISECOND, enter()).record(Verdict::Ignore);
    adds("ignored", 5 * MILLISECOND);
    drop(after(7 * MILLISECOND, enter()));
    adds("cancelled", 7 * MILLISECOND);
    let panicked = panic::catch_unwind(AssertUnwindSafe(|| {
        let _: Result<(), Error<()>> = breaker.call_blocking(|| {
            clock.advance(9 * MILLISECOND);
            panic::resume_unwind(Box::new("its own"))
        });
    }));
    assert!(panicked.is_err());
    adds("panicked", 9 * MILLISECOND);
    after(Duration::from_nanos(77), enter()).failure();
    adds("failure", Duration::from_nanos(77));
    after(2 * SECOND, enter()).failure();
    adds("slow_failure", 2 * SECOND);

    let early = enter();
    after(4 * MILLISECOND, enter()).failure();
    adds("failure", 4 * MILLISECOND);
    assert_eq!(breaker.state(), State::Open);
    after(6 * MILLISECOND, early).success();
    adds("late", 10 * MILLISECOND);
    breaker.try_acquire().unwrap_err();
    clock.advance(SECOND);
    after(11 * MILLISECOND, enter()).success();
    adds("success", 11 * MILLISECOND);
    assert_eq!(breaker.state(), State::Closed);
    assert_eq!(breaker.snapshot().calls.rejected, 1);
    assert_eq!(recorder.published(&registry), BTreeMap::new());
}

/// The ways out of a call differ with its policy.
#[test]
fn whatever_the_policy_every_call_that_has_ended_is_measured() {
    let rate = Policy::new().failure_rate(0.9).min_calls(50);
    let minute = rate.window(Window::Time(60 * SECOND));
    let slow = minute.slow_call(SECOND).slow_call_rate(0.9);
    for policy in [
        Policy::new().threshold(3),
        Policy::new().threshold(3).slow_call(SECOND),
        rate.window(Window::Calls(100)),
        rate.window(Window::Calls(100)).slow_call(SECOND),
        minute,
        slow,
        slow.ramp(60 * SECOND),
        Policy::new().threshold(3).shadow(true),
    ] {
        let clock = ManualClock::new();
        let (registry, breaker) = measured(&clock, policy);
        let mut took = Duration::ZERO;
        for n in 0..40 {
            let permit = breaker.try_acquire().unwrap();
            let takes = (1 + n) * 60 * MILLISECOND;
            clock.advance(takes);
            took += takes;
            match n % 3 {
                0 => permit.failure(),
                _ => permit.success(),
            }
        }
        let mut seconds = 0.0;
        let samples = Samples::default().published(&registry);
        for (outcome, counted) in breaker.snapshot().calls.by_label() {
            let samples = samples.get(&name(outcome)).map_or(&[][..], |it| it);
            let calls: usize = samples.iter().map(|(_, calls)| calls).sum();
            assert_eq!(calls as u64, counted, "{outcome} of {policy:?}");
            seconds += samples
                .iter()
                .map(|(seconds, calls)| seconds * *calls as f64)
                .sum::<f64>();
        }
        let took = took.as_secs_f64();
        assert!((seconds - took).abs() < 1e-6, "{seconds} s of {took} s");
    }
}

/// As the documentation of `call_durations` has it.
#[test]
fn the_sum_is_exact_and_each_call_is_off_by_less_than_a_quarter() {
    let clock = ManualClock::new();
    let (registry, breaker) = measured(&clock, Policy::new());
    let mut told = Vec::new();
    let mut durations = Vec::new();
    let recorder = Samples::default();
    // From 1 µs to an hour, each longer by a hundredth.
    for n in 0..2_210 {
        let seconds = 1e-6 * 1.01_f64.powi(n);
        let permit = breaker.try_acquire().unwrap();
        let took = Duration::from_secs_f64(seconds);
        clock.advance(took);
        permit.success();
        durations.push(took.as_secs_f64());
        if n % 130 != 129 {
            continue;
        }
        let published = recorder.published(&registry);
        for (seconds, calls) in published.values().flatten() {
            told.extend((0..*calls).map(|_| *seconds));
        }
    }
    assert_eq!(told.len(), durations.len());
    for (told, took) in told.iter().zip(&durations) {
        assert!((told - took).abs() < took / 4.0, "{took} s as {told} s");
    }
    let (told, took): (f64, f64) = (told.iter().sum(), durations.iter().sum());
    assert!((told - took).abs() < 1e-4, "{told} s of {took} s");
}

/// B206
#[test]
fn the_calls_of_all_keys_are_in_the_histogram_of_their_service() {
    let clock = ManualClock::new();
    let (registry, service) = measured(&clock, Policy::new());
    for key in ["a", "b", "c"] {
        let key = service.key(key);
        let permit = key.try_acquire().unwrap();
        clock.advance(SECOND);
        permit.success();
    }
    let scrape = Exporter::new().published(&registry);
    assert_eq!(scrape.durations(SERVICE, "success"), Some((3.0, 3.0)));
    assert_eq!(scrape.durations(SERVICE, "failure"), None);
    let (_, family) = scrape.families().find(|(name, _)| *name == FAMILY).unwrap();
    assert!(family.help.as_ref().is_some_and(|help| help.ends_with('.')));
}

#[test]
fn calls_are_measured_on_when_the_numbers_change() {
    let clock = ManualClock::new();
    let (registry, breaker) = measured(&clock, Policy::new().threshold(3));
    let recorder = Samples::default();
    let call = || {
        let permit = breaker.try_acquire().unwrap();
        clock.advance(MILLISECOND);
        permit.success();
        recorder.published(&registry)[&name("success")].len()
    };
    assert_eq!(call(), 1);
    breaker
        .update(|policy| policy.window(Window::Time(SECOND)).slow_call(SECOND))
        .unwrap();
    assert_eq!(call(), 1);
    breaker.clear_update();
    assert_eq!(call(), 1);
    assert_eq!(recorder.published(&registry), BTreeMap::new());
}

/// With more threads than have a place of their own.
#[test]
fn no_duration_is_lost_between_threads_and_publishes() {
    const THREADS: usize = 80;
    const CALLS: usize = 500;
    let (registry, breaker) = measured(&ManualClock::new(), Policy::new());
    let recorder = Samples::default();
    let together = Barrier::new(THREADS + 1);
    let mut told = 0;
    let mut publish = || {
        let published = recorder.published(&registry);
        let calls = published.values().flatten().map(|(_, calls)| calls);
        told += calls.sum::<usize>();
        told
    };
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                together.wait();
                for _ in 0..CALLS {
                    breaker.try_acquire().unwrap().success();
                }
                together.wait();
            });
        }
        together.wait();
        for _ in 0..50 {
            publish();
        }
        together.wait();
    });
    assert_eq!(publish(), THREADS * CALLS);
}

/// Has no histogram to give.
struct Broken;

impl Recorder for Broken {
    fn describe_counter(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn describe_gauge(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn describe_histogram(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn register_counter(&self, _: &Key, _: &Metadata<'_>) -> Counter {
        Counter::noop()
    }

    fn register_gauge(&self, _: &Key, _: &Metadata<'_>) -> Gauge {
        Gauge::noop()
    }

    fn register_histogram(&self, _: &Key, _: &Metadata<'_>) -> Histogram {
        panic::resume_unwind(Box::new("the recorder"))
    }
}

#[test]
fn a_duration_goes_to_one_recorder_and_where_that_panics_to_the_next() {
    let clock = ManualClock::new();
    let (registry, breaker) = measured(&clock, Policy::new());
    let permit = breaker.try_acquire().unwrap();
    clock.advance(SECOND);
    permit.success();
    let panicked = panic::catch_unwind(AssertUnwindSafe(|| {
        metrics::with_local_recorder(&Broken, || registry.publish_metrics());
    }));
    assert!(panicked.is_err());
    let expected = BTreeMap::from([(name("success"), vec![(1.0, 1)])]);
    assert_eq!(Samples::default().published(&registry), expected);
    assert_eq!(Samples::default().published(&registry), BTreeMap::new());
}
