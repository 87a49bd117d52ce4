//! What is said where an attribute stands on something that is no function.

use proc_macro2::TokenTree;
use syn::Token;
use syn::parse::ParseStream;

use crate::kind::Kind;

/// What it is, and where the attribute belongs.
pub(super) fn message(kind: Kind, input: ParseStream<'_>) -> String {
    let name = kind.name();
    let next: Option<TokenTree> = input.fork().parse().ok();
    let (what, advice) = match next.map(|token| token.to_string()).as_deref() {
        Some("struct") => ("a struct", "the methods that make the calls"),
        Some("enum") => ("an enum", "the methods that make the calls"),
        Some("union") => ("a union", "the functions that make the calls"),
        Some("type") => ("a type alias", "the functions that make the calls"),
        Some("impl") => ("an `impl` block", "each method that makes a call"),
        Some("trait") => ("a trait", "the methods that implement it"),
        Some("mod") => ("a module", "the functions in it"),
        Some("use") => ("an import", "the function where it is written"),
        Some("static") => ("a static", "a function"),
        Some("const") => ("a constant", "a function"),
        Some("extern") => ("a foreign item", "a function of yours that calls it"),
        Some("macro_rules" | "macro") => ("a macro", "the function that it makes"),
        Some("let") => ("a `let` statement", "a function"),
        Some("unsafe") if input.peek2(Token![extern]) => {
            ("a foreign item", "a function of yours that calls it")
        }
        Some("unsafe") if input.peek2(Token![impl]) => {
            ("an `impl` block", "each method that makes a call")
        }
        Some("unsafe") if input.peek2(Token![trait]) => {
            ("a trait", "the methods that implement it")
        }
        _ if input.peek2(Token![!]) || input.peek2(Token![::]) => {
            ("a macro call", "the function that it makes")
        }
        _ => {
            return format!(
                "`#[{name}]` guards a function: put it on the function that makes the call"
            );
        }
    };
    format!("`#[{name}]` guards a function, and this is {what}: put it on {advice}")
}
