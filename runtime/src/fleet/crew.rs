//! Works for one circuit: asks, tells and renews, one command at a time.

mod probing;
mod telling;
mod wants;

use std::sync::Arc;
use std::thread;
use std::time::Duration;
use std::time::Instant;

use tokio::sync::Semaphore;
use tokio::sync::watch;
use tokio::time;

use crate::breaker::Breaker;
use crate::breaker::News;
use crate::fleet::budget::Budget;
use crate::fleet::ears::Ears;
use crate::fleet::flushes::Flushes;
use crate::member::LEASE;
use crate::member::Member;
use crate::member::Wish;
use crate::numbers;
use crate::rules::fleet::Command;
use crate::rules::fleet::Reply;
use crate::rules::fleet::Request;
use crate::rules::fleet::Status;
use crate::rules::fleet::View;
use crate::store::Note;
use crate::store::Store;
use crate::store::StoreError;

/// A command that is not done by then is not done.
const WITHIN: Duration = Duration::from_millis(250);

/// How often a circuit is asked for although nothing says that it has moved.
const LOOK: Duration = Duration::from_secs(30);

/// So many circuits of a process are asked for at a time. When a connection stands all of them
/// are, and each has to have its answer in time.
pub(super) const LOOKS_AT_ONCE: usize = 16;

/// How soon it is tried again whether a circuit is all right that was not, and how late.
const SOONEST: Duration = Duration::from_secs(1);
const LATEST: Duration = Duration::from_secs(30);

/// How soon it is told again what somebody wants, where nobody knows whether it was done.
const AGAIN: Duration = Duration::from_millis(100);

pub(super) struct Crew {
    breaker: &'static Breaker,
    member: &'static Member,
    store: Arc<dyn Store>,
    budget: Budget,
    flushes: Flushes,
    /// The epoch that the flushes are about.
    epoch: u64,
    /// When the rest of a window is looked at that may have settled.
    settles_at: Option<Instant>,
    /// Leave that was asked for and may have been given, without an answer.
    asked: Option<u64>,
    /// When it told in haste last.
    hurried_at: Option<Instant>,
    look_at: Instant,
    pause: Duration,
    /// The circuit cannot be reached, and others can.
    is_cut_off: bool,
    ears: Arc<Ears>,
    /// Whose turn it is to ask how its circuit stands.
    looks: Arc<Semaphore>,
    /// The numbers that this process has told the others.
    numbers: Option<String>,
    /// When they are told again.
    compare_at: Instant,
}

impl Crew {
    pub(super) fn new(
        breaker: &'static Breaker,
        store: &Arc<dyn Store>,
        ears: &Arc<Ears>,
        looks: &Arc<Semaphore>,
    ) -> Option<Self> {
        let now = Instant::now();
        Some(Self {
            breaker,
            member: breaker.member()?,
            store: Arc::clone(store),
            budget: Budget::full(now),
            flushes: Flushes::default(),
            epoch: 0,
            settles_at: None,
            asked: None,
            hurried_at: None,
            look_at: now,
            pause: SOONEST,
            is_cut_off: false,
            ears: Arc::clone(ears),
            looks: Arc::clone(looks),
            numbers: None,
            // What is for people is not in haste, and others are.
            compare_at: now + SOONEST.mul_f64(fastrand::f64()),
        })
    }

    pub(super) async fn run(mut self, mut closing: watch::Receiver<bool>) {
        let _deserted = Deserted(self.member);
        loop {
            let next = self.work().await;
            let sleep = async {
                match next {
                    Some(next) => time::sleep_until(next.into()).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = self.member.bell.notified() => {}
                () = sleep => {}
                _ = closing.wait_for(|closes| *closes) => return self.leave().await,
            }
        }
    }

    /// Does what there is to do, and says when it has to look again at the latest.
    async fn work(&mut self) -> Option<Instant> {
        let now = Instant::now();
        if self.is_cut_off && !self.member.link.is_up() {
            // It was no matter of this circuit alone.
            self.is_cut_off = false;
            self.member.set_apart(None);
        }
        let is_apart = self.member.is_apart() && now < self.look_at;
        if is_apart || !self.member.link.is_up() {
            // Leases are not renewed now, so nobody has to look when they would be.
            let next = self.member.probes(|probes| probes.wait_no_longer(now));
            return earlier(next, is_apart.then_some(self.look_at));
        }
        let timeout = self.breaker.policy().get_probe_timeout();
        let next = self.member.probes(|probes| probes.pass_time(now, timeout));
        // First of all: what was asked for here while the store was lost would end by what it
        // knows.
        let mut wishes = self.member.take_wishes().into_iter();
        let had_any = wishes.len() > 0;
        let mut again: Vec<Wish> = Vec::new();
        while let Some(wish) = wishes.next() {
            if again.iter().any(|earlier| wish.ends(earlier)) {
                // It is to be known first which override that is.
                again.push(wish);
                continue;
            }
            let failed = self.force(wish).await;
            // Whoever has asked for something since may want that instead.
            let later = wishes.as_slice();
            again.extend(failed.filter(|it| !later.iter().any(|later| later.replaces(it))));
        }
        self.member.wish_again(again);
        if had_any && self.is_as_nobody_said() {
            // It may not have come to what somebody wanted, nor to what was heard meanwhile.
            self.member.ask_again();
        }
        let wish = self.member.has_wishes().then(|| now + AGAIN);
        let next = earlier(next, wish);
        if (self.member.take_out_of_date() || now >= self.look_at) && !self.look().await {
            return earlier(next, Some(self.look_at));
        }
        self.renumber().await;
        for (epoch, command) in self.member.probes(|probes| probes.take_outbox()) {
            self.end(epoch, command).await;
        }
        for (epoch, token) in self.member.probes(|probes| probes.renewals(now)) {
            self.renew(epoch, token).await;
        }
        if self.member.probes(|probes| probes.want_leave(now)) {
            self.acquire().await;
            if self
                .member
                .probes(|probes| probes.want_leave(Instant::now()))
            {
                // Several rang at once, and each wants leave of its own.
                self.member.bell.notify_one();
            }
        }
        let flush = self.flush(false).await;
        let compare = self.compare().await;
        let next = self
            .member
            .probes(|probes| probes.pass_time(Instant::now(), timeout));
        let next = earlier(earlier(next, wish), earlier(flush, Some(compare)));
        earlier(next, Some(self.look_at))
    }

    /// Whether the circuit is neither as it was decided nor as somebody here still wants it.
    fn is_as_nobody_said(&self) -> bool {
        let is_decided = self.breaker.generation() == self.member.adopted();
        let is_owed = self.member.known().is_owed;
        !self.member.is_wishing() && (is_owed || !is_decided)
    }

    /// Asks how the circuit stands. Says whether that is known now.
    async fn look(&mut self) -> bool {
        // Nobody closes it. The time of the command begins when it is its turn.
        let turn = Box::pin(Arc::clone(&self.looks).acquire_owned());
        let turn = self.answer(turn).await;
        let told = self.member.told();
        let looked = self.submit(self.view(), Command::Sync).await;
        drop(turn);
        let Ok(reply) = looked else {
            // It is asked again when there is a connection, or by the pause of what is wrong.
            self.look_at = Instant::now() + self.pause;
            return false;
        };
        self.hear_how_it_stands(&reply, told);
        self.member.set_apart(None);
        self.is_cut_off = false;
        self.pause = SOONEST;
        let each = self.store.polls().unwrap_or(LOOK);
        self.look_at = Instant::now() + spread(each);
        true
    }

    /// Tells the others by which numbers this process goes, and hears of theirs. Says when to
    /// do so again; what comes of it is for people, and nothing depends on it.
    async fn compare(&mut self) -> Instant {
        if !self.member.take_uncompared() && Instant::now() < self.compare_at {
            return self.compare_at;
        }
        self.compare_at = Instant::now() + spread(LOOK);
        let current = numbers::text(&self.breaker.policy());
        let former = self.numbers.clone().filter(|it| *it != current);
        let note = Note {
            former,
            current: Some(current.clone()),
        };
        if let Ok(all) = self.store.compare(&self.member.circuit, &note).await {
            let differences = numbers::differences(&current, &all);
            let is_news = self.member.set_differences(&differences);
            if is_news && !differences.is_empty() {
                self.ears.differ(self.breaker.name(), differences);
            }
            self.numbers = Some(current);
        } else {
            // Said twice it is said once.
            self.compare_at = Instant::now() + spread(SOONEST);
        }
        self.compare_at
    }

    /// Nobody here goes by these numbers any more. Where all go by them, nobody has to know.
    async fn forget_numbers(&mut self) {
        if !self.member.differences().is_empty() {
            let note = Note {
                former: self.numbers.take(),
                current: None,
            };
            let _ = self.store.compare(&self.member.circuit, &note).await;
        }
    }

    /// Gives leases back, and tells what there is to tell.
    async fn leave(mut self) {
        self.member.probes(|probes| probes.release_all());
        if self.member.is_shared() {
            // Told twice it is one change, and nobody asks for it again.
            if !self.renumber().await {
                self.renumber().await;
            }
            for wish in self.member.take_wishes() {
                if let Some(wish) = self.force(wish).await {
                    self.force(wish).await;
                }
            }
            for (epoch, command) in self.member.probes(|probes| probes.take_outbox()) {
                self.end(epoch, command).await;
            }
            self.flush(true).await;
            self.forget_numbers().await;
        }
        self.member.probes(|probes| probes.lose_all());
    }

    /// An answer stands, also where it is of an earlier epoch, if the store has told nothing
    /// since it was asked, when so often had been told. Messages are heard as they come, and an
    /// answer that was given before one may be looked at after it; then it is asked again where
    /// the circuit is not as it was decided here, also where the message was no news.
    fn hear_how_it_stands(&self, reply: &Reply, told: u64) {
        let is_certain = self.member.told() == told;
        self.hear(reply, is_certain);
        if !is_certain && self.breaker.generation() != self.member.adopted() {
            self.member.ask_again();
        }
    }

    fn view(&self) -> View {
        let generation = self.breaker.generation();
        self.view_if(self.member.adopted_beneath(generation) == generation)
    }

    fn view_if(&self, stands: bool) -> View {
        let live = self.member.live().told().clone();
        let known = self.member.known();
        known.view(stands, live, LEASE, self.breaker.tick())
    }

    fn hear(&self, reply: &Reply, is_certain: bool) {
        self.breaker
            .hear_live(reply.snapshot.live, reply.live.as_deref(), reply.now);
        self.breaker
            .hear(&reply.snapshot, reply.now, &News::default(), is_certain);
    }

    async fn submit(&mut self, view: View, command: Command) -> Result<Reply, StoreError> {
        let request = Request {
            command,
            view,
            instance: self.member.link.instance,
            draw: fastrand::u32(..),
            deadline: 0,
        };
        let policy = self.breaker.policy();
        let answer = self
            .store
            .submit(&self.member.circuit, request, &policy, WITHIN);
        let answer = self.answer(answer).await;
        let answer = answer.and_then(|reply| match reply.status {
            Status::Late => Err(StoreError::Late),
            _ => Ok(reply),
        });
        match &answer {
            Err(error) if error.is_about_one_circuit() => {
                let cause = Arc::from(error.to_string());
                self.ears.apart(self.breaker.name(), &cause, Instant::now());
                self.member.set_apart(Some(cause));
                self.look_at = Instant::now() + self.pause;
                self.pause = (self.pause * 2).min(LATEST);
            }
            // Of a cluster whose other nodes are there. Or all is lost, which is told soon.
            Err(error @ StoreError::Unavailable(_)) if self.member.link.is_up() => {
                self.is_cut_off = true;
                self.member.set_apart(Some(Arc::from(error.to_string())));
                self.look_at = Instant::now() + SOONEST;
            }
            Ok(_) | Err(_) => {}
        }
        answer
    }

    /// Waits for the store. Calls that wait for leave do not wait as long: they are told when
    /// their time is over, also those that come meanwhile.
    async fn answer<T>(&self, mut submission: impl Future<Output = T> + Unpin) -> T {
        let mut is_rung = false;
        let answer = loop {
            let next = self
                .member
                .probes(|probes| probes.wait_no_longer(Instant::now()));
            let over = async {
                match next {
                    Some(next) => time::sleep_until(next.into()).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                answer = &mut submission => break answer,
                () = over => {}
                () = self.member.bell.notified() => is_rung = true,
            }
        };
        if is_rung {
            // There is more to do for whoever rang.
            self.member.bell.notify_one();
        }
        answer
    }
}

/// Whoever waits for this work waits no longer where it ends in a panic, and the circuit goes on
/// by itself.
struct Deserted(&'static Member);

impl Drop for Deserted {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0
                .set_apart(Some(Arc::from("the work for it has panicked")));
        }
    }
}

fn earlier(one: Option<Instant>, other: Option<Instant>) -> Option<Instant> {
    one.into_iter().chain(other).min()
}

/// All processes do that, and not all at once.
fn spread(each: Duration) -> Duration {
    each.mul_f64(0.75 + 0.5 * fastrand::f64())
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
