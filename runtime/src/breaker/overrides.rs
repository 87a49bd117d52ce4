//! What people do to a breaker by hand.

use std::fmt;
use std::sync::Arc;
use std::sync::PoisonError;
use std::time::Duration;

use crate::breaker::Breaker;
use crate::breaker::Elsewhere;
use crate::event::By;
use crate::name;
use crate::reason::Reason;
use crate::rules::Changes;
use crate::rules::Command;

/// The longest text that is kept of an actor or a reason, in bytes.
const KEPT: usize = 256;

/// An override that has begun. It ends by itself when its time has passed, or earlier by
/// [`Breaker::clear_override`]; dropping this does nothing, but see [`guard`](Self::guard).
#[derive(Debug)]
pub struct Override<'b> {
    breaker: &'b Breaker,
    /// The generation that began with it.
    id: u64,
    elsewhere: Elsewhere,
}

/// An override that ends when this is dropped, if it has not ended before and no other
/// one has taken its place.
#[derive(Debug)]
#[must_use = "the override ends when this is dropped"]
pub struct OverrideGuard<'b> {
    of: Override<'b>,
}

/// An override that nobody could account for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OverrideError {
    /// It would end before it begins.
    #[error("an override must last longer than zero")]
    NoTime,
    /// Nobody is named who wants it.
    #[error("an override needs an actor: who wants it")]
    NoActor,
    /// No reason is given.
    #[error("an override needs a reason: why it is wanted")]
    NoReason,
}

impl<'b> Override<'b> {
    /// Ties the override to a value: it ends when that is dropped, and by itself as before.
    pub const fn guard(self) -> OverrideGuard<'b> {
        OverrideGuard { of: self }
    }

    /// Whether all processes that share the circuit are told of it. One that is told to nobody,
    /// since the store is lost, ends when the store is found again.
    #[cfg(feature = "redis")]
    #[must_use]
    pub const fn is_shared(&self) -> bool {
        self.elsewhere.is_shared()
    }
}

impl Drop for OverrideGuard<'_> {
    fn drop(&mut self) {
        let Override {
            breaker,
            id,
            elsewhere,
        } = &self.of;
        let about_to = breaker.about_to_share();
        breaker.command(Command::ClearOnly(*id));
        breaker.share_end(elsewhere, about_to);
    }
}

impl Breaker {
    /// Rejects all calls for `ttl`, whatever the rules say.
    ///
    /// What lies beneath is kept as it is: the counts of a closed circuit, and what is left
    /// of an opening; a half-open circuit begins a fresh round afterwards. Calls that are
    /// out end as late ones.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # let registry = breakerbox::Registry::builder().declare("tax").build().unwrap();
    /// # let tax = registry.breaker("tax").unwrap();
    /// let hour = Duration::from_secs(3600);
    /// tax.force_open(hour, "ana", "the provider migrates until 3:00")?;
    /// assert!(tax.try_acquire().is_err());
    /// tax.clear_override();
    /// assert!(tax.try_acquire().is_ok());
    /// # Ok::<(), breakerbox::OverrideError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`OverrideError`] where there is no time, actor or reason. Nothing is changed then.
    /// Of long texts the first 256 bytes are kept.
    pub fn force_open(
        &self,
        ttl: Duration,
        actor: impl AsRef<str>,
        reason: impl AsRef<str>,
    ) -> Result<Override<'_>, OverrideError> {
        self.force(
            Command::ForceOpen(ttl),
            ttl,
            actor.as_ref(),
            reason.as_ref(),
        )
    }

    /// Lets all calls through for `ttl` and judges none of them; they are counted by their
    /// outcomes. Afterwards the circuit is closed and has forgotten everything.
    ///
    /// # Errors
    ///
    /// As of [`force_open`](Self::force_open).
    pub fn force_closed(
        &self,
        ttl: Duration,
        actor: impl AsRef<str>,
        reason: impl AsRef<str>,
    ) -> Result<Override<'_>, OverrideError> {
        self.force(
            Command::ForceClosed(ttl),
            ttl,
            actor.as_ref(),
            reason.as_ref(),
        )
    }

    /// Lets all calls through for `ttl`, while the rules work on beneath: each time the
    /// circuit would have opened is an [`Event::WouldOpen`](crate::Event::WouldOpen), and
    /// calls that would have been rejected are counted. Afterwards the circuit is closed and
    /// has forgotten everything.
    ///
    /// # Errors
    ///
    /// As of [`force_open`](Self::force_open).
    pub fn shadow(
        &self,
        ttl: Duration,
        actor: impl AsRef<str>,
        reason: impl AsRef<str>,
    ) -> Result<Override<'_>, OverrideError> {
        self.force(Command::Shadow(ttl), ttl, actor.as_ref(), reason.as_ref())
    }

    /// Ends an override, if there is one, and says whether there was.
    pub fn clear_override(&self) -> bool {
        let now = self.service.host.clock.now();
        // One whose time has passed ended then, though nobody may have noticed yet.
        let (circuit, _) = self.peek(now);
        let lasts = circuit
            .overlay
            .as_ref()
            .is_some_and(|it| it.until().is_some());
        let about_to = self.about_to_share();
        let changes = self.command(Command::Clear);
        self.share_command(Command::Clear, None, about_to);
        lasts
            && changes
                .iter()
                .any(|change| change.reason == Reason::OverrideEnded)
    }

    /// Closes the circuit and forgets all that was counted, and all earlier openings. An
    /// override stays over it.
    pub fn reset(&self) {
        let about_to = self.about_to_share();
        self.command(Command::Reset);
        self.share_command(Command::Reset, None, about_to);
    }

    fn force(
        &self,
        command: Command,
        ttl: Duration,
        actor: &str,
        reason: &str,
    ) -> Result<Override<'_>, OverrideError> {
        if ttl.is_zero() {
            return Err(OverrideError::NoTime);
        }
        if actor.trim().is_empty() {
            return Err(OverrideError::NoActor);
        }
        if reason.trim().is_empty() {
            return Err(OverrideError::NoReason);
        }
        let by = By {
            actor: Arc::from(name::beginning(actor, KEPT)),
            reason: Arc::from(name::beginning(reason, KEPT)),
        };
        let about_to = self.about_to_share();
        let changes = self.command_by(command, Some(by.clone()));
        let elsewhere = self.share_command(command, Some(&by), about_to);
        let began = changes
            .iter()
            .find(|change| change.reason == Reason::Override);
        Ok(Override {
            breaker: self,
            id: began.map_or(u64::MAX, |change| change.generation),
            elsewhere,
        })
    }

    fn command(&self, command: Command) -> Changes {
        self.command_by(command, None)
    }

    /// Does what somebody wants, and tells who.
    pub(super) fn command_by(&self, command: Command, by: Option<By>) -> Changes {
        // One at a time, so that each change has its own name to it.
        let known = self.seldom().by.lock();
        let mut known = known.unwrap_or_else(PoisonError::into_inner);
        let now = self.service.host.clock.now();
        let numbers = self.service.numbers();
        let changes = self.gate.command(&numbers, command, now);
        drop(numbers);
        let earlier = known.clone();
        if by.is_some() {
            *known = by;
        }
        for change in changes.iter() {
            let by = match change.reason {
                Reason::Override => known.clone(),
                Reason::OverrideEnded => earlier.clone(),
                _ => None,
            };
            self.service.tell(*change, self.key.as_ref(), by);
        }
        drop(known);
        self.share_changes(&changes);
        self.wake_waiting(&changes);
        changes
    }
}

impl fmt::Display for By {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.actor, self.reason)
    }
}
