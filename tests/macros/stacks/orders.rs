//! What runs how often, in every order of five policies: the table of the documentation.
//!
//! `UPDATE_SNAPSHOTS=1 cargo test -p breakerbox-tests --test main orders` writes it anew.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::pin::Pin;

use breakerbox::Calls;
use breakerbox::Registry;
use breakerbox::resilient;
use breakerbox::with_registry;
use tokio::time::Instant;
use tokio::time::sleep;

use super::Count;
use super::PayError;
use super::SECOND;
use super::hang;

type R = Result<&'static str, PayError>;

/// What the service does with a call.
#[derive(Clone, Copy)]
enum Service {
    Healthy,
    Slow,
    Failing,
    Hanging,
}

const SERVICES: [Service; 4] = [
    Service::Healthy,
    Service::Slow,
    Service::Failing,
    Service::Hanging,
];

impl Service {
    async fn answer(self, runs: &Count) -> R {
        runs.begin();
        match self {
            Self::Healthy => Ok("its answer"),
            Self::Slow => {
                sleep(SECOND).await;
                Ok("its answer")
            }
            Self::Failing => Err(PayError::Status(500)),
            Self::Hanging => hang().await,
        }
    }
}

/// One function under the five policies, in one order, outermost first.
struct Order {
    layers: &'static [&'static str],
    service: &'static str,
    call: for<'c> fn(Service, &'c Count) -> Call<'c>,
}

type Call<'c> = Pin<Box<dyn Future<Output = R> + 'c>>;

impl Order {
    fn shown(&self) -> String {
        self.layers.join(" > ")
    }
}

/// Makes a function of each line, and the list of all.
macro_rules! orders {
    ($($($layer:ident)+;)+) => {
        fn orders() -> Vec<Order> {
            vec![$(orders!(@one [$($layer)+] [] $($layer)+)),+]
        }
    };
    (@one $all:tt [$($args:tt)*] fallback $($rest:ident)*) => {
        orders!(@one $all [$($args)* fallback(other_provider(), when = any),] $($rest)*)
    };
    (@one $all:tt [$($args:tt)*] timeout $($rest:ident)*) => {
        orders!(@one $all [$($args)* timeout("2s"),] $($rest)*)
    };
    (@one $all:tt [$($args:tt)*] retry $($rest:ident)*) => {
        orders!(@one $all
            [$($args)* retry(idempotent, attempts = 3, delay = "100ms", factor = 1, jitter = false),]
            $($rest)*)
    };
    (@one $all:tt [$($args:tt)*] breaker $($rest:ident)*) => {
        orders!(@one $all [$($args)* circuit_breaker(threshold = 9, slow_call = "500ms"),] $($rest)*)
    };
    (@one $all:tt [$($args:tt)*] bulkhead $($rest:ident)*) => {
        orders!(@one $all [$($args)* bulkhead(max_concurrent = 2),] $($rest)*)
    };
    (@one [$($layer:ident)+] [$($args:tt)*]) => {{
        #[allow(deprecated)]
        #[resilient(service = concat!("orders:", $(" ", stringify!($layer)),+), $($args)*)]
        async fn call(service: Service, runs: &Count) -> R {
            service.answer(runs).await
        }
        Order {
            layers: &[$(stringify!($layer)),+],
            service: concat!("orders:", $(" ", stringify!($layer)),+),
            call: |service, runs| Box::pin(call(service, runs)),
        }
    }};
}

const fn other_provider() -> R {
    Ok("the fallback")
}

orders! {
    fallback timeout retry breaker bulkhead;
    fallback timeout retry bulkhead breaker;
    fallback timeout breaker retry bulkhead;
    fallback timeout breaker bulkhead retry;
    fallback timeout bulkhead retry breaker;
    fallback timeout bulkhead breaker retry;
    fallback retry timeout breaker bulkhead;
    fallback retry timeout bulkhead breaker;
    fallback retry breaker timeout bulkhead;
    fallback retry breaker bulkhead timeout;
    fallback retry bulkhead timeout breaker;
    fallback retry bulkhead breaker timeout;
    fallback breaker timeout retry bulkhead;
    fallback breaker timeout bulkhead retry;
    fallback breaker retry timeout bulkhead;
    fallback breaker retry bulkhead timeout;
    fallback breaker bulkhead timeout retry;
    fallback breaker bulkhead retry timeout;
    fallback bulkhead timeout retry breaker;
    fallback bulkhead timeout breaker retry;
    fallback bulkhead retry timeout breaker;
    fallback bulkhead retry breaker timeout;
    fallback bulkhead breaker timeout retry;
    fallback bulkhead breaker retry timeout;
    timeout fallback retry breaker bulkhead;
    timeout fallback retry bulkhead breaker;
    timeout fallback breaker retry bulkhead;
    timeout fallback breaker bulkhead retry;
    timeout fallback bulkhead retry breaker;
    timeout fallback bulkhead breaker retry;
    timeout retry fallback breaker bulkhead;
    timeout retry fallback bulkhead breaker;
    timeout retry bulkhead fallback breaker;
    timeout bulkhead fallback retry breaker;
    timeout bulkhead fallback breaker retry;
    timeout bulkhead retry fallback breaker;
    retry fallback timeout breaker bulkhead;
    retry fallback timeout bulkhead breaker;
    retry fallback breaker timeout bulkhead;
    retry fallback breaker bulkhead timeout;
    retry fallback bulkhead timeout breaker;
    retry fallback bulkhead breaker timeout;
    retry timeout fallback breaker bulkhead;
    retry timeout fallback bulkhead breaker;
    retry timeout bulkhead fallback breaker;
    retry bulkhead fallback timeout breaker;
    retry bulkhead fallback breaker timeout;
    retry bulkhead timeout fallback breaker;
    bulkhead fallback timeout retry breaker;
    bulkhead fallback timeout breaker retry;
    bulkhead fallback retry timeout breaker;
    bulkhead fallback retry breaker timeout;
    bulkhead fallback breaker timeout retry;
    bulkhead fallback breaker retry timeout;
    bulkhead timeout fallback retry breaker;
    bulkhead timeout fallback breaker retry;
    bulkhead timeout retry fallback breaker;
    bulkhead retry fallback timeout breaker;
    bulkhead retry fallback breaker timeout;
    bulkhead retry timeout fallback breaker;
}

/// What one call came to.
async fn played(order: &Order, service: Service) -> String {
    let registry = Registry::builder().build().expect("nothing is asked for");
    let runs = Count::new();
    let began = Instant::now();
    let out = with_registry(registry.clone(), (order.call)(service, &runs)).await;
    let took = began.elapsed();
    let breaker = registry.breaker(order.service).expect("it was called");
    let answered = registry
        .policies(order.service)
        .fallbacks()
        .iter()
        .sum::<u64>();
    let gets = match out {
        Ok(answer) => answer,
        Err(PayError::Status(_)) => "its error",
        Err(PayError::TimedOut(_)) => "`TimedOut`",
        Err(PayError::Rejected(_)) => "`Rejected`",
    };
    let runs = match runs.get() {
        1 => "1 run".to_owned(),
        runs => format!("{runs} runs"),
    };
    let counted = counted(&breaker.snapshot().calls);
    let took = took.as_secs_f64();
    assert_eq!(answered, u64::from(gets == "the fallback"));
    format!("{runs}; {counted}; {gets}; {took:.1} s")
}

fn counted(calls: &Calls) -> String {
    let counted = calls.by_label().filter(|(_, count)| *count > 0);
    let counted: Vec<_> = counted
        .map(|(outcome, count)| format!("{count} `{outcome}`"))
        .collect();
    counted.join(", ")
}

/// B075, B076, B080, I1, I14: the orders that come to the same stand together.
#[tokio::test(start_paused = true)]
async fn the_table_of_the_documentation_is_what_happens() {
    let mut alike: BTreeMap<[String; 4], Vec<String>> = BTreeMap::new();
    for order in orders() {
        let mut row = [const { String::new() }; 4];
        for (cell, service) in row.iter_mut().zip(SERVICES) {
            *cell = played(&order, service).await;
        }
        alike.entry(row).or_default().push(order.shown());
    }
    let mut rows: Vec<_> = alike.into_iter().collect();
    rows.sort_by_key(|(_, orders)| std::cmp::Reverse(orders.len()));
    let mut page = HEAD.to_owned();
    for ([healthy, slow, failing, hanging], orders) in rows {
        let orders = orders.join("<br>");
        writeln!(
            page,
            "| {orders} | {healthy} | {slow} | {failing} | {hanging} |"
        )
        .expect("a text takes more");
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../runtime/src/what_runs_how_often.md");
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        fs::write(&path, &page).expect("the page can be written");
    }
    let known = fs::read_to_string(&path).unwrap_or_default();
    assert!(known == page, "the page is not what happens:\n{page}");
}

const HEAD: &str = "\
What runs how often, in every order of five policies, for one call to a service that is
healthy, slow (it answers after a second), failing, or hanging. The outermost policy comes
first, as it is written. The table is written by a test, which makes these calls.

The policies are `retry(idempotent, attempts = 3, delay = \"100ms\", factor = 1, jitter = false)`,
`timeout(\"2s\")`, `circuit_breaker(slow_call = \"500ms\")`, `bulkhead(max_concurrent = 2)` and
`fallback(other_provider(), when = any)`. Each cell has the runs of the body, the outcomes that
the breaker counted, what the caller gets, and after how long. Orders that come to the same
share a row. A fallback below the breaker is refused while compiling, since the breaker would
take its answers for those of the service.

To see in it:

- A `timeout` above a `retry` bounds all attempts together, one below bounds each of them.
- A `retry` above a `circuit_breaker` asks it for each attempt; below it, all attempts are one
  call, whose end is what counts.
- A `fallback` below a `retry` turns errors into answers before the retry sees them, so that
  nothing is made again.

A call that the breaker counts as `cancelled` here was given up by a timeout outside of the
breaker, and is a failure to it.

| outermost first | healthy | slow | failing | hanging |
|---|---|---|---|---|
";
