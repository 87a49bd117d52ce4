//! One breaker a key: `key = tenant`.

use std::borrow::Cow;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use breakerbox::Registry;
use breakerbox::Rejected;
use breakerbox::State;
use breakerbox::circuit_breaker;
use breakerbox::with_registry;

#[derive(Debug, thiserror::Error)]
enum E {
    #[error(transparent)]
    Rejected(#[from] Rejected),
    #[error("the service is down")]
    Down,
}

#[circuit_breaker(service = "keyed", key = tenant, threshold = 1, cooldown = "5s")]
async fn of_tenant(tenant: &str, works: bool) -> Result<(), E> {
    if works { Ok(()) } else { Err(E::Down) }
}

struct Order {
    tenant: String,
}

#[circuit_breaker(service = "keyed-by-value", key = order.tenant, threshold = 1)]
async fn by_value(order: Order) -> Result<String, E> {
    Ok(order.tenant)
}

#[circuit_breaker(service = "keyed-sync", key = Cow::from(format!("shard-{shard}")), threshold = 1)]
fn blocking(shard: u32) -> Result<(), E> {
    Err(E::Down)
}

#[circuit_breaker(service = format!("keyed-{region}"), key = tenant, threshold = 1)]
async fn of_region(region: &str, tenant: &str) -> Result<(), E> {
    Err(E::Down)
}

struct Client {
    tenant: String,
}

impl Client {
    #[circuit_breaker(service = "keyed-method", key = &self.tenant, threshold = 1)]
    async fn fail(&mut self) -> Result<(), E> {
        self.tenant.push('!');
        Err(E::Down)
    }
}

fn private() -> Registry {
    Registry::builder().build().expect("nothing is asked for")
}

/// N4: one tenant's outage is not the others'.
#[tokio::test(start_paused = true)]
async fn each_key_has_a_circuit_of_its_own() {
    let registry = private();
    with_registry(registry.clone(), async {
        of_tenant("sick", false).await.unwrap_err();
        assert!(matches!(of_tenant("sick", true).await, Err(E::Rejected(_))));
        of_tenant("well", true).await.unwrap();
        tokio::time::advance(Duration::from_secs(5)).await;
        of_tenant("sick", true).await.unwrap();
    })
    .await;
    let service = registry.breaker("keyed").unwrap().snapshot();
    assert_eq!((service.keys, service.open_keys), (2, 0));
    assert_eq!(service.calls.success, 2);
    assert_eq!(service.calls.failure, 1);
    assert_eq!(service.calls.rejected, 1);
    assert_eq!(service.in_flight, 0);
}

#[tokio::test]
async fn a_key_is_worked_out_before_the_body_takes_the_arguments() {
    with_registry(private(), async {
        let order = Order {
            tenant: "acme".to_owned(),
        };
        assert_eq!(by_value(order).await.unwrap(), "acme");
        let mut client = Client {
            tenant: "acme".to_owned(),
        };
        client.fail().await.unwrap_err();
        // It has another key now.
        assert!(matches!(client.fail().await, Err(E::Down)));
    })
    .await;
}

#[test]
fn functions_that_are_not_async_have_keys_as_well() {
    let registry = private();
    let _entered = registry.enter();
    assert!(matches!(blocking(1), Err(E::Down)));
    assert!(matches!(blocking(1), Err(E::Rejected(_))));
    assert!(matches!(blocking(2), Err(E::Down)));
}

#[tokio::test]
async fn a_service_named_at_run_time_has_keys_as_well() {
    let registry = private();
    with_registry(registry.clone(), async {
        of_region("eu", "acme").await.unwrap_err();
        assert!(matches!(of_region("eu", "acme").await, Err(E::Rejected(_))));
        assert!(matches!(of_region("us", "acme").await, Err(E::Down)));
    })
    .await;
    let key = registry.breaker("keyed-eu").unwrap().key("acme");
    assert_eq!(key.state(), State::Open);
}

/// The expression may cost something, or have an effect.
#[tokio::test]
async fn a_key_is_worked_out_once_a_call() {
    #[circuit_breaker(service = "keyed-once", key = tenant(asked))]
    async fn f(asked: &AtomicU32) -> Result<(), E> {
        Ok(())
    }
    fn tenant(asked: &AtomicU32) -> String {
        asked.fetch_add(1, Relaxed).to_string()
    }
    let registry = private();
    let asked = AtomicU32::new(0);
    with_registry(registry.clone(), async {
        f(&asked).await.unwrap();
        f(&asked).await.unwrap();
    })
    .await;
    assert_eq!(asked.load(Relaxed), 2);
    assert_eq!(registry.breaker("keyed-once").unwrap().keys().len(), 2);
}

#[async_trait::async_trait]
trait Ledger {
    async fn book(&self, cents: u64) -> Result<u64, E>;
}

#[async_trait::async_trait]
impl Ledger for Client {
    #[circuit_breaker(service = "keyed-trait", key = self.tenant, threshold = 1)]
    async fn book(&self, cents: u64) -> Result<u64, E> {
        if cents == 0 { Err(E::Down) } else { Ok(cents) }
    }
}

#[circuit_breaker(service = "keyed-tail", key = tenant, threshold = 1)]
#[allow(clippy::manual_async_fn)]
fn opaque(tenant: String, works: bool) -> impl Future<Output = Result<(), E>> {
    async move { if works { Ok(()) } else { Err(E::Down) } }
}

#[circuit_breaker(service = "keyed-boxed", boxed, key = tenant, threshold = 1, wrap_error)]
async fn boxed(tenant: Cow<'static, str>) -> Result<(), breakerbox::Error<std::fmt::Error>> {
    Err(std::fmt::Error)
}

#[tokio::test]
async fn futures_of_every_kind_hold_the_breaker_of_their_key() {
    let registry = private();
    with_registry(registry.clone(), async {
        for tenant in ["a", "b"] {
            let client = Client {
                tenant: tenant.to_owned(),
            };
            assert!(matches!(client.book(0).await, Err(E::Down)));
            assert!(matches!(client.book(1).await, Err(E::Rejected(_))));
            let made = opaque(tenant.to_owned(), false);
            assert!(matches!(made.await, Err(E::Down)));
            let made = opaque(tenant.to_owned(), true);
            assert!(matches!(made.await, Err(E::Rejected(_))));
            let plain = boxed(tenant.into()).await;
            assert!(matches!(plain, Err(breakerbox::Error::Inner(_))));
            let rejected = boxed(tenant.into()).await;
            assert!(matches!(rejected, Err(breakerbox::Error::Rejected(_))));
        }
    })
    .await;
    for service in ["keyed-trait", "keyed-tail", "keyed-boxed"] {
        let snapshot = registry.breaker(service).unwrap().snapshot();
        assert_eq!((snapshot.keys, snapshot.open_keys), (2, 2), "{service}");
    }
}

/// M92
#[tokio::test]
async fn a_call_of_a_key_can_move_between_threads() {
    let call = with_registry(private(), of_tenant("acme", true));
    tokio::spawn(call).await.unwrap().unwrap();
}

#[tokio::test]
async fn a_fallback_sees_the_argument_that_the_key_was_made_of() {
    #[circuit_breaker(
        service = "keyed-fallback",
        key = tenant,
        threshold = 1,
        fallback = Ok(format!("{tenant} from the cache"))
    )]
    async fn f(tenant: String) -> Result<String, E> {
        Err(E::Down)
    }
    with_registry(private(), async {
        f("acme".to_owned()).await.unwrap_err();
        let cached = f("acme".to_owned()).await.unwrap();
        assert_eq!(cached, "acme from the cache");
        f("other".to_owned()).await.unwrap_err();
    })
    .await;
}

/// J10, J11
#[tokio::test(start_paused = true)]
async fn a_dropped_call_of_a_key_gives_its_place_back() {
    #[circuit_breaker(service = "keyed-dropped", key = tenant, threshold = 1, cooldown = "5s")]
    async fn hangs(tenant: &str, fails: bool) -> Result<(), E> {
        if fails {
            return Err(E::Down);
        }
        std::future::pending().await
    }
    let registry = private();
    with_registry(registry.clone(), async {
        hangs("a", true).await.unwrap_err();
        tokio::time::advance(Duration::from_secs(5)).await;
        let second = Duration::from_secs(1);
        for _ in 0..3 {
            let probe = tokio::time::timeout(second, hangs("a", false));
            assert!(probe.await.is_err(), "it is admitted, and hangs");
        }
    })
    .await;
    let service = registry.breaker("keyed-dropped").unwrap();
    assert_eq!(service.snapshot().in_flight, 0);
    assert_eq!(service.key("a").state(), State::HalfOpen);
}
