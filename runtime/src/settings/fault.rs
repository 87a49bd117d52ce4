//! What the places say together that no breaker can work with, and whose word it is.

use crate::policy::Key;
use crate::policy::Policy;
use crate::policy::PolicyError;
use crate::settings::stack::Rank;
use crate::settings::stack::Stack;

/// One word of one place that goes with the others in no way.
#[derive(Clone, Debug)]
pub(super) struct Fault {
    pub(super) rank: Rank,
    pub(super) key: Key,
    pub(super) error: PolicyError,
    /// The other keys that take part in it, with their values and whose they are.
    pub(super) others: Vec<(Key, String, Option<Rank>)>,
}

/// Takes words out until a breaker can work with the rest, and gives them: one after the
/// other, as `blamed` before others, and of these the first before the later.
pub(super) fn take_out(stack: &mut Stack, blamed: &[Rank]) -> Vec<Fault> {
    let mut faults = Vec::new();
    // Each round takes one word out, and nothing at all is a policy.
    while let Err(error) = stack.check()
        && let Some((rank, key)) = blame(stack, error, blamed)
    {
        faults.push(Fault {
            rank,
            key,
            error,
            others: others(stack, error, key),
        });
        stack.take_out(rank, key);
    }
    faults
}

fn blame(stack: &Stack, error: PolicyError, blamed: &[Rank]) -> Option<(Rank, Key)> {
    let flagged = error.key();
    let winner = stack.winner(flagged);
    if let Some(rank) = winner
        && blamed.contains(&rank)
    {
        return Some((rank, flagged));
    }
    let all = Rank::ALL;
    let of_the_blamed = || {
        blamed
            .iter()
            .find_map(|rank| part(stack, error, *rank, blamed))
    };
    let of_anybody = || all.iter().find_map(|rank| part(stack, error, *rank, &all));
    let anything = || {
        let keys = Key::ALL.iter().copied();
        keys.filter_map(|key| Some((stack.winner(key)?, key)))
            .next()
    };
    of_the_blamed()
        .or_else(|| Some((winner?, flagged)))
        .or_else(of_anybody)
        .or_else(anything)
}

/// A word of `rank` that takes part: without what `ranks` say of its key, the same error
/// would not be there.
fn part(stack: &Stack, error: PolicyError, rank: Rank, ranks: &[Rank]) -> Option<(Rank, Key)> {
    let keys = Key::ALL.iter().copied();
    keys.filter(|key| stack.winner(*key) == Some(rank))
        .find(|key| takes_part(stack, error, *key, ranks))
        .map(|key| (rank, key))
}

fn takes_part(stack: &Stack, error: PolicyError, key: Key, ranks: &[Rank]) -> bool {
    stack.without(key, ranks).check() != Err(error)
}

fn others(stack: &Stack, error: PolicyError, blamed: Key) -> Vec<(Key, String, Option<Rank>)> {
    // A default cannot be left out, but it is said.
    let has_part = |key| key == error.key() || takes_part(stack, error, key, &Rank::ALL);
    let merged: Policy = stack.merged();
    let keys = Key::ALL.iter().copied();
    keys.filter(|key| *key != blamed && has_part(*key))
        .filter_map(|key| Some((key, merged.value(key)?, stack.winner(key))))
        .collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use crate::policy::Window;

    use super::*;

    const CONFIGURED: [Rank; 2] = [Rank::File, Rank::FileDefaults];

    fn stack(written: &[(Rank, Policy)]) -> Stack {
        Stack::new(|rank| {
            let found = written.iter().find(|(known, _)| *known == rank);
            found.map_or(Policy::new(), |(_, policy)| *policy)
        })
    }

    fn blamed(stack: &mut Stack) -> Vec<(Rank, Key)> {
        let faults = take_out(stack, &CONFIGURED);
        assert!(stack.check().is_ok());
        faults.iter().map(|fault| (fault.rank, fault.key)).collect()
    }

    const RATE: Policy = Policy::new().window(Window::Calls(10)).failure_rate(0.5);

    #[test]
    fn the_place_of_the_wrong_key_is_blamed() {
        let mut above = stack(&[
            (Rank::Attribute, RATE),
            (Rank::File, Policy::new().min_calls(11)),
        ]);
        assert_eq!(blamed(&mut above), [(Rank::File, Key::MinCalls)]);
        assert_eq!(above.merged(), RATE);
    }

    /// The attribute was right before the file spoke.
    #[test]
    fn where_the_wrong_key_is_another_place_s_the_word_that_made_it_wrong_is_blamed() {
        let window = Policy::new().window(Window::Calls(3));
        let mut below = stack(&[(Rank::Attribute, RATE.min_calls(5)), (Rank::File, window)]);
        let faults = take_out(&mut below, &CONFIGURED);
        let [fault] = &*faults else {
            panic!("{faults:?}");
        };
        assert_eq!((fault.rank, fault.key), (Rank::File, Key::Window));
        let expected = (Key::MinCalls, "5".to_owned(), Some(Rank::Attribute));
        assert_eq!(fault.others, [expected]);
    }

    #[test]
    fn each_of_two_places_that_say_the_same_wrong_is_blamed() {
        let window = |calls| Policy::new().window(Window::Calls(calls));
        let mut both = stack(&[
            (Rank::Attribute, Policy::new().threshold(20)),
            (Rank::FileDefaults, window(10)),
            (Rank::File, window(15)),
        ]);
        let expected = [(Rank::File, Key::Window), (Rank::FileDefaults, Key::Window)];
        assert_eq!(blamed(&mut both), expected);
    }

    #[test]
    fn all_that_is_wrong_is_found() {
        let wrong = Policy::new()
            .threshold(0)
            .probes(2)
            .close_after(3)
            .min_failures(2);
        let expected = [Key::Threshold, Key::MinFailures, Key::CloseAfter];
        let found = blamed(&mut stack(&[(Rank::File, wrong)]));
        assert_eq!(found, expected.map(|key| (Rank::File, key)));
    }

    #[test]
    fn a_default_that_does_not_fit_is_said() {
        let window = Policy::new().window(Window::Calls(3));
        let mut alone = stack(&[(Rank::File, window)]);
        let faults = take_out(&mut alone, &CONFIGURED);
        assert_eq!(faults[0].key, Key::Window);
        assert_eq!(faults[0].others, [(Key::Threshold, "5".to_owned(), None)]);
    }

    #[test]
    fn what_code_says_is_blamed_where_nothing_else_is_to_blame() {
        let code = Policy::new().probes(2).close_after(3);
        let mut stack = stack(&[(Rank::File, Policy::new().threshold(3)), (Rank::Code, code)]);
        assert_eq!(blamed(&mut stack), [(Rank::Code, Key::CloseAfter)]);
    }

    /// Whatever is written where: something is left that a breaker can work with, and each
    /// word that is taken out was there.
    #[test]
    fn any_words_of_any_places_are_brought_together() {
        let mut state = 1_u64;
        let mut draw = |below: u64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 33) % below
        };
        let mut some_policy = || {
            let mut policy = Policy::new();
            let mut number = || u32::try_from(draw(6)).unwrap_or(0);
            let seconds = |number: u32| Duration::from_secs(u64::from(number));
            for _ in 0..number() {
                let value = number();
                let share = f64::from(value) / 4.0;
                policy = match number() * 6 + number() {
                    0 => policy.threshold(value),
                    1 | 2 => policy.window(Window::Calls(value)),
                    3 | 4 => policy.window(Window::Time(seconds(value))),
                    5 | 6 => policy.failure_rate(share),
                    7 | 8 => policy.min_calls(value),
                    9 | 10 => policy.min_failures(value),
                    11 | 12 => policy.slow_call(seconds(value)),
                    13 | 14 => policy.slow_call_rate(share),
                    15 => policy.cooldown(seconds(value * 200)),
                    16 => policy.max_cooldown(seconds(value * 100)),
                    17 | 18 => policy.probes(value),
                    19 | 20 => policy.probe_concurrency(value),
                    21 | 22 => policy.close_after(value),
                    23 => policy.probe_failure_rate(share),
                    24 => policy.backoff(share),
                    25 => policy.jitter(share),
                    26 => policy.max_keys(value),
                    27 => policy.ramp(seconds(value)),
                    28 => policy.min_instances(value * 20),
                    29 => policy.probe_wait(seconds(value)),
                    _ => policy.threshold(value * 10),
                };
            }
            policy
        };
        for _ in 0..500 {
            let policies: Vec<_> = Rank::ALL.iter().map(|_| some_policy()).collect();
            let whole = Stack::new(|rank| policies[rank as usize]);
            let mut rest = whole.clone();
            let faults = take_out(&mut rest, &CONFIGURED);
            assert_eq!(rest.check(), Ok(()), "{policies:?}");
            assert_eq!(faults.is_empty(), whole.check().is_ok());
            for fault in faults {
                assert!(policies[fault.rank as usize].writes(fault.key), "{fault:?}");
            }
        }
    }
}
