//! Which series there are, and what they are called.

use std::io;
use std::io::Write;
use std::process::Command;
use std::process::Stdio;

use breakerbox::Registry;
use breakerbox::State;
use breakerbox::circuit_breaker;

use super::Exporter;
use super::exposition::Exposition;

#[circuit_breaker(service = "metrics: never called", threshold = 3)]
#[expect(dead_code, reason = "its series are there all the same")]
async fn never_called() -> io::Result<()> {
    Ok(())
}

const OUTCOMES: [&str; 9] = [
    "success",
    "failure",
    "slow_success",
    "slow_failure",
    "ignored",
    "rejected",
    "cancelled",
    "panicked",
    "late",
];

/// Checks that `service` has every series, as before its first call.
#[track_caller]
pub(super) fn is_untouched(scrape: &Exposition, service: &str) {
    for outcome in OUTCOMES {
        assert_eq!(scrape.calls(service, outcome), Some(0.0), "{outcome}");
    }
    assert_eq!(
        scrape.of("breakerbox_calls_total", service).count(),
        OUTCOMES.len()
    );
    assert_eq!(
        scrape.of("breakerbox_state", service).count(),
        State::ALL.len()
    );
    assert_eq!(scrape.states(service), ["closed"]);
    assert!(scrape.of("breakerbox_transitions_total", service).count() >= 7);
    assert_eq!(scrape.moves(service), []);
    assert_eq!(scrape.open_until(service), Some(0.0));
    let labels = [("service", service)];
    for name in [
        "breakerbox_in_flight",
        "breakerbox_keyed_open",
        "breakerbox_override_active",
        "breakerbox_would_reject_total",
    ] {
        assert_eq!(scrape.value(name, &labels), Some(0.0), "{name}");
    }
    let seconds = scrape.of("breakerbox_state_seconds_total", service);
    assert_eq!(seconds.count(), State::ALL.len());
    let rate = scrape.value("breakerbox_failure_rate", &labels);
    assert!(rate.is_some_and(f64::is_nan), "{rate:?}");
    assert_eq!(scrape.of("breakerbox_threshold", service).count(), 3);
}

/// K4, B195
#[test]
fn every_series_is_at_zero_before_the_first_call() {
    let registry = Registry::builder().declare("metrics: declared").build();
    let scrape = Exporter::new().published(&registry.unwrap());
    is_untouched(&scrape, "metrics: never called");
    is_untouched(&scrape, "metrics: declared");
}

/// B206
#[test]
fn names_are_plain_counters_end_in_total_and_every_family_is_explained() {
    let registry = Registry::builder()
        .declare("metrics: names")
        .build()
        .unwrap();
    let scrape = Exporter::new().published(&registry);
    for (name, family) in scrape.families() {
        assert!(name.starts_with("breakerbox_"), "{name}");
        let is_plain = |char: char| char.is_ascii_lowercase() || char == '_';
        assert!(name.chars().all(is_plain), "{name}");
        let kind = family.kind.as_deref();
        assert_eq!(kind == Some("counter"), name.ends_with("_total"), "{name}");
        assert!(matches!(kind, Some("counter" | "gauge")), "{name}");
        let help = family.help.as_deref().unwrap_or_default();
        assert!(help.ends_with('.'), "{name}: {help}");
        for labels in family.series.keys() {
            assert!(labels.keys().all(|label| label.chars().all(is_plain)));
            assert!(labels.contains_key("service"), "{name}");
        }
        for value in family.series.values() {
            // What does not stand, or is not measured yet, is not a number.
            let may_be_none = ["breakerbox_failure_rate", "breakerbox_threshold"];
            let is_none = value.is_nan() && may_be_none.contains(&name);
            assert!(
                is_none || value.is_finite() && *value >= 0.0,
                "{name}: {value}"
            );
        }
    }
    assert!(scrape.families().count() >= 11);
}

/// B206
#[test]
fn the_tool_of_prometheus_finds_nothing_wrong() {
    let registry = Registry::builder()
        .declare("promtool")
        .call_durations()
        // Nobody listens at this port.
        .redis("redis://127.0.0.1:1")
        .build()
        .unwrap();
    registry
        .breaker("promtool")
        .unwrap()
        .try_acquire()
        .unwrap()
        .failure();
    let exporter = Exporter::new();
    exporter.publish(&registry);

    let tool = Command::new("promtool")
        .args(["check", "metrics"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut tool = match tool {
        Ok(tool) => tool,
        Err(error) => {
            eprintln!("skipped: the judgement of promtool on the metrics: {error}");
            return;
        }
    };
    let mut input = tool.stdin.take().unwrap();
    input
        .write_all(exporter.handle.render().as_bytes())
        .unwrap();
    drop(input);
    let judged = tool.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&judged.stdout) + String::from_utf8_lossy(&judged.stderr);
    assert!(judged.status.success(), "{said}");
    assert_eq!(said.trim(), "");
}
