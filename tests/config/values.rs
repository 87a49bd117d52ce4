//! Every key, as a file writes it.

use std::time::Duration;

use breakerbox::OnCancel;
use breakerbox::Policy;
use breakerbox::Window;

use super::built;

const NEW: Policy = Policy::new();

const fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

#[test]
fn every_key_is_read_in_each_way_in_which_it_can_be_written() {
    let windowed = NEW.window(Window::Time(seconds(60)));
    let rate = windowed.failure_rate(0.5);
    let slow = windowed.slow_call(seconds(1));
    for (toml, expected) in [
        ("threshold = 3", NEW.threshold(3)),
        ("threshold = +3", NEW.threshold(3)),
        ("threshold = 1_0", NEW.threshold(10)),
        ("threshold = 0x10", NEW.threshold(16)),
        ("window = \"60s\"", windowed),
        ("window = 100", NEW.window(Window::Calls(100))),
        ("window = \"1m\"\nfailure_rate = 0.5", rate),
        ("window = \"1m\"\nfailure_rate = \"50%\"", rate),
        (
            "window = \"1m\"\nfailure_rate = \"12.5%\"",
            windowed.failure_rate(0.125),
        ),
        (
            "window = \"1m\"\nfailure_rate = 1.0",
            windowed.failure_rate(1.0),
        ),
        (
            "window = \"1m\"\nfailure_rate = 0.5\nmin_calls = 7",
            rate.min_calls(7),
        ),
        (
            "window = \"1m\"\nfailure_rate = 0.5\nmin_failures = 3",
            rate.min_failures(3),
        ),
        (
            "slow_call = \"1s500ms\"",
            NEW.slow_call(Duration::from_millis(1_500)),
        ),
        (
            "window = \"1m\"\nslow_call = \"1s\"\nslow_call_rate = 0.3",
            slow.slow_call_rate(0.3),
        ),
        ("cooldown = \"1m30s\"", NEW.cooldown(seconds(90))),
        ("backoff = 2", NEW.backoff(2.0)),
        ("backoff = 1.5", NEW.backoff(1.5)),
        ("max_cooldown = \"1h\"", NEW.max_cooldown(seconds(3_600))),
        ("jitter = 0", NEW.jitter(0.0)),
        ("jitter = \"10%\"", NEW.jitter(0.1)),
        ("max_open_for = \"1d\"", NEW.max_open_for(seconds(86_400))),
        ("probes = 3", NEW.probes(3)),
        (
            "probes = 3\nprobe_concurrency = 2",
            NEW.probes(3).probe_concurrency(2),
        ),
        ("close_after = 2", NEW.close_after(2)),
        ("probe_failure_rate = \"34%\"", NEW.probe_failure_rate(0.34)),
        ("probe_timeout = \"5s\"", NEW.probe_timeout(seconds(5))),
        ("ramp = \"30s\"", NEW.ramp(seconds(30))),
        ("on_cancel = \"ignore\"", NEW.on_cancel(OnCancel::Ignore)),
        ("on_cancel = \"failure\"", NEW.on_cancel(OnCancel::Failure)),
        (
            "on_cancel = \"after 2s\"",
            NEW.on_cancel(OnCancel::After(seconds(2))),
        ),
        ("shadow = true", NEW.shadow(true)),
        ("shadow = false", NEW),
        ("max_keys = 10", NEW.max_keys(10)),
        // These are read without Redis, too: one file may serve many programs.
        ("min_instances = 64", NEW.min_instances(64)),
        (
            "probe_wait = \"20ms\"",
            NEW.probe_wait(Duration::from_millis(20)),
        ),
        ("probe_wait = \"0s\"", NEW.probe_wait(Duration::ZERO)),
    ] {
        let registry = built(&["valued"], &format!("[services.valued]\n{toml}\n"));
        let policy = registry.breaker("valued").unwrap().policy();
        assert_eq!(policy, expected, "{toml}");
    }
}

#[test]
fn a_file_may_be_written_in_any_way_that_toml_knows() {
    for toml in [
        "[services.valued]\nthreshold = 3",
        "services.valued.threshold = 3",
        "services = { valued = { threshold = 3 } }",
        "[services]\nvalued.threshold = 3",
        "[services.\"valued\"]\r\n\"threshold\" = 3 # three\r\n",
        "\u{feff}[services.valued]\nthreshold = 3",
    ] {
        let registry = built(&["valued"], toml);
        let policy = registry.breaker("valued").unwrap().policy();
        assert_eq!(policy, NEW.threshold(3), "{toml}");
    }
}

#[test]
fn a_file_that_says_nothing_changes_nothing() {
    for toml in [
        "",
        "\n# nothing\n",
        "[defaults]\n[services]\n",
        "[services.valued]",
    ] {
        let policy = built(&["valued"], toml).breaker("valued").unwrap().policy();
        assert_eq!(policy, NEW, "{toml:?}");
    }
}

#[test]
fn a_service_may_have_any_name() {
    for name in ["größe", "a.b", "a \"b\" c", "x/y", "defaults", "services"] {
        let toml = format!("[services.{name:?}]\nthreshold = 3\n");
        let policy = built(&[name], &toml).breaker(name).unwrap().policy();
        assert_eq!(policy, NEW.threshold(3), "{name}");
    }
}

/// The example of `config_file`.
#[test]
fn the_example_of_the_documentation_is_right() {
    let toml = "# For every service, also where its attribute says something else.
[defaults]
cooldown = \"30s\"

[services.stripe]
window = \"1m\"          # or a number of calls: window = 100
failure_rate = \"50%\"   # or 0.5
min_calls = 50
on_cancel = \"after 2s\" # or \"ignore\", or \"failure\"
";
    let shown = include_str!("../../runtime/src/registry/builder.rs");
    let shown: String = shown
        .lines()
        .map(|line| line.trim().trim_start_matches("/// ").to_owned() + "\n")
        .collect();
    let shown = shown.replace("///\n", "\n");
    assert!(shown.contains(toml), "the example is another one");
    let policy = built(&["stripe"], toml).breaker("stripe").unwrap().policy();
    assert_eq!(policy.get_min_calls(), 50);
    assert_eq!(policy.get_cooldown(), seconds(30));
}
