//! Several policies on one function: in which order, how often, and what the caller gets.
#![allow(clippy::unwrap_used)]

mod async_trait;
mod blocking;
mod blocks;
mod blocks_generic;
mod bulkhead;
mod cancelled;
mod cost;
mod dropped;
mod fallback;
mod late;
mod leaving;
mod order;
mod orders;
mod outlives;
mod panics;
mod plain;
mod retry;
mod shapes;
mod struck;
mod threads;
mod timeout;
mod told;

use std::pin::Pin;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use breakerbox::Rejected;
use breakerbox::RejectedKind;
use breakerbox::TimedOut;

/// An error that tells what became of the call.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
enum PayError {
    #[error(transparent)]
    Rejected(#[from] Rejected),
    #[error(transparent)]
    TimedOut(#[from] TimedOut),
    #[error("status {0}")]
    Status(u16),
}

impl PayError {
    fn kind(&self) -> Option<RejectedKind> {
        match self {
            Self::Rejected(rejected) => Some(rejected.kind()),
            Self::TimedOut(_) | Self::Status(_) => None,
        }
    }
}

fn is_server(error: &PayError) -> bool {
    matches!(error, PayError::Status(500..=599))
}

const SECOND: Duration = Duration::from_secs(1);

/// How often a body began.
struct Count(AtomicU32);

impl Count {
    const fn new() -> Self {
        Self(AtomicU32::new(0))
    }

    /// The body begins: which time is it?
    fn begin(&self) -> u32 {
        self.0.fetch_add(1, Relaxed) + 1
    }

    fn get(&self) -> u32 {
        self.0.load(Relaxed)
    }
}

/// A call in a box.
type Call<Out> = Pin<Box<dyn Future<Output = Out> + Send>>;

/// Runs for ever.
async fn hang<T>() -> T {
    std::future::pending().await
}
