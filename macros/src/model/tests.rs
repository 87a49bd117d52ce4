//! What is said about policies together, and that right ones pass.

use proc_macro2::Span;
use proc_macro2::TokenStream;
use quote::quote;

use super::*;
use crate::item::Item;
use crate::kind::Attribute;
use crate::kind::Kind;

/// What is said about these policies on an async function.
fn said(policies: TokenStream) -> Vec<String> {
    said_on(
        policies,
        quote!(
            async fn f(&self, order: Order, lines: &[Line], (a, mut b): (A, B)) -> R {}
        ),
    )
}

fn said_on(policies: TokenStream, function: TokenStream) -> Vec<String> {
    let mut errors = Errors::default();
    let item = Item::read(function, Kind::Resilient, &policies, &mut errors);
    let attribute = Attribute {
        kind: Kind::Resilient,
        at: Span::call_site(),
        path: None,
        args: policies,
    };
    let written = Written::read(vec![attribute], &mut errors);
    let before = errors.count();
    let task = Task::judge(written, item.function.as_ref(), &mut errors);
    let is_right = errors.count() == before;
    assert_eq!(task.is_some(), is_right);
    errors.messages()
}

fn warned(policies: TokenStream) -> usize {
    let mut errors = Errors::default();
    let attribute = Attribute {
        kind: Kind::Resilient,
        at: Span::call_site(),
        path: None,
        args: policies,
    };
    let written = Written::read(vec![attribute], &mut errors);
    let item = Item::read(
        quote!(
            async fn f() -> R {}
        ),
        Kind::Resilient,
        &TokenStream::new(),
        &mut errors,
    );
    let task = Task::judge(written, item.function.as_ref(), &mut errors);
    assert_eq!(errors.messages(), Vec::<String>::new());
    match task.map(|task| task.work) {
        Some(Work::Stack(stack)) => stack.warnings.len(),
        _ => panic!("a stack was expected"),
    }
}

#[test]
fn what_fits_together_passes() {
    for policies in [
        quote!(timeout("8s"), retry(idempotent, clone(b)), timeout("2s")),
        quote!(
            service = "a",
            fallback(cached, when = timed_out),
            fallback(other),
            timeout("8s"),
            retry(
                retry_on = is_busy,
                clone(order, b),
                wait_for_circuit,
                budget = 0.2
            ),
            circuit_breaker(on_cancel = ignore),
            bulkhead(max_concurrent = 6, queue = 20, max_wait = "50ms", counts),
            rate_limit("100/s", max_wait = "50ms"),
            timeout(LIMIT)
        ),
        quote!(
            circuit_breaker(handle = self.breaker),
            timeout("8s", service = "a")
        ),
        quote!(fallback(Ok(1), when = any), retry(idempotent, clone(b))),
        quote!(
            retry(idempotent, clone(b)),
            fallback(other(), when = failed)
        ),
        quote!(
            circuit_breaker(service = "a", map_rejected = f),
            timeout("1s", service = "a")
        ),
        quote!(timeout("400ms"), retry(idempotent, clone(b))),
        quote!(retry(idempotent, attempts = N, clone(b)), timeout("1ms")),
        quote!(
            timeout("1s"),
            retry(idempotent, attempts = 9, max_elapsed = "900ms", clone(b))
        ),
    ] {
        assert_eq!(said(policies.clone()), Vec::<String>::new(), "{policies}");
    }
}

/// One mistake each, in the words of its message.
#[test]
fn what_does_not_fit_together_is_said() {
    let mut wrong = Vec::new();
    for (policies, expected) in [
        (quote!(), "`resilient` of what?"),
        (quote!(retry(clone(b))), "may this call be made twice?"),
        (
            quote!(retry(retry_on = f, idempotent, clone(b))),
            "remove one",
        ),
        (
            quote!(retry(idempotent, attempts = 0, clone(b))),
            "never make the call",
        ),
        (
            quote!(retry(idempotent, attempts = 1, clone(b))),
            "never repeats a call",
        ),
        (
            quote!(retry(idempotent, factor = 0.5, clone(b))),
            "`factor` is a factor from 1",
        ),
        (
            quote!(retry(idempotent, max_delay = "50ms", clone(b))),
            "the first delay, which is 100ms by default",
        ),
        (
            quote!(retry(
                idempotent,
                delay = "2s",
                max_elapsed = "1s",
                clone(b)
            )),
            "the first delay, which is 2s:",
        ),
        (quote!(retry(idempotent)), "the next attempt would find `b`"),
        (
            quote!(retry(idempotent, clone(b, c))),
            "there is `order`, `a`",
        ),
        (
            quote!(retry(idempotent, clone(b, lines))),
            "`lines` is a reference",
        ),
        (quote!(retry(idempotent, clone(b, self))), "borrows `self`"),
        (quote!(retry(idempotent, clone(b, b))), "is cloned already"),
        (
            quote!(retry(idempotent, clone(b), wait_for_circuit)),
            "there is no circuit inside to wait for",
        ),
        (
            quote!(retry(idempotent, clone(b), budget = 0.1)),
            "budget for retries belongs",
        ),
        (
            quote!(service = "a", retry(idempotent, clone(b), budget = 0.0)),
            "`budget` is a share above 0",
        ),
        (
            quote!(retry(idempotent, clone(b)), retry(idempotent, clone(b))),
            "two retries on one function",
        ),
        (
            quote!(
                circuit_breaker(service = "a"),
                circuit_breaker(service = "b")
            ),
            "two circuit breakers",
        ),
        (
            quote!(
                service = "a",
                bulkhead(max_concurrent = 1),
                bulkhead(max_concurrent = 1)
            ),
            "two bulkheads",
        ),
        (
            quote!(service = "a", rate_limit("1/s"), rate_limit("1/s")),
            "two rate limits",
        ),
        (
            quote!(
                service = "a",
                timeout("1s"),
                bulkhead(max_concurrent = 1, service = "b")
            ),
            "one function calls one service",
        ),
        (quote!(timeout("0s")), "must be longer than zero"),
        (quote!(timeout()), "how long may it take?"),
        (
            quote!(timeout("1s"), timeout("1s")),
            "it would never strike",
        ),
        (
            quote!(timeout("300ms"), retry(idempotent, clone(b))),
            "add up to 300ms, and the timeout around them strikes after 300ms",
        ),
        (
            quote!(
                service = "a",
                timeout("1s"),
                bulkhead(max_concurrent = 1, queue = 5)
            ),
            "a call may wait 1s for its turn",
        ),
        (
            quote!(
                service = "a",
                timeout("1s"),
                rate_limit("1/s", max_wait = "2s")
            ),
            "a call may wait 2s for its turn",
        ),
        (
            quote!(service = "a", bulkhead()),
            "how many calls may run at a time?",
        ),
        (
            quote!(service = "a", bulkhead(max_concurrent = 0)),
            "would let nothing through",
        ),
        (
            quote!(
                service = "a",
                bulkhead(max_concurrent = 1, queue = 0, max_wait = "1s")
            ),
            "leaves nobody to wait",
        ),
        (quote!(bulkhead(max_concurrent = 1)), "belong to a service"),
        (quote!(rate_limit("1/s")), "a rate belongs to a service"),
        (
            quote!(service = "a", rate_limit()),
            "how many calls are let through?",
        ),
        (
            quote!(service = "a", rate_limit("1/s", burst = 0)),
            "would let nothing through",
        ),
        (
            quote!(service = "a", bulkhead(max_concurrent = 1, counts)),
            "`counts` is about the breaker",
        ),
        (
            quote!(circuit_breaker(service = "a"), fallback(1, when = failed)),
            "the breaker above would take",
        ),
        (
            quote!(retry(idempotent, clone(b)), fallback(Ok(1), when = any)),
            "would never see an error",
        ),
        (
            quote!(
                retry(idempotent, clone(b)),
                fallback(|e| { Ok(e) }, when = failed)
            ),
            "would never see an error",
        ),
        (
            quote!(fallback(1), timeout("1s")),
            "nothing inside rejects a call",
        ),
        (
            quote!(
                fallback(1, when = timed_out),
                circuit_breaker(service = "a")
            ),
            "nothing inside times out",
        ),
        (
            quote!(
                fallback(1),
                fallback(2, when = rejected),
                circuit_breaker(service = "a")
            ),
            "two fallbacks for the same occasion",
        ),
        (quote!(fallback(when = failed)), "what is returned instead?"),
        (
            quote!(
                fallback(|e| f(e), when = failed),
                circuit_breaker(service = "a", classify = g)
            ),
            "a failure need not be an error",
        ),
        (
            quote!(
                timeout("1s"),
                circuit_breaker(service = "a", on_cancel = ignore)
            ),
            "hides a service that hangs",
        ),
        (
            quote!(
                timeout("1s"),
                circuit_breaker(service = "a", on_cancel = after("2s"))
            ),
            "strikes before that",
        ),
        (
            quote!(timeout("1s"), circuit_breaker(service = "a", fallback = 1)),
            "a fallback has its own place",
        ),
        (
            quote!(timeout("1s", map_rejected = f)),
            "nothing here rejects a call",
        ),
        (
            quote!(timeout("1s", operation = "x")),
            "`operation` names a call site of a circuit breaker",
        ),
        (
            quote!(timeout("1s"), circuit_breaker(threshold = 5)),
            "which service is guarded?",
        ),
    ] {
        let said = said(policies.clone());
        if said.len() != 1 || !said[0].contains(expected) {
            wrong.push(format!("{policies}: {said:?}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn all_that_is_wrong_is_said_at_once() {
    let said = said(quote!(
        timeout("1s"),
        retry(attempts = 1, clone(x)),
        circuit_breaker(treshold = 3),
        timeout("2s"),
        fallback(1)
    ));
    assert_eq!(said.len(), 8, "{said:#?}");
}

#[test]
fn the_function_has_to_fit_as_well() {
    for (policies, function, expected) in [
        (
            quote!(timeout("1s")),
            quote!(
                fn f() -> R {}
            ),
            "a function that is not async cannot be stopped",
        ),
        (
            quote!(retry(idempotent), circuit_breaker(service = "a")),
            quote!(
                fn f() -> impl Future<Output = R> {
                    g();
                    async {}
                }
            ),
            "what this function does before its future exists",
        ),
        (
            quote!(retry(idempotent)),
            quote!(
                async fn f(mut self) -> R {}
            ),
            "take `self` without `mut`",
        ),
        (
            quote!(retry(idempotent)),
            quote!(
                async fn f(mut a: &[u8]) -> R {}
            ),
            "write `let mut a = &*a;`",
        ),
        (
            quote!(retry(idempotent, clone(a))),
            quote!(
                async fn f() -> R {}
            ),
            "`a` is no argument of this function: remove `clone`",
        ),
        (
            quote!(timeout("1s", boxed)),
            quote!(
                fn f() -> BoxFuture<'static, R> {
                    Box::pin(async move { 1 })
                }
            ),
            "returns a boxed future already",
        ),
    ] {
        let said = said_on(policies.clone(), function);
        assert_eq!(said.len(), 1, "{policies}: {said:?}");
        assert!(said[0].contains(expected), "{policies}: {said:?}");
    }
}

#[test]
fn a_place_that_is_kept_while_waiting_is_warned_of() {
    let service = quote!(service = "a");
    assert_eq!(
        warned(quote!(#service, bulkhead(max_concurrent = 1), retry(idempotent))),
        1
    );
    assert_eq!(
        warned(quote!(#service, retry(idempotent), bulkhead(max_concurrent = 1))),
        0
    );
    assert_eq!(
        warned(quote!(#service, timeout("1s"), retry(idempotent))),
        0
    );
}
