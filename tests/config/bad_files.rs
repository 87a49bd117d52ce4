//! Files that are wrong, and all that is said about each: the line, the key, and what to
//! write instead.

use std::io;

use breakerbox::Registry;
use breakerbox::circuit_breaker;

use super::refused;

#[circuit_breaker(service = "fussy", probes = 2, cooldown = "90s")]
#[expect(dead_code, reason = "what it declares counts")]
fn call() -> io::Result<()> {
    Ok(())
}

const LINE: u32 = line!() - 6;

/// What is said about a file, with `<config_toml>` as `FILE` and the attribute above as
/// `ATTRIBUTE`.
#[track_caller]
fn says(toml: &str, expected: &[&str]) {
    let builder = Registry::builder()
        .declare("wrongly")
        .declare("wrong-too")
        .config_toml(toml);
    let attribute = format!("{}:{LINE}", file!());
    let said: Vec<_> = refused(builder)
        .iter()
        .map(|line| line.replace("<config_toml>", "FILE"))
        .map(|line| line.replace(&attribute, "ATTRIBUTE"))
        .collect();
    assert_eq!(said, expected, "{toml}");
}

/// One wrong value in a table of a service.
#[track_caller]
fn value_says(written: &str, expected: &str) {
    let key = written.split(' ').next().unwrap_or_default();
    let expected = format!("FILE:2: [services.wrongly] {key}: {expected}");
    says(&format!("[services.wrongly]\n{written}\n"), &[&expected]);
}

/// K8
#[test]
fn values_of_the_wrong_kind_are_told_what_to_write() {
    for (written, expected) in [
        (
            "threshold = 0",
            "`threshold = 0` would open the circuit before any call: use 1 or more",
        ),
        ("threshold = -1", "`threshold` cannot be negative"),
        ("threshold = 524288", "`threshold` can be at most 524287"),
        (
            "threshold = 4294967296",
            "`4294967296` is too large for `threshold`",
        ),
        (
            "threshold = 99999999999999999999999999",
            "`99999999999999999999999999` is too large for `threshold`",
        ),
        (
            "threshold = \"5\"",
            "`threshold` is a number: write `threshold = 5` without quotes",
        ),
        ("threshold = 5.0", "`threshold` is a whole number"),
        (
            "threshold = true",
            "`threshold` is a whole number, such as `threshold = 5`",
        ),
        (
            "threshold = [5]",
            "`threshold` is a whole number, such as `threshold = 5`",
        ),
        (
            "threshold = 2024-01-01",
            "`threshold` is a whole number, such as `threshold = 5`",
        ),
        (
            "cooldown = 60",
            "`60` has no unit: did you mean `cooldown = \"60s\"` or `cooldown = \"60ms\"`?",
        ),
        (
            "cooldown = \"60\"",
            "`60` has no unit: did you mean `60s` or `60ms`?",
        ),
        ("cooldown = -1", "a duration cannot be negative"),
        (
            "cooldown = 1.5",
            "`cooldown` is a duration, such as `cooldown = \"60s\"` or `cooldown = \"1m30s\"`",
        ),
        (
            "cooldown = \"1.5s\"",
            "no fractions in `1.5s`: write `1500ms`",
        ),
        (
            "cooldown = \"\"",
            "an empty duration: write for example `\"60s\"`",
        ),
        ("cooldown = \"0s\"", "`cooldown` must be longer than zero"),
        (
            "cooldown = \"1m 30s\"",
            "a duration has no spaces: write `\"1m30s\"`",
        ),
        (
            "cooldown = \"5 minutes\"",
            "unknown unit `minutes`: did you mean `5m`?",
        ),
        (
            "window = \"100\"",
            "a window in quotes has a unit: write `window = 100` for so many calls, or `window = \"100s\"`",
        ),
        ("window = 0", "`window = 0` looks back on nothing"),
        (
            "window = 0.5",
            "`window` is a duration or a number of calls, such as `window = \"60s\"` or `window = 100`",
        ),
        ("window = 1000001", "`window` can be at most 1000000 calls"),
        (
            "failure_rate = \"0.5\"",
            "`failure_rate` is a number: write `failure_rate = 0.5` without quotes",
        ),
        (
            "failure_rate = \"half\"",
            "`failure_rate` is a share, such as `failure_rate = 0.5` or `failure_rate = \"50%\"`",
        ),
        (
            "failure_rate = \"%\"",
            "`failure_rate` is a share, such as `failure_rate = 0.5` or `failure_rate = \"50%\"`",
        ),
        (
            "failure_rate = 50",
            "`failure_rate` is a share up to 1: did you mean `failure_rate = \"50%\"`?",
        ),
        (
            "failure_rate = 1",
            "`failure_rate` is a share: write `failure_rate = 1.0` or `failure_rate = \"100%\"`",
        ),
        (
            "failure_rate = 0",
            "`failure_rate` is a share above 0 and up to 1, such as 0.5",
        ),
        (
            "failure_rate = \"101%\"",
            "`failure_rate` is a share above 0 and up to 1, such as 0.5",
        ),
        (
            "failure_rate = nan",
            "`failure_rate` is a share above 0 and up to 1, such as 0.5",
        ),
        (
            "jitter = -0.1",
            "`jitter` is a share from 0 to 1, such as 0.1",
        ),
        (
            "backoff = \"2\"",
            "`backoff` is a factor, such as `backoff = 2`",
        ),
        (
            "backoff = 0.5",
            "`backoff` is a factor from 1 to 1000, such as 2",
        ),
        (
            "on_cancel = \"after\"",
            "`on_cancel` is one of `on_cancel = \"ignore\"`, `on_cancel = \"failure\"` and `on_cancel = \"after 2s\"`",
        ),
        (
            "on_cancel = \"after 2\"",
            "`2` has no unit: did you mean `2s` or `2ms`?",
        ),
        (
            "on_cancel = \"after 0s\"",
            "`after` must be longer than zero: or use `on_cancel = failure`",
        ),
        (
            "on_cancel = true",
            "`on_cancel` is one of `on_cancel = \"ignore\"`, `on_cancel = \"failure\"` and `on_cancel = \"after 2s\"`",
        ),
        (
            "shadow = \"true\"",
            "`shadow` is true or false, without quotes",
        ),
        ("shadow = 1", "`shadow` is true or false"),
        (
            "probes = 0",
            "`probes = 0` would keep the circuit open for ever: use 1 or more",
        ),
        ("max_keys = 0", "`max_keys` must be at least 1"),
        ("min_instances = 0", "`min_instances` must be at least 1"),
        ("min_instances = 65", "`min_instances` can be at most 64"),
        ("min_instances = -1", "`min_instances` cannot be negative"),
        (
            "min_instances = \"2\"",
            "`min_instances` is a number: write `min_instances = 2` without quotes",
        ),
        (
            "probe_wait = \"5\"",
            "`5` has no unit: did you mean `5s` or `5ms`?",
        ),
        (
            "min_instance = 2",
            "unknown key: did you mean `min_instances`?",
        ),
        (
            "probe_wiat = \"5ms\"",
            "unknown key: did you mean `probe_wait`?",
        ),
        ("treshold = 5", "unknown key: did you mean `threshold`?"),
        (
            "failure-rate = 5",
            "unknown key: did you mean `failure_rate`?",
        ),
        (
            "fails_on = 5",
            "unknown key: there are threshold, window, failure_rate, min_calls, min_failures, \
             slow_call, slow_call_rate, cooldown, backoff, max_cooldown, jitter, max_open_for, \
             probes, probe_concurrency, close_after, probe_failure_rate, probe_timeout, ramp, \
             on_cancel, shadow, max_keys, min_instances, probe_wait",
        ),
    ] {
        value_says(written, expected);
    }
}

#[test]
fn tables_that_are_none_and_tables_that_nobody_knows_are_told_what_to_write() {
    for (toml, expected) in [
        (
            "defaults = 3",
            "FILE:1: `defaults` is a table: write `[defaults]`",
        ),
        (
            "services = 3",
            "FILE:1: `services` is a table: write `[services.NAME]`",
        ),
        (
            "[[services]]",
            "FILE:1: `services` is a table: write `[services.NAME]`",
        ),
        (
            "[default]",
            "FILE:1: unknown table `default`: did you mean `defaults`?",
        ),
        (
            "[service.wrongly]",
            "FILE:1: unknown table `service`: did you mean `services`?",
        ),
        (
            "\n[wrongly]",
            "FILE:2: unknown table `wrongly`: did you mean `[services.wrongly]`?",
        ),
        (
            "threshold = 5",
            "FILE:1: `threshold` stands in no table: write it below `[defaults]` or \
             `[services.NAME]`",
        ),
        (
            "[something]",
            "FILE:1: unknown table `something`: there are `[defaults]` and `[services.NAME]`",
        ),
        (
            "[services]\nwrongly = 5",
            "FILE:2: [services.wrongly]: a service is a table: write `[services.wrongly]`",
        ),
        (
            "[services.wrongly.threshold]",
            "FILE:1: [services.wrongly] threshold: `threshold` is a whole number, such as \
             `threshold = 5`",
        ),
        (
            "[services.\"\"]",
            "FILE:1: [services.\"\"]: the name of a service cannot be empty",
        ),
        (
            "[services.\"a\\nb\"]",
            "FILE:1: [services.\"a\\nb\"]: the name of a service cannot have control characters",
        ),
        (
            "[services.wronly]",
            "FILE:1: [services.wronly]: nobody declares this service: did you mean `wrongly`? If \
             its name is made up at run time, name it with `declare`",
        ),
    ] {
        says(toml, &[expected]);
    }
}

/// Words of several places that are right each for itself.
#[test]
fn contradictions_are_told_with_all_places_that_take_part() {
    for (toml, expected) in [
        (
            "[services.wrongly]\nwindow = 10\nfailure_rate = 0.5\nmin_calls = 11",
            "FILE:4: [services.wrongly] min_calls: `min_calls` is larger than the count window, so \
             no rate could ever be judged (`window` is 10 at FILE:2)",
        ),
        (
            "[services.wrongly]\nwindow = 3",
            "FILE:2: [services.wrongly] window: `threshold` is larger than the count window, so it \
             could never be reached (`threshold` is 5 by default)",
        ),
        (
            "[services.wrongly]\nmin_calls = 11",
            "FILE:2: [services.wrongly] min_calls: `min_calls` gates rates alone: add \
             `failure_rate` or `slow_call`, or leave it out",
        ),
        (
            "[services.wrongly]\nfailure_rate = 0.1",
            "FILE:2: [services.wrongly] failure_rate: `failure_rate` needs a window to look back \
             on: add `window = \"60s\"` or `window = 100`",
        ),
        (
            "[services.wrongly]\nwindow = 10\nslow_call_rate = 0.5",
            "FILE:3: [services.wrongly] slow_call_rate: `slow_call_rate` needs `slow_call`: say how \
             long a slow call takes",
        ),
        (
            "[services.fussy]\nclose_after = 3",
            "FILE:2: [services.fussy] close_after: `close_after` is larger than `probes`, so a \
             round could never close the circuit (`probes` is 2 at ATTRIBUTE)",
        ),
        (
            "[services.fussy]\nmax_cooldown = \"1m\"",
            "FILE:2: [services.fussy] max_cooldown: `max_cooldown` is shorter than `cooldown` \
             (`cooldown` is 90s at ATTRIBUTE)",
        ),
    ] {
        says(toml, &[expected]);
    }
}

#[test]
fn everything_that_is_wrong_is_told_at_once_by_line() {
    says(
        "treshold = 1

[defaults]
cooldown = 60
jitter = \"10%\"

[services.wrongly]
threshold = -5
window = \"100\"
when = 2024-01-01

[services.wrong-to]
probes = 0

[services.fussy]
probes = 99999999999
",
        &[
            "FILE:1: unknown table `treshold`: there are `[defaults]` and `[services.NAME]`",
            "FILE:4: [defaults] cooldown: `60` has no unit: did you mean `cooldown = \"60s\"` or \
             `cooldown = \"60ms\"`?",
            "FILE:8: [services.wrongly] threshold: `threshold` cannot be negative",
            "FILE:9: [services.wrongly] window: a window in quotes has a unit: write `window = 100` \
             for so many calls, or `window = \"100s\"`",
            "FILE:10: [services.wrongly] when: unknown key: there are threshold, window, \
             failure_rate, min_calls, min_failures, slow_call, slow_call_rate, cooldown, backoff, \
             max_cooldown, jitter, max_open_for, probes, probe_concurrency, close_after, \
             probe_failure_rate, probe_timeout, ramp, on_cancel, shadow, max_keys, \
             min_instances, probe_wait",
            "FILE:12: [services.wrong-to]: nobody declares this service: did you mean `wrong-too`? \
             If its name is made up at run time, name it with `declare`",
            "FILE:13: [services.wrong-to] probes: `probes = 0` would keep the circuit open for \
             ever: use 1 or more",
            "FILE:16: [services.fussy] probes: `99999999999` is too large for `probes`",
        ],
    );
    // Contradictions of one table, and of several.
    says(
        "[services.wrongly]
close_after = 4
probes = 3
min_failures = 2
[services.fussy]
close_after = 3
max_cooldown = \"1m\"
",
        &[
            "FILE:2: [services.wrongly] close_after: `close_after` is larger than `probes`, so a \
             round could never close the circuit (`probes` is 3 at FILE:3)",
            "FILE:4: [services.wrongly] min_failures: `min_failures` gates `failure_rate` alone: \
             add that, or leave it out",
            "FILE:6: [services.fussy] close_after: `close_after` is larger than `probes`, so a \
             round could never close the circuit (`probes` is 2 at ATTRIBUTE)",
            "FILE:7: [services.fussy] max_cooldown: `max_cooldown` is shorter than `cooldown` \
             (`cooldown` is 90s at ATTRIBUTE)",
        ],
    );
}

/// What goes with a value that could not be understood nobody knows.
#[test]
fn a_table_with_a_mistake_is_not_searched_for_contradictions() {
    says(
        "[services.wrongly]\nwindow = \"60\"\nfailure_rate = 0.5\n[services.fussy]\nclose_after = 3\n",
        &[
            "FILE:2: [services.wrongly] window: a window in quotes has a unit: write `window = 60` \
             for so many calls, or `window = \"60s\"`",
            "FILE:5: [services.fussy] close_after: `close_after` is larger than `probes`, so a \
             round could never close the circuit (`probes` is 2 at ATTRIBUTE)",
        ],
    );
}

#[test]
fn every_mistake_of_syntax_is_told_and_what_can_be_read_beside_them() {
    says(
        "[services.wrongly]
cooldown = 60s
threshold = 5
threshold = 6
probes = = 3
treshold = 5
[services.fussy
[services.wrong-too]
jitter = \"10%
backoff = 0
",
        &[
            "FILE:2: this is not TOML: string values must be quoted, expected literal string",
            "FILE:4: this is not TOML: duplicate key",
            "FILE:5: this is not TOML: extra `=`, expected nothing",
            "FILE:6: [services.wrongly] treshold: unknown key: did you mean `threshold`?",
            "FILE:7: this is not TOML: unclosed table, expected `]`",
            "FILE:9: this is not TOML: invalid basic string, expected `\"`",
            "FILE:10: [services.wrong-too] backoff: `backoff` is a factor from 1 to 1000, such as 2",
        ],
    );
}

#[test]
fn wrong_names_and_numbers_of_code_are_told_with_those_of_the_file() {
    use breakerbox::Policy;
    let builder = Registry::builder()
        .config_toml("[services.wrongly]\nthreshold = 0\n[services.other]\nprobes = 3\n")
        .declare("a\nb")
        .declare_with("other", Policy::new().probes(2).close_after(3))
        .declare("wrongly");
    let expected = [
        "service \"a\\nb\": the name of a service cannot have control characters",
        "service \"other\": `close_after` is larger than `probes`, so a round could never close \
         the circuit",
        "<config_toml>:2: [services.wrongly] threshold: `threshold = 0` would open the circuit \
         before any call: use 1 or more",
    ];
    assert_eq!(refused(builder), expected);
}

/// A value is judged also where a higher place has another.
#[test]
fn a_wrong_value_is_told_though_it_would_not_be_in_force() {
    use breakerbox::Policy;
    let builder = Registry::builder()
        .declare_with("wrongly", Policy::new().threshold(3))
        .config_toml("[services.wrongly]\nthreshold = 0\n");
    assert_eq!(refused(builder).len(), 1);
}
