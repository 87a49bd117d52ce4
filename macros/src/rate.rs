//! Reads the rates of an attribute: `"100/s"`, `"5000/h"`, `"3/10s"`.

use std::time::Duration;

use syn::Expr;
use syn::ExprLit;
use syn::Lit;

use crate::value::Value;
use crate::value::bare;
use crate::value::parse_duration;

/// So many calls in so long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rate {
    pub(crate) number: u32,
    pub(crate) per: Duration,
}

/// A rate in quotes, or other code.
pub(crate) fn rate(expr: Expr) -> syn::Result<Value<Rate>> {
    let expr = bare(expr);
    let Expr::Lit(ExprLit { lit, .. }) = &expr else {
        return Ok(Value::Code(expr));
    };
    let span = lit.span();
    let message = match lit {
        Lit::Str(text) => match parse(&text.value()) {
            Ok(rate) => return Ok(Value::Known(rate, span)),
            Err(message) => message,
        },
        Lit::Int(int) => {
            let digits = int.base10_digits();
            format!("`{digits}` in which time? write `\"{digits}/s\"` or `\"{digits}/m\"`")
        }
        _ => "a rate is so many calls in a time, such as `\"100/s\"`".into(),
    };
    Err(syn::Error::new(span, message))
}

fn parse(text: &str) -> Result<Rate, String> {
    let joined: String = text.split_whitespace().collect();
    if joined != text && parse(&joined).is_ok() {
        return Err(format!("a rate has no spaces: write `\"{joined}\"`"));
    }
    let Some((number, per)) = text.split_once('/') else {
        return Err(match text.parse::<u64>() {
            Ok(_) => format!("`{text}` in which time? write `\"{text}/s\"` or `\"{text}/m\"`"),
            Err(_) => format!("`{text}` is not a rate: write for example `\"100/s\"`"),
        });
    };
    let digits: String = number.chars().filter(|char| *char != '_').collect();
    if digits.is_empty() || !digits.chars().all(|char| char.is_ascii_digit()) {
        return Err(format!(
            "`{number}` is not a number of calls: write for example `\"100/{per}\"`"
        ));
    }
    if per.is_empty() {
        return Err(format!("`{text}` in which time? write `\"{text}s\"`"));
    }
    let number: u32 = digits
        .parse()
        .map_err(|_| format!("`{digits}` is too large for a rate"))?;
    // `100/s` is `100/1s`.
    let per = if per.starts_with(|char: char| char.is_ascii_digit()) {
        parse_duration(per)
    } else {
        parse_duration(&format!("1{per}"))
            .map_err(|error| error.replace("did you mean `1", &format!("did you mean `{number}/")))
    }?;
    if number == 0 {
        return Err("a rate of 0 would let nothing through: use 1 or more".into());
    }
    if per.is_zero() {
        return Err("the time of a rate must be longer than zero: write for example `/s`".into());
    }
    Ok(Rate { number, per })
}

#[cfg(test)]
mod tests {
    use syn::parse_quote;

    use super::*;

    #[test]
    fn a_rate_is_a_number_and_a_time() {
        for (text, number, per) in [
            ("100/s", 100, 1),
            ("5_000/h", 5000, 3600),
            ("60/m", 60, 60),
            ("3/10s", 3, 10),
            ("1/1m30s", 1, 90),
        ] {
            let expected = Rate {
                number,
                per: Duration::from_secs(per),
            };
            assert_eq!(parse(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn what_is_no_rate_is_told_what_to_write() {
        for (text, expected) in [
            (
                "100",
                "`100` in which time? write `\"100/s\"` or `\"100/m\"`",
            ),
            ("100/", "`100/` in which time? write `\"100/s\"`"),
            (
                "fast",
                "`fast` is not a rate: write for example `\"100/s\"`",
            ),
            (
                "/s",
                "`` is not a number of calls: write for example `\"100/s\"`",
            ),
            (
                "1.5/s",
                "`1.5` is not a number of calls: write for example `\"100/s\"`",
            ),
            (
                "0/s",
                "a rate of 0 would let nothing through: use 1 or more",
            ),
            (
                "5/0s",
                "the time of a rate must be longer than zero: write for example `/s`",
            ),
            ("100 / s", "a rate has no spaces: write `\"100/s\"`"),
            ("100/sec", "unknown unit `sec`: did you mean `100/s`?"),
            ("9999999999/s", "`9999999999` is too large for a rate"),
        ] {
            assert_eq!(parse(text), Err(expected.into()), "{text}");
        }
    }

    #[test]
    fn a_number_alone_is_asked_for_its_time() {
        let said = |expr| match rate(expr) {
            Ok(Value::Code(_)) => "code".to_owned(),
            Ok(Value::Known(..)) => "known".to_owned(),
            Err(error) => error.to_string(),
        };
        assert_eq!(said(parse_quote!("5/s")), "known");
        assert_eq!(said(parse_quote!(RATE)), "code");
        assert_eq!(
            said(parse_quote!(100)),
            "`100` in which time? write `\"100/s\"` or `\"100/m\"`"
        );
        assert_eq!(
            said(parse_quote!(true)),
            "a rate is so many calls in a time, such as `\"100/s\"`"
        );
    }
}
