//! What a process says of a store that it has lost, where nobody listens and where somebody
//! does.

use std::time::Duration;

use breakerbox::Registry;
use breakerbox::RegistryBuilder;
use breakerbox::SharingState;
use breakerbox::WhenStoreIsLost;

use crate::alone::heard;
use crate::eventually::eventually;

/// Nobody listens at this port.
const NOWHERE: &str = "redis://127.0.0.1:1";

fn install(builder: RegistryBuilder) {
    let registry = builder
        .declare("store: one")
        .declare("store: another")
        .redis(NOWHERE)
        .when_store_is_lost(WhenStoreIsLost::Admit(Duration::from_secs(30)))
        .install()
        .expect("a right set-up");
    let breaker = registry.breaker("store: one").expect("declared");
    eventually("the store is lost", || {
        let sharing = breaker.snapshot().sharing.expect("shared");
        matches!(sharing.state, SharingState::Lost { .. }).then_some(())
    });
    // It ends the thread that says it.
    registry.close();
}

fn lines(heard: &str) -> Vec<&str> {
    let lines = heard.lines();
    lines
        .filter(|line| line.contains("the store is lost"))
        .collect()
}

/// M10
#[test]
fn where_nobody_listens_a_loss_goes_to_standard_error_once() {
    let Some(heard) = heard(|| install(Registry::builder())) else {
        return;
    };
    let lines = lines(&heard);
    let [line] = lines.as_slice() else {
        panic!("{heard}");
    };
    assert!(
        line.ends_with("; until it is found, all calls are let through for 30s"),
        "{line}"
    );
}

#[test]
fn where_somebody_listens_standard_error_hears_nothing_of_a_loss() {
    let Some(heard) = heard(|| install(Registry::builder().on_event(|_| {}))) else {
        return;
    };
    assert_eq!(lines(&heard), [""; 0]);
}
