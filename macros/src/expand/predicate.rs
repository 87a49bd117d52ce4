//! Writes the user's own code: predicates, fallbacks, and what makes errors.

use proc_macro2::Delimiter;
use proc_macro2::Ident;
use proc_macro2::TokenStream;
use proc_macro2::TokenTree;
use quote::ToTokens;
use quote::quote_spanned;
use syn::Expr;

use crate::args::Predicate;
use crate::expand::Expansion;
use crate::expand::Locals;
use crate::expand::user_block;
use crate::model::Inline;

impl Expansion<'_> {
    /// The body of a fallback closure in place of a call of it.
    pub(super) fn inline(
        &self,
        inline: &Inline,
        argument: &Ident,
        ty: Option<&TokenStream>,
    ) -> TokenStream {
        let Inline {
            pattern,
            ty: own_type,
            output,
            body,
        } = inline;
        let ty = own_type
            .as_ref()
            .map(ToTokens::to_token_stream)
            .or_else(|| ty.cloned());
        let ty = ty.map(|ty| quote_spanned!(self.span=> : #ty));
        let output = output
            .as_ref()
            .map_or_else(|| self.output.clone(), ToTokens::to_token_stream);
        let value = self.value(&self.statement(body), &output);
        quote_spanned! {self.span=>
            #[allow(clippy::no_effect_underscore_binding)]
            let #pattern #ty = #argument;
            #value
        }
    }

    /// The output for a call that was never made.
    pub(super) fn rejection(&self) -> TokenStream {
        let Self { output, span, .. } = self;
        let Locals { rejected, .. } = &self.locals;
        match &self.options.map_rejected {
            None => {
                let make = self.function_for("rejected", output);
                quote_spanned!(*span=> #make(#rejected))
            }
            Some(map) => {
                let make = self.function_for("map_rejected", output);
                quote_spanned!(*span=> #make(#rejected, #map))
            }
        }
    }

    /// One value for an error of an output, another where there is none.
    pub(super) fn on_error(
        &self,
        out: &Ident,
        ty: &TokenStream,
        pattern: &TokenStream,
        error: &TokenStream,
        none: &TokenStream,
    ) -> TokenStream {
        let Self { span, .. } = self;
        let error_of = self.function_for("error_of", ty);
        quote_spanned! {*span=>
            match #error_of(&#out) {
                ::core::option::Option::Some(#pattern) => #error,
                ::core::option::Option::None => #none,
            }
        }
    }

    pub(super) fn ask(&self, predicate: &Predicate) -> TokenStream {
        let Self { span, .. } = self;
        let Locals { error, .. } = &self.locals;
        match predicate {
            Predicate::Path(path) => {
                let path = path.to_token_stream();
                self.call_at("ask", &path, &quote_spanned!(*span=> #path, #error))
            }
            Predicate::Closure(closure) => {
                let closure = closure.to_token_stream();
                let arguments = quote_spanned!(*span=> #error, #closure);
                self.call_at("ask_closure", &closure, &arguments)
            }
            // `matches!` could be the user's own.
            Predicate::Pattern { pattern, guard } => {
                let guard = guard
                    .as_ref()
                    .map(|guard| quote_spanned!(*span=> if #guard));
                quote_spanned!(*span=> match #error { #pattern #guard => true, _ => false })
            }
        }
    }

    /// An expression of the user as the value of a `let`.
    pub(super) fn statement(&self, code: &Expr) -> TokenStream {
        let tokens = code.to_token_stream();
        let mut trees = tokens.clone().into_iter();
        match (trees.next(), trees.next()) {
            (Some(TokenTree::Group(block)), None) if block.delimiter() == Delimiter::Brace => {
                user_block(&block, self.span).into_token_stream()
            }
            _ => tokens,
        }
    }
}
