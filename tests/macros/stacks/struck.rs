//! At a deadline that has struck nothing new begins, and what it hides is told.

use std::time::Duration;

use breakerbox::Event;
use breakerbox::RejectedKind;
use breakerbox::Warning;
use breakerbox::bulkhead;
use breakerbox::circuit_breaker;
use breakerbox::fallback;
use breakerbox::timeout;
use tokio::time::advance;
use tokio::time::sleep;

use super::Count;
use super::PayError;
use super::SECOND;
use super::hang;
use crate::macros::breaker;
use crate::macros::calls;
use crate::observers::subscribing::by_now;

type R = Result<u32, PayError>;

const LONG: Duration = Duration::from_secs(30);

const fn every(_: &PayError) -> bool {
    true
}

/// A fallback that has to wait is begun too late, and given up at its first breath: what it has
/// done by then nobody would know.
macro_rules! answer {
    ($begun:ident) => {{
        $begun.begin();
        sleep(SECOND).await;
        Ok(7)
    }};
}

/// Money: nothing of the call was sent, and its caller is told so.
#[tokio::test(start_paused = true)]
async fn a_fallback_does_not_begin_where_the_timeout_has_struck_in_the_queue() {
    macro_rules! check {
        ($service:literal, $when:tt, $closure:expr) => {{
            static BODY: Count = Count::new();
            static BEGUN: Count = Count::new();
            #[timeout("2s")]
            #[fallback($closure, when = $when)]
            #[bulkhead(service = $service, max_concurrent = 1, queue = 3, max_wait = LONG)]
            async fn f() -> R {
                BODY.begin();
                hang().await
            }
            let (first, second) = tokio::join!(f(), f());
            assert!(matches!(first, Err(PayError::TimedOut(_))), "{first:?}");
            assert_eq!(
                second.unwrap_err().kind(),
                Some(RejectedKind::Deadline),
                $service
            );
            assert_eq!((BODY.get(), BEGUN.get()), (1, 0), $service);
        }};
    }
    check!("struck-1", rejected, answer!(BEGUN));
    check!("struck-2", rejected, |_| answer!(BEGUN));
    check!("struck-3", any, answer!(BEGUN));
    check!("struck-4", any, |_| answer!(BEGUN));
    check!("struck-5", every, answer!(BEGUN));
    check!("struck-6", every, |_| answer!(BEGUN));
}

/// The one outside of the timeout has time, and answers what was not sent.
#[tokio::test(start_paused = true)]
async fn a_fallback_around_the_timeout_answers_what_it_refused_in_the_queue() {
    static BEGUN: Count = Count::new();
    #[fallback(|rejected| Ok(u32::from(rejected.kind() == RejectedKind::Deadline)))]
    #[timeout("2s")]
    #[fallback(answer!(BEGUN), when = any)]
    #[bulkhead(service = "struck-around", max_concurrent = 1, queue = 3, max_wait = LONG)]
    async fn f() -> R {
        hang().await
    }
    let (first, second) = tokio::join!(f(), f());
    assert!(matches!(first, Err(PayError::TimedOut(_))), "{first:?}");
    assert_eq!((second, BEGUN.get()), (Ok(1), 0));
}

/// A body that was polled late brings its own error, and no fallback begins after it.
#[tokio::test(start_paused = true)]
async fn the_error_of_a_body_that_ended_too_late_is_its_own() {
    macro_rules! check {
        ($when:tt) => {{
            static BEGUN: Count = Count::new();
            #[timeout("2s")]
            #[fallback(answer!(BEGUN), when = $when)]
            async fn f() -> R {
                // The thread was held up.
                advance(3 * SECOND).await;
                Err(PayError::Status(500))
            }
            assert_eq!(f().await, Err(PayError::Status(500)));
            assert_eq!(BEGUN.get(), 0);
        }};
    }
    check!(failed);
    check!(any);
    check!(every);
}

/// In time they begin as ever, and a timeout that strikes while one runs leaves it unknown.
#[tokio::test(start_paused = true)]
async fn a_fallback_that_has_begun_is_timed_out() {
    static BEGUN: Count = Count::new();
    #[timeout("2s")]
    #[fallback(answer!(BEGUN), when = any)]
    #[bulkhead(
        service = "struck-later",
        max_concurrent = 1,
        queue = 1,
        max_wait = "1500ms"
    )]
    async fn f() -> R {
        hang().await
    }
    let (_, second) = tokio::join!(f(), f());
    assert!(matches!(second, Err(PayError::TimedOut(_))), "{second:?}");
    assert_eq!(BEGUN.get(), 1);
}

/// J13: what a timeout above the breaker gives up, and `on_cancel` does not count, hides that the
/// service hangs as a timeout around the function does.
#[tokio::test(start_paused = true)]
async fn struck_timeouts_that_do_not_count_raise_the_warning_of_many_cancellations() {
    // The compiler would refuse what it knows to be later than the timeout.
    #[timeout(2 * SECOND)]
    #[circuit_breaker(service = "struck-hidden", on_cancel = after(LONG))]
    async fn hidden() -> R {
        hang().await
    }
    #[timeout("2s")]
    #[circuit_breaker(service = "struck-counted", threshold = 100)]
    async fn counted() -> R {
        hang().await
    }
    let mut events = ["struck-hidden", "struck-counted"].map(|name| breaker(name).subscribe());
    for _ in 0..25 {
        hidden().await.unwrap_err();
        counted().await.unwrap_err();
    }
    let [hidden, counted] = events.each_mut().map(by_now);
    assert!(
        matches!(
            hidden[..],
            [Event::Warning(Warning::Cancellations { cancelled: 20, .. })]
        ),
        "{hidden:?}"
    );
    assert!(counted.is_empty(), "{counted:?}");
    assert_eq!(calls("struck-hidden").cancelled, 25);
    assert_eq!(
        breaker("struck-counted").snapshot().consecutive_failures,
        25
    );
}
