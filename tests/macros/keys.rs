//! The keys that say which breaker, with which numbers.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use breakerbox::Breaker;
use breakerbox::OnCancel;
use breakerbox::Policy;
use breakerbox::Registry;
use breakerbox::State;
use breakerbox::Window;
use breakerbox::circuit_breaker;
use breakerbox::resilient;
use breakerbox::with_registry;

use crate::macros::E;
use crate::macros::breaker;
use crate::macros::calls;

const SERVICE: &str = "key-constant";
const LIMIT: u32 = 3;
const COOLDOWN: Duration = Duration::from_millis(1500);

mod names {
    pub(crate) const SERVICE: &str = "key-path";
}

#[allow(clippy::unwrap_used)]
fn site(service: &str) -> &'static breakerbox::CallSite {
    let sites = breakerbox::call_sites();
    sites.iter().find(|site| site.service() == service).unwrap()
}

#[test]
fn every_rate_reaches_the_policy() {
    const RATE: f64 = 0.25;
    const WINDOW: Window = Window::Calls(30);

    #[circuit_breaker(
        service = "key-rates",
        window = "60s",
        threshold = 30,
        failure_rate = "50%",
        min_calls = 10,
        min_failures = 3,
        slow_call = "2s",
        slow_call_rate = 0.8,
        cooldown = "5s",
        backoff = 2,
        max_cooldown = "80s",
        jitter = "10%",
        probes = 4,
        probe_failure_rate = RATE,
        ramp = "30s",
        shadow
    )]
    fn f() -> Result<(), E> {
        Ok(())
    }
    #[circuit_breaker(service = "key-window", window = WINDOW, shadow = false)]
    fn g() -> Result<(), E> {
        Ok(())
    }
    f().unwrap();
    g().unwrap();
    let seconds = Duration::from_secs;
    let expected = Policy::new()
        .window(Window::Time(seconds(60)))
        .threshold(30)
        .failure_rate(0.5)
        .min_calls(10)
        .min_failures(3)
        .slow_call(seconds(2))
        .slow_call_rate(0.8)
        .cooldown(seconds(5))
        .backoff(2.0)
        .max_cooldown(seconds(80))
        .jitter(0.1)
        .probes(4)
        .probe_failure_rate(0.25)
        .ramp(seconds(30))
        .shadow(true);
    assert_eq!(site("key-rates").policy(), expected);
    assert_eq!(breaker("key-rates").policy(), expected);
    assert_eq!(breaker("key-rates").state(), State::Shadow);
    assert_eq!(site("key-window").policy(), Policy::new().window(WINDOW));
}

/// All kinds of number may stand behind a name or a calculation.
#[test]
fn every_rate_may_be_a_constant() {
    const SHARE: f64 = 0.25;
    const CALLS: u32 = 30;
    const DRY: bool = true;

    #[circuit_breaker(
        service = "key-rates-code",
        window = Window::Calls(2 * CALLS),
        threshold = CALLS,
        failure_rate = 2.0 * SHARE,
        min_calls = CALLS,
        min_failures = CALLS / 3,
        slow_call = COOLDOWN,
        slow_call_rate = SHARE,
        backoff = 1.0 + SHARE,
        max_cooldown = Duration::from_secs(90),
        jitter = SHARE,
        probe_failure_rate = SHARE,
        ramp = COOLDOWN,
        key = "a".to_owned(),
        max_keys = CALLS,
        min_instances = CALLS / 10,
        probe_wait = Duration::from_millis(CALLS as u64 / 2),
        shadow = DRY
    )]
    fn f() -> Result<(), E> {
        Ok(())
    }
    f().unwrap();
    let expected = Policy::new()
        .window(Window::Calls(60))
        .threshold(30)
        .failure_rate(0.5)
        .min_calls(30)
        .min_failures(10)
        .slow_call(COOLDOWN)
        .slow_call_rate(0.25)
        .backoff(1.25)
        .max_cooldown(Duration::from_secs(90))
        .jitter(0.25)
        .probe_failure_rate(0.25)
        .ramp(COOLDOWN)
        .shadow(true)
        .max_keys(30)
        .min_instances(3)
        .probe_wait(Duration::from_millis(15));
    assert_eq!(site("key-rates-code").policy(), expected);
    assert_eq!(breaker("key-rates-code").policy(), expected);
}

#[test]
fn every_number_reaches_the_policy() {
    #[circuit_breaker(
        service = "key-numbers",
        threshold = 7,
        cooldown = "1m30s",
        probes = 4,
        probe_concurrency = 2,
        close_after = 3,
        probe_timeout = "250ms",
        max_open_for = "2h",
        min_instances = 64,
        probe_wait = "0s",
        on_cancel = after("2s")
    )]
    fn f() -> Result<(), E> {
        Ok(())
    }
    f().unwrap();
    let expected = Policy::new()
        .threshold(7)
        .cooldown(Duration::from_secs(90))
        .probes(4)
        .probe_concurrency(2)
        .close_after(3)
        .probe_timeout(Duration::from_millis(250))
        .max_open_for(Duration::from_secs(7200))
        .min_instances(64)
        .probe_wait(Duration::ZERO)
        .on_cancel(OnCancel::After(Duration::from_secs(2)));
    assert_eq!(site("key-numbers").policy(), expected);
    assert_eq!(breaker("key-numbers").snapshot().policy, expected);
}

#[test]
fn the_numbers_of_shared_circuits_go_with_other_policies_and_with_a_key() {
    #[resilient(
        service = "key-shared-numbers",
        circuit_breaker(key = tenant, min_instances = 2, probe_wait = "20ms"),
        bulkhead(max_concurrent = 3)
    )]
    fn f(tenant: &str) -> Result<(), E> {
        let _ = tenant;
        Ok(())
    }
    f("a").unwrap();
    let expected = Policy::new()
        .min_instances(2)
        .probe_wait(Duration::from_millis(20));
    assert_eq!(site("key-shared-numbers").policy(), expected);
    let keyed = breaker("key-shared-numbers").key("a");
    assert_eq!(keyed.policy(), expected);
}

#[test]
fn numbers_may_be_constants_and_are_checked_while_compiling() {
    #[circuit_breaker(
        service = "key-code",
        threshold = LIMIT + 1,
        cooldown = COOLDOWN,
        on_cancel = after(Duration::from_millis(10)),
    )]
    fn f() -> Result<(), E> {
        Ok(())
    }
    f().unwrap();
    let expected = Policy::new()
        .threshold(4)
        .cooldown(COOLDOWN)
        .on_cancel(OnCancel::After(Duration::from_millis(10)));
    assert_eq!(site("key-code").policy(), expected);
}

#[test]
fn without_numbers_the_defaults_hold() {
    #[circuit_breaker(service = "key-defaults")]
    fn f() -> Result<(), E> {
        Ok(())
    }
    f().unwrap();
    assert_eq!(site("key-defaults").policy(), Policy::new());
}

#[test]
fn on_cancel_is_a_word_or_a_duration() {
    #[circuit_breaker(service = "key-ignore", on_cancel = ignore)]
    fn ignore() -> Result<(), E> {
        Ok(())
    }
    #[circuit_breaker(service = "key-failure", on_cancel = failure)]
    fn failure() -> Result<(), E> {
        Ok(())
    }
    ignore().unwrap();
    failure().unwrap();
    assert_eq!(
        site("key-ignore").policy(),
        Policy::new().on_cancel(OnCancel::Ignore)
    );
    assert_eq!(
        site("key-failure").policy(),
        Policy::new().on_cancel(OnCancel::Failure)
    );
}

#[test]
fn names_known_while_compiling_are_listed_before_the_first_call() {
    #[circuit_breaker(service = "key-literal")]
    fn literal() -> Result<(), E> {
        Ok(())
    }
    #[circuit_breaker(service = SERVICE)]
    fn constant() -> Result<(), E> {
        Ok(())
    }
    #[circuit_breaker(service = names::SERVICE)]
    fn path() -> Result<(), E> {
        Ok(())
    }
    #[circuit_breaker(service = concat!("key", "-concat"))]
    fn concat() -> Result<(), E> {
        Ok(())
    }
    #[circuit_breaker(service = std::env!("CARGO_PKG_NAME"))]
    fn env() -> Result<(), E> {
        Ok(())
    }
    let _ = (literal, constant, path, concat, env);
    for service in [
        "key-literal",
        "key-constant",
        "key-path",
        "key-concat",
        env!("CARGO_PKG_NAME"),
    ] {
        assert!(breakerbox::breaker(service).is_some(), "{service}");
    }
}

#[test]
fn other_names_are_worked_out_for_each_call() {
    struct S {
        name: String,
    }
    trait Named {
        const NAME: &'static str;
    }
    impl Named for S {
        const NAME: &'static str = "key-assoc";
    }
    impl S {
        #[circuit_breaker(service = self.name, threshold = 1)]
        fn field(&self) -> Result<(), E> {
            Err(E)
        }
        #[circuit_breaker(service = Self::NAME)]
        fn assoc(&self) -> Result<(), E> {
            Ok(())
        }
    }
    #[circuit_breaker(service = T::NAME)]
    fn generic<T: Named>() -> Result<(), E> {
        Ok(())
    }
    #[circuit_breaker(service = format!("key-{tenant}"))]
    fn formatted(tenant: u32) -> Result<(), E> {
        Ok(())
    }
    #[circuit_breaker(service = name)]
    fn argument(name: &str) -> Result<(), E> {
        Ok(())
    }
    #[circuit_breaker(service = &name)]
    fn owned(name: String) -> Result<String, E> {
        Ok(name)
    }
    #[circuit_breaker(service = name)]
    fn cow(name: Cow<'_, str>) -> Result<Cow<'_, str>, E> {
        Ok(name)
    }
    #[circuit_breaker(service = if first { "key-first" } else { "key-second" })]
    fn chosen(first: bool) -> Result<(), E> {
        Ok(())
    }
    #[circuit_breaker(service = name)]
    async fn shared(name: Arc<str>) -> Result<(), E> {
        Ok(())
    }
    let one = S {
        name: "key-one".into(),
    };
    let two = S {
        name: "key-two".into(),
    };
    assert!(breakerbox::breaker("key-one").is_none());
    one.field().unwrap_err();
    one.field().unwrap_err();
    two.field().unwrap_err();
    assert_eq!(
        (calls("key-one").failure, calls("key-one").rejected),
        (1, 1)
    );
    assert_eq!(
        (calls("key-two").failure, calls("key-two").rejected),
        (1, 0)
    );
    one.assoc().unwrap();
    generic::<S>().unwrap();
    assert_eq!(calls("key-assoc").success, 2);
    formatted(17).unwrap();
    argument("key-17").unwrap();
    owned("key-17".into()).unwrap();
    cow("key-17".into()).unwrap();
    assert_eq!(calls("key-17").success, 4);
    chosen(true).unwrap();
    chosen(false).unwrap();
    assert_eq!(
        (calls("key-first").success, calls("key-second").success),
        (1, 1)
    );
    drop(shared("key-17".into()));
}

#[test]
fn a_handle_is_any_breaker_the_caller_holds() {
    struct Client {
        breaker: &'static Breaker,
    }
    impl Client {
        #[circuit_breaker(handle = self.breaker)]
        fn now(&mut self) -> Result<&mut Self, E> {
            Ok(self)
        }
        #[circuit_breaker(handle = self.breaker, fails_on = |_| true)]
        async fn later(self, fail: bool) -> Result<Self, E> {
            if fail { Err(E) } else { Ok(self) }
        }
        #[circuit_breaker(handle = self.breaker)]
        fn opaque(&self) -> impl Future<Output = Result<(), E>> + use<> {
            async move { Ok(()) }
        }
        #[circuit_breaker(handle = self.breaker)]
        fn made(self) -> impl Future<Output = Result<Self, E>> {
            std::future::ready(Ok(self))
        }
    }
    #[circuit_breaker(handle = breaker)]
    fn borrowed(breaker: &Breaker) -> Result<(), E> {
        Ok(())
    }
    let registry = Registry::builder().declare("key-handle").build().unwrap();
    let breaker = registry.breaker("key-handle").unwrap();
    let mut client = Client { breaker };
    client.now().unwrap();
    borrowed(breaker).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    runtime.block_on(async {
        client.opaque().await.unwrap();
        let client = client.made().await.unwrap();
        let client = client.later(false).await.unwrap();
        assert!(client.later(true).await.is_err());
    });
    let calls = breaker.snapshot().calls;
    assert_eq!((calls.success, calls.failure), (5, 1));
}

#[test]
fn the_operation_is_the_function_unless_it_is_named() {
    #[circuit_breaker(service = "key-operation", operation = "POST /charges")]
    fn f() -> Result<(), E> {
        Ok(())
    }
    #[circuit_breaker(service = "key-no-operation")]
    fn g() -> Result<(), E> {
        Ok(())
    }
    let _ = (f, g);
    assert_eq!(site("key-operation").operation(), "POST /charges");
    assert_eq!(site("key-no-operation").operation(), "g");
}

/// Two functions that name one service share one breaker, also where one of them is generic.
#[test]
fn one_service_has_one_breaker() {
    #[circuit_breaker(service = "key-shared", threshold = 2)]
    fn f() -> Result<(), E> {
        Err(E)
    }
    #[circuit_breaker(service = "key-shared", threshold = 2)]
    fn g<T: Default>() -> Result<T, E> {
        Ok(T::default())
    }
    f().unwrap_err();
    f().unwrap_err();
    g::<u8>().unwrap_err();
    g::<String>().unwrap_err();
    assert_eq!(breaker("key-shared").state(), State::Open);
    assert_eq!(calls("key-shared").rejected, 2);
}

#[tokio::test]
async fn a_private_registry_has_breakers_of_its_own_at_every_kind_of_site() {
    #[circuit_breaker(service = "key-private", threshold = 1)]
    async fn plain() -> Result<(), E> {
        Err(E)
    }
    #[circuit_breaker(service = "key-private", threshold = 1)]
    #[allow(clippy::manual_async_fn)]
    fn opaque() -> impl Future<Output = Result<(), E>> {
        async { Err(E) }
    }
    #[circuit_breaker(service = "key-private", threshold = 1)]
    fn wrapped() -> impl Future<Output = Result<(), E>> {
        std::future::ready(Err(E))
    }
    #[circuit_breaker(service = { "key-private" }, threshold = 1)]
    fn dynamic() -> std::pin::Pin<Box<dyn Future<Output = Result<(), E>>>> {
        Box::pin(async { Err(E) })
    }
    let registry = Registry::builder().build().unwrap();
    // Also what was made outside belongs to the registry it is polled in, but where the
    // function has code of its own, which asks before it runs.
    let (plain, opaque, dynamic) = (plain(), opaque(), dynamic());
    with_registry(registry.clone(), async {
        plain.await.unwrap_err();
        opaque.await.unwrap_err();
        wrapped().await.unwrap_err();
        dynamic.await.unwrap_err();
    })
    .await;
    let calls = registry.breaker("key-private").unwrap().snapshot().calls;
    assert_eq!((calls.failure, calls.rejected), (1, 3));
    assert_eq!(super::calls("key-private").failure, 0);
}

#[tokio::test(start_paused = true)]
async fn the_numbers_decide_what_happens() {
    #[circuit_breaker(
        service = "key-run",
        threshold = 2,
        cooldown = "5s",
        probes = 2,
        close_after = 2
    )]
    async fn f(fail: bool) -> Result<(), E> {
        if fail { Err(E) } else { Ok(()) }
    }
    f(true).await.unwrap_err();
    assert_eq!(breaker("key-run").state(), State::Closed);
    f(true).await.unwrap_err();
    assert_eq!(breaker("key-run").state(), State::Open);
    tokio::time::advance(Duration::from_millis(4999)).await;
    f(false).await.unwrap_err();
    assert_eq!(calls("key-run").rejected, 1);
    tokio::time::advance(Duration::from_millis(1)).await;
    f(false).await.unwrap();
    assert_eq!(breaker("key-run").state(), State::HalfOpen);
    f(false).await.unwrap();
    assert_eq!(breaker("key-run").state(), State::Closed);
}

#[tokio::test(start_paused = true)]
async fn a_dropped_call_is_what_on_cancel_says() {
    #[circuit_breaker(service = "key-cancel-ignore", threshold = 1)]
    async fn ignore() -> Result<(), E> {
        std::future::pending().await
    }
    #[circuit_breaker(service = "key-cancel-failure", threshold = 1, on_cancel = failure)]
    async fn failure() -> Result<(), E> {
        std::future::pending().await
    }
    #[circuit_breaker(service = "key-cancel-after", threshold = 1, on_cancel = after("2s"))]
    async fn after() -> Result<(), E> {
        std::future::pending().await
    }
    let limit = Duration::from_secs(2);
    tokio::time::timeout(limit, ignore()).await.unwrap_err();
    assert_eq!(breaker("key-cancel-ignore").state(), State::Closed);
    tokio::time::timeout(limit, failure()).await.unwrap_err();
    assert_eq!(breaker("key-cancel-failure").state(), State::Open);
    tokio::time::timeout(limit, after()).await.unwrap_err();
    assert_eq!(breaker("key-cancel-after").state(), State::Closed);
    let longer = limit + Duration::from_millis(1);
    tokio::time::timeout(longer, after()).await.unwrap_err();
    assert_eq!(breaker("key-cancel-after").state(), State::Open);
    for service in ["key-cancel-ignore", "key-cancel-failure"] {
        assert_eq!(calls(service).cancelled, 1, "{service}");
    }
}

#[tokio::test]
async fn a_panic_is_a_failure_in_every_shape() {
    #[circuit_breaker(service = "key-panic", threshold = 1)]
    async fn plain() -> Result<(), E> {
        tokio::task::yield_now().await;
        panic!("as the test wants")
    }
    #[circuit_breaker(service = "key-panic-sync", threshold = 1)]
    fn sync() -> Result<(), E> {
        panic!("as the test wants")
    }
    #[circuit_breaker(service = "key-panic-predicate", threshold = 1, fails_on = |_| panic!("as the test wants"))]
    async fn predicate() -> Result<(), E> {
        Err(E)
    }
    tokio::spawn(plain()).await.unwrap_err();
    std::thread::spawn(sync).join().unwrap_err();
    tokio::spawn(predicate()).await.unwrap_err();
    for service in ["key-panic", "key-panic-sync", "key-panic-predicate"] {
        assert_eq!(calls(service).panicked, 1, "{service}");
        assert_eq!(breaker(service).state(), State::Open, "{service}");
    }
}
