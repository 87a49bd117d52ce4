//! Reads the numbers and durations of an attribute: `5`, `"250ms"`, `"1m30s"`.

use std::time::Duration;

use proc_macro2::Span;
use syn::Expr;
use syn::ExprLit;
use syn::ExprUnary;
use syn::Lit;
use syn::UnOp;

use crate::errors::nearest;

/// A value that is known here, or code that the compiler judges later.
pub(crate) enum Value<T> {
    Known(T, Span),
    Code(Expr),
}

/// The units from the longest to the shortest, with their length in nanoseconds.
const UNITS: [(&str, u64); 7] = [
    ("d", 86_400_000_000_000),
    ("h", 3_600_000_000_000),
    ("m", 60_000_000_000),
    ("s", 1_000_000_000),
    ("ms", 1_000_000),
    ("us", 1_000),
    ("ns", 1),
];

/// What people write for a unit elsewhere.
const LONG_UNITS: [(&str, &str); 26] = [
    ("day", "d"),
    ("days", "d"),
    ("hour", "h"),
    ("hours", "h"),
    ("hr", "h"),
    ("hrs", "h"),
    ("min", "m"),
    ("mins", "m"),
    ("minute", "m"),
    ("minutes", "m"),
    ("sec", "s"),
    ("secs", "s"),
    ("second", "s"),
    ("seconds", "s"),
    ("milli", "ms"),
    ("millis", "ms"),
    ("msec", "ms"),
    ("millisecond", "ms"),
    ("milliseconds", "ms"),
    ("micros", "us"),
    ("µs", "us"),
    ("μs", "us"),
    ("microseconds", "us"),
    ("nanos", "ns"),
    ("nanosecond", "ns"),
    ("nanoseconds", "ns"),
];

/// A whole number that fits `u32`, or other code.
pub(crate) fn number(key: &str, expr: Expr) -> syn::Result<Value<u32>> {
    let expr = bare(expr);
    let (lit, span) = match &expr {
        Expr::Lit(ExprLit { lit, .. }) => (lit, lit.span()),
        Expr::Unary(ExprUnary {
            op: UnOp::Neg(minus),
            expr: operand,
            ..
        }) if is_number(operand) => {
            return Err(syn::Error::new(
                minus.span,
                format!("`{key}` cannot be negative"),
            ));
        }
        _ => return Ok(Value::Code(expr)),
    };
    let message = match lit {
        Lit::Int(int) => {
            let digits = int.base10_digits();
            match (int.suffix(), digits.parse::<u32>()) {
                ("" | "u32", Ok(number)) => return Ok(Value::Known(number, span)),
                ("" | "u32", Err(_)) => format!("`{digits}` is too large for `{key}`"),
                (suffix, _) => format!("`{key}` is a `u32`: write `{digits}` without `{suffix}`"),
            }
        }
        Lit::Str(text) if text.value().parse::<u32>().is_ok() => {
            format!(
                "`{key}` is a number: write `{key} = {}` without quotes",
                text.value()
            )
        }
        Lit::Float(_) => format!("`{key}` is a whole number"),
        _ => format!("`{key}` is a whole number, such as `{key} = 5`"),
    };
    Err(syn::Error::new(span, message))
}

/// A duration in quotes, or other code.
pub(crate) fn duration(key: &str, expr: Expr) -> syn::Result<Value<Duration>> {
    let expr = bare(expr);
    let (lit, span) = match &expr {
        Expr::Lit(ExprLit { lit, .. }) => (lit, lit.span()),
        Expr::Unary(ExprUnary {
            op: UnOp::Neg(minus),
            expr: operand,
            ..
        }) if is_number(operand) => {
            return Err(syn::Error::new(minus.span, "a duration cannot be negative"));
        }
        _ => return Ok(Value::Code(expr)),
    };
    let message = match lit {
        Lit::Str(text) => match parse_duration(&text.value()) {
            Ok(duration) => return Ok(Value::Known(duration, span)),
            Err(message) => message,
        },
        Lit::Int(int) if int.suffix().is_empty() => {
            let digits = int.base10_digits();
            format!("`{digits}` has no unit: did you mean `\"{digits}s\"` or `\"{digits}ms\"`?")
        }
        Lit::Int(_) | Lit::Float(_) => {
            let written = quote::quote!(#lit).to_string();
            match parse_duration(&written) {
                Ok(_) => format!("a duration stands in quotes: write `{key} = \"{written}\"`"),
                Err(message) => message,
            }
        }
        _ => format!("`{key}` is a duration, such as `{key} = \"60s\"` or `{key} = \"1m30s\"`"),
    };
    Err(syn::Error::new(span, message))
}

/// `1m30s` as a duration: units in falling order, each once, no fractions.
pub(crate) fn parse_duration(text: &str) -> Result<Duration, String> {
    if text.trim().is_empty() {
        return Err("an empty duration: write for example `\"60s\"`".into());
    }
    if text.trim_start().starts_with('-') {
        return Err("a duration cannot be negative".into());
    }
    if text.contains(char::is_whitespace) {
        let joined: String = text.split_whitespace().collect();
        return Err(match parse_duration(&joined) {
            Ok(_) => format!("a duration has no spaces: write `\"{joined}\"`"),
            Err(message) => message,
        });
    }

    let mut total = Duration::ZERO;
    let mut rest = text;
    // Units before this index are longer than the last one, or are the last one.
    let mut next_unit = 0;
    while !rest.is_empty() {
        let digits = leading(rest, |c| c.is_ascii_digit());
        if digits.is_empty() {
            return Err(format!(
                "`{text}` is not a duration: write for example `\"60s\"` or `\"1m30s\"`"
            ));
        }
        rest = &rest[digits.len()..];
        if let Some(fraction) = rest.strip_prefix('.') {
            return Err(no_fractions(text, digits, fraction));
        }
        let unit = leading(rest, |c| !c.is_ascii_digit() && c != '.' && c != '-');
        rest = &rest[unit.len()..];
        let index = unit_index(unit, digits, text)?;
        if index < next_unit {
            return Err(if index + 1 == next_unit {
                format!("the unit `{unit}` stands twice in `{text}`")
            } else {
                format!("longer units come first: `{unit}` stands after a shorter one in `{text}`")
            });
        }
        next_unit = index + 1;
        let part = digits
            .parse()
            .ok()
            .and_then(|count| span_of(count, UNITS[index].1));
        total = part
            .and_then(|part| total.checked_add(part))
            .ok_or_else(|| format!("`{text}` is longer than a duration can be"))?;
    }
    Ok(total)
}

/// `count` times a unit of `nanos` nanoseconds.
fn span_of(count: u64, nanos: u64) -> Option<Duration> {
    let total = u128::from(count) * u128::from(nanos);
    let secs = u64::try_from(total / 1_000_000_000).ok()?;
    let nanos = u32::try_from(total % 1_000_000_000).ok()?;
    Some(Duration::new(secs, nanos))
}

fn unit_index(unit: &str, digits: &str, text: &str) -> Result<usize, String> {
    if let Some(index) = UNITS.iter().position(|(name, _)| *name == unit) {
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
    let units = UNITS.map(|(name, _)| name);
    let long = LONG_UNITS
        .iter()
        .find(|(long, _)| *long == lower)
        .map(|(_, short)| *short);
    let meant = long
        .or_else(|| units.into_iter().find(|name| *name == lower))
        .or_else(|| {
            let near = nearest(&lower, LONG_UNITS.map(|(long, _)| long))?;
            LONG_UNITS
                .iter()
                .find(|(long, _)| *long == near)
                .map(|(_, short)| *short)
        });
    Err(match meant {
        Some(short) => format!("unknown unit `{unit}`: did you mean `{digits}{short}`?"),
        None => format!("unknown unit `{unit}`: use d, h, m, s, ms, us or ns"),
    })
}

/// What to write for `1.5s`, where that comes out even in one of the shorter units.
fn no_fractions(text: &str, whole: &str, fraction: &str) -> String {
    let decimals = leading(fraction, |c| c.is_ascii_digit());
    let unit = leading(&fraction[decimals.len()..], |c| !c.is_ascii_digit());
    let written = |length: u64| -> Option<String> {
        let scale = 10_u128.checked_pow(u32::try_from(decimals.len()).ok()?)?;
        let scaled: u128 = format!("{whole}{decimals}").parse().ok()?;
        let nanos = scaled.checked_mul(u128::from(length))?;
        if nanos % scale != 0 {
            return None;
        }
        let nanos = nanos / scale;
        let (name, length) = UNITS
            .iter()
            .find(|(_, length)| nanos % u128::from(*length) == 0)?;
        Some(format!("{}{name}", nanos / u128::from(*length)))
    };
    let known = UNITS.iter().find(|(name, _)| *name == unit);
    match known.and_then(|(_, length)| written(*length)) {
        Some(whole) => format!("no fractions in `{text}`: write `{whole}`"),
        None => format!("no fractions in `{text}`: use a shorter unit"),
    }
}

fn leading(text: &str, belongs: impl Fn(char) -> bool) -> &str {
    &text[..text.find(|c| !belongs(c)).unwrap_or(text.len())]
}

fn is_number(expr: &Expr) -> bool {
    matches!(
        expr,
        Expr::Lit(ExprLit {
            lit: Lit::Int(_) | Lit::Float(_),
            ..
        })
    )
}

/// The expression without the invisible groups that `macro_rules!` puts around its arguments.
pub(crate) fn bare(mut expr: Expr) -> Expr {
    while let Expr::Group(group) = expr {
        expr = *group.expr;
    }
    expr
}

#[cfg(test)]
mod tests {
    use syn::parse_quote;

    use super::*;

    fn wrong_number(expr: Expr) -> String {
        match number("threshold", expr) {
            Ok(_) => "accepted".into(),
            Err(error) => error.to_string(),
        }
    }

    fn wrong_duration(expr: Expr) -> String {
        match duration("cooldown", expr) {
            Ok(_) => "accepted".into(),
            Err(error) => error.to_string(),
        }
    }

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
            assert_eq!(parse_duration(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn wrong_durations_say_what_to_write() {
        for (text, expected) in [
            ("", "an empty duration: write for example `\"60s\"`"),
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
            assert_eq!(parse_duration(text), Err(expected.into()), "{text}");
        }
    }

    #[test]
    fn a_duration_without_quotes_is_told_to_take_them() {
        assert_eq!(
            wrong_duration(parse_quote!(60)),
            "`60` has no unit: did you mean `\"60s\"` or `\"60ms\"`?"
        );
        assert_eq!(
            wrong_duration(parse_quote!(60s)),
            "a duration stands in quotes: write `cooldown = \"60s\"`"
        );
        assert_eq!(
            wrong_duration(parse_quote!(-60)),
            "a duration cannot be negative"
        );
        assert_eq!(
            wrong_duration(parse_quote!(true)),
            "`cooldown` is a duration, such as `cooldown = \"60s\"` or `cooldown = \"1m30s\"`"
        );
        assert_eq!(wrong_duration(parse_quote!(COOLDOWN)), "accepted");
    }

    #[test]
    fn wrong_numbers_say_what_to_write() {
        assert_eq!(
            wrong_number(parse_quote!(-1)),
            "`threshold` cannot be negative"
        );
        assert_eq!(
            wrong_number(parse_quote!("5")),
            "`threshold` is a number: write `threshold = 5` without quotes"
        );
        assert_eq!(
            wrong_number(parse_quote!("five")),
            "`threshold` is a whole number, such as `threshold = 5`"
        );
        assert_eq!(
            wrong_number(parse_quote!(5u64)),
            "`threshold` is a `u32`: write `5` without `u64`"
        );
        assert_eq!(
            wrong_number(parse_quote!(4_294_967_296)),
            "`4294967296` is too large for `threshold`"
        );
        assert_eq!(
            wrong_number(parse_quote!(0.5)),
            "`threshold` is a whole number"
        );
        assert_eq!(wrong_number(parse_quote!(LIMIT)), "accepted");
        assert_eq!(wrong_number(parse_quote!(-LIMIT)), "accepted");
    }

    #[test]
    fn numbers_may_be_written_in_any_base() {
        for (expr, expected) in [
            (parse_quote!(5), 5),
            (parse_quote!(5_u32), 5),
            (parse_quote!(0x10), 16),
            (parse_quote!(1_000), 1_000),
        ] {
            match number("threshold", expr) {
                Ok(Value::Known(found, _)) => assert_eq!(found, expected),
                _ => panic!("a number was expected"),
            }
        }
    }
}
