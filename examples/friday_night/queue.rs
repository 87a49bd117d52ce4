//! The queue: two lanes, payments and e-mails, that all workers share.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::ControlFlow;
use std::sync::Mutex;
use std::sync::MutexGuard;
use std::time::Duration;
use std::time::Instant;

use fastrand::Rng;
use tokio::time;

use crate::flags::Flags;
use crate::provider::BAD_CARD;

pub(crate) const GOOD_CARD: &str = "4242424242424242";

/// One e-mail falls due in each of these, whatever the workers are doing.
pub(crate) const MAIL_EVERY: Duration = Duration::from_millis(5);

/// A payment to be made. It is moved, never copied: it is in the queue or in a worker's hands.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Payment {
    pub(crate) due: Instant,
    pub(crate) order: usize,
    /// The same on every try, so that the provider books it once.
    pub(crate) key: u64,
    pub(crate) card: &'static str,
}

#[derive(Debug)]
pub(crate) enum Job {
    Payment(Payment),
    /// An e-mail, and the instant it fell due.
    Mail(Instant),
}

#[derive(Debug)]
pub(crate) struct Queue(Mutex<Lanes>);

/// Payments wait for their due time, e-mails fall due at a steady rate.
#[derive(Debug)]
pub(crate) struct Lanes {
    pub(crate) payments: BinaryHeap<Reverse<Payment>>,
    pub(crate) next_mail: Instant,
    /// The lanes take turns, so that the backlog of one never holds up the other.
    mail_turn: bool,
    /// The payments that the provider confirmed to us, and when.
    pub(crate) confirmed: Vec<(Payment, Instant)>,
    jobs: usize,
    deadline: Instant,
    /// When the last payment was confirmed: no e-mail falls due after that.
    pub(crate) end: Option<Instant>,
}

impl Queue {
    /// A Friday's backlog, all of it due at once; a few customers pay with a stolen card.
    pub(crate) fn new(start: Instant, flags: Flags, mut rng: Rng) -> Self {
        let stolen = flags.jobs / 10..flags.jobs / 10 + 20;
        let payments = (0..flags.jobs).map(|order| {
            Reverse(Payment {
                due: start,
                order,
                key: rng.u64(..),
                card: if stolen.contains(&order) {
                    BAD_CARD
                } else {
                    GOOD_CARD
                },
            })
        });
        Self(Mutex::new(Lanes {
            payments: payments.collect(),
            next_mail: start,
            mail_turn: false,
            confirmed: Vec::new(),
            jobs: flags.jobs,
            deadline: start + flags.limit,
            end: None,
        }))
    }

    /// The next job that is due; `None` when the night is over.
    pub(crate) async fn next(&self) -> Option<Job> {
        loop {
            let until = match self.lanes().take(Instant::now()) {
                ControlFlow::Break(job) => return job,
                ControlFlow::Continue(until) => until,
            };
            // Nothing need wake a sleeper early: the next e-mail is never far.
            time::sleep_until(until.into()).await;
        }
    }

    pub(crate) fn put_back(&self, payment: Payment) {
        self.lanes().payments.push(Reverse(payment));
    }

    pub(crate) fn confirm(&self, payment: Payment) {
        let mut lanes = self.lanes();
        let now = Instant::now();
        lanes.confirmed.push((payment, now));
        if lanes.confirmed.len() == lanes.jobs {
            lanes.end = Some(now);
        }
    }

    /// How many payments are confirmed, and how long the oldest unsent e-mail has been due.
    pub(crate) fn progress(&self) -> (usize, Duration) {
        let lanes = self.lanes();
        let mail_age = Instant::now().saturating_duration_since(lanes.next_mail);
        (lanes.confirmed.len(), mail_age)
    }

    pub(crate) fn into_lanes(self) -> Lanes {
        self.0.into_inner().expect("nobody panics over the queue")
    }

    fn lanes(&self) -> MutexGuard<'_, Lanes> {
        self.0.lock().expect("nobody panics over the queue")
    }
}

impl Lanes {
    /// Breaks with what to do now, or continues with when to look again.
    fn take(&mut self, now: Instant) -> ControlFlow<Option<Job>, Instant> {
        let all_done = self.end.is_some_and(|end| end < self.next_mail);
        if all_done || now >= self.deadline {
            return ControlFlow::Break(None);
        }
        let mail = self.next_mail <= now;
        match self.payments.peek().map(|next| next.0.due) {
            Some(due) if due <= now && !(mail && self.mail_turn) => {
                self.mail_turn = true;
                ControlFlow::Break(self.payments.pop().map(|next| Job::Payment(next.0)))
            }
            _ if mail => {
                self.mail_turn = false;
                let due = self.next_mail;
                self.next_mail += MAIL_EVERY;
                ControlFlow::Break(Some(Job::Mail(due)))
            }
            Some(due) => ControlFlow::Continue(due.min(self.next_mail)),
            None => ControlFlow::Continue(self.next_mail),
        }
    }
}
