//! Numbers that are changed while the processes run are changed for all.

use std::time::Duration;

use breakerbox::Event;
use breakerbox::Key;
use breakerbox::MemoryStore;
use breakerbox::Policy;
use breakerbox::Source;
use breakerbox::State;
use breakerbox::Warning;
use breakerbox::Window;

use crate::config::Folder;

use super::fleet::Backing;
use super::fleet::Process;
use super::fleet::on_each;

const POLICY: Policy = Policy::new()
    .threshold(50)
    .cooldown(Duration::from_secs(600));

impl Process {
    #[track_caller]
    fn has(&self, policy: Policy) {
        self.eventually("these numbers", || self.breaker.policy() == policy);
    }

    fn source(&self, key: Key) -> Source {
        let settings = self.breaker.snapshot().configuration;
        let setting = settings.iter().find(|setting| setting.key == key);
        setting.expect("it stands").source.clone()
    }

    /// How often this was said about a key.
    fn warnings(&self, key: &str) -> usize {
        self.count(|event| match event {
            Event::Warning(Warning::Unused(it)) => it.key() == Some(key),
            _ => false,
        })
    }
}

#[test]
fn a_live_change_of_one_process_is_one_of_all_and_of_those_that_start_later() {
    on_each(|backing| {
        let [a, b] = backing.processes(POLICY);
        a.breaker.update(|policy| policy.threshold(3)).unwrap();
        let changed = POLICY.threshold(3);
        assert_eq!(a.breaker.policy(), changed);
        b.has(changed);
        assert_eq!(b.source(Key::Threshold), Source::Live);
        assert_eq!(b.source(Key::Cooldown), Source::Code);
        b.eventually("it is told", || {
            b.count(|event| match event {
                Event::Configured { settings, .. } => {
                    settings.iter().any(|it| it.source == Source::Live)
                }
                _ => false,
            }) == 1
        });
        backing.start(POLICY).has(changed);
    });
}

/// DESIGN: a new threshold is judged at the next outcome.
#[test]
fn state_and_counts_of_all_stay_and_the_next_outcome_is_judged_by_the_new_numbers() {
    on_each(|backing| {
        let [a, b] = backing.processes(POLICY);
        a.fail_times(3);
        b.breaker.update(|policy| policy.threshold(4)).unwrap();
        a.has(POLICY.threshold(4));
        assert_eq!(a.breaker.state(), State::Closed);
        assert_eq!(a.breaker.snapshot().consecutive_failures, 3);
        a.fail();
        assert_eq!(a.breaker.state(), State::Open);
        // What is open stays so.
        b.breaker.update(|policy| policy.threshold(60)).unwrap();
        a.has(POLICY.threshold(60));
        assert_eq!(a.breaker.state(), State::Open);
    });
}

#[test]
fn live_changes_are_taken_back_for_all_by_whoever_does_that() {
    on_each(|backing| {
        let [a, b] = backing.processes(POLICY);
        a.breaker.update(|policy| policy.threshold(3)).unwrap();
        b.has(POLICY.threshold(3));
        assert!(b.breaker.clear_update());
        assert_eq!(b.breaker.policy(), POLICY);
        a.has(POLICY);
        assert_eq!(a.source(Key::Threshold), Source::Code);
        assert!(!a.breaker.clear_update());
        // What was taken back does not come back with the next change.
        a.breaker.update(|policy| policy.jitter(0.5)).unwrap();
        b.has(POLICY.jitter(0.5));
    });
}

#[test]
fn a_live_change_survives_the_loss_of_the_store() {
    on_each(|backing| {
        let [a, b] = backing.processes(POLICY);
        a.breaker.update(|policy| policy.threshold(30)).unwrap();
        b.has(POLICY.threshold(30));
        backing.forgets();
        let later = backing.start(POLICY);
        // Whatever is told next brings it back.
        b.fail();
        later.has(POLICY.threshold(30));
        assert_eq!(a.breaker.policy(), POLICY.threshold(30));
    });
}

#[test]
fn of_changes_of_two_processes_at_once_none_is_lost() {
    on_each(|backing| {
        let [a, b] = backing.processes(POLICY);
        for round in 1..=20 {
            a.breaker.update(|policy| policy.probes(round)).unwrap();
            let jitter = f64::from(round) / 20.0;
            b.breaker.update(|policy| policy.jitter(jitter)).unwrap();
            let both = POLICY.probes(round).jitter(jitter);
            a.has(both);
            b.has(both);
        }
    });
}

/// The echo of one comes while the next is in force.
#[test]
fn a_row_of_changes_is_never_undone_by_those_before() {
    on_each(|backing| {
        let [a, b] = backing.processes(POLICY);
        for threshold in 1..=300 {
            a.breaker
                .update(|policy| {
                    let before = policy.get_threshold();
                    assert_eq!(
                        before,
                        Some(if threshold == 1 { 50 } else { threshold - 1 })
                    );
                    policy.threshold(threshold)
                })
                .unwrap();
            assert_eq!(a.breaker.policy(), POLICY.threshold(threshold));
        }
        b.has(POLICY.threshold(300));
        assert_eq!(a.breaker.policy(), POLICY.threshold(300));
    });
}

#[test]
fn what_does_not_go_with_the_numbers_of_another_process_is_left_out_there() {
    on_each(|backing| {
        let a = backing.start(POLICY);
        let windowed = POLICY.window(Window::Calls(60));
        let b = backing.start(windowed);
        a.breaker
            .update(|policy| policy.threshold(70).probes(2))
            .unwrap();
        b.has(windowed.probes(2));
        assert_eq!(b.source(Key::Threshold), Source::Code);
        b.eventually("it is said", || b.warnings("threshold") == 1);
        // It is still one of the others, and said once.
        b.breaker.update(|policy| policy.jitter(0.5)).unwrap();
        a.has(POLICY.threshold(70).probes(2).jitter(0.5));
        assert_eq!(b.breaker.policy(), windowed.probes(2).jitter(0.5));
        a.breaker.update(|policy| policy.threshold(9)).unwrap();
        b.has(windowed.threshold(9).probes(2).jitter(0.5));
        assert_eq!(b.warnings("threshold"), 1);
        assert_eq!(a.warnings("threshold"), 0);
    });
}

#[test]
fn a_change_by_the_breaker_of_a_key_is_one_for_the_service_in_all_processes() {
    on_each(|backing| {
        let [a, b] = backing.processes(POLICY);
        let key = a.breaker.key("tenant");
        key.update(|policy| policy.threshold(3)).unwrap();
        b.has(POLICY.threshold(3));
        assert!(b.breaker.key("other").clear_update());
        a.has(POLICY);
        assert_eq!(key.policy(), POLICY);
    });
}

#[test]
fn numbers_that_are_refused_are_told_to_nobody() {
    on_each(|backing| {
        let [a, b] = backing.processes(POLICY);
        assert!(a.breaker.update(|policy| policy.threshold(0)).is_err());
        a.breaker.update(|policy| policy.probes(2)).unwrap();
        b.has(POLICY.probes(2));
        assert_eq!(b.warnings("threshold"), 0);
    });
}

/// It is made before anybody can be asked.
#[test]
fn a_change_that_is_made_before_the_store_is_found_is_told_when_it_is() {
    on_each(|backing| {
        let b = backing.start(POLICY);
        b.breaker.update(|policy| policy.jitter(0.5)).unwrap();
        let a = Process::start_alone(POLICY, |builder| builder.store(backing.store()));
        a.breaker.update(|policy| policy.probes(2)).unwrap();
        let both = POLICY.probes(2).jitter(0.5);
        a.has(both);
        b.has(both);
    });
}

/// A store in memory answers always: a process does not wait long for the last answers of a
/// server.
#[test]
fn a_change_that_is_made_just_before_the_end_of_a_process_is_told() {
    let backing = Backing::memory();
    let b = backing.start(POLICY);
    for threshold in 1..=10 {
        let a = backing.start(POLICY);
        a.breaker
            .update(|policy| policy.threshold(threshold))
            .unwrap();
        a.registry.close();
        b.has(POLICY.threshold(threshold));
    }
}

/// Each is in force where it was made; afterwards both are everywhere, and the store lost all
/// that it knew.
#[test]
fn changes_that_are_made_during_an_outage_do_not_vanish() {
    let backing = Backing::redis();
    let server = backing.server();
    let [a, b] = backing.processes(POLICY);
    a.breaker.update(|policy| policy.probes(3)).unwrap();
    b.has(POLICY.probes(3));
    server.kill();
    for process in [&a, &b] {
        process.eventually("the store is lost", || process.losses() >= process.finds());
    }
    a.breaker.update(|policy| policy.threshold(7)).unwrap();
    b.breaker.update(|policy| policy.jitter(0.5)).unwrap();
    assert_eq!(a.breaker.policy(), POLICY.probes(3).threshold(7));
    assert_eq!(b.breaker.policy(), POLICY.probes(3).jitter(0.5));
    server.restart();
    let all = POLICY.probes(3).threshold(7).jitter(0.5);
    a.has(all);
    b.has(all);
}

#[test]
fn a_process_that_shares_nothing_keeps_its_changes_to_itself() {
    let alone = Process::start_alone(POLICY, |builder| builder);
    alone.breaker.update(|policy| policy.threshold(3)).unwrap();
    let other = Process::start(POLICY, |builder| builder.store(MemoryStore::new()));
    assert_eq!(other.breaker.policy(), POLICY);
    assert_eq!(alone.breaker.policy(), POLICY.threshold(3));
}

/// What it writes for others, this version does not take from them.
#[test]
fn what_a_later_version_has_changed_is_left_out_and_kept_for_others() {
    let backing = Backing::redis();
    let server = backing.server();
    let key = "breakerbox:{shared}";
    server.command(&["HSET", key, "v", "1", "live", "9:mood=good threshold=7"]);
    let [a, b] = backing.processes(POLICY);
    a.has(POLICY.threshold(7));
    a.breaker.update(|policy| policy.jitter(0.5)).unwrap();
    b.has(POLICY.threshold(7).jitter(0.5));
    let lies = format!("{:?}", server.command(&["HGET", key, "live"]));
    assert!(lies.contains("threshold=7 jitter=0.5 mood=good"), "{lies}");
    for process in [&a, &b] {
        process.eventually("it is said", || process.warnings("mood") == 1);
    }
}

/// It was judged once, when it came.
#[test]
fn what_was_left_out_is_in_force_when_the_configuration_goes_with_it() {
    let backing = Backing::memory();
    let folder = Folder::new();
    let path = folder.write("a.toml", "[services.shared]\nwindow = 10\n");
    let a = backing.start(Policy::new());
    let b = Process::start(Policy::new(), |it| {
        it.store(backing.store()).config_file(&path)
    });
    a.breaker.update(|policy| policy.threshold(20)).unwrap();
    b.eventually("it is said", || b.warnings("threshold") == 1);
    assert_eq!(b.breaker.policy().get_threshold(), Some(5));
    folder.write("a.toml", "[services.shared]\nwindow = 100\n");
    b.registry.reload().unwrap();
    assert_eq!(b.breaker.policy().get_threshold(), Some(20));
    assert_eq!(b.source(Key::Threshold), Source::Live);
    folder.write("a.toml", "[services.shared]\nwindow = 200\n");
    b.registry.reload().unwrap();
    assert_eq!(b.breaker.policy().get_threshold(), Some(20));
    assert_eq!(b.warnings("threshold"), 1);
}
