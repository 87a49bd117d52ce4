//! Writes the guarded function; the only place that makes code.

mod attempt;
mod lone;
mod predicate;
mod site;
mod stack;

use proc_macro2::Delimiter;
use proc_macro2::Group;
use proc_macro2::Ident;
use proc_macro2::Span;
use proc_macro2::TokenStream;
use proc_macro2::TokenTree;
use quote::ToTokens;
use quote::quote_spanned;
use syn::Lifetime;

use crate::args::Callable;
use crate::item::Binding;
use crate::item::Function;
use crate::item::Shape;
use crate::item::mentions;
use crate::model::Options;
use crate::model::Task;
use crate::model::Work;
use crate::respan;

use self::lone::Lone;

/// The function with its policies.
pub(crate) fn expand(function: &Function, task: &Task) -> TokenStream {
    let Function {
        head,
        sig,
        inner_attrs,
        body,
        ..
    } = function;
    let expansion = Expansion::new(function, &task.options);
    let (sig, code) = match &task.work {
        Work::Guard(guard) => (sig.clone(), Lone::new(&expansion, guard).code()),
        Work::Stack(stack) => stack::code(&expansion, stack),
    };
    let span = expansion.span;
    let imports = imports(&task.imports, span);
    let mut block = Group::new(
        Delimiter::Brace,
        quote_spanned!(span=> #inner_attrs #imports #code),
    );
    // Where rustc says that a function ends without a value, it shows this.
    block.set_span(body.span());
    quote_spanned!(span=> #head #sig #block)
}

/// The function as it was, with a use of each attribute that was taken off it, so that a
/// mistake is not followed by a warning about its import.
pub(crate) fn with_imports(original: TokenStream, paths: &[syn::Path]) -> TokenStream {
    let mut tokens: Vec<TokenTree> = original.into_iter().collect();
    if let (Some(imports), Some(TokenTree::Group(body))) =
        (imports(paths, Span::call_site()), tokens.last_mut())
        && body.delimiter() == Delimiter::Brace
    {
        let (code, end) = (body.stream(), body.span());
        // `#![..]` can only stand first.
        if !code.to_string().starts_with("#!") && !code.to_string().starts_with("# !") {
            *body = Group::new(
                Delimiter::Brace,
                quote_spanned!(Span::call_site()=> #imports #code),
            );
            body.set_span(end);
        }
    }
    tokens.into_iter().collect()
}

/// A use of each attribute that was taken off the function.
fn imports(paths: &[syn::Path], span: Span) -> Option<TokenStream> {
    if paths.is_empty() {
        return None;
    }
    let uses = paths
        .iter()
        .map(|path| quote_spanned!(span=> #[allow(unused_imports)] use #path as _;));
    Some(quote_spanned!(span=> { #(#uses)* }))
}

/// The function for its callers, where the attribute is wrong and the body would be
/// taken for wrong as well. An opaque type cannot do without its body.
pub(crate) fn without_body(function: &Function) -> Option<TokenStream> {
    let Function {
        head, sig, shape, ..
    } = function;
    let opaque = Ident::new("impl", Span::call_site());
    if mentions(&sig.output.to_token_stream(), &opaque)
        || !matches!(shape, Shape::Async | Shape::Sync)
    {
        return None;
    }
    Some(quote_spanned!(Span::call_site()=> #head #sig { ::core::panic!() }))
}

/// Everything the parts of one expansion share.
struct Expansion<'a> {
    function: &'a Function,
    options: &'a Options,
    /// The return type, as generated code where lints are concerned.
    span: Span,
    krate: TokenStream,
    /// The function's output.
    output: TokenStream,
    /// The output of the body: without the wrapper of `wrap_error`.
    plain: TokenStream,
    locals: Locals,
}

/// Names that no user code can see.
struct Locals {
    breaker: Ident,
    guard: Ident,
    out: Ident,
    verdict: Ident,
    error: Ident,
    rejected: Ident,
    failed: Ident,
    future: Ident,
    ret: Ident,
    guarded: Lifetime,
    made: Lifetime,
    refused: Lifetime,
}

impl<'a> Expansion<'a> {
    fn new(function: &'a Function, options: &'a Options) -> Self {
        let span = respan::generated(function.output.span);
        let krate = respan::moved(options.krate.to_token_stream(), span);
        let output = respan::repeated(function.output.ty.clone());
        let plain = if options.wrap_error {
            let last = quote_spanned!(respan::generated(function.output.end)=> Plain);
            quote_spanned!(span=> <#output as #krate::__private::Wrapped>::#last)
        } else {
            output.clone()
        };
        Self {
            function,
            options,
            span,
            krate,
            output,
            plain,
            locals: Locals::new(function.output.span),
        }
    }

    /// The user's code as a block for `async move`, with the type of its output known
    /// from the start: `?`, `return` and coercions depend on it.
    fn body(&self, code: &Group) -> TokenStream {
        self.body_after(&TokenStream::new(), code)
    }

    /// The same with statements of ours before the code.
    fn body_after(&self, before: &TokenStream, code: &Group) -> TokenStream {
        let typed = self.typed_return(&self.plain);
        let block = self.block_after(before, code, &self.plain);
        let Some(TokenTree::Group(group)) = block.into_iter().next() else {
            return TokenStream::new();
        };
        let content = group.stream();
        quote_spanned!(self.span=> { #typed #content })
    }

    /// The user's code as a block that owns the named arguments and drops them in the order
    /// of a plain function: after the temporaries of its tail, the last one first.
    fn block(&self, code: &Group, ty: &TokenStream) -> TokenStream {
        self.block_after(&TokenStream::new(), code, ty)
    }

    fn block_after(&self, before: &TokenStream, code: &Group, ty: &TokenStream) -> TokenStream {
        let bindings = self.function.bindings.iter().rev();
        let arguments = bindings.map(|binding| self.take(binding));
        let value = self.value(&user_block(code, self.span).into_token_stream(), ty);
        quote_spanned!(self.span=> { #before #(#arguments)* #value })
    }

    /// `code` as a value of its own statement, whose temporaries end with it. It may diverge.
    fn value(&self, code: &TokenStream, ty: &TokenStream) -> TokenStream {
        let Locals { ret, .. } = &self.locals;
        quote_spanned! {self.span=>
            let #ret: #ty = match () { () => #code };
            #[allow(unreachable_code)]
            #ret
        }
    }

    /// Speaks of an argument, so that the block around the body owns it.
    fn take(&self, binding: &Binding) -> TokenStream {
        let Binding { cfgs, name } = binding;
        // Clippy takes this for the user's.
        let allowed = name
            .to_string()
            .starts_with('_')
            .then(|| quote_spanned!(self.span=> #[allow(clippy::used_underscore_binding)]));
        quote_spanned!(self.span=> #cfgs #allowed let _ = &#name;)
    }

    fn typed_return(&self, ty: &TokenStream) -> TokenStream {
        let Locals { ret, .. } = &self.locals;
        quote_spanned! {self.span=>
            if let ::core::option::Option::Some(#ret) = ::core::option::Option::None::<#ty> {
                return #ret;
            }
        }
    }

    /// A private function for a type. Its path stands where the whole type stands, so that
    /// rustc takes all errors about the type for one.
    fn function_for(&self, name: &str, ty: &TokenStream) -> TokenStream {
        let Self { krate, span, .. } = self;
        let name = Ident::new(name, *span);
        let close = quote_spanned!(respan::generated(self.function.output.end)=> >);
        quote_spanned!(*span=> #krate::__private::#name::<#ty #close)
    }

    /// A call of a private function that asks code of the attribute, and stands where that
    /// code stands.
    fn call_at(&self, name: &str, code: &TokenStream, arguments: &TokenStream) -> TokenStream {
        let (start, end) = respan::ends(code);
        let krate = respan::moved(self.krate.clone(), start);
        let name = Ident::new(name, respan::generated(start));
        let arguments = quote_spanned!(respan::generated(end)=> (#arguments));
        quote_spanned!(respan::generated(start)=> #krate::__private::#name #arguments)
    }

    fn boxed(&self, body: TokenStream) -> TokenStream {
        let Self { krate, .. } = self;
        if self.options.boxed {
            quote_spanned!(self.span=> #krate::__private::boxed(#body))
        } else {
            body
        }
    }
}

/// A block of the user as the value of generated code.
///
/// Its braces stay the user's, since their edition decides when the temporaries of the
/// last expression are dropped. Around one short expression they would be reported as
/// needless, which an empty statement prevents.
fn user_block(block: &Group, span: Span) -> Group {
    let code = block.stream();
    let mut copy = Group::new(Delimiter::Brace, quote_spanned!(span=> ; #code));
    copy.set_span(block.span());
    copy
}

impl Locals {
    fn new(span: Span) -> Self {
        let span = respan::local(span);
        let local = |name| Ident::new(name, span);
        let label = |name| Lifetime {
            apostrophe: span,
            ident: local(name),
        };
        Self {
            breaker: local("__breaker"),
            guard: local("__guard"),
            out: local("__out"),
            verdict: local("__verdict"),
            error: local("__error"),
            rejected: local("__rejected"),
            failed: local("__failed"),
            future: local("__future"),
            ret: local("__ret"),
            guarded: label("__guarded"),
            made: label("__made"),
            refused: label("__refused"),
        }
    }
}

impl ToTokens for Callable {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        match self {
            Self::Path(path) => path.to_tokens(tokens),
            Self::Closure(closure) => closure.to_tokens(tokens),
        }
    }
}
