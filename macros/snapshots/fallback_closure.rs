/// Charges a card.
pub async fn charge(&self, order: &Order) -> Result<Receipt, PaymentError> {
    let __breaker: &::breakerbox::Breaker = self.breaker;
    let __failed: Result<Receipt, PaymentError> = '__guarded: {
        let mut __guard = ::breakerbox::__private::enter(__breaker);
        let __out: Result<Receipt, PaymentError> = '__made: {
            let __rejected = '__refused: {
                if !::breakerbox::__private::is_in(&__guard) {
                    if let ::core::option::Option::Some(__rejected) = ::breakerbox::__private::wait(
                            &mut __guard,
                        )
                        .await
                    {
                        break '__refused __rejected;
                    }
                }
                break '__made ::breakerbox::__private::watch(
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
                    .await;
            };
            break '__guarded ::breakerbox::__private::rejected::<
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
        match __verdict {
            ::breakerbox::Verdict::Success | ::breakerbox::Verdict::Ignore => {
                return __out;
            }
            _ => {}
        }
        __out
    };
    match __failed {
        ::core::result::Result::Err(__error) => {
            #[allow(clippy::no_effect_underscore_binding)]
            let error = __error;
            let __ret: Result<Receipt, PaymentError> = match () {
                () => self.queue(order, error).await,
            };
            #[allow(unreachable_code)] __ret
        }
        __ret => __ret,
    }
}
