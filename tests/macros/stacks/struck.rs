//! At a deadline that has struck nothing new begins.

use std::time::Duration;

use breakerbox::RejectedKind;
use breakerbox::bulkhead;
use breakerbox::fallback;
use breakerbox::timeout;
use tokio::time::advance;
use tokio::time::sleep;

use super::Count;
use super::PayError;
use super::SECOND;
use super::hang;

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
