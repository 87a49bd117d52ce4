//! What is known of each argument by its pattern and its type.

use syn::FnArg;
use syn::Ident;
use syn::Pat;
use syn::PatIdent;
use syn::ReceiverKind;
use syn::Token;
use syn::Type;
use syn::visit::Visit;
use syn::visit_mut::VisitMut;

use crate::item::Function;
use crate::item::Hoisted;

/// A name that an argument binds.
pub(crate) struct Argument {
    pub(crate) name: Ident,
    pub(crate) mutable: Option<Token![mut]>,
    /// What it binds is a reference, as far as its type tells.
    pub(crate) is_reference: bool,
    pub(crate) is_self: bool,
}

impl Function {
    /// All names that the arguments bind, in order.
    pub(crate) fn arguments(&self) -> Vec<Argument> {
        let mut found = Vec::new();
        for input in &self.sig.inputs {
            match input {
                FnArg::Receiver(receiver) => found.push(Argument {
                    name: Ident::from(receiver.self_token),
                    // `Pin<&mut Self>` is used through `as_mut`, which leaves it as it is.
                    mutable: receiver.mutability.filter(|_| !is_pinned(&receiver.kind)),
                    is_reference: matches!(receiver.kind, ReceiverKind::Reference(..)),
                    is_self: true,
                }),
                FnArg::Typed(argument) => {
                    let before = found.len();
                    Bound(&mut found).visit_pat(&argument.pat);
                    let is_reference =
                        matches!(&*argument.pat, Pat::Ident(_)) && is_reference(&argument.ty);
                    for argument in &mut found[before..] {
                        argument.is_reference |= is_reference;
                    }
                }
            }
        }
        // `#[async_trait]` binds those that are passed by value anew, where the `mut` is.
        let mut anew = Vec::new();
        for pattern in Hoisted::of(self).patterns() {
            Bound(&mut anew).visit_pat(&pattern);
        }
        for again in anew.into_iter().filter(|again| again.name != "__self") {
            match found.iter_mut().find(|first| first.name == again.name) {
                Some(first) => first.mutable = again.mutable,
                None => found.push(again),
            }
        }
        found
    }
}

fn is_pinned(kind: &ReceiverKind) -> bool {
    let ReceiverKind::Typed(_, ty) = kind else {
        return false;
    };
    matches!(&**ty, Type::Path(path) if path.path.segments.last().is_some_and(|last| last.ident == "Pin"))
}

fn is_reference(ty: &Type) -> bool {
    match ty {
        Type::Group(group) => is_reference(&group.elem),
        Type::Paren(paren) => is_reference(&paren.elem),
        Type::Reference(_) => true,
        _ => false,
    }
}

/// Collects the names of a pattern.
struct Bound<'f>(&'f mut Vec<Argument>);

impl Visit<'_> for Bound<'_> {
    fn visit_pat_ident(&mut self, pat: &PatIdent) {
        self.0.push(Argument {
            name: pat.ident.clone(),
            mutable: pat.mutability.filter(|_| pat.by_ref.is_none()),
            is_reference: pat.by_ref.is_some(),
            is_self: false,
        });
        syn::visit::visit_pat_ident(self, pat);
    }

    // A pattern may hold constants and types, whose names are no bindings.
    fn visit_expr(&mut self, _: &syn::Expr) {}
    fn visit_type(&mut self, _: &Type) {}
}

/// Takes the `mut` off names whose copies have it.
pub(crate) struct WithoutMut<'n>(pub(crate) &'n [Ident]);

impl VisitMut for WithoutMut<'_> {
    fn visit_pat_ident_mut(&mut self, pat: &mut PatIdent) {
        if self.0.contains(&pat.ident) {
            pat.mutability = None;
        }
        syn::visit_mut::visit_pat_ident_mut(self, pat);
    }
}

#[cfg(test)]
mod tests {
    use proc_macro2::TokenStream;
    use quote::quote;

    use crate::errors::Errors;
    use crate::item::Item;
    use crate::kind::Kind;

    fn told(item: TokenStream) -> Vec<String> {
        let mut errors = Errors::default();
        let item = Item::read(item, Kind::Retry, &TokenStream::new(), &mut errors);
        let arguments = item.function.unwrap().arguments();
        let told = arguments.iter().map(|argument| {
            let word = |is: bool, word| if is { word } else { "" };
            format!(
                "{}{}{}{}",
                word(argument.mutable.is_some(), "mut "),
                word(argument.is_reference, "&"),
                argument.name,
                word(argument.is_self && argument.name != "self", "?"),
            )
        });
        told.collect()
    }

    #[test]
    fn patterns_and_types_are_told_apart() {
        let item = quote!(
            async fn f(
                &mut self,
                mut a: A,
                b: &mut B,
                (mut c, ref mut d): (C, D),
                mut e: &E,
                _: F,
            ) {
            }
        );
        let expected = ["&self", "mut a", "&b", "mut c", "&d", "mut &e"];
        assert_eq!(told(item), expected);
        assert_eq!(
            told(quote!(
                async fn f(mut self: Pin<&mut Self>) {}
            )),
            ["self"]
        );
        assert_eq!(
            told(quote!(
                async fn f(mut self: Arc<Self>) {}
            )),
            ["mut self"]
        );
    }

    #[test]
    fn async_trait_binds_them_in_the_body() {
        let item = quote!(
            fn f<'async_trait>(
                &self,
                a: A,
                b: &B,
                __arg2: (C, D),
            ) -> Pin<Box<dyn Future<Output = R>>> {
                Box::pin(async move {
                    let __self = self;
                    let mut a = a;
                    let (c, mut d) = {
                        let __arg2 = __arg2;
                        __arg2
                    };
                    let __ret: R = {
                        let mut x = a;
                        x
                    };
                    __ret
                })
            }
        );
        assert_eq!(told(item), ["&self", "mut a", "&b", "__arg2", "c", "mut d"]);
    }
}
