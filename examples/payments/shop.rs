//! The shop: orders come in all day, and some dozens of workers see each of them through.

use std::sync::Arc;
use std::time::Duration;
use std::time::Instant;

use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time;

use crate::client;
use crate::client::Account;
use crate::client::Answer;
use crate::client::Client;
use crate::client::PaymentError;
use crate::client::Request;

/// How long the shop is open. The orders come evenly.
const DAY: Duration = Duration::from_secs(7);
/// An order that is not settled so long after the day is lost.
const NIGHT: Duration = Duration::from_secs(30);
const WORKERS: usize = 48;
/// One order in so many is a payout.
const PAYOUT_IN: u64 = 5;
/// When to look again where nobody can say when.
const SOON_MS: u64 = 100;

/// What becomes of a call that brought no answer.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Rule {
    /// Rejected: nothing was sent, so it starts anew. Anything else: pending, and confirmed.
    Confirm,
    /// It did not work, so let us try again.
    Naive,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Charge,
    PayOut,
}

/// Why nobody knew for a while whether money had moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Doubt {
    NoAnswer,
    BadAnswer,
    Broken,
}

/// An order, and what has become of it so far. A real shop keeps this in its database, and
/// writes it down before each call.
#[derive(Debug)]
pub(crate) struct Order {
    pub(crate) id: u64,
    pub(crate) kind: Kind,
    /// Who has been sent the request, while it is not known what became of it.
    pending: Option<Account>,
    /// What the doubt was, if there was one. It stays when the answer is there.
    pub(crate) doubt: Option<Doubt>,
    /// How often it went back into the queue to start anew.
    pub(crate) put_back: u32,
    pub(crate) answer: Option<Answer>,
    /// The requests made for it, where each try is a new one.
    tries: u32,
}

/// Sees all orders through; those that could not be settled are missing from the answer.
pub(crate) async fn run(client: &Client, orders: u64, rule: Rule) -> Vec<Order> {
    let opened = Instant::now();
    let workers = Arc::new(Semaphore::new(WORKERS));
    let mut queue = JoinSet::new();
    for id in 0..orders {
        let comes = opened + DAY.mul_f64(id as f64 / orders as f64);
        time::sleep_until(comes.into()).await;
        let (client, workers) = (client.clone(), Arc::clone(&workers));
        queue.spawn(async move { settle(&client, &workers, Order::new(id), rule).await });
    }
    let mut settled = Vec::new();
    let all = async {
        while let Some(order) = queue.join_next().await {
            settled.extend(order);
        }
    };
    // Those that are still out then are lost: the report counts them.
    let _: Result<(), time::error::Elapsed> = time::timeout(NIGHT, all).await;
    settled
}

/// An order waits its turn, a worker takes the next step with it, and so on until it is done.
async fn settle(client: &Client, workers: &Semaphore, mut order: Order, rule: Rule) -> Order {
    loop {
        let worker = workers.acquire().await;
        let stepped = match rule {
            Rule::Confirm => order.step(client).await,
            Rule::Naive => order.step_naively(client).await,
        };
        drop(worker);
        match stepped {
            Step::Done(answer) => {
                order.answer = Some(answer);
                return order;
            }
            Step::Later(wait) => time::sleep(wait).await,
        }
    }
}

impl Kind {
    pub(crate) const fn of(order: u64) -> Self {
        if order.is_multiple_of(PAYOUT_IN) {
            Self::PayOut
        } else {
            Self::Charge
        }
    }
}

enum Step {
    Done(Answer),
    Later(Duration),
}

impl Order {
    const fn new(id: u64) -> Self {
        Self {
            id,
            kind: Kind::of(id),
            pending: None,
            doubt: None,
            put_back: 0,
            answer: None,
            tries: 0,
        }
    }

    async fn step(&mut self, client: &Client) -> Step {
        let request = &Request {
            order: self.id,
            key: format!("order-{}", self.id),
        };
        let answer = match (self.pending, self.kind) {
            (Some(account), _) => client::confirm(client, account, request).await,
            (None, Kind::Charge) => client::charge(client, request).await,
            (None, Kind::PayOut) => client::pay_out(client, request).await,
        };
        let error = match answer {
            Ok(answer) => return Step::Done(answer),
            Err(error) => error,
        };
        if let Some(account) = error.sent_to() {
            self.pending = Some(account);
            self.doubt = self.doubt.or_else(|| Doubt::of(&error));
        } else if self.pending.is_none() {
            self.put_back += 1;
        }
        Step::Later(wait_after(&error))
    }

    /// What it looks like where every error is alike: a new request for each try.
    async fn step_naively(&mut self, client: &Client) -> Step {
        self.tries += 1;
        let request = &Request {
            order: self.id,
            key: format!("order-{}-{}", self.id, self.tries),
        };
        let answer = match self.kind {
            Kind::Charge => client::charge_naively(client, request).await,
            Kind::PayOut => client::pay_out(client, request).await,
        };
        match answer {
            Ok(answer) => Step::Done(answer),
            Err(error) => {
                self.put_back += 1;
                Step::Later(wait_after(&error))
            }
        }
    }
}

/// An open circuit says when it is worth another try; the orders spread over what follows.
fn wait_after(error: &PaymentError) -> Duration {
    let told = match error {
        PaymentError::Rejected(rejected) => rejected.retry_after(),
        _ => None,
    };
    told.unwrap_or_default() + Duration::from_millis(fastrand::u64(..SOON_MS))
}

impl Doubt {
    const fn of(error: &PaymentError) -> Option<Self> {
        match error {
            PaymentError::Rejected(_) => None,
            PaymentError::TimedOut(_) => Some(Self::NoAnswer),
            PaymentError::Status { .. } => Some(Self::BadAnswer),
            PaymentError::Broken { .. } => Some(Self::Broken),
        }
    }
}
