//! The attributes of breakerbox; use them through the `breakerbox` crate.

mod args;
mod block;
mod errors;
mod expand;
mod item;
mod kind;
mod leave;
mod model;
mod rate;
mod respan;
mod share;
#[cfg(test)]
mod snapshots;
mod value;

use proc_macro2::Span;

use args::Written;
use errors::Errors;
use item::Item;
use kind::Attribute;
use kind::Kind;
use model::Task;

/// Guards a function with the circuit breaker of the service that it calls.
///
/// ```
/// use breakerbox::circuit_breaker;
///
/// #[derive(Debug)]
/// enum PaymentError {
///     Unavailable(breakerbox::Rejected), // the call was never made
///     Declined,
///     Gateway(u16),
/// }
/// # impl From<breakerbox::Rejected> for PaymentError {
/// #     fn from(rejected: breakerbox::Rejected) -> Self { Self::Unavailable(rejected) }
/// # }
///
/// #[circuit_breaker(
///     service = "stripe",
///     threshold = 5,
///     cooldown = "60s",
///     fails_on = matches(PaymentError::Gateway(500..=599 | 429))
/// )]
/// async fn charge(cents: u64) -> Result<String, PaymentError> {
///     // ... the request ...
/// #   match cents { 0 => Err(PaymentError::Declined), 1 => Err(PaymentError::Gateway(503)), _ =>
///     Ok("receipt".to_owned())
/// #   }
/// }
/// ```
///
/// While the circuit is open, calls are not made: they return the error that
/// `E: From<Rejected>` makes. The signature stays as it is. The attribute stands on
/// async functions, functions that return `impl Future` or a boxed future, plain
/// functions, methods with any receiver, and methods under `#[async_trait]`; it needs a
/// body, so in a trait it stands on methods with a default.
///
/// # Which breaker
///
/// | key | value | |
/// |---|---|---|
/// | `service` | `"stripe"`, a constant, or an expression | the name; all functions with one name share one breaker. Literals, constants and `concat!` are listed before the first call; any other expression is worked out for each call, and may use the arguments |
/// | `handle` | `self.breaker` | a `&Breaker` in place of a name; it brings its own numbers |
/// | `operation` | `"charge"` | what the call site is called; default: the function's name |
///
/// # One breaker a key
///
/// | key | default | |
/// |---|---|---|
/// | `key` | none | what tells the breakers under one service apart, so that the outage of one tenant or region is not that of all: `key = tenant` |
/// | `max_keys` | `1000` | so many keys have a breaker of their own; those beyond share one |
///
/// A key is an expression over the arguments that is `AsRef<str>`: a `String`, `&str` or
/// `Cow<str>`; of other types write `key = tenant.id.to_string()`. It is worked out once a
/// call, before the body takes the arguments. The call holds the breaker of its key, so a
/// function that makes its future when it is called (see below) cannot have one.
///
/// # When it opens
///
/// Numbers are written as they are, durations `"250ms"`, `"60s"`, `"1m30s"` with the units
/// `d`, `h`, `m`, `s`, `ms`, `us`, `ns`, shares `0.5` or `"50%"`. Any other constant expression
/// is a `u32`, a [`Duration`](core::time::Duration), an `f64`, a `bool` for `shadow` or a
/// `breakerbox::Window` for `window`. All are checked while compiling.
///
/// | key | default | |
/// |---|---|---|
/// | `threshold` | `5` if no rate is written | opens at this many failures: in a row, or inside the `window`, whatever succeeds between them |
/// | `window` | none | what `threshold` and the rates look back on: a time, `"60s"`, or so many calls, `100` |
/// | `failure_rate` | none | opens when this share of the calls in the window failed |
/// | `min_calls` | `20`, or a smaller count window | no rate is judged before the window holds so many calls |
/// | `min_failures` | `1` | `failure_rate` needs so many failures, too |
/// | `slow_call` | none | a call that takes longer is slow; with a window that makes the rule of `slow_call_rate` |
/// | `slow_call_rate` | `1.0` | opens when this share of the calls in the window was slow; in a time window calls that hang count while they do |
/// | `on_cancel` | a failure after `slow_call`, or where a `#[timeout]` above it strikes; else `ignore` | what a dropped call counts as: `ignore`, `failure` or `after("2s")` |
/// | `shadow` | off | rejects nobody and tells what it would have done: `shadow`, or `shadow = true` |
///
/// Which rule to choose:
///
/// - `threshold` alone is for a service that works or does not, and for few calls. One
///   success forgets all failures before it, so it never opens on a service that fails every
///   other call.
/// - `threshold` with `window` is for rare calls of which a handful of failures a minute is
///   too much, whatever succeeds. Under many calls that is a small share: then choose a rate.
/// - `failure_rate` is for steady traffic. Raise `min_calls` or `min_failures` if a quiet
///   night opens it.
/// - `slow_call` with a window is for a service that hangs rather than fails.
/// - A time window forgets by itself, and sees calls that hang. A count window is for calls
///   that come in bursts with long breaks between them.
/// - `shadow` is for trying numbers out where they could do harm.
///
/// Several rules may be written; any one of them opens.
///
/// # How it recovers
///
/// | key | default | |
/// |---|---|---|
/// | `cooldown` | `"60s"` | stays open this long |
/// | `backoff` | `1` | each opening without a close in between is so many times longer: for outages that may last |
/// | `max_cooldown` | `"10m"`, or a longer `cooldown` | the longest that `backoff` leads to |
/// | `jitter` | `0.0` | lengthens each cooldown by a random part of up to this share, so that many processes do not probe at one instant |
/// | `max_open_for` | `"1h"` | the longest opening that a verdict can ask for |
/// | `probes` | `1` | calls that are let through, in total, to see whether it may close |
/// | `probe_concurrency` | `probes` | so many of them at a time |
/// | `close_after` | `probes` | so many successes close it; alone it raises `probes` |
/// | `probe_failure_rate` | none | opens again at this share of failed `probes`, for a service that always fails a little; without it the first failure does |
/// | `probe_timeout` | `"30s"` | a probe of this age frees its place |
/// | `ramp` | none | after closing, admits a tenth of the former calls at first, and all of them after so long: for a service that a rush would fell again |
///
/// # Where processes share the circuit
///
/// These two matter only where circuits are shared through Redis (feature `redis`); elsewhere
/// they do nothing.
///
/// | key | default | |
/// |---|---|---|
/// | `min_instances` | `1` | from 1 to 64: so many processes must have seen failures before the circuit opens for all. One that sees the service fail by itself opens for itself |
/// | `probe_wait` | `"50ms"` | a call that would be rejected waits so long for leave to probe, on its thread where the function is not async; `"0s"` waits for nothing |
///
/// # What a failure is
///
/// Without these keys every `Err` is a failure.
///
/// | key | value | |
/// |---|---|---|
/// | `fails_on` | `is_infra`, `\|error\| ..`, `matches(PATTERN if ..)` | a failure where true; otherwise the service answered |
/// | `ignores` | the same | where true, the call says nothing about the service; wins over `fails_on` |
/// | `classify` | `verdict_of`, `\|out\| ..` | sees the whole output and returns `bool` (true = failure) or `Verdict`; excludes the other two |
///
/// They are asked after the body has run, which has taken the arguments that it uses:
/// what is passed by `&` can be used by both, what is passed by value or by `&mut`
/// cannot. A `Rejected` that comes out of the body, from a guarded call inside, is the
/// body's error.
///
/// # What the caller gets
///
/// | key | value | |
/// |---|---|---|
/// | `map_rejected` | `unavailable`, `\|rejected\| ..` | makes the error of a rejected call |
/// | `fallback` | an expression, or `\|rejected\| ..` | the output in place of a call that was not made. It is code of the function: it may use the arguments, `.await`, `?` and `return` |
/// | `fallback_when` | `rejected` (default), `failed`, `any`, or a predicate over the error | also, or only, for calls that were made and failed; a predicate is asked about both. The fallback closure is then given the error, and can use the arguments only as the predicates above. Errors that are no failures are the caller's, and the breaker never hears of the fallback |
/// | `wrap_error` | flag | for error types of others: the function returns `Result<T, breakerbox::Error<E>>`, and its body is written as if it returned `Result<T, E>` |
///
/// # Other
///
/// | key | value | |
/// |---|---|---|
/// | `boxed` | flag | keeps the body on the heap, so that the future is small and deep chains compile: the cure for `E0275`, an overflow while evaluating whether a deep chain is `Send` |
/// | `crate` | `::other_name` | where `breakerbox` is, if it was renamed or is exported by another crate |
///
/// # The expansion
///
/// The function above becomes, apart from full paths:
///
/// ```ignore
/// async fn charge(cents: u64) -> Result<String, PaymentError> {
///     let breaker: &'static Breaker = {
///         static SITE: CallSite = CallSite::new(
///             "stripe",
///             "charge",
///             Policy::new().threshold(5).cooldown(Duration::new(60, 0)),
///             module_path!(), file!(), line!(),
///         );
///         inventory::submit! { Declared(&SITE) }
///         CallSite::breaker(&SITE)
///     };
///     let mut guard = enter(breaker);
///     let out: Result<String, PaymentError> = 'made: {
///         let rejection = 'refused: {
///             if !is_in(&guard) {
///                 if let Some(rejection) = refuse(&mut guard) {
///                     break 'refused rejection;
///                 }
///             }
///             match wait_and_watch(&mut guard, async move { /* the body */ }).await {
///                 Some(out) => break 'made out,
///                 None => rejection(&guard),
///             }
///         };
///         return rejected(rejection);
///     };
///     let verdict = match error_of(&out) {
///         Some(error) => match error {
///             PaymentError::Gateway(500..=599 | 429) => Verdict::Failure,
///             _ => Verdict::Success,
///         },
///         None => Verdict::Success,
///     };
///     settle(&mut guard, verdict);
///     out
/// }
/// ```
///
/// With a `key`, `breaker` borrows from a handle that lives beside the guard.
///
/// A call that is dropped half way, or panics, drops the guard, which tells the breaker.
/// A layer adds 40 bytes to the future, and a `key` 16 more; with a `fallback` for rejected
/// calls, which may use the arguments, also their copies.
///
/// # Other policies
///
/// With `#[retry]`, `#[timeout]`, `#[bulkhead]`, `#[rate_limit]` and `#[fallback]` it becomes one
/// nest in the order in which they are written: see [`resilient`]. A
/// function has one circuit breaker.
///
/// # On an `impl` block
///
/// The attribute on an `impl` block guards each method that is async or returns a future, at the
/// top of the method's own attributes. `#[unguarded]` on a method leaves it out; one that has a
/// breaker of its own keeps that. Each method is an operation of its own name. With
/// `#[async_trait]` it may stand on either side.
///
/// ```
/// use breakerbox::circuit_breaker;
///
/// # struct Client;
/// # type Answer = Result<u32, Box<dyn std::error::Error + Send + Sync>>;
/// #[circuit_breaker(service = "search")]
/// impl Client {
///     async fn find(&self) -> Answer { Ok(1) }
///     async fn count(&self) -> Answer { Ok(2) }
///     #[unguarded]
///     async fn cached(&self) -> Answer { Ok(3) }
/// }
/// ```
///
/// # Attributes of others
///
/// The attribute that is written first expands first, and what it adds to the body ends
/// up inside of what the next one adds.
///
/// | the other attribute | above this one | below this one |
/// |---|---|---|
/// | `#[tracing::instrument]` | a span around each call that is made; none for a rejected one | a span around rejected calls as well |
/// | a cache | a hit is a success for the breaker | a hit never asks the breaker |
/// | `#[tokio::main]`, `#[tokio::test]` | guards a function that is no longer async | guards the async function |
/// | `#[async_trait]` | stands on the `impl`, this one on its methods | the same |
///
/// # Functions that return a future
///
/// What such a function does before its future exists is part of the call: it is not done
/// for a call that is rejected. So the breaker is asked when the function is called, and
/// dropping the future is then the end of a call that was cancelled. Where the body is
/// nothing but an `async` block, perhaps in `Box::pin`, the breaker is asked when the
/// future is first polled.
///
/// A `fallback` there cannot use arguments passed by value, which that code has taken.
/// The type has to be written out: behind an alias of its own a future is not seen to be
/// one.
///
/// # Limits
///
/// `#[track_caller]` on a function that is not async does not reach into its body, which
/// becomes a closure. Under `#![forbid(unreachable_code)]` the attribute does not compile;
/// `deny` is fine. Arguments are dropped in the order of a plain function, but for the
/// parts of them that a pattern leaves without a name, which are dropped last. An error
/// type that implements `Display` for one lifetime only does not compile.
#[proc_macro_attribute]
pub fn circuit_breaker(
    args: proc_macro::TokenStream,
    item: proc_macro::TokenStream,
) -> proc_macro::TokenStream {
    expand(Kind::CircuitBreaker, args.into(), item.into()).into()
}

#[doc = include_str!("docs/retry.md")]
#[proc_macro_attribute]
pub fn retry(
    args: proc_macro::TokenStream,
    item: proc_macro::TokenStream,
) -> proc_macro::TokenStream {
    expand(Kind::Retry, args.into(), item.into()).into()
}

#[doc = include_str!("docs/timeout.md")]
#[proc_macro_attribute]
pub fn timeout(
    args: proc_macro::TokenStream,
    item: proc_macro::TokenStream,
) -> proc_macro::TokenStream {
    expand(Kind::Timeout, args.into(), item.into()).into()
}

#[doc = include_str!("docs/bulkhead.md")]
#[proc_macro_attribute]
pub fn bulkhead(
    args: proc_macro::TokenStream,
    item: proc_macro::TokenStream,
) -> proc_macro::TokenStream {
    expand(Kind::Bulkhead, args.into(), item.into()).into()
}

#[doc = include_str!("docs/rate_limit.md")]
#[proc_macro_attribute]
pub fn rate_limit(
    args: proc_macro::TokenStream,
    item: proc_macro::TokenStream,
) -> proc_macro::TokenStream {
    expand(Kind::RateLimit, args.into(), item.into()).into()
}

#[doc = include_str!("docs/fallback.md")]
#[proc_macro_attribute]
pub fn fallback(
    args: proc_macro::TokenStream,
    item: proc_macro::TokenStream,
) -> proc_macro::TokenStream {
    expand(Kind::Fallback, args.into(), item.into()).into()
}

#[doc = include_str!("docs/resilient.md")]
#[proc_macro_attribute]
pub fn resilient(
    args: proc_macro::TokenStream,
    item: proc_macro::TokenStream,
) -> proc_macro::TokenStream {
    expand(Kind::Resilient, args.into(), item.into()).into()
}

/// Parse, judge, expand. The function comes back in any case, so that a mistake in an
/// attribute is not followed by one at each of the function's callers.
fn expand(
    kind: Kind,
    args: proc_macro2::TokenStream,
    item: proc_macro2::TokenStream,
) -> proc_macro2::TokenStream {
    if kind == Kind::CircuitBreaker && block::is_impl(&item) {
        return expand_block(&args, item);
    }
    let (of_block, args) = block::take_mark(args);
    let mut errors = Errors::default();
    let Item {
        mut function,
        mut original,
        siblings,
    } = Item::read(item, kind, &args, &mut errors);
    let mut attributes = vec![Attribute {
        kind,
        at: Span::call_site(),
        path: None,
        args,
    }];
    attributes.extend(siblings);
    let said = attributes
        .iter()
        .map(|attribute| attribute.args.clone())
        .collect();
    let mut written = Written::read(attributes, &mut errors);
    if let Some(outermost) = written.policies.first_mut() {
        outermost.of_block = of_block;
    }
    let (wraps, repeats) = (written.wraps_errors(), written.has_retry());
    let imports = written.imports.clone();
    let task = Task::judge(written, function.as_ref(), &mut errors);
    if let Some(function) = &mut function
        && !repeats
    {
        function.take_arguments(&said);
    }
    match (function, task, errors.into_compile_errors()) {
        (Some(function), Some(task), None) => expand::expand(&function, &task),
        (function, _, messages) => {
            // With `wrap_error` the body has another type than the signature says.
            if let Some(bodyless) = function
                .filter(|_| wraps)
                .and_then(|f| expand::without_body(&f))
            {
                original = bodyless;
            }
            original = expand::with_imports(original, &imports);
            original.extend(messages);
            original
        }
    }
}

/// Put the attribute on each method of an `impl` block. What is wrong with its arguments is
/// said once.
fn expand_block(
    args: &proc_macro2::TokenStream,
    item: proc_macro2::TokenStream,
) -> proc_macro2::TokenStream {
    let mut errors = Errors::default();
    let attribute = Attribute {
        kind: Kind::CircuitBreaker,
        at: Span::call_site(),
        path: None,
        args: args.clone(),
    };
    let written = Written::read(vec![attribute], &mut errors);
    let krate = Task::judge_for_methods(written, &mut errors);
    let stamped = block::stamp(item.clone(), args, &krate, &mut errors);
    match errors.into_compile_errors() {
        None => stamped,
        Some(messages) => {
            let mut original = block::unmarked(item, &krate);
            original.extend(messages);
            original
        }
    }
}
