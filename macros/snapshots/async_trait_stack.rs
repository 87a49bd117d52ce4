fn find<'life0, 'async_trait>(
    &'life0 self,
    text: String,
) -> ::core::pin::Pin<
    Box<
        dyn ::core::future::Future<
            Output = Result<u32, E>,
        > + ::core::marker::Send + 'async_trait,
    >,
> {
    Box::pin(async move {
        if let ::core::option::Option::Some(__ret) = ::core::option::Option::None::<
            Result<u32, E>,
        > {
            return __ret;
        }
        let __self = self;
        let text = text;
        let __policies: &'static ::breakerbox::__private::Policies = {
            static __SITE: ::breakerbox::__private::PolicySite = ::breakerbox::__private::PolicySite::new(
                "search",
                ::breakerbox::__private::Limits::new().retries().timeouts(),
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
                "search",
                "find",
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
        let __out: Result<u32, E> = '__made: {
            let __rejected = '__refused: {
                let __out: Result<u32, E> = {
                    let __bound_0 = ::breakerbox::__private::bound(
                        __policies,
                        ::core::time::Duration::new(8u64, 0u32),
                        ::core::option::Option::None,
                    );
                    let __out: ::core::option::Option<Result<u32, E>> = {
                        let mut __retry_1 = ::breakerbox::__private::retrying::<
                            Result<u32, E>,
                        >(
                            __policies,
                            {
                                static __RETRY: ::breakerbox::RetryPolicy = ::breakerbox::__private::checked(
                                    ::breakerbox::RetryPolicy::new(),
                                );
                                &__RETRY
                            },
                            ::core::option::Option::Some(&__bound_0),
                        );
                        '__attempts_1: loop {
                            let __rejected = '__refused_1: {
                                let text = ::breakerbox::__private::cloned(&text);
                                let __out: ::core::option::Option<Result<u32, E>> = {
                                    let mut __guard = ::breakerbox::__private::enter(__breaker);
                                    let __out: ::core::option::Option<Result<u32, E>> = '__made_2: {
                                        let __rejected = '__refused_2: {
                                            if !::breakerbox::__private::is_in(&__guard) {
                                                if let ::core::option::Option::Some(__rejected) = ::breakerbox::__private::refuse_before(
                                                    &mut __guard,
                                                    ::core::option::Option::Some(&__bound_0),
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
                                            let __out: ::core::option::Option<Result<u32, E>> = {
                                                ::breakerbox::__private::watch(
                                                        &mut __guard,
                                                        ::breakerbox::__private::within(
                                                            &__bound_0,
                                                            async {
                                                                if let ::core::option::Option::Some(__ret) = ::core::option::Option::None::<
                                                                    Result<u32, E>,
                                                                > {
                                                                    return __ret;
                                                                }
                                                                let mut text = text;
                                                                let __ret: Result<u32, E> = match () {
                                                                    () => {
                                                                        if let ::core::option::Option::Some(__ret) = ::core::option::Option::None::<
                                                                            Result<u32, E>,
                                                                        > {
                                                                            #[allow(unreachable_code)] return __ret;
                                                                        }
                                                                        let __ret: Result<u32, E> = { Ok(__self.count(text)) };
                                                                        #[allow(unreachable_code)] __ret
                                                                    }
                                                                };
                                                                #[allow(unreachable_code)] __ret
                                                            },
                                                        ),
                                                    )
                                                    .await
                                            };
                                            break '__made_2 __out;
                                        };
                                        break '__refused_1 __rejected;
                                    };
                                    match __out {
                                        ::core::option::Option::Some(ref __out) => {
                                            let __verdict = match ::breakerbox::__private::error_of::<
                                                Result<u32, E>,
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
                                        }
                                        ::core::option::Option::None => {
                                            ::breakerbox::__private::struck(&mut __guard);
                                        }
                                    }
                                    __out
                                };
                                let __out: Result<u32, E> = match __out {
                                    ::core::option::Option::Some(__out) => __out,
                                    ::core::option::Option::None => {
                                        break '__attempts_1 ::core::option::Option::None;
                                    }
                                };
                                let __again_1: bool = match ::breakerbox::__private::error_of::<
                                    Result<u32, E>,
                                >(&__out) {
                                    ::core::option::Option::Some(_) => true,
                                    ::core::option::Option::None => false,
                                };
                                if !__again_1
                                    && ::breakerbox::__private::is_first(&__retry_1)
                                {
                                    break '__attempts_1 ::core::option::Option::Some(__out);
                                }
                                match ::breakerbox::__private::next::<
                                    Result<u32, E>,
                                >(
                                    &mut __retry_1,
                                    __out,
                                    __again_1,
                                    ::breakerbox::Verdict::Failure,
                                ) {
                                    ::core::ops::ControlFlow::Break(__out) => {
                                        break '__attempts_1 ::core::option::Option::Some(__out);
                                    }
                                    ::core::ops::ControlFlow::Continue(__sleep_1) => {
                                        __sleep_1.await;
                                        if let ::core::option::Option::Some(__out) = ::breakerbox::__private::too_late(
                                            &mut __retry_1,
                                        ) {
                                            break '__attempts_1 ::core::option::Option::Some(__out);
                                        }
                                        continue '__attempts_1;
                                    }
                                }
                            };
                            match ::breakerbox::__private::refused::<
                                Result<u32, E>,
                            >(&mut __retry_1, __rejected) {
                                ::breakerbox::__private::Refusal::Last(__out) => {
                                    break '__attempts_1 ::core::option::Option::Some(__out);
                                }
                                ::breakerbox::__private::Refusal::Rejected(__rejected) => {
                                    break '__refused __rejected;
                                }
                                ::breakerbox::__private::Refusal::Wait(__sleep_1) => {
                                    __sleep_1.await;
                                    match ::breakerbox::__private::waited(&mut __retry_1) {
                                        ::breakerbox::__private::Refusal::Last(__out) => {
                                            break '__attempts_1 ::core::option::Option::Some(__out);
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
                    match __out {
                        ::core::option::Option::Some(__out) => __out,
                        ::core::option::Option::None => {
                            ::breakerbox::__private::timed_out::<
                                Result<u32, E>,
                            >(&__bound_0)
                        }
                    }
                };
                break '__made __out;
            };
            ::breakerbox::__private::rejected::<Result<u32, E>>(__rejected)
        };
        __out
    })
}
