use std::ops::ControlFlow;
use std::panic::RefUnwindSafe;
use std::panic::UnwindSafe;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Context;
use std::task::Poll;
use std::task::Waker;
use std::thread;
use std::time::Duration;

use crate::clock::ManualClock;
use crate::clock::Tick;
use crate::host::Host;
use crate::policy::RetryPolicy;
use crate::reason::Packed;
use crate::rejected::Rejected;
use crate::rejected::RejectedKind;
use crate::retry::Pause;
use crate::retry::Refusal;
use crate::retry::Retries;
use crate::retry::Retrying;
use crate::verdict::Verdict;

const STEADY: RetryPolicy = RetryPolicy::new()
    .attempts(3)
    .delay(seconds(5))
    .factor(1.0)
    .jitter(false);

const fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

const NANO: Duration = Duration::from_nanos(1);

fn open_for(left: Duration) -> Rejected {
    let left = left.as_nanos().try_into().expect("in this century");
    Rejected::open(&"stripe", Packed::NONE, left)
}

fn busy(kind: RejectedKind) -> Rejected {
    Rejected::of_kind(&"stripe", kind, Packed::NONE)
}

/// The retries of one service, on a clock that the test moves.
struct Service {
    time: ManualClock,
    retries: Retries,
}

impl Service {
    fn new() -> Self {
        let time = ManualClock::new();
        let host = Arc::new(Host::with_clock(time.clock()));
        Self {
            retries: Retries::new(host, "stripe"),
            time,
        }
    }

    fn call<'p>(&'p self, policy: &'p RetryPolicy) -> Retrying<'p, &'static str> {
        Retrying::new(&self.retries, policy, None)
    }

    fn now(&self) -> Duration {
        self.retries.host.clock.now().since(Tick(0))
    }

    /// What is not zero, in the order of the documentation.
    fn counts(&self) -> Vec<(&'static str, u64)> {
        let counts = self.retries.counts();
        let attempts = [("attempts", counts.attempts())];
        let all = counts.by_label().into_iter().chain(attempts);
        all.filter(|(_, count)| *count > 0).collect()
    }

    /// Sees the pause through, and that it lasts exactly so long.
    #[track_caller]
    fn lasts(&self, mut pause: Pause, duration: Duration) {
        if let Some(almost) = duration.checked_sub(NANO) {
            self.time.advance(almost);
            assert!(poll(&mut pause).is_pending(), "shorter than {duration:?}");
            self.time.advance(NANO);
        }
        assert!(poll(&mut pause).is_ready(), "longer than {duration:?}");
    }

    /// The body failed, and is to be run again after so long.
    #[track_caller]
    fn fails(&self, call: &mut Retrying<'_, &'static str>, duration: Duration) {
        self.lasts(pause(call.next("failed", true, Verdict::Failure)), duration);
        assert_eq!(call.too_late(), None);
    }
}

fn poll(pause: &mut Pause) -> Poll<()> {
    Pin::new(pause).poll(&mut Context::from_waker(Waker::noop()))
}

#[track_caller]
fn answer<T>(flow: ControlFlow<&'static str, T>) -> &'static str {
    flow.break_value().expect("an answer")
}

#[track_caller]
fn pause(flow: ControlFlow<&'static str, Pause>) -> Pause {
    flow.continue_value().expect("a pause")
}

#[track_caller]
fn wait(refusal: Refusal<&'static str>) -> Pause {
    match refusal {
        Refusal::Wait(pause) => pause,
        refusal => panic!("no wait but {refusal:?}"),
    }
}

#[test]
fn a_call_that_needs_no_second_attempt_leaves_no_trace() {
    let service = Service::new();
    assert_eq!(
        answer(service.call(&STEADY).next("done", false, Verdict::Failure)),
        "done"
    );
    drop(service.call(&STEADY));
    assert_eq!(service.counts(), []);
}

#[test]
fn a_call_is_made_so_often_in_total_and_then_fails_with_its_last_error() {
    let service = Service::new();
    let mut call = service.call(&STEADY);
    service.fails(&mut call, seconds(5));
    service.fails(&mut call, seconds(5));
    assert_eq!(
        answer(call.next("the third", true, Verdict::Failure)),
        "the third"
    );
    drop(call);
    assert_eq!(service.counts(), [("exhausted", 1), ("attempts", 2)]);
}

#[test]
fn an_attempt_that_brings_an_answer_is_the_last() {
    let service = Service::new();
    let mut call = service.call(&STEADY);
    service.fails(&mut call, seconds(5));
    assert_eq!(answer(call.next("done", false, Verdict::Failure)), "done");
    drop(call);
    assert_eq!(service.counts(), [("succeeded", 1), ("attempts", 1)]);
}

/// B096
#[test]
fn one_attempt_is_one_call_and_so_are_none_that_nobody_has_checked() {
    for attempts in [0, 1] {
        let service = Service::new();
        let policy = STEADY.attempts(attempts);
        let mut call = service.call(&policy);
        assert_eq!(
            answer(call.next("failed", true, Verdict::Failure)),
            "failed"
        );
        assert_eq!(service.counts(), [("exhausted", 1)]);
    }
}

/// B093
#[test]
fn a_thousand_attempts_are_made_without_one_at_once() {
    let service = Service::new();
    let policy = RetryPolicy::new().attempts(1_001).delay(NANO);
    let mut call = service.call(&policy);
    for _ in 0..1_000 {
        let mut pause = pause(call.next("failed", true, Verdict::Failure));
        assert!(poll(&mut pause).is_pending());
        service.time.advance(policy.get_max_delay());
        assert!(poll(&mut pause).is_ready());
        assert_eq!(call.too_late(), None);
    }
    assert_eq!(
        answer(call.next("failed", true, Verdict::Failure)),
        "failed"
    );
    assert_eq!(service.counts(), [("exhausted", 1), ("attempts", 1_000)]);
}

/// B093
#[test]
fn a_delay_of_zero_tries_again_at_once() {
    let service = Service::new();
    let policy = RetryPolicy::new().delay(Duration::ZERO);
    let mut call = service.call(&policy);
    service.fails(&mut call, Duration::ZERO);
    service.fails(&mut call, Duration::ZERO);
    assert_eq!(service.now(), Duration::ZERO);
}

/// B095
#[test]
fn no_attempt_begins_when_the_total_has_passed_and_none_is_waited_for_in_vain() {
    let service = Service::new();
    let policy = STEADY.attempts(100).max_elapsed(seconds(15));
    let mut call = service.call(&policy);
    service.fails(&mut call, seconds(5));
    service.fails(&mut call, seconds(5));
    assert_eq!(
        answer(call.next("the third", true, Verdict::Failure)),
        "the third"
    );
    assert_eq!(service.now(), seconds(10));
    assert_eq!(service.counts(), [("out_of_time", 1), ("attempts", 2)]);
}

/// B095
#[test]
fn the_total_counts_from_the_first_attempt_and_what_attempts_take_is_in_it() {
    let service = Service::new();
    service.time.advance(seconds(1_000));
    let policy = STEADY.max_elapsed(seconds(15));
    let mut call = service.call(&policy);
    service.time.advance(seconds(10) - NANO);
    service.fails(&mut call, seconds(5));
    assert_eq!(service.now(), seconds(1_015) - NANO);

    let mut slow = service.call(&policy);
    service.time.advance(seconds(10));
    assert_eq!(answer(slow.next("slow", true, Verdict::Failure)), "slow");
}

#[test]
fn nothing_is_made_again_that_would_begin_when_a_timeout_around_strikes() {
    let service = Service::new();
    let policy = STEADY.max_elapsed(seconds(100));
    let until = Tick(0) + seconds(10);
    let mut call = Retrying::new(&service.retries, &policy, Some(until));
    service.fails(&mut call, seconds(5));
    assert_eq!(answer(call.next("late", true, Verdict::Failure)), "late");
    assert_eq!(service.now(), seconds(5));

    let mut over = Retrying::new(&service.retries, &policy, Some(Tick(0)));
    assert_eq!(answer(over.next("over", true, Verdict::Failure)), "over");
    drop((call, over));
    assert_eq!(service.counts(), [("out_of_time", 2), ("attempts", 1)]);
}

#[test]
fn also_at_once_is_too_late_when_the_time_is_over() {
    let service = Service::new();
    let policy = STEADY.delay(Duration::ZERO).max_elapsed(seconds(1));
    let mut call = service.call(&policy);
    service.time.advance(seconds(1));
    assert_eq!(answer(call.next("late", true, Verdict::Failure)), "late");
}

#[test]
fn the_wait_that_a_service_asks_for_is_kept() {
    let service = Service::new();
    let policy = STEADY.attempts(10);
    let mut call = service.call(&policy);
    for (asked, kept) in [
        (seconds(60), seconds(60)),
        (seconds(5) + NANO, seconds(5) + NANO),
        (seconds(4), seconds(5)),
        (Duration::ZERO, seconds(5)),
    ] {
        let pause = pause(call.next("busy", true, Verdict::RetryAfter(asked)));
        service.lasts(pause, kept);
    }
}

/// B101
#[test]
fn a_wait_until_an_instant_that_has_passed_is_none() {
    let service = Service::new();
    let policy = STEADY.delay(Duration::ZERO);
    let mut call = service.call(&policy);
    let past = Tick(0).since(Tick(7));
    service.lasts(
        pause(call.next("busy", true, Verdict::RetryAfter(past))),
        Duration::ZERO,
    );
}

/// B106
#[test]
fn a_wait_that_is_longer_than_the_time_that_is_left_is_told_as_such() {
    let service = Service::new();
    let policy = STEADY.max_elapsed(seconds(900));
    let mut call = service.call(&policy);
    let out = call.next("busy", true, Verdict::RetryAfter(seconds(1_800)));
    assert_eq!(answer(out), "busy");
    assert_eq!(service.counts(), [("told_to_wait", 1)]);

    let until = Some(Tick(0) + seconds(30));
    let mut call = Retrying::new(&service.retries, &STEADY, until);
    service.lasts(
        pause(call.next("busy", true, Verdict::RetryAfter(seconds(29)))),
        seconds(29),
    );
    assert_eq!(call.too_late(), None);
    // Here the usual delay would have been too long by itself.
    let out = call.next("busy", true, Verdict::RetryAfter(seconds(1_800)));
    assert_eq!(answer(out), "busy");
    assert_eq!(
        service.counts(),
        [("out_of_time", 1), ("told_to_wait", 1), ("attempts", 1)]
    );
}

#[test]
fn a_wait_until_the_end_of_time_is_not_begun() {
    let service = Service::new();
    let out = service
        .call(&STEADY)
        .next("busy", true, Verdict::RetryAfter(Duration::MAX));
    assert_eq!(answer(out), "busy");
    let policy = STEADY.delay(Duration::MAX);
    assert_eq!(
        answer(service.call(&policy).next("failed", true, Verdict::Failure)),
        "failed"
    );
    assert_eq!(service.counts(), [("out_of_time", 1), ("told_to_wait", 1)]);
}

#[test]
fn a_service_that_fails_altogether_sees_its_share_more_calls() {
    let service = Service::new();
    let policy = STEADY.delay(Duration::ZERO).attempts(5).budget(0.2);
    let calls = 100;
    for _ in 0..calls {
        let mut call = service.call(&policy);
        while let ControlFlow::Continue(mut pause) = call.next("failed", true, Verdict::Failure) {
            assert!(poll(&mut pause).is_ready());
            assert_eq!(call.too_late(), None);
        }
    }
    let attempts = service.retries.counts().attempts();
    assert_eq!(attempts, 20);
    let over = service.retries.counts().budget_exhausted();
    assert!(over >= 95, "{over}");
    let ended: u64 = service
        .retries
        .counts()
        .by_label()
        .iter()
        .map(|it| it.1)
        .sum();
    assert_eq!(ended, calls);
}

#[test]
fn a_call_that_is_made_again_counts_as_one_for_the_budget() {
    let service = Service::new();
    let policy = STEADY.delay(Duration::ZERO).attempts(100).budget(0.5);
    let mut call = service.call(&policy);
    // The one that is always allowed, and no attempt earns another.
    service.fails(&mut call, Duration::ZERO);
    assert_eq!(
        answer(call.next("failed", true, Verdict::Failure)),
        "failed"
    );
    assert_eq!(service.counts(), [("over_budget", 1), ("attempts", 1)]);
}

#[test]
fn what_has_no_time_left_costs_no_budget() {
    let service = Service::new();
    let policy = STEADY.budget(0.5).max_elapsed(seconds(6));
    let mut late = service.call(&policy);
    let mut call = service.call(&policy);
    service.time.advance(seconds(1));
    assert_eq!(answer(late.next("late", true, Verdict::Failure)), "late");
    let policy = policy.max_elapsed(seconds(100));
    service.fails(&mut service.call(&policy), seconds(5));
    assert_eq!(answer(call.next("late", true, Verdict::Failure)), "late");
}

#[test]
fn functions_without_a_budget_have_no_part_in_it() {
    let service = Service::new();
    let policy = STEADY.delay(Duration::ZERO);
    for _ in 0..100 {
        service.fails(&mut service.call(&policy), Duration::ZERO);
    }
    let policy = policy.budget(1.0).attempts(9);
    let mut call = service.call(&policy);
    service.fails(&mut call, Duration::ZERO);
    assert_eq!(
        answer(call.next("failed", true, Verdict::Failure)),
        "failed"
    );
}

/// I5, B078
#[test]
fn a_rejection_is_handed_on_at_once() {
    let service = Service::new();
    let mut call = service.call(&STEADY);
    let rejected = open_for(seconds(1));
    match call.refused(rejected) {
        Refusal::Rejected(same) => assert_eq!(same, rejected),
        refusal => panic!("{refusal:?}"),
    }
    drop(call);
    assert_eq!(service.counts(), []);
}

/// I1
#[test]
fn once_a_body_ran_its_own_last_error_is_the_answer() {
    let service = Service::new();
    let mut call = service.call(&STEADY);
    drop(pause(call.next("the first", true, Verdict::Failure)));
    drop(pause(call.next("the second", true, Verdict::Failure)));
    match call.refused(open_for(seconds(1))) {
        Refusal::Last(out) => assert_eq!(out, "the second"),
        refusal => panic!("{refusal:?}"),
    }
    drop(call);
    assert_eq!(service.counts(), [("refused", 1)]);
}

/// I4
#[test]
fn an_open_circuit_is_waited_for_once() {
    let service = Service::new();
    let policy = STEADY.wait_for_circuit().attempts(1);
    let mut call = service.call(&policy);
    service.lasts(wait(call.refused(open_for(seconds(60)))), seconds(60));
    assert_eq!(answer(call.next("done", false, Verdict::Failure)), "done");

    let mut call = service.call(&policy);
    service.lasts(wait(call.refused(open_for(seconds(60)))), seconds(60));
    let again = open_for(seconds(120));
    assert!(matches!(call.refused(again), Refusal::Rejected(same) if same == again));
    drop(call);
    // To wait is not to try again.
    assert_eq!(service.counts(), []);
}

#[test]
fn the_wait_for_the_circuit_is_no_attempt() {
    let service = Service::new();
    let policy = STEADY.wait_for_circuit().attempts(2);
    let mut call = service.call(&policy);
    service.lasts(wait(call.refused(open_for(seconds(60)))), seconds(60));
    service.fails(&mut call, seconds(5));
    assert_eq!(
        answer(call.next("the second", true, Verdict::Failure)),
        "the second"
    );
    drop(call);
    assert_eq!(service.counts(), [("exhausted", 1), ("attempts", 1)]);
}

#[test]
fn a_circuit_that_a_first_attempt_opens_is_waited_for_too() {
    let service = Service::new();
    let policy = STEADY.wait_for_circuit();
    let mut call = service.call(&policy);
    service.fails(&mut call, seconds(5));
    service.lasts(wait(call.refused(open_for(seconds(60)))), seconds(60));
    assert_eq!(answer(call.next("done", false, Verdict::Failure)), "done");
    drop(call);
    assert_eq!(service.counts(), [("succeeded", 1), ("attempts", 1)]);

    let mut call = service.call(&policy);
    service.fails(&mut call, seconds(5));
    service.lasts(wait(call.refused(open_for(seconds(60)))), seconds(60));
    let refusal = call.refused(open_for(seconds(60)));
    assert!(matches!(refusal, Refusal::Last("failed")));
}

#[test]
fn a_rejection_whose_end_nobody_knows_is_not_waited_for() {
    let policy = STEADY.wait_for_circuit();
    for kind in [
        RejectedKind::ForcedOpen,
        RejectedKind::ProbesBusy,
        RejectedKind::Ramp,
    ] {
        let service = Service::new();
        let mut call = service.call(&policy);
        assert!(matches!(call.refused(busy(kind)), Refusal::Rejected(_)));
        // And has not used up the one wait.
        drop(wait(call.refused(open_for(seconds(1)))));
    }
}

#[test]
fn an_opening_that_outlasts_the_call_is_not_waited_for() {
    let service = Service::new();
    let policy = STEADY.wait_for_circuit().max_elapsed(seconds(60));
    let mut call = service.call(&policy);
    assert!(matches!(
        call.refused(open_for(seconds(60))),
        Refusal::Rejected(_)
    ));
    service.lasts(
        wait(call.refused(open_for(seconds(60) - NANO))),
        seconds(60) - NANO,
    );

    let until = Some(Tick(0) + service.now() + seconds(10));
    let mut call = Retrying::new(&service.retries, &policy, until);
    service.fails(&mut call, seconds(5));
    let refusal = call.refused(open_for(seconds(5)));
    assert!(matches!(refusal, Refusal::Last("failed")));
}

/// K02
#[test]
fn a_call_that_is_dropped_while_it_waits_is_cancelled() {
    let service = Service::new();
    let mut call = service.call(&STEADY);
    let mut sleeping = pause(call.next("failed", true, Verdict::Failure));
    assert!(poll(&mut sleeping).is_pending());
    drop((sleeping, call));
    assert_eq!(service.counts(), [("cancelled", 1)]);
}

/// K02
#[test]
fn a_call_that_is_dropped_in_a_later_attempt_is_cancelled() {
    let service = Service::new();
    let mut call = service.call(&STEADY);
    service.fails(&mut call, seconds(5));
    drop(call);
    assert_eq!(service.counts(), [("cancelled", 1), ("attempts", 1)]);
}

/// K02
#[test]
fn a_call_that_is_dropped_while_it_waits_for_the_circuit_leaves_no_trace() {
    let service = Service::new();
    let policy = STEADY.wait_for_circuit();
    let mut call = service.call(&policy);
    let mut waiting = wait(call.refused(open_for(seconds(1))));
    assert!(poll(&mut waiting).is_pending());
    drop((waiting, call));
    assert_eq!(service.counts(), []);
}

#[test]
fn an_attempt_counts_as_begun_once_and_when_its_delay_has_passed() {
    let service = Service::new();
    let mut call = service.call(&STEADY);
    let mut pause = pause(call.next("failed", true, Verdict::Failure));
    assert!(poll(&mut pause).is_pending());
    assert_eq!(service.retries.counts().attempts(), 0);
    service.time.advance(seconds(5));
    assert!(poll(&mut pause).is_ready());
    assert!(
        format!("{pause:?}").contains("has_passed: true"),
        "{pause:?}"
    );
    assert!(poll(&mut pause).is_ready());
    assert_eq!(call.too_late(), None);
    assert_eq!(service.retries.counts().attempts(), 1);
}

/// B095: whoever wakes a task may be late.
#[test]
fn an_attempt_that_is_woken_too_late_is_not_begun() {
    let service = Service::new();
    let policy = STEADY.max_elapsed(seconds(6));
    let mut call = service.call(&policy);
    let mut pause = pause(call.next("failed", true, Verdict::Failure));
    service.time.advance(seconds(6));
    assert!(poll(&mut pause).is_ready());
    assert_eq!(call.too_late(), Some("failed"));
    drop(call);
    assert_eq!(service.counts(), [("out_of_time", 1)]);
}

#[test]
fn a_wait_for_the_circuit_that_ends_too_late_leaves_the_rejection() {
    let service = Service::new();
    let policy = STEADY.wait_for_circuit().max_elapsed(seconds(20));
    let rejected = open_for(seconds(10));
    let mut call = service.call(&policy);
    let mut waiting = wait(call.refused(rejected));
    service.time.advance(seconds(20));
    assert!(poll(&mut waiting).is_ready());
    assert!(matches!(call.waited(), Refusal::Rejected(same) if same == rejected));
    drop(call);
    assert_eq!(service.counts(), []);
}

#[test]
fn a_wait_for_the_circuit_that_ends_too_late_leaves_the_error_of_a_body_that_ran() {
    let service = Service::new();
    let policy = STEADY.wait_for_circuit().max_elapsed(seconds(20));
    let mut call = service.call(&policy);
    service.fails(&mut call, seconds(5));
    let mut waiting = wait(call.refused(open_for(seconds(10))));
    service.time.advance(seconds(15) - NANO);
    assert!(poll(&mut waiting).is_ready());
    assert!(matches!(call.waited(), Refusal::Again));
    service.time.advance(NANO);
    assert!(matches!(call.waited(), Refusal::Last("failed")));
    drop(call);
    assert_eq!(service.counts(), [("out_of_time", 1), ("attempts", 1)]);
}

#[test]
fn a_pause_runs_from_when_it_was_made() {
    let service = Service::new();
    let mut call = service.call(&STEADY);
    let mut pause = pause(call.next("failed", true, Verdict::Failure));
    service.time.advance(seconds(5));
    assert!(poll(&mut pause).is_ready());
}

/// Moves time on another thread until the call is through.
fn while_time_passes<T: Send>(service: &Service, run: impl FnOnce() -> T + Send) -> T {
    thread::scope(|scope| {
        let thread = scope.spawn(run);
        while !thread.is_finished() {
            service.time.advance(seconds(1));
            thread::yield_now();
        }
        thread.join().expect("it ends")
    })
}

#[test]
fn a_thread_waits_between_its_attempts() {
    let service = Service::new();
    // Nobody waits an hour for this test: it is the clock of the test that ends it.
    let policy = STEADY.delay(seconds(3_600)).attempts(2);
    let mut call = service.call(&policy);
    let flow = while_time_passes(&service, || {
        call.next_blocking("failed", true, Verdict::Failure)
    });
    assert!(flow.is_continue());
    assert!(service.now() >= policy.get_delay());
    assert_eq!(
        answer(call.next_blocking("again", true, Verdict::Failure)),
        "again"
    );
    drop(call);
    assert_eq!(service.counts(), [("exhausted", 1), ("attempts", 1)]);
}

/// Lets so much time pass at once as soon as the call sleeps.
fn oversleeps<T: Send>(service: &Service, duration: Duration, run: impl FnOnce() -> T + Send) -> T {
    thread::scope(|scope| {
        let thread = scope.spawn(run);
        while !service.time.has_sleepers() {
            thread::yield_now();
        }
        service.time.advance(duration);
        thread.join().expect("it ends")
    })
}

/// B095
#[test]
fn a_thread_that_wakes_too_late_begins_no_attempt() {
    let service = Service::new();
    let hour = seconds(3_600);
    let policy = STEADY.delay(hour).max_elapsed(2 * hour);
    let mut call = service.call(&policy);
    let flow = oversleeps(&service, 2 * hour, || {
        call.next_blocking("failed", true, Verdict::Failure)
    });
    assert_eq!(answer(flow), "failed");
    drop(call);
    assert_eq!(service.counts(), [("out_of_time", 1)]);

    let policy = policy.wait_for_circuit();
    let rejected = open_for(hour);
    let mut call = service.call(&policy);
    let refusal = oversleeps(&service, 2 * hour, || call.refused_blocking(rejected));
    assert!(matches!(refusal, Refusal::Rejected(same) if same == rejected));
}

#[test]
fn a_thread_waits_for_the_circuit_once() {
    let service = Service::new();
    let policy = STEADY.wait_for_circuit();
    let rejected = open_for(seconds(3_600));
    let mut call = service.call(&policy);
    let refusal = while_time_passes(&service, || call.refused_blocking(rejected));
    assert!(matches!(refusal, Refusal::Again));
    assert!(service.now() >= seconds(3_600));
    let refusal = call.refused_blocking(rejected);
    assert!(matches!(refusal, Refusal::Rejected(same) if same == rejected));
}

#[test]
fn a_thread_gets_the_last_output_of_a_body_that_ran() {
    let service = Service::new();
    let policy = STEADY.delay(Duration::ZERO);
    let mut call = service.call(&policy);
    assert!(
        call.next_blocking("failed", true, Verdict::Failure)
            .is_continue()
    );
    let refusal = call.refused_blocking(open_for(seconds(1)));
    assert!(matches!(refusal, Refusal::Last("failed")));
    drop(call);
    assert_eq!(service.counts(), [("refused", 1), ("attempts", 1)]);
}

#[test]
fn registries_with_one_seed_draw_the_same_delays() {
    let lengths = |seed| {
        let host = Host::new();
        host.set_seed(seed);
        let retries = Retries::new(Arc::new(host), "stripe");
        let policy = RetryPolicy::new();
        let call: Retrying<'_, ()> = Retrying::new(&retries, &policy, None);
        let mut delays = super::Delays::new(call.policy);
        [(); 3].map(|()| retries.draw(&mut delays))
    };
    assert_eq!(lengths(7), lengths(7));
    assert_ne!(lengths(7), lengths(8));
}

#[test]
fn a_call_that_may_be_made_again_is_small_whatever_it_returns() {
    assert_eq!(size_of::<Retrying<'_, [u8; 1_000]>>(), 32);
    assert_eq!(size_of::<Pause>(), 16);
}

#[test]
fn what_waits_may_be_sent_and_may_see_a_panic_pass() {
    fn is_all<T: Send + Sync + UnwindSafe + RefUnwindSafe>() {}
    is_all::<Retrying<'static, String>>();
    is_all::<Pause>();
}
