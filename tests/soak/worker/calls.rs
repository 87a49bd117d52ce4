//! Calls, in each of the ways that there are.

use std::sync::Arc;
use std::time::Duration;
use std::time::Instant;

use breakerbox::Breaker;
use tokio::runtime::Handle;
use tokio::task;
use tokio::time;

use crate::circuits::CIRCUITS;
use crate::worker::client::Client;
use crate::worker::delays::Delays;

pub(super) struct Caller {
    pub(super) breaker: &'static Breaker,
    pub(super) way: Way,
    pub(super) client: Client,
    pub(super) delays: Arc<Delays>,
    pub(super) random: fastrand::Rng,
}

#[derive(Clone, Copy)]
pub(super) enum Way {
    /// By a future that some callers drop before it is done.
    Call,
    /// By a permit, with and without waiting for one.
    Permit,
    /// On a thread.
    Blocking,
}

impl Caller {
    /// One call after the other, for ever.
    pub(super) async fn go_on(mut self) {
        loop {
            let pause = Duration::from_millis(self.random.u64(10..110));
            time::sleep(pause).await;
            let running = self.delays.begin();
            let body = match self.way {
                Way::Call => self.call().await,
                Way::Permit => self.with_permit().await,
                Way::Blocking => self.block(),
            };
            if let Some(body) = body {
                let circuit = &CIRCUITS[self.client.circuit()];
                let wait = circuit.policy.get_probe_wait();
                self.delays.end(&running, body, wait, circuit.name);
            }
        }
    }

    /// How long the body took; nothing where it was dropped.
    async fn call(&mut self) -> Option<Duration> {
        let mut spent = Duration::ZERO;
        let breaker = self.breaker;
        let client = &mut self.client;
        let call = breaker.call(async {
            let began = Instant::now();
            let out = client.ask(breaker).await;
            spent = began.elapsed();
            out
        });
        if self.random.u8(..) < 8 {
            let patience = Duration::from_millis(self.random.u64(..20));
            time::timeout(patience, call).await.ok()?.ok();
        } else {
            let _ = call.await;
        }
        Some(spent)
    }

    async fn with_permit(&mut self) -> Option<Duration> {
        let permit = match self.random.bool() {
            true => self.breaker.acquire().await,
            false => self.breaker.try_acquire(),
        };
        let Ok(permit) = permit else {
            return Some(Duration::ZERO);
        };
        let began = Instant::now();
        let out = self.client.ask(self.breaker).await;
        let spent = began.elapsed();
        match out {
            Ok(()) => permit.success(),
            Err(_) => permit.failure(),
        }
        Some(spent)
    }

    fn block(&mut self) -> Option<Duration> {
        let mut spent = Duration::ZERO;
        let breaker = self.breaker;
        let client = &mut self.client;
        let _ = breaker.call_blocking(|| {
            let began = Instant::now();
            let out = task::block_in_place(|| Handle::current().block_on(client.ask(breaker)));
            spent = began.elapsed();
            out
        });
        Some(spent)
    }
}
