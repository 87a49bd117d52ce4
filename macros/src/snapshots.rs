//! Expansions as they are, so that a change of one is seen in review.
//!
//! `UPDATE_SNAPSHOTS=1 cargo test -p breakerbox-macros` writes them anew.

use std::fs;
use std::path::Path;

use proc_macro2::TokenStream;
use quote::quote;

use crate::kind::Kind;

fn check(name: &str, args: TokenStream, item: TokenStream) {
    check_of(Kind::CircuitBreaker, name, args, item);
}

fn check_of(kind: Kind, name: &str, args: TokenStream, item: TokenStream) {
    let file: syn::File = syn::parse2(crate::expand(kind, args, item)).unwrap();
    let expanded = prettyplease::unparse(&file);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("snapshots/{name}.rs"));
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, &expanded).unwrap();
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        expanded == expected,
        "the expansion of `{name}` is now\n{expanded}"
    );
}

/// M100
#[test]
fn the_expansions_are_the_reviewed_ones() {
    let function = quote!(
        /// Charges a card.
        pub async fn charge(&self, order: &Order) -> Result<Receipt, PaymentError> {
            self.post(order).await
        }
    );
    check(
        "async_method",
        quote!(
            service = "stripe",
            threshold = 5,
            cooldown = "1m30s",
            fails_on = is_infra
        ),
        function.clone(),
    );
    check("defaults", quote!(service = "stripe"), function.clone());
    check(
        "every_number",
        quote!(
            service = NAME,
            threshold = LIMIT,
            cooldown = "250ms",
            probes = 3,
            probe_concurrency = 2,
            close_after = 2,
            probe_timeout = TIMEOUT,
            max_open_for = "2h",
            min_instances = 2,
            probe_wait = "0s",
            on_cancel = after("2s"),
            operation = "POST /charges",
            crate = ::resilience
        ),
        function.clone(),
    );
    check(
        "every_rate",
        quote!(
            service = "s3",
            window = "60s",
            threshold = 30,
            failure_rate = "50%",
            min_calls = 20,
            min_failures = 3,
            slow_call = "2s",
            slow_call_rate = 0.8,
            backoff = 2,
            max_cooldown = LONGEST,
            jitter = 0.1,
            probe_failure_rate = RATE,
            ramp = "30s",
            shadow
        ),
        function.clone(),
    );
    check(
        "keyed",
        quote!(
            service = "ledger",
            key = order.tenant,
            max_keys = 50,
            window = 100
        ),
        function.clone(),
    );
    check(
        "verdicts",
        quote!(
            service = format!("stripe-{}", self.region),
            ignores = |error| error.is_declined(),
            fails_on = matches(PaymentError::Gateway(status) if *status >= 500),
            map_rejected = PaymentError::from
        ),
        function.clone(),
    );
    check(
        "fallback_closure",
        quote!(
            handle = self.breaker,
            fallback_when = any,
            fallback = |error| self.queue(order, error).await
        ),
        function.clone(),
    );
    check(
        "fallback_expression",
        quote!(
            service = "stripe",
            classify = verdict_of,
            fallback_when = is_busy,
            fallback = { cached(order).await }
        ),
        function,
    );
    check(
        "wrapped_sync",
        quote!(service = "rates", wrap_error, fails_on = is_timeout),
        quote!(
            fn rate(currency: &str) -> Result<f64, breakerbox::Error<io::Error>> {
                let text = fs::read_to_string(currency)?;
                parse(&text)
            }
        ),
    );
    check(
        "arguments",
        quote!(service = "mail", boxed),
        quote!(
            async fn send<T: Body>(
                mut self,
                mut to: Vec<String>,
                _: Lock,
                (subject, body): (String, T),
                n: u32,
            ) -> Result<impl Debug, Error> {
                #![allow(unused)]
                to.push(subject);
                Ok(to)
            }
        ),
    );
    check(
        "async_trait",
        quote!(service = "search"),
        quote!(
            fn find<'life0, 'async_trait>(
                &'life0 self,
                text: String,
            ) -> ::core::pin::Pin<
                Box<
                    dyn ::core::future::Future<Output = Result<u32, E>>
                        + ::core::marker::Send
                        + 'async_trait,
                >,
            > {
                Box::pin(async move {
                    let __self = self;
                    let text = text;
                    let __ret: Result<u32, E> = { Ok(text.len()) };
                    __ret
                })
            }
        ),
    );
    check(
        "returned_future",
        quote!(service = "search"),
        quote!(
            fn find(text: String) -> impl Future<Output = Result<u32, E>> + Send {
                search(text).boxed()
            }
        ),
    );
}

#[test]
fn the_expansions_of_stacked_policies_are_the_reviewed_ones() {
    let function = quote!(
        async fn charge(&self, order: &Order) -> Result<Receipt, PaymentError> {
            self.post(order).await
        }
    );
    check_of(
        Kind::Retry,
        "retry",
        quote!(
            service = "stripe",
            attempts = 4,
            delay = "50ms",
            jitter = false,
            budget = "20%",
            retry_on = is_transient,
            clone(lines)
        ),
        quote!(
            async fn charge(mut lines: Vec<Line>) -> Result<Receipt, PaymentError> {
                lines.push(total(&lines));
                post(lines).await
            }
        ),
    );
    check_of(Kind::Timeout, "timeout", quote!("8s"), function.clone());
    check_of(
        Kind::Bulkhead,
        "bulkhead",
        quote!(
            service = "stripe",
            max_concurrent = 6,
            queue = QUEUE,
            max_wait = "50ms"
        ),
        function.clone(),
    );
    check_of(
        Kind::RateLimit,
        "rate_limit",
        quote!("100/s", service = self.name(), burst = 20),
        function.clone(),
    );
    check_of(
        Kind::Retry,
        "retry_over_breaker",
        quote!(idempotent, wait_for_circuit),
        quote!(
            #[circuit_breaker(service = "stripe", classify = verdict_of)]
            async fn charge(&self, order: &Order) -> Result<Receipt, PaymentError> {
                self.post(order).await
            }
        ),
    );
    check_of(
        Kind::Resilient,
        "full_stack",
        quote!(
            service = "stripe",
            fallback(|rejected| self.other(order, rejected).await),
            timeout("8s"),
            retry(idempotent),
            circuit_breaker(fails_on = is_infra),
            rate_limit("100/s", max_wait = "50ms"),
            bulkhead(max_concurrent = 6, counts),
            timeout("2s")
        ),
        function.clone(),
    );
    check_of(
        Kind::Fallback,
        "fallback_failed",
        quote!(cached(order), when = failed),
        quote!(
            #[inline]
            #[breakerbox::fallback(|error| later(error).await, when = is_busy)]
            #[circuit_breaker(service = "stripe", ignores = is_declined, wrap_error)]
            #[timeout("2s")]
            async fn charge(order: &Order) -> Result<Receipt, breakerbox::Error<E>> {
                post(order).await
            }
        ),
    );
    check_of(
        Kind::Retry,
        "sync_stack",
        quote!(idempotent),
        quote!(
            #[circuit_breaker(service = "files")]
            #[bulkhead(max_concurrent = 2)]
            fn read(path: &Path) -> Result<String, E> {
                fs::read_to_string(path)
            }
        ),
    );
    check_of(
        Kind::Resilient,
        "async_trait_stack",
        quote!(
            timeout("8s"),
            retry(idempotent, clone(text)),
            circuit_breaker(service = "search")
        ),
        quote!(
            fn find<'life0, 'async_trait>(
                &'life0 self,
                text: String,
            ) -> ::core::pin::Pin<
                Box<
                    dyn ::core::future::Future<Output = Result<u32, E>>
                        + ::core::marker::Send
                        + 'async_trait,
                >,
            > {
                Box::pin(async move {
                    if let ::core::option::Option::Some(__ret) =
                        ::core::option::Option::None::<Result<u32, E>>
                    {
                        #[allow(unreachable_code)]
                        return __ret;
                    }
                    let __self = self;
                    let mut text = text;
                    let __ret: Result<u32, E> = { Ok(__self.count(text)) };
                    #[allow(unreachable_code)]
                    __ret
                })
            }
        ),
    );
}

#[test]
fn the_same_function_expands_to_the_same_code() {
    let expand = || {
        let item = quote!(
            async fn f() -> Result<(), E> {
                Ok(())
            }
        );
        crate::expand(Kind::CircuitBreaker, quote!(service = "a"), item).to_string()
    };
    assert_eq!(expand(), expand());
}

#[test]
fn with_mistakes_the_function_comes_back_as_it_was() {
    let item = quote!(
        #[doc = "x"]
        pub async fn f(mut a: u8, _: B) -> Result<(), E> {
            a += 1;
        }
    );
    let tokens =
        crate::expand(Kind::CircuitBreaker, quote!(treshold = 5), item.clone()).to_string();
    assert!(tokens.starts_with(&item.to_string()));
    assert_eq!(tokens.matches("compile_error").count(), 2);
}

#[test]
fn with_mistakes_beside_wrap_error_the_body_is_left_out() {
    let item = quote!(
        async fn f(mut a: u8) -> Result<(), breakerbox::Error<E>> {
            fails()?;
        }
    );
    let tokens = crate::expand(Kind::CircuitBreaker, quote!(wrap_error), item).to_string();
    assert!(!tokens.contains("fails"), "{tokens}");
    let opaque = quote!(
        fn f() -> Result<impl Debug, breakerbox::Error<E>> {
            fails()?;
        }
    );
    let tokens = crate::expand(Kind::CircuitBreaker, quote!(wrap_error), opaque).to_string();
    assert!(tokens.contains("fails"), "{tokens}");
}
