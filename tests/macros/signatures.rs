//! What may stand in a signature.
#![deny(warnings, clippy::all, clippy::pedantic, clippy::nursery)]
// What a plain function of the same shape would be told, too.
#![allow(
    unreachable_pub,
    clippy::missing_errors_doc,
    clippy::missing_const_for_fn,
    clippy::needless_pass_by_value
)]

use std::pin::Pin;
use std::sync::Arc;

use breakerbox::circuit_breaker;

use crate::macros::E;

/// M01
#[tokio::test]
async fn generics_and_where_clauses_are_seen_by_the_body() {
    #[circuit_breaker(service = "m01")]
    pub async fn f<T>(x: T) -> Result<T, E>
    where
        T: Clone + Send + 'static,
    {
        let y: T = x.clone();
        drop(y);
        Ok(x)
    }
    assert_eq!(f(7).await, Ok(7));
    assert_eq!(f::<&str>("seven").await, Ok("seven"));
}

/// M02
#[tokio::test]
async fn an_argument_may_be_impl_trait() {
    #[circuit_breaker(service = "m02")]
    pub async fn f(x: impl AsRef<str> + Clone + Send) -> Result<usize, E> {
        Ok(x.as_ref().len())
    }
    assert_eq!(f("four").await, Ok(4));
}

/// M05 M06 M07
#[tokio::test]
async fn lifetimes_may_be_elided_named_or_anonymous() {
    #[derive(Clone, Copy)]
    pub struct V<'a>(&'a str);

    #[circuit_breaker(service = "m05")]
    pub async fn elided(s: &str) -> Result<&str, E> {
        Ok(s.trim())
    }
    #[circuit_breaker(service = "m06")]
    pub async fn named<'a>(s: &'a str, _other: &str) -> Result<V<'a>, E> {
        Ok(V(s))
    }
    #[circuit_breaker(service = "m07")]
    pub async fn anonymous(v: V<'_>) -> Result<usize, E> {
        Ok(v.0.len())
    }
    assert_eq!(elided(" x ").await, Ok("x"));
    let named = named("abc", "de").await;
    assert_eq!(anonymous(named.unwrap()).await, Ok(3));
}

/// M08 M09 M10 M11 M12 M13 M14 M15 M16
mod receivers {
    use super::*;

    pub trait Assoc {
        type O;
    }
    #[derive(Debug)]
    pub struct S(Vec<u32>);
    impl Assoc for S {
        type O = usize;
    }

    impl S {
        #[circuit_breaker(service = "m15")]
        async fn new(n: u32) -> Result<Self, E> {
            Ok(Self(vec![n]))
        }
        #[circuit_breaker(service = "m08")]
        async fn shared(&self) -> Result<usize, E> {
            Ok(self.0.len())
        }
        #[circuit_breaker(service = "m09")]
        async fn exclusive(&mut self) -> Result<usize, E> {
            self.0.push(1);
            Ok(self.0.len())
        }
        #[circuit_breaker(service = "m10")]
        async fn borrowed(&mut self) -> Result<&mut u32, E> {
            self.0.push(1);
            self.0.last_mut().ok_or(E)
        }
        #[circuit_breaker(service = "m10-sync")]
        fn borrowed_now(&mut self) -> Result<&mut u32, E> {
            self.0.last_mut().ok_or(E)
        }
        #[circuit_breaker(service = "m11")]
        async fn owned(self) -> Result<Vec<u32>, E> {
            Ok(self.0)
        }
        #[circuit_breaker(service = "m12")]
        async fn owned_mut(mut self) -> Result<Self, E> {
            self.0.clear();
            Ok(self)
        }
        #[circuit_breaker(service = "m13")]
        async fn arc(self: Arc<Self>) -> Result<usize, E> {
            Ok(self.0.len())
        }
        #[circuit_breaker(service = "m13-box")]
        async fn boxed(self: Box<Self>) -> Result<Vec<u32>, E> {
            Ok(self.0)
        }
        #[circuit_breaker(service = "m14")]
        async fn pinned(mut self: Pin<&mut Self>) -> Result<usize, E> {
            self.as_mut().get_mut().0.push(9);
            Ok(self.0.len())
        }
        #[circuit_breaker(service = "m16")]
        async fn assoc(&self) -> Result<<Self as Assoc>::O, E> {
            Ok(self.0.len())
        }
    }

    #[tokio::test]
    async fn every_receiver_stays_as_it_is() {
        let mut s = S::new(1).await.unwrap();
        assert_eq!(s.shared().await, Ok(1));
        assert_eq!(S::shared(&s).await, Ok(1));
        assert_eq!(s.exclusive().await, Ok(2));
        *s.borrowed().await.unwrap() += 4;
        *s.borrowed_now().unwrap() += 1;
        assert_eq!(Pin::new(&mut s).pinned().await, Ok(4));
        assert_eq!(s.assoc().await, Ok(4));
        let s = Arc::new(s);
        assert_eq!(Arc::clone(&s).arc().await, Ok(4));
        let s = Arc::into_inner(s).unwrap();
        assert_eq!(Box::new(s).boxed().await, Ok(vec![1, 1, 6, 9]));
        let s = S(vec![1, 2]).owned_mut().await.unwrap();
        assert_eq!(s.owned().await, Ok(vec![]));
    }
}

/// M22 M79 M80
mod generic_impls {
    use super::*;

    pub struct Text<'a>(&'a str);
    impl<'a> Text<'a> {
        #[circuit_breaker(service = "m79")]
        async fn text(&self) -> Result<&'a str, E> {
            Ok(self.0)
        }
    }
    impl Text<'_> {
        #[circuit_breaker(service = "m79-anonymous")]
        async fn len(&self) -> Result<usize, E> {
            Ok(self.0.len())
        }
    }

    pub struct Holder<T, const N: usize>([T; N]);
    #[allow(clippy::future_not_send)]
    impl<T: Clone, const N: usize> Holder<T, N> {
        #[circuit_breaker(service = "m80")]
        async fn all(&self) -> Result<[T; N], E> {
            Ok(self.0.clone())
        }
        #[circuit_breaker(service = "m80-both")]
        async fn paired<U: Clone>(&self, other: &U) -> Result<([T; N], U), E> {
            Ok((self.0.clone(), other.clone()))
        }
    }

    #[circuit_breaker(service = "m22")]
    async fn size<const N: usize>(a: [u8; N]) -> Result<usize, E> {
        Ok(a.len() + N)
    }

    #[tokio::test]
    async fn generic_impls_and_const_generics_are_seen_by_the_body() {
        assert_eq!(Text("ab").text().await, Ok("ab"));
        assert_eq!(Text("ab").len().await, Ok(2));
        assert_eq!(Holder([1, 2]).all().await, Ok([1, 2]));
        assert_eq!(Holder(['x']).paired(&3).await, Ok((['x'], 3)));
        assert_eq!(size([0; 4]).await, Ok(8));
    }
}

/// M23 M24 M25 M26 M27 M28 B231
#[tokio::test]
async fn patterns_and_mut_bindings_keep_their_meaning() {
    pub struct P {
        x: i32,
        y: i32,
    }
    #[circuit_breaker(service = "m23")]
    pub async fn tuple((a, mut b): (i32, i32)) -> Result<i32, E> {
        b += 1;
        Ok(a + b)
    }
    #[circuit_breaker(service = "m24")]
    pub async fn fields(P { x, y: z }: P, _: u8) -> Result<i32, E> {
        Ok(x - z)
    }
    #[circuit_breaker(service = "m25")]
    pub async fn number(mut n: u32) -> Result<u32, E> {
        n += 1;
        Ok(n)
    }
    #[circuit_breaker(service = "m26")]
    pub async fn text(mut s: String) -> Result<String, E> {
        s.push('a');
        Ok(s)
    }
    #[circuit_breaker(service = "m27")]
    #[allow(clippy::collection_is_never_read)]
    pub async fn collected(mut v: Vec<u8>) -> Result<(), E> {
        v.push(1);
        Ok(())
    }
    #[circuit_breaker(service = "m28")]
    pub async fn reference(&n: &u32) -> Result<u32, E> {
        Ok(n)
    }
    #[circuit_breaker(service = "m28-ref")]
    #[allow(clippy::toplevel_ref_arg)]
    pub async fn by_ref(ref n: u32, ref mut m: u32) -> Result<u32, E> {
        *m += 1;
        Ok(*n + *m)
    }
    #[circuit_breaker(service = "m25-sync")]
    pub fn number_now(mut n: u32, (mut a, b): (u32, u32)) -> Result<u32, E> {
        n += 1;
        a += b;
        Ok(n + a)
    }
    assert_eq!(tuple((1, 2)).await, Ok(4));
    assert_eq!(fields(P { x: 5, y: 2 }, 0).await, Ok(3));
    assert_eq!(number(1).await, Ok(2));
    assert_eq!(text("b".into()).await, Ok("ba".into()));
    assert_eq!(collected(vec![]).await, Ok(()));
    assert_eq!(reference(&3).await, Ok(3));
    assert_eq!(by_ref(3, 4).await, Ok(8));
    assert_eq!(number_now(1, (2, 3)), Ok(7));
}

/// M40 M41 B235
#[tokio::test]
async fn attributes_of_arguments_go_where_they_matter() {
    #[circuit_breaker(service = "m40")]
    pub async fn without(a: u32, #[cfg(any())] b: Missing) -> Result<u32, E> {
        Ok(a)
    }
    #[circuit_breaker(service = "m41")]
    pub async fn allowed(#[allow(unused_variables)] a: u32) -> Result<u32, E> {
        Ok(1)
    }
    #[circuit_breaker(service = "m41-expect")]
    pub async fn expected(#[expect(unused_variables)] a: u32) -> Result<u32, E> {
        Ok(1)
    }
    #[circuit_breaker(service = "m41-mut")]
    pub async fn expected_mut(#[expect(unused_mut)] mut a: u32) -> Result<u32, E> {
        Ok(a)
    }
    #[circuit_breaker(service = "m41-sync")]
    pub fn sync(
        #[cfg(not(any()))] a: u32,
        #[cfg(any())] b: Missing,
        #[expect(unused_variables)] c: u32,
    ) -> Result<u32, E> {
        Ok(a)
    }
    #[circuit_breaker(service = "m41-moved")]
    pub async fn moved(
        #[expect(unused_variables)] a: String,
        #[expect(unused_mut)] mut b: String,
        #[cfg(any())] c: Missing,
        #[allow(unused_mut)] mut d: String,
    ) -> Result<String, E> {
        Ok(b + &d)
    }
    assert_eq!(without(1).await, Ok(1));
    let text = || String::from("x");
    assert_eq!(moved(text(), text(), text()).await, Ok("xx".into()));
    assert_eq!(allowed(1).await, Ok(1));
    assert_eq!(expected(1).await, Ok(1));
    assert_eq!(expected_mut(1).await, Ok(1));
    assert_eq!(sync(1, 2), Ok(1));
}

/// M43 M46; M44 is with the editions, since `unsafe` is forbidden here.
#[tokio::test]
async fn visibility_and_abi_stay() {
    mod inner {
        use super::*;

        #[circuit_breaker(service = "m43")]
        pub(in super::super) async fn f() -> Result<u32, E> {
            Ok(1)
        }
    }
    #[circuit_breaker(service = "m46")]
    #[allow(improper_ctypes_definitions)]
    async extern "C" fn foreign() -> Result<u8, E> {
        Ok(1)
    }
    #[circuit_breaker(service = "m46-sync")]
    #[allow(improper_ctypes_definitions)]
    extern "C" fn foreign_now() -> Result<u8, E> {
        Ok(1)
    }
    assert_eq!(inner::f().await, Ok(1));
    assert_eq!(foreign().await, Ok(1));
    assert_eq!(foreign_now(), Ok(1));
}

/// M52 M53 M61 M62 M64
#[tokio::test]
async fn arguments_are_moved_borrowed_and_called_as_in_a_plain_function() {
    pub struct NotClone(u32);
    #[circuit_breaker(service = "m52")]
    pub async fn not_clone(a: NotClone) -> Result<u32, E> {
        Ok(a.0)
    }
    #[circuit_breaker(service = "m53")]
    pub async fn moved(a: String) -> Result<String, E> {
        let copy = a.clone();
        drop(copy);
        Ok(a)
    }
    #[circuit_breaker(service = "m61")]
    pub async fn higher_ranked<F>(g: F) -> Result<usize, E>
    where
        F: for<'a> Fn(&'a str) -> &'a str,
    {
        Ok(g("x").len())
    }
    #[circuit_breaker(service = "m62")]
    pub async fn once<F: FnOnce() -> u32>(g: F) -> Result<u32, E> {
        Ok(g())
    }
    #[circuit_breaker(service = "m64")]
    pub async fn slice(b: &mut [u8]) -> Result<usize, E> {
        b[0] = 1;
        Ok(b.len())
    }
    assert_eq!(not_clone(NotClone(1)).await, Ok(1));
    assert_eq!(moved("a".into()).await, Ok("a".into()));
    assert_eq!(higher_ranked(str::trim).await, Ok(1));
    let text = String::from("abc");
    assert_eq!(
        once(move || u32::try_from(text.len()).unwrap()).await,
        Ok(3)
    );
    let mut bytes = [0, 0];
    assert_eq!(slice(&mut bytes).await, Ok(2));
    assert_eq!(bytes, [1, 0]);
}

/// M54 B223
#[tokio::test]
async fn raw_identifiers_are_names_without_their_prefix() {
    #[circuit_breaker(service = "m54")]
    async fn r#match(r#type: u32) -> Result<u32, E> {
        Ok(r#type)
    }
    assert_eq!(r#match(1).await, Ok(1));
    let sites = breakerbox::call_sites();
    let site = sites.iter().find(|site| site.service() == "m54").unwrap();
    assert_eq!(site.operation(), "match");
}

/// M19 M20
mod native_traits {
    use super::*;

    #[allow(async_fn_in_trait)]
    pub trait Client {
        #[circuit_breaker(service = "m19")]
        async fn provided(&self, n: usize) -> Result<usize, E> {
            Ok(self.base() + n)
        }
        async fn required(&self) -> Result<usize, E>;
        fn base(&self) -> usize;
        fn opaque(&self) -> impl Future<Output = Result<usize, E>> + Send;
    }
    pub struct S;
    impl Client for S {
        #[circuit_breaker(service = "m20")]
        async fn required(&self) -> Result<usize, E> {
            Ok(self.base())
        }
        fn base(&self) -> usize {
            2
        }
        #[circuit_breaker(service = "m20-rpitit")]
        async fn opaque(&self) -> Result<usize, E> {
            Ok(3)
        }
    }

    #[tokio::test]
    async fn methods_of_traits_are_guarded_with_and_without_a_default() {
        assert_eq!(S.provided(1).await, Ok(3));
        assert_eq!(Client::required(&S).await, Ok(2));
        assert_eq!(S.opaque().await, Ok(3));
    }
}

/// M94
#[tokio::test]
async fn a_guarded_function_is_still_a_function() {
    #[circuit_breaker(service = "m94")]
    async fn f(n: u32) -> Result<u32, E> {
        Ok(n)
    }
    async fn call(f: impl AsyncFn(u32) -> Result<u32, E>) -> Result<u32, E> {
        f(1).await
    }
    let pointer: fn(u32) -> _ = f;
    assert_eq!(pointer(2).await, Ok(2));
    assert_eq!(call(f).await, Ok(1));
    assert!(std::any::type_name_of_val(&f).ends_with("::f"));
}

/// M95
#[tokio::test]
async fn attributes_of_the_function_stay() {
    /// Documented.
    #[circuit_breaker(service = "m95")]
    #[must_use = "it is cheap"]
    #[inline]
    #[cold]
    #[doc(hidden)]
    #[deprecated(note = "old")]
    #[expect(unused_variables)]
    pub async fn f(a: u32) -> Result<u32, E> {
        let b = 1;
        Ok(2)
    }
    #[cfg_attr(all(), circuit_breaker(service = "m95-cfg-attr"))]
    async fn g() -> Result<u32, E> {
        Ok(1)
    }
    #[allow(deprecated)]
    let f = f(1).await;
    assert_eq!(f, Ok(2));
    assert_eq!(g().await, Ok(1));
    assert!(breakerbox::breaker("m95-cfg-attr").is_some());
}

#[tokio::test]
async fn an_unused_argument_behind_a_used_one_is_no_concern_of_lints() {
    struct S;
    impl S {
        #[circuit_breaker(service = "unused-behind")]
        async fn method(&self, a: String, _b: String) -> Result<usize, E> {
            Ok(a.len())
        }
    }
    #[circuit_breaker(service = "unused-behind", fallback = Ok(0))]
    async fn function(a: String, _b: String, mut _c: Vec<u8>) -> Result<usize, E> {
        Ok(a.len())
    }
    assert_eq!(S.method("a".into(), String::new()).await, Ok(1));
    assert_eq!(function("a".into(), String::new(), vec![]).await, Ok(1));
}
