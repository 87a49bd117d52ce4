//! A store whose clock jumps.

use std::time::Duration;

use crate::policy::Window;
use crate::rules::fleet::Command;
use crate::rules::fleet::CoverKind;
use crate::rules::fleet::Status;
use crate::rules::fleet::tests::*;

/// L21. What is mended is written, or it would be mended again and again, and the end would
/// stay as far away as ever.
#[test]
fn after_a_jump_backwards_an_opening_lasts_once_more_its_length_at_most() {
    let mut fleet = Fleet::new(policy());
    fleet.open();
    fleet.now -= HOUR;
    assert_eq!(fleet.ask(acquire(1)).status, Status::Wait(10 * SECOND));
    fleet.now += 4 * SECOND;
    assert_eq!(fleet.ask(acquire(1)).status, Status::Wait(6 * SECOND));
    fleet.now += 6 * SECOND;
    assert_eq!(fleet.ask(acquire(1)).status, Status::Granted);
}

/// L21
#[test]
fn after_a_jump_backwards_an_override_lasts_once_more_its_length_at_most() {
    let mut fleet = Fleet::new(policy());
    fleet.ask(cover(CoverKind::ForcedOpen, 10 * SECOND));
    fleet.now -= HOUR;
    assert_eq!(fleet.ask(acquire(1)).status, Status::Refused);
    fleet.now += 10 * SECOND - 1;
    assert_eq!(fleet.ask(acquire(1)).status, Status::Refused);
    fleet.now += 1;
    assert_eq!(fleet.ask(acquire(1)).status, Status::Pass);
}

/// A jump to before the middle of it, and no further than to its beginning.
#[test]
fn an_override_that_has_begun_ends_when_it_was_to_end() {
    let mut fleet = Fleet::new(policy());
    fleet.ask(cover(CoverKind::ForcedOpen, 10 * SECOND));
    let until = fleet.lies().cover.as_ref().map(|it| it.until);
    fleet.now += 5 * SECOND;
    fleet.ask(Command::Sync);
    fleet.now -= 3 * SECOND;
    let cover = fleet.ask(Command::Sync).snapshot.cover;
    assert_eq!(cover.map(|it| it.until), until);
}

/// L21
#[test]
fn after_a_jump_backwards_a_lease_lasts_no_longer_than_the_longest() {
    let mut fleet = Fleet::new(policy().probe_timeout(Duration::from_secs(300)));
    fleet.probe(1);
    fleet.now -= HOUR;
    assert_eq!(fleet.ask(acquire(2)).status, Status::Full);
    fleet.now += LONG - 1;
    assert_eq!(fleet.ask(acquire(2)).status, Status::Full);
    fleet.now += 1;
    assert_eq!(fleet.ask(acquire(2)).status, Status::Granted);
}

/// A probe cannot be older than it can have become since the jump.
#[test]
fn after_a_jump_backwards_a_probe_hangs_after_its_timeout() {
    let mut fleet = Fleet::new(policy().probe_timeout(Duration::from_secs(30)));
    fleet.probe(1);
    fleet.now -= HOUR;
    assert_eq!(fleet.ask(acquire(2)).status, Status::Full);
    fleet.now += 30 * SECOND - 1;
    assert_eq!(fleet.ask(acquire(2)).status, Status::Full);
    fleet.now += 1;
    assert_eq!(fleet.ask(acquire(2)).status, Status::Granted);
}

#[test]
fn epochs_rise_whatever_the_clock_does() {
    let mut fleet = Fleet::new(policy());
    fleet.open();
    let before = fleet.lies().epoch;
    fleet.now -= HOUR;
    fleet.ask(Command::Force(Force::Reset));
    assert_eq!(fleet.lies().epoch, before + 1);
    fleet.now += 2 * HOUR;
    fleet.ask(Command::Force(Force::Reset));
    assert_eq!(fleet.lies().epoch, fleet.now);
}

#[test]
fn buckets_of_the_future_are_dropped() {
    let mut fleet = Fleet::new(policy().window(Window::Time(Duration::from_secs(10))));
    fleet.ask(calls(5, 2));
    fleet.now -= HOUR;
    let reply = fleet.ask(calls(1, 1));
    assert_eq!((reply.status, reply.sums.calls), (Status::Done, 1));
}

/// A suspicion that begins in the future would put off the verdict until then.
#[test]
fn after_a_jump_backwards_a_rate_is_judged_when_the_others_have_told() {
    let window = Window::Time(Duration::from_secs(7_200));
    let rate = Policy::new().window(window).failure_rate(0.5).min_calls(2);
    let mut fleet = Fleet::new(rate);
    assert_eq!(fleet.ask(calls(2, 2)).status, Status::Settling(100));
    fleet.now -= 2 * HOUR / 10;
    assert_eq!(fleet.ask(calls(2, 2)).status, Status::Settling(100));
    fleet.now += 100;
    assert_eq!(fleet.ask(calls(2, 2)).status, Status::Opened);
}

/// The others hear of failures again as soon as they would have.
#[test]
fn after_a_jump_backwards_successes_are_soon_asked_for_again() {
    let mut fleet = Fleet::new(policy().threshold(9));
    fleet.ask(failures(1));
    assert_eq!(fleet.told.len(), 1);
    fleet.now -= HOUR;
    fleet.ask(failures(1));
    assert_eq!(fleet.told, []);
    fleet.now += 100;
    fleet.ask(failures(1));
    assert_eq!(fleet.told.len(), 1);
}

#[test]
fn a_jump_forwards_is_time_that_has_passed() {
    let mut fleet = Fleet::new(policy());
    fleet.open();
    fleet.now += HOUR;
    assert_eq!(fleet.ask(acquire(1)).status, Status::Granted);
    assert_eq!(fleet.lies().epoch, fleet.now);
}
