//! The syntax of the attribute's arguments: `key = value` pairs and flags.

use proc_macro2::Span;
use proc_macro2::TokenStream;
use proc_macro2::TokenTree;
use syn::Expr;
use syn::ExprClosure;
use syn::ExprPath;
use syn::Ident;
use syn::LitStr;
use syn::Pat;
use syn::Path;
use syn::Token;
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::parse::Parser;
use syn::spanned::Spanned;
use syn::token;

use crate::errors::Errors;
use crate::errors::nearest;
use crate::value::bare;

/// A value, and the key it was written with.
pub(crate) struct Given<T> {
    pub(crate) key: Ident,
    pub(crate) value: T,
}

/// A key that stands alone.
pub(crate) struct Flag;

/// A question about an error.
pub(crate) enum Predicate {
    Path(ExprPath),
    Closure(ExprClosure),
    Pattern {
        pattern: Box<Pat>,
        guard: Option<Box<Expr>>,
    },
}

/// A function by name or on the spot.
pub(crate) enum Callable {
    Path(ExprPath),
    Closure(ExprClosure),
}

/// What the caller gets in place of the function's own output.
pub(crate) enum Fallback {
    Value(Expr),
    Closure(ExprClosure),
}

/// The occasions for the fallback.
pub(crate) enum When {
    Rejected,
    Failed,
    Any,
    Predicate(Predicate),
}

/// What a dropped call counts as.
pub(crate) enum OnCancel {
    Ignore,
    Failure,
    After(Expr),
}

/// Declares the keys once: the fields, the reader and the list for suggestions.
macro_rules! keys {
    ($($name:literal $field:ident: $value:ty, $example:literal;)*) => {
        /// The arguments as they are written; nothing is judged yet.
        #[derive(Default)]
        pub(crate) struct Args {
            $(pub(crate) $field: Option<Given<$value>>,)*
        }

        const KEYS: &[&str] = &[$($name),*];

        impl Args {
            fn read_value(&mut self, key: Ident, input: ParseStream<'_>, errors: &mut Errors) {
                match key.to_string().as_str() {
                    $($name => {
                        let value = <$value>::read(&Spelling { key: &key, example: $example }, input);
                        put(&mut self.$field, key, errors.keep(value), errors);
                    })*
                    unknown => errors.at(key.span(), unknown_key(unknown)),
                }
            }
        }
    };
}

keys! {
    "service" service: Expr, "service = \"name\"";
    "handle" handle: Expr, "handle = self.breaker";
    "threshold" threshold: Expr, "threshold = 5";
    "cooldown" cooldown: Expr, "cooldown = \"60s\"";
    "probes" probes: Expr, "probes = 1";
    "probe_concurrency" probe_concurrency: Expr, "probe_concurrency = 1";
    "close_after" close_after: Expr, "close_after = 1";
    "probe_timeout" probe_timeout: Expr, "probe_timeout = \"30s\"";
    "max_open_for" max_open_for: Expr, "max_open_for = \"1h\"";
    "fails_on" fails_on: Predicate, "fails_on = is_failure";
    "ignores" ignores: Predicate, "ignores = is_not_their_fault";
    "classify" classify: Callable, "classify = verdict_of";
    "on_cancel" on_cancel: OnCancel, "on_cancel = after(\"2s\")";
    "map_rejected" map_rejected: Callable, "map_rejected = |rejected| MyError::Unavailable";
    "fallback" fallback: Fallback, "fallback = Ok(cached)";
    "fallback_when" fallback_when: When, "fallback_when = any";
    "wrap_error" wrap_error: Flag, "wrap_error";
    "operation" operation: LitStr, "operation = \"name\"";
    "boxed" boxed: Flag, "boxed";
    "crate" krate: Path, "crate = ::breakerbox";
}

/// Names that other crates give to our keys.
const OTHER_NAMES: [(&str, &str); 21] = [
    ("name", "service"),
    ("breaker", "handle"),
    ("failures", "threshold"),
    ("max_failures", "threshold"),
    ("failure_threshold", "threshold"),
    ("open_for", "cooldown"),
    ("open_duration", "cooldown"),
    ("reset_timeout", "cooldown"),
    ("recovery_timeout", "cooldown"),
    ("wait_duration", "cooldown"),
    ("half_open_calls", "probes"),
    ("half_open_max_calls", "probes"),
    ("permitted_calls_in_half_open", "probes"),
    ("success_threshold", "close_after"),
    ("failure_predicate", "fails_on"),
    ("is_failure", "fails_on"),
    ("fails_if", "fails_on"),
    ("failure_if", "fails_on"),
    ("ignore", "ignores"),
    ("on_rejected", "map_rejected"),
    ("label", "operation"),
];

impl Args {
    /// Reads all arguments; what cannot be read is noted and passed over.
    pub(crate) fn read(tokens: TokenStream, errors: &mut Errors) -> Self {
        let mut args = Self::default();
        let parser = |input: ParseStream<'_>| {
            while !input.is_empty() {
                args.read_one(input, errors);
            }
            Ok(())
        };
        let parsed = parser.parse2(tokens);
        errors.keep(parsed);
        args
    }

    fn read_one(&mut self, input: ParseStream<'_>, errors: &mut Errors) {
        let before = errors.count();
        match input.call(Ident::parse_any) {
            Ok(key) => self.read_value(key, input, errors),
            Err(_) => errors.at(input.span(), not_a_key(input)),
        }
        // What follows a value that could not be read says nothing more.
        if errors.count() > before {
            skip_to_comma(input);
        } else if let Some(message) = not_a_comma(input) {
            errors.at(input.span(), message);
            if starts_a_key(input) {
                return;
            }
            skip_to_comma(input);
        }
        let _: syn::Result<Option<Token![,]>> = input.parse();
    }
}

fn not_a_key(input: ParseStream<'_>) -> &'static str {
    if input.peek(Token![,]) {
        "a key is missing before this comma"
    } else if input.peek(LitStr) {
        "a value without a key: did you mean `service = ..`?"
    } else {
        "a key was expected here, such as `service = \"name\"`"
    }
}

fn not_a_comma(input: ParseStream<'_>) -> Option<&'static str> {
    if input.is_empty() || input.peek(Token![,]) {
        None
    } else if starts_a_key(input) {
        Some("a comma is missing before this key")
    } else {
        Some("a comma or the end was expected here")
    }
}

fn starts_a_key(input: ParseStream<'_>) -> bool {
    let key = input.fork().call(Ident::parse_any);
    key.is_ok_and(|key| KEYS.contains(&key.to_string().as_str()))
}

fn skip_to_comma(input: ParseStream<'_>) {
    while !input.is_empty() && !input.peek(Token![,]) {
        let _: syn::Result<TokenTree> = input.parse();
    }
}

/// The one check for keys that are given twice.
fn put<T>(slot: &mut Option<Given<T>>, key: Ident, value: Option<T>, errors: &mut Errors) {
    if slot.is_some() {
        errors.at(key.span(), format!("`{key}` is given twice"));
    } else if let Some(value) = value {
        *slot = Some(Given { key, value });
    }
}

fn unknown_key(key: &str) -> String {
    let renamed = OTHER_NAMES
        .iter()
        .find(|(other, _)| *other == key)
        .map(|(_, ours)| *ours);
    match renamed.or_else(|| nearest(key, KEYS.iter().copied())) {
        Some(meant) => format!("unknown key `{key}`: did you mean `{meant}`?"),
        None => format!("unknown key `{key}`: the keys are {}", KEYS.join(", ")),
    }
}

/// How a key is written, for messages.
struct Spelling<'a> {
    key: &'a Ident,
    example: &'a str,
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
trait Read: Sized {
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

impl Read for Expr {
    fn read(spelling: &Spelling<'_>, input: ParseStream<'_>) -> syn::Result<Self> {
        spelling.equals(input)?;
        input.parse()
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
            let message = format!(
                "a path has no quotes: write `{} = {}`",
                spelling.key,
                text.value()
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
        return Err(syn::Error::new(
            content.span(),
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

impl Read for When {
    fn read(spelling: &Spelling<'_>, input: ParseStream<'_>) -> syn::Result<Self> {
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
                        "`{}` is `rejected`, `failed`, `any` or a predicate about the error",
                        spelling.key
                    ),
                ),
                _ => error,
            })?;
        Ok(match &predicate {
            Predicate::Path(path) if path.path.is_ident("rejected") => Self::Rejected,
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
                    Ok(Self::After(after))
                } else {
                    Err(syn::Error::new(
                        content.span(),
                        "`after` takes one duration: `after(\"2s\")`",
                    ))
                }
            }
            _ => Err(wrong()),
        }
    }
}

mod word {
    syn::custom_keyword!(matches);
}

/// The arguments and what is wrong with them.
#[cfg(test)]
pub(crate) fn read_args(tokens: TokenStream) -> (Args, Vec<String>) {
    let mut errors = Errors::default();
    let args = Args::read(tokens, &mut errors);
    (args, errors.messages())
}
