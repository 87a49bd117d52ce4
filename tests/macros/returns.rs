//! What may stand in a return type, and what the body may rely on.
#![deny(warnings, clippy::all, clippy::pedantic, clippy::nursery)]
#![allow(
    unreachable_pub,
    clippy::missing_errors_doc,
    clippy::missing_const_for_fn,
    clippy::type_complexity
)]

use std::error::Error;
use std::fmt::Debug;
use std::future::Future;
use std::io;
use std::pin::Pin;

use breakerbox::Rejected;
use breakerbox::circuit_breaker;

use crate::macros::Big;
use crate::macros::E;

/// M03 M04 B246
#[tokio::test]
async fn impl_trait_in_the_result_is_inferred_from_the_body() {
    #[circuit_breaker(service = "m03")]
    pub async fn items(n: u32) -> Result<impl Iterator<Item = u32>, E> {
        Ok(0..n)
    }
    #[circuit_breaker(service = "m04")]
    pub async fn early(n: u8) -> Result<impl Debug, E> {
        if n == 0 {
            return Ok(0u8);
        }
        Ok(n)
    }
    #[circuit_breaker(service = "m03-sync")]
    pub fn items_now(n: u32) -> Result<Vec<impl Debug>, E> {
        if n == 0 {
            return Ok(vec![]);
        }
        Ok(vec![n])
    }
    assert_eq!(items(3).await.unwrap().sum::<u32>(), 3);
    assert_eq!(format!("{:?}", early(4).await.unwrap()), "4");
    assert_eq!(format!("{:?}", items_now(4).unwrap()), "[4]");
}

/// M29 M30
#[tokio::test]
async fn an_alias_of_result_is_a_result() {
    pub type Res<T, X = E> = Result<T, X>;
    #[circuit_breaker(service = "m29")]
    pub async fn with_default() -> Res<u32> {
        Ok(1)
    }
    #[circuit_breaker(service = "m30")]
    pub async fn of_io(s: &str) -> io::Result<u32> {
        s.parse().map_err(io::Error::other)
    }
    assert_eq!(with_default().await, Ok(1));
    assert_eq!(of_io("3").await.unwrap(), 3);
    assert!(of_io("x").await.is_err());
}

/// M31 M32
#[tokio::test]
async fn question_marks_convert_as_in_a_plain_function() {
    #[circuit_breaker(service = "m31")]
    pub async fn boxed(s: &str) -> Result<u32, Box<dyn Error + Send + Sync>> {
        let n: u32 = s.parse()?;
        if n == 0 {
            return Err("zero".into());
        }
        Ok(n)
    }
    #[circuit_breaker(service = "m32")]
    pub async fn parsed(s: &str) -> Result<(), Big> {
        let _n: u32 = s.parse()?;
        Ok(())
    }
    #[circuit_breaker(service = "m32-sync")]
    pub fn parsed_now(s: &str) -> Result<u32, Big> {
        Ok(s.parse::<u32>()?)
    }
    assert_eq!(boxed("3").await.unwrap(), 3);
    assert_eq!(boxed("0").await.unwrap_err().to_string(), "zero");
    assert!(matches!(parsed("x").await, Err(Big::Parse(_))));
    assert!(matches!(parsed_now("x"), Err(Big::Parse(_))));
}

/// M33 M34 M35 M36 B210 B211
#[tokio::test]
async fn coercions_happen_as_in_a_plain_function() {
    #[circuit_breaker(service = "m33")]
    pub async fn closure() -> Result<Box<dyn Fn() -> u8 + Send + Sync>, E> {
        Ok(Box::new(|| 1))
    }
    #[circuit_breaker(service = "m34")]
    pub async fn two(b: bool) -> Result<Box<dyn Debug + Send>, E> {
        if b {
            return Ok(Box::new(1u8));
        }
        Ok(Box::new("x"))
    }
    #[circuit_breaker(service = "m35")]
    pub async fn future() -> Result<Pin<Box<dyn Future<Output = u8> + Send>>, E> {
        Ok(Box::pin(async { 1u8 }))
    }
    #[circuit_breaker(service = "m36")]
    pub async fn pointer(b: bool) -> Result<fn(u8) -> u8, E> {
        fn one(_: u8) -> u8 {
            1
        }
        if b {
            return Ok(one);
        }
        Ok(|n| n)
    }
    #[circuit_breaker(service = "m36-slice")]
    pub async fn slice() -> Result<&'static [u8], E> {
        Ok(&[1, 2, 3])
    }
    #[circuit_breaker(service = "m34-sync")]
    pub fn two_now(b: bool) -> Result<Vec<Box<dyn Debug>>, E> {
        if b {
            return Ok(vec![Box::new(1u8), Box::new("x")]);
        }
        Ok(vec![Box::new("x")])
    }
    assert_eq!(closure().await.unwrap()(), 1);
    assert_eq!(format!("{:?}", two(true).await.unwrap()), "1");
    assert_eq!(format!("{:?}", two(false).await.unwrap()), "\"x\"");
    assert_eq!(future().await.unwrap().await, 1);
    assert_eq!(pointer(true).await.unwrap()(4), 1);
    assert_eq!(pointer(false).await.unwrap()(4), 4);
    assert_eq!(slice().await.unwrap(), [1, 2, 3]);
    assert_eq!(two_now(true).unwrap().len(), 2);
    assert_eq!(two_now(false).unwrap().len(), 1);
}

/// M58 B245
#[tokio::test]
async fn a_unit_needs_nothing_special() {
    #[circuit_breaker(service = "m58")]
    pub async fn f() -> Result<(), E> {
        Ok(())
    }
    #[circuit_breaker(service = "m58-bare", classify = |()| false, fallback = ())]
    pub async fn bare() {
        f().await.unwrap();
    }
    #[circuit_breaker(service = "m58-sync", classify = |()| false, fallback = ())]
    pub fn now() {
        bare_sync();
    }
    fn bare_sync() {}
    assert_eq!(f().await, Ok(()));
    bare().await;
    now();
}

/// M70 M88
#[tokio::test]
async fn the_error_may_be_generic() {
    #[circuit_breaker(service = "m70")]
    pub async fn f<T, X: From<Rejected>>(x: Result<T, X>) -> Result<T, X> {
        x
    }
    #[circuit_breaker(service = "m70-unbounded", map_rejected = |_| X::default())]
    pub async fn g<T, X: Default>(x: Result<T, X>) -> Result<T, X> {
        x
    }
    assert_eq!(f::<u8, E>(Ok(1)).await, Ok(1));
    assert_eq!(f::<u8, E>(Err(E)).await, Err(E));
    assert_eq!(g::<u8, String>(Ok(1)).await, Ok(1));
}

/// M88
#[tokio::test]
async fn errors_that_hold_anything_need_nothing_and_give_the_rejection_back() {
    #[circuit_breaker(service = "m88-anyhow", threshold = 1)]
    pub async fn any(fail: bool) -> anyhow::Result<u32> {
        anyhow::ensure!(!fail, "it failed");
        if fail {
            anyhow::bail!("unreachable");
        }
        Ok(1)
    }
    #[circuit_breaker(service = "m88-box", threshold = 1)]
    pub async fn boxed(fail: bool) -> Result<u32, Box<dyn Error + Send + Sync>> {
        if fail {
            Err("failed")?;
        }
        Ok(1)
    }
    assert_eq!(any(false).await.unwrap(), 1);
    any(true).await.unwrap_err();
    let rejected = any(false).await.unwrap_err();
    assert_eq!(
        rejected.downcast_ref::<Rejected>().unwrap().service(),
        "m88-anyhow"
    );
    boxed(true).await.unwrap_err();
    let rejected = boxed(false).await.unwrap_err();
    assert!(rejected.is::<Rejected>());
}

/// M74
#[tokio::test]
async fn what_is_no_result_needs_a_verdict_and_a_fallback() {
    #[circuit_breaker(service = "m74", threshold = 1, classify = Option::is_none, fallback = Some(n + 100))]
    pub async fn f(n: u32) -> Option<u32> {
        n.checked_sub(1)
    }
    assert_eq!(f(1).await, Some(0));
    assert_eq!(f(0).await, None);
    assert_eq!(f(1).await, Some(101));
}
