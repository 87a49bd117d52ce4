//! The tables of all attributes, and what is said of words that are in none.

use proc_macro2::TokenStream;
use quote::quote;

use super::*;
use crate::args::BreakerArgs;
use crate::args::BulkheadArgs;
use crate::args::FallbackArgs;
use crate::args::RateLimitArgs;
use crate::args::RetryArgs;
use crate::args::TimeoutArgs;
use crate::args::resilient::ResilientArgs;

fn other_names_are_known<T: Table>() {
    for (other, ours) in T::OTHER_NAMES {
        assert!(T::KEYS.contains(ours), "{ours}");
        assert!(!T::KEYS.contains(other), "{other}");
        assert!(unknown_key::<T>(other).ends_with(&format!("did you mean `{ours}`?")));
    }
    for name in T::FIRST_NAMES {
        assert!(!T::KEYS.contains(name), "{name}");
        assert!(unknown_key::<T>(name).contains("stands first"), "{name}");
    }
    for key in COMMON {
        assert!(T::KEYS.contains(&key), "{key}");
    }
}

#[test]
fn keys_of_other_crates_are_known_and_do_not_shadow_ours() {
    other_names_are_known::<BreakerArgs>();
    other_names_are_known::<RetryArgs>();
    other_names_are_known::<TimeoutArgs>();
    other_names_are_known::<BulkheadArgs>();
    other_names_are_known::<RateLimitArgs>();
    other_names_are_known::<FallbackArgs>();
    other_names_are_known::<ResilientArgs>();
}

fn said<T: Table>(tokens: TokenStream) -> Vec<String> {
    let mut errors = Errors::default();
    T::read(tokens, &mut errors);
    errors.messages()
}

#[test]
fn a_first_value_has_no_key() {
    let none: [&str; 0] = [];
    assert_eq!(said::<TimeoutArgs>(quote!("8s", service = "a")), none);
    assert_eq!(said::<TimeoutArgs>(quote!(LIMIT)), none);
    assert_eq!(said::<RateLimitArgs>(quote!("5/s", burst = 2)), none);
    assert_eq!(said::<FallbackArgs>(quote!(service, when = any)), none);
    assert_eq!(said::<FallbackArgs>(quote!(|e| a == b)), none);
    assert_eq!(
        said::<TimeoutArgs>(quote!(service = "a", "8s")),
        ["the duration stands first: write `timeout(\"8s\")`"]
    );
    assert_eq!(
        said::<TimeoutArgs>(quote!(duration = "8s")),
        ["the duration stands first and has no key: write `timeout(\"8s\")`"]
    );
    assert_eq!(
        said::<RateLimitArgs>(quote!(per_second = 5)),
        ["the rate stands first and has no key: write `rate_limit(\"100/s\")`"]
    );
    assert_eq!(
        said::<BulkheadArgs>(quote!(10)),
        ["a value without a key: did you mean to write `max_concurrent = ` before it?"]
    );
}

#[test]
fn names_stand_in_parentheses() {
    let said = said::<RetryArgs>;
    assert!(said(quote!(clone(a, r#b, self), idempotent)).is_empty());
    assert_eq!(
        said(quote!(clone = a)),
        ["`clone` takes names in parentheses: `clone(order)`"]
    );
    assert_eq!(
        said(quote!(clone())),
        ["`clone` names the arguments to clone: `clone(order)`"]
    );
    assert_eq!(
        said(quote!(clone(&a))),
        ["`clone` takes names of arguments: `clone(order)`"]
    );
}

#[test]
fn policies_are_told_from_keys() {
    let said = said::<ResilientArgs>;
    assert!(
        said(quote!(
            service = "a",
            breakerbox::retry(idempotent),
            timeout("8s")
        ))
        .is_empty()
    );
    assert_eq!(
        said(quote!(
            retri(idempotent),
            cache(),
            timeout = "8s",
            thing = 1,
            resilient()
        )),
        [
            "unknown policy `retri`: did you mean `retry`?",
            "unknown policy `cache`: the policies are circuit_breaker, retry, timeout, \
             bulkhead, rate_limit, fallback",
            "a policy has its arguments in parentheses: write `timeout(..)`",
            "unknown key `thing`: the keys are service, map_rejected, wrap_error, operation, \
             boxed, crate",
            "one `resilient` is enough: write its policies here",
        ]
    );
}
