//! `[defaults]`, which all services share, and services that nobody declares.

use std::io;
use std::time::Duration;

use breakerbox::Event;
use breakerbox::Policy;
use breakerbox::Registry;
use breakerbox::Warning;
use breakerbox::Window;
use breakerbox::circuit_breaker;

use super::built;
use super::refused;
use crate::observers::hearing;

#[circuit_breaker(service = "modest", threshold = 3)]
#[expect(dead_code, reason = "what it declares counts")]
fn modest() -> io::Result<()> {
    Ok(())
}

#[test]
fn defaults_are_for_every_service_and_come_before_attributes() {
    let toml = "[defaults]\nthreshold = 4\njitter = 0.1\n[services.b]\nthreshold = 5\n";
    let registry = built(&["a", "b"], toml);
    let policy = |service| registry.breaker(service).unwrap().policy();
    let shared = Policy::new().threshold(4).jitter(0.1);
    assert_eq!(policy("a"), shared);
    assert_eq!(policy("b"), shared.threshold(5));
    assert_eq!(policy("modest"), shared);
}

#[test]
fn gates_in_defaults_are_left_out_of_services_that_have_nothing_to_gate() {
    let toml = "[defaults]
min_calls = 50
min_failures = 3
slow_call_rate = 0.5
[services.rated]
window = 100
failure_rate = 0.5
[services.slow]
window = \"1m\"
slow_call = \"2s\"
[services.plain]
";
    let registry = built(&["rated", "slow", "plain", "unmentioned"], toml);
    let policy = |service| registry.breaker(service).unwrap().policy();
    let rated = Policy::new().window(Window::Calls(100)).failure_rate(0.5);
    assert_eq!(policy("rated"), rated.min_calls(50).min_failures(3));
    let slow = Policy::new()
        .window(Window::Time(Duration::from_secs(60)))
        .slow_call(Duration::from_secs(2))
        .slow_call_rate(0.5);
    assert_eq!(policy("slow"), slow.min_calls(50));
    assert_eq!(policy("plain"), Policy::new());
    assert_eq!(policy("unmentioned"), Policy::new());
    assert_eq!(policy("modest"), Policy::new().threshold(3));
}

/// What was left out counts as soon as there is something to gate.
#[test]
fn a_gate_that_was_left_out_counts_once_a_live_change_brings_a_rate() {
    let registry = built(&["later"], "[defaults]\nmin_calls = 50\n");
    let breaker = registry.breaker("later").unwrap();
    let rate = |policy: Policy| policy.window(Window::Calls(100)).failure_rate(0.5);
    breaker.update(rate).unwrap();
    assert_eq!(breaker.policy(), rate(Policy::new()).min_calls(50));
    let refused = breaker.update(|policy| policy.window(Window::Calls(40)));
    assert_eq!(refused.unwrap_err().key().name(), "min_calls");
    breaker.clear_update();
    assert_eq!(breaker.policy(), Policy::new());
}

#[test]
fn defaults_that_contradict_a_service_name_it_and_their_own_line() {
    let toml = "[defaults]\nmin_calls = 50\n\n[services.few]\nwindow = 10\nfailure_rate = 0.5\n";
    let said = refused(Registry::builder().declare("few").config_toml(toml));
    let expected = "<config_toml>:2: [defaults] min_calls: service `few`: `min_calls` is larger \
                    than the count window, so no rate could ever be judged (`window` is 10 at \
                    <config_toml>:5, `failure_rate` is 0.5 at <config_toml>:6)";
    let about: Vec<_> = said.iter().filter(|line| line.contains("`few`")).collect();
    assert_eq!(about, [expected]);
}

#[test]
fn a_service_that_nobody_declares_is_warned_of_and_its_table_is_checked() {
    let builder = Registry::builder().config_toml("\n[services.of-another-program]\nprobes = 2\n");
    let (builder, heard) = hearing(builder, |event| match event {
        Event::Warning(Warning::Unused(error)) => Some(error.clone()),
        _ => None,
    });
    let registry = builder.build().unwrap();
    assert!(registry.breaker("of-another-program").is_none());
    registry.close();
    let heard = heard.to_the_end();
    let [error] = &*heard else {
        panic!("{heard:?}");
    };
    assert_eq!(error.service(), Some("of-another-program"));
    let expected = "<config_toml>:2: [services.of-another-program]: nobody declares this service";
    assert_eq!(error.to_string(), expected);

    let toml = "[services.of-another-program]\nprobes = 0\n";
    let said = refused(Registry::builder().config_toml(toml));
    assert_eq!(said.len(), 1, "{said:?}");
}
