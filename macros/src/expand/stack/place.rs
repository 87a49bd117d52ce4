//! Writes how a call finds its breaker and what its other policies share.

use proc_macro2::TokenStream;
use quote::ToTokens;
use quote::quote_spanned;

use crate::expand::Expansion;
use crate::expand::site;
use crate::expand::stack::Nest;
use crate::expand::stack::local;
use crate::model::Guard;
use crate::model::Layer;
use crate::model::Place;
use crate::model::Site;
use crate::respan;

impl Nest<'_> {
    /// Finds both, once a call.
    pub(super) fn lookups(&self, with_handle: bool) -> TokenStream {
        let Expansion { krate, locals, .. } = self.shared;
        let span = proc_macro2::Span::call_site();
        let policies = &self.policies;
        let breaker = self.guard().map(|guard| &guard.site);
        let apart = match breaker {
            Some(Site::Handle(_)) if !with_handle => TokenStream::new(),
            Some(site @ (Site::Handle(_) | Site::Static(_))) => {
                site::breaker(site, krate, &locals.breaker)
            }
            Some(Site::Dynamic(_)) | None => TokenStream::new(),
        };
        let ty = quote_spanned!(span=> &'static #krate::__private::Policies);
        match &self.stack.place {
            Place::Unnamed => quote_spanned! {span=>
                let #policies: #ty = #krate::__private::unnamed();
                #apart
            },
            Place::Static(service) => {
                let site = self.policy_site("PolicySite", &quote_spanned!(span=> #service,));
                quote_spanned! {span=>
                    let #policies: #ty = {
                        #site
                        #krate::__private::inventory::submit! {
                            #krate::__private::DeclaredPolicies(&__SITE)
                        }
                        #krate::__private::PolicySite::policies(&__SITE)
                    };
                    #apart
                }
            }
            // The name is worked out once, where the statics are out of its sight.
            Place::Dynamic(service) => {
                let name = local(self.shared, "__service");
                let service = site::as_str(service);
                let site = self.policy_site("DynamicPolicySite", &TokenStream::new());
                let found = quote_spanned! {span=> {
                    #site
                    #krate::__private::DynamicPolicySite::policies(&__SITE, #name)
                }};
                let Some(Site::Dynamic(declaration)) = breaker else {
                    return quote_spanned! {span=>
                        let #policies: #ty = match #service { #name => #found };
                        #apart
                    };
                };
                let at = local(self.shared, "__found");
                let of_breaker = site::dynamic(declaration, krate, &name);
                let bound = site::bind(declaration, krate, &locals.breaker, &at.to_token_stream());
                quote_spanned! {span=>
                    let (#policies, #at): (#ty, &'static #krate::Breaker) = match #service {
                        #name => (#found, #of_breaker),
                    };
                    #bound
                }
            }
        }
    }

    /// Lays the breaker that the caller holds ready.
    pub(super) fn handle(&self) -> TokenStream {
        let Expansion { krate, locals, .. } = self.shared;
        self.guard()
            .map(|guard| site::breaker(&guard.site, krate, &locals.breaker))
            .unwrap_or_default()
    }

    fn guard(&self) -> Option<&Guard> {
        self.layers().iter().find_map(|layer| match layer {
            Layer::Breaker(guard) => Some(&**guard),
            _ => None,
        })
    }

    /// `static __SITE: .. = ..;`
    fn policy_site(&self, ty: &str, named: &TokenStream) -> TokenStream {
        let krate = &self.shared.krate;
        let span = proc_macro2::Span::call_site();
        let ty = proc_macro2::Ident::new(ty, span);
        let ty = quote_spanned!(span=> #krate::__private::#ty);
        let (limits, judged) = self.limits();
        let judged = judged.map_or(span, respan::generated);
        let place = quote_spanned!(span=> ::core::file!(), ::core::line!());
        let new = respan::moved(quote_spanned!(span=> #ty::new), judged);
        let arguments = quote_spanned!(span=> #named #limits, #place);
        let call = quote_spanned!(judged=> #new(#arguments));
        quote_spanned!(span=> static __SITE: #ty = #call;)
    }

    /// What this function declares, and a value in it that only the compiler can judge.
    fn limits(&self) -> (TokenStream, Option<proc_macro2::Span>) {
        let krate = &self.shared.krate;
        let span = proc_macro2::Span::call_site();
        let mut judged = None;
        let (mut retries, mut timeouts, mut fallbacks) = (false, false, false);
        let mut setters = TokenStream::new();
        for layer in self.layers() {
            match layer {
                Layer::Bulkhead(bulkhead) => {
                    let (policy, at) = site::bulkhead_policy(&bulkhead.settings, krate);
                    judged = judged.or(at);
                    setters.extend(quote_spanned!(span=> .bulkhead(#policy)));
                }
                Layer::RateLimit(limit) => {
                    let (policy, at) = site::rate_policy(&limit.rate, &limit.settings, krate);
                    judged = judged.or(at);
                    setters.extend(quote_spanned!(span=> .rate_limit(#policy)));
                }
                Layer::Retry(_) => retries = true,
                Layer::Timeout(_) => timeouts = true,
                Layer::Fallback(_) => fallbacks = true,
                Layer::Breaker(_) => {}
            }
        }
        for (has, setter) in [
            (retries, quote_spanned!(span=> .retries())),
            (timeouts, quote_spanned!(span=> .timeouts())),
            (fallbacks, quote_spanned!(span=> .fallbacks())),
        ] {
            if has {
                setters.extend(setter);
            }
        }
        let limits = quote_spanned!(span=> #krate::__private::Limits::new() #setters);
        (limits, judged)
    }
}
