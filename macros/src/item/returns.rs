//! Facts of the return type: what a call ends with, and through which kind of future.

use proc_macro2::Span;
use proc_macro2::TokenStream;
use quote::ToTokens;
use quote::quote_spanned;
use syn::GenericArgument;
use syn::PathArguments;
use syn::PathSegment;
use syn::ReturnType;
use syn::Token;
use syn::Type;
use syn::TypeInfer;
use syn::TypeParamBound;
use syn::punctuated::Punctuated;
use syn::visit_mut::VisitMut;

use crate::respan;

/// What a guarded call ends with: the value that has a verdict.
pub(crate) struct Output {
    /// The type as it can be written in a body.
    pub(crate) ty: TokenStream,
    /// Where errors about the type begin.
    pub(crate) span: Span,
    /// Where they end: a span over several tokens can only be made by rustc.
    pub(crate) end: Span,
}

/// How a function that is not `async` hands its output over.
pub(crate) enum Delivery {
    /// It returns the output itself.
    Direct,
    /// `impl Future<Output = T>`
    ImplFuture,
    /// `Pin<Box<dyn Future<Output = T>>>`
    BoxedFuture,
}

impl Output {
    /// The output of an `async fn`, or of a function that returns no future.
    pub(crate) fn of(output: &ReturnType, name: Span) -> Self {
        match output {
            ReturnType::Default => Self {
                ty: quote_spanned!(name=> ()),
                span: name,
                end: name,
            },
            ReturnType::Type(_, ty) => Self::new(ty),
        }
    }

    fn new(ty: &Type) -> Self {
        let (span, end) = respan::ends(&ty.to_token_stream());
        let mut ty = ty.clone();
        ReplaceImplTrait.visit_type_mut(&mut ty);
        Self {
            ty: ty.into_token_stream(),
            span,
            end,
        }
    }
}

/// Looks for a future in the return type of a function that is not `async`.
pub(crate) fn delivery(output: &ReturnType, name: Span) -> (Delivery, Output) {
    let direct = || (Delivery::Direct, Output::of(output, name));
    let ReturnType::Type(_, ty) = output else {
        return direct();
    };
    match bare(ty) {
        Type::ImplTrait(opaque) => match future_output(&opaque.bounds) {
            Some(output) => (Delivery::ImplFuture, Output::new(output)),
            None => direct(),
        },
        Type::Path(path) => match path.path.segments.last().and_then(boxed_output) {
            Some(output) => (Delivery::BoxedFuture, Output::new(output)),
            None => direct(),
        },
        _ => direct(),
    }
}

/// The output of `Pin<Box<dyn Future<Output = T>>>` and of `BoxFuture<'a, T>`.
fn boxed_output(last: &PathSegment) -> Option<&Type> {
    if last.ident == "BoxFuture" || last.ident == "LocalBoxFuture" {
        return type_argument(last);
    }
    let boxed = type_argument(named(last, "Pin")?)?;
    let Type::Path(boxed) = bare(boxed) else {
        return None;
    };
    let inner = type_argument(named(boxed.path.segments.last()?, "Box")?)?;
    match bare(inner) {
        Type::TraitObject(object) => future_output(&object.bounds),
        _ => None,
    }
}

fn named<'s>(segment: &'s PathSegment, name: &str) -> Option<&'s PathSegment> {
    (segment.ident == name).then_some(segment)
}

/// The last type among the arguments of a path segment.
fn type_argument(segment: &PathSegment) -> Option<&Type> {
    let PathArguments::AngleBracketed(arguments) = &segment.arguments else {
        return None;
    };
    arguments
        .args
        .iter()
        .rev()
        .find_map(|argument| match argument {
            GenericArgument::Type(ty) => Some(ty),
            _ => None,
        })
}

/// The `T` of `Future<Output = T>` among trait bounds.
fn future_output(bounds: &Punctuated<TypeParamBound, Token![+]>) -> Option<&Type> {
    bounds.iter().find_map(|bound| {
        let TypeParamBound::Trait(bound) = bound else {
            return None;
        };
        let PathArguments::AngleBracketed(arguments) =
            &named(bound.path.segments.last()?, "Future")?.arguments
        else {
            return None;
        };
        arguments.args.iter().find_map(|argument| match argument {
            GenericArgument::AssocType(assoc) if assoc.ident == "Output" => Some(&assoc.ty),
            _ => None,
        })
    })
}

/// The type without parentheses and without the invisible groups of `macro_rules!`.
fn bare(mut ty: &Type) -> &Type {
    loop {
        ty = match ty {
            Type::Group(group) => &group.elem,
            Type::Paren(paren) => &paren.elem,
            _ => return ty,
        };
    }
}

/// A body cannot name the type behind `impl Trait`; the compiler infers it.
struct ReplaceImplTrait;

impl VisitMut for ReplaceImplTrait {
    fn visit_type_mut(&mut self, ty: &mut Type) {
        if let Type::ImplTrait(opaque) = ty {
            let underscore_token = Token![_](opaque.impl_token.span);
            *ty = Type::Infer(TypeInfer {
                attrs: Vec::new(),
                underscore_token,
            });
        } else {
            syn::visit_mut::visit_type_mut(self, ty);
        }
    }
}

#[cfg(test)]
mod tests {
    use syn::parse_quote;

    use super::*;

    fn read(output: &ReturnType) -> (&'static str, String) {
        let (delivery, output) = delivery(output, Span::call_site());
        let delivery = match delivery {
            Delivery::Direct => "direct",
            Delivery::ImplFuture => "impl",
            Delivery::BoxedFuture => "boxed",
        };
        (delivery, output.ty.to_string().replace(' ', ""))
    }

    #[test]
    fn futures_are_seen_in_the_usual_spellings() {
        for (output, delivery, ty) in [
            (
                parse_quote!(-> impl Future<Output = Result<u8, E>> + Send + 'static),
                "impl",
                "Result<u8,E>",
            ),
            (
                parse_quote!(-> impl Send + ::core::future::Future<Output = R>),
                "impl",
                "R",
            ),
            (
                parse_quote!(-> Pin<Box<dyn Future<Output = R> + Send + 'a>>),
                "boxed",
                "R",
            ),
            (
                parse_quote!(-> ::core::pin::Pin<std::boxed::Box<dyn Future<Output = R>>>),
                "boxed",
                "R",
            ),
            (
                parse_quote!(-> BoxFuture<'a, Result<T, E>>),
                "boxed",
                "Result<T,E>",
            ),
            (
                parse_quote!(-> futures::future::LocalBoxFuture<'static, R>),
                "boxed",
                "R",
            ),
            (
                parse_quote!(-> (Pin<Box<(dyn Future<Output = R>)>>)),
                "boxed",
                "R",
            ),
        ] {
            assert_eq!(read(&output), (delivery, ty.to_owned()));
        }
    }

    #[test]
    fn other_types_are_outputs_themselves() {
        for (output, ty) in [
            (parse_quote!(-> Result<u8, E>), "Result<u8,E>"),
            (parse_quote!(-> Pin<Box<T>>), "Pin<Box<T>>"),
            (parse_quote!(-> impl Iterator<Item = u8>), "_"),
            (ReturnType::Default, "()"),
        ] {
            assert_eq!(read(&output), ("direct", ty.to_owned()));
        }
    }

    #[test]
    fn impl_trait_is_left_to_inference_wherever_it_stands() {
        let output = parse_quote!(-> Result<(Vec<impl Debug + use<>>, Box<dyn Iterator<Item = impl Send>>), E>);
        assert_eq!(
            read(&output).1,
            "Result<(Vec<_>,Box<dynIterator<Item=_>>),E>"
        );
    }
}
