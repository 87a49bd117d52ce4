//! What a worker does all night: take what is due, and do it.

use std::sync::Mutex;
use std::sync::MutexGuard;
use std::time::Duration;
use std::time::Instant;

use fastrand::Rng;
use tokio::task::coop;

use crate::client;
use crate::client::ChargeError;
use crate::client::Shop;
use crate::queue::GOOD_CARD;
use crate::queue::Job;
use crate::queue::Payment;
use crate::queue::Queue;

/// How long a payment waits after a call that failed.
const RETRY: Duration = Duration::from_millis(200);
/// How long it waits when a probe is out, which soon knows more.
const PROBE: Duration = Duration::from_millis(100);
/// Payments that wait for the same moment come back spread over this.
const SPREAD_MS: u64 = 100;

/// Whether the charge is guarded: the only difference between the two nights.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Guard {
    Off,
    On,
}

impl Guard {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Off => "without",
            Self::On => "with",
        }
    }
}

/// What the workers share.
#[derive(Debug)]
pub(crate) struct Office {
    pub(crate) guard: Guard,
    pub(crate) shop: Shop,
    pub(crate) queue: Queue,
    pub(crate) tally: Mutex<Tally>,
}

/// What the workers measured.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    /// For each e-mail, how long it waited to be sent and when it fell due.
    pub(crate) mails: Vec<(Duration, Instant)>,
    /// For each rejection, the time from asking for the charge to being back in the queue.
    pub(crate) put_back: Vec<Duration>,
    /// The time spent in calls that failed.
    pub(crate) failing: Duration,
}

impl Office {
    pub(crate) async fn work(&self, mut rng: Rng) {
        while let Some(job) = self.queue.next().await {
            match job {
                Job::Payment(payment) => self.pay(payment, &mut rng).await,
                Job::Mail(due) => {
                    while self.shop.send_mail().await.is_err() {}
                    self.tally().mails.push((due.elapsed(), due));
                }
            }
            // A rejection waits for nothing: let the others run now and then.
            coop::consume_budget().await;
        }
    }

    async fn pay(&self, mut payment: Payment, rng: &mut Rng) {
        let asked = Instant::now();
        let charged = match self.guard {
            Guard::Off => client::charge(&self.shop, &payment).await,
            Guard::On => client::charge_guarded(&self.shop, &payment).await,
        };
        match charged {
            Ok(()) => self.queue.confirm(payment),
            Err(ChargeError::Rejected(rejected)) => {
                let spread = Duration::from_millis(rng.u64(..SPREAD_MS));
                payment.due = Instant::now() + rejected.retry_after().unwrap_or(PROBE) + spread;
                self.queue.put_back(payment);
                self.tally().put_back.push(asked.elapsed());
            }
            // The customer's other card is a new request, so it has a new key.
            Err(ChargeError::Declined) => {
                payment.card = GOOD_CARD;
                payment.key = rng.u64(..);
                self.queue.put_back(payment);
            }
            // It may have been charged or not: the same key, a little later.
            Err(ChargeError::Provider(_) | ChargeError::Network(_)) => {
                payment.due = Instant::now() + RETRY;
                self.queue.put_back(payment);
                self.tally().failing += asked.elapsed();
            }
        }
    }

    fn tally(&self) -> MutexGuard<'_, Tally> {
        self.tally.lock().expect("nobody panics over the tally")
    }
}
