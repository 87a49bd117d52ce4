//! Works for one circuit: asks, tells and renews, one command at a time.

use std::sync::Arc;
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
use crate::member::Pending;
use crate::member::Wish;
use crate::numbers;
use crate::rules::fleet::Command;
use crate::rules::fleet::Force;
use crate::rules::fleet::Phase;
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

/// Between two flushes that hurry, so that one may bring what came with the other.
const GAP: Duration = Duration::from_millis(2);

/// While successes matter, somebody looks so often whether there were any.
const SUSPECT: Duration = Duration::from_millis(100);

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
    /// When it told in haste last.
    hurried_at: Option<Instant>,
    look_at: Instant,
    pause: Duration,
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
            hurried_at: None,
            look_at: now,
            pause: SOONEST,
            ears: Arc::clone(ears),
            looks: Arc::clone(looks),
            numbers: None,
            // What is for people is not in haste, and others are.
            compare_at: now + SOONEST.mul_f64(fastrand::f64()),
        })
    }

    pub(super) async fn run(mut self, mut closing: watch::Receiver<bool>) {
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
        let next = self.member.probes(|probes| probes.pass_time(now));
        if !self.member.link.is_up() {
            return next;
        }
        if self.member.is_apart() && now < self.look_at {
            return earlier(next, Some(self.look_at));
        }
        // First of all: what was asked for here while the store was lost would end by what it
        // knows.
        let mut wishes = self.member.take_wishes().into_iter();
        while let Some(wish) = wishes.next() {
            // Whoever has asked for something since wants that instead.
            let again = self.force(wish).await.filter(|_| wishes.len() == 0);
            if let Some(wish) = again {
                self.member.wish_again(wish);
            }
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
            .probes(|probes| probes.pass_time(Instant::now()));
        let next = earlier(earlier(next, wish), earlier(flush, compare));
        earlier(next, Some(self.look_at))
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
        self.pause = SOONEST;
        let each = self.store.polls().unwrap_or(LOOK);
        self.look_at = Instant::now() + spread(each);
        true
    }

    /// Tells the others by which numbers this process goes, and hears of theirs. Says when to
    /// do so again; what comes of it is for people, and nothing depends on it.
    async fn compare(&mut self) -> Option<Instant> {
        // All keys of a service have its numbers.
        if !self.breaker.is_of_service() {
            return None;
        }
        if !self.member.take_uncompared() && Instant::now() < self.compare_at {
            return Some(self.compare_at);
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
        Some(self.compare_at)
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

    /// Tells all what somebody here wants. A person has asked for it, so it is tried once more
    /// where it may not have been done; and what does no harm when it is done late or twice is
    /// tried again when the store is back: that is answered.
    async fn force(&mut self, wish: Wish) -> Option<Wish> {
        let force = wish.now()?;
        let is_cover = matches!(force, Force::Cover { .. });
        let command = Command::Force(force);
        let mut done = self.submit(self.view(), command.clone()).await;
        if let Err(StoreError::Late | StoreError::TimedOut) = done {
            done = self.submit(self.view(), command).await;
        }
        match done {
            Ok(reply) => {
                if let (true, Some(cover)) = (is_cover, &reply.snapshot.cover) {
                    wish.began(cover.id);
                }
                self.hear(&reply, false);
                None
            }
            Err(error) if error.is_about_one_circuit() => None,
            Err(_) => Some(wish),
        }
    }

    /// Tells all which numbers somebody here has changed, and says whether they know. What
    /// cannot be told now is told when it is known again how the circuit stands.
    async fn renumber(&mut self) -> bool {
        loop {
            let sending = self.member.live().send();
            let Some((text, after)) = sending else {
                return true;
            };
            let command = Command::Force(Force::Renumber { text, after });
            let answer = self.submit(self.view(), command).await;
            match answer {
                Ok(reply) if reply.status == Status::Done => {
                    self.breaker.told_live(self.member, reply.snapshot.live);
                    self.hear(&reply, false);
                }
                Ok(_) => {
                    self.member.live().failed();
                    // Others have changed something, too; it is put on that.
                    if !self.look().await {
                        return false;
                    }
                }
                Err(_) => {
                    self.member.live().failed();
                    self.member.ask_again();
                    return false;
                }
            }
        }
    }

    /// Tells how a probe has ended.
    async fn end(&mut self, epoch: u64, command: Command) {
        let view = self.view();
        // What has become of a round that is over matters to nobody.
        if view.epoch != epoch {
            return;
        }
        let mut done = self.submit(view.clone(), command.clone()).await;
        if let Err(StoreError::Late) = done {
            // It was not done, so it can be done again.
            done = self.submit(view, command).await;
        }
        if let Ok(reply) = done {
            self.hear(&reply, false);
        }
    }

    async fn renew(&mut self, epoch: u64, token: u64) {
        let view = self.view();
        let ttl = millis(LEASE);
        let is_lost = view.epoch != epoch
            || match self.submit(view, Command::Renew { token, ttl }).await {
                Ok(reply) => {
                    self.hear(&reply, false);
                    reply.status == Status::Stale
                }
                // There is time for two more.
                Err(_) => false,
            };
        if is_lost {
            self.member.probes(|probes| probes.lost(token));
        }
    }

    /// Asks for leave to probe, for whoever waits for that.
    async fn acquire(&mut self) {
        let token = fastrand::u64(1..);
        let ttl = millis(LEASE);
        let told = self.member.told();
        let answer = self
            .submit(self.view(), Command::Acquire { token, ttl })
            .await;
        let now = Instant::now();
        let Ok(reply) = answer else {
            return self.member.probes(|probes| probes.refused(now));
        };
        match reply.status {
            Status::Pass => self.hear_how_it_stands(&reply, told),
            _ => self.hear(&reply, false),
        }
        match reply.status {
            Status::Granted => {
                let epoch = reply.snapshot.epoch;
                let generation = self.breaker.generation();
                self.member
                    .probes(|probes| probes.granted(token, epoch, generation, now));
            }
            Status::Pass => self.member.probes(|probes| probes.moved()),
            _ => self.member.probes(|probes| probes.refused(now)),
        }
    }

    /// Tells of the calls that have ended, if somebody has to know. Says when to look again.
    async fn flush(&mut self, is_last: bool) -> Option<Instant> {
        let policy = self.breaker.policy();
        let (epoch, is_closed, is_suspect) = {
            let known = self.member.known();
            let is_closed = known.phase == Phase::Closed && !known.is_covered();
            (known.counts_since, is_closed, known.is_suspect())
        };
        if self.epoch != epoch {
            // The first one began with what was told, or with what others have told before.
            if self.epoch != 0 {
                self.flushes.forget(self.breaker);
                self.settles_at = None;
            }
            self.epoch = epoch;
        }
        if policy.get_shadow() || !is_closed {
            *self.member.pending() = Pending::default();
            self.settles_at = None;
            return None;
        }
        if self.member.take_suspicion() {
            self.flushes.begin(self.breaker);
        }
        let now = Instant::now();
        let settles = self.settles_at.is_some_and(|at| at <= now);
        let due = self.flushes.due(self.breaker, &policy);
        let look = is_suspect.then_some(now + SUSPECT);
        if due.is_none() && !settles {
            return earlier(self.settles_at, look);
        }
        let is_urgent = settles || self.breaker.is_open_by_itself();
        if !is_urgent
            && !is_last
            && let Err(at) = self.budget.take(now)
        {
            if let Some(due) = due {
                self.member.pending().put_back(due.pending);
            }
            return Some(at);
        }
        if is_urgent {
            let again = self.hurried_at.map(|at| at + GAP);
            if let (Some(again), Some(due)) = (again, &due)
                && now < again
                && !is_last
            {
                self.member.pending().put_back(due.pending);
                return Some(again);
            }
            self.hurried_at = Some(now);
        }
        self.settles_at = None;
        let flush = due
            .as_ref()
            .map(|due| due.flush.clone())
            .unwrap_or_default();
        // It is about the epoch of all, whatever has become of the circuit here: of no epoch, it
        // would count in any.
        let view = self.view_if(true);
        let told = self.submit(view, Command::Flush(flush)).await;
        match (told, due) {
            (Err(StoreError::Late), Some(due)) => {
                // It was not done, so it can be done again.
                self.member.pending().put_back(due.pending);
                return Some(Instant::now());
            }
            // It has opened here by what was to be told, and told twice it opens for all once.
            (Err(_), Some(due)) if self.breaker.is_open_by_itself() => {
                self.member.pending().put_back(due.pending);
            }
            // Twice would open circuits that are well; so what may have been told is not told
            // again.
            (Err(_), Some(due)) => self.flushes.done(due),
            // Nothing was told, so it can be asked again whether it has settled.
            (Err(_), None) => self.settles_at = Some(Instant::now() + SUSPECT),
            (Ok(reply), due) => {
                if let Some(due) = due {
                    self.flushes.done(due);
                }
                if let Status::Settling(left) = reply.status {
                    self.settles_at = Some(Instant::now() + Duration::from_millis(left));
                }
                self.hear(&reply, false);
            }
        }
        Some(Instant::now() + SUSPECT)
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
                self.force(wish).await;
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
    /// answer that was given before one may be looked at after it; then it is asked again, also
    /// where the message was no news.
    fn hear_how_it_stands(&self, reply: &Reply, told: u64) {
        let is_certain = self.member.told() == told;
        let is_of_old = reply.snapshot.epoch < self.member.known().epoch;
        if is_of_old && !is_certain {
            self.member.ask_again();
        }
        self.hear(reply, is_certain);
    }

    fn view(&self) -> View {
        self.view_if(self.breaker.generation() == self.member.adopted())
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
        if let Err(error) = &answer
            && error.is_about_one_circuit()
        {
            let cause = Arc::from(error.to_string());
            self.ears.apart(self.breaker.name(), &cause, Instant::now());
            self.member.set_apart(Some(cause));
            self.look_at = Instant::now() + self.pause;
            self.pause = (self.pause * 2).min(LATEST);
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
mod tests {
    use std::pin::pin;
    use std::sync::atomic::AtomicUsize;
    use std::sync::atomic::Ordering::Relaxed;
    use std::task::Context;
    use std::task::Poll;
    use std::task::Waker;

    use tokio::runtime;
    use tokio::task::LocalSet;

    use crate::member::Link;
    use crate::policy::Policy;
    use crate::registry::Registry;
    use crate::registry::RegistryBuilder;
    use crate::rejected::RejectedKind;
    use crate::rules::Sums;
    use crate::rules::fleet::Snapshot;
    use crate::sharing::WhenStoreIsLost;
    use crate::state::State;
    use crate::store::Comparison;
    use crate::store::Journal;
    use crate::store::Listener;
    use crate::store::Submission;

    use super::*;

    /// So long nothing takes, however busy the machine is.
    const LONG: Duration = Duration::from_secs(20);

    /// It says that the circuit has been open and may be probed, and then nothing.
    struct Hanging;

    impl Store for Hanging {
        fn start(&self, _: Arc<dyn Listener>) {}

        fn submit<'a>(
            &'a self,
            _: &'a str,
            request: Request,
            _: &'a Policy,
            _: Duration,
        ) -> Submission<'a> {
            if request.command != Command::Sync {
                return Box::pin(std::future::pending());
            }
            let snapshot = Snapshot {
                epoch: 9,
                phase: Phase::Open,
                until: 9,
                length: 1,
                trips: 1,
                ..Snapshot::default()
            };
            Box::pin(std::future::ready(Ok(Reply {
                status: Status::Done,
                now: 9,
                snapshot,
                sums: Sums::default(),
                live: None,
            })))
        }

        fn polls(&self) -> Option<Duration> {
            None
        }

        fn journal<'a>(&'a self, _: &'a str, _: usize) -> Journal<'a> {
            Box::pin(std::future::pending())
        }

        fn compare<'a>(&'a self, _: &'a str, _: &'a Note) -> Comparison<'a> {
            Box::pin(std::future::pending())
        }
    }

    /// A call that asked for leave while the store hung was rejected when the store had been
    /// given up, after 250 ms or several times that, and not after its `probe_wait`.
    #[test]
    fn a_store_that_hangs_does_not_keep_a_call_that_waits_for_leave() {
        let registry = Registry::builder().declare_with("hanging", Policy::new());
        let registry = registry.build().expect("a right set-up");
        let breaker: &'static Breaker = registry.breaker("hanging").expect("declared");
        let link = Arc::new(Link::new(1, WhenStoreIsLost::Local));
        breaker.join(&link).expect("it joins once");
        link.set_up();
        let store: Arc<dyn Store> = Arc::new(Hanging);
        let ears = Arc::new(Ears::new(Arc::clone(&link), Box::new(|_| {})));
        let looks = Arc::new(Semaphore::new(LOOKS_AT_ONCE));
        let crew = Crew::new(breaker, &store, &ears, &looks).expect("it is a member");
        let (_close, closing) = watch::channel(false);
        let mut runtime = runtime::Builder::new_current_thread();
        let runtime = runtime.enable_all().build().expect("a runtime");
        let set = LocalSet::new();
        set.spawn_local(crew.run(closing));
        set.block_on(&runtime, async {
            while breaker.state() != State::Open {
                tokio::task::yield_now().await;
            }
            // The first has the store asked. The second comes while it is.
            for _ in 0..2 {
                let asked = time::timeout(LONG, breaker.acquire()).await;
                let rejected = asked.expect("it does not wait for the store");
                let rejected = rejected.expect_err("nobody gave leave");
                assert_eq!(rejected.kind(), RejectedKind::ProbesBusy);
            }
        });
    }

    /// It asked again like one that does not wait and comes back: its process got leave that
    /// nobody used, and kept it longer each time.
    #[test]
    fn a_call_that_has_waited_in_vain_wants_nothing_more() {
        let registry = Registry::builder().declare_with("moving", Policy::new());
        let registry = registry.build().expect("a right set-up");
        let breaker: &'static Breaker = registry.breaker("moving").expect("declared");
        let link = Arc::new(Link::new(1, WhenStoreIsLost::Local));
        breaker.join(&link).expect("it joins once");
        link.set_up();
        let opens_and_cools_down = |epoch| {
            let snapshot = Snapshot {
                epoch,
                phase: Phase::Open,
                until: epoch,
                length: 1,
                trips: 1,
                ..Snapshot::default()
            };
            breaker.hear(&snapshot, epoch, &News::default(), true);
        };
        let member = breaker.member().expect("it has joined");
        let wants_leave = || member.probes(|probes| probes.want_leave(Instant::now()));
        opens_and_cools_down(9);
        let mut asks = pin!(breaker.acquire());
        let mut context = Context::from_waker(Waker::noop());
        assert!(asks.as_mut().poll(&mut context).is_pending());
        assert!(wants_leave());
        opens_and_cools_down(10);
        let Poll::Ready(Err(rejected)) = asks.as_mut().poll(&mut context) else {
            panic!("it has not asked anew, and nobody gave leave");
        };
        assert_eq!(rejected.kind(), RejectedKind::ProbesBusy);
        assert!(!wants_leave());
    }

    /// It answers after a while, and counts how many it is asked for at once.
    #[derive(Default)]
    struct Counting {
        asked: AtomicUsize,
        most: AtomicUsize,
        answered: AtomicUsize,
    }

    impl Store for Counting {
        fn start(&self, _: Arc<dyn Listener>) {}

        fn submit<'a>(
            &'a self,
            _: &'a str,
            _: Request,
            _: &'a Policy,
            _: Duration,
        ) -> Submission<'a> {
            Box::pin(async {
                let asked = self.asked.fetch_add(1, Relaxed) + 1;
                self.most.fetch_max(asked, Relaxed);
                for _ in 0..10 {
                    tokio::task::yield_now().await;
                }
                self.asked.fetch_sub(1, Relaxed);
                self.answered.fetch_add(1, Relaxed);
                Err(StoreError::Late)
            })
        }

        fn polls(&self) -> Option<Duration> {
            None
        }

        fn journal<'a>(&'a self, _: &'a str, _: usize) -> Journal<'a> {
            Box::pin(std::future::pending())
        }

        fn compare<'a>(&'a self, _: &'a str, _: &'a Note) -> Comparison<'a> {
            Box::pin(std::future::pending())
        }
    }

    /// All of them were, and with some thousands of circuits the last answers came too late: the
    /// connection was given up, and the next one fared no better.
    #[test]
    fn many_circuits_are_not_all_asked_for_at_once_when_a_connection_stands() {
        const MANY: usize = 200;
        let names = (0..MANY).map(|at| format!("one-of-many-{at}"));
        let registry = names.fold(Registry::builder(), RegistryBuilder::declare);
        let registry = registry.build().expect("a right set-up");
        let link = Arc::new(Link::new(1, WhenStoreIsLost::Local));
        link.set_up();
        let counting = Arc::new(Counting::default());
        let store: Arc<dyn Store> = Arc::clone(&counting) as Arc<_>;
        let ears = Arc::new(Ears::new(Arc::clone(&link), Box::new(|_| {})));
        let looks = Arc::new(Semaphore::new(LOOKS_AT_ONCE));
        let (_close, closing) = watch::channel(false);
        let mut runtime = runtime::Builder::new_current_thread();
        let runtime = runtime.enable_all().build().expect("a runtime");
        let set = LocalSet::new();
        let many = registry.services().into_iter();
        for breaker in many.filter(|it| it.name().starts_with("one-of-many-")) {
            breaker.join(&link).expect("it joins once");
            let crew = Crew::new(breaker, &store, &ears, &looks).expect("it is a member");
            set.spawn_local(crew.run(closing.clone()));
        }
        set.block_on(&runtime, async {
            while counting.answered.load(Relaxed) < MANY {
                tokio::task::yield_now().await;
            }
        });
        assert_eq!(counting.most.load(Relaxed), LOOKS_AT_ONCE);
    }
}
