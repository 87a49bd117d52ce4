//! Waiting until calls are admitted, for workers that fetch jobs.

use std::collections::HashMap;
use std::panic;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Mutex;
use std::sync::MutexGuard;
use std::sync::PoisonError;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::task::Context;
use std::task::Poll;
use std::task::Waker;
use std::time::Duration;

use crate::breaker::Breaker;
use crate::clock::Sleep;
use crate::clock::Tick;
use crate::rules::Mode;
use crate::state::State;

/// Over so long those are spread that waited for a circuit to close.
const SPREAD: Duration = Duration::from_secs(1);

/// Who waits on a breaker, and whose turn it was to probe.
#[derive(Default)]
pub(super) struct Waiting {
    /// Woken by every transition.
    wakers: Mutex<HashMap<u64, Waker>>,
    next: AtomicU64,
    turns: Mutex<Turns>,
}

/// The waiters that were sent to probe one opening.
#[derive(Default)]
struct Turns {
    opening: u64,
    taken: u32,
    /// The probes of the round before the first of them.
    begun: u32,
    since: Option<Tick>,
}

impl Turns {
    /// Those that were sent and have not come yet, where so many probes have begun by now.
    const fn awaited(&self, begun: u32) -> u32 {
        self.taken.saturating_sub(begun.saturating_sub(self.begun))
    }
}

/// What a waiter may do.
enum Turn {
    Go,
    WaitUntil(Tick),
}

impl Waiting {
    /// The circuit has moved.
    pub(super) fn wake_all(&self) {
        let woken: Vec<_> = self.wakers().drain().collect();
        for (_, waker) in woken {
            wake(waker);
        }
    }

    fn wakers(&self) -> MutexGuard<'_, HashMap<u64, Waker>> {
        self.wakers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Wakes a task. What that does is up to its executor, and a panic there is no matter of the
/// call that has moved the circuit.
pub(super) fn wake(waker: Waker) {
    let _ = panic::catch_unwind(AssertUnwindSafe(|| waker.wake()));
}

/// Ready when the circuit has moved on from a generation, or when a time has come.
struct Moved<'b> {
    breaker: &'b Breaker,
    generation: u64,
    sleep: Sleep,
    id: u64,
}

impl Future for Moved<'_> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if self.sleep.as_mut().poll(context).is_ready() {
            return Poll::Ready(());
        }
        let waiting = self.breaker.waiting();
        waiting.wakers().insert(self.id, context.waker().clone());
        // Looked at after it is listed: a move that is missed here wakes.
        if self.breaker.gate.load().generation() == self.generation {
            Poll::Pending
        } else {
            Poll::Ready(())
        }
    }
}

impl Drop for Moved<'_> {
    fn drop(&mut self) {
        self.breaker.waiting().wakers().remove(&self.id);
    }
}

impl Breaker {
    /// Waits until a call would be admitted, so that a worker can stop fetching jobs that it
    /// could not do. It resolves at once while the circuit is closed, also in a ramp.
    ///
    /// When a cooldown is over it lets as many go as may probe at a time. Whoever comes when a
    /// probe has ended goes in its place if there are to be more; the others wait on until the
    /// circuit moves, or until `probe_timeout` has passed, when as many go again. When the
    /// circuit closes, all go, spread over a second. It is a hint and no permit: the call asks
    /// for leave of its own.
    ///
    /// ```
    /// # async fn fetch() -> u32 { 1 }
    /// # async fn work(mail: &breakerbox::Breaker) {
    /// loop {
    ///     mail.wait_until_admitting().await;
    ///     let job = fetch().await;
    ///     // ... the guarded call ...
    /// #   let _ = job; break;
    /// }
    /// # }
    /// ```
    ///
    /// It needs no runtime; in one of tokio it waits by its timer, which has to be enabled there.
    /// In tests it follows the registry's clock.
    ///
    /// # Cancel safety
    ///
    /// Dropped, it has changed nothing, but that a turn to probe which it was given at that
    /// moment is lost to the others for `probe_timeout`.
    pub async fn wait_until_admitting(&self) {
        let clock = &self.service.host.clock;
        let mut has_waited = false;
        loop {
            let generation = self.gate.load().generation();
            let now = clock.now();
            match self.turn(now) {
                Turn::Go if has_waited && self.state() == State::Closed => {
                    // Not all at once on a service that has just come back.
                    has_waited = false;
                    clock.sleep(SPREAD.mul_f64(fastrand::f64())).await;
                }
                Turn::Go => return,
                Turn::WaitUntil(until) => {
                    has_waited = true;
                    Moved {
                        breaker: self,
                        generation,
                        sleep: clock.sleep(until.since(now)),
                        id: self.waiting().next.fetch_add(1, Relaxed),
                    }
                    .await;
                }
            }
        }
    }

    fn waiting(&self) -> &Waiting {
        &self.seldom().waiting
    }

    fn turn(&self, now: Tick) -> Turn {
        let (mut circuit, _) = self.peek(now);
        let until = match (circuit.state(), &circuit.mode) {
            (State::Open, Mode::Open(opening)) => Some(opening.until),
            (State::ForcedOpen, _) => circuit.overlay.as_ref().and_then(|it| it.until()),
            (State::HalfOpen, _) => None,
            _ => return Turn::Go,
        };
        if let Some(until) = until
            && now < until
        {
            return Turn::WaitUntil(until);
        }
        let policy = self.policy();
        let (free, begun) = match &mut circuit.mode {
            Mode::HalfOpen(round) => round.places(&policy, now),
            Mode::Closed(_) | Mode::Open(_) => (policy.get_probe_concurrency(), 0),
        };
        let mut turns = self
            .waiting()
            .turns
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let timeout = policy.get_probe_timeout();
        let since = turns.since.unwrap_or(now);
        let is_another_round = turns.opening != circuit.opening || begun < turns.begun;
        if is_another_round || now.since(since) >= timeout {
            *turns = Turns {
                opening: circuit.opening,
                begun,
                ..Turns::default()
            };
        }
        let since = *turns.since.get_or_insert(now);
        if turns.awaited(begun) < free {
            turns.taken += 1;
            Turn::Go
        } else {
            Turn::WaitUntil(since + timeout)
        }
    }
}
