//! Calls of a tower service.

use std::future::poll_fn;
use std::sync::Mutex;
use std::sync::PoisonError;

use tower::Service;

use crate::body::Answer;
use crate::body::repeated;
use crate::harness::work::Work;
use crate::harness::work::now;

/// A service and the calls of its one owner, each after it has said that it is ready. The
/// lock stands for that ownership: it is taken once for all calls of a round.
struct Owned<S> {
    service: Mutex<S>,
    answer: Answer,
}

/// Work that calls this service in a loop.
pub(super) fn called<S>(answer: Answer, service: S) -> Box<dyn Work>
where
    S: Service<u64, Response = u64> + Send + 'static,
{
    let service = Mutex::new(service);
    Box::new(Owned { service, answer })
}

impl<S: Service<u64, Response = u64> + Send> Work for Owned<S> {
    fn run(&self, calls: u64) -> bool {
        let mut service = self.service.lock().unwrap_or_else(PoisonError::into_inner);
        repeated(calls, self.answer, |x| {
            now(poll_fn(|context| service.poll_ready(context)))?;
            now(service.call(x))
        })
    }
}
