//! A breaker on an `impl` block with all that a block may hold.
#![deny(warnings, clippy::all, clippy::pedantic)]
#![allow(clippy::manual_async_fn, clippy::unused_async, unused_braces)]

use std::fmt::Debug;
use std::marker::PhantomData;
use std::pin::Pin;

use breakerbox::Registry;
use breakerbox::bulkhead;
use breakerbox::circuit_breaker;
use breakerbox::policies;
use breakerbox::resilient;
use breakerbox::timeout;
use breakerbox::with_registry;

use super::PayError;
use super::hang;
use crate::macros::calls;

/// What a client is asked for.
trait Source<const WIDTH: usize> {
    type Item: Debug + Send;
    type Error: From<breakerbox::Rejected> + Debug + Send;
    const LIMIT: usize;

    fn next(&self) -> impl Future<Output = Result<Self::Item, Self::Error>> + Send;

    fn boxed(&self) -> Pin<Box<dyn Future<Output = Result<usize, Self::Error>> + Send + '_>>;

    fn wide(&self) -> [usize; WIDTH];
}

struct Client<'c, T: ?Sized, const WIDTH: usize = { 1 + 1 }> {
    name: &'c str,
    of: PhantomData<fn() -> T>,
}

struct Sized2<const N: usize>;

trait Holds {}
impl<const N: usize> Holds for Sized2<N> {}

macro_rules! also {
    ($name:ident) => {
        const $name: usize = { 7 };
    };
}

/// Documented.
#[circuit_breaker(service = "blocks-generic", threshold = 99)]
#[allow(dead_code, clippy::needless_lifetimes, clippy::unused_self)]
impl<'c, T, const WIDTH: usize> Client<'c, T, { WIDTH }>
where
    T: ?Sized + Debug + Send + 'static,
    Sized2<{ WIDTH }>: Holds,
{
    also! { ALSO }

    const BRACED: usize = { 3 };
    const CLOSURE: fn(usize) -> usize = |n| {
        let more = n + 1;
        more * 2
    };

    pub(crate) const fn new(name: &'c str) -> Self {
        Self {
            name,
            of: PhantomData,
        }
    }

    /// With generics of its own.
    async fn own<'a, U, const MORE: usize>(
        &'a self,
        of: &'a [U; MORE],
        [first, .., last]: [u8; 3],
    ) -> Result<(&'a [U], usize), PayError>
    where
        U: Debug + Sync,
        Sized2<{ MORE }>: Holds,
        'c: 'a,
    {
        if MORE == 0 {
            return Err(PayError::Status(u16::from(first) + u16::from(last)));
        }
        Ok((of.as_slice(), WIDTH + Self::BRACED + Self::ALSO))
    }

    async fn without_receiver(name: &'c str) -> Result<Self, PayError> {
        Ok(Self::new(name))
    }

    #[must_use = "it is asked for"]
    #[cfg(not(any()))]
    pub(crate) async fn by_cfg(&self) -> Result<&'c str, PayError> {
        Ok(self.name)
    }

    #[cfg(any())]
    async fn by_cfg(&self) -> Result<Missing, PayError> {
        Ok(Missing)
    }

    extern "C" fn not_a_call(&self) -> usize {
        (Self::CLOSURE)(1)
    }

    #[unguarded]
    async fn left_out(&self) -> usize {
        1
    }

    #[breakerbox::unguarded]
    async fn left_out_by_path(&self) -> usize {
        2
    }

    #[bulkhead(max_concurrent = 3)]
    #[timeout("1s")]
    async fn stacked(&self) -> Result<usize, PayError> {
        hang().await
    }

    #[resilient(timeout("1s"), circuit_breaker(service = "blocks-own"))]
    async fn own_stack(&self) -> Result<usize, PayError> {
        Ok(self.name.len())
    }
}

#[circuit_breaker(service = "blocks-trait", threshold = 99)]
impl<T, const WIDTH: usize> Source<WIDTH> for Client<'_, T, WIDTH>
where
    T: ?Sized + Debug + Send + Sync + 'static,
{
    type Item = [u8; WIDTH];
    type Error = PayError;
    const LIMIT: usize = { WIDTH * 2 };

    async fn next(&self) -> Result<Self::Item, Self::Error> {
        if self.name.len() > Self::LIMIT {
            return Err(PayError::Status(413));
        }
        Ok([1; WIDTH])
    }

    fn boxed(&self) -> Pin<Box<dyn Future<Output = Result<usize, Self::Error>> + Send + '_>> {
        Box::pin(async move { Ok(self.name.len()) })
    }

    fn wide(&self) -> [usize; WIDTH] {
        [Self::LIMIT; WIDTH]
    }
}

#[tokio::test(start_paused = true)]
async fn a_block_with_generics_constants_and_associated_types_is_guarded() {
    type Of<'c> = Client<'c, str, 2>;
    let client = Of::without_receiver("abc").await.unwrap();
    let out = client.own(&["x"; 4], [1, 2, 3]).await;
    assert_eq!(out, Ok((["x"; 4].as_slice(), 2 + 3 + 7)));
    let out = client.own::<u8, 0>(&[], [1, 2, 3]).await;
    assert_eq!(out, Err(PayError::Status(4)));
    assert_eq!(client.by_cfg().await, Ok("abc"));
    let left_out = (client.left_out().await, client.left_out_by_path().await);
    assert_eq!(left_out, (1, 2));
    let seen = calls("blocks-generic");
    assert_eq!((seen.success, seen.failure), (3, 1));

    let out = client.stacked().await;
    assert!(matches!(out, Err(PayError::TimedOut(_))), "{out:?}");
    assert_eq!(calls("blocks-generic").failure, 2);
    let bulkhead = policies("blocks-generic").get_bulkhead().unwrap();
    assert_eq!(bulkhead.available(), 3);
    assert_eq!(client.own_stack().await, Ok(3));
    assert_eq!(calls("blocks-own").success, 1);

    assert_eq!(client.next().await, Ok([1; 2]));
    assert_eq!(Of::new("abcde").next().await, Err(PayError::Status(413)));
    assert_eq!(client.boxed().await, Ok(3));
    assert_eq!(client.wide(), [4, 4]);
    let seen = calls("blocks-trait");
    assert_eq!((seen.success, seen.failure), (2, 1));
}

fn is_send<T: Send>(of: T) -> T {
    of
}

#[tokio::test(start_paused = true)]
async fn the_futures_of_a_block_can_be_sent_and_stay_apart() {
    let client = Client::<'static, u8, 3>::new("a");
    let calls = (
        is_send(client.own(&[1], [0; 3])),
        is_send(client.stacked()),
        is_send(client.next()),
    );
    // Another test counts what the global one has seen.
    let apart = Registry::builder().build().unwrap();
    let calls = async { tokio::join!(calls.0, calls.1, calls.2) };
    let (own, stacked, next) = with_registry(apart, calls).await;
    assert_eq!(own, Ok(([1].as_slice(), 3 + 3 + 7)));
    assert!(matches!(stacked, Err(PayError::TimedOut(_))), "{stacked:?}");
    assert_eq!(next, Ok([1; 3]));
}
