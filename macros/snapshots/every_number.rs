/// Charges a card.
pub async fn charge(&self, order: &Order) -> Result<Receipt, PaymentError> {
    let __breaker: &'static ::resilience::Breaker = {
        static __SITE: ::resilience::__private::CallSite = ::resilience::__private::CallSite::new(
            NAME,
            "POST /charges",
            ::resilience::Policy::new()
                .threshold(LIMIT)
                .cooldown(::core::time::Duration::new(0u64, 250000000u32))
                .probes(3u32)
                .probe_concurrency(2u32)
                .close_after(2u32)
                .probe_timeout(TIMEOUT)
                .max_open_for(::core::time::Duration::new(7200u64, 0u32))
                .on_cancel(
                    ::resilience::OnCancel::After(
                        ::core::time::Duration::new(2u64, 0u32),
                    ),
                )
                .min_instances(2u32)
                .probe_wait(::core::time::Duration::new(0u64, 0u32)),
            ::core::module_path!(),
            ::core::file!(),
            ::core::line!(),
        );
        ::resilience::__private::inventory::submit! {
            ::resilience::__private::Declared(& __SITE)
        }
        ::resilience::__private::CallSite::breaker(&__SITE)
    };
    let mut __guard = ::resilience::__private::enter(__breaker);
    let __out: Result<Receipt, PaymentError> = '__made: {
        let __rejected = '__refused: {
            if !::resilience::__private::is_in(&__guard) {
                if let ::core::option::Option::Some(__rejected) = ::resilience::__private::refuse(
                    &mut __guard,
                ) {
                    break '__refused __rejected;
                }
            }
            match ::resilience::__private::wait_and_watch(
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
                    ::resilience::__private::rejection(&__guard)
                }
            }
        };
        return ::resilience::__private::rejected::<
            Result<Receipt, PaymentError>,
        >(__rejected);
    };
    let __verdict = match ::resilience::__private::error_of::<
        Result<Receipt, PaymentError>,
    >(&__out) {
        ::core::option::Option::Some(__error) => {
            let __verdict = ::resilience::Verdict::Failure;
            #[allow(unused_imports)]
            use ::resilience::__private::{NotShown as _, Shown as _};
            let __error = (&&::resilience::__private::Telling(__error))
                .__breakerbox_shown();
            ::resilience::__private::settle_error(&mut __guard, __verdict, __error);
            __verdict
        }
        ::core::option::Option::None => {
            ::resilience::__private::settle(
                &mut __guard,
                ::resilience::Verdict::Success,
            );
            ::resilience::Verdict::Success
        }
    };
    __out
}
