//! The law on circuits that are shared: the scenarios of groups A to J that are not about one
//! process alone, in a store in memory and in Redis, and while there is no store.
//!
//! Short times are real ones: an opening that is to be probed lasts 80 ms, and the next one
//! long enough to be seen.

use std::time::Duration;

use breakerbox::MemoryStore;
use breakerbox::OnCancel;
use breakerbox::Policy;
use breakerbox::Redis;
use breakerbox::Window;
use breakerbox_servers::Cluster;
use breakerbox_servers::Proxy;
use breakerbox_servers::Server;

use super::faults::FAULTS;
use super::fleet::Process;
use super::play::Cast;
use super::play::Loss;
use super::play::Scenario;
use super::play::play_all;

pub(super) const LONG: Policy = Policy::new()
    .cooldown(Duration::from_secs(600))
    .max_cooldown(Duration::from_secs(600))
    .probe_wait(Duration::from_secs(10));

/// Whose first opening is short, and whose second is not.
pub(super) const SHORT: Policy = LONG.cooldown(Duration::from_millis(80)).backoff(1_000.0);
/// Whose openings are all short.
pub(super) const BRIEF: Policy = SHORT.backoff(1.0);

pub(super) const ONE: Policy = SHORT.threshold(1);
pub(super) const THREE: Policy = LONG.threshold(3);

const fn last(calls: u32) -> Policy {
    LONG.window(Window::Calls(calls))
}

pub(super) const fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

pub(super) const fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

const MINUTE: Policy = LONG.window(Window::Time(seconds(60)));

const COUNTED: &[Scenario] = &[
    (
        "a12_two_failures_of_the_last_three",
        last(3).threshold(2),
        "F S F =open why:threshold_in_window X600s ran:3",
    ),
    (
        "a_an_ignored_call_is_not_in_the_window",
        last(4).threshold(2),
        "F 5xI D =closed F =open ignored:5",
    ),
    (
        "a_a_ban_opens_an_empty_window",
        last(4).failure_rate(0.75),
        "O90s =open why:open_for X90s",
    ),
    (
        "b1_a_success_resets_the_count",
        THREE,
        "F F S +1s F =closed +300ms F F =open why:threshold",
    ),
    // B043, B046
    (
        "b4_a_threshold_of_five_opens_at_the_fifth",
        LONG,
        "4xF +300ms =closed F =open X600s ran:5",
    ),
    (
        "b6_an_ignored_error_neither_counts_nor_resets",
        THREE,
        "2xF I +300ms =closed F =open ignored:1",
    ),
    (
        "b_a_dropped_call_neither_counts_nor_resets",
        THREE,
        "2xF D +300ms =closed F =open cancelled:1",
    ),
    (
        "b_a_panic_counts_like_any_failure",
        THREE,
        "F P F =open panicked:1",
    ),
    (
        "b_a_dropped_call_can_be_made_a_failure",
        THREE.on_cancel(OnCancel::Failure),
        "2xF D =open cancelled:1",
    ),
    (
        "b9_successes_do_not_reset_a_window",
        MINUTE.threshold(3),
        "F S F S +300ms =closed F =open why:threshold_in_window",
    ),
    (
        "b7_a_failure_that_has_left_the_window_counts_no_more",
        LONG.window(Window::Time(seconds(2))).threshold(3),
        "2xF +3s F +300ms =closed 2xF =open",
    ),
    (
        "a10_the_success_that_makes_the_calls_enough_opens",
        MINUTE.min_calls(5).failure_rate(0.5),
        "3xF S +300ms =closed S =open why:failure_rate X600s",
    ),
    (
        "a11_a_rate_is_judged_as_the_calls_come",
        MINUTE.min_calls(6).failure_rate(0.5),
        "3xS 2xF +300ms =closed F =open why:failure_rate",
    ),
    (
        "d1_slow_calls_open_where_failures_do_not",
        MINUTE
            .min_calls(5)
            .failure_rate(0.9)
            .slow_call(millis(20))
            .slow_call_rate(0.6),
        "f60ms s60ms F S +300ms =closed s60ms =open why:slow_call_rate",
    ),
    (
        "d4_a_slow_failure_counts_in_both_rates",
        MINUTE.min_calls(2).failure_rate(1.0).slow_call(millis(20)),
        "2xf60ms =open why:failure_rate slow_failure:2",
    ),
    (
        "d6_an_ignored_call_that_was_slow_is_in_neither_rate",
        MINUTE.min_calls(2).failure_rate(0.5).slow_call(millis(20)),
        "4xi60ms +300ms =closed 2xF =open why:failure_rate",
    ),
];

const OPENINGS: &[Scenario] = &[
    (
        "e1_whoever_comes_after_the_cooldown_probes",
        ONE,
        "F =open left:0s [a =half-open a]S =closed",
    ),
    (
        "e5_each_opening_is_longer_than_the_last",
        ONE.backoff(10.0),
        "F left:0s F trips:2 left:0s F trips:3 left:4s..8s X8s",
    ),
    (
        "e8_closing_begins_again_with_the_shortest",
        ONE.backoff(2.0),
        "F left:0s F trips:2 left:0s S =closed F =open trips:1 left:0s F trips:2 left:0s S =closed",
    ),
    (
        "e11_a_ban_opens_at_once_for_so_long",
        THREE,
        "O120s =open why:open_for X120s trips:1",
    ),
    (
        "e11_rest_that_is_asked_for_counts_where_it_trips",
        BRIEF.threshold(2),
        "R9s +300ms =closed R120s =open X120s",
    ),
    (
        "e11_a_ban_is_no_longer_than_may_be",
        THREE.max_open_for(seconds(100)),
        "O5m =open X100s",
    ),
    (
        "e15_looking_changes_nothing",
        ONE,
        "F left:0s look =open left:0s S =closed",
    ),
    (
        "e_a_ban_while_probing_opens_for_so_long",
        BRIEF.threshold(1),
        "F left:0s O90s why:open_for X90s",
    ),
    (
        "ramp_a_failure_in_it_opens_for_longer",
        ONE.ramp(seconds(600)),
        "F left:0s S =closed F trips:2 X80s",
    ),
];

const PROBES: &[Scenario] = &[
    (
        "f1_a_round_admits_as_many_calls_as_it_has_probes",
        ONE.probes(4),
        "F left:0s [a [b [c [d Xbusy Xbusy =half-open",
    ),
    (
        "f2_a_round_judged_by_its_share_opens_as_soon_as_that_is_settled",
        ONE.probes(4).probe_failure_rate(0.5),
        "F left:0s F =half-open F =open why:probe_failure_rate trips:2 X80s",
    ),
    (
        "f4_an_ignored_probe_leaves_the_share_as_it_was",
        ONE.probes(4).probe_failure_rate(0.5),
        "F left:0s 2xS I F =half-open S =closed",
    ),
    (
        "f10_a_share_can_need_more_than_the_successes_allow",
        ONE.probes(4).close_after(2).probe_failure_rate(0.75),
        "F left:0s S F F =half-open F trips:2 =open",
    ),
    (
        "f6_two_successes_close_where_two_are_asked_for",
        SHORT.close_after(2),
        "5xF =open left:0s S =half-open S =closed ran:7",
    ),
    (
        "f7_a_closed_circuit_opens_only_at_a_whole_new_count",
        BRIEF.threshold(4),
        "4xF =open left:0s S =closed 3xF +300ms =closed F =open",
    ),
    (
        "f8_a_failure_among_the_probes_opens_at_once",
        SHORT.threshold(4).close_after(3),
        "4xF =open left:0s 2xS =half-open F trips:2 X80s ran:7",
    ),
    (
        "f13_calls_beyond_the_probes_are_rejected",
        ONE.close_after(3),
        "F left:0s [a [b [c 5xXbusy a]S b]S =half-open c]S =closed",
    ),
    (
        "f15_the_last_probe_of_a_round_is_waited_for",
        ONE.probes(3),
        "F left:0s 2xS [a Xbusy =half-open a]S =closed",
    ),
    // B018, B021
    (
        "f16_a_dropped_probe_used_nothing_up",
        ONE.probes(2),
        "F left:0s D =half-open [a [b Xbusy a]S b]S =closed",
    ),
    (
        "f21_a_place_is_free_at_the_probe_timeout",
        ONE.probe_timeout(millis(400)),
        "F left:0s [a [b =half-open b]S =closed",
    ),
    (
        "f22_a_probe_that_answers_late_still_votes",
        ONE.probe_timeout(millis(200)),
        "F left:0s [a +400ms a]S =closed",
    ),
    (
        "f22_two_that_hung_without_a_vote_reopen",
        ONE.probe_timeout(millis(200)),
        "F left:0s [a [b +400ms X =open why:probes_hung",
    ),
    (
        "f23_one_failure_reopens_whatever_the_threshold",
        SHORT,
        "5xF =open left:0s F trips:2 X80s",
    ),
    (
        "f26_closing_clears_the_history",
        BRIEF.threshold(2),
        "2xF =open left:0s S =closed F +300ms =closed F =open",
    ),
    (
        "f_probes_run_at_most_so_many_at_a_time",
        ONE.probes(3).probe_concurrency(2),
        "F left:0s [a [b Xbusy a]S [c Xbusy b]S =half-open c]S =closed",
    ),
    (
        "f_a_late_vote_of_a_round_that_is_over_is_none",
        ONE.probes(5).close_after(2),
        "F left:0s [a [b [c a]S c]S =closed b]F late:1 +300ms =closed",
    ),
    (
        "f_a_panicking_probe_reopens",
        ONE,
        "F left:0s P trips:2 why:probe_failed panicked:1",
    ),
    // B006
    (
        "f_an_error_that_is_no_failure_is_a_successful_probe",
        ONE,
        "F left:0s N =closed",
    ),
    (
        "f_a_slow_probe_is_a_failed_one_where_slow_is_a_rule",
        SHORT
            .window(Window::Calls(9))
            .threshold(1)
            .slow_call(millis(20)),
        "F left:0s s60ms trips:2 why:probe_slow",
    ),
    // B006
    (
        "g8_an_ignored_probe_gives_its_place_back",
        ONE,
        "F left:0s 5xI =half-open S =closed ignored:5",
    ),
    // B030
    (
        "j1_a_failure_from_before_does_not_prolong_the_opening",
        LONG.threshold(1),
        "[a F =open a]F late:1 trips:1 X600s",
    ),
    (
        "j2_calls_from_before_are_late_in_half_open",
        ONE.probes(2),
        "[a [b F =open left:0s [c a]S b]S =half-open late:2 c]S S =closed",
    ),
    (
        "j12_a_dropped_probe_can_be_made_a_failure",
        ONE.on_cancel(OnCancel::Failure),
        "F left:0s D trips:2 =open cancelled:1",
    ),
];

const BY_HAND: &[Scenario] = &[
    (
        "e3_a_forced_open_circuit_ends_by_itself",
        THREE,
        "2xF +300ms force-open:2s =forced-open Xforced =closed F =open why:threshold",
    ),
    (
        "e3_what_a_window_held_before_counts_afterwards",
        MINUTE.threshold(3),
        "2xF +300ms force-open:2s =forced-open =closed F =open why:threshold_in_window",
    ),
    (
        "h1_a_forced_open_circuit_rejects_beyond_the_cooldown",
        SHORT,
        "force-open:1h =forced-open Xforced +200ms Xforced left:none",
    ),
    (
        "h2_a_forced_closed_circuit_judges_nothing",
        THREE,
        "force-closed:1h =forced-closed 9xF +300ms =forced-closed clear =closed 2xF +300ms =closed F =open",
    ),
    (
        "h5_reset_from_open_closes_and_forgets",
        THREE,
        "3xF =open +300ms reset =closed +300ms 2xF +300ms =closed F =open trips:1",
    ),
    (
        "h5_reset_from_half_open",
        ONE,
        "F left:0s [a =half-open reset =closed a]F late:1 +300ms =closed",
    ),
    (
        "h10_a_forced_open_circuit_is_cleared_by_hand",
        THREE,
        "force-open:1h =forced-open clear =closed S",
    ),
    (
        "h11_a_tripped_circuit_is_closed_by_hand",
        LONG.threshold(1),
        "F =open +300ms X600s reset =closed +300ms S",
    ),
    (
        "h_what_is_left_of_an_opening_stays_left",
        LONG.threshold(1),
        "F =open force-open:1h =forced-open beneath:open clear =open X600s",
    ),
    (
        "h_a_later_override_replaces_an_earlier_one",
        THREE,
        "force-open:1h =forced-open force-closed:2h =forced-closed clear =closed",
    ),
    (
        "h_a_forced_half_open_circuit_begins_a_fresh_round",
        ONE,
        "F left:0s [a =half-open force-open:1h =forced-open clear =half-open a]F late:1 +300ms =half-open S =closed",
    ),
    (
        "live_a_new_threshold_is_judged_at_the_next_outcome",
        THREE,
        "F +300ms update:threshold=2 =closed F =open why:threshold",
    ),
    (
        "live_a_new_cooldown_is_that_of_the_next_opening",
        THREE,
        "2xF update:cooldown=120s F =open X120s",
    ),
    (
        "live_a_new_cooldown_leaves_an_opening_as_it_is",
        LONG.threshold(1),
        "F =open +300ms update:cooldown=120s +300ms X600s",
    ),
    (
        "live_a_window_of_another_kind_begins_empty",
        THREE,
        "2xF +300ms update:window=9 2xF +300ms =closed F =open why:threshold_in_window",
    ),
    (
        "live_the_probes_of_a_round_can_become_more",
        ONE,
        "F left:0s [a Xbusy update:probes=2 [b Xbusy a]S b]S =closed",
    ),
];

/// What each process does by itself.
const ALONE: &[Scenario] = &[
    (
        "ramp_after_closing_calls_come_back_one_by_one",
        ONE.ramp(seconds(600)),
        "F left:0s S =closed [a Xramp a]S [b b]S",
    ),
    (
        "a1_a_rate_opens_at_the_call_that_makes_the_calls_enough",
        last(4).failure_rate(0.75),
        "3xF +300ms =closed F =open why:failure_rate rate:1 X ran:4",
    ),
    (
        "h3_shadow_rejects_nobody_and_tells",
        last(10).min_calls(5).failure_rate(0.5),
        "shadow:1h =shadow +300ms 5xF beneath:open 3xF would-reject:3 =shadow rejected:0 clear =closed",
    ),
    (
        "h3_a_policy_in_shadow_moves_nothing",
        LONG.threshold(2).shadow(true),
        "2xF beneath:open F would-reject:1 =shadow",
    ),
];

/// What holds of processes together, and of one whose store is lost.
const SHARED: &[&[Scenario]] = &[COUNTED, OPENINGS, PROBES, BY_HAND, FAULTS];
/// What holds of one process, with a store and without.
const ALL: &[&[Scenario]] = &[COUNTED, OPENINGS, PROBES, BY_HAND, FAULTS, ALONE];

/// In a store that all scenarios have together, each under a prefix of its own.
fn redis(server: &Server, name: &str) -> Redis {
    Redis::new(server.url()).prefix(name)
}

#[test]
fn one_process_with_a_store_in_memory_keeps_the_law() {
    play_all(ALL, &|_, policy| {
        vec![Process::start(policy, |it| it.store(MemoryStore::new()))]
    });
}

#[test]
fn two_processes_with_a_store_in_memory_keep_the_law_together() {
    play_all(SHARED, &|_, policy| {
        let store = MemoryStore::new();
        let one = |_| Process::start(policy, |it| it.store(store.clone()));
        (0..2).map(one).collect::<Vec<_>>()
    });
}

#[test]
fn one_process_with_redis_keeps_the_law() {
    let server = Server::start().expect("a server: run ./tests/run");
    play_all(ALL, &|name, policy| {
        vec![Process::start(policy, |it| it.store(redis(&server, name)))]
    });
}

#[test]
fn two_processes_with_redis_keep_the_law_together() {
    let server = Server::start().expect("a server: run ./tests/run");
    play_all(SHARED, &|name, policy| {
        let one = |_| Process::start(policy, |it| it.store(redis(&server, name)));
        (0..2).map(one).collect::<Vec<_>>()
    });
}

#[test]
fn two_processes_with_a_cluster_keep_the_law_together() {
    let cluster = Cluster::start().expect("a cluster: run ./tests/run");
    play_all(SHARED, &|name, policy| {
        let store = || Redis::cluster(cluster.urls()).prefix(name);
        let one = |_| Process::start(policy, |it| it.store(store()));
        (0..2).map(one).collect::<Vec<_>>()
    });
}

/// B186
#[test]
fn a_process_that_never_finds_its_store_keeps_the_law() {
    let proxy = Proxy::start(([127, 0, 0, 1], 1).into()).expect("a proxy");
    proxy.refuse();
    play_all(ALL, &|_, policy| {
        let process = Process::start_alone(policy, |it| it.redis(proxy.url()));
        process.loses(1);
        vec![process]
    });
}

/// B186
#[test]
fn a_process_that_has_lost_its_store_keeps_the_law() {
    let server = Server::start().expect("a server: run ./tests/run");
    play_all(ALL, &|name, policy| {
        losing(&server, name, policy, Loss::Before)
    });
}

/// B186: what it knew from the others before is no hindrance.
#[test]
fn a_process_that_loses_its_store_in_the_middle_keeps_the_law() {
    let server = Server::start().expect("a server: run ./tests/run");
    play_all(ALL, &|name, policy| {
        losing(&server, name, policy, Loss::InTheMiddle)
    });
}

fn losing(server: &Server, name: &str, policy: Policy, loss: Loss) -> Cast {
    let way = Proxy::start(server.address()).expect("a proxy");
    let store = Redis::new(way.url()).prefix(name);
    let process = Process::start(policy, |it| it.store(store));
    Cast::losing(process, loss, way)
}
