//! Services whose name is made up at run time, after everything was set up.

use std::io;

use breakerbox::Event;
use breakerbox::Key;
use breakerbox::Policy;
use breakerbox::Registry;
use breakerbox::RegistryBuilder;
use breakerbox::Warning;
use breakerbox::Window;
use breakerbox::circuit_breaker;

use super::setting;
use crate::observers::hearing;

const LINE: u32 = line!() + 1;
#[circuit_breaker(service = tenant, threshold = 3, probes = 2)]
fn call(tenant: &str, fails: bool) -> io::Result<()> {
    if fails {
        return Err(io::Error::other("no"));
    }
    Ok(())
}

/// Makes calls in a registry of its own; gives what is written and was not in force.
fn unused(builder: RegistryBuilder, calls: impl FnOnce(&Registry)) -> Vec<String> {
    let (builder, heard) = hearing(builder, |event| match event {
        Event::Warning(Warning::Unused(error)) => Some(error.to_string()),
        _ => None,
    });
    let registry = builder.build().expect("nothing is wrong");
    let entered = registry.enter();
    calls(&registry);
    drop(entered);
    registry.close();
    heard.to_the_end()
}

#[test]
fn a_name_made_up_at_run_time_has_the_numbers_of_the_file() {
    let toml = "[defaults]\njitter = 0.5\n[services.tenant-of-the-file]\nthreshold = 7\n";
    let builder = Registry::builder().config_toml(toml);
    let warned = unused(builder, |registry| {
        for tenant in ["tenant-of-the-file", "of nobody"] {
            call(tenant, false).unwrap();
        }
        let policy = |service| registry.breaker(service).unwrap().policy();
        let attribute = Policy::new().threshold(3).probes(2).jitter(0.5);
        assert_eq!(policy("of nobody"), attribute);
        assert_eq!(policy("tenant-of-the-file"), attribute.threshold(7));
        let breaker = registry.breaker("tenant-of-the-file").unwrap();
        let from_file = "threshold = 7 (<config_toml>:4)";
        assert_eq!(setting(breaker, Key::Threshold), from_file);
        let from_attribute = format!("probes = 2 ({}:{LINE})", file!());
        assert_eq!(setting(breaker, Key::Probes), from_attribute);
    });
    assert_eq!(warned.len(), 1, "{warned:?}");
}

#[test]
fn the_breaker_that_names_beyond_the_limit_share_has_the_numbers_of_the_file() {
    let toml = "[defaults]\njitter = 0.5\n[services.\"breakerbox:overflow\"]\nthreshold = 9\n";
    let builder = Registry::builder()
        .config_toml(toml)
        .max_dynamic_services(0);
    let warned = unused(builder, |registry| {
        call("beyond", false).unwrap();
        let shared = registry.breaker("breakerbox:overflow").unwrap();
        let expected = Policy::new().threshold(9).probes(2).jitter(0.5);
        assert_eq!(shared.policy(), expected);
    });
    assert_eq!(warned, [""; 0]);
}

#[test]
fn a_declared_name_takes_the_rest_of_the_numbers_from_the_first_site_that_calls_it() {
    let builder = Registry::builder()
        .declare("named")
        .declare_with("numbered", Policy::new().jitter(0.25))
        .config_toml("[services.named]\nthreshold = 7\n[services.numbered]\njitter = 0.5\n");
    let warned = unused(builder, |registry| {
        let policy = |service| registry.breaker(service).unwrap().policy();
        assert_eq!(policy("named"), Policy::new().threshold(7));
        assert_eq!(policy("numbered"), Policy::new().jitter(0.25));
        call("named", false).unwrap();
        call("numbered", false).unwrap();
        assert_eq!(policy("named"), Policy::new().threshold(7).probes(2));
        let numbered = Policy::new().threshold(3).probes(2).jitter(0.25);
        assert_eq!(policy("numbered"), numbered);
    });
    assert_eq!(warned, [""; 0]);
}

/// Nobody can refuse it any more, and no call may suffer: the word that does not fit is left
/// out and told.
#[test]
fn a_late_site_that_contradicts_the_file_is_guarded_without_the_contradiction() {
    let builder = Registry::builder()
        .declare("against")
        .config_toml("[services.against]\nclose_after = 4\njitter = 0.5\n");
    let warned = unused(builder, |registry| {
        for _ in 0..3 {
            call("against", false).unwrap();
        }
        let policy = registry.breaker("against").unwrap().policy();
        assert_eq!(policy, Policy::new().threshold(3).probes(2).jitter(0.5));
        // The same file is as right as it was before.
        assert_eq!(registry.reload().unwrap().changes(), []);
        assert_eq!(registry.breaker("against").unwrap().policy(), policy);
    });
    let expected = format!(
        "<config_toml>:2: [services.against] close_after: `close_after` is larger than `probes`, \
         so a round could never close the circuit (`probes` is 2 at {}:{LINE}); it is left out",
        file!()
    );
    // Once, and not again when the file is read again.
    assert_eq!(warned, [expected]);
}

/// Nobody declares it, so nobody has judged its table with what it is put on.
#[test]
fn a_table_of_an_undeclared_service_that_contradicts_itself_is_left_out_where_it_does() {
    let toml = "[services.a-late-tenant]\nmin_calls = 3\nwindow = 20\nthreshold = 30\n";
    let builder = Registry::builder().config_toml(toml);
    let warned = unused(builder, |registry| {
        call("a-late-tenant", false).unwrap();
        let policy = registry.breaker("a-late-tenant").unwrap().policy();
        assert_eq!(policy.check(), Ok(()));
        let expected = Policy::new()
            .window(Window::Calls(20))
            .threshold(3)
            .probes(2);
        assert_eq!(policy, expected);
    });
    assert_eq!(warned.len(), 3, "{warned:?}");
}
