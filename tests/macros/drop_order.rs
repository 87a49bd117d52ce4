//! What is dropped when: as in the plain function. M91
//!
//! The same file is compiled again in the older editions, where the temporaries of a
//! tail live longer.
#![allow(unused_variables)]

use std::future::Future;
use std::pin::pin;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::task::Context;
use std::task::Waker;

use breakerbox::circuit_breaker;

/// Writes its name down when it is dropped.
struct D<'l>(&'static str, &'l Log);

#[derive(Default)]
struct Log(Mutex<Vec<&'static str>>);

impl Log {
    fn write(&self, text: &'static str) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(text);
    }

    fn take(&self) -> Vec<&'static str> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Drop for D<'_> {
    fn drop(&mut self) {
        self.1.write(self.0);
    }
}

impl D<'_> {
    fn get(&self) -> Result<u8, Failed> {
        if self.0.is_empty() {
            Err(Failed)
        } else {
            Ok(1)
        }
    }
}

#[derive(Debug)]
struct Failed;

impl From<breakerbox::Rejected> for Failed {
    fn from(_: breakerbox::Rejected) -> Self {
        Self
    }
}

async fn pause(pending: bool) {
    if pending {
        std::future::pending::<()>().await;
    }
}

/// The same function plain and guarded.
macro_rules! twice {
    ([$($asyncness:tt)?] fn $name:ident($($args:tt)*) $body:block) => {
        mod $name {
            pub(super) mod plain {
                use super::super::*;

                pub(crate) $($asyncness)? fn f<'l>($($args)*) -> Result<u8, Failed> $body
            }
            pub(super) mod guarded {
                use super::super::*;

                #[circuit_breaker(service = concat!("m91-", stringify!($name)))]
                pub(crate) $($asyncness)? fn f<'l>($($args)*) -> Result<u8, Failed> $body
            }
        }
    };
}

twice! {
    [async] fn tail(log: &'l Log, _: D<'l>, a: D<'l>, _b: D<'l>, _: D<'l>, mut c: D<'l>) {
        let _local = D("local", log);
        pause(false).await;
        c.0 = "c";
        let _late = D(c.0, log);
        drop(a);
        D("temporary", log).get()
    }
}

twice! {
    [async] fn unused(log: &'l Log, a: D<'l>, (b, _c): (D<'l>, D<'l>), _d: D<'l>, _: D<'l>, _e: D<'l>) {
        let _ = (&b, &a, log);
        pause(false).await;
        D("", log).get()
    }
}

twice! {
    [async] fn early(log: &'l Log, a: D<'l>, _b: D<'l>, c: D<'l>) {
        let _local = D("local", log);
        pause(false).await;
        if a.0 == "a" {
            return Err(Failed);
        }
        let _late = D("late", log);
        D(c.0, log).get()
    }
}

twice! {
    [async] fn half_way(log: &'l Log, a: D<'l>, _b: D<'l>, c: D<'l>) {
        let _local = D("local", log);
        pause(true).await;
        D(c.0, log).get()
    }
}

twice! {
    [async] fn one(log: &'l Log, a: D<'l>, n: u8) {
        let _local = D("local", log);
        pause(false).await;
        let _ = a.0;
        D("temporary", log).get()
    }
}

twice! {
    [] fn sync(log: &'l Log, a: D<'l>, _b: D<'l>, _: D<'l>, c: D<'l>) {
        let _local = D("local", log);
        let _ = &c;
        D("temporary", log).get()
    }
}

/// A receiver by value, of which the body uses a part.
#[allow(dead_code)]
struct Pair<'l>(D<'l>, D<'l>);

impl<'l> Pair<'l> {
    async fn plain(self, log: &'l Log, b: D<'l>) -> Result<u8, Failed> {
        pause(false).await;
        let used = &self.1;
        log.write(used.0);
        b.get()
    }

    #[circuit_breaker(service = "m91-receiver")]
    async fn guarded(self, log: &'l Log, b: D<'l>) -> Result<u8, Failed> {
        pause(false).await;
        let used = &self.1;
        log.write(used.0);
        b.get()
    }
}

/// Polls a future once and drops it.
fn poll_and_drop<F: Future>(future: F, log: &Log) -> Vec<&'static str> {
    {
        let mut future = pin!(future);
        let mut context = Context::from_waker(Waker::noop());
        let polled = future.as_mut().poll(&mut context);
        log.write(if polled.is_ready() {
            "ready"
        } else {
            "pending"
        });
    }
    log.take()
}

#[test]
fn a_guarded_async_function_drops_in_the_order_of_a_plain_one() {
    let log = Log::default();
    let d = |name| D(name, &log);
    macro_rules! same {
        ($name:ident($($args:expr),*)) => {
            let plain = poll_and_drop($name::plain::f(&log, $($args),*), &log);
            let guarded = poll_and_drop($name::guarded::f(&log, $($args),*), &log);
            assert!(plain.len() > 3, "{:?}", plain);
            assert_eq!(plain, guarded, stringify!($name));
        };
    }
    same!(tail(d("_1"), d("a"), d("b"), d("_2"), d("not c")));
    same!(unused(d("a"), (d("b"), d("c")), d("d"), d("_"), d("e")));
    same!(early(d("a"), d("b"), d("c")));
    same!(early(d("x"), d("b"), d("c")));
    same!(half_way(d("a"), d("b"), d("c")));
    same!(one(d("a"), 1));

    let pair = || Pair(d("self.0"), d("self.1"));
    let plain = poll_and_drop(pair().plain(&log, d("b")), &log);
    let guarded = poll_and_drop(pair().guarded(&log, d("b")), &log);
    assert_eq!(plain, ["self.1", "b", "self.0", "self.1", "ready"]);
    assert_eq!(plain, guarded);
}

#[test]
fn a_guarded_sync_function_drops_in_the_order_of_a_plain_one() {
    let log = Log::default();
    let d = |name| D(name, &log);
    sync::plain::f(&log, d("a"), d("b"), d("_"), d("c")).unwrap();
    let plain = log.take();
    sync::guarded::f(&log, d("a"), d("b"), d("_"), d("c")).unwrap();
    assert_eq!(plain, log.take());
}

#[test]
fn a_rejected_call_drops_its_arguments_and_never_enters_the_body() {
    #[circuit_breaker(service = "m91-rejected", threshold = 1)]
    async fn f<'l>(log: &'l Log, a: D<'l>, _: D<'l>, b: D<'l>) -> Result<u8, Failed> {
        log.write("entered");
        drop((a, b));
        Err(Failed)
    }
    let log = Log::default();
    let d = |name| D(name, &log);
    let open = poll_and_drop(f(&log, d("a"), d("_"), d("b")), &log);
    assert_eq!(open, ["entered", "a", "b", "_", "ready"]);
    let rejected = poll_and_drop(f(&log, d("a"), d("_"), d("b")), &log);
    assert_eq!(rejected, ["b", "_", "a", "ready"]);
}
