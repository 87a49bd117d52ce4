//! The syntax of the attribute's arguments: `key = value` pairs and flags.

mod read;

use proc_macro2::TokenStream;
use proc_macro2::TokenTree;
use syn::Expr;
use syn::ExprClosure;
use syn::ExprPath;
use syn::Ident;
use syn::LitStr;
use syn::Pat;
use syn::Path;
use syn::Token;
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::parse::Parser;

use self::read::Read;
use self::read::Spelling;
use crate::errors::Errors;
use crate::errors::nearest;

/// A value, and the key it was written with.
pub(crate) struct Given<T> {
    pub(crate) key: Ident,
    pub(crate) value: T,
}

/// A key that stands alone.
pub(crate) struct Flag;

/// A key that stands alone, or says whether it is meant.
pub(crate) enum Switch {
    Literal(bool),
    Code(Expr),
}

/// A question about an error.
pub(crate) enum Predicate {
    Path(ExprPath),
    Closure(ExprClosure),
    Pattern {
        pattern: Box<Pat>,
        guard: Option<Box<Expr>>,
    },
}

/// A function by name or on the spot.
pub(crate) enum Callable {
    Path(ExprPath),
    Closure(ExprClosure),
}

/// What the caller gets in place of the function's own output.
pub(crate) enum Fallback {
    Value(Expr),
    Closure(ExprClosure),
}

/// The occasions for the fallback.
pub(crate) enum When {
    Rejected,
    Failed,
    Any,
    Predicate(Predicate),
}

/// What a dropped call counts as.
pub(crate) enum OnCancel {
    Ignore,
    Failure,
    After(Expr),
}

/// Declares the keys once: the fields, the reader and the list for suggestions.
macro_rules! keys {
    ($($name:literal $field:ident: $value:ty, $example:literal;)*) => {
        /// The arguments as they are written; nothing is judged yet.
        #[derive(Default)]
        pub(crate) struct Args {
            $(pub(crate) $field: Option<Given<$value>>,)*
        }

        const KEYS: &[&str] = &[$($name),*];

        impl Args {
            fn read_value(&mut self, key: Ident, input: ParseStream<'_>, errors: &mut Errors) {
                match key.to_string().as_str() {
                    $($name => {
                        let value = <$value>::read(&Spelling { key: &key, example: $example }, input);
                        put(&mut self.$field, key, errors.keep(value), errors);
                    })*
                    unknown => errors.at(key.span(), unknown_key(unknown)),
                }
            }
        }
    };
}

keys! {
    "service" service: Expr, "service = \"name\"";
    "handle" handle: Expr, "handle = self.breaker";
    "threshold" threshold: Expr, "threshold = 5";
    "window" window: Expr, "window = \"60s\"";
    "failure_rate" failure_rate: Expr, "failure_rate = 0.5";
    "min_calls" min_calls: Expr, "min_calls = 20";
    "min_failures" min_failures: Expr, "min_failures = 3";
    "slow_call" slow_call: Expr, "slow_call = \"2s\"";
    "slow_call_rate" slow_call_rate: Expr, "slow_call_rate = 0.5";
    "cooldown" cooldown: Expr, "cooldown = \"60s\"";
    "backoff" backoff: Expr, "backoff = 2";
    "max_cooldown" max_cooldown: Expr, "max_cooldown = \"10m\"";
    "jitter" jitter: Expr, "jitter = 0.1";
    "probes" probes: Expr, "probes = 1";
    "probe_concurrency" probe_concurrency: Expr, "probe_concurrency = 1";
    "close_after" close_after: Expr, "close_after = 1";
    "probe_failure_rate" probe_failure_rate: Expr, "probe_failure_rate = 0.5";
    "probe_timeout" probe_timeout: Expr, "probe_timeout = \"30s\"";
    "max_open_for" max_open_for: Expr, "max_open_for = \"1h\"";
    "ramp" ramp: Expr, "ramp = \"30s\"";
    "shadow" shadow: Switch, "shadow = true";
    "key" by_key: Expr, "key = tenant";
    "max_keys" max_keys: Expr, "max_keys = 1000";
    "fails_on" fails_on: Predicate, "fails_on = is_failure";
    "ignores" ignores: Predicate, "ignores = is_not_their_fault";
    "classify" classify: Callable, "classify = verdict_of";
    "on_cancel" on_cancel: OnCancel, "on_cancel = after(\"2s\")";
    "map_rejected" map_rejected: Callable, "map_rejected = |rejected| MyError::Unavailable";
    "fallback" fallback: Fallback, "fallback = Ok(cached)";
    "fallback_when" fallback_when: When, "fallback_when = any";
    "wrap_error" wrap_error: Flag, "wrap_error";
    "operation" operation: LitStr, "operation = \"name\"";
    "boxed" boxed: Flag, "boxed";
    "crate" krate: Path, "crate = ::breakerbox";
}

/// Names that other crates give to our keys.
const OTHER_NAMES: [(&str, &str); 33] = [
    ("name", "service"),
    ("breaker", "handle"),
    ("failures", "threshold"),
    ("max_failures", "threshold"),
    ("failure_threshold", "threshold"),
    ("open_for", "cooldown"),
    ("open_duration", "cooldown"),
    ("reset_timeout", "cooldown"),
    ("recovery_timeout", "cooldown"),
    ("wait_duration", "cooldown"),
    ("half_open_calls", "probes"),
    ("half_open_max_calls", "probes"),
    ("permitted_calls_in_half_open", "probes"),
    ("success_threshold", "close_after"),
    ("failure_predicate", "fails_on"),
    ("is_failure", "fails_on"),
    ("fails_if", "fails_on"),
    ("failure_if", "fails_on"),
    ("ignore", "ignores"),
    ("on_rejected", "map_rejected"),
    ("label", "operation"),
    ("sliding_window", "window"),
    ("window_size", "window"),
    ("failure_rate_threshold", "failure_rate"),
    ("failure_ratio", "failure_rate"),
    ("error_rate", "failure_rate"),
    ("minimum_number_of_calls", "min_calls"),
    ("minimum_throughput", "min_calls"),
    ("slow_call_duration", "slow_call"),
    ("slow_call_rate_threshold", "slow_call_rate"),
    ("backoff_factor", "backoff"),
    ("max_open_duration", "max_cooldown"),
    ("dry_run", "shadow"),
];

impl Args {
    /// Reads all arguments; what cannot be read is noted and passed over.
    pub(crate) fn read(tokens: TokenStream, errors: &mut Errors) -> Self {
        let mut args = Self::default();
        let parser = |input: ParseStream<'_>| {
            while !input.is_empty() {
                args.read_one(input, errors);
            }
            Ok(())
        };
        let parsed = parser.parse2(tokens);
        errors.keep(parsed);
        args
    }

    fn read_one(&mut self, input: ParseStream<'_>, errors: &mut Errors) {
        let before = errors.count();
        match input.call(Ident::parse_any) {
            Ok(key) => self.read_value(key, input, errors),
            Err(_) => errors.at(input.span(), not_a_key(input)),
        }
        // What follows a value that could not be read says nothing more.
        if errors.count() > before {
            skip_to_comma(input);
        } else if let Some(message) = not_a_comma(input) {
            errors.at(input.span(), message);
            if starts_a_key(input) {
                return;
            }
            skip_to_comma(input);
        }
        let _: syn::Result<Option<Token![,]>> = input.parse();
    }
}

fn not_a_key(input: ParseStream<'_>) -> &'static str {
    if input.peek(Token![,]) {
        "a key is missing before this comma"
    } else if input.peek(LitStr) {
        "a value without a key: did you mean to write `service = ` before it?"
    } else {
        "a key was expected here, such as `service = \"name\"`"
    }
}

fn not_a_comma(input: ParseStream<'_>) -> Option<&'static str> {
    if input.is_empty() || input.peek(Token![,]) {
        None
    } else if starts_a_key(input) {
        Some("a comma is missing before this key")
    } else {
        Some("a comma or the end was expected here")
    }
}

fn starts_a_key(input: ParseStream<'_>) -> bool {
    let key = input.fork().call(Ident::parse_any);
    key.is_ok_and(|key| KEYS.contains(&key.to_string().as_str()))
}

fn skip_to_comma(input: ParseStream<'_>) {
    while !input.is_empty() && !input.peek(Token![,]) {
        let _: syn::Result<TokenTree> = input.parse();
    }
}

/// The one check for keys that are given twice.
fn put<T>(slot: &mut Option<Given<T>>, key: Ident, value: Option<T>, errors: &mut Errors) {
    if slot.is_some() {
        errors.at(key.span(), format!("`{key}` is given twice"));
    } else if let Some(value) = value {
        *slot = Some(Given { key, value });
    }
}

fn unknown_key(key: &str) -> String {
    let renamed = OTHER_NAMES
        .iter()
        .find(|(other, _)| *other == key)
        .map(|(_, ours)| *ours);
    match renamed.or_else(|| nearest(key, KEYS.iter().copied())) {
        Some(meant) => format!("unknown key `{key}`: did you mean `{meant}`?"),
        None => format!("unknown key `{key}`: the keys are {}", KEYS.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use quote::quote;

    use super::*;

    fn read(tokens: TokenStream) -> (Args, Vec<String>) {
        let mut errors = Errors::default();
        let args = Args::read(tokens, &mut errors);
        (args, errors.messages())
    }

    #[test]
    fn every_key_is_read_in_any_order_with_or_without_a_last_comma() {
        let (args, errors) = read(quote!(
            boxed, wrap_error, crate = ::other, operation = "o", fallback_when = any,
            fallback = |rejected| f(rejected).await, map_rejected = Own::from, on_cancel = after("2s"),
            classify = |out| out.is_err(), ignores = matches(A | B(1..=3) if c), fails_on = Own::infra,
            max_open_for = "1h", probe_timeout = LIMIT, close_after = 1, probe_concurrency = 1,
            probes = 1, cooldown = "60s", threshold = 5, handle = self.b, service = names::A,
        ));
        assert_eq!(errors, Vec::<String>::new());
        assert!(args.service.is_some() && args.handle.is_some() && args.threshold.is_some());
        assert!(args.cooldown.is_some() && args.probes.is_some() && args.boxed.is_some());
        assert!(args.probe_concurrency.is_some() && args.close_after.is_some());
        assert!(args.probe_timeout.is_some() && args.max_open_for.is_some());
        assert!(args.wrap_error.is_some() && args.operation.is_some() && args.krate.is_some());
        let value = |given: Option<Given<Predicate>>| given.map(|given| given.value);
        assert!(matches!(value(args.fails_on), Some(Predicate::Path(_))));
        assert!(matches!(
            value(args.ignores),
            Some(Predicate::Pattern { guard: Some(_), .. })
        ));
        assert!(matches!(
            args.classify.map(|given| given.value),
            Some(Callable::Closure(_))
        ));
        assert!(matches!(
            args.map_rejected.map(|given| given.value),
            Some(Callable::Path(_))
        ));
        assert!(matches!(
            args.on_cancel.map(|given| given.value),
            Some(OnCancel::After(_))
        ));
        assert!(matches!(
            args.fallback.map(|given| given.value),
            Some(Fallback::Closure(_))
        ));
        assert!(matches!(
            args.fallback_when.map(|given| given.value),
            Some(When::Any)
        ));
        assert!(read(quote!(service = "a")).1.is_empty());
        assert!(read(quote!()).1.is_empty());
    }

    #[test]
    fn one_mistake_does_not_hide_the_next() {
        let (args, errors) = read(quote!(
            treshold = 5,
            cooldown: "60s",
            service = "a",
            service = "b",
            fails_on
        ));
        assert!(args.service.is_some());
        assert_eq!(
            errors,
            [
                "unknown key `treshold`: did you mean `threshold`?",
                "`cooldown` takes its value after an equals sign: `cooldown = \"60s\"`",
                "`service` is given twice",
                "`fails_on` has no value: write for example `fails_on = is_failure`",
            ]
        );
    }

    #[test]
    fn a_forgotten_comma_is_all_that_is_said() {
        let (args, errors) = read(quote!(service = "a" threshold = 5 boxed));
        assert!(args.service.is_some() && args.threshold.is_some() && args.boxed.is_some());
        assert_eq!(
            errors,
            [
                "a comma is missing before this key",
                "a comma is missing before this key"
            ]
        );
    }

    #[test]
    fn keys_of_other_crates_are_known_and_do_not_shadow_ours() {
        for (other, ours) in OTHER_NAMES {
            assert!(KEYS.contains(&ours), "{ours}");
            assert!(!KEYS.contains(&other), "{other}");
            assert!(unknown_key(other).ends_with(&format!("did you mean `{ours}`?")));
        }
    }

    #[test]
    fn a_pattern_that_matches_everything_is_no_question() {
        for (tokens, expected) in [
            (
                quote!(fails_on = matches(is_infra)),
                "`is_infra` is a new variable here and matches every error: write `fails_on = is_infra`",
            ),
            (
                quote!(ignores = matches(_)),
                "`_` matches every error: leave `ignores` out, or name some of them",
            ),
            (quote!(ignores = matches()), "`matches()` needs a pattern"),
        ] {
            assert_eq!(read(tokens).1, [expected]);
        }
        for tokens in [
            quote!(fails_on = matches(LIMIT)),
            quote!(fails_on = matches(Timeout)),
            quote!(fails_on = matches(e if e.is_infra())),
            quote!(fails_on = matches(e @ (A | B))),
            quote!(fails_on = matches(|A| B)),
        ] {
            assert_eq!(read(tokens).1, Vec::<String>::new());
        }
    }
}
