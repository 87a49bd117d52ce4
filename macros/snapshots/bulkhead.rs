async fn charge(&self, order: &Order) -> Result<Receipt, PaymentError> {
    let __policies: &'static ::breakerbox::__private::Policies = {
        static __SITE: ::breakerbox::__private::PolicySite = ::breakerbox::__private::PolicySite::new(
            "stripe",
            ::breakerbox::__private::Limits::new()
                .bulkhead(
                    ::breakerbox::BulkheadPolicy::new(6u32)
                        .queue(QUEUE)
                        .max_wait(::core::time::Duration::new(0u64, 50000000u32)),
                ),
            ::core::file!(),
            ::core::line!(),
        );
        ::breakerbox::__private::inventory::submit! {
            ::breakerbox::__private::DeclaredPolicies(& __SITE)
        }
        ::breakerbox::__private::PolicySite::policies(&__SITE)
    };
    let __out: Result<Receipt, PaymentError> = '__made: {
        let __rejected = '__refused: {
            let __out: Result<Receipt, PaymentError> = {
                let __slot_0 = match ::breakerbox::__private::try_slot(__policies) {
                    ::core::option::Option::Some(__slot_0) => __slot_0,
                    ::core::option::Option::None => {
                        match ::breakerbox::__private::slot(
                                __policies,
                                ::core::option::Option::None,
                            )
                            .await
                        {
                            ::core::result::Result::Ok(__slot_0) => __slot_0,
                            ::core::result::Result::Err(__rejected) => {
                                break '__refused __rejected;
                            }
                        }
                    }
                };
                let __out: Result<Receipt, PaymentError> = {
                    let __out: Result<Receipt, PaymentError> = async move {
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
                    }
                        .await;
                    __out
                };
                ::core::mem::drop(__slot_0);
                __out
            };
            break '__made __out;
        };
        ::breakerbox::__private::rejected::<Result<Receipt, PaymentError>>(__rejected)
    };
    __out
}
