//! Waiting for what another thread does, with a deadline.

use std::thread;
use std::time::Duration;
use std::time::Instant;

/// Far more than anything here takes, also on a machine that is busy.
pub(crate) const DEADLINE: Duration = Duration::from_secs(30);

/// Asks again and again until there is an answer; says what it waited for if none comes.
#[track_caller]
pub(crate) fn eventually<T>(what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + DEADLINE;
    loop {
        if let Some(answer) = ask() {
            return answer;
        }
        assert!(Instant::now() < deadline, "it never came: {what}");
        thread::sleep(Duration::from_millis(1));
    }
}
