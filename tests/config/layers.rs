//! attribute < TOML file < environment < code < live change, key by key.

use std::io;

use breakerbox::Key;
use breakerbox::Policy;
use breakerbox::Registry;
use breakerbox::Source;
use breakerbox::circuit_breaker;

use super::Folder;
use super::setting;

const LINE: u32 = line!() + 1;
#[circuit_breaker(service = "layered", threshold = 11, cooldown = "12s", probes = 2)]
fn call(fails: bool) -> io::Result<()> {
    if fails {
        return Err(io::Error::other("no"));
    }
    Ok(())
}

#[test]
fn each_key_is_shown_with_the_place_it_comes_from() {
    let folder = Folder::new();
    let path = folder.write(
        "breakerbox.toml",
        "[defaults]\nmax_keys = 13\n\n[services.layered]\ncooldown = \"14s\"\njitter = 0.25\n",
    );
    let registry = Registry::builder()
        .config_file(&path)
        .declare_with("layered", Policy::new().jitter(0.5).backoff(2.0))
        .build()
        .unwrap();
    let _entered = registry.enter();
    call(false).unwrap();
    let breaker = registry.breaker("layered").unwrap();
    breaker.update(|policy| policy.backoff(3.0)).unwrap();

    let file = path.display();
    let expected = [
        (
            Key::Threshold,
            format!("threshold = 11 ({}:{LINE})", file!()),
        ),
        (Key::Cooldown, format!("cooldown = 14s ({file}:5)")),
        (Key::MaxKeys, format!("max_keys = 13 ({file}:2)")),
        (Key::Jitter, "jitter = 0.5 (code)".to_owned()),
        (Key::Backoff, "backoff = 3 (live change)".to_owned()),
        (Key::MaxCooldown, "max_cooldown = 600s (default)".to_owned()),
        (Key::MinInstances, "min_instances = 1 (default)".to_owned()),
        (Key::ProbeWait, "probe_wait = 50ms (default)".to_owned()),
        (Key::FailureRate, String::new()),
    ];
    for (key, expected) in expected {
        assert_eq!(setting(breaker, key), expected);
    }
    let keys: Vec<_> = breaker
        .snapshot()
        .configuration
        .iter()
        .map(|setting| (setting.key, setting.value.clone()))
        .collect();
    assert_eq!(keys, Vec::from_iter(breaker.policy().effective()));
}

/// The environment has its place between them in `environment.rs`.
#[test]
fn a_higher_place_comes_before_each_lower_one() {
    let plain = || Registry::builder();
    let with_file = || plain().config_toml("[services.layered]\nthreshold = 21\n");
    let with_code = || with_file().declare_with("layered", Policy::new().threshold(31));
    let threshold = |registry: &Registry| registry.breaker("layered").unwrap().policy();
    let attribute = Policy::new()
        .threshold(11)
        .cooldown(std::time::Duration::from_secs(12))
        .probes(2);

    for (builder, expected) in [(plain(), 11), (with_file(), 21), (with_code(), 31)] {
        let registry = builder.build().unwrap();
        assert_eq!(threshold(&registry), attribute.threshold(expected));
        let breaker = registry.breaker("layered").unwrap();
        breaker.update(|policy| policy.threshold(41)).unwrap();
        assert_eq!(threshold(&registry), attribute.threshold(41));
        assert!(breaker.clear_update());
        assert_eq!(threshold(&registry), attribute.threshold(expected));
    }
}

#[test]
fn of_two_files_the_later_one_has_the_last_word_on_what_it_writes() {
    let registry = Registry::builder()
        .config_toml("[services.layered]\nthreshold = 3\nprobes = 4\n")
        .config_toml("[defaults]\nprobes = 5\n[services.layered]\nthreshold = 6\n")
        .build()
        .unwrap();
    let policy = registry.breaker("layered").unwrap().policy();
    // What is written for one service comes before what is written for all.
    assert_eq!((policy.get_threshold(), policy.get_probes()), (Some(6), 4));
}

#[test]
fn a_source_can_be_told_apart_without_reading_its_text() {
    let registry = Registry::builder()
        .config_toml("[services.layered]\n\nthreshold = 3\n")
        .build()
        .unwrap();
    let snapshot = registry.breaker("layered").unwrap().snapshot();
    let source = |key| {
        let found = snapshot.configuration.iter().find(|it| it.key == key);
        found.map(|setting| setting.source.clone())
    };
    let Some(Source::File { path, line: 3, .. }) = source(Key::Threshold) else {
        panic!("{snapshot:?}");
    };
    assert_eq!(path.to_str(), Some("<config_toml>"));
    let Some(Source::Attribute(location)) = source(Key::Cooldown) else {
        panic!("{snapshot:?}");
    };
    assert_eq!((location.file(), location.line()), (file!(), LINE));
    assert_eq!(source(Key::Jitter), Some(Source::Default));
}

mod contradicting {
    use super::*;

    #[circuit_breaker(service = "layered twice", threshold = 3, cooldown = "7s")]
    #[expect(dead_code, reason = "what it declares counts")]
    fn one() -> io::Result<()> {
        Ok(())
    }

    #[circuit_breaker(service = "layered twice", threshold = 4, cooldown = "8s")]
    #[expect(dead_code, reason = "what it declares counts")]
    fn other() -> io::Result<()> {
        Ok(())
    }
}

/// B126
#[test]
fn a_key_that_a_file_or_a_live_change_settles_is_no_contradiction() {
    let about = |registry: &Registry| {
        let conflicts = registry.conflicts().into_iter();
        let ours = conflicts.filter(|conflict| conflict.service() == "layered twice");
        ours.flat_map(|conflict| conflict.keys().collect::<Vec<_>>())
            .collect::<Vec<_>>()
    };
    let registry = Registry::builder().build().unwrap();
    assert_eq!(about(&registry), [Key::Threshold, Key::Cooldown]);

    let toml = "[services.\"layered twice\"]\ncooldown = \"9s\"\n";
    let registry = Registry::builder().config_toml(toml).build().unwrap();
    assert_eq!(about(&registry), [Key::Threshold]);
    let breaker = registry.breaker("layered twice").unwrap();
    breaker.update(|policy| policy.threshold(5)).unwrap();
    assert_eq!(about(&registry), []);
    breaker.clear_update();
    assert_eq!(about(&registry), [Key::Threshold]);
}
