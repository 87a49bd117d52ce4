async fn charge(&self, order: &Order) -> Result<Receipt, PaymentError> {
    let __policies: &'static ::breakerbox::__private::Policies = ::breakerbox::__private::unnamed();
    {
        let __bound_0 = ::breakerbox::__private::bound(
            __policies,
            ::core::time::Duration::new(8u64, 0u32),
            ::core::option::Option::None,
        );
        let __out: ::core::option::Option<Result<Receipt, PaymentError>> = {
            ::breakerbox::__private::within(
                    &__bound_0,
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
        };
        match __out {
            ::core::option::Option::Some(__out) => __out,
            ::core::option::Option::None => {
                ::breakerbox::__private::timed_out::<
                    Result<Receipt, PaymentError>,
                >(&__bound_0)
            }
        }
    }
}
