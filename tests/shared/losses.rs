//! The store is gone for a while, and has forgotten everything when it is back.

use std::time::Duration;

use breakerbox::Policy;
use breakerbox::State;
use breakerbox::WhenStoreIsLost;
use breakerbox_servers::Server;

use super::fleet::Process;

const POLICY: Policy = Policy::new()
    .threshold(1)
    .cooldown(Duration::from_millis(100));

/// What the store had lost was open here for all others, and closed for the store: no call was
/// let through any more, as each asked for leave that nobody had to give.
#[test]
fn a_circuit_that_its_store_has_forgotten_closes_where_all_calls_were_rejected_meanwhile() {
    let server = Server::start().expect("a server: run ./tests/run");
    let process = Process::start(POLICY, |builder| {
        let builder = builder.redis(server.url());
        builder.when_store_is_lost(WhenStoreIsLost::OpenFails)
    });
    process.fail();
    process.cools_down();
    server.kill();
    process.becomes(State::ForcedOpen);
    server.restart();
    process.finds_it(2);
    process.eventually("it closes", || {
        if let Ok(permit) = process.breaker.try_acquire() {
            permit.success();
        }
        process.breaker.state() == State::Closed
    });
}
