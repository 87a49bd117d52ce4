//! Functions that are not async: they wait on their thread.

use std::sync::mpsc;
use std::thread;

use breakerbox::RejectedKind;
use breakerbox::bulkhead;
use breakerbox::circuit_breaker;
use breakerbox::fallback;
use breakerbox::rate_limit;
use breakerbox::retry;

use super::Count;
use super::PayError;
use super::is_server;
use crate::macros::calls;

type R = Result<u32, PayError>;

#[test]
fn a_plain_function_is_repeated_and_guarded() {
    static BODY: Count = Count::new();
    #[fallback(|rejected| Err(PayError::Rejected(rejected)))]
    #[retry(retry_on = is_server, delay = "1ms", attempts = 2, clone(names))]
    #[circuit_breaker(service = "plain-all", threshold = 3)]
    #[rate_limit("1000/s")]
    #[bulkhead(max_concurrent = 5)]
    #[allow(clippy::needless_pass_by_value)]
    fn f(mut names: Vec<String>, more: &mut Vec<String>) -> R {
        BODY.begin();
        more.append(&mut names);
        Err(PayError::Status(500))
    }
    let mut more = Vec::new();
    assert_eq!(f(vec!["a".into()], &mut more), Err(PayError::Status(500)));
    assert_eq!((BODY.get(), more.len()), (2, 2));
    // The third failure opens the circuit; the body's own error stays.
    assert_eq!(f(vec!["a".into()], &mut more), Err(PayError::Status(500)));
    let refused = f(vec![], &mut more).unwrap_err();
    assert_eq!(refused.kind(), Some(RejectedKind::Open));
    assert_eq!((BODY.get(), calls("plain-all").failure), (3, 3));
}

#[test]
fn a_bulkhead_is_shared_by_threads() {
    #[bulkhead(service = "plain-bulkhead", max_concurrent = 1)]
    fn f(begun: &mpsc::Sender<()>, end: &mpsc::Receiver<()>) -> R {
        begun.send(()).unwrap();
        end.recv().unwrap();
        Ok(1)
    }
    let (begin, begun) = mpsc::channel();
    let (end, ended) = mpsc::channel();
    let again = begin.clone();
    let first = thread::spawn(move || f(&begin, &ended));
    begun.recv().unwrap();
    let (_unused, never) = mpsc::channel();
    let refused = f(&again, &never).unwrap_err();
    assert_eq!(refused.kind(), Some(RejectedKind::BulkheadFull));
    end.send(()).unwrap();
    assert_eq!(first.join().unwrap(), Ok(1));
}
