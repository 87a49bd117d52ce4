//! Reads the shares and factors of an attribute: `0.5`, `"50%"`, `2`.

use proc_macro2::Span;
use syn::Expr;
use syn::ExprLit;
use syn::ExprUnary;
use syn::Lit;
use syn::LitFloat;
use syn::UnOp;

use crate::value::Value;
use crate::value::bare;

/// What a share is of, which decides whether it may be nothing.
#[derive(Clone, Copy)]
pub(crate) enum Share {
    /// Of calls, at which something happens: of none it always would.
    Rate,
    /// Of a duration, that is added to it.
    Part,
}

impl Share {
    const fn range(self) -> &'static str {
        match self {
            Self::Rate => "above 0 and up to 1, such as 0.5",
            Self::Part => "from 0 to 1, such as 0.1",
        }
    }

    /// Says what is wrong with a number, as far as something is.
    fn judge(self, key: &str, share: f64) -> Result<f64, String> {
        let too_small = match self {
            Self::Rate => share <= 0.0,
            Self::Part => share < 0.0,
        };
        if too_small || share > 1.0 {
            return Err(format!("`{key}` is a share {}", self.range()));
        }
        Ok(share)
    }
}

/// A share: `0.5`, `"50%"`, or other code.
pub(crate) fn share(key: &str, expr: Expr, kind: Share) -> syn::Result<Value<f64>> {
    let expr = bare(expr);
    let Some((lit, span)) = literal(key, &expr)? else {
        return Ok(Value::Code(expr));
    };
    let share = match lit {
        Lit::Float(float) => decimal(key, float).and_then(|share| match kind.judge(key, share) {
            Err(_) if (2.0..=100.0).contains(&share) => Err(format!(
                "`{key}` is at most 1: did you mean `\"{share}%\"`?"
            )),
            judged => judged,
        }),
        Lit::Str(text) => percentage(key, &text.value(), kind),
        Lit::Int(int) => Err(match (int.base10_parse::<u32>(), kind) {
            (Ok(0), Share::Part) => {
                format!("`{key}` is a share: write `{key} = 0.0`, or leave it out")
            }
            (Ok(1), _) => {
                format!("`{key}` is a share: write `{key} = 1.0` or `{key} = \"100%\"`")
            }
            (Ok(percent @ 2..=100), _) => {
                format!("`{key}` is a share: did you mean `{key} = \"{percent}%\"`?")
            }
            _ => format!("`{key}` is a share {}", kind.range()),
        }),
        _ => Err(format!(
            "`{key}` is a share, such as `{key} = 0.5` or `{key} = \"50%\"`"
        )),
    };
    match share {
        Ok(share) => Ok(Value::Known(share, span)),
        Err(message) => Err(syn::Error::new(span, message)),
    }
}

/// A factor: `2`, `1.5`, or other code.
pub(crate) fn factor(key: &str, expr: Expr) -> syn::Result<Value<f64>> {
    let expr = bare(expr);
    let Some((lit, span)) = literal(key, &expr)? else {
        return Ok(Value::Code(expr));
    };
    let message = match lit {
        Lit::Float(float) => match decimal(key, float) {
            Ok(factor) => return Ok(Value::Known(factor, span)),
            Err(message) => message,
        },
        Lit::Int(int) if int.suffix().is_empty() => {
            return Ok(Value::Known(int.base10_parse()?, span));
        }
        Lit::Int(int) => {
            let (digits, suffix) = (int.base10_digits(), int.suffix());
            format!("`{key}` is an `f64`: write `{digits}` without `{suffix}`")
        }
        Lit::Str(text) if plain(&text.value()).is_some() => {
            let number = text.value();
            format!("`{key}` is a factor: write `{key} = {number}` without quotes")
        }
        _ => format!("`{key}` is a factor, such as `{key} = 2` or `{key} = 1.5`"),
    };
    Err(syn::Error::new(span, message))
}

/// The literal that an expression is, if it is one.
fn literal<'e>(key: &str, expr: &'e Expr) -> syn::Result<Option<(&'e Lit, Span)>> {
    match expr {
        Expr::Lit(ExprLit { lit, .. }) => Ok(Some((lit, lit.span()))),
        Expr::Unary(ExprUnary {
            op: UnOp::Neg(minus),
            expr: operand,
            ..
        }) if matches!(**operand, Expr::Lit(_)) => Err(syn::Error::new(
            minus.span,
            format!("`{key}` cannot be negative"),
        )),
        _ => Ok(None),
    }
}

fn decimal(key: &str, float: &LitFloat) -> Result<f64, String> {
    let (digits, suffix) = (float.base10_digits(), float.suffix());
    match (suffix, digits.parse()) {
        ("" | "f64", Ok(number)) => Ok(number),
        _ => Err(format!(
            "`{key}` is an `f64`: write `{digits}` without `{suffix}`"
        )),
    }
}

/// `50%` or `0.5%` as a share.
fn percentage(key: &str, text: &str, kind: Share) -> Result<f64, String> {
    if text.contains(char::is_whitespace) {
        let joined: String = text.split_whitespace().collect();
        return Err(match percentage(key, &joined, kind) {
            Ok(_) => format!("a percentage has no spaces: write `\"{joined}\"`"),
            Err(message) => message,
        });
    }
    let percent = text.strip_suffix('%');
    match (percent.map(plain), plain(text)) {
        // Divided, so that it is the same number as the decimal one.
        (Some(Some(percent)), _) if percent <= 100.0 => kind.judge(key, percent / 100.0),
        (Some(Some(_)), _) => Err(format!("`{key}` is at most `\"100%\"`")),
        (None, Some(share)) if share <= 1.0 && text.contains('.') => {
            Err(format!("a decimal has no quotes: write `{key} = {text}`"))
        }
        (None, Some(percent)) if percent <= 100.0 => Err(format!(
            "`{text}` is not a share: did you mean `\"{text}%\"`?"
        )),
        _ if text.starts_with('-') => Err(format!("`{key}` cannot be negative")),
        _ => Err(format!(
            "`{text}` is not a share: write for example `0.5` or `\"50%\"`"
        )),
    }
}

/// A number of digits and perhaps a point, and nothing else that `f64` knows.
fn plain(text: &str) -> Option<f64> {
    let is_plain = text
        .chars()
        .all(|char| char.is_ascii_digit() || char == '.');
    text.parse().ok().filter(|_| is_plain)
}

#[cfg(test)]
mod tests {
    use syn::parse_quote;

    use super::*;

    fn known(value: syn::Result<Value<f64>>) -> Result<f64, String> {
        match value {
            Ok(Value::Known(number, _)) => Ok(number),
            Ok(Value::Code(_)) => Err("code".to_owned()),
            Err(error) => Err(error.to_string()),
        }
    }

    #[test]
    fn a_share_is_a_decimal_or_a_percentage() {
        let share = |expr| known(share("failure_rate", expr, Share::Rate));
        assert_eq!(share(parse_quote!(0.5)), Ok(0.5));
        assert_eq!(share(parse_quote!(5e-1_f64)), Ok(0.5));
        assert_eq!(share(parse_quote!(1.0)), Ok(1.0));
        assert_eq!(share(parse_quote!("50%")), Ok(0.5));
        assert_eq!(share(parse_quote!("10%")), Ok(0.1));
        assert_eq!(share(parse_quote!("12.5%")), Ok(0.125));
        assert_eq!(share(parse_quote!("100%")), Ok(1.0));
        assert_eq!(share(parse_quote!(RATE)), Err("code".to_owned()));
        assert_eq!(share(parse_quote!(-RATE)), Err("code".to_owned()));
    }

    #[test]
    fn what_is_no_share_is_told_what_to_write() {
        const RANGE: &str = "`failure_rate` is a share above 0 and up to 1, such as 0.5";
        const NEGATIVE: &str = "`failure_rate` cannot be negative";
        let cases: [(Expr, &str); 20] = [
            (
                parse_quote!(50),
                "`failure_rate` is a share: did you mean `failure_rate = \"50%\"`?",
            ),
            (
                parse_quote!(1),
                "`failure_rate` is a share: write `failure_rate = 1.0` or `failure_rate = \"100%\"`",
            ),
            (parse_quote!(0), RANGE),
            (parse_quote!(150), RANGE),
            (parse_quote!(99999999999999999999), RANGE),
            (parse_quote!(0.0), RANGE),
            (parse_quote!(1.01), RANGE),
            (parse_quote!(1e999), RANGE),
            (
                parse_quote!(50.0),
                "`failure_rate` is at most 1: did you mean `\"50%\"`?",
            ),
            (parse_quote!("0%"), RANGE),
            (parse_quote!("150%"), "`failure_rate` is at most `\"100%\"`"),
            (
                parse_quote!("0.5"),
                "a decimal has no quotes: write `failure_rate = 0.5`",
            ),
            (
                parse_quote!("50"),
                "`50` is not a share: did you mean `\"50%\"`?",
            ),
            (
                parse_quote!("50 %"),
                "a percentage has no spaces: write `\"50%\"`",
            ),
            (
                parse_quote!("half"),
                "`half` is not a share: write for example `0.5` or `\"50%\"`",
            ),
            (
                parse_quote!("NaN%"),
                "`NaN%` is not a share: write for example `0.5` or `\"50%\"`",
            ),
            (parse_quote!("-5%"), NEGATIVE),
            (parse_quote!(-0.5), NEGATIVE),
            (
                parse_quote!(0.5f32),
                "`failure_rate` is an `f64`: write `0.5` without `f32`",
            ),
            (
                parse_quote!(true),
                "`failure_rate` is a share, such as `failure_rate = 0.5` or `failure_rate = \"50%\"`",
            ),
        ];
        for (expr, message) in cases {
            let share = known(share("failure_rate", expr, Share::Rate));
            assert_eq!(share, Err(message.to_owned()));
        }
    }

    #[test]
    fn a_part_may_be_nothing() {
        let part = |expr| known(share("jitter", expr, Share::Part));
        assert_eq!(part(parse_quote!(0.0)), Ok(0.0));
        assert_eq!(part(parse_quote!("0%")), Ok(0.0));
        let message = "`jitter` is a share: write `jitter = 0.0`, or leave it out";
        assert_eq!(part(parse_quote!(0)), Err(message.to_owned()));
        let message = "`jitter` is a share from 0 to 1, such as 0.1";
        assert_eq!(part(parse_quote!(1.5)), Err(message.to_owned()));
    }

    #[test]
    fn a_factor_may_be_whole() {
        let factor = |expr| known(factor("backoff", expr));
        assert_eq!(factor(parse_quote!(2)), Ok(2.0));
        assert_eq!(factor(parse_quote!(0x10)), Ok(16.0));
        assert_eq!(factor(parse_quote!(1.5)), Ok(1.5));
        assert_eq!(factor(parse_quote!(GROWTH)), Err("code".to_owned()));
        for (expr, message) in [
            (
                parse_quote!("2"),
                "`backoff` is a factor: write `backoff = 2` without quotes",
            ),
            (
                parse_quote!(2u32),
                "`backoff` is an `f64`: write `2` without `u32`",
            ),
            (parse_quote!(-2), "`backoff` cannot be negative"),
            (
                parse_quote!("200%"),
                "`backoff` is a factor, such as `backoff = 2` or `backoff = 1.5`",
            ),
        ] {
            assert_eq!(factor(expr), Err(message.to_owned()));
        }
    }
}
