//! Writes how a call finds its breaker, and the numbers it was declared with.

use std::time::Duration;

use proc_macro2::Ident;
use proc_macro2::Literal;
use proc_macro2::Span;
use proc_macro2::TokenStream;
use quote::ToTokens;
use quote::quote_spanned;
use syn::Expr;
use syn::spanned::Spanned;

use crate::model::CancelRule;
use crate::model::Declaration;
use crate::model::Setting;
use crate::model::SettingValue;
use crate::model::Site;
use crate::model::Window;
use crate::rate::Rate;
use crate::respan;
use crate::value::Value;

/// `let breaker = ..;`
pub(crate) fn breaker(site: &Site, krate: &TokenStream, breaker: &Ident) -> TokenStream {
    let span = Span::call_site();
    match site {
        Site::Handle(handle) => quote_spanned!(span=> let #breaker: &#krate::Breaker = #handle;),
        Site::Static(declaration) => {
            let service = &declaration.service;
            let site = call_site(
                declaration,
                krate,
                "CallSite",
                Some(service.to_token_stream()),
            );
            let found = quote_spanned! {span=>
                {
                    #site
                    #krate::__private::inventory::submit! { #krate::__private::Declared(&__SITE) }
                    #krate::__private::CallSite::breaker(&__SITE)
                }
            };
            bind(declaration, krate, breaker, &found)
        }
        // The name is worked out where the static is out of its sight.
        Site::Dynamic(declaration) => {
            let name = Ident::new("__service", Span::mixed_site());
            let service = as_str(&declaration.service);
            let found = dynamic(declaration, krate, &name);
            let found = quote_spanned!(span=> match #service { #name => #found });
            bind(declaration, krate, breaker, &found)
        }
    }
}

/// The breaker of a name that is worked out for each call.
pub(super) fn dynamic(declaration: &Declaration, krate: &TokenStream, name: &Ident) -> TokenStream {
    let span = Span::call_site();
    let site = call_site(declaration, krate, "DynamicSite", None);
    quote_spanned! {span=> {
        #site
        #krate::__private::DynamicSite::breaker(&__SITE, #name)
    }}
}

/// Binds what was found, or what stands under it for the key of this call. The handle of a
/// key lives as long as the guard that borrows from it.
pub(super) fn bind(
    declaration: &Declaration,
    krate: &TokenStream,
    breaker: &Ident,
    found: &TokenStream,
) -> TokenStream {
    let span = Span::call_site();
    let Some(key) = &declaration.key else {
        return quote_spanned! {span=>
            let #breaker: &'static #krate::Breaker = #found;
        };
    };
    let keyed = Ident::new("__keyed", Span::mixed_site());
    let name = Ident::new("__key", Span::mixed_site());
    let key = as_str(key);
    quote_spanned! {span=>
        let #keyed: #krate::Keyed = match #key {
            #name => #krate::__private::keyed(#found, #name),
        };
        let #breaker: &#krate::Breaker = &#keyed;
    }
}

/// `AsRef::<str>::as_ref(&(expr))`, so that what is wrong with its type is shown at it.
pub(super) fn as_str(expr: &Expr) -> TokenStream {
    let span = Span::call_site();
    let (start, end) = respan::ends(&expr.to_token_stream());
    let as_ref = Ident::new("as_ref", respan::generated(end));
    let as_ref = quote_spanned!(respan::generated(start)=> ::core::convert::AsRef::<str>::#as_ref);
    let of = quote_spanned!(respan::generated(end)=> (#expr));
    let of = quote_spanned!(respan::generated(start)=> &#of);
    quote_spanned!(span=> #as_ref(#of))
}

/// `static __SITE: .. = ..;`
fn call_site(
    declaration: &Declaration,
    krate: &TokenStream,
    ty: &str,
    service: Option<TokenStream>,
) -> TokenStream {
    let span = Span::call_site();
    let ty = Ident::new(ty, span);
    let operation = &declaration.operation;
    let service = service.map(|service| quote_spanned!(span=> #service,));
    let policy = policy(&declaration.policy, krate);
    let ty = quote_spanned!(span=> #krate::__private::#ty);
    // What the compiler finds wrong with the numbers belongs at a number that only it can judge.
    let judged = declaration
        .policy
        .iter()
        .find_map(Setting::code_span)
        .or_else(|| service.as_ref().map(Spanned::span))
        .map_or(span, respan::generated);
    let place = quote_spanned!(span=> ::core::module_path!(), ::core::file!(), ::core::line!());
    let new = respan::moved(quote_spanned!(span=> #ty::new), judged);
    let arguments = quote_spanned!(span=> #service #operation, #policy, #place);
    let call = quote_spanned!(judged=> #new(#arguments));
    quote_spanned!(span=> static __SITE: #ty = #call;)
}

fn policy(settings: &[Setting], krate: &TokenStream) -> TokenStream {
    let setters = setters(settings, krate);
    quote_spanned!(Span::call_site()=> #krate::Policy::new() #setters)
}

/// `&'static RetryPolicy`, with numbers behind code judged while compiling.
pub(super) fn retry_policy(settings: &[Setting], krate: &TokenStream) -> TokenStream {
    let span = Span::call_site();
    let setters = setters(settings, krate);
    let judged = settings
        .iter()
        .find_map(Setting::code_span)
        .map_or(span, respan::generated);
    let checked = respan::moved(quote_spanned!(span=> #krate::__private::checked), judged);
    let policy = quote_spanned!(span=> #krate::RetryPolicy::new() #setters);
    let policy = quote_spanned!(judged=> #checked(#policy));
    quote_spanned! {span=> {
        static __RETRY: #krate::RetryPolicy = #policy;
        &__RETRY
    }}
}

/// A bulkhead, and where a number of it stands that only the compiler knows.
pub(super) fn bulkhead_policy(
    settings: &[Setting],
    krate: &TokenStream,
) -> (TokenStream, Option<Span>) {
    let span = Span::call_site();
    let (first, rest) = settings.split_at(settings.len().min(1));
    let places = first.iter().map(|first| value(&first.value, krate));
    let setters = setters(rest, krate);
    let policy = quote_spanned!(span=> #krate::BulkheadPolicy::new(#(#places)*) #setters);
    (policy, settings.iter().find_map(Setting::code_span))
}

/// The same for a rate limit. Code in place of its rate is a policy of its own.
pub(super) fn rate_policy(
    rate: &Value<Rate>,
    settings: &[Setting],
    krate: &TokenStream,
) -> (TokenStream, Option<Span>) {
    let span = Span::call_site();
    let setters = setters(settings, krate);
    let judged = settings.iter().find_map(Setting::code_span);
    match rate {
        Value::Known(Rate { number, per }, at) => {
            let mut number = Literal::u32_suffixed(*number);
            number.set_span(respan::generated(*at));
            let per = duration(*per, *at);
            let policy = quote_spanned!(span=> #krate::RatePolicy::new(#number, #per) #setters);
            (policy, judged)
        }
        Value::Code(code) => {
            let at = code.span();
            let policy =
                quote_spanned!(span=> { let __rate: #krate::RatePolicy = #code; __rate } #setters);
            (policy, judged.or(Some(at)))
        }
    }
}

/// A duration that is known, or code for one.
pub(super) fn duration_value(value: &Value<Duration>) -> TokenStream {
    match value {
        Value::Known(known, at) => duration(*known, *at),
        Value::Code(code) => code.to_token_stream(),
    }
}

fn setters(settings: &[Setting], krate: &TokenStream) -> TokenStream {
    let span = Span::call_site();
    let setters = settings.iter().map(|Setting { setter, value }| {
        let setter = Ident::new(&setter.to_string(), respan::generated(setter.span()));
        let value = self::value(value, krate);
        quote_spanned!(span=> .#setter(#value))
    });
    quote_spanned!(span=> #(#setters)*)
}

fn value(value: &SettingValue, krate: &TokenStream) -> TokenStream {
    let span = Span::call_site();
    match value {
        SettingValue::Number(number, at) => {
            let mut literal = Literal::u32_suffixed(*number);
            literal.set_span(respan::generated(*at));
            literal.to_token_stream()
        }
        SettingValue::Float(float, at) => {
            let mut literal = Literal::f64_suffixed(*float);
            literal.set_span(respan::generated(*at));
            literal.to_token_stream()
        }
        SettingValue::Duration(duration, at) => self::duration(*duration, *at),
        SettingValue::Window(window, at) => self::window(*window, *at, krate),
        SettingValue::Nothing => TokenStream::new(),
        SettingValue::Switch(value) => quote_spanned!(span=> #value),
        SettingValue::Code(code) => code.to_token_stream(),
        SettingValue::OnCancel(rule) => on_cancel(rule, krate),
    }
}

fn window(window: Window, at: Span, krate: &TokenStream) -> TokenStream {
    let span = Span::call_site();
    match window {
        Window::Time(time) => {
            let time = duration(time, at);
            quote_spanned!(span=> #krate::Window::Time(#time))
        }
        Window::Calls(calls) => {
            let mut literal = Literal::u32_suffixed(calls);
            literal.set_span(respan::generated(at));
            quote_spanned!(span=> #krate::Window::Calls(#literal))
        }
    }
}

fn on_cancel(rule: &CancelRule, krate: &TokenStream) -> TokenStream {
    let span = Span::call_site();
    match rule {
        CancelRule::Ignore => quote_spanned!(span=> #krate::OnCancel::Ignore),
        CancelRule::Failure => quote_spanned!(span=> #krate::OnCancel::Failure),
        CancelRule::After { after, before } => {
            let value = match (after, before) {
                (Value::Code(code), Some(before)) => before_timeout(code, *before, krate),
                _ => duration_value(after),
            };
            quote_spanned!(span=> #krate::OnCancel::After(#value))
        }
    }
}

/// A value that only the compiler knows, which judges it where it stands.
fn before_timeout(code: &Expr, timeout: Duration, krate: &TokenStream) -> TokenStream {
    let at = respan::generated(code.span());
    let timeout = duration(timeout, code.span());
    let judge = respan::moved(quote_spanned!(at=> #krate::__private::before_timeout), at);
    quote_spanned!(at=> #judge(#code, #timeout))
}

fn duration(duration: Duration, at: Span) -> TokenStream {
    let secs = duration.as_secs();
    let nanos = duration.subsec_nanos();
    quote_spanned!(respan::generated(at)=> ::core::time::Duration::new(#secs, #nanos))
}
