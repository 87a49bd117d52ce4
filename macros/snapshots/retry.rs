async fn charge(lines: Vec<Line>) -> Result<Receipt, PaymentError> {
    let __policies: &'static ::breakerbox::__private::Policies = {
        static __SITE: ::breakerbox::__private::PolicySite = ::breakerbox::__private::PolicySite::new(
            "stripe",
            ::breakerbox::__private::Limits::new().retries(),
            ::core::file!(),
            ::core::line!(),
        );
        ::breakerbox::__private::inventory::submit! {
            ::breakerbox::__private::DeclaredPolicies(& __SITE)
        }
        ::breakerbox::__private::PolicySite::policies(&__SITE)
    };
    {
        let mut __retry_0 = ::breakerbox::__private::retrying::<
            Result<Receipt, PaymentError>,
        >(
            __policies,
            {
                static __RETRY: ::breakerbox::RetryPolicy = ::breakerbox::__private::checked(
                    ::breakerbox::RetryPolicy::new()
                        .attempts(4u32)
                        .delay(::core::time::Duration::new(0u64, 50000000u32))
                        .jitter(false)
                        .budget(0.2f64),
                );
                &__RETRY
            },
            ::core::option::Option::None,
        );
        '__attempts_0: loop {
            let lines = ::breakerbox::__private::cloned(&lines);
            let __out: Result<Receipt, PaymentError> = {
                let __out: Result<Receipt, PaymentError> = async {
                    if let ::core::option::Option::Some(__ret) = ::core::option::Option::None::<
                        Result<Receipt, PaymentError>,
                    > {
                        return __ret;
                    }
                    let mut lines = lines;
                    let __ret: Result<Receipt, PaymentError> = match () {
                        () => {
                            lines.push(total(&lines));
                            post(lines).await
                        }
                    };
                    #[allow(unreachable_code)] __ret
                }
                    .await;
                __out
            };
            let __again_0: bool = match ::breakerbox::__private::error_of::<
                Result<Receipt, PaymentError>,
            >(&__out) {
                ::core::option::Option::Some(__error) => {
                    ::breakerbox::__private::ask(is_transient, __error)
                }
                ::core::option::Option::None => false,
            };
            if !__again_0 && ::breakerbox::__private::is_first(&__retry_0) {
                break '__attempts_0 __out;
            }
            match ::breakerbox::__private::next::<
                Result<Receipt, PaymentError>,
            >(&mut __retry_0, __out, __again_0, ::breakerbox::Verdict::Failure) {
                ::core::ops::ControlFlow::Break(__out) => break '__attempts_0 __out,
                ::core::ops::ControlFlow::Continue(__sleep_0) => {
                    __sleep_0.await;
                    if let ::core::option::Option::Some(__out) = ::breakerbox::__private::too_late(
                        &mut __retry_0,
                    ) {
                        break '__attempts_0 __out;
                    }
                    continue '__attempts_0;
                }
            }
        }
    }
}
