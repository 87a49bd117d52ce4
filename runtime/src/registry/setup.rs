//! What code, files and the environment say about services: judged as a whole, and put in
//! force as a whole.

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::sync::Arc;

use crate::breaker::Held;
use crate::declaration::Declaration;
use crate::policy::Policy;
use crate::registry::Inner;
#[cfg(feature = "config")]
use crate::registry::OVERFLOW;
use crate::registry::linked;
use crate::registry::read;
use crate::registry::stacks;
use crate::registry::table::Numbers;
use crate::registry::table::Rows;
use crate::registry::write;
use crate::settings::ConfigError;
use crate::settings::Configuration;
use crate::settings::Layers;
use crate::settings::Problem;
use crate::settings::Source;

#[derive(Clone, Debug, Default)]
pub(super) struct Setup {
    /// What code declares, with the keys that it writes.
    pub(super) declared: BTreeMap<String, Policy>,
    pub(super) configuration: Arc<Configuration>,
    pub(super) strict: bool,
}

/// One service, as it is and as it is to be.
struct Prepared<'b> {
    service: String,
    held: Option<Held<'b>>,
    before: Layers,
    after: Layers,
}

impl Setup {
    /// All that is written about a service; `attribute` is of the function that named it.
    pub(super) fn layers(&self, service: &str, attribute: Option<&'static Declaration>) -> Layers {
        let code = self.declared.get(service).copied().unwrap_or_default();
        Layers::new(attribute, Arc::clone(&self.configuration), code)
    }

    /// What a service begins with, if somebody declares it: with the numbers of the first
    /// call site by file and line, else with those of the first that names it.
    pub(super) fn numbers(&self, service: &str) -> Option<Numbers> {
        let linked = linked::first(service);
        if linked.is_none() && !self.declared.contains_key(service) {
            return None;
        }
        Some(Numbers::new(self.layers(service, linked), linked))
    }

    /// Every service that somebody declares or has called.
    fn services(&self, rows: &Rows) -> BTreeSet<String> {
        let called = rows.breakers().map(|breaker| breaker.name().to_owned());
        let linked = linked::services().map(str::to_owned);
        let declared = self.declared.keys().cloned();
        linked.chain(declared).chain(called).collect()
    }

    /// What is written above the attributes of a service.
    pub(super) fn above_attributes(&self, service: &str, live: Policy) -> Policy {
        let mut layers = self.layers(service, None);
        layers.live = live;
        layers.above_attributes(service)
    }

    /// What is wrong with the numbers of one service, where it is known.
    fn judge(&self, service: &str, layers: &Layers) -> Vec<Problem> {
        let linked = linked::first(service);
        if linked.is_none() && !self.declared.contains_key(service) {
            return Vec::new();
        }
        // What a function brings whose name for the service is made up at run time is not
        // known when all is set up, so it is not judged later either; nor is what was changed
        // live with that in mind.
        let mut judged = layers.clone();
        judged.attribute = linked;
        let is_live = judged.is_live();
        let mut problems = Vec::new();
        if is_live && linked.is_some() == layers.attribute.is_some() {
            problems = judged.faults(service);
        }
        // The live changes may be taken back.
        judged.live = Policy::new();
        for problem in judged.faults(service) {
            if !problems.contains(&problem) {
                problems.push(problem);
            }
        }
        problems
    }
}

impl Inner {
    /// Every service that somebody declares or has called, and the one that others share.
    #[cfg(feature = "config")]
    pub(super) fn known(&self, setup: &Setup) -> BTreeSet<String> {
        let mut known = setup.services(&self.breakers.freeze());
        known.insert(OVERFLOW.to_owned());
        known
    }

    /// Puts another set-up in force, for the breakers there are and for those to come, unless
    /// it or what was `found` before is wrong: then everything stays as it was. `tell` hears
    /// of each service before and after. Gives what is written and cannot be in force.
    pub(super) fn set_up(
        &self,
        next: Setup,
        found: Vec<Problem>,
        mut tell: impl FnMut(&str, &Layers, &Layers),
    ) -> Result<Vec<ConfigError>, Vec<Problem>> {
        // Until all is done no breaker is made and none is changed.
        let rows = self.breakers.freeze();
        let now = read(&self.setup).clone();
        let mut held: BTreeMap<&str, Held<'_>> = rows
            .breakers()
            .map(|breaker| (breaker.name(), breaker.hold()))
            .collect();

        let mut problems = found;
        let mut unused = Vec::new();
        let mut prepared = Vec::new();
        for service in next.services(&rows) {
            let held = held.remove(&*service);
            let before = match &held {
                Some(held) => held.layers().clone(),
                None => now.layers(&service, linked::first(&service)),
            };
            let mut after = next.layers(&service, before.attribute);
            after.live = before.live;
            problems.extend(next.judge(&service, &after));
            let left_out = after.leave_out(&service);
            if !after.leaves_out_as(&before) {
                unused.extend(left_out);
            }
            prepared.push(Prepared {
                service,
                held,
                before,
                after,
            });
        }
        if next.strict {
            let conflicts =
                linked::conflicts(|service| next.above_attributes(service, Policy::new()));
            problems.extend(conflicts.into_iter().map(Problem::Conflict));
            let limits = stacks::limit_conflicts().into_iter();
            problems.extend(limits.map(Problem::LimitConflict));
        }
        if !problems.is_empty() {
            return Err(problems);
        }

        for Prepared {
            service,
            held,
            before,
            after,
        } in prepared
        {
            tell(&service, &before, &after);
            if let Some(held) = held {
                held.put(after);
            }
        }
        *write(&self.setup) = next;
        Ok(unused)
    }
}

/// In the order in which code has `said` names, then by file and line, then by variable.
pub(super) fn sort(problems: &mut [Problem], said: &[String]) {
    let position = |name: &str| said.iter().position(|said| said == name);
    problems.sort_by_cached_key(|problem| match problem {
        Problem::Name { name, .. } => (0, position(name), String::new(), 0),
        Problem::Policy { service, .. } => (0, position(service), String::new(), 0),
        Problem::Configuration(error) => match error.place() {
            Source::File { path, line } => (1, None, path.display().to_string(), *line),
            Source::Environment { variable } => (2, None, variable.to_string(), 0),
            _ => (3, None, String::new(), 0),
        },
        Problem::NothingToWatch => (3, None, String::new(), 0),
        Problem::Conflict(_) | Problem::LimitConflict(_) => (4, None, String::new(), 0),
    });
}
