async fn charge(&self, order: &Order) -> Result<Receipt, PaymentError> {
    let __policies: &'static ::breakerbox::__private::Policies = {
        static __SITE: ::breakerbox::__private::PolicySite = ::breakerbox::__private::PolicySite::new(
            "stripe",
            ::breakerbox::__private::Limits::new()
                .rate_limit(
                    ::breakerbox::RatePolicy::new(
                            100u32,
                            ::core::time::Duration::new(1u64, 0u32),
                        )
                        .max_wait(::core::time::Duration::new(0u64, 50000000u32)),
                )
                .bulkhead(::breakerbox::BulkheadPolicy::new(6u32))
                .retries()
                .timeouts()
                .fallbacks(),
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
    let mut __timed_out = false;
    {
        let __out: Result<Receipt, PaymentError> = '__answered_0: {
            let __rejected = '__refused_0: {
                let __out: Result<Receipt, PaymentError> = {
                    let __bound_1 = ::breakerbox::__private::bound(
                        __policies,
                        ::core::time::Duration::new(8u64, 0u32),
                        ::core::option::Option::None,
                    );
                    let __out: ::core::option::Option<Result<Receipt, PaymentError>> = {
                        let mut __retry_2 = ::breakerbox::__private::retrying::<
                            Result<Receipt, PaymentError>,
                        >(
                            __policies,
                            {
                                static __RETRY: ::breakerbox::RetryPolicy = ::breakerbox::__private::checked(
                                    ::breakerbox::RetryPolicy::new(),
                                );
                                &__RETRY
                            },
                            ::core::option::Option::Some(&__bound_1),
                        );
                        '__attempts_2: loop {
                            let __rejected = '__refused_2: {
                                let __out: ::core::option::Option<
                                    Result<Receipt, PaymentError>,
                                > = {
                                    let mut __guard = ::breakerbox::__private::enter(__breaker);
                                    let __out: ::core::option::Option<
                                        Result<Receipt, PaymentError>,
                                    > = '__made_3: {
                                        let __rejected = '__refused_3: {
                                            if !::breakerbox::__private::is_in(&__guard) {
                                                if let ::core::option::Option::Some(__rejected) = ::breakerbox::__private::refuse_before(
                                                    &mut __guard,
                                                    ::core::option::Option::Some(&__bound_1),
                                                ) {
                                                    break '__refused_3 __rejected;
                                                }
                                            }
                                            if !::breakerbox::__private::is_in(&__guard) {
                                                if let ::core::option::Option::Some(__rejected) = ::breakerbox::__private::wait(
                                                        &mut __guard,
                                                    )
                                                    .await
                                                {
                                                    break '__refused_3 __rejected;
                                                }
                                            }
                                            let __out: ::core::option::Option<
                                                Result<Receipt, PaymentError>,
                                            > = {
                                                if !::breakerbox::__private::try_token(__policies) {
                                                    if let ::core::result::Result::Err(__rejected) = ::breakerbox::__private::token(
                                                            __policies,
                                                            ::core::option::Option::Some(&__bound_1),
                                                        )
                                                        .await
                                                    {
                                                        break '__refused_3 __rejected;
                                                    }
                                                }
                                                {
                                                    let __slot_5 = match ::breakerbox::__private::try_slot(
                                                        __policies,
                                                    ) {
                                                        ::core::option::Option::Some(__slot_5) => __slot_5,
                                                        ::core::option::Option::None => {
                                                            match ::breakerbox::__private::slot(
                                                                    __policies,
                                                                    ::core::option::Option::Some(&__bound_1),
                                                                )
                                                                .await
                                                            {
                                                                ::core::result::Result::Ok(__slot_5) => __slot_5,
                                                                ::core::result::Result::Err(__rejected) => {
                                                                    break '__refused_3 __rejected;
                                                                }
                                                            }
                                                        }
                                                    };
                                                    let __out: ::core::option::Option<
                                                        Result<Receipt, PaymentError>,
                                                    > = {
                                                        let __bound_6 = ::breakerbox::__private::bound(
                                                            __policies,
                                                            ::core::time::Duration::new(2u64, 0u32),
                                                            ::core::option::Option::Some(&__bound_1),
                                                        );
                                                        let __out: ::core::option::Option<
                                                            Result<Receipt, PaymentError>,
                                                        > = {
                                                            match ::breakerbox::__private::watch(
                                                                    &mut __guard,
                                                                    ::breakerbox::__private::within(
                                                                        &__bound_6,
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
                                                                    ),
                                                                )
                                                                .await
                                                            {
                                                                ::core::option::Option::Some(__out) => {
                                                                    __timed_out = false;
                                                                    ::core::option::Option::Some(__out)
                                                                }
                                                                ::core::option::Option::None => ::core::option::Option::None,
                                                            }
                                                        };
                                                        match __out {
                                                            ::core::option::Option::Some(__out) => {
                                                                ::core::option::Option::Some(__out)
                                                            }
                                                            ::core::option::Option::None => {
                                                                if ::breakerbox::__private::is_over(&__bound_6) {
                                                                    __timed_out = true;
                                                                    ::core::option::Option::Some(
                                                                        ::breakerbox::__private::timed_out::<
                                                                            Result<Receipt, PaymentError>,
                                                                        >(&__bound_6),
                                                                    )
                                                                } else {
                                                                    ::core::option::Option::None
                                                                }
                                                            }
                                                        }
                                                    };
                                                    ::core::mem::drop(__slot_5);
                                                    __out
                                                }
                                            };
                                            break '__made_3 __out;
                                        };
                                        ::breakerbox::__private::refused_inside(
                                            &mut __guard,
                                            &__rejected,
                                            true,
                                        );
                                        break '__refused_2 __rejected;
                                    };
                                    match __out {
                                        ::core::option::Option::Some(ref __out) => {
                                            let __verdict = match ::breakerbox::__private::error_of::<
                                                Result<Receipt, PaymentError>,
                                            >(&__out) {
                                                ::core::option::Option::Some(__error) => {
                                                    let __verdict = if __timed_out {
                                                        ::breakerbox::Verdict::Failure
                                                    } else {
                                                        if ::breakerbox::__private::ask(is_infra, __error) {
                                                            ::breakerbox::Verdict::Failure
                                                        } else {
                                                            ::breakerbox::Verdict::Success
                                                        }
                                                    };
                                                    #[allow(unused_imports)]
                                                    use ::breakerbox::__private::{NotShown as _, Shown as _};
                                                    let __error = (&&::breakerbox::__private::Telling(__error))
                                                        .__breakerbox_shown();
                                                    ::breakerbox::__private::settle_error(
                                                        &mut __guard,
                                                        __verdict,
                                                        __error,
                                                    );
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
                                        }
                                        ::core::option::Option::None => {
                                            ::breakerbox::__private::struck(&mut __guard);
                                        }
                                    }
                                    __out
                                };
                                let __out: Result<Receipt, PaymentError> = match __out {
                                    ::core::option::Option::Some(__out) => __out,
                                    ::core::option::Option::None => {
                                        break '__attempts_2 ::core::option::Option::None;
                                    }
                                };
                                let __again_2: bool = match ::breakerbox::__private::error_of::<
                                    Result<Receipt, PaymentError>,
                                >(&__out) {
                                    ::core::option::Option::Some(_) => true,
                                    ::core::option::Option::None => false,
                                };
                                if !__again_2
                                    && ::breakerbox::__private::is_first(&__retry_2)
                                {
                                    break '__attempts_2 ::core::option::Option::Some(__out);
                                }
                                match ::breakerbox::__private::next::<
                                    Result<Receipt, PaymentError>,
                                >(
                                    &mut __retry_2,
                                    __out,
                                    __again_2,
                                    ::breakerbox::Verdict::Failure,
                                ) {
                                    ::core::ops::ControlFlow::Break(__out) => {
                                        break '__attempts_2 ::core::option::Option::Some(__out);
                                    }
                                    ::core::ops::ControlFlow::Continue(__sleep_2) => {
                                        __sleep_2.await;
                                        if let ::core::option::Option::Some(__out) = ::breakerbox::__private::too_late(
                                            &mut __retry_2,
                                        ) {
                                            break '__attempts_2 ::core::option::Option::Some(__out);
                                        }
                                        continue '__attempts_2;
                                    }
                                }
                            };
                            match ::breakerbox::__private::refused::<
                                Result<Receipt, PaymentError>,
                            >(&mut __retry_2, __rejected) {
                                ::breakerbox::__private::Refusal::Last(__out) => {
                                    break '__attempts_2 ::core::option::Option::Some(__out);
                                }
                                ::breakerbox::__private::Refusal::Rejected(__rejected) => {
                                    break '__refused_0 __rejected;
                                }
                                ::breakerbox::__private::Refusal::Wait(__sleep_2) => {
                                    __sleep_2.await;
                                    match ::breakerbox::__private::waited(&mut __retry_2) {
                                        ::breakerbox::__private::Refusal::Last(__out) => {
                                            break '__attempts_2 ::core::option::Option::Some(__out);
                                        }
                                        ::breakerbox::__private::Refusal::Rejected(__rejected) => {
                                            break '__refused_0 __rejected;
                                        }
                                        ::breakerbox::__private::Refusal::Again
                                        | ::breakerbox::__private::Refusal::Wait(_) => {}
                                    }
                                }
                                ::breakerbox::__private::Refusal::Again => {}
                            }
                        }
                    };
                    match __out {
                        ::core::option::Option::Some(__out) => __out,
                        ::core::option::Option::None => {
                            __timed_out = true;
                            ::breakerbox::__private::timed_out::<
                                Result<Receipt, PaymentError>,
                            >(&__bound_1)
                        }
                    }
                };
                break '__answered_0 __out;
            };
            let __out: Result<Receipt, PaymentError> = {
                #[allow(clippy::no_effect_underscore_binding)]
                let rejected: ::breakerbox::Rejected = __rejected;
                let __ret: Result<Receipt, PaymentError> = match () {
                    () => self.other(order, rejected).await,
                };
                #[allow(unreachable_code)] __ret
            };
            #[allow(unused_imports)]
            use ::breakerbox::__private::{CannotFail as _, MayFail as _};
            let __failed = (&&::breakerbox::__private::Answered(&__out))
                .__breakerbox_failed();
            ::breakerbox::__private::fell_back(__policies, __failed);
            __timed_out = false;
            __out
        };
        __out
    }
}
