//! All that is written about one service, and what comes of it.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::declaration::Declaration;
use crate::policy::Key;
use crate::policy::Policy;
use crate::policy::PolicyError;
use crate::settings::ConfigError;
use crate::settings::Problem;
use crate::settings::Setting;
use crate::settings::Source;
use crate::settings::fault;
use crate::settings::fault::Fault;
use crate::settings::stack::Rank;
use crate::settings::stack::Stack;

/// What files and the environment write.
#[derive(Debug, Default)]
pub(crate) struct Configuration {
    pub(crate) file: Section,
    pub(crate) environment: Section,
}

#[derive(Debug, Default)]
pub(crate) struct Section {
    /// For all services.
    pub(crate) defaults: Written,
    pub(crate) services: BTreeMap<String, Written>,
}

/// What is written in one table, and where each key of it stands.
#[derive(Debug, Default)]
pub(crate) struct Written {
    policy: Policy,
    sources: BTreeMap<Key, Source>,
    /// Something in it could not be understood, so nobody knows what goes with what.
    is_broken: bool,
}

#[cfg(feature = "config")]
impl Written {
    /// Takes the one key that `value` writes; what was written before is replaced.
    pub(crate) fn write(&mut self, key: Key, value: &Policy, source: Source) {
        self.policy.copy(key, value);
        self.sources.insert(key, source);
    }

    /// Puts what is written later in place of what was written before.
    pub(crate) fn add(&mut self, later: Self) {
        self.policy = later.policy.over(self.policy);
        self.sources.extend(later.sources);
        self.is_broken |= later.is_broken;
    }

    pub(crate) const fn break_it(&mut self) {
        self.is_broken = true;
    }
}

/// All that is written about one service.
#[derive(Clone, Debug)]
pub(crate) struct Layers {
    /// The first function that names it.
    pub(crate) attribute: Option<&'static Declaration>,
    pub(crate) configuration: Arc<Configuration>,
    pub(crate) code: Policy,
    pub(crate) live: Policy,
    /// What does not go with the rest and showed too late to be refused.
    left_out: Vec<(Rank, Key)>,
}

/// Whom set-up blames: what is written outside of the program can be mended at once.
const CONFIGURED: [Rank; 4] = [
    Rank::Environment,
    Rank::EnvironmentDefaults,
    Rank::File,
    Rank::FileDefaults,
];

/// What has to yield while the process runs: what comes later in precedence.
const YIELDING: [Rank; 5] = [
    Rank::Attribute,
    Rank::FileDefaults,
    Rank::File,
    Rank::EnvironmentDefaults,
    Rank::Environment,
];

impl Layers {
    pub(crate) const fn new(
        attribute: Option<&'static Declaration>,
        configuration: Arc<Configuration>,
        code: Policy,
    ) -> Self {
        Self {
            attribute,
            configuration,
            code,
            live: Policy::new(),
            left_out: Vec::new(),
        }
    }

    /// The numbers in force, as far as they are written.
    pub(crate) fn policy(&self, service: &str) -> Policy {
        self.stack(service).merged()
    }

    /// The same without the attribute: what settles a contradiction between attributes.
    pub(crate) fn above_attributes(&self, service: &str) -> Policy {
        let mut above = self.clone();
        above.attribute = None;
        let written = Rank::ALL.map(|rank| above.written(service, rank));
        let from_below = written.into_iter();
        from_below.fold(Policy::new(), |below, above| above.over(below))
    }

    /// Says whether a breaker can work with them.
    pub(crate) fn check(&self, service: &str) -> Result<(), PolicyError> {
        self.stack(service).check()
    }

    /// Every key that stands, and where its value comes from.
    pub(crate) fn settings(&self, service: &str) -> Vec<Setting> {
        let stack = self.stack(service);
        let effective = stack.merged().effective();
        effective
            .map(|(key, value)| Setting {
                key,
                value,
                source: self.source(service, stack.winner(key), key),
            })
            .collect()
    }

    /// What does not go together, where that can still be refused.
    pub(crate) fn faults(&self, service: &str) -> Vec<Problem> {
        if self.is_broken(service) {
            return Vec::new();
        }
        let mut stack = self.stack(service);
        let faults = fault::take_out(&mut stack, &CONFIGURED);
        let problems = faults.into_iter().map(|fault| match fault.rank {
            Rank::Code => Problem::Policy {
                service: service.to_owned(),
                source: fault.error,
            },
            _ => Problem::Configuration(self.error(service, &fault, "")),
        });
        problems.collect()
    }

    /// Leaves out what does not go together, where that can no longer be refused; tells
    /// what that is.
    pub(crate) fn leave_out(&mut self, service: &str) -> Vec<ConfigError> {
        self.left_out = Vec::new();
        let mut stack = self.stack(service);
        let faults = fault::take_out(&mut stack, &YIELDING);
        self.left_out = faults.iter().map(|fault| (fault.rank, fault.key)).collect();
        let errors = faults.into_iter();
        errors
            .map(|fault| self.error(service, &fault, "; it is left out"))
            .collect()
    }

    /// Takes over live changes of another process, where they cannot be refused: what does not
    /// go with the rest here is left out of them. Tells what that is.
    #[cfg(feature = "redis")]
    pub(crate) fn put_live(&mut self, service: &str, live: Policy) -> Vec<ConfigError> {
        // What yields to earlier live changes need not yield to these.
        self.live = Policy::new();
        drop(self.leave_out(service));
        self.live = live;
        let mut stack = self.stack(service);
        let mut faults = fault::take_out(&mut stack, &[Rank::Live]);
        faults.retain(|fault| fault.rank == Rank::Live);
        for fault in &faults {
            self.live.copy(fault.key, &Policy::new());
        }
        // Where no single word of them is to blame. Without any it goes together.
        while let Err(error) = self.check(service)
            && let Some(key) = Key::ALL.iter().copied().find(|key| self.live.writes(*key))
        {
            self.live.copy(key, &Policy::new());
            faults.push(Fault {
                rank: Rank::Live,
                key,
                error,
                others: Vec::new(),
            });
        }
        let errors = faults.into_iter();
        errors
            .map(|fault| self.error(service, &fault, "; it is left out"))
            .collect()
    }

    /// Whether there are live changes.
    pub(crate) fn is_live(&self) -> bool {
        Key::ALL.iter().any(|key| self.live.writes(*key))
    }

    /// Whether the same is left out in both.
    pub(crate) fn leaves_out_as(&self, other: &Self) -> bool {
        self.left_out == other.left_out
    }

    fn stack(&self, service: &str) -> Stack {
        Stack::new(|rank| {
            let mut written = self.written(service, rank);
            for (_, key) in self.left_out.iter().filter(|(of, _)| *of == rank) {
                written.copy(*key, &Policy::new());
            }
            written
        })
    }

    fn written(&self, service: &str, rank: Rank) -> Policy {
        match rank {
            Rank::Attribute => self.attribute.map_or(Policy::new(), |site| site.policy),
            Rank::Code => self.code,
            Rank::Live => self.live,
            _ => self
                .table(service, rank)
                .map_or(Policy::new(), |table| table.policy),
        }
    }

    fn table(&self, service: &str, rank: Rank) -> Option<&Written> {
        let Configuration { file, environment } = &*self.configuration;
        match rank {
            Rank::FileDefaults => Some(&file.defaults),
            Rank::File => file.services.get(service),
            Rank::EnvironmentDefaults => Some(&environment.defaults),
            Rank::Environment => environment.services.get(service),
            Rank::Attribute | Rank::Code | Rank::Live => None,
        }
    }

    fn is_broken(&self, service: &str) -> bool {
        let tables = CONFIGURED
            .iter()
            .filter_map(|rank| self.table(service, *rank));
        tables.into_iter().any(|table| table.is_broken)
    }

    fn source(&self, service: &str, rank: Option<Rank>, key: Key) -> Source {
        match rank {
            None => Source::Default,
            Some(Rank::Code) => Source::Code,
            Some(Rank::Live) => Source::Live,
            Some(Rank::Attribute) => match self.attribute {
                None => Source::Default,
                Some(site) => Source::Attribute(site.location),
            },
            Some(rank) => {
                let written = self.table(service, rank);
                let source = written.and_then(|table| table.sources.get(&key));
                source.cloned().unwrap_or(Source::Default)
            }
        }
    }

    /// A fault in words: where, in which table and about which service it is.
    fn error(&self, service: &str, fault: &Fault, end: &str) -> ConfigError {
        let place = self.source(service, Some(fault.rank), fault.key);
        let others = fault.others.iter().map(|(key, value, rank)| {
            let source = self.source(service, *rank, *key);
            let by = match source {
                Source::Default => "by default".to_owned(),
                Source::Attribute(_) | Source::File { .. } => format!("at {source}"),
                Source::Environment { .. } => format!("by {source}"),
                Source::Code => "in code".to_owned(),
                Source::Live => "by a live change".to_owned(),
            };
            format!("`{key}` is {value} {by}")
        });
        let others: Vec<_> = others.collect();
        let others = if others.is_empty() {
            String::new()
        } else {
            format!(" ({})", others.join(", "))
        };
        let message = fault.error.message();
        let error = match fault.rank {
            Rank::FileDefaults => ConfigError::new(
                place,
                format!("service `{service}`: {message}{others}{end}"),
            )
            .in_defaults(),
            Rank::File => {
                ConfigError::new(place, format!("{message}{others}{end}")).in_service(service)
            }
            _ => ConfigError::new(
                place,
                format!("service `{service}`: {message}{others}{end}"),
            ),
        };
        error.about(service).at_key(fault.key.name())
    }
}

#[cfg(all(test, feature = "redis"))]
mod tests {
    use std::time::Duration;

    use crate::policy::Window;

    use super::*;

    fn layers(code: Policy) -> Layers {
        Layers::new(None, Arc::default(), code)
    }

    #[test]
    fn of_live_changes_from_elsewhere_only_what_goes_with_the_rest_is_taken_over() {
        let mut layers = layers(Policy::new().window(Window::Calls(10)));
        layers.live = Policy::new().jitter(0.5);
        let live = Policy::new().threshold(20).probes(2);
        let errors = layers.put_live("stripe", live);
        assert_eq!(layers.live, Policy::new().probes(2));
        assert!(!layers.live.writes(Key::Threshold) && !layers.live.writes(Key::Jitter));
        let [error] = &*errors else {
            panic!("{errors:?}");
        };
        assert_eq!(
            (error.key(), error.service()),
            (Some("threshold"), Some("stripe"))
        );
        assert_eq!(*error.place(), Source::Live);
        assert_eq!(layers.put_live("stripe", Policy::new()), []);
        assert!(!layers.is_live());
    }

    /// Whatever is written here and comes from elsewhere: a breaker can work with it, what code
    /// says stands, and what was left out was said.
    #[test]
    fn whatever_comes_from_elsewhere_a_breaker_can_work_with_what_is_taken_over() {
        let mut random = fastrand::Rng::with_seed(7);
        let mut left_out = 0;
        for _ in 0..3_000 {
            let code = some_policy(&mut random);
            if code.check().is_err() {
                continue;
            }
            let live = some_policy(&mut random);
            let mut layers = layers(code);
            let errors = layers.put_live("stripe", live);
            assert_eq!(layers.check("stripe"), Ok(()), "{code:?} {live:?}");
            assert_eq!(layers.left_out, []);
            for key in Key::ALL {
                let is_kept = layers.live.same(*key, &live);
                let is_said = errors.iter().any(|it| it.key() == Some(key.name()));
                assert!(is_kept != is_said, "{key}: {code:?} {live:?}");
            }
            left_out += errors.len();
        }
        assert!(left_out > 500, "{left_out}");
    }

    fn some_policy(random: &mut fastrand::Rng) -> Policy {
        let mut policy = Policy::new();
        for _ in 0..random.u32(..5) {
            let value = random.u32(..6);
            let share = f64::from(value) / 4.0;
            let seconds = Duration::from_secs(u64::from(value));
            policy = match random.u8(..13) {
                0 => policy.threshold(value),
                1 => policy.window(Window::Calls(value)),
                2 => policy.window(Window::Time(seconds)),
                3 => policy.failure_rate(share),
                4 => policy.min_calls(value),
                5 => policy.min_failures(value),
                6 => policy.slow_call(seconds),
                7 => policy.slow_call_rate(share),
                8 => policy.cooldown(seconds * 200),
                9 => policy.max_cooldown(seconds * 100),
                10 => policy.probes(value),
                11 => policy.close_after(value),
                _ => policy.probe_failure_rate(share),
            };
        }
        policy
    }
}
