//! The arguments of `resilient`: policies, outermost first, and what holds for all of them.

use proc_macro2::TokenStream;
use syn::Path;
use syn::Token;
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::token;

use crate::args::Common;
use crate::args::Table;
use crate::args::table::unknown_key;
use crate::errors::Errors;
use crate::errors::nearest;
use crate::kind::Attribute;
use crate::kind::Kind;

/// The arguments of the attribute that holds the others.
#[derive(Default)]
pub(crate) struct ResilientArgs {
    pub(crate) common: Common,
    pub(crate) policies: Vec<Attribute>,
}

impl Table for ResilientArgs {
    const KEYS: &'static [&'static str] = &[
        "service",
        "map_rejected",
        "wrap_error",
        "operation",
        "boxed",
        "crate",
    ];
    const OTHER_NAMES: &'static [(&'static str, &'static str)] = &[("name", "service")];
    const USUAL: (&'static str, &'static str) = ("service", "service = \"name\"");

    fn read_value(&mut self, key: syn::Ident, input: ParseStream<'_>, errors: &mut Errors) {
        let name = key.to_string();
        if Common::has(&name) {
            self.common.read_value(key, input, errors);
        } else {
            errors.at(key.span(), unknown_key::<Self>(&name));
        }
    }

    /// `retry(..)`, with its path or without.
    fn read_other(&mut self, input: ParseStream<'_>, errors: &mut Errors) -> bool {
        let ahead = input.fork();
        let Ok(path) = ahead.call(Path::parse_mod_style) else {
            return false;
        };
        let Some(last) = path.segments.last() else {
            return false;
        };
        let name = last.ident.unraw().to_string();
        let is_call = ahead.peek(token::Paren);
        let kind = match Kind::named(&name) {
            Some(kind) => kind,
            None if is_call => {
                errors.at(last.ident.span(), unknown_policy(&name));
                return true;
            }
            None => return false,
        };
        if ahead.peek(Token![=]) {
            let message = format!("a policy has its arguments in parentheses: write `{name}(..)`");
            errors.at(last.ident.span(), message);
            return true;
        }
        if kind == Kind::Resilient {
            errors.at(
                last.ident.span(),
                "one `resilient` is enough: write its policies here",
            );
            return true;
        }
        let at = last.ident.span();
        let read = read_policy(input).map(|args| Attribute {
            kind,
            at,
            path: None,
            args,
        });
        self.policies.extend(errors.keep(read));
        true
    }
}

/// The arguments of one policy; one without parentheses has none.
fn read_policy(input: ParseStream<'_>) -> syn::Result<TokenStream> {
    input.call(Path::parse_mod_style)?;
    if !input.peek(token::Paren) {
        return Ok(TokenStream::new());
    }
    let content;
    syn::parenthesized!(content in input);
    content.parse()
}

fn unknown_policy(name: &str) -> String {
    let names = || Kind::policies().map(Kind::name);
    match nearest(name, names()) {
        Some(meant) => format!("unknown policy `{name}`: did you mean `{meant}`?"),
        None => {
            let names: Vec<_> = names().collect();
            format!(
                "unknown policy `{name}`: the policies are {}",
                names.join(", ")
            )
        }
    }
}
