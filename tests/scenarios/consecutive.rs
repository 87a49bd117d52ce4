//! B: consecutive failures.

use breakerbox::OnCancel;
use breakerbox::Policy;

use super::drivers::seconds;
use super::runner::scenarios;

const THREE: Policy = Policy::new().threshold(3);

scenarios! {
    b1_a_success_resets_the_count: THREE, "2xF count:2 S count:0 F count:1 =closed moves:0";
    b1_the_count_begins_anew_after_a_success: THREE, "2xF S 2xF =closed F =open";
    b2_failures_in_a_row_have_no_time_limit: THREE, "F +10d F +10d F =open why:threshold";
    b4_a_threshold_of_five_opens_at_the_fifth: Policy::new(), "4xF =closed F =open X60s ran:5";
    b4_a_success_before_the_fifth_starts_over: Policy::new(), "4xF S F 3xF =closed F =open";
    b6_an_ignored_error_neither_counts_nor_resets: THREE, "2xF I count:2 F =open ignored:1";
    b_an_ignored_error_alone_never_opens: Policy::new().threshold(1), "9xI =closed count:0 ignored:9";
    b_a_dropped_call_neither_counts_nor_resets: THREE, "2xF D count:2 F =open cancelled:1";
    b_an_error_that_is_no_failure_resets: THREE, "2xF N count:0 2xF =closed success:1";
    b_a_panic_counts_like_any_failure: THREE, "F P F =open panicked:1 failure:2";
    b_a_threshold_of_one_opens_at_the_first: Policy::new().threshold(1), "3xS F =open X ran:4";
    b_calls_that_overlap_count_in_the_order_of_their_ends: THREE,
        "[a [b [c [d a]F b]F c]S count:0 d]F count:1 =closed";
    b_a_call_counts_when_it_ends_and_not_before: THREE, "2xF [a +1h count:2 =closed a]F =open";
    b_a_dropped_call_can_be_made_a_failure: THREE.on_cancel(OnCancel::Failure),
        "2xF D =open cancelled:1 failure:2";
    b_a_dropped_call_is_a_failure_only_beyond_its_limit:
        Policy::new().threshold(1).on_cancel(OnCancel::After(seconds(2))),
        "[a +2s a]D =closed [b +2s +1ns b]D =open cancelled:2";
    b_the_largest_threshold_is_counted_to_its_end: Policy::new().threshold(Policy::MAX_THRESHOLD),
        "300xF S 300xF count:300 =closed";
}
