/// Charges a card.
pub async fn charge(&self, order: &Order) -> Result<Receipt, PaymentError> {
    let __breaker: &'static ::breakerbox::Breaker = {
        static __SITE: ::breakerbox::__private::CallSite = ::breakerbox::__private::CallSite::new(
            "stripe",
            "charge",
            ::breakerbox::Policy::new(),
            ::core::module_path!(),
            ::core::file!(),
            ::core::line!(),
        );
        ::breakerbox::__private::inventory::submit! {
            ::breakerbox::__private::Declared(& __SITE)
        }
        ::breakerbox::__private::CallSite::breaker(&__SITE)
    };
    let mut __guard = ::breakerbox::__private::enter(__breaker);
    if !::breakerbox::__private::is_in(&__guard) {
        if let ::core::option::Option::Some(__rejected) = ::breakerbox::__private::wait(
                &mut __guard,
            )
            .await
        {
            return ::breakerbox::__private::rejected::<
                Result<Receipt, PaymentError>,
            >(__rejected);
        }
    }
    let __out: Result<Receipt, PaymentError> = ::breakerbox::__private::watch(
            &mut __guard,
            async move {
                if let ::core::option::Option::Some(__ret) = ::core::option::Option::None::<
                    Result<Receipt, PaymentError>,
                > {
                    return __ret;
                }
                #[allow(clippy::diverging_sub_expression)]
                let __ret: Result<Receipt, PaymentError> = {
                    self.post(order).await
                };
                #[allow(unreachable_code)] __ret
            },
        )
        .await;
    let __verdict = match ::breakerbox::__private::error_of::<
        Result<Receipt, PaymentError>,
    >(&__out) {
        ::core::option::Option::Some(_) => ::breakerbox::Verdict::Failure,
        ::core::option::Option::None => ::breakerbox::Verdict::Success,
    };
    ::breakerbox::__private::settle(&mut __guard, __verdict);
    __out
}
