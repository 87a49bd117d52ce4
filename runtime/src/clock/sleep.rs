//! Waiting until a time has come, by whatever clock.

use std::pin::Pin;
use std::time::Duration;

use futures_timer::Delay;

/// Ready when a time has passed.
pub(crate) type Sleep = Pin<Box<dyn Future<Output = ()> + Send + Sync>>;

/// By the clock of the system, without any runtime.
pub(super) fn of_system(duration: Duration) -> Sleep {
    Box::pin(Delay::new(duration))
}
