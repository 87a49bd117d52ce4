//! What listeners are told.

use std::sync::Arc;
use std::time::Duration;
use std::time::SystemTime;

use crate::declaration::Conflict;
use crate::limit_conflict::LimitConflict;
#[cfg(feature = "redis")]
use crate::numbers::Difference;
use crate::reason::Reason;
use crate::settings::ConfigError;
use crate::settings::ReloadError;
use crate::settings::Reloaded;
use crate::settings::Setting;
#[cfg(feature = "redis")]
use crate::sharing::WhenStoreIsLost;
use crate::state::State;

/// Something that happened, as a listener of
/// [`on_event`](crate::RegistryBuilder::on_event) is told.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Event {
    /// A circuit moved from one state to another.
    Transition(Transition),
    /// A circuit in shadow would have opened.
    WouldOpen(WouldOpen),
    /// The numbers of a service and where they come from: told when its breaker is made,
    /// and each time that they change.
    Configured {
        /// The service.
        service: &'static str,
        /// Every key that stands.
        settings: Arc<[Setting]>,
    },
    /// Policies beside the breaker have done something: told at most once a second, for as long
    /// as they do.
    Activity(Activity),
    /// The configuration was read again and is in force.
    Reloaded(Reloaded),
    /// The store that processes share their circuits through was found, or found again.
    #[cfg(feature = "redis")]
    StoreFound,
    /// The store that processes share their circuits through cannot be reached: told once each
    /// time. Calls go on, as
    /// [`when_store_is_lost`](crate::RegistryBuilder::when_store_is_lost) says.
    #[cfg(feature = "redis")]
    StoreLost {
        /// Why, as far as it is known.
        cause: Arc<str>,
        /// What becomes of calls until it is found again.
        policy: WhenStoreIsLost,
    },
    /// Something is wrong with the set-up; calls are guarded all the same.
    Warning(Warning),
}

/// A circuit moved from one state to another.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Transition {
    /// The service of the circuit.
    pub service: &'static str,
    /// The key, where the service has a breaker for each.
    pub key: Option<Arc<str>>,
    /// The state it left.
    pub from: State,
    /// The state it entered.
    pub to: State,
    /// The rule that moved it, and its numbers.
    pub reason: Reason,
    /// When it moved.
    pub at: SystemTime,
    /// How long it is now open, where it opened, or forced, where somebody wants that; nothing
    /// where that is until further notice.
    pub open_for: Option<Duration>,
    /// Who forced it, or had forced it, and why; nobody where the configuration did.
    pub by: Option<By>,
    /// The process that moved it, where processes share the circuit and it was moved by another
    /// one: by its host and number, or by the name that was given to its store. None where it
    /// moved here, or where nobody has said who it was.
    pub origin: Option<Arc<str>>,
    /// The generation that began. It rises by one with each transition of a circuit that the
    /// rules make; a gap tells that somebody has forced or reset the circuit or changed its
    /// window, or else that events were lost. Where processes share the circuit it only rises:
    /// what all have decided has about the milliseconds since 1970.
    pub generation: u64,
}

/// A circuit in shadow would have opened, and calls would have been rejected.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct WouldOpen {
    /// The service of the circuit.
    pub service: &'static str,
    /// The key, where the service has a breaker for each.
    pub key: Option<Arc<str>>,
    /// The rule that was met, and its numbers.
    pub reason: Reason,
    /// When.
    pub at: SystemTime,
    /// How long it would have been open.
    pub open_for: Duration,
}

/// What one policy beside the breaker of a service has done lately.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Activity {
    /// The service.
    pub service: &'static str,
    /// What.
    pub did: Did,
    /// How often since it was told last.
    pub times: u64,
}

/// What a policy beside the breaker does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Did {
    /// The bulkhead had no place for a call.
    BulkheadFull,
    /// A call was too many for the rate limit.
    RateLimited,
    /// A timeout gave a call up while it ran.
    TimedOut,
    /// Another attempt began.
    Retried,
    /// A call was not made again, since the budget of its service was used up.
    RetryBudgetExhausted,
    /// A fallback gave an answer.
    FellBack,
    /// A fallback failed, too.
    FallbackFailed,
}

/// Who forced a circuit, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct By {
    /// Who.
    pub actor: Arc<str>,
    /// Why.
    pub reason: Arc<str>,
}

/// Something is wrong with the set-up; calls are guarded all the same.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Warning {
    /// One service was declared twice, with different numbers.
    #[error(transparent)]
    Conflict(Conflict),
    /// The bulkhead or the rate limit of one service was declared twice, with different
    /// numbers.
    #[error(transparent)]
    LimitConflict(LimitConflict),
    /// More names were made up at run time than a registry holds. The calls of the
    /// names beyond share one breaker.
    #[error(
        "more than {limit} services were named at run time: all further ones share the breaker \
         `{shared}`"
    )]
    TooManyServices {
        /// How many names the registry holds.
        limit: usize,
        /// The service of the breaker that the others share.
        shared: &'static str,
    },
    /// A name made up at run time is not one that a service can have.
    #[error("a service cannot be called {given:?}: it is guarded as `{used}`")]
    Name {
        /// The name that was given.
        given: String,
        /// The name that is used instead.
        used: &'static str,
    },
    /// Many calls in a row were dropped before they ended. A timeout outside of the breaker
    /// hides from it that the service hangs.
    #[error(
        "{cancelled} calls to `{service}` in a row were dropped before they ended: if a timeout \
         outside of the breaker drops them, the breaker does not see that the service hangs; set \
         `slow_call` or `on_cancel`, or put the timeout inside"
    )]
    Cancellations {
        /// The service.
        service: &'static str,
        /// How many.
        cancelled: u32,
    },
    /// The configuration was to be read again and is wrong. Everything stays as it was.
    #[error("the configuration stays as it was:\n{0}")]
    Configuration(ReloadError),
    /// Something that is written in a file or in the environment is not in force.
    #[error(transparent)]
    Unused(ConfigError),
    /// The files of the configuration are not watched.
    #[error("the configuration is not watched: {0}")]
    NotWatched(String),
    /// Processes that share the circuit of a service go by different numbers, as two versions
    /// do during a rollout. The circuit works all the same: whoever moves it does so by its
    /// own numbers. Told again only where other numbers come.
    #[cfg(feature = "redis")]
    #[error("processes that share `{service}` go by different numbers: {}", listed(.differences))]
    NumbersDiffer {
        /// The service.
        service: &'static str,
        /// Where they differ.
        differences: Vec<Difference>,
    },
    /// The store is there and does not take the circuit of a service, and perhaps those of
    /// others: its process goes by what it sees itself there, and tries again. Told at most once
    /// in ten minutes for each cause; [`Sharing`](crate::Sharing) says it of each circuit.
    #[cfg(feature = "redis")]
    #[error(
        "the circuit of `{service}` is not shared: {cause}; until it is, this process goes by what \
         it sees itself"
    )]
    NotShared {
        /// The first service whose circuit that concerns.
        service: &'static str,
        /// What the store has said.
        cause: Arc<str>,
    },
    /// No background thread could be started, so metrics are published only by
    /// `publish_metrics()` and listeners hear nothing before that.
    #[error("the background thread could not be started: {0}")]
    NoThread(String),
}

#[cfg(feature = "redis")]
fn listed(differences: &[Difference]) -> String {
    let all = differences.iter().map(ToString::to_string);
    all.collect::<Vec<_>>().join(", ")
}
