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
        if limits.bulkhead.is_some() && self.bulkhead.get().is_none() {
            // Known before the numbers are: whoever finds them finds whose they are.
            let first = self.first.bulkhead.get_or_init(|| stack);
            first.limits.bulkhead.map(|policy| self.bulkhead_or(policy));
        }
        #[cfg(feature = "rate-limit")]
        if limits.rate_limit.is_some() && self.rate_limiter.get().is_none() {
            let first = self.first.rate_limit.get_or_init(|| stack);
            let policy = first.limits.rate_limit;
            policy.map(|policy| self.rate_limiter_or(policy));
        }
        #[cfg(feature = "metrics")]
        self.uses.add(limits);
    }

    /// Whether the numbers in force are those of another stack, which says something else.
    pub(crate) fn differs_from(&self, stack: &Stack) -> bool {
        self.first_with_other_places(stack).is_some() || self.first_at_another_rate(stack).is_some()
    }

    /// Where a stack contradicts those whose numbers are in force. What is in force for one
    /// limit may be of another function than what is for the other.
    pub(crate) fn conflicts_with(&self, stack: &Stack) -> Vec<LimitConflict> {
        let service = self.service().unwrap_or_default();
        let places = self.first_with_other_places(stack);
        let places = places.and_then(|first| first.said_of_places().zip(stack.said_of_places()));
        let rate = self.first_at_another_rate(stack);
        let rate = rate.and_then(|first| first.said_of_rate().zip(stack.said_of_rate()));
        let both = [places, rate].into_iter().flatten();
        both.filter_map(|((policy, first), (_, other))| {
            LimitConflict::between(service, policy, &first, other)
        })
        .collect()
    }

    /// Whose numbers are in force for the bulkhead, where this stack has others. Code that was
    /// quicker than all functions has no place that could be named.
    fn first_with_other_places(&self, stack: &Stack) -> Option<&'static Stack> {
        let known = self.bulkhead.get()?.policy();
        let is_other = |stack: &Stack| stack.limits.bulkhead.is_some_and(|it| it != *known);
        let first = self.first.bulkhead.get().copied();
        first.filter(|first| is_other(stack) && !is_other(first))
    }

    #[cfg(feature = "rate-limit")]
    fn first_at_another_rate(&self, stack: &Stack) -> Option<&'static Stack> {
        let known = self.rate_limiter.get()?.policy();
        let is_other = |stack: &Stack| stack.limits.rate_limit.is_some_and(|it| it != *known);
        let first = self.first.rate_limit.get().copied();
        first.filter(|first| is_other(stack) && !is_other(first))
    }

    #[cfg(not(feature = "rate-limit"))]
    #[allow(clippy::unused_self)]
    const fn first_at_another_rate(&self, _: &Stack) -> Option<&'static Stack> {
        None
    }
}

/// Whose numbers are in force, where it is a function's.
#[derive(Debug, Default)]
pub(super) struct First {
    bulkhead: OnceLock<&'static Stack>,
    #[cfg(feature = "rate-limit")]
    rate_limit: OnceLock<&'static Stack>,
}

/// A limit that a service has once, and what a stack says about it.
type Said = (&'static str, Numbers);

impl Stack {
    fn said(&self) -> impl Iterator<Item = Said> {
        [self.said_of_places(), self.said_of_rate()]
            .into_iter()
            .flatten()
    }

    fn said_of_places(&self) -> Option<Said> {
        let text = self.limits.bulkhead?.to_string();
        Some(("bulkhead", self.numbers(text)))
    }

    #[cfg(feature = "rate-limit")]
    fn said_of_rate(&self) -> Option<Said> {
        let text = self.limits.rate_limit?.to_string();
        Some(("rate_limit", self.numbers(text)))
    }

    #[cfg(not(feature = "rate-limit"))]
    #[allow(clippy::unused_self)]
    const fn said_of_rate(&self) -> Option<Said> {
        None
    }

    const fn numbers(&self, text: String) -> Numbers {
        Numbers {
            location: self.location,
            text,
        }
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
