//! Places, leases and callers, without a store.

use super::*;

const WAIT: Duration = Duration::from_millis(50);
const HOUR: Duration = Duration::from_secs(3_600);

fn poll(probes: &mut Probes, id: u64) -> Poll<Answer> {
    probes.poll(id, &Context::from_waker(Waker::noop()))
}

fn ends(probes: &mut Probes) -> Vec<Option<u64>> {
    let outbox = probes.take_outbox();
    let token = |command| match command {
        Command::End { token, .. } => token,
        other => panic!("nothing else is told: {other:?}"),
    };
    outbox
        .into_iter()
        .map(|(_, command)| token(command))
        .collect()
}

#[test]
fn whoever_came_first_gets_the_first_leave() {
    let (mut probes, now) = (Probes::default(), Instant::now());
    let first = probes.ask(WAIT, None, now).expect("it may ask");
    let second = probes.ask(WAIT, None, now).expect("it may ask");
    assert!(probes.want_leave(now));
    probes.granted(7, 1, 3, now);
    assert_eq!(poll(&mut probes, first), Poll::Ready(Answer::Leave(0, 3)));
    assert_eq!(poll(&mut probes, second), Poll::Pending);
    assert!(probes.end(0, RELEASED));
    assert_eq!(ends(&mut probes), [Some(7)]);
    assert!(!probes.end(0, RELEASED), "it is given back once");
}

/// L25
#[test]
fn leave_that_comes_when_its_caller_is_gone_is_given_back_at_once() {
    let (mut probes, now) = (Probes::default(), Instant::now());
    let id = probes.ask(WAIT, None, now).expect("it may ask");
    probes.forget(id);
    probes.granted(7, 1, 3, now);
    assert_eq!(ends(&mut probes), [Some(7)]);
    // Also where it had come, and the caller has not seen it.
    let id = probes.ask(WAIT, None, now).expect("it may ask");
    probes.granted(8, 1, 3, now);
    assert!(probes.forget(id));
    assert_eq!(ends(&mut probes), [Some(8)]);
}

#[test]
fn whoever_has_waited_long_enough_is_told_so() {
    let (mut probes, now) = (Probes::default(), Instant::now());
    let id = probes.ask(WAIT, None, now).expect("it may ask");
    assert_eq!(probes.pass_time(now, HOUR), Some(now + WAIT));
    assert_eq!(poll(&mut probes, id), Poll::Pending);
    assert_eq!(probes.pass_time(now + WAIT, HOUR), None);
    assert_eq!(poll(&mut probes, id), Poll::Ready(Answer::Over));
}

#[test]
fn whoever_has_a_deadline_waits_no_longer_and_knows_why() {
    let (mut probes, now) = (Probes::default(), Instant::now());
    let soon = probes.ask(WAIT, Some(WAIT / 2), now).expect("it may ask");
    let late = probes.ask(WAIT, Some(WAIT * 2), now).expect("it may ask");
    assert_eq!(probes.pass_time(now + WAIT / 2, HOUR), Some(now + WAIT));
    assert_eq!(poll(&mut probes, soon), Poll::Ready(Answer::TooLate));
    probes.pass_time(now + WAIT, HOUR);
    assert_eq!(poll(&mut probes, late), Poll::Ready(Answer::Over));
}

#[test]
fn whoever_would_wait_for_ever_may() {
    let (mut probes, now) = (Probes::default(), Instant::now());
    let id = probes.ask(Duration::MAX, None, now).expect("it may ask");
    probes.pass_time(now + LEASE, HOUR);
    assert_eq!(poll(&mut probes, id), Poll::Pending);
}

#[test]
fn nobody_asks_again_at_once_where_leave_was_not_given() {
    let (mut probes, now) = (Probes::default(), Instant::now());
    let mut pauses = Vec::new();
    let mut then = now;
    for _ in 0..7 {
        assert!(probes.ask(WAIT, None, then).is_some());
        probes.refused(then);
        let soon = (1..=1_000).find(|ms| {
            let later = then + Duration::from_millis(*ms);
            probes.ask_after.is_none_or(|after| later >= after)
        });
        let pause = Duration::from_millis(soon.expect("a second at most"));
        pauses.push(pause.as_millis());
        assert!(probes.ask(WAIT, None, then).is_none());
        then += pause;
    }
    assert_eq!(pauses, [50, 100, 200, 400, 800, 1000, 1000]);
    probes.moved();
    assert!(probes.ask(WAIT, None, then).is_some());
}

#[test]
fn leave_for_those_who_do_not_wait_is_kept_for_a_moment() {
    let (mut probes, now) = (Probes::default(), Instant::now());
    assert_eq!(probes.take_kept(3), None);
    assert!(!probes.want_leave(now));
    probes.want();
    assert!(probes.want_leave(now));
    probes.granted(7, 1, 3, now);
    assert!(!probes.want_leave(now));
    assert_eq!(probes.take_kept(3), Some(0));
    // Nobody comes for the next one.
    probes.want();
    probes.granted(8, 1, 3, now);
    probes.pass_time(now + KEPT, HOUR);
    assert_eq!(ends(&mut probes), [Some(8)]);
    // Whoever comes seldom finds it one day.
    probes.want();
    probes.granted(9, 1, 3, now);
    probes.pass_time(now + KEPT, HOUR);
    assert_eq!(ends(&mut probes), []);
    assert_eq!(probes.take_kept(3), Some(1));
}

#[test]
fn leave_of_another_generation_is_given_back_and_not_renewed() {
    let (mut probes, now) = (Probes::default(), Instant::now());
    probes.want();
    probes.granted(7, 1, 3, now);
    assert_eq!(probes.take_kept(4), None);
    assert_eq!(ends(&mut probes), [Some(7)]);
    assert_eq!(probes.renewals(now + LEASE), []);
}

#[test]
fn a_probe_renews_its_lease_three_times_before_it_runs_out() {
    let (mut probes, now) = (Probes::default(), Instant::now());
    let id = probes.ask(WAIT, None, now).expect("it may ask");
    probes.granted(7, 1, 3, now);
    assert!(poll(&mut probes, id).is_ready());
    assert_eq!(probes.renewals(now), []);
    assert_eq!(probes.renewals(now + LEASE / 3), [(1, 7)]);
    assert_eq!(probes.renewals(now + LEASE / 3), []);
    probes.lost(7);
    assert_eq!(probes.renewals(now + LEASE), []);
    assert!(
        !probes.end(0, RELEASED),
        "what it says means nothing any more"
    );
    assert_eq!(ends(&mut probes), []);
}

#[test]
fn whoever_waits_looks_for_itself_when_the_store_is_lost() {
    let (mut probes, now) = (Probes::default(), Instant::now());
    let id = probes.ask(WAIT, None, now).expect("it may ask");
    probes.lose_all();
    assert_eq!(poll(&mut probes, id), Poll::Ready(Answer::Again));
}

/// Its place stayed taken, and was renewed for as long as the store knew it.
#[test]
fn leave_of_a_round_that_is_over_is_given_back_by_whoever_finds_it() {
    let (mut probes, now) = (Probes::default(), Instant::now());
    probes.take_kept(3);
    probes.granted(7, 1, 3, now);
    assert_eq!(probes.take_kept(4), None);
    assert_eq!(ends(&mut probes), [Some(7)]);
    assert_eq!(probes.renewals(now + LEASE), []);
}

/// Where the way to the store and back took longer than a call may wait, each call was
/// rejected and gave back the leave that came after it: the circuit never closed.
#[test]
fn leave_that_takes_longer_than_a_call_may_wait_is_for_the_next_one() {
    let (mut probes, now) = (Probes::default(), Instant::now());
    let id = probes.ask(WAIT, None, now).expect("it may ask");
    probes.wait_no_longer(now + WAIT);
    assert_eq!(poll(&mut probes, id), Poll::Ready(Answer::Over));
    probes.granted(7, 1, 3, now + WAIT);
    assert_eq!(probes.take_kept(3), Some(0));
    assert_eq!(ends(&mut probes), []);
}

/// Two of them counted as probes that hang, and opened the circuit of a service that was well.
#[test]
fn leave_that_is_kept_is_given_anew_before_it_counts_as_a_probe_that_hangs() {
    let (mut probes, mut now) = (Probes::default(), Instant::now());
    probes.vain = KEPT_AT_MOST;
    let (since, timeout) = (now, LEASE);
    probes.want();
    let mut token = 0;
    while probes.want_leave(now) {
        token += 1;
        probes.granted(token, 1, 3, now);
        now += timeout / 2;
        probes.pass_time(now, timeout);
        assert_eq!(ends(&mut probes), [Some(token)]);
    }
    assert_eq!(now, since + KEPT_AT_MOST);
}
