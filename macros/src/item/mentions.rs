//! Whether code speaks of a variable.

use proc_macro2::TokenStream;
use proc_macro2::TokenTree;
use syn::Ident;
use syn::ext::IdentExt;

/// Whether a name stands anywhere in the tokens, also in a format string.
///
/// It may be another variable's name; a macro may speak of the variable where nothing
/// is seen. Neither may do harm.
pub(crate) fn mentions(tokens: &TokenStream, name: &Ident) -> bool {
    let name = name.unraw().to_string();
    any(tokens, &name, &format!("{{{name}"))
}

fn any(tokens: &TokenStream, name: &str, in_text: &str) -> bool {
    tokens.clone().into_iter().any(|token| match token {
        TokenTree::Ident(ident) => ident.unraw() == name,
        TokenTree::Literal(literal) => literal.to_string().contains(in_text),
        TokenTree::Group(group) => any(&group.stream(), name, in_text),
        TokenTree::Punct(_) => false,
    })
}

#[cfg(test)]
mod tests {
    use proc_macro2::Span;
    use quote::quote;

    use super::*;

    #[test]
    fn a_name_is_found_in_code_and_in_format_strings() {
        let name = Ident::new("limit", Span::call_site());
        for tokens in [
            quote!(a + limit),
            quote!(|e| { e > (r#limit) }),
            quote!(format!("{limit:?}")),
        ] {
            assert!(mentions(&tokens, &name), "{tokens}");
        }
        for tokens in [quote!(), quote!(limits + "limit"), quote!("{ limit }")] {
            assert!(!mentions(&tokens, &name), "{tokens}");
        }
    }
}
