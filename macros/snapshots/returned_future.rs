fn find(text: String) -> impl Future<Output = Result<u32, E>> + Send {
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
    let mut __guard = ::breakerbox::__private::enter(__breaker);
    let __rejected = if ::breakerbox::__private::is_in(&__guard) {
        ::core::option::Option::None
    } else {
        ::breakerbox::__private::refuse(&mut __guard)
    };
    let __future = match __rejected {
        ::core::option::Option::Some(__rejected) => {
            ::core::result::Result::Err(__rejected)
        }
        ::core::option::Option::None => {
            ::core::result::Result::Ok(
                ::breakerbox::__private::make(
                    &mut __guard,
                    move || -> _ {
                        let __ret: _ = match () {
                            () => {
                                search(text).boxed()
                            }
                        };
                        #[allow(unreachable_code)] __ret
                    },
                ),
            )
        }
    };
    async move {
        if let ::core::option::Option::Some(__ret) = ::core::option::Option::None::<
            Result<u32, E>,
        > {
            return __ret;
        }
        let __out: Result<u32, E> = '__made: {
            let __rejected = match __future {
                ::core::result::Result::Err(__rejected) => __rejected,
                ::core::result::Result::Ok(__future) => {
                    match ::breakerbox::__private::wait_and_watch(&mut __guard, __future)
                        .await
                    {
                        ::core::option::Option::Some(__out) => break '__made __out,
                        ::core::option::Option::None => {
                            ::breakerbox::__private::rejection(&__guard)
                        }
                    }
                }
            };
            return ::breakerbox::__private::rejected::<Result<u32, E>>(__rejected);
        };
        let __verdict = match ::breakerbox::__private::error_of::<
            Result<u32, E>,
        >(&__out) {
            ::core::option::Option::Some(__error) => {
                let __verdict = ::breakerbox::Verdict::Failure;
                #[allow(unused_imports)]
                use ::breakerbox::__private::{NotShown as _, Shown as _};
                let __error = (&&::breakerbox::__private::Telling(__error))
                    .__breakerbox_shown();
                ::breakerbox::__private::settle_error(&mut __guard, __verdict, __error);
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
    }
}
