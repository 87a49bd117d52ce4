/// Charges a card.
pub async fn charge(&self, order: &Order) -> Result<Receipt, PaymentError> {
    let __breaker: &'static ::breakerbox::Breaker = match ::core::convert::AsRef::<
        str,
    >::as_ref(&(format!("stripe-{}", self.region))) {
        __service => {
            static __SITE: ::breakerbox::__private::DynamicSite = ::breakerbox::__private::DynamicSite::new(
                "charge",
                ::breakerbox::Policy::new(),
                ::core::module_path!(),
                ::core::file!(),
                ::core::line!(),
            );
            ::breakerbox::__private::DynamicSite::breaker(&__SITE, __service)
        }
    };
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
        return ::breakerbox::__private::map_rejected::<
            Result<Receipt, PaymentError>,
        >(__rejected, PaymentError::from);
    };
    let __verdict = match ::breakerbox::__private::error_of::<
        Result<Receipt, PaymentError>,
    >(&__out) {
        ::core::option::Option::Some(__error) => {
            let __verdict = if ::breakerbox::__private::ask_closure(
                __error,
                |error| error.is_declined(),
            ) {
                ::breakerbox::Verdict::Ignore
            } else {
                if match __error {
                    PaymentError::Gateway(status) if *status >= 500 => true,
                    _ => false,
                } {
                    ::breakerbox::Verdict::Failure
                } else {
                    ::breakerbox::Verdict::Success
                }
            };
            #[allow(unused_imports)]
            use ::breakerbox::__private::{NotShown as _, Shown as _};
            let __error = (&&::breakerbox::__private::Telling(__error))
                .__breakerbox_shown();
            ::breakerbox::__private::settle_error(&mut __guard, __verdict, __error);
            __verdict
        }
        ::core::option::Option::None => {
            ::breakerbox::__private::settle(
                &mut __guard,
                ::breakerbox::Verdict::Success,
            );
            ::breakerbox::Verdict::Success
        }
    };
    __out
}
