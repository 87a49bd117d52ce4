//! One table of keys for each attribute, and the one reader for all of them.

#[cfg(test)]
mod tests;

use proc_macro2::TokenStream;
use proc_macro2::TokenTree;
use syn::Expr;
use syn::Ident;
use syn::Lit;
use syn::LitStr;
use syn::Path;
use syn::Token;
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::parse::Parser;

use crate::args::Callable;
use crate::args::Flag;
use crate::args::Given;
use crate::errors::Errors;
use crate::errors::nearest;

/// The keys of one attribute.
pub(crate) trait Table: Default {
    const KEYS: &'static [&'static str];

    /// Names that other crates give to these keys.
    const OTHER_NAMES: &'static [(&'static str, &'static str)];

    /// What a value without a key was probably meant for, and how that is written.
    const USUAL: (&'static str, &'static str);

    /// Names that the first value of this attribute has elsewhere. It has none here.
    const FIRST_NAMES: &'static [&'static str] = &[];

    /// Reads the value of a key, as far as the key is one of these.
    fn read_value(&mut self, key: Ident, input: ParseStream<'_>, errors: &mut Errors);

    /// Reads what stands first without a key, if this attribute has such a value.
    fn read_first(&mut self, _: ParseStream<'_>, _: &mut Errors) -> bool {
        false
    }

    /// Reads what is no key with a value, if this attribute has such arguments.
    fn read_other(&mut self, _: ParseStream<'_>, _: &mut Errors) -> bool {
        false
    }

    /// Reads all arguments; what cannot be read is noted and passed over.
    fn read(tokens: TokenStream, errors: &mut Errors) -> Self {
        let mut table = Self::default();
        let parser = |input: ParseStream<'_>| {
            let before = errors.count();
            if table.read_first(input, errors) {
                end::<Self>(input, before, errors);
            }
            while !input.is_empty() {
                let before = errors.count();
                read_one(&mut table, input, errors);
                end::<Self>(input, before, errors);
            }
            Ok(())
        };
        let parsed = parser.parse2(tokens);
        errors.keep(parsed);
        table
    }
}

/// What every policy may say about the whole function.
#[derive(Default)]
pub(crate) struct Common {
    pub(crate) service: Option<Given<Expr>>,
    pub(crate) map_rejected: Option<Given<Callable>>,
    pub(crate) wrap_error: Option<Given<Flag>>,
    pub(crate) operation: Option<Given<LitStr>>,
    pub(crate) boxed: Option<Given<Flag>>,
    pub(crate) krate: Option<Given<Path>>,
}

impl Common {
    pub(super) fn has(key: &str) -> bool {
        COMMON.contains(&key)
    }

    /// Reads the value of a key that it has.
    pub(super) fn read_value(&mut self, key: Ident, input: ParseStream<'_>, errors: &mut Errors) {
        let Self {
            service,
            map_rejected,
            wrap_error,
            operation,
            boxed,
            krate,
        } = self;
        match key.to_string().as_str() {
            "service" => read_into(service, "service = \"name\"", key, input, errors),
            "map_rejected" => {
                let example = "map_rejected = |rejected| MyError::Unavailable";
                read_into(map_rejected, example, key, input, errors);
            }
            "wrap_error" => read_into(wrap_error, "wrap_error", key, input, errors),
            "operation" => read_into(operation, "operation = \"name\"", key, input, errors),
            "boxed" => read_into(boxed, "boxed", key, input, errors),
            _ => read_into(krate, "crate = ::breakerbox", key, input, errors),
        }
    }
}

const COMMON: [&str; 6] = [
    "service",
    "map_rejected",
    "wrap_error",
    "operation",
    "boxed",
    "crate",
];

/// Declares the keys of one attribute once: the fields, the reader and the list for
/// suggestions. Every attribute has those of [`Common`], too.
macro_rules! keys {
    (
        $(#[$doc:meta])* $Args:ident, $usual:literal $usually:literal;
        $(first $first:ident: [$($first_name:literal),* $(,)?] $read_first:path;)?
        $($name:literal $field:ident: $value:ty, $example:literal;)*
        others: [$($other:literal => $ours:literal,)*];
    ) => {
        $(#[$doc])*
        #[derive(Default)]
        pub(crate) struct $Args {
            pub(crate) common: $crate::args::Common,
            $(
                /// The value without a key.
                pub(crate) $first: Option<syn::Expr>,
            )?
            $(pub(crate) $field: Option<$crate::args::Given<$value>>,)*
        }

        impl $crate::args::Table for $Args {
            const KEYS: &'static [&'static str] = &[
                "service", $($name,)*
                "map_rejected", "wrap_error", "operation", "boxed", "crate",
            ];
            const OTHER_NAMES: &'static [(&'static str, &'static str)] = &[
                ("name", "service"),
                ("on_rejected", "map_rejected"),
                ("label", "operation"),
                $(($other, $ours),)*
            ];
            const USUAL: (&'static str, &'static str) = ($usual, $usually);

            fn read_value(
                &mut self,
                key: syn::Ident,
                input: syn::parse::ParseStream<'_>,
                errors: &mut $crate::errors::Errors,
            ) {
                match key.to_string().as_str() {
                    $($name => $crate::args::table::read_into(
                        &mut self.$field, $example, key, input, errors,
                    ),)*
                    name if $crate::args::Common::has(name) => self.common.read_value(key, input, errors),
                    unknown => {
                        let message = $crate::args::table::unknown_key::<Self>(unknown);
                        errors.at(key.span(), message);
                    }
                }
            }

            $(
                const FIRST_NAMES: &'static [&'static str] = &[$($first_name),*];

                fn read_first(
                    &mut self,
                    input: syn::parse::ParseStream<'_>,
                    errors: &mut $crate::errors::Errors,
                ) -> bool {
                    $read_first(&mut self.$first, input, errors)
                }
            )?
        }
    };
}

pub(super) use keys;

/// The one check for keys that are given twice.
pub(super) fn read_into<T: super::read::Read>(
    slot: &mut Option<Given<T>>,
    example: &str,
    key: Ident,
    input: ParseStream<'_>,
    errors: &mut Errors,
) {
    let spelling = super::read::Spelling { key: &key, example };
    let value = T::read(&spelling, input);
    let value = errors.keep(value);
    if slot.is_some() {
        errors.at(key.span(), format!("`{key}` is given twice"));
    } else if let Some(value) = value {
        *slot = Some(Given { key, value });
    }
}

pub(super) fn unknown_key<T: Table>(key: &str) -> String {
    let (usual, example) = T::USUAL;
    if T::FIRST_NAMES.contains(&key) {
        return format!("the {usual} stands first and has no key: write `{example}`");
    }
    let renamed = T::OTHER_NAMES
        .iter()
        .find(|(other, _)| *other == key)
        .map(|(_, ours)| *ours);
    match renamed.or_else(|| nearest(key, T::KEYS.iter().copied())) {
        Some(meant) => format!("unknown key `{key}`: did you mean `{meant}`?"),
        None => format!("unknown key `{key}`: the keys are {}", T::KEYS.join(", ")),
    }
}

fn read_one<T: Table>(table: &mut T, input: ParseStream<'_>, errors: &mut Errors) {
    if table.read_other(input, errors) {
        return;
    }
    match input.call(Ident::parse_any) {
        Ok(key) => table.read_value(key, input, errors),
        Err(_) => errors.at(input.span(), not_a_key::<T>(input)),
    }
}

/// What follows a value: a comma. After one that could not be read it says nothing more.
fn end<T: Table>(input: ParseStream<'_>, errors_before: usize, errors: &mut Errors) {
    if errors.count() > errors_before {
        skip_to_comma(input);
    } else if let Some(message) = not_a_comma::<T>(input) {
        errors.at(input.span(), message);
        if starts_a_key::<T>(input) {
            return;
        }
        skip_to_comma(input);
    }
    let _: syn::Result<Option<Token![,]>> = input.parse();
}

fn not_a_key<T: Table>(input: ParseStream<'_>) -> String {
    let (usual, example) = T::USUAL;
    if input.peek(Token![,]) {
        "a key is missing before this comma".into()
    } else if input.peek(Lit) && !T::FIRST_NAMES.is_empty() {
        format!("the {usual} stands first: write `{example}`")
    } else if input.peek(Lit) && input.peek(LitStr) == example.contains('"') {
        format!("a value without a key: did you mean to write `{usual} = ` before it?")
    } else {
        format!("a key was expected here, such as `{example}`")
    }
}

fn not_a_comma<T: Table>(input: ParseStream<'_>) -> Option<&'static str> {
    if input.is_empty() || input.peek(Token![,]) {
        None
    } else if starts_a_key::<T>(input) {
        Some("a comma is missing before this key")
    } else {
        Some("a comma or the end was expected here")
    }
}

fn starts_a_key<T: Table>(input: ParseStream<'_>) -> bool {
    let key = input.fork().call(Ident::parse_any);
    key.is_ok_and(|key| T::KEYS.contains(&key.to_string().as_str()))
}

fn skip_to_comma(input: ParseStream<'_>) {
    while !input.is_empty() && !input.peek(Token![,]) {
        let _: syn::Result<TokenTree> = input.parse();
    }
}

/// Reads the value without a key that an attribute begins with.
pub(super) fn first_value<T: Table>(
    slot: &mut Option<Expr>,
    input: ParseStream<'_>,
    errors: &mut Errors,
) -> bool {
    if input.is_empty() || input.peek(Token![,]) || is_a_key::<T>(input) {
        return false;
    }
    *slot = errors.keep(input.parse());
    true
}

/// Reads the value of `fallback`, which is code and may be named like a key.
pub(super) fn first_code(
    slot: &mut Option<Expr>,
    input: ParseStream<'_>,
    errors: &mut Errors,
) -> bool {
    if input.is_empty() || input.peek(Token![,]) || is_assigned(input) {
        return false;
    }
    *slot = errors.keep(input.parse());
    true
}

fn is_assigned(input: ParseStream<'_>) -> bool {
    let ahead = input.fork();
    ahead.call(Ident::parse_any).is_ok()
        && ahead.peek(Token![=])
        && !ahead.peek(Token![==])
        && !ahead.peek(Token![=>])
}

/// Whether a key stands here, and not a value of its own.
fn is_a_key<T: Table>(input: ParseStream<'_>) -> bool {
    let ahead = input.fork();
    let word = ahead.call(Ident::parse_any);
    let stands_alone = ahead.is_empty() || ahead.peek(Token![,]);
    is_assigned(input)
        || stands_alone && word.is_ok_and(|word| T::KEYS.contains(&word.to_string().as_str()))
}
