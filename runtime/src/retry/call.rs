//! Calls that are made again, without the attribute.

use std::fmt;
use std::ops::ControlFlow;
use std::pin::Pin;
use std::task::Context;
use std::task::Poll;
use std::task::ready;

use pin_project_lite::pin_project;

use crate::error::Error;
use crate::policy::RetryPolicy;
use crate::rejected::Rejected;
use crate::retry::pause::Pause;
use crate::retry::repeats::Idempotent;
use crate::retry::repeats::Repeats;
use crate::retry::repeats::RetryOn;
use crate::retry::repeats::Undecided;
use crate::retry::retries::Retries;
use crate::retry::retrying::Refusal;
use crate::retry::retrying::Retrying;
use crate::verdict::IntoVerdict;
use crate::verdict::Verdict;

/// Makes calls to one service again where they fail.
///
/// Whether a call that failed may have been carried out, nobody but its author knows, and so
/// it has to be said which errors it is made again after, before anything can be called:
/// [`retry_on`](Self::retry_on) or [`idempotent`](Self::idempotent).
///
/// What is called tells the two kinds of failure apart, as [`Breaker::call`] does. After
/// [`Error::Inner`] the call was made, and is made again where that was decided. An
/// [`Error::Rejected`] by a policy inside was not made, and is not asked for again: the
/// caller gets it, or, once an attempt was made, that attempt's own error, since something
/// may have been carried out. [`RetryPolicy::wait_for_circuit`] waits for an open circuit,
/// once.
///
/// ```
/// # enum Mistake { Busy, Refused }
/// # async fn post() -> Result<(), Mistake> { Ok(()) }
/// # async fn example(retry: breakerbox::Retry<'_>, mail: &breakerbox::Breaker) {
/// let retry = retry.retry_on(|error: &Mistake| matches!(error, Mistake::Busy));
/// let sent = retry.call(|| mail.call(post())).await;
/// # let _ = sent;
/// # }
/// ```
///
/// A breaker inside, as here, is asked anew for each attempt, and each counts for it. One
/// around all of it sees one call and how that ended.
///
/// Retries multiply: where `f` calls `g` and `g` calls `h`, and each is made three times, a
/// failing `h` is called 27 times. Make calls again in one place, or give each service a
/// [`budget`](RetryPolicy::budget); a breaker inside ends it, since what it rejects is not
/// made again.
///
/// [`Breaker::call`]: crate::Breaker::call
#[derive(Clone, Copy)]
#[must_use = "it calls nothing by itself"]
pub struct Retry<'p, On = Undecided> {
    retries: &'p Retries,
    policy: RetryPolicy,
    on: On,
}

impl<'p> Retry<'p> {
    pub(crate) const fn new(retries: &'p Retries, policy: RetryPolicy) -> Self {
        Self {
            retries,
            policy,
            on: Undecided(()),
        }
    }

    /// Calls are made again after every error: it does no harm to carry them out twice.
    pub const fn idempotent(self) -> Retry<'p, Idempotent> {
        self.decided(Idempotent(()))
    }

    /// Calls are made again after the errors that are failures: those of which `predicate`
    /// says `true`, or [`Verdict::Failure`]. After [`Verdict::RetryAfter`] the next attempt
    /// begins no earlier than it says. After [`Verdict::OpenFor`], which opens a circuit, there
    /// is none, unless [`RetryPolicy::wait_for_circuit`] is given: then no earlier than it says.
    pub const fn retry_on<E, V, P>(self, predicate: P) -> Retry<'p, RetryOn<P>>
    where
        V: IntoVerdict,
        P: Fn(&E) -> V,
    {
        self.decided(RetryOn(predicate))
    }

    const fn decided<On>(self, on: On) -> Retry<'p, On> {
        Retry {
            retries: self.retries,
            policy: self.policy,
            on,
        }
    }
}

impl<On> Retry<'_, On> {
    /// Makes a call, and makes it again where it fails. `body` makes each attempt; the first
    /// begins when the future is first polled.
    ///
    /// The future of an attempt is dropped before the delay that follows it.
    ///
    /// # Cancel safety
    ///
    /// Dropped before it was polled, it has called nothing. Dropped later, it drops the
    /// attempt that runs, and begins no other.
    pub fn call<T, E, F, B>(&self, body: B) -> RetryCall<'_, On, B, F, T, E>
    where
        On: Repeats<E>,
        B: FnMut() -> F,
        F: Future<Output = Result<T, Error<E>>>,
    {
        RetryCall {
            retry: self,
            state: None,
            body,
            stage: Stage::Next,
        }
    }

    /// Makes a call on this thread, and makes it again where it fails; it sleeps in between.
    ///
    /// # Errors
    ///
    /// The error of the last attempt that was made, or [`Error::Rejected`] if there was none.
    pub fn call_blocking<T, E>(
        &self,
        mut body: impl FnMut() -> Result<T, Error<E>>,
    ) -> Result<T, Error<E>>
    where
        On: Repeats<E>,
    {
        let mut state = self.begin();
        loop {
            let judged = match self.judge(body()) {
                Ended::Made { out, verdict } => {
                    state.next_blocking(out, is_failure(verdict), verdict)
                }
                Ended::Refused(rejected) => {
                    let refusal = state.refused_blocking(rejected);
                    after_refusal::<_, _, ()>(refusal).map_continue(drop)
                }
            };
            if let ControlFlow::Break(out) = judged {
                return out;
            }
        }
    }

    fn begin<T, E>(&self) -> Retrying<'_, Result<T, Error<E>>> {
        Retrying::new(self.retries, &self.policy, None)
    }

    fn judge<T, E>(&self, out: Result<T, Error<E>>) -> Ended<Result<T, Error<E>>>
    where
        On: Repeats<E>,
    {
        let verdict = match &out {
            Ok(_) => Verdict::Success,
            Err(Error::Rejected(rejected)) => return Ended::Refused(*rejected),
            Err(Error::TimedOut(_)) if self.on.repeats_timed_out() => Verdict::Failure,
            Err(Error::TimedOut(_)) => Verdict::Success,
            Err(Error::Inner(error)) => self.on.judge(error),
        };
        Ended::Made { out, verdict }
    }
}

/// How an attempt ended.
enum Ended<Out> {
    Made { out: Out, verdict: Verdict },
    Refused(Rejected),
}

/// After a failure, a call is made again.
const fn is_failure(verdict: Verdict) -> bool {
    match verdict {
        Verdict::Success | Verdict::Ignore => false,
        Verdict::Failure | Verdict::RetryAfter(_) | Verdict::OpenFor(_) => true,
    }
}

/// What comes of a refusal: the answer, or the pause before the next attempt.
fn after_refusal<T, E, F>(
    refusal: Refusal<Result<T, Error<E>>>,
) -> ControlFlow<Result<T, Error<E>>, Stage<F>> {
    match refusal {
        Refusal::Last(out) => ControlFlow::Break(out),
        Refusal::Rejected(rejected) => ControlFlow::Break(Err(Error::Rejected(rejected))),
        Refusal::Wait(pause) => ControlFlow::Continue(Stage::Wait { pause }),
        Refusal::Again => ControlFlow::Continue(Stage::Next),
    }
}

pin_project! {
    /// The future of [`Retry::call`].
    #[must_use = "futures do nothing unless polled"]
    pub struct RetryCall<'r, On, B, F, T, E> {
        retry: &'r Retry<'r, On>,
        // Nothing before it is first polled.
        state: Option<Retrying<'r, Result<T, Error<E>>>>,
        body: B,
        #[pin]
        stage: Stage<F>,
    }
}

pin_project! {
    #[project = StageProjected]
    enum Stage<F> {
        Next,
        Attempt { #[pin] attempt: F },
        Pause { pause: Pause },
        // For the circuit.
        Wait { pause: Pause },
        Over,
    }
}

impl<On, B, F, T, E> Future for RetryCall<'_, On, B, F, T, E>
where
    On: Repeats<E>,
    B: FnMut() -> F,
    F: Future<Output = Result<T, Error<E>>>,
{
    type Output = Result<T, Error<E>>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        loop {
            let state = this.state.get_or_insert_with(|| this.retry.begin());
            match this.stage.as_mut().project() {
                StageProjected::Next => {
                    let attempt = (this.body)();
                    this.stage.set(Stage::Attempt { attempt });
                }
                StageProjected::Attempt { attempt } => {
                    let out = ready!(attempt.poll(context));
                    let judged = match this.retry.judge(out) {
                        Ended::Made { out, verdict } => state
                            .next(out, is_failure(verdict), verdict)
                            .map_continue(|pause| Stage::Pause { pause }),
                        Ended::Refused(rejected) => after_refusal(state.refused(rejected)),
                    };
                    match judged {
                        ControlFlow::Break(out) => {
                            this.stage.set(Stage::Over);
                            return Poll::Ready(out);
                        }
                        ControlFlow::Continue(stage) => this.stage.set(stage),
                    }
                }
                StageProjected::Pause { pause } => {
                    ready!(Pin::new(pause).poll(context));
                    if let Some(out) = state.too_late() {
                        this.stage.set(Stage::Over);
                        return Poll::Ready(out);
                    }
                    this.stage.set(Stage::Next);
                }
                StageProjected::Wait { pause } => {
                    ready!(Pin::new(pause).poll(context));
                    match after_refusal(state.waited()) {
                        ControlFlow::Break(out) => {
                            this.stage.set(Stage::Over);
                            return Poll::Ready(out);
                        }
                        ControlFlow::Continue(stage) => this.stage.set(stage),
                    }
                }
                StageProjected::Over => panic!("polled after it was ready"),
            }
        }
    }
}

impl<On: fmt::Debug> fmt::Debug for Retry<'_, On> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Retry")
            .field("policy", &self.policy)
            .field("on", &self.on)
            .finish_non_exhaustive()
    }
}

impl<On, B, F, T, E> fmt::Debug for RetryCall<'_, On, B, F, T, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RetryCall")
            .field("policy", &self.retry.policy)
            .field("has_begun", &self.state.is_some())
            .finish_non_exhaustive()
    }
}

#[cfg(all(test, feature = "test-util"))]
mod tests {
    use std::cell::Cell;
    use std::cell::RefCell;
    use std::future;
    use std::panic;
    use std::panic::AssertUnwindSafe;
    use std::panic::UnwindSafe;
    use std::pin::pin;
    use std::sync::Arc;
    use std::sync::atomic::AtomicUsize;
    use std::sync::atomic::Ordering::Relaxed;
    use std::task::Wake;
    use std::task::Waker;
    use std::time::Duration;

    use super::*;
    use crate::breaker::Breaker;
    use crate::clock::ManualClock;
    use crate::deadline::Deadline;
    use crate::host::Host;
    use crate::policy::Policy;
    use crate::policy::Window;
    use crate::registry::Registry;
    use crate::state::State;

    type Out = Result<u32, Error<&'static str>>;

    const STEADY: RetryPolicy = RetryPolicy::new()
        .delay(seconds(5))
        .factor(1.0)
        .jitter(false);
    const AT_ONCE: RetryPolicy = STEADY.delay(Duration::ZERO);

    const fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    const fn failed() -> Out {
        Err(Error::Inner("failed"))
    }

    /// A service on a clock that the test moves, and how often it was called.
    struct Service {
        time: ManualClock,
        breaker: &'static Breaker,
        retries: Retries,
        bodies: Cell<u32>,
    }

    impl Service {
        fn new(policy: Policy) -> Self {
            let time = ManualClock::new();
            let builder = Registry::builder().clock(time.clock());
            let registry = builder
                .declare_with("s", policy)
                .build()
                .expect("good numbers");
            let host = Arc::new(Host::with_clock(time.clock()));
            Self {
                breaker: registry.breaker("s").expect("declared above"),
                retries: Retries::new(host, "s"),
                bodies: Cell::new(0),
                time,
            }
        }

        fn retry(&self, policy: RetryPolicy) -> Retry<'_> {
            Retry::new(&self.retries, policy)
        }

        /// One attempt, which ends at once.
        async fn attempt(&self, out: Out) -> Out {
            self.bodies.set(self.bodies.get() + 1);
            out
        }

        /// The same under the breaker.
        fn guarded(&self, out: Result<u32, &'static str>) -> impl Future<Output = Out> {
            self.breaker.call(async move {
                self.bodies.set(self.bodies.get() + 1);
                out
            })
        }

        fn trip(&self) {
            while self.breaker.state() == State::Closed {
                self.breaker.try_acquire().expect("it is closed").failure();
            }
        }

        fn counts(&self) -> Vec<(&'static str, u64)> {
            let attempts = [("attempts", self.retries.counts().attempts())];
            let all = self.retries.counts().by_label().into_iter().chain(attempts);
            all.filter(|(_, count)| *count > 0).collect()
        }
    }

    fn poll<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
        future.poll(&mut Context::from_waker(Waker::noop()))
    }

    #[track_caller]
    fn now<F: Future>(future: F) -> F::Output {
        match poll(pin!(future)) {
            Poll::Ready(out) => out,
            Poll::Pending => panic!("it waits"),
        }
    }

    /// Counts how often it was woken.
    #[derive(Default)]
    struct Woken(AtomicUsize);

    impl Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Relaxed);
        }
    }

    /// I2
    #[test]
    fn a_call_that_keeps_failing_ends_with_the_error_of_its_last_attempt() {
        let service = Service::new(Policy::new().threshold(5));
        let retry = service.retry(AT_ONCE).idempotent();
        let numbers = RefCell::new(["first", "second", "third"].into_iter());
        let out = now(retry.call(|| service.guarded(Err(numbers.borrow_mut().next().unwrap()))));
        assert_eq!(out, Err(Error::Inner("third")));
        assert_eq!(service.bodies.get(), 3);
        assert_eq!(service.breaker.state(), State::Closed);
        assert_eq!(service.counts(), [("exhausted", 1), ("attempts", 2)]);
    }

    /// I1
    #[test]
    fn a_circuit_that_the_attempts_open_ends_them_with_their_own_error() {
        let policy = Policy::new()
            .window(Window::Calls(4))
            .failure_rate(0.75)
            .min_calls(4);
        let service = Service::new(policy);
        let retry = service.retry(AT_ONCE.attempts(8)).idempotent();
        let out = now(retry.call(|| service.guarded(Err("failed"))));
        assert_eq!(out, failed());
        assert_eq!(service.bodies.get(), 4);
        assert_eq!(service.breaker.state(), State::Open);
        assert_eq!(service.counts(), [("refused", 1), ("attempts", 4)]);
    }

    /// I4
    #[test]
    fn an_open_circuit_is_waited_for_with_one_sleep() {
        let service = Service::new(Policy::new().threshold(1).cooldown(seconds(1)));
        service.trip();
        service.time.advance(Duration::from_millis(300));
        let retry = service.retry(STEADY.wait_for_circuit()).idempotent();
        let mut call = pin!(retry.call(|| service.guarded(Ok(7))));
        let woken = Arc::new(Woken::default());
        let waker = Waker::from(woken.clone());
        let mut context = Context::from_waker(&waker);

        assert!(call.as_mut().poll(&mut context).is_pending());
        service.time.advance(Duration::from_nanos(699_999_999));
        assert!(call.as_mut().poll(&mut context).is_pending());
        assert_eq!(woken.0.load(Relaxed), 0);
        service.time.advance(Duration::from_nanos(1));
        assert_eq!(woken.0.load(Relaxed), 1);
        assert_eq!(call.as_mut().poll(&mut context), Poll::Ready(Ok(7)));
        assert_eq!(service.bodies.get(), 1);
        assert_eq!(service.breaker.snapshot().calls.rejected, 1);
    }

    /// I5, B078
    #[test]
    fn a_rejection_is_not_asked_for_again() {
        let service = Service::new(Policy::new().threshold(1));
        service.trip();
        let retry = service.retry(STEADY).idempotent();
        let out = now(retry.call(|| service.guarded(Ok(7))));
        assert!(matches!(out, Err(Error::Rejected(_))));
        assert_eq!(service.bodies.get(), 0);
        assert_eq!(service.breaker.snapshot().calls.rejected, 1);
        assert_eq!(service.counts(), []);
    }

    /// A rejection of another service that a body returns is the body's own error.
    #[test]
    fn a_rejection_inside_the_body_is_its_own_error() {
        let other = Service::new(Policy::new().threshold(1));
        other.trip();
        let service = Service::new(Policy::new());
        let bodies = Cell::new(0);
        let retry = service.retry(AT_ONCE).idempotent();
        let out: Result<u32, Error<Error<&str>>> = now(retry.call(|| async {
            bodies.set(bodies.get() + 1);
            other.guarded(Ok(7)).await.map_err(Error::Inner)
        }));
        assert!(matches!(out, Err(Error::Inner(Error::Rejected(_)))));
        assert_eq!(bodies.get(), 3);
    }

    /// B080
    #[test]
    fn a_call_that_succeeds_at_last_resets_the_failures_in_a_row() {
        let service = Service::new(Policy::new().threshold(3));
        let retry = service.retry(AT_ONCE).idempotent();
        for _ in 0..10 {
            let outs = RefCell::new([Err("failed"), Err("failed"), Ok(7)].into_iter());
            let out = now(retry.call(|| service.guarded(outs.borrow_mut().next().unwrap())));
            assert_eq!(out, Ok(7));
        }
        assert_eq!(service.breaker.state(), State::Closed);
        assert_eq!(service.counts(), [("succeeded", 10), ("attempts", 20)]);
    }

    /// B105
    #[test]
    fn retries_multiply_and_the_counts_let_one_see_it() {
        let [f, g, h] = [(); 3].map(|()| Service::new(Policy::new()));
        let [at_f, at_g, at_h] = [&f, &g, &h].map(|it| it.retry(AT_ONCE).idempotent());
        let out = now(at_f.call(|| at_g.call(|| at_h.call(|| h.attempt(failed())))));
        assert_eq!(out, failed());
        assert_eq!(h.bodies.get(), 27);
        assert_eq!(
            [&f, &g, &h].map(|it| it.retries.counts().attempts()),
            [2, 6, 18]
        );
    }

    /// B105
    #[test]
    fn an_open_circuit_inside_ends_what_multiplies() {
        let h = Service::new(Policy::new().threshold(5));
        let [f, g] = [(); 2].map(|()| Service::new(Policy::new()));
        let [at_f, at_g, at_h] = [&f, &g, &h].map(|it| it.retry(AT_ONCE).idempotent());
        let out = now(at_f.call(|| at_g.call(|| at_h.call(|| h.guarded(Err("failed"))))));
        assert_eq!(out, failed());
        assert_eq!(h.bodies.get(), 5);
    }

    /// B088
    #[test]
    fn each_service_has_a_budget_of_its_own() {
        let [outer, inner] = [(); 2].map(|()| Service::new(Policy::new()));
        let policy = AT_ONCE.attempts(9).budget(1.0);
        let [at_outer, at_inner] = [&outer, &inner].map(|it| it.retry(policy).idempotent());
        let out = now(at_outer.call(|| at_inner.call(|| inner.attempt(failed()))));
        assert_eq!(out, failed());
        // One outer call earns one more, and each of the two inner ones, too.
        assert_eq!(outer.retries.counts().attempts(), 1);
        assert_eq!(inner.retries.counts().attempts(), 2);
        assert_eq!(inner.bodies.get(), 4);
    }

    #[test]
    fn only_errors_that_the_predicate_names_are_tried_again() {
        fn is_busy(error: &&'static str) -> bool {
            *error == "busy"
        }
        let service = Service::new(Policy::new());
        let retry = service.retry(AT_ONCE).retry_on(is_busy);
        assert_eq!(now(retry.call(|| service.attempt(failed()))), failed());
        assert_eq!(service.bodies.get(), 1);
        let busy = Err(Error::Inner("busy"));
        assert_eq!(now(retry.call(|| service.attempt(busy))), busy);
        assert_eq!(service.bodies.get(), 4);
        let closure = service
            .retry(AT_ONCE)
            .retry_on(|error: &&str| *error == "failed");
        assert_eq!(now(closure.call(|| service.attempt(failed()))), failed());
        assert_eq!(service.bodies.get(), 7);
    }

    #[test]
    fn a_verdict_says_when_to_try_again() {
        let service = Service::new(Policy::new());
        let retry = service
            .retry(STEADY.attempts(9).wait_for_circuit())
            .retry_on(|verdict: &Verdict| *verdict);
        let long = seconds(30);
        let outs = RefCell::new(
            [
                Verdict::RetryAfter(long),
                Verdict::OpenFor(long),
                Verdict::Failure,
                Verdict::Ignore,
            ]
            .into_iter(),
        );
        let mut call = pin!(retry.call(|| {
            let verdict = outs.borrow_mut().next().unwrap();
            future::ready(Err::<(), _>(Error::Inner(verdict)))
        }));
        for wait in [long, long, seconds(5)] {
            assert!(poll(call.as_mut()).is_pending());
            service.time.advance(wait - Duration::from_nanos(1));
            assert!(poll(call.as_mut()).is_pending());
            service.time.advance(Duration::from_nanos(1));
        }
        let ignored = Err(Error::Inner(Verdict::Ignore));
        assert_eq!(poll(call), Poll::Ready(ignored));
    }

    /// It would be turned down by the circuit, or harm who has asked to be left alone.
    #[test]
    fn a_ban_is_not_waited_for_unless_an_open_circuit_is() {
        let service = Service::new(Policy::new());
        let retry = service.retry(STEADY).retry_on(|verdict: &Verdict| *verdict);
        let ban = Err::<(), _>(Error::Inner(Verdict::OpenFor(seconds(30))));
        assert_eq!(now(retry.call(|| future::ready(ban))), ban);
        assert_eq!(retry.call_blocking(|| ban), ban);
        assert_eq!(service.counts(), [("refused", 2)]);
    }

    #[test]
    fn one_retry_serves_errors_of_all_types() {
        let service = Service::new(Policy::new());
        let retry = service.retry(AT_ONCE).idempotent();
        assert_eq!(now(retry.call(|| service.attempt(failed()))), failed());
        let other: Result<(), _> = now(retry.call(|| future::ready(Err(Error::Inner(404)))));
        assert_eq!(other, Err(Error::Inner(404)));
    }

    /// B095
    #[tokio::test(start_paused = true)]
    async fn no_attempt_begins_after_the_total_and_no_sleep_is_in_vain() {
        let host = Arc::new(Host::new());
        let retries = Retries::new(host, "s");
        let policy = STEADY.attempts(100).max_elapsed(seconds(15));
        let retry = Retry::new(&retries, policy).idempotent();
        let begin = tokio::time::Instant::now();
        let begun = RefCell::new(Vec::new());
        let out: Out = retry
            .call(|| async {
                begun.borrow_mut().push(begin.elapsed());
                failed()
            })
            .await;
        assert_eq!(out, failed());
        assert_eq!(*begun.borrow(), [0, 5, 10].map(seconds));
        assert_eq!(begin.elapsed(), seconds(10));
    }

    #[test]
    fn no_attempt_begins_after_the_deadline_of_the_timeout_around() {
        let service = Service::new(Policy::new());
        let host: &'static Host = Box::leak(Box::new(Host::with_clock(service.time.clock())));
        let retry = Retry::new(&service.retries, STEADY).idempotent();
        let mut call = pin!(retry.call(|| service.attempt(failed())));
        service.time.advance(seconds(100));
        let deadline = Deadline {
            host,
            at: host.clock.now() + seconds(6),
        };
        let _entered = deadline.enter();
        assert!(poll(call.as_mut()).is_pending());
        service.time.advance(seconds(5));
        assert_eq!(poll(call), Poll::Ready(failed()));
        assert_eq!(service.counts(), [("out_of_time", 1), ("attempts", 1)]);
    }

    /// B095: whoever wakes a task may be late.
    #[test]
    fn an_attempt_that_is_woken_too_late_is_not_begun() {
        let service = Service::new(Policy::new().threshold(1).cooldown(seconds(10)));
        let policy = STEADY.wait_for_circuit().max_elapsed(seconds(20));
        let retry = service.retry(policy).idempotent();
        {
            let mut call = pin!(retry.call(|| service.attempt(failed())));
            assert!(poll(call.as_mut()).is_pending());
            service.time.advance(seconds(20));
            assert_eq!(poll(call), Poll::Ready(failed()));
            assert_eq!(service.bodies.get(), 1);
        }
        service.trip();
        let mut call = pin!(retry.call(|| service.guarded(Ok(7))));
        assert!(poll(call.as_mut()).is_pending());
        service.time.advance(seconds(20));
        let out = poll(call);
        assert!(
            matches!(out, Poll::Ready(Err(Error::Rejected(_)))),
            "{out:?}"
        );
        assert_eq!(service.bodies.get(), 1);
    }

    /// K02
    #[test]
    fn a_future_that_was_never_polled_made_no_call() {
        let service = Service::new(Policy::new());
        let retry = service.retry(AT_ONCE.attempts(9).budget(1.0)).idempotent();
        for _ in 0..100 {
            drop(retry.call(|| service.attempt(failed())));
        }
        assert_eq!(service.bodies.get(), 0);
        assert_eq!(now(retry.call(|| service.attempt(failed()))), failed());
        // The one call that was made allows for one more.
        assert_eq!(service.bodies.get(), 2);
    }

    /// K02
    #[test]
    fn a_call_may_be_dropped_wherever_it_waits() {
        let service = Service::new(Policy::new().threshold(1).cooldown(seconds(60)));
        let policy = STEADY.wait_for_circuit();
        let hangs = Cell::new(true);
        let body = || {
            let out = if hangs.get() {
                None
            } else {
                Some(Err("failed"))
            };
            service.breaker.call(async move {
                match out {
                    None => future::pending().await,
                    Some(out) => out,
                }
            })
        };
        let retry = service.retry(policy).idempotent();
        let in_flight = || service.breaker.snapshot().in_flight;

        // In the first attempt.
        {
            let mut call = pin!(retry.call(body));
            let _: Poll<Out> = poll(call.as_mut());
            assert_eq!(in_flight(), 1);
        }
        assert_eq!(in_flight(), 0);
        assert_eq!(service.counts(), []);

        // In the delay.
        hangs.set(false);
        {
            let mut call = pin!(retry.call(body));
            assert!(poll(call.as_mut()).is_pending());
            assert_eq!(in_flight(), 0);
        }
        assert_eq!(service.counts(), [("cancelled", 1)]);

        // While it waits for the circuit, which that failure opened.
        assert_eq!(service.breaker.state(), State::Open);
        {
            let mut call = pin!(retry.call(body));
            assert!(poll(call.as_mut()).is_pending());
        }
        assert_eq!(service.counts(), [("cancelled", 1)]);

        // In the second attempt, which is the probe.
        service.breaker.reset();
        {
            let mut call = pin!(retry.call(body));
            assert!(poll(call.as_mut()).is_pending());
            hangs.set(true);
            service.time.advance(seconds(60));
            assert!(poll(call.as_mut()).is_pending());
            assert_eq!(in_flight(), 1);
        }
        assert_eq!(in_flight(), 0);
        assert_eq!(service.counts(), [("cancelled", 2), ("attempts", 1)]);
        assert_eq!(service.breaker.state(), State::HalfOpen);
        assert!(
            service.breaker.try_acquire().is_ok(),
            "the probe's place is free"
        );
    }

    #[test]
    fn an_attempt_is_dropped_before_the_delay() {
        let service = Service::new(Policy::new());
        let held = Arc::new(());
        let retry = service.retry(STEADY).idempotent();
        let mut call = pin!(retry.call(|| {
            let held = held.clone();
            future::poll_fn(move |_| {
                let _in_the_future = &held;
                Poll::Ready(failed())
            })
        }));
        assert!(poll(call.as_mut()).is_pending());
        assert_eq!(Arc::strong_count(&held), 1);
    }

    #[test]
    fn a_panic_passes_through_and_ends_the_call() {
        let service = Service::new(Policy::new());
        let retry = service.retry(AT_ONCE).idempotent();
        let bodies = Cell::new(0);
        let caught = panic::catch_unwind(AssertUnwindSafe(|| {
            now(retry.call(|| async {
                bodies.set(bodies.get() + 1);
                assert!(bodies.get() < 2, "the second panics");
                failed()
            }))
        }));
        assert!(caught.is_err());
        assert_eq!(bodies.get(), 2);
        assert_eq!(service.counts(), [("cancelled", 1), ("attempts", 1)]);
    }

    #[test]
    fn a_thread_makes_its_call_again() {
        let service = Service::new(Policy::new().threshold(5));
        let retry = service.retry(AT_ONCE).idempotent();
        let guarded = |out: Result<u32, &'static str>| {
            let bodies = &service.bodies;
            service.breaker.call_blocking(|| {
                bodies.set(bodies.get() + 1);
                out
            })
        };
        let mut outs = [Err("failed"), Err("failed"), Ok(7)].into_iter();
        let out = retry.call_blocking(|| guarded(outs.next().unwrap()));
        assert_eq!((out, service.bodies.get()), (Ok(7), 3));
        let out = retry.call_blocking(|| guarded(Err("failed")));
        assert_eq!((out, service.bodies.get()), (failed(), 6));
        // Two more failures and the circuit is open.
        let out = retry.call_blocking(|| guarded(Err("the last")));
        assert_eq!(
            (out, service.bodies.get()),
            (Err(Error::Inner("the last")), 8)
        );
        let out = retry.call_blocking(|| guarded(Ok(7)));
        assert!(matches!(out, Err(Error::Rejected(_))));
        assert_eq!(
            service.counts(),
            [
                ("succeeded", 1),
                ("exhausted", 1),
                ("refused", 1),
                ("attempts", 6)
            ]
        );
    }

    #[test]
    fn what_is_called_decides_what_may_be_done_with_the_future() {
        fn is_all<T: Send + UnwindSafe>(_: &T) {}
        let service = Service::new(Policy::new());
        let retry = service.retry(STEADY).retry_on(|_: &u32| true);
        is_all(&retry.call(|| future::ready(Err::<(), _>(Error::Inner(7)))));
    }

    #[test]
    #[should_panic = "polled after it was ready"]
    fn a_call_that_is_over_does_not_begin_again() {
        let service = Service::new(Policy::new());
        let retry = service.retry(STEADY).idempotent();
        let mut call = pin!(retry.call(|| service.attempt(Ok(7))));
        assert_eq!(poll(call.as_mut()), Poll::Ready(Ok(7)));
        let _: Poll<Out> = poll(call);
    }
}
