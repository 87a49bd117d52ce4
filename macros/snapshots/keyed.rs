/// Charges a card.
pub async fn charge(&self, order: &Order) -> Result<Receipt, PaymentError> {
    let __keyed: ::breakerbox::Keyed = match ::core::convert::AsRef::<
        str,
    >::as_ref(&(order.tenant)) {
        __key => {
            ::breakerbox::__private::keyed(
                {
                    static __SITE: ::breakerbox::__private::CallSite = ::breakerbox::__private::CallSite::new(
                        "ledger",
                        "charge",
                        ::breakerbox::Policy::new()
                            .window(::breakerbox::Window::Calls(100u32))
                            .max_keys(50u32),
                        ::core::module_path!(),
                        ::core::file!(),
                        ::core::line!(),
                    );
                    ::breakerbox::__private::inventory::submit! {
                        ::breakerbox::__private::Declared(& __SITE)
                    }
                    ::breakerbox::__private::CallSite::breaker(&__SITE)
                },
                __key,
            )
        }
    };
    let __breaker: &::breakerbox::Breaker = &__keyed;
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
        return ::breakerbox::__private::rejected::<
            Result<Receipt, PaymentError>,
        >(__rejected);
    };
    let __verdict = match ::breakerbox::__private::error_of::<
        Result<Receipt, PaymentError>,
    >(&__out) {
        ::core::option::Option::Some(__error) => {
            let __verdict = ::breakerbox::Verdict::Failure;
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
