//! Two versions of a service with different numbers share a breaker, as during a rollout.

use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use breakerbox::Event;
use breakerbox::State;
use breakerbox::Warning;
use metrics::Counter;
use metrics::Gauge;
use metrics::Histogram;
use metrics::Key;
use metrics::KeyName;
use metrics::Metadata;
use metrics::Recorder;
use metrics::SharedString;
use metrics::Unit;

use super::POLICY;
use super::Process;
use super::on_each;
use super::start;
use super::trip_both;

fn differences(process: &Process) -> Vec<String> {
    let sharing = process.breaker.snapshot().sharing.expect("shared");
    sharing
        .differences
        .iter()
        .map(ToString::to_string)
        .collect()
}

/// What is published of it. All services of this binary are published with it, and to render and
/// read them all takes too long to be done again and again.
fn mismatch(process: &Process) -> Option<f64> {
    let recorder = Mismatch::default();
    metrics::with_local_recorder(&recorder, || process.registry.publish_metrics());
    let gauge = recorder.0.into_inner().expect("nobody panics with it")?;
    Some(f64::from_bits(gauge.load(Relaxed)))
}

/// Records one series, and nothing else.
#[derive(Default)]
struct Mismatch(Mutex<Option<Arc<AtomicU64>>>);

impl Recorder for Mismatch {
    fn describe_counter(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn describe_gauge(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn describe_histogram(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn register_counter(&self, _: &Key, _: &Metadata<'_>) -> Counter {
        Counter::noop()
    }

    fn register_gauge(&self, key: &Key, _: &Metadata<'_>) -> Gauge {
        let labels = key.labels().map(|label| (label.key(), label.value()));
        if key.name() != "breakerbox_config_mismatch" || !labels.eq([("service", "shared")]) {
            return Gauge::noop();
        }
        let mut gauge = self.0.lock().expect("nobody panics with it");
        Gauge::from_arc(Arc::clone(gauge.get_or_insert_default()))
    }

    fn register_histogram(&self, _: &Key, _: &Metadata<'_>) -> Histogram {
        Histogram::noop()
    }
}

fn warnings(process: &Process) -> usize {
    process.count(|event| {
        let Event::Warning(warning @ Warning::NumbersDiffer { .. }) = event else {
            return false;
        };
        let text = warning.to_string();
        assert!(text.contains("`shared`"), "{text}");
        assert!(text.contains("threshold is"), "{text}");
        true
    })
}

/// M21
#[test]
fn two_versions_share_a_breaker_and_each_says_where_the_other_differs() {
    on_each(|backing| {
        let old = start(backing, "old", POLICY);
        let as_old = start(backing, "as old", POLICY);
        assert_eq!(mismatch(&old), Some(0.0));
        let new = start(backing, "new", POLICY.threshold(50));
        old.eventually("it sees the other's", || {
            differences(&old) == ["threshold is 3 here and 50 elsewhere"]
        });
        new.eventually("and the other sees its", || {
            differences(&new) == ["threshold is 50 here and 3 elsewhere"]
        });
        for process in [&old, &as_old, &new] {
            process.eventually("all show it", || mismatch(process) == Some(1.0));
            process.eventually("all are warned", || warnings(process) == 1);
        }
        // Both work, each by its own numbers.
        trip_both(&old, &new);
        new.breaker.reset();
        old.becomes(State::Closed);
        new.registry.close();
        for process in [&old, &as_old] {
            process.eventually("the rollout is over", || mismatch(process) == Some(0.0));
            assert_eq!(warnings(process), 1);
        }
    });
}

#[test]
fn numbers_that_are_changed_by_hand_are_compared_at_once() {
    on_each(|backing| {
        let a = start(backing, "a", POLICY);
        let b = start(backing, "b", POLICY.threshold(7));
        for process in [&a, &b] {
            process.eventually("they differ", || mismatch(process) == Some(1.0));
        }
        // It is a change of both.
        b.breaker
            .update(|policy| policy.threshold(8))
            .expect("a right number");
        for process in [&a, &b] {
            process.eventually("they are one", || mismatch(process) == Some(0.0));
        }
    });
}

#[test]
fn processes_with_the_same_numbers_warn_of_nothing() {
    on_each(|backing| {
        let [a, b] = backing.processes(POLICY);
        trip_both(&a, &b);
        for process in [&a, &b] {
            assert_eq!(mismatch(process), Some(0.0));
            assert_eq!(warnings(process), 0);
        }
    });
}
