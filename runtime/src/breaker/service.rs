//! What all breakers of one service share: its numbers, its counts, and what there is to
//! tell.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::MutexGuard;
use std::sync::PoisonError;
use std::sync::RwLock;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::time::SystemTime;

use once_cell::race::OnceBox;

use crate::breaker::configured::Configured;
use crate::breaker::failure::LastFailure;
use crate::breaker::keys::Keys;
use crate::breaker::subscribe::Channel;
use crate::cells::Cells;
use crate::cells::Sum;
use crate::cells::Tally;
use crate::clock::Tick;
#[cfg(feature = "metrics")]
use crate::durations::Spans;
use crate::event::By;
use crate::event::Event;
use crate::event::Transition;
use crate::event::Warning;
use crate::event::WouldOpen;
use crate::host::Host;
use crate::hot::Hot;
use crate::hot::Numbers;
use crate::policy::Policy;
use crate::reason;
use crate::reason::Reason;
use crate::reason::WAYS;
use crate::rules::Change;
use crate::rules::Scope;
use crate::settings::Layers;
use crate::state::State;

/// What waits for the background thread at most; older notes go first. A gap in the
/// generations tells.
const NOTES: usize = 64;

/// So many cancellations without another outcome are worth a warning.
const CANCELLATIONS: u32 = 20;

pub(crate) struct Service {
    pub(super) name: &'static str,
    /// The same behind one thin pointer, for rejections.
    pub(super) label: &'static &'static str,
    pub(super) host: Arc<Host>,
    pub(super) hot: Hot,
    pub(super) cells: Cells,
    pub(super) last_failure: LastFailure,
    pub(super) would_reject: AtomicU64,
    pub(super) keys: OnceBox<Keys>,
    pub(super) configured: Configured,
    numbers: RwLock<Numbers>,
    /// By the index of [`MOVES`](crate::reason::MOVES).
    transitions: [AtomicU64; WAYS],
    notes: Mutex<VecDeque<Note>>,
    /// Replaced as a whole, so that they are told without a lock.
    subscribers: Mutex<Arc<[Arc<Channel>]>>,
    seconds: Mutex<Seconds>,
    /// What has been published of how long calls took, by the index of [`Tally::ENDINGS`].
    #[cfg(feature = "metrics")]
    spans: Mutex<[Option<Box<Spans>>; Tally::ENDINGS.len()]>,
    cancellations: Mutex<Cancellations>,
}

/// Something to tell.
#[derive(Clone, Debug)]
pub(super) enum Note {
    Change {
        change: Change,
        key: Option<Arc<str>>,
        by: Option<By>,
        origin: Option<Arc<str>>,
    },
    Cancellations,
    #[cfg(feature = "redis")]
    Warning(Arc<Warning>),
}

/// How long the circuit was in each state.
#[derive(Debug)]
struct Seconds {
    counted: Tick,
    nanos: [u64; State::ALL.len()],
}

impl Seconds {
    const fn since(began: Tick) -> Self {
        Self {
            counted: began,
            nanos: [0; State::ALL.len()],
        }
    }

    /// It was in `state` until `now`.
    fn pass(&mut self, state: State, now: Tick) {
        let passed = now.0.saturating_sub(self.counted.0);
        self.nanos[state as usize] = self.nanos[state as usize].saturating_add(passed);
        self.counted = self.counted.max(now);
    }
}

/// How many calls were cancelled in a row.
#[derive(Debug, Default)]
struct Cancellations {
    /// The calls that had ended otherwise when the last one was cancelled.
    others: u64,
    in_a_row: u32,
}

impl Service {
    pub(super) fn new(name: &'static str, layers: Layers, host: Arc<Host>) -> Self {
        let policy = layers.policy(name);
        let seed = host.seed_of(name);
        let began = host.clock.now();
        let hot = Hot::new(&policy);
        #[cfg(feature = "metrics")]
        if host.measures.load(Relaxed) {
            hot.measure(&policy);
        }
        Self {
            name,
            label: Box::leak(Box::new(name)),
            host,
            hot,
            cells: Cells::new(),
            last_failure: LastFailure::default(),
            would_reject: AtomicU64::new(0),
            keys: OnceBox::new(),
            configured: Configured::new(layers),
            numbers: RwLock::new(Numbers::new(policy, seed)),
            transitions: [const { AtomicU64::new(0) }; WAYS],
            // Taken now, so that a note that a drop leaves never allocates.
            notes: Mutex::new(VecDeque::with_capacity(NOTES)),
            subscribers: Mutex::default(),
            seconds: Mutex::new(Seconds::since(began)),
            #[cfg(feature = "metrics")]
            spans: Mutex::default(),
            cancellations: Mutex::default(),
        }
    }

    /// The numbers in force, which stay so while this is held.
    pub(super) fn numbers(&self) -> std::sync::RwLockReadGuard<'_, Numbers> {
        self.numbers.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts other numbers in force, and has `apply` tell the circuits before anybody sees
    /// these.
    pub(super) fn renumber(&self, policy: Policy, apply: impl FnOnce(&Policy, &Numbers)) {
        let mut numbers = self.numbers.write().unwrap_or_else(PoisonError::into_inner);
        let before = numbers.policy;
        *numbers = Numbers::new(policy, numbers.seed);
        self.hot.set(&policy);
        apply(&before, &numbers);
    }

    /// From now on it is measured how long calls take.
    #[cfg(feature = "metrics")]
    pub(crate) fn measure(&self) {
        // Others may be changing the numbers, and with them what calls have to do.
        let numbers = self.numbers.write().unwrap_or_else(PoisonError::into_inner);
        self.hot.measure(&numbers.policy);
    }

    /// Gives `record` how long the calls took that ended so since it was asked last: seconds,
    /// and how many calls. Where it panics, they are given to the next one.
    #[cfg(feature = "metrics")]
    pub(crate) fn hand_on_spans(&self, ending: usize, record: impl FnMut(f64, u64)) {
        if !self.hot.duties().is_measured() {
            return;
        }
        let Some(all) = self.cells.spans(Tally::ENDINGS[ending]) else {
            return;
        };
        let mut spans = self.spans.lock().unwrap_or_else(PoisonError::into_inner);
        spans[ending].get_or_insert_default().hand_on(&all, record);
    }

    /// Counts a change that was made here, and leaves a note for whoever publishes it.
    pub(super) fn tell(&self, change: Change, key: Option<&Arc<str>>, by: Option<By>) {
        self.tell_of(change, key, by, None);
    }

    /// The same, of a change that another process has made, where its name is known.
    pub(super) fn tell_of(
        &self,
        change: Change,
        key: Option<&Arc<str>>,
        by: Option<By>,
        origin: Option<Arc<str>>,
    ) {
        if change.opens() {
            self.last_failure.forget();
        }
        match change.scope {
            Scope::Seen => {
                let Change {
                    from, to, reason, ..
                } = change;
                if let Some(index) = reason::index_of(from, to, reason) {
                    self.transitions[index].fetch_add(1, Relaxed);
                }
                // The state of a service is that of its own circuit, not of one of its keys.
                if key.is_none() {
                    self.seconds().pass(from, change.at);
                }
            }
            Scope::Beneath if change.to == State::Open => {}
            Scope::Beneath => return,
        }
        self.note(Note::Change {
            change,
            key: key.cloned(),
            by: by.filter(|_| change.is_by_hand),
            origin,
        });
    }

    #[cfg(feature = "redis")]
    pub(super) fn warn(&self, warning: Warning) {
        self.note(Note::Warning(Arc::new(warning)));
    }

    fn note(&self, note: Note) {
        // Whom a subscriber wakes is the code of somebody else, which may come back here.
        let subscribers = Arc::clone(&*self.subscribers());
        for channel in subscribers.iter() {
            channel.tell(note.clone());
        }
        let mut notes = self.notes.lock().unwrap_or_else(PoisonError::into_inner);
        if notes.len() == NOTES {
            notes.pop_front();
        }
        notes.push_back(note);
        drop(notes);
        self.host.bell.ring();
    }

    /// One more call was cancelled.
    #[cold]
    pub(super) fn cancelled(&self) {
        let sum = self.cells.sum();
        let others = sum.ended() - sum.get(Tally::Cancelled);
        let mut row = self
            .cancellations
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if row.others != others {
            *row = Cancellations {
                others,
                in_a_row: 0,
            };
        }
        row.in_a_row = row.in_a_row.saturating_add(1);
        let are_many = row.in_a_row == CANCELLATIONS;
        drop(row);
        if are_many {
            self.note(Note::Cancellations);
        }
    }

    fn seconds(&self) -> MutexGuard<'_, Seconds> {
        self.seconds.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The seconds that the circuit was in each state up to now, in which it is in `state`.
    #[cfg(feature = "metrics")]
    pub(crate) fn state_seconds(&self, state: State) -> [u64; State::ALL.len()] {
        let now = self.host.clock.now();
        let mut seconds = self.seconds();
        seconds.pass(state, now);
        seconds.nanos.map(|nanos| nanos / 1_000_000_000)
    }

    pub(crate) fn counts(&self) -> Sum {
        self.cells.sum()
    }

    /// How often the circuit moved in the way of [`MOVES`](crate::reason::MOVES) at `index`.
    #[cfg(feature = "metrics")]
    pub(crate) fn transitions(&self, index: usize) -> u64 {
        self.transitions[index].load(Relaxed)
    }

    /// What has happened since the last call, oldest first.
    pub(crate) fn take_events(&self) -> Vec<Event> {
        let mut notes = self.notes.lock().unwrap_or_else(PoisonError::into_inner);
        let taken: Vec<_> = notes.drain(..).collect();
        drop(notes);
        if taken.is_empty() {
            return Vec::new();
        }
        taken.into_iter().map(|note| self.event_of(note)).collect()
    }

    pub(super) fn subscribers(&self) -> MutexGuard<'_, Arc<[Arc<Channel>]>> {
        self.subscribers
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn event_of(&self, note: Note) -> Event {
        match note {
            Note::Change {
                change,
                key,
                by,
                origin,
            } => {
                let now = self.host.clock.now();
                let wall = SystemTime::now();
                let at = wall.checked_sub(now.since(change.at)).unwrap_or(wall);
                self.event(change, key, (by, origin), at)
            }
            Note::Cancellations => Event::Warning(Warning::Cancellations {
                service: self.name,
                cancelled: CANCELLATIONS,
            }),
            #[cfg(feature = "redis")]
            Note::Warning(warning) => Event::Warning((*warning).clone()),
        }
    }

    fn event(
        &self,
        change: Change,
        key: Option<Arc<str>>,
        (by, origin): (Option<By>, Option<Arc<str>>),
        at: SystemTime,
    ) -> Event {
        // What is forced until the end of time is so until further notice.
        let is_until_further_notice =
            |until: &Tick| *until == Tick(u64::MAX) && is_by_hand(change.reason);
        let until = change.until.filter(|until| !is_until_further_notice(until));
        let open_for = until.map(|until| until.since(change.at));
        match change.scope {
            Scope::Seen => Event::Transition(Transition {
                service: self.name,
                key,
                from: change.from,
                to: change.to,
                reason: change.reason,
                at,
                open_for,
                by,
                origin,
                generation: change.generation,
            }),
            Scope::Beneath => Event::WouldOpen(WouldOpen {
                service: self.name,
                key,
                reason: change.reason,
                at,
                open_for: open_for.unwrap_or_default(),
            }),
        }
    }
}

/// Whether a change is about what somebody has forced.
pub(super) const fn is_by_hand(reason: Reason) -> bool {
    matches!(reason, Reason::Override | Reason::OverrideEnded)
}
