fn rate(currency: &str) -> Result<f64, breakerbox::Error<io::Error>> {
    let __breaker: &'static ::breakerbox::Breaker = {
        static __SITE: ::breakerbox::__private::CallSite = ::breakerbox::__private::CallSite::new(
            "rates",
            "rate",
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
    let __out: <Result<
        f64,
        breakerbox::Error<io::Error>,
    > as ::breakerbox::__private::Wrapped>::Plain = '__made: {
        let __rejected = '__refused: {
            if !::breakerbox::__private::is_in(&__guard) {
                if let ::core::option::Option::Some(__rejected) = ::breakerbox::__private::wait_blocking(
                    &mut __guard,
                ) {
                    break '__refused __rejected;
                }
            }
            break '__made ::breakerbox::__private::run(
                &mut __guard,
                move || -> <Result<
                    f64,
                    breakerbox::Error<io::Error>,
                > as ::breakerbox::__private::Wrapped>::Plain {
                    let __ret: <Result<
                        f64,
                        breakerbox::Error<io::Error>,
                    > as ::breakerbox::__private::Wrapped>::Plain = match () {
                        () => {
                            let text = fs::read_to_string(currency)?;
                            parse(&text)
                        }
                    };
                    #[allow(unreachable_code)] __ret
                },
            );
        };
        return ::breakerbox::__private::rejected::<
            Result<f64, breakerbox::Error<io::Error>>,
        >(__rejected);
    };
    let __verdict = match ::breakerbox::__private::error_of::<
        <Result<
            f64,
            breakerbox::Error<io::Error>,
        > as ::breakerbox::__private::Wrapped>::Plain,
    >(&__out) {
        ::core::option::Option::Some(__error) => {
            let __verdict = if ::breakerbox::__private::ask(is_timeout, __error) {
                ::breakerbox::Verdict::Failure
            } else {
                ::breakerbox::Verdict::Success
            };
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
    ::breakerbox::__private::wrap::<Result<f64, breakerbox::Error<io::Error>>>(__out)
}
