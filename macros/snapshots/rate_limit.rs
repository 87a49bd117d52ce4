async fn charge(&self, order: &Order) -> Result<Receipt, PaymentError> {
    let __policies: &'static ::breakerbox::__private::Policies = match ::core::convert::AsRef::<
        str,
    >::as_ref(&(self.name())) {
        __service => {
            static __SITE: ::breakerbox::__private::DynamicPolicySite = ::breakerbox::__private::DynamicPolicySite::new(
                ::breakerbox::__private::Limits::new()
                    .rate_limit(
                        ::breakerbox::RatePolicy::new(
                                100u32,
                                ::core::time::Duration::new(1u64, 0u32),
                            )
                            .burst(20u32),
                    ),
                ::core::file!(),
                ::core::line!(),
            );
            ::breakerbox::__private::DynamicPolicySite::policies(&__SITE, __service)
        }
    };
    let __out: Result<Receipt, PaymentError> = '__made: {
        let __rejected = '__refused: {
            let __out: Result<Receipt, PaymentError> = {
                if !::breakerbox::__private::try_token(__policies) {
                    if let ::core::result::Result::Err(__rejected) = ::breakerbox::__private::token(
                            __policies,
                            ::core::option::Option::None,
                        )
                        .await
                    {
                        break '__refused __rejected;
                    }
                }
                {
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
                }
            };
            break '__made __out;
        };
        ::breakerbox::__private::rejected::<Result<Receipt, PaymentError>>(__rejected)
    };
    __out
}
