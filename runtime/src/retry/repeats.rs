//! Which errors a call is made again after.

use crate::verdict::IntoVerdict;
use crate::verdict::Verdict;

/// Which errors a call is made again after: what [`Retry::idempotent`](crate::Retry::idempotent)
/// and [`Retry::retry_on`](crate::Retry::retry_on) decide.
#[diagnostic::on_unimplemented(
    message = "nobody has decided after which errors this call is made again",
    label = "to repeat a call that was made may carry it out twice",
    note = "write `.retry_on(is_transient)`, a predicate over its error, or `.idempotent()` where \
            it does no harm to carry it out twice"
)]
pub trait Repeats<E>: sealed::Sealed {
    /// What `error` says: after a failure the call is made again.
    fn judge(&self, error: &E) -> Verdict;

    /// Whether a call that a timeout gave up, which may have been carried out and left no
    /// error of its own, is made again.
    fn repeats_timed_out(&self) -> bool;
}

/// Nobody has decided which errors a call is made again after; nothing can be called.
#[derive(Clone, Copy, Debug)]
pub struct Undecided(pub(super) ());

/// It does no harm to carry the call out twice: it is made again after every error.
#[derive(Clone, Copy, Debug)]
pub struct Idempotent(pub(super) ());

/// A call is made again after the errors that a predicate says are failures.
#[derive(Clone, Copy, Debug)]
pub struct RetryOn<P>(pub(super) P);

impl<E> Repeats<E> for Idempotent {
    fn judge(&self, _: &E) -> Verdict {
        Verdict::Failure
    }

    fn repeats_timed_out(&self) -> bool {
        true
    }
}

impl<E, V: IntoVerdict, P: Fn(&E) -> V> Repeats<E> for RetryOn<P> {
    fn judge(&self, error: &E) -> Verdict {
        (self.0)(error).into_verdict()
    }

    fn repeats_timed_out(&self) -> bool {
        false
    }
}

mod sealed {
    pub trait Sealed {}

    impl Sealed for super::Idempotent {}
    impl<P> Sealed for super::RetryOn<P> {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_predicate_is_asked_and_its_answer_is_a_verdict() {
        let on = RetryOn(|error: &u32| *error > 499);
        assert_eq!(on.judge(&503), Verdict::Failure);
        assert_eq!(on.judge(&404), Verdict::Success);
        let on = RetryOn(|_: &u32| Verdict::Ignore);
        assert_eq!(on.judge(&503), Verdict::Ignore);
        assert_eq!(Idempotent(()).judge(&404), Verdict::Failure);
    }

    #[test]
    fn what_may_have_been_carried_out_is_repeated_only_where_that_does_no_harm() {
        assert!(Repeats::<u32>::repeats_timed_out(&Idempotent(())));
        assert!(!RetryOn(|_: &u32| true).repeats_timed_out());
    }
}
