async fn charge(&self, order: &Order) -> Result<Receipt, PaymentError> {
    {
        #[allow(unused_imports)]
        use circuit_breaker as _;
    }
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
    let mut __judged = ::breakerbox::Verdict::Failure;
    let __out: Result<Receipt, PaymentError> = '__made: {
        let __rejected = '__refused: {
            let __out: Result<Receipt, PaymentError> = {
                let mut __retry_0 = ::breakerbox::__private::retrying::<
                    Result<Receipt, PaymentError>,
                >(
                    __policies,
                    {
                        static __RETRY: ::breakerbox::RetryPolicy = ::breakerbox::__private::checked(
                            ::breakerbox::RetryPolicy::new().wait_for_circuit(),
                        );
                        &__RETRY
                    },
                    ::core::option::Option::None,
                );
                '__attempts_0: loop {
                    let __rejected = '__refused_0: {
                        let __out: Result<Receipt, PaymentError> = {
                            let mut __guard = ::breakerbox::__private::enter(__breaker);
                            let __out: Result<Receipt, PaymentError> = '__made_1: {
                                let __rejected = '__refused_1: {
                                    if !::breakerbox::__private::is_in(&__guard) {
                                        if let ::core::option::Option::Some(__rejected) = ::breakerbox::__private::refuse_before(
                                            &mut __guard,
                                            ::core::option::Option::None,
                                        ) {
                                            break '__refused_1 __rejected;
                                        }
                                    }
                                    if !::breakerbox::__private::is_in(&__guard) {
                                        if let ::core::option::Option::Some(__rejected) = ::breakerbox::__private::wait(
                                                &mut __guard,
                                            )
                                            .await
                                        {
                                            break '__refused_1 __rejected;
                                        }
                                    }
                                    let __out: Result<Receipt, PaymentError> = {
                                        let __out: Result<Receipt, PaymentError> = ::breakerbox::__private::watch(
                                                &mut __guard,
                                                async {
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
                                        __out
                                    };
                                    break '__made_1 __out;
                                };
                                break '__refused_0 __rejected;
                            };
                            let __verdict = {
                                let __verdict = ::breakerbox::__private::classify(
                                    &__out,
                                    verdict_of,
                                );
                                ::breakerbox::__private::settle(&mut __guard, __verdict);
                                __verdict
                            };
                            __judged = __verdict;
                            __out
                        };
                        let __again_0: bool = match ::breakerbox::__private::error_of::<
                            Result<Receipt, PaymentError>,
                        >(&__out) {
                            ::core::option::Option::Some(_) => true,
                            ::core::option::Option::None => {
                                match __judged {
                                    ::breakerbox::Verdict::RetryAfter(_) => true,
                                    _ => false,
                                }
                            }
                        };
                        if !__again_0 && ::breakerbox::__private::is_first(&__retry_0) {
                            break '__attempts_0 __out;
                        }
                        match ::breakerbox::__private::next::<
                            Result<Receipt, PaymentError>,
                        >(&mut __retry_0, __out, __again_0, __judged) {
                            ::core::ops::ControlFlow::Break(__out) => {
                                break '__attempts_0 __out;
                            }
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
                    };
                    match ::breakerbox::__private::refused::<
                        Result<Receipt, PaymentError>,
                    >(&mut __retry_0, __rejected) {
                        ::breakerbox::__private::Refusal::Last(__out) => {
                            break '__attempts_0 __out;
                        }
                        ::breakerbox::__private::Refusal::Rejected(__rejected) => {
                            break '__refused __rejected;
                        }
                        ::breakerbox::__private::Refusal::Wait(__sleep_0) => {
                            __sleep_0.await;
                            match ::breakerbox::__private::waited(&mut __retry_0) {
                                ::breakerbox::__private::Refusal::Last(__out) => {
                                    break '__attempts_0 __out;
                                }
                                ::breakerbox::__private::Refusal::Rejected(__rejected) => {
                                    break '__refused __rejected;
                                }
                                ::breakerbox::__private::Refusal::Again
                                | ::breakerbox::__private::Refusal::Wait(_) => {}
                            }
                        }
                        ::breakerbox::__private::Refusal::Again => {}
                    }
                }
            };
            break '__made __out;
        };
        ::breakerbox::__private::rejected::<Result<Receipt, PaymentError>>(__rejected)
    };
    __out
}
