async fn send<T: Body>(
    mut self,
    mut to: Vec<String>,
    _2: Lock,
    (subject, body): (String, T),
    n: u32,
) -> Result<impl Debug, Error> {
    #![allow(unused)]
    let __breaker: &'static ::breakerbox::Breaker = {
        static __SITE: ::breakerbox::__private::CallSite = ::breakerbox::__private::CallSite::new(
            "mail",
            "send",
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
    let __out: Result<_, Error> = '__made: {
        let __rejected = '__refused: {
            if !::breakerbox::__private::is_in(&__guard) {
                if let ::core::option::Option::Some(__rejected) = ::breakerbox::__private::refuse(
                    &mut __guard,
                ) {
                    break '__refused __rejected;
                }
            }
            match ::breakerbox::__private::wait_and_watch(
                    &mut __guard,
                    ::breakerbox::__private::boxed(async move {
                        if let ::core::option::Option::Some(__ret) = ::core::option::Option::None::<
                            Result<_, Error>,
                        > {
                            return __ret;
                        }
                        let _ = &subject;
                        #[allow(clippy::used_underscore_binding)]
                        let _ = &_2;
                        let _ = &to;
                        let __ret: Result<_, Error> = match () {
                            () => {
                                to.push(subject);
                                Ok(to)
                            }
                        };
                        #[allow(unreachable_code)] __ret
                    }),
                )
                .await
            {
                ::core::option::Option::Some(__out) => break '__made __out,
                ::core::option::Option::None => {
                    ::breakerbox::__private::rejection(&__guard)
                }
            }
        };
        return ::breakerbox::__private::rejected::<Result<_, Error>>(__rejected);
    };
    let __verdict = match ::breakerbox::__private::error_of::<Result<_, Error>>(&__out) {
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
