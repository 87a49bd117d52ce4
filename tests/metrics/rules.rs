//! What the rules measure, and what people force.

use std::time::Duration;

use breakerbox::ManualClock;
use breakerbox::Policy;
use breakerbox::Registry;
use breakerbox::Window;

use super::Exporter;

const SERVICE: &str = "metrics: rules";
const SECOND: Duration = Duration::from_secs(1);

fn registry(clock: &ManualClock, policy: Policy) -> Registry {
    Registry::builder()
        .clock(clock.clock())
        .declare_with(SERVICE, policy)
        .build()
        .expect("the numbers are good")
}

/// A7
#[test]
fn the_failure_rate_is_no_number_below_min_calls_and_the_one_that_opened_it_while_open() {
    let policy = Policy::new()
        .window(Window::Calls(4))
        .failure_rate(0.5)
        .min_calls(4);
    let registry = registry(&ManualClock::new(), policy);
    let breaker = registry.breaker(SERVICE).unwrap();
    let exporter = Exporter::new();
    let rate = || {
        let scrape = exporter.published(&registry);
        scrape.value("breakerbox_failure_rate", &[("service", SERVICE)])
    };
    breaker.try_acquire().unwrap().failure();
    assert!(rate().unwrap().is_nan());
    for _ in 0..2 {
        breaker.try_acquire().unwrap().success();
    }
    breaker.try_acquire().unwrap().failure();
    assert_eq!(rate(), Some(0.5));
    let scrape = exporter.published(&registry);
    let limit = |kind| {
        let labels = [("service", SERVICE), ("kind", kind)];
        scrape.value("breakerbox_threshold", &labels).unwrap()
    };
    assert!((limit("failure_rate") - 0.5).abs() < f64::EPSILON);
    assert!(limit("threshold").is_nan() && limit("slow_call_rate").is_nan());
}

#[test]
fn the_seconds_of_all_states_are_the_time_that_has_passed() {
    let clock = ManualClock::new();
    let policy = Policy::new().threshold(1).cooldown(5 * SECOND);
    let registry = registry(&clock, policy);
    let breaker = registry.breaker(SERVICE).unwrap();
    let exporter = Exporter::new();
    let seconds = |state| {
        let scrape = exporter.published(&registry);
        let labels = [("service", SERVICE), ("state", state)];
        scrape.value("breakerbox_state_seconds_total", &labels)
    };
    clock.advance(7 * SECOND);
    breaker.try_acquire().unwrap().failure();
    clock.advance(6 * SECOND);
    let probe = breaker.try_acquire().unwrap();
    clock.advance(2 * SECOND);
    probe.success();
    clock.advance(SECOND);
    assert_eq!(seconds("closed"), Some(8.0));
    assert_eq!(seconds("open"), Some(6.0));
    assert_eq!(seconds("half_open"), Some(2.0));
    assert_eq!(seconds("shadow"), Some(0.0));
}

#[test]
fn an_override_is_seen_while_it_lasts_and_what_shadow_spared_is_counted() {
    let clock = ManualClock::new();
    let registry = registry(&clock, Policy::new().threshold(1));
    let breaker = registry.breaker(SERVICE).unwrap();
    let exporter = Exporter::new();
    let value = |name| {
        let scrape = exporter.published(&registry);
        scrape.value(name, &[("service", SERVICE)])
    };
    breaker.shadow(10 * SECOND, "ana", "a try").unwrap();
    breaker.try_acquire().unwrap().failure();
    breaker.try_acquire().unwrap().success();
    assert_eq!(value("breakerbox_override_active"), Some(1.0));
    assert_eq!(value("breakerbox_would_reject_total"), Some(1.0));
    clock.advance(10 * SECOND);
    assert_eq!(value("breakerbox_override_active"), Some(0.0));
}

/// K5: also of the shadow that somebody has laid over a policy's own.
#[test]
fn the_end_of_an_override_is_counted_as_its_beginning_is() {
    let clock = ManualClock::new();
    let registry = registry(&clock, Policy::new().shadow(true));
    let breaker = registry.breaker(SERVICE).unwrap();
    breaker.shadow(SECOND, "ana", "a try").unwrap();
    clock.advance(SECOND);
    breaker.try_acquire().unwrap().success();
    let mut moves = Exporter::new().published(&registry).moves(SERVICE);
    moves.sort_by(|one, other| one.0.cmp(&other.0));
    let expected = ["override", "override_ended"];
    assert_eq!(
        moves,
        expected.map(|reason| (format!("shadow>shadow:{reason}"), 1.0))
    );
}

#[test]
fn metrics_do_not_grow_with_keys() {
    let registry = registry(&ManualClock::new(), Policy::new().threshold(1));
    let breaker = registry.breaker(SERVICE).unwrap();
    let exporter = Exporter::new();
    let series = || {
        exporter.publish(&registry);
        exporter.handle.render().lines().count()
    };
    let before = series();
    for key in 0..50 {
        breaker
            .key(&key.to_string())
            .try_acquire()
            .unwrap()
            .failure();
    }
    assert_eq!(series(), before);
    let scrape = exporter.published(&registry);
    let labels = [("service", SERVICE)];
    assert_eq!(scrape.value("breakerbox_keyed_open", &labels), Some(50.0));
    assert_eq!(scrape.calls(SERVICE, "failure"), Some(50.0));
    assert_eq!(scrape.states(SERVICE), ["closed"]);
}
