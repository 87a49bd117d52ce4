//! What may stand in a body.
#![deny(warnings, clippy::all, clippy::pedantic, clippy::nursery)]
#![allow(
    unreachable_pub,
    clippy::missing_errors_doc,
    clippy::missing_const_for_fn
)]

use std::panic::Location;
use std::rc::Rc;

use breakerbox::circuit_breaker;

use crate::macros::E;

async fn pause() {
    tokio::task::yield_now().await;
}

/// M37 M38
#[tokio::test]
#[allow(clippy::never_loop)]
async fn labels_break_where_they_stand() {
    #[circuit_breaker(service = "m37")]
    pub async fn loops(n: u32) -> Result<u32, E> {
        let mut i = 0;
        'outer: loop {
            loop {
                i += 1;
                if i > n {
                    break 'outer;
                }
                if i % 2 == 0 {
                    continue 'outer;
                }
                break;
            }
        }
        Ok(i)
    }
    #[circuit_breaker(service = "m38")]
    pub async fn block(n: u32) -> Result<u32, E> {
        let v = 'b: {
            if n > 1 {
                break 'b 1;
            }
            2
        };
        Ok(v)
    }
    assert_eq!(loops(5).await, Ok(6));
    assert_eq!(block(2).await, Ok(1));
    assert_eq!(block(0).await, Ok(2));
}

/// M39 B228
#[tokio::test]
async fn self_inside_macros_is_still_self() {
    pub struct S(u32);
    impl S {
        #[circuit_breaker(service = "m39")]
        async fn f(&self) -> Result<String, E> {
            macro_rules! number {
                () => {
                    self.0
                };
            }
            Ok(format!("{} {}", number!(), self.0))
        }
    }
    assert_eq!(S(3).f().await, Ok("3 3".into()));
}

/// M47
#[tokio::test]
async fn a_function_may_call_itself_in_a_box() {
    #[circuit_breaker(service = "m47")]
    pub async fn f(n: u32) -> Result<u32, E> {
        if n == 0 {
            return Ok(0);
        }
        Ok(1 + Box::pin(f(n - 1)).await?)
    }
    assert_eq!(f(4).await, Ok(4));
}

/// M49
#[tokio::test]
async fn a_body_that_is_not_send_compiles_where_nobody_asks_for_send() {
    #[circuit_breaker(service = "m49")]
    #[allow(clippy::future_not_send)]
    pub async fn f() -> Result<u32, E> {
        let r = Rc::new(1);
        pause().await;
        Ok(*r)
    }
    assert_eq!(f().await, Ok(1));
}

/// M59
#[tokio::test]
#[allow(clippy::never_loop)]
async fn a_body_may_never_reach_its_end() {
    #[circuit_breaker(service = "m59")]
    pub async fn looping(n: u32) -> Result<u32, E> {
        loop {
            if n > 1 {
                return Ok(n);
            }
            return Err(E);
        }
    }
    #[circuit_breaker(service = "m59-panic")]
    pub async fn panicking() -> Result<u32, E> {
        panic!("always")
    }
    #[circuit_breaker(service = "m59-sync")]
    pub fn looping_now(n: u32) -> Result<u32, E> {
        loop {
            if n > 1 {
                return Ok(n);
            }
            return Err(E);
        }
    }
    #[circuit_breaker(service = "m59-unimplemented")]
    pub fn panicking_now() -> Result<u32, E> {
        unreachable!()
    }
    assert_eq!(looping(2).await, Ok(2));
    assert_eq!(looping(1).await, Err(E));
    assert_eq!(looping_now(2), Ok(2));
    let _: fn() -> _ = panicking;
    let _: fn() -> _ = panicking_now;
}

/// M65 M67
#[tokio::test]
async fn items_and_large_locals_stay_in_the_body() {
    #[circuit_breaker(service = "m65")]
    #[allow(clippy::large_stack_arrays)]
    pub async fn large() -> Result<usize, E> {
        let b = [0u8; 65536];
        pause().await;
        Ok(b.len())
    }
    #[circuit_breaker(service = "m67")]
    pub async fn items() -> Result<u32, E> {
        use std::fmt::Debug;
        const K: u32 = 1;
        fn h(x: &dyn Debug) -> u32 {
            let _ = x;
            3
        }
        Ok(h(&K))
    }
    assert_eq!(Box::pin(large()).await, Ok(65536));
    assert_eq!(items().await, Ok(3));
}

/// M66: what stands at the top of a body applies to all of it.
#[tokio::test]
async fn inner_attributes_stay_at_the_top() {
    #[circuit_breaker(service = "m66")]
    pub async fn f() -> Result<u32, E> {
        #![allow(unused_variables)]
        #![expect(clippy::no_effect_underscore_binding)]
        let a = 1;
        let _b = 2;
        Ok(1)
    }
    #[circuit_breaker(service = "m66-sync")]
    pub fn g() -> Result<u32, E> {
        #![expect(unused_variables)]
        let a = 1;
        Ok(1)
    }
    #[circuit_breaker(service = "m66-tail")]
    pub fn h() -> impl Future<Output = Result<u32, E>> {
        #![expect(unused_variables)]
        let a = 1;
        async { Ok(1) }
    }
    assert_eq!(f().await, Ok(1));
    assert_eq!(g(), Ok(1));
    assert_eq!(h().await, Ok(1));
}

/// B250
#[tokio::test]
async fn nothing_is_linted_that_would_not_be_in_a_plain_function() {
    pub struct S(bool);
    impl S {
        #[circuit_breaker(service = "b250")]
        #[allow(clippy::unnecessary_semicolon)]
        async fn f(&self, b: &[u8]) -> Result<(), E> {
            if self.0 {
                drop(b.to_vec());
            };
            Ok(())
        }
    }
    assert_eq!(S(true).f(&[1]).await, Ok(()));
}

/// M97
#[tokio::test]
async fn locations_are_lines_of_the_user() {
    #[circuit_breaker(service = "m97")]
    async fn f() -> Result<(&'static Location<'static>, u32), E> {
        Ok((Location::caller(), line!()))
    }
    let (location, line) = f().await.unwrap();
    assert_eq!(location.file(), file!());
    assert_eq!(location.line(), line);

    let sites = breakerbox::call_sites();
    let site = sites.iter().find(|site| site.service() == "m97").unwrap();
    assert_eq!(
        site.location().to_string(),
        format!("{}:{}", file!(), line - 2)
    );
    assert_eq!(site.module(), module_path!());
}

/// M86
#[test]
#[circuit_breaker(service = "m86")]
fn a_test_may_be_guarded() -> Result<(), E> {
    Ok(())
}
