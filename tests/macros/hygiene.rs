//! Names of the user do not meet names of the expansion.
#![deny(warnings, clippy::all, clippy::pedantic, clippy::nursery)]
#![allow(
    unreachable_pub,
    clippy::missing_errors_doc,
    clippy::missing_const_for_fn,
    clippy::too_many_arguments
)]

use breakerbox::circuit_breaker;

use crate::macros::E;

/// M55
#[tokio::test]
async fn arguments_may_have_the_names_that_the_expansion_uses() {
    #[circuit_breaker(service = "m55")]
    #[allow(clippy::used_underscore_binding, clippy::similar_names)]
    pub async fn f(
        result: u32,
        breaker: u32,
        err: u32,
        e: u32,
        __breaker: u32,
        __guard: u32,
        __out: u32,
        __ret: u32,
        __error: u32,
        __rejected: u32,
        __verdict: u32,
    ) -> Result<u32, E> {
        Ok(result
            + breaker
            + err
            + e
            + __breaker
            + __guard
            + __out
            + __ret
            + __error
            + __rejected
            + __verdict)
    }
    assert_eq!(f(1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1).await, Ok(11));
}

/// M55: an expression in the attribute sees the function's names, and no others.
#[tokio::test]
async fn expressions_of_the_attribute_see_what_the_function_sees() {
    const __SITE: &str = "m55-dynamic";
    #[circuit_breaker(service = __breaker, threshold = 1, fallback = Ok(__guard + __ret))]
    async fn f(__breaker: &str, __guard: u32, __ret: u32) -> Result<u32, E> {
        Err(E)
    }
    #[circuit_breaker(service = { __SITE })]
    async fn g() -> Result<u32, E> {
        Ok(1)
    }
    assert_eq!(f("m55-names", 1, 2).await, Err(E));
    assert_eq!(f("m55-names", 1, 2).await, Ok(3));
    assert_eq!(g().await, Ok(1));
    assert!(breakerbox::breaker("m55-dynamic").is_some());
}

/// M56
#[tokio::test]
#[allow(dead_code, non_snake_case)]
async fn shadowed_names_are_not_used() {
    mod shadow {
        use super::E;
        use super::circuit_breaker;
        pub enum Option {
            None,
            Some,
        }
        pub struct Box;
        pub struct Future;
        #[circuit_breaker(service = "m56")]
        pub async fn f() -> Result<u32, E> {
            Ok(1)
        }
    }
    assert_eq!(shadow::f().await, Ok(1));
}

/// M83 B226 B240
mod hostile {
    #![allow(dead_code, unused_imports, unused_macros, clippy::upper_case_acronyms)]

    use super::E;
    use super::circuit_breaker;

    pub mod core {}
    pub mod std {}
    pub mod tokio {}
    pub mod metrics {}
    pub mod breakerbox {}
    pub mod inventory {}
    pub struct Option;
    pub struct String;
    pub struct Policy;
    pub struct Verdict;
    pub enum Answers {
        Ok,
        Err,
        Some,
        None,
    }
    pub type Result<T> = ::core::result::Result<T, E>;
    macro_rules! format {
        () => {};
    }
    macro_rules! unreachable {
        () => {};
    }
    macro_rules! matches {
        () => {};
    }
    macro_rules! concat {
        () => {};
    }
    macro_rules! module_path {
        () => {};
    }
    macro_rules! line {
        () => {};
    }
    pub trait Blanket: Sized {
        fn clone(&self) {}
        fn as_ref(&self) {}
        fn breaker(&self) {}
        fn record(self, _: u8) {}
        fn threshold(self, _: u8) {}
        fn cooldown(self, _: u8) {}
        fn await_(self) {}
        fn into_future(self) {}
        fn poll(self) {}
        fn into(self) {}
        fn error(&self) {}
        fn is_some(&self) {}
    }
    impl<T> Blanket for T {}

    mod inside {
        use super::Answers::*;
        use super::*;

        #[circuit_breaker(
            service = "m83",
            threshold = 2,
            cooldown = "5s",
            fails_on = matches(E),
            ignores = |_| false
        )]
        pub async fn guarded(fail: bool) -> Result<u32> {
            if fail {
                return ::core::result::Result::Err(E);
            }
            ::core::result::Result::Ok(1)
        }
        #[circuit_breaker(service = "m83-sync", fallback = ::core::result::Result::Ok(2))]
        pub fn sync(fail: bool) -> Result<u32> {
            if fail {
                return ::core::result::Result::Err(E);
            }
            ::core::result::Result::Ok(1)
        }
        #[circuit_breaker(
            service = dynamic,
            fallback_when = any,
            fallback = |_error| ::core::result::Result::Ok(2)
        )]
        #[allow(clippy::manual_async_fn)]
        pub fn opaque(dynamic: &'static str) -> impl Future<Output = Result<u32>> {
            async move { ::core::result::Result::Err(E) }
        }
    }

    pub use inside::*;
}

#[tokio::test]
async fn hostile_names_change_nothing() {
    assert_eq!(hostile::guarded(false).await, Ok(1));
    assert_eq!(hostile::guarded(true).await, Err(E));
    assert_eq!(hostile::sync(false), Ok(1));
    assert_eq!(hostile::opaque("m83-dynamic").await, Ok(2));
    assert_eq!(super::calls("m83").failure, 1);
}

/// M77
mod no_prelude {
    #![no_implicit_prelude]

    use ::breakerbox::circuit_breaker;

    pub struct Nothing;
    impl ::core::convert::From<::breakerbox::Rejected> for Nothing {
        fn from(_: ::breakerbox::Rejected) -> Self {
            Self
        }
    }

    #[circuit_breaker(service = "m77", fails_on = matches(Nothing), on_cancel = after("1s"))]
    pub async fn f(n: u8) -> ::core::result::Result<u8, Nothing> {
        ::core::result::Result::Ok(n)
    }
    #[circuit_breaker(service = "m77-sync", fallback = |_| ::core::result::Result::Ok(2))]
    pub fn sync(n: u8) -> ::core::result::Result<u8, Nothing> {
        ::core::result::Result::Ok(n)
    }
    #[circuit_breaker(service = "m77-future", fallback_when = failed, fallback = |_| ::core::result::Result::Ok(2))]
    pub fn future(
        n: u8,
    ) -> ::std::pin::Pin<
        ::std::boxed::Box<dyn ::core::future::Future<Output = ::core::result::Result<u8, Nothing>>>,
    > {
        let future = ::core::future::ready(::core::result::Result::Ok(n));
        ::std::boxed::Box::pin(future)
    }
}

#[tokio::test]
async fn a_module_without_a_prelude_compiles() {
    assert!(matches!(no_prelude::f(1).await, Ok(1)));
    assert!(matches!(no_prelude::sync(1), Ok(1)));
    assert!(matches!(no_prelude::future(1).await, Ok(1)));
}

/// M68 B233: types arrive in invisible groups, and names with another hygiene.
mod made_by_macro {
    use super::*;

    macro_rules! make {
        ($vis:vis $name:ident, $arg:ident: $ty:ty, $ret:ty, $service:literal, $threshold:expr, $body:block) => {
            #[circuit_breaker(service = $service, threshold = $threshold)]
            $vis async fn $name($arg: $ty, mut hidden: u32, (left, _right): (u32, u32)) -> $ret {
                hidden += left;
                let inner: $ret = $body;
                inner.map(|n| n + hidden as usize - hidden as usize)
            }
        };
    }
    make!(pub f, a: &str, Result<usize, E>, "m68", 2, { Ok(a.len()) });

    macro_rules! whole_body {
        ($name:ident, $service:expr, $ret:ty, $body:block) => {
            #[circuit_breaker(service = $service)]
            async fn $name() -> $ret $body
        };
    }
    whole_body!(g, "m68-body", Result<u8, E>, { Ok(3) });

    macro_rules! whole_item {
        ($item:item) => {
            #[circuit_breaker(service = "m68-item")]
            $item
        };
    }
    whole_item! {
        /// Documented.
        async fn h(n: u8) -> Result<u8, E> {
            Ok(n)
        }
    }

    macro_rules! boxed {
        ($name:ident, $ret:ty) => {
            #[circuit_breaker(service = "m68-boxed")]
            fn $name() -> $ret {
                Box::pin(async move { Ok(4) })
            }
        };
    }
    boxed!(
        i,
        std::pin::Pin<Box<dyn Future<Output = Result<u8, E>> + Send>>
    );

    macro_rules! through_crate {
        ($error:ty) => {
            #[circuit_breaker(service = "m68-crate")]
            async fn j() -> Result<u8, $error> {
                Ok(5)
            }
        };
    }
    through_crate!(E);

    #[tokio::test]
    async fn functions_made_by_macros_are_guarded() {
        assert_eq!(f("abc", 1, (2, 3)).await, Ok(3));
        assert_eq!(g().await, Ok(3));
        assert_eq!(h(1).await, Ok(1));
        assert_eq!(i().await, Ok(4));
        assert_eq!(j().await, Ok(5));
        for service in ["m68", "m68-body", "m68-item", "m68-boxed"] {
            assert_eq!(super::super::calls(service).success, 1, "{service}");
        }
    }
}

/// M82
#[tokio::test]
async fn the_path_of_the_crate_may_be_another() {
    mod reexport {
        pub use breakerbox as resilience;
    }
    #[circuit_breaker(crate = reexport::resilience, service = "m82", threshold = 1, fallback = Ok(2))]
    async fn f(fail: bool) -> Result<u8, E> {
        if fail { Err(E) } else { Ok(1) }
    }
    assert_eq!(f(true).await, Err(E));
    assert_eq!(f(false).await, Ok(2));
}

/// A trait whose methods every value has, under the name that an expansion might use.
#[tokio::test]
async fn a_method_that_every_value_has_is_not_called_by_the_expansion() {
    #[allow(dead_code)]
    trait Everything {
        fn shown(&self) -> ! {
            panic!("this is the user's")
        }
        fn settle(&self) -> ! {
            panic!("this is the user's")
        }
        fn error(&self) -> ! {
            panic!("this is the user's")
        }
    }
    impl<T: ?Sized> Everything for T {}

    #[circuit_breaker(service = "everything", threshold = 1)]
    async fn call() -> Result<(), E> {
        Err(E)
    }
    assert_eq!(call().await, Err(E));
}
