//! A guarded future is `Send` where the plain one is, and goes wherever that goes.

use std::cell::Cell;
use std::error::Error;
use std::rc::Rc;

use breakerbox::circuit_breaker;
use tokio::task::LocalSet;

use crate::macros::E;

async fn pause() {
    tokio::task::yield_now().await;
}

fn is_send<T: Send>(value: T) -> T {
    value
}

/// M50 B243
#[tokio::test]
async fn a_guarded_future_is_send_where_the_plain_one_is() {
    #[circuit_breaker(service = "m50")]
    async fn owned(a: String) -> Result<usize, Box<dyn Error + Send + Sync>> {
        pause().await;
        Ok(a.len())
    }
    // `Cell` is `Send` and not `Sync`: a guard that borrowed it would lose `Send`.
    #[circuit_breaker(service = "m50-cell", fails_on = |_| true)]
    async fn cell(a: Cell<u8>) -> Result<u8, E> {
        pause().await;
        Ok(a.get())
    }
    #[circuit_breaker(service = "m51", fallback_when = any, fallback = |_| { pause().await; Ok(String::new()) })]
    async fn borrowed(a: &str, b: &mut String) -> Result<String, E> {
        pause().await;
        b.push_str(a);
        Ok(b.clone())
    }
    #[circuit_breaker(service = "m50-generic", map_rejected = |_| X::default())]
    async fn generic<T: Send, X: Send + Default>(a: T, _x: X) -> Result<T, X> {
        pause().await;
        Ok(a)
    }
    #[circuit_breaker(service = { pause_name() })]
    async fn dynamic(f: impl Fn(&str) -> &str + Send) -> Result<usize, E> {
        pause().await;
        Ok(f("x").len())
    }
    fn pause_name() -> String {
        "m50-dynamic".into()
    }
    struct S(Vec<u8>);
    impl S {
        #[circuit_breaker(service = "m50-self")]
        async fn f(&mut self) -> Result<&mut u8, E> {
            pause().await;
            self.0.last_mut().ok_or(E)
        }
    }
    assert_eq!(is_send(owned("a".into())).await.unwrap(), 1);
    assert_eq!(is_send(cell(Cell::new(1))).await, Ok(1));
    let mut text = String::new();
    assert_eq!(is_send(borrowed("a", &mut text)).await, Ok("a".into()));
    assert_eq!(
        is_send(generic::<u8, String>(1, String::new())).await,
        Ok(1)
    );
    assert_eq!(is_send(dynamic(str::trim)).await, Ok(1));
    assert_eq!(is_send(S(vec![1]).f()).await, Ok(&mut 1));
}

/// M92
#[tokio::test]
async fn a_guarded_future_goes_wherever_a_plain_one_goes() {
    #[circuit_breaker(service = "m92")]
    async fn f(n: u32) -> Result<u32, E> {
        pause().await;
        Ok(n)
    }
    #[circuit_breaker(service = "m92-local")]
    async fn local(n: Rc<u32>) -> Result<u32, E> {
        pause().await;
        Ok(*n)
    }
    assert_eq!(tokio::spawn(f(1)).await.unwrap(), Ok(1));

    let spawned = LocalSet::new()
        .run_until(async { tokio::task::spawn_local(local(Rc::new(2))).await.unwrap() })
        .await;
    assert_eq!(spawned, Ok(2));

    let boxed: Box<dyn Future<Output = _> + Send> = Box::new(f(3));
    assert_eq!(Box::into_pin(boxed).await, Ok(3));

    assert_eq!(tokio::join!(f(4), f(5)), (Ok(4), Ok(5)));
    let first = tokio::select! { biased; n = f(6) => n, n = f(7) => n };
    assert_eq!(first, Ok(6));

    let many: Vec<_> = (0..1000).map(|n| tokio::spawn(f(n))).collect();
    for (n, task) in (0..).zip(many) {
        assert_eq!(task.await.unwrap(), Ok(n));
    }
}
