//! What a process has said stands, also when it ends at once.

use std::time::Duration;

use breakerbox::Policy;
use breakerbox::State;

use super::fleet::Backing;

/// Who works for the circuit hears of both at once, what somebody wants and that the process
/// ends, and saw to the one or the other first by chance.
#[test]
fn what_somebody_wants_of_all_is_told_before_the_process_ends() {
    let backing = Backing::memory();
    let witness = backing.start(Policy::new());
    for _ in 0..10 {
        let [one, other] = backing.processes(Policy::new());
        let hour = Duration::from_secs(3600);
        let forced = one.breaker.force_open(hour, "ana", "their migration");
        assert!(forced.expect("all is said").is_shared());
        one.registry.close();
        witness.becomes(State::ForcedOpen);
        other.becomes(State::ForcedOpen);
        other.breaker.clear_override();
        other.registry.close();
        witness.becomes(State::Closed);
    }
}
