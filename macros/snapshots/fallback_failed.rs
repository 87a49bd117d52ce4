#[inline]
async fn charge(order: &Order) -> Result<Receipt, breakerbox::Error<E>> {
    {
        #[allow(unused_imports)]
        use breakerbox::fallback as _;
        #[allow(unused_imports)]
        use circuit_breaker as _;
        #[allow(unused_imports)]
        use timeout as _;
    }
    let __policies: &'static ::breakerbox::__private::Policies = {
        static __SITE: ::breakerbox::__private::PolicySite = ::breakerbox::__private::PolicySite::new(
            "stripe",
            ::breakerbox::__private::Limits::new().timeouts().fallbacks(),
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
    let mut __counted = false;
    let __out: Result<Receipt, breakerbox::Error<E>> = '__made: {
        let __rejected = '__refused: {
            let __out: Result<Receipt, breakerbox::Error<E>> = {
                let __out: Result<Receipt, breakerbox::Error<E>> = '__answered_0: {
                    let __out: Result<Receipt, breakerbox::Error<E>> = {
                        let __out: Result<Receipt, breakerbox::Error<E>> = '__answered_1: {
                            let (
                                __failed,
                                __rejected,
                            ): (
                                Result<Receipt, breakerbox::Error<E>>,
                                ::core::option::Option<::breakerbox::Rejected>,
                            ) = '__failed_1: {
                                let __rejected = '__refused_1: {
                                    let __out: Result<Receipt, breakerbox::Error<E>> = {
                                        let mut __guard = ::breakerbox::__private::enter(__breaker);
                                        let __out: Result<Receipt, breakerbox::Error<E>> = '__made_2: {
                                            let __rejected = '__refused_2: {
                                                if !::breakerbox::__private::is_in(&__guard) {
                                                    if let ::core::option::Option::Some(__rejected) = ::breakerbox::__private::refuse_before(
                                                        &mut __guard,
                                                        ::core::option::Option::None,
                                                    ) {
                                                        break '__refused_2 __rejected;
                                                    }
                                                }
                                                if !::breakerbox::__private::is_in(&__guard) {
                                                    if let ::core::option::Option::Some(__rejected) = ::breakerbox::__private::wait(
                                                            &mut __guard,
                                                        )
                                                        .await
                                                    {
                                                        break '__refused_2 __rejected;
                                                    }
                                                }
                                                let __out: Result<Receipt, breakerbox::Error<E>> = {
                                                    let __bound_3 = ::breakerbox::__private::bound(
                                                        __policies,
                                                        ::core::time::Duration::new(2u64, 0u32),
                                                        ::core::option::Option::None,
                                                    );
                                                    let __out: ::core::option::Option<
                                                        Result<Receipt, breakerbox::Error<E>>,
                                                    > = {
                                                        match ::breakerbox::__private::watch(
                                                                &mut __guard,
                                                                ::breakerbox::__private::within(
                                                                    &__bound_3,
                                                                    async move {
                                                                        if let ::core::option::Option::Some(__ret) = ::core::option::Option::None::<
                                                                            <Result<
                                                                                Receipt,
                                                                                breakerbox::Error<E>,
                                                                            > as ::breakerbox::__private::Wrapped>::Plain,
                                                                        > {
                                                                            return __ret;
                                                                        }
                                                                        let __ret: <Result<
                                                                            Receipt,
                                                                            breakerbox::Error<E>,
                                                                        > as ::breakerbox::__private::Wrapped>::Plain = match () {
                                                                            () => {
                                                                                post(order).await
                                                                            }
                                                                        };
                                                                        #[allow(unreachable_code)] __ret
                                                                    },
                                                                ),
                                                            )
                                                            .await
                                                        {
                                                            ::core::option::Option::Some(__out) => {
                                                                ::core::option::Option::Some(
                                                                    ::breakerbox::__private::wrap::<
                                                                        Result<Receipt, breakerbox::Error<E>>,
                                                                    >(__out),
                                                                )
                                                            }
                                                            ::core::option::Option::None => ::core::option::Option::None,
                                                        }
                                                    };
                                                    match __out {
                                                        ::core::option::Option::Some(__out) => __out,
                                                        ::core::option::Option::None => {
                                                            __timed_out = true;
                                                            ::breakerbox::__private::timed_out::<
                                                                Result<Receipt, breakerbox::Error<E>>,
                                                            >(&__bound_3)
                                                        }
                                                    }
                                                };
                                                break '__made_2 __out;
                                            };
                                            break '__refused_1 __rejected;
                                        };
                                        let __verdict = match ::breakerbox::__private::error_of::<
                                            Result<Receipt, breakerbox::Error<E>>,
                                        >(&__out) {
                                            ::core::option::Option::Some(__error) => {
                                                let __verdict = match ::breakerbox::__private::plain_error_of::<
                                                    Result<Receipt, breakerbox::Error<E>>,
                                                >(&__out) {
                                                    ::core::option::Option::Some(__error) => {
                                                        if ::breakerbox::__private::ask(is_declined, __error) {
                                                            ::breakerbox::Verdict::Ignore
                                                        } else {
                                                            ::breakerbox::Verdict::Failure
                                                        }
                                                    }
                                                    ::core::option::Option::None => {
                                                        ::breakerbox::Verdict::Failure
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
                                        __counted = match __verdict {
                                            ::breakerbox::Verdict::Success
                                            | ::breakerbox::Verdict::Ignore => false,
                                            _ => true,
                                        };
                                        __out
                                    };
                                    if !(__timed_out || __counted) {
                                        break '__answered_1 __out;
                                    }
                                    break '__failed_1 (__out, ::core::option::Option::None);
                                };
                                (
                                    ::breakerbox::__private::rejected::<
                                        Result<Receipt, breakerbox::Error<E>>,
                                    >(__rejected),
                                    ::core::option::Option::Some(__rejected),
                                )
                            };
                            if !match ::breakerbox::__private::error_of::<
                                Result<Receipt, breakerbox::Error<E>>,
                            >(&__failed) {
                                ::core::option::Option::Some(__error) => {
                                    ::breakerbox::__private::ask(is_busy, __error)
                                }
                                ::core::option::Option::None => false,
                            } {
                                match __rejected {
                                    ::core::option::Option::Some(__rejected) => {
                                        break '__refused __rejected;
                                    }
                                    ::core::option::Option::None => break '__answered_1 __failed,
                                }
                            }
                            let __error = match __failed {
                                ::core::result::Result::Err(__error) => __error,
                                __ret => break '__answered_1 __ret,
                            };
                            let __out: Result<Receipt, breakerbox::Error<E>> = {
                                #[allow(clippy::no_effect_underscore_binding)]
                                let error = __error;
                                let __ret: Result<Receipt, breakerbox::Error<E>> = match () {
                                    () => later(error).await,
                                };
                                #[allow(unreachable_code)] __ret
                            };
                            #[allow(unused_imports)]
                            use ::breakerbox::__private::{CannotFail as _, MayFail as _};
                            let __failed = (&&::breakerbox::__private::Answered(&__out))
                                .__breakerbox_failed();
                            ::breakerbox::__private::fell_back(__policies, __failed);
                            __timed_out = false;
                            __counted = __failed;
                            __out
                        };
                        __out
                    };
                    if !(!__timed_out && __counted) {
                        break '__answered_0 __out;
                    }
                    let __first = {
                        #[allow(unused_imports)]
                        use ::breakerbox::__private::{Keeps as _, KeepsNot as _};
                        (&&::breakerbox::__private::Keeping::<
                            Result<Receipt, breakerbox::Error<E>>,
                        >::new())
                            .__breakerbox_first()
                    }
                        .failed(__out);
                    let __out: Result<Receipt, breakerbox::Error<E>> = {
                        let __ret: Result<Receipt, breakerbox::Error<E>> = match () {
                            () => cached(order),
                        };
                        #[allow(unreachable_code)] __ret
                    };
                    let __out: Result<Receipt, breakerbox::Error<E>> = __first
                        .kept_by(__out);
                    #[allow(unused_imports)]
                    use ::breakerbox::__private::{CannotFail as _, MayFail as _};
                    let __failed = (&&::breakerbox::__private::Answered(&__out))
                        .__breakerbox_failed();
                    ::breakerbox::__private::fell_back(__policies, __failed);
                    __timed_out = false;
                    __counted = __failed;
                    __out
                };
                __out
            };
            break '__made __out;
        };
        ::breakerbox::__private::rejected::<
            Result<Receipt, breakerbox::Error<E>>,
        >(__rejected)
    };
    __out
}
