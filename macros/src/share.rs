//! Reads the shares and factors of an attribute: `0.5`, `"50%"`, `2`.

use syn::Expr;
use syn::ExprLit;
use syn::ExprUnary;
use syn::Lit;
use syn::UnOp;
use syn::spanned::Spanned;

use crate::value::Value;
use crate::value::bare;

/// A share: `0.5`, `"50%"`, or other code.
pub(crate) fn share(key: &str, expr: Expr) -> syn::Result<Value<f64>> {
    let expr = bare(expr);
    let (lit, span) = match literal(key, &expr)? {
        Some(lit) => (lit, lit.span()),
        None => return Ok(Value::Code(expr)),
    };
    let message = match lit {
        Lit::Float(float) if float.suffix().is_empty() || float.suffix() == "f64" => {
            return Ok(Value::Known(float.base10_parse()?, span));
        }
        Lit::Str(text) => match percent(&text.value()) {
            Ok(share) => return Ok(Value::Known(share, span)),
            Err(message) => message,
        },
        Lit::Int(int) => match int.base10_parse::<u32>() {
            Ok(1) => format!("`{key}` is a share: write `{key} = 1.0` or `{key} = \"100%\"`"),
            Ok(percent @ 2..=100) => {
                format!("`{key}` is a share: did you mean `{key} = \"{percent}%\"`?")
            }
            _ => format!("`{key}` is a share, such as `{key} = 0.5` or `{key} = \"50%\"`"),
        },
        Lit::Float(float) => {
            let digits = float.base10_digits();
            format!(
                "`{key}` is an `f64`: write `{digits}` without `{}`",
                float.suffix()
            )
        }
        _ => format!("`{key}` is a share, such as `{key} = 0.5` or `{key} = \"50%\"`"),
    };
    Err(syn::Error::new(span, message))
}

/// A factor: `2`, `1.5`, or other code.
pub(crate) fn factor(key: &str, expr: Expr) -> syn::Result<Value<f64>> {
    let expr = bare(expr);
    let (lit, span) = match literal(key, &expr)? {
        Some(lit) => (lit, lit.span()),
        None => return Ok(Value::Code(expr)),
    };
    match lit {
        Lit::Float(float) if float.suffix().is_empty() || float.suffix() == "f64" => {
            Ok(Value::Known(float.base10_parse()?, span))
        }
        Lit::Int(int) if int.suffix().is_empty() => Ok(Value::Known(int.base10_parse()?, span)),
        _ => Err(syn::Error::new(
            span,
            format!("`{key}` is a factor, such as `{key} = 2` or `{key} = 1.5`"),
        )),
    }
}

/// The literal that an expression is, if it is one.
fn literal<'e>(key: &str, expr: &'e Expr) -> syn::Result<Option<&'e Lit>> {
    match expr {
        Expr::Lit(ExprLit { lit, .. }) => Ok(Some(lit)),
        Expr::Unary(ExprUnary {
            op: UnOp::Neg(_),
            expr: operand,
            ..
        }) if matches!(**operand, Expr::Lit(_)) => Err(syn::Error::new(
            expr.span(),
            format!("`{key}` cannot be negative"),
        )),
        _ => Ok(None),
    }
}

/// `50%` or `0.5%` as a share.
fn percent(text: &str) -> Result<f64, String> {
    let wrong = || format!("`{text}` is not a share: write for example `0.5` or `\"50%\"`");
    let number = text.strip_suffix('%').ok_or_else(wrong)?;
    let is_plain = number
        .chars()
        .all(|char| char.is_ascii_digit() || char == '.');
    match number.parse::<f64>() {
        // Divided, so that it is the same number as the decimal one.
        Ok(number) if is_plain => Ok(number / 100.0),
        _ => Err(wrong()),
    }
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
        let share = |expr| known(share("failure_rate", expr));
        assert_eq!(share(parse_quote!(0.5)), Ok(0.5));
        assert_eq!(share(parse_quote!("50%")), Ok(0.5));
        assert_eq!(share(parse_quote!("10%")), Ok(0.1));
        assert_eq!(share(parse_quote!("12.5%")), Ok(0.125));
        assert_eq!(share(parse_quote!(RATE)), Err("code".to_owned()));
        for (expr, message) in [
            (
                parse_quote!(50),
                "`failure_rate` is a share: did you mean `failure_rate = \"50%\"`?",
            ),
            (
                parse_quote!(1),
                "`failure_rate` is a share: write `failure_rate = 1.0` or `failure_rate = \"100%\"`",
            ),
            (
                parse_quote!("0.5"),
                "`0.5` is not a share: write for example `0.5` or `\"50%\"`",
            ),
            (
                parse_quote!("-5%"),
                "`-5%` is not a share: write for example `0.5` or `\"50%\"`",
            ),
            (parse_quote!(-0.5), "`failure_rate` cannot be negative"),
            (
                parse_quote!(0.5f32),
                "`failure_rate` is an `f64`: write `0.5` without `f32`",
            ),
            (
                parse_quote!(true),
                "`failure_rate` is a share, such as `failure_rate = 0.5` or `failure_rate = \"50%\"`",
            ),
        ] {
            assert_eq!(share(expr), Err(message.to_owned()));
        }
    }

    #[test]
    fn a_factor_may_be_whole() {
        let factor = |expr| known(factor("backoff", expr));
        assert_eq!(factor(parse_quote!(2)), Ok(2.0));
        assert_eq!(factor(parse_quote!(1.5)), Ok(1.5));
        assert_eq!(factor(parse_quote!(GROWTH)), Err("code".to_owned()));
        let message = "`backoff` is a factor, such as `backoff = 2` or `backoff = 1.5`";
        assert_eq!(factor(parse_quote!("2")), Err(message.to_owned()));
    }
}
