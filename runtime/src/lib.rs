//! A resilience toolkit for Rust services that call other services: circuit breakers first,
//! and the policies that stand beside them.
//!
//! Annotate a client function, and its calls are guarded by the breaker of the
//! service it names:
//!
//! ```
//! use breakerbox::circuit_breaker;
//!
//! #[derive(Debug, thiserror::Error)]
//! enum PaymentError {
//!     #[error(transparent)]
//!     Unavailable(#[from] breakerbox::Rejected), // the call was never made
//!     #[error("card declined")]
//!     Declined,
//!     #[error("gateway answered {0}")]
//!     Gateway(u16),
//! }
//!
//! fn is_infra_error(error: &PaymentError) -> bool {
//!     matches!(error, PaymentError::Gateway(500..=599 | 429))
//! }
//!
//! #[circuit_breaker(service = "stripe", threshold = 5, cooldown = "60s", fails_on = is_infra_error)]
//! async fn charge(cents: u64) -> Result<String, PaymentError> {
//!     // ... the request ...
//!     # match cents { 0 => Err(PaymentError::Declined), 1 => Err(PaymentError::Gateway(503)), _ =>
//!     Ok("receipt".to_owned())
//!     # }
//! }
//! ```
//!
//! Windows, failure rates, slow calls, growing cooldowns and more are keys of the same
//! attribute: [`choosing_numbers`] explains each with its default.
//!
//! At the fifth failure in a row the circuit opens: for the next 60 seconds calls
//! return [`Rejected`] without being made. Then one call, the probe, is let through
//! and decides whether the circuit closes or stays open for another 60 seconds. Every
//! function that names the same service shares one breaker.
//!
//! Three promises, in this order. It never makes things worse: a guarded call costs
//! nanoseconds, and a probe that is dropped, panics or hangs always gives its place
//! back. It tells the truth about money: [`Rejected`] means that nothing of the call
//! left the process, and [`TimedOut`] that nobody knows. It explains itself: why the circuit opened, on what numbers, and
//! when the next probe is due, in the error, the [`Event`], the [`Snapshot`] and the
//! metrics.
//!
//! # Other policies
//!
//! `#[retry]` (feature `retry`), [`#[timeout]`](macro@timeout), [`#[bulkhead]`](macro@bulkhead),
//! `#[rate_limit]` (feature `rate-limit`) and [`#[fallback]`](macro@fallback) stand on the same
//! function, in written order, outermost first; [`#[resilient]`](macro@resilient) has all of
//! them in one. What their order means for a service that is slow, fails or hangs is the table
//! of [`what_runs_how_often`].
//!
//! All of them keep to what is promised about money. A call that one of them rejects has sent
//! nothing. A timeout that strikes while the call runs is a [`TimedOut`]: it may have been
//! carried out. A fallback runs only for a call that was rejected and never begun, unless it is
//! asked for more, and a call is made again only where `retry_on` or `idempotent` is written.
//! Once a body ran, the caller never gets a [`Rejected`] of this call. [`deadline`](fn@deadline)
//! is what is left of the nearest timeout, to be sent along with a request.
//!
//! # Guarded functions that call others
//!
//! If the function calls other guarded functions, an inner rejection that goes through `?`
//! reaches the caller in the same error variant, although the outer call was made. Compare
//! [`Rejected::service`], or give inner rejections a variant of their own.
//! `ignores = Rejected::is_cause_of` keeps them from counting.
//!
//! # Without the attribute
//!
//! [`Breaker::try_acquire`] gives a [`Permit`], which is settled with what the call
//! said about the service; [`Breaker::call`] does both. [`policies()`] has the [`Bulkhead`],
//! the rate limiter and the retries of a service, and [`timeout()`] is one of no service:
//!
//! ```
//! use std::time::Duration;
//! use breakerbox::BulkheadPolicy;
//!
//! # async fn get() -> u16 { 200 }
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let quotes = breakerbox::policies("quotes");
//! let slot = quotes.bulkhead(BulkheadPolicy::new(10))?.acquire().await?;
//! let answer = quotes.timeout(Duration::from_secs(2), get()).await?;
//! drop(slot);
//! # assert_eq!(answer, 200);
//! # Ok(())
//! # }
//! ```
//!
//! They are the ones that attributes of that service use, and they count for it.
//!
//! # Configuration
//!
//! The numbers of a service come from five places, each key from the last that writes it: the
//! attribute, a TOML file ([`config_file`](RegistryBuilder#method.config_file)), the
//! environment ([`env_prefix`](RegistryBuilder#method.env_prefix)), code
//! ([`declare_with`](RegistryBuilder::declare_with)), and changes while the process runs
//! ([`Breaker::update`]). The file and the environment are read with the feature `config`, and
//! again on [`Registry::reload`](Registry#method.reload) or, with the feature `watch`, when a
//! file changes. [`Snapshot::configuration`] shows where each value comes from, and
//! [`Event::Configured`] tells it once a service and when it changes.
//!
//! # By hand
//!
//! [`Breaker::force_open`], [`force_closed`](Breaker::force_closed) and
//! [`shadow`](Breaker::shadow) lay an override over the circuit, with a time after which it
//! ends by itself, and with who wanted it and why; [`Breaker::reset`] forgets what was
//! counted, and [`Breaker::update`] changes numbers while calls run.
//!
//! # Workers
//!
//! [`Breaker::wait_until_admitting`] lets a worker stop fetching jobs that it could not do,
//! and [`Breaker::subscribe`] is the stream of what happens to a service.
//!
//! # Metrics
//!
//! With the feature `metrics` (default) these are published through the `metrics`
//! facade, at zero for every service before its first call, if
//! [`Registry::builder`]`().install()` is called when the process starts:
//!
//! | name | kind | labels | what |
//! |---|---|---|---|
//! | `breakerbox_calls_total` | counter | `service`, `outcome` | calls by outcome: `success`, `failure`, `slow_success`, `slow_failure`, `ignored`, `rejected`, `cancelled`, `panicked`, `late` |
//! | `breakerbox_state` | gauge | `service`, `state` | 1 for the state the circuit is in, 0 for the others: `closed`, `open`, `half_open`, `forced_open`, `forced_closed`, `shadow` |
//! | `breakerbox_transitions_total` | counter | `service`, `from`, `to`, `reason` | moves of the circuit by reason, see [`Reason`] |
//! | `breakerbox_state_seconds_total` | counter | `service`, `state` | whole seconds in each state |
//! | `breakerbox_open_until_timestamp_seconds` | gauge | `service` | when the opening ends, 0 if not open |
//! | `breakerbox_in_flight` | gauge | `service` | calls admitted and not ended |
//! | `breakerbox_failure_rate` | gauge | `service` | share of failures in the window; NaN below `min_calls` |
//! | `breakerbox_threshold` | gauge | `service`, `kind` | where it opens: `threshold`, `failure_rate`, `slow_call_rate`; NaN for a rule that does not stand |
//! | `breakerbox_keyed_open` | gauge | `service` | keys whose circuits do not admit all calls |
//! | `breakerbox_override_active` | gauge | `service` | 1 while somebody has forced the circuit |
//! | `breakerbox_would_reject_total` | counter | `service` | calls that shadow let through and that would have been rejected |
//! | `breakerbox_call_duration_seconds` | histogram | `service`, `outcome` | how long calls took, by outcome except `rejected`; only with [`call_durations`](RegistryBuilder#method.call_durations), and there once there was such a call |
//! | `breakerbox_timeouts_total` | counter | `service` | calls that a timeout gave up while they ran |
//! | `breakerbox_bulkhead_available` | gauge | `service` | how many more calls may run at once |
//! | `breakerbox_bulkhead_rejected_total` | counter | `service` | calls for which the bulkhead had no place |
//! | `breakerbox_rate_limited_total` | counter | `service` | calls that were too many for the rate limit |
//! | `breakerbox_retries_total` | counter | `service`, `result` | calls that were to be made again, by what became of them: `succeeded`, `exhausted`, `out_of_time`, `told_to_wait` (the service asked for a longer wait than there was time for), `over_budget`, `refused` (a policy turned a later attempt down), `cancelled` |
//! | `breakerbox_retry_attempts_total` | counter | `service` | attempts after the first that began; one that follows a wait for the circuit is not among them, since the one before it was not made |
//! | `breakerbox_retry_budget_exhausted_total` | counter | `service` | calls that were not made again since the budget was used up |
//! | `breakerbox_fallbacks_total` | counter | `service`, `result` | answers of fallbacks: `success`, or `failure` where the fallback failed, too |
//!
//! Where processes share their circuits ([`RegistryBuilder::store`](RegistryBuilder#method.store),
//! feature `redis`) there are these, too:
//!
//! | name | kind | labels | what |
//! |---|---|---|---|
//! | `breakerbox_store_up` | gauge | | 1 while the store is reached, also where it does not take some circuit: that is `breakerbox_store_dropped_total` |
//! | `breakerbox_store_commands_total` | counter | `op` | commands sent: `sync`, `flush`, `acquire`, `renew`, `end`, `force`, `heartbeat`, `journal`, `numbers` |
//! | `breakerbox_store_dropped_total` | counter | `reason` | commands that were not done, or of which that is not known: `unavailable`, `timed_out`, `late`, `full`, `denied`, `foreign` |
//! | `breakerbox_store_push_lag_seconds` | gauge | | how long the last message was on its way |
//! | `breakerbox_store_reconnects_total` | counter | | how often the store was reached again |
//! | `breakerbox_store_foreign_messages_total` | counter | | messages on the channel that are of another program, or of a version to come |
//! | `breakerbox_config_mismatch` | gauge | `service` | 1 while processes that share the circuit go by different numbers, as during a rollout |
//!
//! No timer moves a circuit: `state="open"` stays 1 after the cooldown until somebody
//! calls. [`Registry::close`] at the end of `main` publishes the last counts.
//!
//! # Tests
//!
//! [`with_registry`] and [`Registry::enter`] give a test breakers of its own. With the
//! feature `test-util` the cooldown follows tokio's paused clock; a thread outside of
//! tokio follows the system's. There, too, `Registry::builder().clock(..)` gives a registry
//! a clock of its own, such as a `ManualClock`, which needs no runtime.
//!
//! # Features
//!
//! `macros` and `metrics` are on by default. `config` and `watch` read files and the
//! environment; `retry` and `rate-limit` bring the attributes of those names and what they are
//! without attributes (`Retry`, `RateLimiter`); `redis` shares circuits between processes, and
//! `redis-tls` does so over TLS; `test-util` is for dev-dependencies. Timeouts, bulkheads and
//! fallbacks are always there.

#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "config")]
mod config;
#[cfg(feature = "metrics")]
mod durations;
#[cfg(feature = "metrics")]
mod publish;
#[cfg(feature = "retry")]
mod retry;

mod blocking;
mod breaker;
mod bulkhead;
mod cells;
mod clock;
mod deadline;
mod declaration;
mod error;
mod event;
mod first_error;
#[cfg(feature = "redis")]
mod fleet;
mod gate;
mod host;
mod hot;
#[cfg(feature = "redis")]
mod journal;
mod limit_conflict;
#[cfg(feature = "redis")]
mod member;
mod name;
#[cfg(feature = "redis")]
mod numbers;
mod outcome;
mod policies;
mod policy;
#[cfg(feature = "rate-limit")]
mod rate_limit;
mod reason;
mod recent;
mod registry;
mod rejected;
mod ring;
mod rules;
mod settings;
#[cfg(feature = "redis")]
mod sharing;
mod site;
mod state;
#[cfg(feature = "redis")]
mod store;
mod sync;
mod timed_out;
mod timeout;
mod verdict;
mod word;

#[doc(hidden)]
#[path = "private.rs"]
pub mod __private;

#[doc = include_str!("choosing_numbers.md")]
pub mod choosing_numbers {}

#[cfg(feature = "redis")]
#[doc = include_str!("sharing_circuits.md")]
pub mod sharing_circuits {}

#[doc = include_str!("what_runs_how_often.md")]
pub mod what_runs_how_often {}

/// The facade that the metrics go through. A recorder for another version of it sees
/// nothing.
#[cfg(feature = "metrics")]
pub use ::metrics;

#[cfg(feature = "macros")]
pub use breakerbox_macros::bulkhead;
#[cfg(feature = "macros")]
pub use breakerbox_macros::circuit_breaker;
#[cfg(feature = "macros")]
pub use breakerbox_macros::fallback;
#[cfg(all(feature = "macros", feature = "rate-limit"))]
pub use breakerbox_macros::rate_limit;
#[cfg(feature = "macros")]
pub use breakerbox_macros::resilient;
#[cfg(all(feature = "macros", feature = "retry"))]
pub use breakerbox_macros::retry;
#[cfg(feature = "macros")]
pub use breakerbox_macros::timeout;

pub use breaker::Acquire;
pub use breaker::Breaker;
pub use breaker::Call;
pub use breaker::Calls;
pub use breaker::Forced;
pub use breaker::InWindow;
pub use breaker::Keyed;
pub use breaker::Override;
pub use breaker::OverrideError;
pub use breaker::OverrideGuard;
pub use breaker::Permit;
pub use breaker::Snapshot;
pub use breaker::Subscription;
pub use bulkhead::AcquireSlot;
pub use bulkhead::Bulkhead;
pub use bulkhead::Slot;
#[cfg(feature = "test-util")]
pub use clock::Clock;
#[cfg(feature = "test-util")]
pub use clock::ManualClock;
pub use deadline::deadline;
pub use declaration::Conflict;
pub use declaration::Location;
pub use error::Error;
pub use event::Activity;
pub use event::By;
pub use event::Did;
pub use event::Event;
pub use event::Transition;
pub use event::Warning;
pub use event::WouldOpen;
pub use first_error::FirstError;
pub use first_error::KeepsFirst;
#[cfg(feature = "redis")]
pub use journal::JournalEntry;
#[cfg(feature = "redis")]
pub use journal::JournalError;
pub use limit_conflict::LimitConflict;
pub use name::NameError;
#[cfg(feature = "redis")]
pub use numbers::Difference;
pub use outcome::FromRejected;
pub use outcome::FromTimedOut;
pub use outcome::Outcome;
pub use policies::Policies;
pub use policy::BulkheadPolicy;
pub use policy::Key;
pub use policy::LimitError;
pub use policy::OnCancel;
pub use policy::Policy;
pub use policy::PolicyError;
#[cfg(feature = "rate-limit")]
pub use policy::RatePolicy;
#[cfg(feature = "retry")]
pub use policy::RetryPolicy;
pub use policy::Window;
#[cfg(feature = "rate-limit")]
pub use rate_limit::AcquireToken;
#[cfg(feature = "rate-limit")]
pub use rate_limit::RateLimiter;
pub use reason::Reason;
pub use registry::BuildError;
pub use registry::Entered;
pub use registry::Registry;
pub use registry::RegistryBuilder;
pub use registry::WithRegistry;
pub use registry::breaker;
#[cfg(feature = "redis")]
pub use registry::journal;
pub use registry::policies;
pub use registry::publish_metrics;
pub use registry::services;
pub use registry::timeout;
pub use registry::with_registry;
pub use rejected::Rejected;
pub use rejected::RejectedKind;
#[cfg(feature = "retry")]
pub use retry::Idempotent;
#[cfg(feature = "retry")]
pub use retry::Repeats;
#[cfg(feature = "retry")]
pub use retry::Retry;
#[cfg(feature = "retry")]
pub use retry::RetryCall;
#[cfg(feature = "retry")]
pub use retry::RetryOn;
#[cfg(feature = "retry")]
pub use retry::Undecided;
pub use settings::Change;
pub use settings::ConfigError;
pub use settings::Problem;
pub use settings::ReloadError;
pub use settings::Reloaded;
pub use settings::Setting;
pub use settings::Source;
#[cfg(feature = "redis")]
pub use sharing::Sharing;
#[cfg(feature = "redis")]
pub use sharing::SharingState;
#[cfg(feature = "redis")]
pub use sharing::WhenStoreIsLost;
pub use site::CallSite;
pub use site::call_sites;
pub use state::State;
#[cfg(feature = "redis")]
pub use store::AddressError;
#[cfg(feature = "redis")]
pub use store::MemoryStore;
#[cfg(feature = "redis")]
pub use store::Redis;
#[cfg(feature = "redis")]
pub use store::SharedStore;
pub use timed_out::TimedOut;
pub use timeout::Timeout;
pub use verdict::IntoVerdict;
pub use verdict::Verdict;

/// The examples of the README are tests, too.
#[cfg(all(doctest, feature = "redis", feature = "retry", feature = "rate-limit"))]
#[doc = include_str!("../../README.md")]
mod readme {}
