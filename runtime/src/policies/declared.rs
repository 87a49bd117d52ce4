//! What the functions that name a service declare for it: of several that speak about one
//! limit, the first one's numbers are in force.

use crate::limit_conflict::LimitConflict;
use crate::limit_conflict::Numbers;
use crate::policies::Policies;
use crate::policies::site::Stack;

impl Policies {
    /// Takes what one stack declares, where no other was first.
    pub(crate) fn declare(&self, stack: &Stack) {
        let limits = &stack.limits;
        if let Some(policy) = limits.bulkhead {
            self.bulkhead_or(policy);
        }
        #[cfg(feature = "rate-limit")]
        if let Some(policy) = limits.rate_limit {
            self.rate_limiter_or(policy);
        }
        #[cfg(feature = "metrics")]
        self.uses.add(limits);
    }
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
