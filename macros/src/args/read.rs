//! The syntax of the values: expressions, predicates, closures and words.

use proc_macro2::Span;
use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::Expr;
use syn::Ident;
use syn::LitStr;
use syn::Pat;
use syn::Path;
use syn::Token;
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::token;

use crate::args::Callable;
use crate::args::Fallback;
use crate::args::Flag;
use crate::args::Names;
use crate::args::OnCancel;
use crate::args::Predicate;
use crate::args::Switch;
use crate::args::When;
use crate::value::bare;

/// How a key is written, for messages.
pub(super) struct Spelling<'a> {
    pub(super) key: &'a Ident,
    pub(super) example: &'a str,
}

impl Spelling<'_> {
    fn equals(&self, input: ParseStream<'_>) -> syn::Result<()> {
        let Self { key, example } = self;
        if input.peek(Token![=]) {
            input.parse::<Token![=]>()?;
            if input.is_empty() || input.peek(Token![,]) {
                return Err(syn::Error::new(
                    key.span(),
                    format!("`{key}` has no value: write for example `{example}`"),
                ));
            }
            return Ok(());
        }
        let message = if input.is_empty() || input.peek(Token![,]) {
            format!("`{key}` has no value: write for example `{example}`")
        } else {
            format!("`{key}` takes its value after an equals sign: `{example}`")
        };
        Err(syn::Error::new(key.span(), message))
    }

    fn wrong(&self, span: Span, what: &str) -> syn::Error {
        syn::Error::new(
            span,
            format!("`{}` {what}, such as `{}`", self.key, self.example),
        )
    }
}

/// Reads the value of a key, its equals sign included.
pub(super) trait Read: Sized {
    fn read(spelling: &Spelling<'_>, input: ParseStream<'_>) -> syn::Result<Self>;
}

impl Read for Flag {
    fn read(spelling: &Spelling<'_>, input: ParseStream<'_>) -> syn::Result<Self> {
        if input.is_empty() || input.peek(Token![,]) {
            return Ok(Self);
        }
        let key = spelling.key;
        let message = format!("`{key}` is a flag: write `{key}` alone, or leave it out");
        Err(syn::Error::new(key.span(), message))
    }
}

impl Read for Switch {
    fn read(spelling: &Spelling<'_>, input: ParseStream<'_>) -> syn::Result<Self> {
        if input.is_empty() || input.peek(Token![,]) {
            return Ok(Self::Literal(true));
        }
        spelling.equals(input)?;
        match bare(input.parse()?) {
            Expr::Lit(syn::ExprLit {
                lit: syn::Lit::Bool(value),
                ..
            }) => Ok(Self::Literal(value.value)),
            Expr::Lit(other) => Err(syn::Error::new_spanned(
                other,
                format!("`{}` is `true` or `false`, or stands alone", spelling.key),
            )),
            code => Ok(Self::Code(code)),
        }
    }
}

impl Read for Expr {
    fn read(spelling: &Spelling<'_>, input: ParseStream<'_>) -> syn::Result<Self> {
        spelling.equals(input)?;
        no_bare_percentage(spelling, input)?;
        input.parse()
    }
}

/// `50%` would be read as a remainder that has lost its divisor.
fn no_bare_percentage(spelling: &Spelling<'_>, input: ParseStream<'_>) -> syn::Result<()> {
    let ahead = input.fork();
    let number: syn::Result<syn::Lit> = ahead.parse();
    let percent: syn::Result<Token![%]> = ahead.parse();
    match (number, percent) {
        (Ok(number), Ok(_)) if ahead.is_empty() || ahead.peek(Token![,]) => {
            let (key, percentage) = (spelling.key, number.to_token_stream());
            let message =
                format!("a percentage stands in quotes: write `{key} = \"{percentage}%\"`");
            Err(syn::Error::new(number.span(), message))
        }
        _ => Ok(()),
    }
}

impl Read for LitStr {
    fn read(spelling: &Spelling<'_>, input: ParseStream<'_>) -> syn::Result<Self> {
        spelling.equals(input)?;
        match bare(input.parse()?) {
            Expr::Lit(syn::ExprLit {
                lit: syn::Lit::Str(text),
                ..
            }) => Ok(text),
            other => Err(spelling.wrong(other.span(), "is a string literal")),
        }
    }
}

impl Read for Path {
    fn read(spelling: &Spelling<'_>, input: ParseStream<'_>) -> syn::Result<Self> {
        spelling.equals(input)?;
        if input.peek(LitStr) {
            let text: LitStr = input.parse()?;
            let path = text.value();
            let root = if path.contains("::") { "" } else { "::" };
            let message = format!(
                "a path has no quotes: write `{} = {root}{path}`",
                spelling.key
            );
            return Err(syn::Error::new(text.span(), message));
        }
        input.call(Self::parse_mod_style)
    }
}

impl Read for Predicate {
    fn read(spelling: &Spelling<'_>, input: ParseStream<'_>) -> syn::Result<Self> {
        spelling.equals(input)?;
        if input.peek(word::matches) && input.peek2(Token![!]) {
            return Err(syn::Error::new(
                input.span(),
                format!(
                    "the error is understood: write `{} = matches(PATTERN)`, without `!`",
                    spelling.key
                ),
            ));
        }
        if input.peek(word::matches) && input.peek2(token::Paren) {
            input.parse::<word::matches>()?;
            let content;
            let parens = syn::parenthesized!(content in input);
            if content.is_empty() {
                return Err(syn::Error::new(
                    parens.span.join(),
                    "`matches()` needs a pattern",
                ));
            }
            return read_pattern(spelling.key, &content);
        }
        Ok(
            match Callable::parse(
                spelling,
                input,
                "is a path, a closure or `matches(PATTERN)`",
            )? {
                Callable::Path(path) => Self::Path(path),
                Callable::Closure(closure) => Self::Closure(closure),
            },
        )
    }
}

fn read_pattern(key: &Ident, content: ParseStream<'_>) -> syn::Result<Predicate> {
    let pattern = Pat::parse_multi_with_leading_vert(content)?;
    let catch_all = match &pattern {
        Pat::Wild(_) => Some("`_`".to_owned()),
        // A lone name that starts in upper case is a constant or a unit variant.
        Pat::Ident(name) if name.subpat.is_none() && is_lower_case(&name.ident) => {
            Some(format!("`{}`", name.ident))
        }
        _ => None,
    };
    let guard = if content.peek(Token![if]) {
        content.parse::<Token![if]>()?;
        Some(Box::new(content.parse()?))
    } else {
        None
    };
    if !content.is_empty() {
        let span = content.span();
        let _: TokenStream = content.parse()?;
        return Err(syn::Error::new(
            span,
            "one pattern was expected: separate alternatives with `|`",
        ));
    }
    match catch_all {
        Some(name) if guard.is_none() => {
            let message = match name.as_str() {
                "`_`" => {
                    format!("`_` matches every error: leave `{key}` out, or name some of them")
                }
                name => format!(
                    "{name} is a new variable here and matches every error: write `{key} = {}`",
                    name.trim_matches('`')
                ),
            };
            Err(syn::Error::new(pattern.span(), message))
        }
        _ => Ok(Predicate::Pattern {
            pattern: Box::new(pattern),
            guard,
        }),
    }
}

fn is_lower_case(name: &Ident) -> bool {
    !name.unraw().to_string().starts_with(char::is_uppercase)
}

impl Callable {
    fn parse(spelling: &Spelling<'_>, input: ParseStream<'_>, what: &str) -> syn::Result<Self> {
        match bare(input.parse()?) {
            Expr::Path(path) => Ok(Self::Path(path)),
            Expr::Closure(closure) => Ok(Self::Closure(closure)),
            other => Err(spelling.wrong(other.span(), what)),
        }
    }
}

impl Read for Callable {
    fn read(spelling: &Spelling<'_>, input: ParseStream<'_>) -> syn::Result<Self> {
        spelling.equals(input)?;
        Self::parse(spelling, input, "is a path or a closure")
    }
}

impl Read for Fallback {
    fn read(spelling: &Spelling<'_>, input: ParseStream<'_>) -> syn::Result<Self> {
        spelling.equals(input)?;
        Ok(match bare(input.parse()?) {
            Expr::Closure(closure) => Self::Closure(closure),
            value => Self::Value(value),
        })
    }
}

impl Read for Names {
    fn read(spelling: &Spelling<'_>, input: ParseStream<'_>) -> syn::Result<Self> {
        let Spelling { key, example } = spelling;
        if !input.peek(token::Paren) {
            let message = format!("`{key}` takes names in parentheses: `{example}`");
            return Err(syn::Error::new(key.span(), message));
        }
        let content;
        let parens = syn::parenthesized!(content in input);
        let names =
            Punctuated::<Ident, Token![,]>::parse_terminated_with(&content, Ident::parse_any);
        let names = names.map_err(|error| {
            let message = format!("`{key}` takes names of arguments: `{example}`");
            // What is left would be taken for a second mistake.
            let _: syn::Result<TokenStream> = content.parse();
            syn::Error::new(error.span(), message)
        })?;
        if names.is_empty() {
            let message = format!("`{key}` names the arguments to clone: `{example}`");
            return Err(syn::Error::new(parens.span.join(), message));
        }
        Ok(Self(names.into_iter().collect()))
    }
}

impl Read for When {
    fn read(spelling: &Spelling<'_>, input: ParseStream<'_>) -> syn::Result<Self> {
        // A breaker alone has no timeout: there the name is the user's.
        let has_timeouts = spelling.key == "when";
        if input.peek(Token![=]) && input.peek2(LitStr) {
            input.parse::<Token![=]>()?;
            let text: LitStr = input.parse()?;
            let message = format!(
                "no quotes here: write `{} = {}`",
                spelling.key,
                text.value()
            );
            return Err(syn::Error::new(text.span(), message));
        }
        let predicate =
            Predicate::read(spelling, input).map_err(|error| match error.to_string() {
                text if text.contains("is a path, a closure") => syn::Error::new(
                    error.span(),
                    format!(
                        "`{}` is `rejected`, {}`failed`, `any` or a predicate about the error",
                        spelling.key,
                        if has_timeouts { "`timed_out`, " } else { "" },
                    ),
                ),
                _ => error,
            })?;
        Ok(match &predicate {
            Predicate::Path(path) if path.path.is_ident("rejected") => Self::Rejected,
            Predicate::Path(path) if has_timeouts && path.path.is_ident("timed_out") => {
                Self::TimedOut
            }
            Predicate::Path(path) if path.path.is_ident("failed") => Self::Failed,
            Predicate::Path(path) if path.path.is_ident("any") => Self::Any,
            _ => Self::Predicate(predicate),
        })
    }
}

impl Read for OnCancel {
    fn read(spelling: &Spelling<'_>, input: ParseStream<'_>) -> syn::Result<Self> {
        spelling.equals(input)?;
        let span = input.span();
        let wrong = || {
            syn::Error::new(
                span,
                "`on_cancel` is `ignore`, `failure` or `after(\"2s\")`",
            )
        };
        let word = input.call(Ident::parse_any).map_err(|_| wrong())?;
        match word.to_string().as_str() {
            "ignore" => Ok(Self::Ignore),
            "failure" => Ok(Self::Failure),
            "after" if input.peek(token::Paren) => {
                let content;
                let parens = syn::parenthesized!(content in input);
                if content.is_empty() {
                    return Err(syn::Error::new(
                        parens.span.join(),
                        "`after` needs a duration: `after(\"2s\")`",
                    ));
                }
                let after = content.parse()?;
                if content.is_empty() {
                    return Ok(Self::After(after));
                }
                let span = content.span();
                let _: TokenStream = content.parse()?;
                Err(syn::Error::new(
                    span,
                    "`after` takes one duration: `after(\"2s\")`",
                ))
            }
            _ => Err(wrong()),
        }
    }
}

mod word {
    syn::custom_keyword!(matches);
}
