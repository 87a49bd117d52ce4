//! Whether code may end before its last line.

use proc_macro2::TokenStream;
use proc_macro2::TokenTree;

/// Whether a `?` or a `return` stands anywhere in the tokens, or a macro, which may hide one.
pub(crate) fn may_leave(code: &TokenStream) -> bool {
    code.clone().into_iter().any(|token| match token {
        TokenTree::Ident(ident) => ident == "return",
        TokenTree::Punct(punct) => matches!(punct.as_char(), '?' | '!'),
        TokenTree::Group(group) => may_leave(&group.stream()),
        TokenTree::Literal(_) => false,
    })
}

#[cfg(test)]
mod tests {
    use quote::quote;

    use super::*;

    #[test]
    fn code_that_may_end_early_is_told_from_code_that_does_not() {
        for code in [
            quote!(Ok(ask()? + 1)),
            quote!({
                if a {
                    return b;
                }
                c
            }),
            quote!(bail!("no")),
        ] {
            assert!(may_leave(&code), "{code}");
        }
        for code in [quote!(Ok(1)), quote!(ask(a, "return ?").await), quote!()] {
            assert!(!may_leave(&code), "{code}");
        }
    }
}
