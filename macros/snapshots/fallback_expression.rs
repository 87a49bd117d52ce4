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
    let __failed: Result<Receipt, PaymentError> = '__guarded: {
        let mut __guard = ::breakerbox::__private::enter(__breaker);
        let __out: Result<Receipt, PaymentError> = '__made: {
            let __rejected = '__refused: {
                if !::breakerbox::__private::is_in(&__guard) {
                    if let ::core::option::Option::Some(__rejected) = ::breakerbox::__private::refuse(
                        &mut __guard,
                    ) {
                        break '__refused __rejected;
                    }
                }
                match ::breakerbox::__private::wait_and_watch(
                        &mut __guard,
                        async move {
                            if let ::core::option::Option::Some(__ret) = ::core::option::Option::None::<
                                Result<Receipt, PaymentError>,
                            > {
                                return __ret;
                            }
                            let __ret: Result<Receipt, PaymentError> = match () {
                                () => {
                                    self.post(order).await
                                }
                            };
                            #[allow(unreachable_code)] __ret
                        },
                    )
                    .await
                {
                    ::core::option::Option::Some(__out) => break '__made __out,
                    ::core::option::Option::None => {
                        ::breakerbox::__private::rejection(&__guard)
                    }
                }
            };
            break '__guarded ::breakerbox::__private::rejected::<
                Result<Receipt, PaymentError>,
            >(__rejected);
        };
        let __verdict = {
            let __verdict = ::breakerbox::__private::classify(&__out, verdict_of);
            ::breakerbox::__private::settle(&mut __guard, __verdict);
            __verdict
        };
        match __verdict {
            ::breakerbox::Verdict::Success | ::breakerbox::Verdict::Ignore => {
                return __out;
            }
            _ => {}
        }
        __out
    };
    if !match ::breakerbox::__private::error_of::<
        Result<Receipt, PaymentError>,
    >(&__failed) {
        ::core::option::Option::Some(__error) => {
            ::breakerbox::__private::ask(is_busy, __error)
        }
        ::core::option::Option::None => false,
    } {
        return __failed;
    }
    let __ret: Result<Receipt, PaymentError> = match () {
        () => {
            cached(order).await
        }
    };
    #[allow(unreachable_code)] __ret
}
