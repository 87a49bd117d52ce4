fn read(path: &Path) -> Result<String, E> {
    {
        #[allow(unused_imports)]
        use circuit_breaker as _;
        #[allow(unused_imports)]
        use bulkhead as _;
    }
    let __policies: &'static ::breakerbox::__private::Policies = {
        static __SITE: ::breakerbox::__private::PolicySite = ::breakerbox::__private::PolicySite::new(
            "files",
            ::breakerbox::__private::Limits::new()
                .bulkhead(::breakerbox::BulkheadPolicy::new(2u32))
                .retries(),
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
            "files",
            "read",
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
    let __out: Result<String, E> = '__made: {
        let __rejected = '__refused: {
            let __out: Result<String, E> = {
                let mut __retry_0 = ::breakerbox::__private::retrying::<
                    Result<String, E>,
                >(
                    __policies,
                    {
                        static __RETRY: ::breakerbox::RetryPolicy = ::breakerbox::__private::checked(
                            ::breakerbox::RetryPolicy::new(),
                        );
                        &__RETRY
                    },
                    ::core::option::Option::None,
                );
                '__attempts_0: loop {
                    let __rejected = '__refused_0: {
                        let __out: Result<String, E> = {
                            let mut __guard = ::breakerbox::__private::enter(__breaker);
                            let __out: Result<String, E> = '__made_1: {
                                let __rejected = '__refused_1: {
                                    if !::breakerbox::__private::is_in(&__guard) {
                                        if let ::core::option::Option::Some(__rejected) = ::breakerbox::__private::wait_blocking(
                                            &mut __guard,
                                        ) {
                                            break '__refused_1 __rejected;
                                        }
                                    }
                                    let __out: Result<String, E> = {
                                        let __slot_2 = match ::breakerbox::__private::try_slot(
                                            __policies,
                                        ) {
                                            ::core::option::Option::Some(__slot_2) => __slot_2,
                                            ::core::option::Option::None => {
                                                match ::breakerbox::__private::slot_blocking(__policies) {
                                                    ::core::result::Result::Ok(__slot_2) => __slot_2,
                                                    ::core::result::Result::Err(__rejected) => {
                                                        break '__refused_1 __rejected;
                                                    }
                                                }
                                            }
                                        };
                                        let __out: Result<String, E> = {
                                            let __out: Result<String, E> = ::breakerbox::__private::run(
                                                &mut __guard,
                                                || -> Result<String, E> {
                                                    let __ret: Result<String, E> = match () {
                                                        () => {
                                                            fs::read_to_string(path)
                                                        }
                                                    };
                                                    #[allow(unreachable_code)] __ret
                                                },
                                            );
                                            __out
                                        };
                                        ::core::mem::drop(__slot_2);
                                        __out
                                    };
                                    break '__made_1 __out;
                                };
                                ::breakerbox::__private::refused_inside(
                                    &mut __guard,
                                    &__rejected,
                                    false,
                                );
                                break '__refused_0 __rejected;
                            };
                            let __verdict = match ::breakerbox::__private::error_of::<
                                Result<String, E>,
                            >(&__out) {
                                ::core::option::Option::Some(__error) => {
                                    let __verdict = ::breakerbox::Verdict::Failure;
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
                            __out
                        };
                        let __again_0: bool = match ::breakerbox::__private::error_of::<
                            Result<String, E>,
                        >(&__out) {
                            ::core::option::Option::Some(_) => true,
                            ::core::option::Option::None => false,
                        };
                        if !__again_0 && ::breakerbox::__private::is_first(&__retry_0) {
                            break '__attempts_0 __out;
                        }
                        match ::breakerbox::__private::next_blocking::<
                            Result<String, E>,
                        >(
                            &mut __retry_0,
                            __out,
                            __again_0,
                            ::breakerbox::Verdict::Failure,
                        ) {
                            ::core::ops::ControlFlow::Break(__out) => {
                                break '__attempts_0 __out;
                            }
                            ::core::ops::ControlFlow::Continue(()) => {
                                continue '__attempts_0;
                            }
                        }
                    };
                    match ::breakerbox::__private::refused_blocking::<
                        Result<String, E>,
                    >(&mut __retry_0, __rejected) {
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
            };
            break '__made __out;
        };
        ::breakerbox::__private::rejected::<Result<String, E>>(__rejected)
    };
    __out
}
