//! Whether processes that share a circuit go by the same numbers.
//!
//! Each says by one text which numbers it goes by, `threshold=5;cooldown=60s;…`, and reads
//! those of the others. Only keys that both know are compared, so that a version which has one
//! more key does not differ by that alone.

use std::fmt;

use crate::policy::Key;
use crate::policy::Policy;

/// A number of which processes that share a circuit disagree.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct Difference {
    /// The key, as it is written in an attribute.
    pub key: String,
    /// The value in this process; none where that rule does not stand.
    pub here: Option<String>,
    /// The value in another one.
    pub elsewhere: Option<String>,
}

/// `threshold is 5 here and 10 elsewhere`
impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let here = self.here.as_deref().unwrap_or("not set");
        let elsewhere = self.elsewhere.as_deref().unwrap_or("not set");
        write!(f, "{} is {here} here and {elsewhere} elsewhere", self.key)
    }
}

/// Stands for a rule that does not.
const NONE: &str = "-";

/// What each process decides for itself.
const OWN: &[Key] = &[Key::OnCancel, Key::Shadow, Key::MaxKeys, Key::ProbeWait];

/// The numbers that processes have to have in common.
pub(crate) fn text(policy: &Policy) -> String {
    let shared = Key::ALL.iter().filter(|key| !OWN.contains(key));
    let pairs = shared.map(|&key| {
        let value = policy.value(key);
        format!("{key}={}", value.as_deref().unwrap_or(NONE))
    });
    pairs.collect::<Vec<_>>().join(";")
}

/// Where any of the `others` says something else than this one.
pub(crate) fn differences(mine: &str, others: &[String]) -> Vec<Difference> {
    let mut differences: Vec<_> = others
        .iter()
        .flat_map(|other| pairs(other))
        .filter_map(|(key, elsewhere)| {
            let (_, here) = pairs(mine).find(|(known, _)| *known == key)?;
            (here != elsewhere).then(|| Difference {
                key: key.to_owned(),
                here: value(here),
                elsewhere: value(elsewhere),
            })
        })
        .collect();
    differences.sort();
    differences.dedup();
    differences
}

fn pairs(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.split(';').filter_map(|pair| pair.split_once('='))
}

fn value(text: &str) -> Option<String> {
    (text != NONE).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use crate::policy::Window;

    use super::*;

    const POLICY: Policy = Policy::new().threshold(5);

    fn told(differences: &[Difference]) -> Vec<String> {
        differences.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn what_differs_is_named_with_both_values_and_once() {
        let other = text(&POLICY.threshold(10).cooldown(Duration::from_secs(9)));
        let same = text(&POLICY);
        let found = differences(&same, &[same.clone(), other.clone(), other]);
        assert_eq!(
            told(&found),
            [
                "cooldown is 60s here and 9s elsewhere",
                "threshold is 5 here and 10 elsewhere",
            ]
        );
    }

    #[test]
    fn a_rule_that_stands_on_one_side_only_is_a_difference() {
        let rate = Policy::new()
            .failure_rate(0.5)
            .window(Window::Time(Duration::from_secs(10)));
        let found = told(&differences(&text(&POLICY), &[text(&rate)]));
        assert!(found.contains(&"failure_rate is not set here and 0.5 elsewhere".to_owned()));
        assert!(found.contains(&"threshold is 5 here and not set elsewhere".to_owned()));
    }

    #[test]
    fn what_each_process_decides_for_itself_and_keys_of_another_version_are_none() {
        let own = POLICY
            .shadow(true)
            .max_keys(7)
            .probe_wait(Duration::from_secs(1));
        assert_eq!(text(&own), text(&POLICY));
        let mine = text(&POLICY);
        let of_a_version_to_come = format!("{mine};gravity=9.8");
        assert_eq!(differences(&mine, &[of_a_version_to_come]), []);
        assert_eq!(differences(&mine, &["threshold=5;nonsense".to_owned()]), []);
    }
}
