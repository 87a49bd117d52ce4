//! What one process keeps of a circuit that it shares with others: what it was told last,
//! what it has seen and not told, and which of its calls probe or want to.
//!
//! Calls come here on their rare ways only. All of it is plain memory: whoever talks to the
//! store does so elsewhere, is woken by the bell, and looks in here.

mod known;
mod link;
mod live;
mod pending;
mod probes;
mod wish;

use std::panic;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::MutexGuard;
use std::sync::PoisonError;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::AcqRel;
use std::sync::atomic::Ordering::Acquire;
use std::sync::atomic::Ordering::Release;

use tokio::sync::Notify;

use crate::numbers::Difference;
use crate::rules::Outcome;
use crate::rules::fleet::Force;
use crate::sharing::Sharing;
use crate::sharing::SharingState;

pub(crate) use known::Known;
pub(crate) use link::Link;
pub(crate) use live::Heard;
pub(crate) use live::LiveChanges;
pub(crate) use pending::Pending;
pub(crate) use probes::Answer;
pub(crate) use probes::LEASE;
pub(crate) use probes::Probes;
pub(crate) use wish::Wish;

pub(crate) struct Member {
    /// What the circuit is called in the store.
    pub(crate) circuit: String,
    pub(crate) link: Arc<Link>,
    /// Rung where there is something to do for whoever talks to the store.
    pub(crate) bell: Notify,
    /// The generation that the circuit has by what the others have decided. Another one means
    /// that it has moved by itself since.
    adopted: AtomicU64,
    /// Something is wrong with this circuit in the store, which is no matter of the others.
    is_apart: AtomicBool,
    /// What that is.
    apart_by: Mutex<Option<Arc<str>>>,
    /// Where others go by other numbers.
    differences: Mutex<Vec<Difference>>,
    /// Somebody has begun to go by other numbers, or has stopped.
    is_uncompared: AtomicBool,
    is_out_of_date: AtomicBool,
    loss: Mutex<Option<Loss>>,
    /// How often the store has told something of it unasked.
    told: AtomicU64,
    known: Mutex<Known>,
    live: Mutex<LiveChanges>,
    pending: Mutex<Pending>,
    probes: Mutex<Probes>,
    wishes: Mutex<Vec<Wish>>,
    /// Which each wish has until it is answered.
    wishing: Arc<()>,
    /// Which each wish to reset has until its answer is heard.
    resetting: Arc<()>,
}

/// What a loss of the store has forced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Loss {
    /// The generation that began with it.
    pub(crate) generation: u64,
    /// Whether the circuit was until then as the others had decided.
    pub(crate) was_as_decided: bool,
}

impl Member {
    pub(crate) fn new(circuit: String, link: Arc<Link>, generation: u64) -> Self {
        Self {
            circuit,
            link,
            bell: Notify::new(),
            adopted: AtomicU64::new(generation),
            is_apart: AtomicBool::new(false),
            apart_by: Mutex::default(),
            differences: Mutex::default(),
            is_uncompared: AtomicBool::new(false),
            is_out_of_date: AtomicBool::new(true),
            loss: Mutex::default(),
            told: AtomicU64::new(0),
            known: Mutex::default(),
            live: Mutex::default(),
            pending: Mutex::default(),
            probes: Mutex::default(),
            wishes: Mutex::default(),
            wishing: Arc::default(),
            resetting: Arc::default(),
        }
    }

    /// The generation that was adopted last. Where the circuit has this one, and a loss of the
    /// store has forced it over that, it is this one.
    pub(crate) fn adopted_beneath(&self, generation: u64) -> u64 {
        match *lock(&self.loss) {
            Some(loss) if loss.generation == generation && loss.was_as_decided => generation,
            _ => self.adopted(),
        }
    }

    /// The store is lost, and that has forced this.
    pub(crate) fn set_loss(&self, loss: Loss) {
        *lock(&self.loss) = Some(loss);
    }

    /// Whether a loss of the store began this generation.
    pub(crate) fn is_by_loss(&self, generation: u64) -> bool {
        lock(&self.loss).is_some_and(|loss| loss.generation == generation)
    }

    /// What a loss of the store has forced; nothing from now on.
    pub(crate) fn take_loss(&self) -> Option<Loss> {
        lock(&self.loss).take()
    }

    /// Whether the circuit is as the others have decided while it has this generation, and
    /// they can be asked.
    pub(crate) fn governs(&self, generation: u64) -> bool {
        self.is_shared() && self.adopted() == generation
    }

    /// Whether the others can be asked.
    pub(crate) fn is_shared(&self) -> bool {
        self.link.is_up() && !self.is_apart.load(Acquire)
    }

    pub(crate) fn adopted(&self) -> u64 {
        self.adopted.load(Acquire)
    }

    pub(crate) fn adopt(&self, generation: u64) {
        self.adopted.store(generation, Release);
    }

    /// An override has ended, and with that this generation has begun: what lies beneath is still
    /// what the others decided, if it was before.
    pub(crate) fn follow(&self, generation: u64) {
        let before = generation.saturating_sub(1);
        let _ = self
            .adopted
            .compare_exchange(before, generation, AcqRel, Acquire);
    }

    /// It is not known whether what was told last still stands.
    pub(crate) fn ask_again(&self) {
        self.is_out_of_date.store(true, Release);
        self.bell.notify_one();
    }

    /// Whether the store has to be asked; it is, then.
    pub(crate) fn take_out_of_date(&self) -> bool {
        self.is_out_of_date.swap(false, AcqRel)
    }

    /// The store has told something unasked, of this epoch. If a later one is known here, the
    /// store has lost that, and has to be told.
    pub(crate) fn was_told(&self, epoch: u64) {
        self.told.fetch_add(1, AcqRel);
        let is_of_old = epoch < self.known().epoch;
        if is_of_old {
            self.ask_again();
        }
    }

    /// How often that was so.
    pub(crate) fn told(&self) -> u64 {
        self.told.load(Acquire)
    }

    /// Something is wrong with this circuit, or is no more.
    pub(crate) fn set_apart(&self, cause: Option<Arc<str>>) {
        let is_apart = cause.is_some();
        *lock(&self.apart_by) = cause;
        self.is_apart.store(is_apart, Release);
        if is_apart {
            self.probes(Probes::lose_all);
        }
    }

    /// How the circuit is shared, for people.
    pub(crate) fn sharing(&self) -> Sharing {
        let apart_by = lock(&self.apart_by).clone();
        Sharing {
            state: match (self.link.sharing(), apart_by) {
                (SharingState::Shared, Some(cause)) => SharingState::Apart { cause },
                (state, _) => state,
            },
            epoch: self.known().epoch,
            differences: self.differences(),
        }
    }

    /// Where others go by other numbers, as far as is known.
    pub(crate) fn differences(&self) -> Vec<Difference> {
        lock(&self.differences).clone()
    }

    /// Says whether that is news.
    pub(crate) fn set_differences(&self, differences: &[Difference]) -> bool {
        let mut known = lock(&self.differences);
        let is_news = *known != differences;
        differences.clone_into(&mut known);
        is_news
    }

    /// Somebody goes by other numbers than before.
    pub(crate) fn compare_again(&self) {
        self.is_uncompared.store(true, Release);
        self.bell.notify_one();
    }

    /// Whether the numbers have to be compared; they are, then.
    pub(crate) fn take_uncompared(&self) -> bool {
        self.is_uncompared.swap(false, AcqRel)
    }

    pub(crate) fn is_apart(&self) -> bool {
        self.is_apart.load(Acquire)
    }

    /// A call of a closed circuit has ended so.
    pub(crate) fn ended(&self, outcome: Outcome) {
        self.pending().add(outcome);
        if outcome.is_failure() || outcome.is_slow {
            self.bell.notify_one();
        }
    }

    /// Somebody wants something of all processes. Says whether they are told. Where they cannot
    /// be, the end of one override is told them later.
    pub(crate) fn wish(
        &self,
        force: Force,
        mine: Arc<AtomicU64>,
        about_to: Option<Arc<()>>,
    ) -> bool {
        let is_told = self.is_shared();
        let wish = Wish::new(force, mine, &self.wishing, &self.resetting);
        // Before anybody can answer: what is heard with the answer is in force.
        drop(about_to);
        if is_told {
            // Each begins an epoch, also if the next one ends it at once.
            self.note(wish);
            return true;
        }
        self.forget_replaced(&wish);
        if let Some(wish) = self.narrow(wish).filter(Wish::ends_one) {
            self.forget_replaced(&wish);
            self.note(wish);
        }
        false
    }

    fn note(&self, wish: Wish) {
        lock(&self.wishes).push(wish);
        self.bell.notify_one();
    }

    /// What it has replaced here is not to be told later.
    fn forget_replaced(&self, wish: &Wish) {
        lock(&self.wishes).retain(|earlier| !wish.replaces(earlier));
    }

    /// Nobody knows whether they were done. They are to be tried again, but for what somebody
    /// wants otherwise since.
    pub(crate) fn wish_again(&self, wishes: Vec<Wish>) {
        let wishes = wishes.into_iter().filter_map(|wish| self.narrow(wish));
        // The end of one override is no other's whenever it is told.
        let again: Vec<_> = wishes
            .filter(|it| it.ends_one() || !it.is_stale())
            .collect();
        let mut wishes = lock(&self.wishes);
        for wish in again.into_iter().rev() {
            if !wishes.iter().any(|later| later.replaces(&wish)) {
                wishes.insert(0, wish);
            }
        }
    }

    /// The end of whatever lies over it means the override that is known, where it is told
    /// later: it shall not end another one.
    fn narrow(&self, wish: Wish) -> Option<Wish> {
        let id = self.known().cover().map(|cover| cover.id);
        wish.narrowed(id)
    }

    /// Somebody is about to want something, and it is in force here before that is told. What is
    /// heard until this is dropped does not take it off.
    pub(crate) fn about_to_wish(&self) -> Arc<()> {
        Arc::clone(&self.wishing)
    }

    /// Whether somebody has reset the circuit here, and what the others say of that is not heard.
    pub(crate) fn is_resetting(&self) -> bool {
        Arc::strong_count(&self.resetting) > 1
    }

    /// Whether somebody wants something that is not answered.
    pub(crate) fn is_wishing(&self) -> bool {
        Arc::strong_count(&self.wishing) > 1
    }

    pub(crate) fn has_wishes(&self) -> bool {
        !lock(&self.wishes).is_empty()
    }

    pub(crate) fn take_wishes(&self) -> Vec<Wish> {
        std::mem::take(&mut *lock(&self.wishes))
    }

    pub(crate) fn known(&self) -> MutexGuard<'_, Known> {
        lock(&self.known)
    }

    /// To be locked after the numbers of the breaker, where both are.
    pub(crate) fn live(&self) -> MutexGuard<'_, LiveChanges> {
        lock(&self.live)
    }

    pub(crate) fn pending(&self) -> MutexGuard<'_, Pending> {
        lock(&self.pending)
    }

    /// Does something with the probes, and wakes afterwards whoever that answers.
    pub(crate) fn probes<T>(&self, does: impl FnOnce(&mut Probes) -> T) -> T {
        let mut probes = lock(&self.probes);
        let out = does(&mut probes);
        let woken = probes.take_woken();
        drop(probes);
        for waker in woken {
            // What that does is up to its executor, and a panic there is no matter of ours.
            let _ = panic::catch_unwind(AssertUnwindSafe(|| waker.wake()));
        }
        out
    }
}

/// Nothing that panics runs under these locks.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
