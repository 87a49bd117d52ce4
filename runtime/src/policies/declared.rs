//! What the functions that name a service declare for it: of several that speak about one
//! limit, the first one's numbers are in force.

use std::sync::OnceLock;

use crate::limit_conflict::LimitConflict;
use crate::limit_conflict::Numbers;
use crate::policies::Policies;
use crate::policies::site::Stack;

impl Policies {
    /// Takes what one stack declares, where no other was first.
    pub(crate) fn declare(&self, stack: &'static Stack) {
        let limits = &stack.limits;
        if let Some(policy) = limits.bulkhead
            && self.bulkhead.get().is_none()
        {
            self.bulkhead_or(policy);
            // Another thread may have been quicker.
            let _ = self.first.bulkhead.set(stack);
        }
        #[cfg(feature = "rate-limit")]
        if let Some(policy) = limits.rate_limit
            && self.rate_limiter.get().is_none()
        {
            self.rate_limiter_or(policy);
            let _ = self.first.rate_limit.set(stack);
        }
        #[cfg(feature = "metrics")]
        self.uses.add(limits);
    }

    /// Whether the numbers in force are not those of this stack.
    pub(crate) fn differs_from(&self, stack: &Stack) -> bool {
        let limits = &stack.limits;
        let bulkhead = self.bulkhead.get().zip(limits.bulkhead.as_ref());
        let differs = bulkhead.is_some_and(|(known, other)| known.policy() != other);
        #[cfg(feature = "rate-limit")]
        let differs = differs || {
            let rate_limit = self.rate_limiter.get().zip(limits.rate_limit.as_ref());
            rate_limit.is_some_and(|(known, other)| known.policy() != other)
        };
        differs
    }

    /// Where a stack contradicts those whose numbers are in force.
    pub(crate) fn conflicts_with(&self, stack: &Stack) -> Vec<LimitConflict> {
        let service = self.service().unwrap_or_default();
        #[cfg(feature = "rate-limit")]
        let firsts = [
            self.first.bulkhead.get().copied(),
            self.first.rate_limit.get().copied(),
        ];
        #[cfg(not(feature = "rate-limit"))]
        let firsts = [self.first.bulkhead.get().copied()];
        conflicts(service, firsts.into_iter().flatten().chain([stack]))
    }
}

/// Whose numbers are in force, where it is a function's.
#[derive(Debug, Default)]
pub(super) struct First {
    bulkhead: OnceLock<&'static Stack>,
    #[cfg(feature = "rate-limit")]
    rate_limit: OnceLock<&'static Stack>,
}

impl Stack {
    /// What it says about each limit that a service has once.
    fn said(&self) -> impl Iterator<Item = (&'static str, Numbers)> {
        let bulkhead = self.limits.bulkhead.map(|policy| policy.to_string());
        #[cfg(feature = "rate-limit")]
        let rate_limit = self.limits.rate_limit.map(|policy| policy.to_string());
        #[cfg(not(feature = "rate-limit"))]
        let rate_limit = None;
        let said = [("bulkhead", bulkhead), ("rate_limit", rate_limit)];
        said.into_iter().filter_map(|(policy, text)| {
            let location = self.location;
            text.map(|text| (policy, Numbers { location, text }))
        })
    }
}

/// Where the stacks of one service, by file and line, contradict the first of them.
pub(crate) fn conflicts<'s>(
    service: &str,
    stacks: impl IntoIterator<Item = &'s Stack>,
) -> Vec<LimitConflict> {
    let mut firsts: Vec<(&str, Numbers)> = Vec::new();
    let mut conflicts = Vec::new();
    for (policy, numbers) in stacks.into_iter().flat_map(Stack::said) {
        match firsts.iter().find(|(known, _)| *known == policy) {
            None => firsts.push((policy, numbers)),
            Some((_, first)) => {
                conflicts.extend(LimitConflict::between(service, policy, first, numbers));
            }
        }
    }
    conflicts
}
