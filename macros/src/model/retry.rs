//! Judges a retry: how often, how long, and whether this function can run more than once.

use std::time::Duration;

use syn::Ident;

use crate::args::Given;
use crate::args::Names;
use crate::args::Predicate;
use crate::args::RetryArgs;
use crate::errors::Errors;
use crate::item::Argument;
use crate::item::Function;
use crate::model::Setting;
use crate::model::order::Facts;
use crate::model::policy::settings::Said;
use crate::model::policy::settings::Settings;
use crate::model::questions::check_predicate;
use crate::share::Share;

/// What holds where nothing is written.
const ATTEMPTS: u32 = 3;
const DELAY: Duration = Duration::from_millis(100);
const FACTOR: f64 = 2.0;
const MAX_DELAY: Duration = Duration::from_secs(10);

/// The body runs again.
pub(crate) struct Retry {
    pub(crate) policy: Vec<Setting>,
    pub(crate) again: Again,
    /// Arguments of which each attempt has a copy.
    pub(crate) cloned: Vec<Argument>,
}

/// What calls for another attempt.
pub(crate) enum Again {
    /// Any error, a timeout included.
    AnyError,
    Asked(Predicate),
}

/// What is known of the numbers that depend on each other.
struct Known {
    attempts: Said<u32>,
    delay: Said<Duration>,
    factor: Said<f64>,
    max_delay: Said<Duration>,
    max_elapsed: Said<Duration>,
}

impl Retry {
    pub(super) fn judge(
        args: RetryArgs,
        function: Option<&Function>,
        facts: &mut Facts,
        errors: &mut Errors,
    ) -> Option<Self> {
        let mut settings = Settings::new(errors);
        let attempts = settings.take_number(
            args.attempts,
            "`attempts = 0` would never make the call: use 2 or more",
            u32::MAX,
        );
        let delay = settings.take_duration(args.delay);
        let factor = settings.take_factor(args.factor);
        let max_delay = settings.take_duration(args.max_delay);
        settings.take_switch(args.jitter);
        let max_elapsed = settings.take_duration(args.max_elapsed);
        facts.budget = args.budget.as_ref().map(|budget| budget.key.span());
        settings.take_share(args.budget, Share::Rate);
        facts.wait_for_circuit = args.wait_for_circuit.as_ref().map(|flag| flag.key.span());
        settings.take_flag(args.wait_for_circuit);
        let policy = settings.into_settings();
        let known = Known {
            attempts,
            delay,
            factor,
            max_delay,
            max_elapsed,
        };
        known.judge(errors);
        facts.delays = known.longest_delays();

        let again = match (args.retry_on, args.idempotent) {
            (Some(retry_on), idempotent) => {
                check_predicate(&retry_on.key, &retry_on.value, errors);
                if let Some(flag) = idempotent {
                    errors.at(
                        flag.key.span(),
                        "`idempotent` repeats the call after any error, `retry_on` after some of \
                         them: remove one",
                    );
                }
                Some(Again::Asked(retry_on.value))
            }
            (None, Some(_)) => Some(Again::AnyError),
            (None, None) => {
                if !errors.mentions("retry_on") && !errors.mentions("idempotent") {
                    errors.at(
                        facts.at,
                        "may this call be made twice? Say after which errors, `retry_on = \
                         is_transient`, or that it does no harm, `idempotent`",
                    );
                }
                None
            }
        };
        let cloned = function.map(|function| copies(args.clone, function, errors));
        Some(Self {
            policy,
            again: again?,
            cloned: cloned.unwrap_or_default(),
        })
    }
}

impl Known {
    fn judge(&self, errors: &mut Errors) {
        if let Some((1, span)) = self.attempts.known() {
            errors.at(
                span,
                "`attempts` counts the first one, so `attempts = 1` never repeats a call: use 2 or \
                 more, or remove `retry`",
            );
        }
        let (delay, written) = match self.delay {
            Said::Nothing => (DELAY, " by default"),
            Said::Known(delay, _) => (delay, ""),
            Said::Unknown(_) => return,
        };
        for (key, said) in [
            ("max_delay", self.max_delay),
            ("max_elapsed", self.max_elapsed),
        ] {
            if let Some((longest, span)) = said.known()
                && longest < delay
            {
                let message = format!(
                    "`{key}` is shorter than the first delay, which is {delay:?}{written}: use that \
                     or more, or a shorter `delay`"
                );
                errors.at(span, message);
            }
        }
    }

    /// What all delays take together if jitter makes none shorter.
    fn longest_delays(&self) -> Option<Duration> {
        let attempts = self.attempts.or(ATTEMPTS)?;
        let delay = self.delay.or(DELAY)?;
        let factor = self.factor.or(FACTOR)?;
        let longest = self.max_delay.or(MAX_DELAY.max(delay))?;
        let mut sum = Duration::ZERO;
        let mut next = delay.as_secs_f64();
        // Beyond the longest one they are all the same, and so many nobody waits for.
        for _ in 1..attempts.min(10_000) {
            let delay = Duration::try_from_secs_f64(next).unwrap_or(longest);
            sum = sum.saturating_add(delay.min(longest));
            next *= factor;
        }
        match self.max_elapsed {
            Said::Nothing => Some(sum),
            Said::Known(most, _) => Some(sum.min(most)),
            Said::Unknown(_) => None,
        }
    }
}

/// The arguments of which each attempt gets a copy, and those that it would find changed.
fn copies(names: Option<Given<Names>>, function: &Function, errors: &mut Errors) -> Vec<Argument> {
    let mut arguments = function.arguments();
    let names = names.map(|names| names.value.0).unwrap_or_default();
    let mut copies: Vec<Argument> = Vec::new();
    for name in names {
        if copies.iter().any(|copy| copy.name == name) {
            errors.at(name.span(), format!("`{name}` is cloned already"));
            continue;
        }
        let Some(at) = arguments.iter().position(|argument| argument.name == name) else {
            errors.at(name.span(), no_argument(&name, &arguments));
            continue;
        };
        let argument = arguments.remove(at);
        if argument.is_self {
            errors.at(
                name.span(),
                "each attempt borrows `self`: where the body takes it, write `self.clone()` there",
            );
        } else if argument.is_reference {
            let message = format!(
                "`{name}` is a reference, which each attempt can use as it is: remove it here"
            );
            errors.at(name.span(), message);
        } else {
            copies.push(Argument { name, ..argument });
        }
    }
    for argument in arguments {
        if let Some(mutable) = argument.mutable {
            errors.at(mutable.span, changed(&argument));
        }
    }
    copies
}

fn no_argument(name: &Ident, arguments: &[Argument]) -> String {
    let known: Vec<String> = arguments
        .iter()
        .filter(|argument| !argument.is_reference && !argument.is_self)
        .map(|argument| format!("`{}`", argument.name))
        .collect();
    if known.is_empty() {
        format!("`{name}` is no argument of this function: remove `clone`")
    } else {
        format!(
            "`{name}` is no argument of this function: there is {}",
            known.join(", ")
        )
    }
}

/// What to write for a `mut` whose changes the next attempt would see.
fn changed(argument: &Argument) -> String {
    let name = &argument.name;
    let write = if argument.is_self {
        "take `self` without `mut`, and let the body change a copy of it".to_owned()
    } else if argument.is_reference {
        format!(
            "remove `mut`, and write `let mut {name} = &*{name};` or `&mut *{name}` in the body"
        )
    } else {
        format!("add `clone({name})` to `retry`, or take it by `&mut` where that is meant")
    };
    format!("the next attempt would find `{name}` as this one has left it: {write}")
}

#[cfg(test)]
mod tests {
    use proc_macro2::Span;
    use proc_macro2::TokenStream;
    use quote::quote;

    use super::*;
    use crate::args::Keys;
    use crate::args::Written;
    use crate::kind::Attribute;
    use crate::kind::Kind;

    fn delays(args: TokenStream) -> Option<Duration> {
        let mut errors = Errors::default();
        let at = Span::call_site();
        let attribute = Attribute {
            kind: Kind::Retry,
            at,
            path: None,
            args,
        };
        let written = Written::read(vec![attribute], &mut errors);
        let policy = written.policies.into_iter().next().unwrap();
        let Keys::Retry(args) = policy.keys else {
            panic!("a retry was expected")
        };
        let mut facts = Facts::new(Kind::Retry, at, true);
        let retry = Retry::judge(*args, None, &mut facts, &mut errors);
        assert_eq!(errors.messages(), Vec::<String>::new());
        assert!(retry.is_some());
        facts.delays
    }

    #[test]
    fn the_delays_of_a_retry_add_up() {
        let ms = Duration::from_millis;
        assert_eq!(delays(quote!(idempotent)), Some(ms(300)));
        assert_eq!(delays(quote!(idempotent, attempts = 5)), Some(ms(1_500)));
        assert_eq!(
            delays(quote!(
                idempotent,
                attempts = 4,
                delay = "1s",
                max_delay = "3s"
            )),
            Some(ms(6_000))
        );
        assert_eq!(
            delays(quote!(idempotent, attempts = 4, delay = "1s", factor = 1)),
            Some(ms(3_000))
        );
        assert_eq!(
            delays(quote!(
                idempotent,
                attempts = 9,
                delay = "1s",
                max_elapsed = "5s"
            )),
            Some(ms(5_000))
        );
        assert_eq!(delays(quote!(idempotent, delay = DELAY)), None);
        assert_eq!(
            delays(quote!(idempotent, attempts = 4294967295, factor = 1000)),
            Some(Duration::from_secs(99_980) + ms(100))
        );
    }
}
