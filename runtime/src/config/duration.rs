//! Durations as the attributes write them: `250ms`, `1m30s`.

use std::time::Duration;

use crate::config::near::nearest;

/// The units from the longest to the shortest, with their length in nanoseconds and what
/// people write for them elsewhere.
const UNITS: [(&str, u64, &[&str]); 7] = [
    ("d", 86_400_000_000_000, &["day", "days"]),
    ("h", 3_600_000_000_000, &["hour", "hours", "hr", "hrs"]),
    ("m", 60_000_000_000, &["min", "mins", "minute", "minutes"]),
    ("s", 1_000_000_000, &["sec", "secs", "second", "seconds"]),
    (
        "ms",
        1_000_000,
        &["milli", "millis", "msec", "millisecond", "milliseconds"],
    ),
    ("us", 1_000, &["micros", "µs", "μs", "microseconds"]),
    ("ns", 1, &["nanos", "nanosecond", "nanoseconds"]),
];

/// `1m30s` as a duration: units in falling order, each once, no fractions. `quote` is what
/// stands around such a text.
pub(super) fn parse(text: &str, quote: &str) -> Result<Duration, String> {
    if text.trim().is_empty() {
        return Err(format!(
            "an empty duration: write for example `{quote}60s{quote}`"
        ));
    }
    if text.trim_start().starts_with('-') {
        return Err("a duration cannot be negative".to_owned());
    }
    if text.contains(char::is_whitespace) {
        let joined: String = text.split_whitespace().collect();
        parse(&joined, quote)?;
        return Err(format!(
            "a duration has no spaces: write `{quote}{joined}{quote}`"
        ));
    }

    let mut total = Duration::ZERO;
    let mut rest = text;
    // Units before this index are longer than the last one, or are the last one.
    let mut next_unit = 0;
    while !rest.is_empty() {
        let digits = split(&mut rest, |char| char.is_ascii_digit());
        if digits.is_empty() {
            return Err(format!(
                "`{text}` is not a duration: write for example `{quote}60s{quote}` or \
                 `{quote}1m30s{quote}`"
            ));
        }
        if let Some(fraction) = rest.strip_prefix('.') {
            return Err(no_fractions(text, digits, fraction));
        }
        let unit = split(&mut rest, |char| {
            !char.is_ascii_digit() && char != '.' && char != '-'
        });
        let index = unit_index(unit, digits, text)?;
        if index + 1 == next_unit {
            return Err(format!("the unit `{unit}` stands twice in `{text}`"));
        }
        if index < next_unit {
            return Err(format!(
                "longer units come first: `{unit}` stands after a shorter one in `{text}`"
            ));
        }
        next_unit = index + 1;
        let count = digits.parse().ok();
        total = count
            .and_then(|count| times(count, UNITS[index].1))
            .and_then(|part| total.checked_add(part))
            .ok_or_else(|| format!("`{text}` is longer than a duration can be"))?;
    }
    Ok(total)
}

/// Takes the beginning off that is made of such letters.
fn split<'t>(rest: &mut &'t str, belongs: impl Fn(char) -> bool) -> &'t str {
    let end = rest.find(|char| !belongs(char)).unwrap_or(rest.len());
    let (beginning, end) = rest.split_at(end);
    *rest = end;
    beginning
}

/// `count` times a unit of `nanos` nanoseconds.
fn times(count: u64, nanos: u64) -> Option<Duration> {
    let total = u128::from(count) * u128::from(nanos);
    let secs = u64::try_from(total / 1_000_000_000).ok()?;
    let nanos = u32::try_from(total % 1_000_000_000).ok()?;
    Some(Duration::new(secs, nanos))
}

fn unit_index(unit: &str, digits: &str, text: &str) -> Result<usize, String> {
    if let Some(index) = UNITS.iter().position(|(name, ..)| *name == unit) {
        return Ok(index);
    }
    if unit.is_empty() {
        return Err(if digits == text {
            format!("`{text}` has no unit: did you mean `{text}s` or `{text}ms`?")
        } else {
            format!("`{digits}` has no unit in `{text}`")
        });
    }
    let lower = unit.to_lowercase();
    let of = |word: &str| {
        let is_it = |(name, _, long): &&(&str, _, &[&str])| *name == word || long.contains(&word);
        UNITS.iter().find(is_it)
    };
    let near = || {
        let long = UNITS.iter().flat_map(|(_, _, long)| long.iter().copied());
        nearest(&lower, long).and_then(|(_, word)| of(word))
    };
    Err(match of(&lower).or_else(near) {
        Some((short, ..)) => format!("unknown unit `{unit}`: did you mean `{digits}{short}`?"),
        None => format!("unknown unit `{unit}`: use d, h, m, s, ms, us or ns"),
    })
}

/// What to write for `1.5s`, where that comes out even in one of the shorter units.
fn no_fractions(text: &str, whole: &str, fraction: &str) -> String {
    let mut rest = fraction;
    let decimals = split(&mut rest, |char| char.is_ascii_digit());
    let unit = split(&mut rest, |char| !char.is_ascii_digit());
    let even = || {
        let (_, length, _) = UNITS.iter().find(|(name, ..)| *name == unit)?;
        let scale = 10_u128.checked_pow(u32::try_from(decimals.len()).ok()?)?;
        let scaled: u128 = format!("{whole}{decimals}").parse().ok()?;
        let nanos = scaled.checked_mul(u128::from(*length))?;
        if nanos % scale != 0 {
            return None;
        }
        let nanos = nanos / scale;
        let divides = |length: u64| nanos % u128::from(length) == 0;
        let (name, length, _) = UNITS.iter().find(|(_, length, _)| divides(*length))?;
        Some(format!("{}{name}", nanos / u128::from(*length)))
    };
    match even() {
        Some(whole) => format!("no fractions in `{text}`: write `{whole}`"),
        None => format!("no fractions in `{text}`: use a shorter unit"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_sums_of_falling_units() {
        for (text, expected) in [
            ("60s", Duration::from_secs(60)),
            ("250ms", Duration::from_millis(250)),
            ("1m30s", Duration::from_secs(90)),
            ("1d2h3m4s5ms6us7ns", Duration::new(93_784, 5_006_007)),
            ("0s", Duration::ZERO),
            ("007s", Duration::from_secs(7)),
            ("18446744073709551615s", Duration::from_secs(u64::MAX)),
        ] {
            assert_eq!(parse(text, "\""), Ok(expected), "{text}");
        }
    }

    /// The table of the attributes, and what they say.
    #[test]
    fn wrong_durations_say_what_to_write() {
        for (text, expected) in [
            ("", "an empty duration: write for example `\"60s\"`"),
            (" ", "an empty duration: write for example `\"60s\"`"),
            ("60", "`60` has no unit: did you mean `60s` or `60ms`?"),
            ("1m30", "`30` has no unit in `1m30`"),
            (
                "sixty",
                "`sixty` is not a duration: write for example `\"60s\"` or `\"1m30s\"`",
            ),
            ("-5s", "a duration cannot be negative"),
            ("1.5s", "no fractions in `1.5s`: write `1500ms`"),
            ("0.25m", "no fractions in `0.25m`: write `15s`"),
            ("0.5ns", "no fractions in `0.5ns`: use a shorter unit"),
            ("1.5", "no fractions in `1.5`: use a shorter unit"),
            (
                "3 parsecs",
                "unknown unit `parsecs`: use d, h, m, s, ms, us or ns",
            ),
            ("1m 30s", "a duration has no spaces: write `\"1m30s\"`"),
            ("5sec", "unknown unit `sec`: did you mean `5s`?"),
            ("5Minutes", "unknown unit `Minutes`: did you mean `5m`?"),
            ("5S", "unknown unit `S`: did you mean `5s`?"),
            ("5secnds", "unknown unit `secnds`: did you mean `5s`?"),
            ("5µs", "unknown unit `µs`: did you mean `5us`?"),
            (
                "30s1m",
                "longer units come first: `m` stands after a shorter one in `30s1m`",
            ),
            ("1s2s", "the unit `s` stands twice in `1s2s`"),
            (
                "213503982334602d",
                "`213503982334602d` is longer than a duration can be",
            ),
            (
                "99999999999999999999s",
                "`99999999999999999999s` is longer than a duration can be",
            ),
            (
                "1s-2ms",
                "`1s-2ms` is not a duration: write for example `\"60s\"` or `\"1m30s\"`",
            ),
        ] {
            assert_eq!(parse(text, "\""), Err(expected.into()), "{text}");
        }
    }

    #[test]
    fn where_nothing_is_quoted_no_quotes_are_asked_for() {
        let spaced = "a duration has no spaces: write `1m30s`";
        assert_eq!(parse("1m 30s", ""), Err(spaced.into()));
    }
}
