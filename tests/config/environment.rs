//! Variables of the environment. No safe program can set its own, so these run in a process
//! of their own.

use std::any;
use std::env;
use std::ffi::OsString;
use std::process::Command;

use breakerbox::Key;
use breakerbox::Policy;
use breakerbox::Registry;
use breakerbox::RegistryBuilder;
use breakerbox::State;
use breakerbox::Window;

use super::refused;
use super::setting;

const SCENARIO: &str = "TESTS_OF_CONFIG";

/// Runs the calling test in a process of its own, with these variables.
#[track_caller]
fn with_variables<F: FnOnce()>(variables: &[(&str, &str)], scenario: F) {
    let variables = variables.iter();
    let variables = variables.map(|(name, value)| (OsString::from(name), OsString::from(value)));
    with_any_variables(variables.collect(), scenario);
}

#[track_caller]
fn with_any_variables<F: FnOnce()>(variables: Vec<(OsString, OsString)>, scenario: F) {
    let name = any::type_name::<F>();
    let name = name.split_once("::").map_or(name, |(_, rest)| rest);
    let name = name.strip_suffix("::{{closure}}").unwrap_or(name);
    if env::var(SCENARIO).is_ok_and(|wanted| wanted == name) {
        scenario();
        return;
    }
    let played = Command::new(env::current_exe().expect("the path of this binary"))
        .args([name, "--exact", "--nocapture"])
        .env(SCENARIO, name)
        .envs(variables)
        .output()
        .expect("this binary runs again");
    let out = String::from_utf8_lossy(&played.stdout);
    let err = String::from_utf8_lossy(&played.stderr);
    assert!(
        played.status.success() && out.contains("1 passed"),
        "{name}: {}\n{out}\n{err}",
        played.status
    );
}

fn policy(builder: RegistryBuilder, service: &str) -> Policy {
    let registry = builder.build().expect("nothing is wrong");
    let breaker = registry.breaker(service).expect("it is declared");
    breaker.policy()
}

#[test]
fn the_environment_comes_between_file_and_code() {
    let variables = [
        ("BOX_PAID_THRESHOLD", "3"),
        ("BOX_PAID_PROBES", "3"),
        ("BOX_DEFAULTS_COOLDOWN", "30s"),
        ("BOX_DEFAULTS_JITTER", "0.5"),
        ("BOX_PAID_JITTER", "25%"),
    ];
    with_variables(&variables, || {
        let toml = "[services.paid]\nthreshold = 2\ncooldown = \"20s\"\nbackoff = 2\n";
        let builder = || Registry::builder().config_toml(toml).env_prefix("BOX");
        let code = Policy::new().probes(4);
        let registry = builder().declare_with("paid", code).build().unwrap();
        let breaker = registry.breaker("paid").unwrap();
        for (key, expected) in [
            (Key::Threshold, "threshold = 3 (BOX_PAID_THRESHOLD)"),
            (Key::Cooldown, "cooldown = 30s (BOX_DEFAULTS_COOLDOWN)"),
            (Key::Jitter, "jitter = 0.25 (BOX_PAID_JITTER)"),
            (Key::Backoff, "backoff = 2 (<config_toml>:4)"),
            (Key::Probes, "probes = 4 (code)"),
        ] {
            assert_eq!(setting(breaker, key), expected);
        }
        breaker.update(|policy| policy.threshold(1)).unwrap();
        breaker.try_acquire().unwrap().failure();
        assert_eq!(breaker.state(), State::Open);
        assert_eq!(registry.reload().unwrap().changes(), []);
        // Nobody has asked for it.
        let plain = Registry::builder().declare("paid");
        assert_eq!(policy(plain, "paid"), Policy::new());
    });
}

#[test]
fn values_are_written_without_quotes() {
    let variables = [
        ("V_A_WINDOW", "100"),
        ("V_A_FAILURE_RATE", "12.5%"),
        ("V_A_MIN_CALLS", "7"),
        ("V_B_WINDOW", "1m30s"),
        ("V_B_SLOW_CALL", "2s"),
        ("V_B_SLOW_CALL_RATE", "0.5"),
        ("V_B_ON_CANCEL", "after 2s"),
        ("V_C_SHADOW", "true"),
        ("V_C_BACKOFF", "2"),
        ("V_C_ON_CANCEL", " failure "),
        ("V_C_MIN_INSTANCES", "2"),
        ("V_C_PROBE_WAIT", "20ms"),
    ];
    with_variables(&variables, || {
        let builder = || {
            let builder = Registry::builder().env_prefix("V");
            builder.declare("a").declare("b").declare("c")
        };
        let seconds = std::time::Duration::from_secs;
        let a = Policy::new().window(Window::Calls(100)).failure_rate(0.125);
        assert_eq!(policy(builder(), "a"), a.min_calls(7));
        let b = Policy::new()
            .window(Window::Time(seconds(90)))
            .slow_call(seconds(2))
            .slow_call_rate(0.5)
            .on_cancel(breakerbox::OnCancel::After(seconds(2)));
        assert_eq!(policy(builder(), "b"), b);
        let c = Policy::new()
            .shadow(true)
            .backoff(2.0)
            .on_cancel(breakerbox::OnCancel::Failure)
            .min_instances(2)
            .probe_wait(std::time::Duration::from_millis(20));
        assert_eq!(policy(builder(), "c"), c);
    });
}

#[test]
fn names_of_services_are_written_as_variables_can() {
    let variables = [
        ("N_S3_EU_WEST_1_THRESHOLD", "2"),
        ("n_Gr____e_Threshold", "3"),
        ("N__LEADING_THRESHOLD", "4"),
    ];
    with_variables(&variables, || {
        for (service, expected) in [("s3.eu-west-1", 2), ("größe", 3), (".leading", 4)] {
            // The others are of no service then, so all are declared.
            let builder = Registry::builder()
                .env_prefix("N_")
                .declare("s3.eu-west-1")
                .declare("größe")
                .declare(".leading");
            let found = policy(builder, service);
            assert_eq!(found, Policy::new().threshold(expected), "{service}");
        }
    });
}

#[test]
fn of_several_services_that_a_variable_could_mean_it_means_the_longest() {
    let variables = [
        ("L_PAY_PROBE_FAILURE_RATE", "0.5"),
        ("L_PAY_THRESHOLD", "7"),
        ("M_PAY_PROBE_FAILURE_RATE", "0.5"),
    ];
    with_variables(&variables, || {
        let both = || {
            let builder = Registry::builder().declare("pay");
            let windowed = Policy::new().window(Window::Calls(100));
            builder.declare_with("pay-probe", windowed).env_prefix("L")
        };
        assert_eq!(policy(both(), "pay"), Policy::new().threshold(7));
        let longer = Policy::new().window(Window::Calls(100)).failure_rate(0.5);
        assert_eq!(policy(both(), "pay-probe"), longer);
        let one = Registry::builder().declare("pay").env_prefix("M");
        assert_eq!(policy(one, "pay"), Policy::new().probe_failure_rate(0.5));
    });
}

#[test]
fn variables_that_are_wrong_are_told_all_at_once() {
    let variables = [
        ("W_CHARGING_THRESHOLD", "five"),
        ("W_CHARGING_COOLDOWN", "60"),
        ("W_CHARGING_WINDOW", ""),
        ("W_CHARGING_TRESHOLD", "5"),
        ("W_CHRAGING_PROBES", "2"),
        ("W_CHRAGING_TRESHOLD", "5"),
        ("W_DEFAULT_PROBES", "5"),
        ("W_REDIS_URL", "redis://"),
        ("W_CHARGING", "5"),
        ("W_SHIP_IN_PROBES", "5"),
        ("W_CHARGING_JITTER", "2"),
        ("w_charging_probes", "2"),
        ("W_CHARGING_PROBES", "3"),
        ("W_", "3"),
        ("W", "3"),
        ("WHATEVER_CHARGING_PROBES", "3"),
    ];
    with_variables(&variables, || {
        let builder = Registry::builder()
            .declare("charging")
            .declare("ship-in")
            .declare("ship_in")
            .env_prefix("W");
        let nothing = "it means nothing: a variable is `W_SERVICE_KEY`, or `W_DEFAULTS_KEY`";
        let expected = [
            ("W_", nothing),
            ("W_CHARGING", nothing),
            (
                "W_CHARGING_COOLDOWN",
                "`60` has no unit: did you mean `60s` or `60ms`?",
            ),
            (
                "W_CHARGING_JITTER",
                "`jitter` is a share up to 1: did you mean `2%`?",
            ),
            (
                "W_CHARGING_THRESHOLD",
                "`threshold` is a whole number, such as `5`",
            ),
            (
                "W_CHARGING_TRESHOLD",
                "it means nothing: did you mean `W_CHARGING_THRESHOLD`?",
            ),
            (
                "W_CHARGING_WINDOW",
                "it is empty: write a value for `window`, or unset it",
            ),
            (
                "W_CHRAGING_PROBES",
                "it means nothing: did you mean `W_CHARGING_PROBES`?",
            ),
            (
                "W_CHRAGING_TRESHOLD",
                "it means nothing: did you mean `W_CHARGING_THRESHOLD`?",
            ),
            (
                "W_DEFAULT_PROBES",
                "it means nothing: did you mean `W_DEFAULTS_PROBES`?",
            ),
            ("W_REDIS_URL", nothing),
            (
                "W_SHIP_IN_PROBES",
                "it could mean each of `ship-in` and `ship_in`: use a file",
            ),
            ("w_charging_probes", "it is the same as `W_CHARGING_PROBES`"),
        ];
        let expected = expected.map(|(variable, message)| format!("{variable}: {message}"));
        assert_eq!(refused(builder), expected);
    });
}

#[test]
fn contradictions_name_the_variable_and_the_service() {
    let variables = [("C_STRICT_MIN_CALLS", "50")];
    with_variables(&variables, || {
        let toml = "[services.strict]\nwindow = 10\nfailure_rate = 0.5\n";
        let builder = Registry::builder().declare("strict").config_toml(toml);
        let expected = "C_STRICT_MIN_CALLS: service `strict`: `min_calls` is larger than the count \
                        window, so no rate could ever be judged (`window` is 10 at \
                        <config_toml>:2)";
        assert_eq!(refused(builder.env_prefix("C")), [expected]);
    });
}

/// An environment is often for more services than a file has tables.
#[test]
fn a_service_that_only_the_file_names_can_be_meant() {
    let variables = [("F_OF_THE_FILE_THRESHOLD", "5")];
    with_variables(&variables, || {
        let toml = "[services.of-the-file]\nprobes = 2\n";
        let builder = Registry::builder().config_toml(toml).env_prefix("F");
        assert!(builder.build().is_ok());
    });
}

#[test]
fn a_service_that_is_called_defaults_cannot_be_meant() {
    let variables = [("D_DEFAULTS_PROBES", "5")];
    with_variables(&variables, || {
        let builder = Registry::builder().declare("defaults").env_prefix("D");
        let expected = "D_DEFAULTS_PROBES: it could mean each of `defaults` and `[defaults]`: use a \
                        file";
        assert_eq!(refused(builder), [expected]);
    });
}

#[test]
fn a_prefix_that_no_variable_can_have_is_refused() {
    for prefix in ["", "_", "a b", "é"] {
        let expected = format!(
            "in code: `env_prefix({prefix:?})`: a prefix has letters, digits and `_`, such as \
             `BREAKERBOX`"
        );
        assert_eq!(refused(Registry::builder().env_prefix(prefix)), [expected]);
    }
}

#[cfg(unix)]
#[test]
fn what_is_not_utf8_is_told() {
    use std::os::unix::ffi::OsStringExt;

    let os = |bytes: &[u8]| OsString::from_vec(bytes.to_vec());
    let variables = vec![
        (os(b"U_PLAIN_PROBES"), os(b"\xff")),
        (os(b"U_PL\xff_PROBES"), os(b"2")),
    ];
    with_any_variables(variables, || {
        let said = refused(Registry::builder().declare("plain").env_prefix("U"));
        assert_eq!(said[0], "U_PLAIN_PROBES: its value is not UTF-8");
        assert!(said[1].starts_with("U_PL\u{fffd}_PROBES: it means nothing"));
        assert_eq!(said.len(), 2);
    });
}
