//! Reading the configuration again, on demand.

use std::io;
use std::time::Duration;

use breakerbox::Change;
use breakerbox::Event;
use breakerbox::Key;
use breakerbox::Policy;
use breakerbox::Registry;
use breakerbox::State;
use breakerbox::Window;
use breakerbox::circuit_breaker;

use super::Folder;
use super::setting;
use super::with_path;
use crate::observers::hearing;

#[circuit_breaker(service = tenant, threshold = 3, probes = 2)]
fn call(tenant: &str, fails: bool) -> io::Result<()> {
    if fails {
        return Err(io::Error::other("no"));
    }
    Ok(())
}

#[circuit_breaker(service = "never called and reloaded", threshold = 3)]
#[expect(dead_code, reason = "what it declares counts")]
fn never_called() -> io::Result<()> {
    Ok(())
}

fn said(changes: &[Change]) -> Vec<String> {
    changes.iter().map(ToString::to_string).collect()
}

#[test]
fn what_has_changed_is_in_force_and_is_told() {
    let folder = Folder::new();
    let path = folder.write("a.toml", "[services.reloaded]\nthreshold = 3\nprobes = 2\n");
    let builder = Registry::builder().declare("reloaded").config_file(&path);
    let (builder, heard) = hearing(builder, |event| match event {
        Event::Reloaded(reloaded) => Some(reloaded.clone()),
        _ => None,
    });
    let registry = builder.build().unwrap();
    let breaker = registry.breaker("reloaded").unwrap();

    folder.write(
        "a.toml",
        "[services.reloaded]\nthreshold = 4\nwindow = 100\n\n\
         [services.\"never called and reloaded\"]\ncooldown = \"9s\"\n",
    );
    let reloaded = registry.reload().unwrap();
    let expected = [
        "never called and reloaded: cooldown 60s -> 9s (FILE:6)",
        "reloaded: threshold 3 -> 4 (FILE:2)",
        "reloaded: window (none) -> 100 (FILE:3)",
        "reloaded: min_calls (none) -> 20 (default)",
        "reloaded: probes 2 -> 1 (default)",
        "reloaded: probe_concurrency 2 -> 1 (default)",
        "reloaded: close_after 2 -> 1 (default)",
    ]
    .map(|line| with_path(line, &path));
    assert_eq!(said(reloaded.changes()), expected);
    assert_eq!(heard.next(), reloaded);
    let policy = Policy::new().threshold(4).window(Window::Calls(100));
    assert_eq!(breaker.policy(), policy);
    let other = registry.breaker("never called and reloaded").unwrap();
    assert_eq!(other.policy().get_cooldown(), Duration::from_secs(9));
}

#[test]
fn a_file_that_is_wrong_changes_nothing() {
    let folder = Folder::new();
    let good = "[services.kept]\nthreshold = 3\n[services.kept-too]\nthreshold = 3\n";
    let path = folder.write("a.toml", good);
    let registry = Registry::builder()
        .declare("kept")
        .declare("kept-too")
        .config_file(&path)
        .build()
        .unwrap();
    let policy = |service| registry.breaker(service).unwrap().policy();
    for (wrong, expected) in [
        (
            "[services.kept]\nthreshold = 4\n[services.kept-too]\nthreshold = 0\n",
            "FILE:4: [services.kept-too] threshold: `threshold = 0` would open the circuit before \
             any call: use 1 or more",
        ),
        (
            "[services.kept]\nthreshold = 4\nmin_failures = 3\n",
            "FILE:3: [services.kept] min_failures: `min_failures` gates `failure_rate` alone: add \
             that, or leave it out",
        ),
        (
            "[services.kept]\nthreshold = 4\n[",
            "FILE:3: this is not TOML: ",
        ),
        (
            "[services.kept]\nthreshold = 4\n[services.ketp-too]\n",
            "FILE:3: [services.ketp-too]: nobody declares this service: did you mean `kept-too`?",
        ),
    ] {
        folder.write("a.toml", wrong);
        let error = registry.reload().unwrap_err();
        assert_eq!(error.problems().len(), 1, "{error}");
        let said = error.to_string();
        let expected = with_path(expected, &path);
        assert!(said.starts_with(&expected), "{said}\nnot {expected}");
        for service in ["kept", "kept-too"] {
            assert_eq!(policy(service), Policy::new().threshold(3));
        }
    }
    std::fs::remove_file(&path).unwrap();
    assert!(registry.reload().is_err());
    assert_eq!(policy("kept"), Policy::new().threshold(3));
    folder.write("a.toml", good);
    assert_eq!(registry.reload().unwrap().changes(), []);
}

#[test]
fn state_counts_code_and_live_changes_stay() {
    let folder = Folder::new();
    let path = folder.write("a.toml", "[services.lively]\nthreshold = 9\njitter = 0.5\n");
    let registry = Registry::builder()
        .declare_with("lively", Policy::new().jitter(0.25))
        .config_file(&path)
        .build()
        .unwrap();
    let breaker = registry.breaker("lively").unwrap();
    breaker.update(|policy| policy.probes(2)).unwrap();
    for _ in 0..3 {
        breaker.try_acquire().unwrap().failure();
    }
    folder.write(
        "a.toml",
        "[services.lively]\nthreshold = 4\njitter = 0.75\nprobes = 5\ncooldown = \"7s\"\n",
    );
    let reloaded = registry.reload().unwrap();
    let keys: Vec<_> = reloaded.changes().iter().map(|change| change.key).collect();
    assert_eq!(keys, [Key::Threshold, Key::Cooldown]);
    assert_eq!(breaker.snapshot().consecutive_failures, 3);
    assert_eq!(setting(breaker, Key::Jitter), "jitter = 0.25 (code)");
    assert_eq!(setting(breaker, Key::Probes), "probes = 2 (live change)");
    breaker.try_acquire().unwrap().failure();
    assert_eq!(breaker.state(), State::Open);
    let until = breaker.snapshot().retry_after.unwrap();
    // With its jitter.
    assert!(until < Duration::from_secs(9));
}

/// A live change may lean on the file: neither is taken away from the other.
#[test]
fn a_file_that_would_contradict_a_live_change_is_refused() {
    let folder = Folder::new();
    let path = folder.write("a.toml", "[services.leaning]\nwindow = 100\n");
    let registry = Registry::builder()
        .declare("leaning")
        .config_file(&path)
        .build()
        .unwrap();
    let breaker = registry.breaker("leaning").unwrap();
    breaker.update(|policy| policy.failure_rate(0.5)).unwrap();
    folder.write("a.toml", "[services.leaning]\nthreshold = 3\n");
    let error = registry.reload().unwrap_err().to_string();
    let expected = "live change: service `leaning`: `failure_rate` needs a window to look back on: \
                    add `window = \"60s\"` or `window = 100`";
    assert_eq!(error, expected);
    let before = Policy::new().window(Window::Calls(100)).failure_rate(0.5);
    assert_eq!(breaker.policy(), before);
    breaker.clear_update();
    registry.reload().unwrap();
    assert_eq!(breaker.policy(), Policy::new().threshold(3));
}

/// Nor may a live change hide what will be wrong without it.
#[test]
fn a_file_that_is_right_only_with_a_live_change_is_refused() {
    let folder = Folder::new();
    let path = folder.write("a.toml", "[services.hiding]\nprobes = 2\n");
    let registry = Registry::builder()
        .declare("hiding")
        .config_file(&path)
        .build()
        .unwrap();
    let breaker = registry.breaker("hiding").unwrap();
    breaker.update(|policy| policy.probes(5)).unwrap();
    folder.write("a.toml", "[services.hiding]\nprobes = 2\nclose_after = 3\n");
    assert_eq!(registry.reload().unwrap_err().problems().len(), 1);
    breaker.clear_update();
    assert_eq!(breaker.policy(), Policy::new().probes(2));
}

#[test]
fn breakers_of_names_made_up_at_run_time_change_as_well() {
    let folder = Folder::new();
    let path = folder.write("a.toml", "");
    let registry = Registry::builder().config_file(&path).build().unwrap();
    let _entered = registry.enter();
    call("reloaded-tenant", false).unwrap();
    folder.write(
        "a.toml",
        "[defaults]\njitter = 0.5\n[services.reloaded-tenant]\nthreshold = 7\n",
    );
    registry.reload().unwrap();
    let policy = registry.breaker("reloaded-tenant").unwrap().policy();
    let expected = Policy::new().threshold(7).probes(2).jitter(0.5);
    assert_eq!(policy, expected);
    call("reloaded-tenant-2", false).unwrap();
    let next = registry.breaker("reloaded-tenant-2").unwrap().policy();
    assert_eq!(next, Policy::new().threshold(3).probes(2).jitter(0.5));
}

mod contradicting {
    use super::*;

    #[circuit_breaker(service = "reloaded twice", threshold = 3)]
    #[expect(dead_code, reason = "what it declares counts")]
    fn one() -> io::Result<()> {
        Ok(())
    }

    #[circuit_breaker(service = "reloaded twice", threshold = 4)]
    #[expect(dead_code, reason = "what it declares counts")]
    fn other() -> io::Result<()> {
        Ok(())
    }
}

/// Only a registry that settles all of them can be strict in this binary.
#[test]
fn a_strict_registry_refuses_a_file_that_no_longer_settles_a_contradiction() {
    let folder = Folder::new();
    let path = folder.path("a.toml");
    let plain = Registry::builder().build().unwrap();
    let mut services: Vec<_> = plain
        .conflicts()
        .iter()
        .map(|conflict| conflict.service().to_owned())
        .collect();
    services.dedup();
    let settled = |service: &String| {
        format!("[services.{service:?}]\nthreshold = 5\ncooldown = \"5s\"\nprobes = 1\n")
    };
    let all: String = services.iter().map(settled).collect();
    std::fs::write(&path, &all).unwrap();
    let builder = Registry::builder().strict().config_file(&path);
    let registry = builder.build().unwrap();
    let others = services
        .iter()
        .filter(|service| **service != "reloaded twice");
    std::fs::write(&path, others.map(settled).collect::<String>()).unwrap();
    let error = registry.reload().unwrap_err();
    assert_eq!(error.problems().len(), 1, "{error}");
    assert!(error.to_string().starts_with("service `reloaded twice`"));
    let policy = registry.breaker("reloaded twice").unwrap().policy();
    assert_eq!(policy.get_threshold(), Some(5));
}

#[test]
fn a_registry_that_has_nothing_to_read_can_be_reloaded() {
    let registry = Registry::builder().declare("bare").build().unwrap();
    assert_eq!(registry.reload().unwrap().changes(), []);
}
