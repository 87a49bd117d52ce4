//! The providers: HTTP servers that take and send money, and misbehave while they do.
//!
//! A key that comes again gets the answer that it got first, and moves no money: that is what
//! an idempotency key promises, and what makes it safe to ask again.

use std::collections::HashMap;
use std::future;
use std::io;
use std::net::SocketAddr;
use std::panic;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::MutexGuard;
use std::time::Duration;
use std::time::Instant;

use axum::Router;
use axum::extract::Path;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::http::StatusCode;
use axum::routing::post;
use fastrand::Rng;
use tokio::net::TcpListener;
use tokio::time;

use crate::client::Account;

/// How long a request hangs before the provider gets to it: longer than anybody waits.
pub(crate) const HANG: Duration = Duration::from_millis(400);

/// One request in so many goes wrong outside of outages.
const FAULT_IN: u64 = 25;
/// One card in so many has no cover.
const DECLINED_IN: u64 = 50;

/// What a request can meet, by when the money moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Fault {
    /// The money moves, and the answer never comes.
    HangsAfter,
    /// The caller gives up, and the money moves then, unless it has moved meanwhile.
    HangsBefore,
    /// The money moves, and the answer says 500.
    FailsAfter,
    /// Nothing moves, and the answer says 503.
    FailsBefore,
    /// The money moves, and the connection breaks.
    CutAfter,
    /// Nothing moves, and the connection breaks.
    CutBefore,
}

impl Fault {
    pub(crate) const ALL: [Self; 6] = [
        Self::HangsAfter,
        Self::HangsBefore,
        Self::FailsAfter,
        Self::FailsBefore,
        Self::CutAfter,
        Self::CutBefore,
    ];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::HangsAfter => "no answer, and booked",
            Self::HangsBefore => "no answer, booked too late",
            Self::FailsAfter => "500, and booked",
            Self::FailsBefore => "503, not booked",
            Self::CutAfter => "connection cut, and booked",
            Self::CutBefore => "connection cut, not booked",
        }
    }
}

/// One product of a provider.
#[derive(Debug)]
pub(crate) struct Product {
    /// Where its endpoint is.
    pub(crate) url: String,
    opened: Instant,
    /// When all requests go wrong, in milliseconds since it opened.
    outages: &'static [[u128; 2]],
    declines: bool,
    /// Seeds its faults.
    faults: u64,
    /// Seeds which cards have no cover, with every provider the same.
    cards: u64,
    books: Mutex<Books>,
}

/// What a product knows of its day.
#[derive(Debug, Default)]
pub(crate) struct Books {
    /// How often money has moved for an order.
    pub(crate) moved: HashMap<u64, u32>,
    pub(crate) requests: u64,
    pub(crate) declined: u64,
    pub(crate) faults: HashMap<Fault, u64>,
    /// The first answer under each key.
    answers: HashMap<String, StatusCode>,
    /// How often each order was asked about, so that its faults are the same in every run.
    asked: HashMap<u64, u64>,
}

/// All products of both providers.
#[derive(Clone, Debug)]
pub(crate) struct Providers {
    acme_cards: Arc<Product>,
    acme_instant: Arc<Product>,
    best_cards: Arc<Product>,
}

impl Providers {
    /// Opens acme, with two products behind one address, and best.
    pub(crate) async fn open(seed: u64) -> io::Result<Self> {
        let (acme, acme_at) = listen().await?;
        let (best, best_at) = listen().await?;
        let mut seeds = Rng::with_seed(seed);
        let cards = seeds.u64(..);
        let mut product = |account, url| {
            let faults = seeds.u64(..);
            Arc::new(Product::open(account, url, faults, cards))
        };
        let providers = Self {
            acme_cards: product(Account::AcmeCards, format!("http://{acme_at}/cards")),
            acme_instant: product(Account::AcmeInstant, format!("http://{acme_at}/instant")),
            best_cards: product(Account::BestCards, format!("http://{best_at}/cards")),
        };
        let at_acme = route("/cards/{order}", &providers.acme_cards)
            .merge(route("/instant/{order}", &providers.acme_instant));
        let at_best = route("/cards/{order}", &providers.best_cards);
        tokio::spawn(async { axum::serve(acme, at_acme).await });
        tokio::spawn(async { axum::serve(best, at_best).await });
        Ok(providers)
    }

    /// How often money has moved for an order, whoever moved it.
    pub(crate) fn moved(&self, order: u64) -> u32 {
        let moved = |account| self.of(account).books().moved.get(&order).copied();
        Account::ALL.into_iter().filter_map(moved).sum()
    }

    pub(crate) fn of(&self, account: Account) -> &Product {
        match account {
            Account::AcmeCards => &self.acme_cards,
            Account::AcmeInstant => &self.acme_instant,
            Account::BestCards => &self.best_cards,
        }
    }
}

async fn listen() -> io::Result<(TcpListener, SocketAddr)> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    Ok((listener, address))
}

fn route(path: &str, product: &Arc<Product>) -> Router {
    Router::new().route(path, post(answer).with_state(Arc::clone(product)))
}

impl Product {
    fn open(account: Account, url: String, faults: u64, cards: u64) -> Self {
        Self {
            url,
            opened: Instant::now(),
            outages: match account {
                Account::AcmeCards => &[[1500, 3500]],
                Account::AcmeInstant => &[[2500, 3000], [4500, 6000]],
                // While acme's cards are down, too: for a moment nobody takes cards.
                Account::BestCards => &[[2000, 2300]],
            },
            declines: account != Account::AcmeInstant,
            faults,
            cards,
            books: Mutex::default(),
        }
    }

    pub(crate) fn books(&self) -> MutexGuard<'_, Books> {
        self.books.lock().expect("nobody panics over the books")
    }

    /// What goes wrong with this request.
    fn fault(&self, order: u64) -> Option<Fault> {
        let mut books = self.books();
        books.requests += 1;
        let asked = books.asked.entry(order).or_default();
        *asked += 1;
        let mut dice = Rng::with_seed(self.faults ^ order << 16 ^ *asked);
        let now = self.opened.elapsed().as_millis();
        let is_down = self
            .outages
            .iter()
            .any(|[from, to]| (*from..*to).contains(&now));
        if !is_down && dice.u64(..FAULT_IN) > 0 {
            return None;
        }
        let fault = dice.choice(Fault::ALL);
        *books.faults.entry(fault?).or_default() += 1;
        fault
    }

    /// Moves the money, unless this key has been answered before.
    fn book(&self, order: u64, key: &str) -> StatusCode {
        let mut books = self.books();
        if let Some(answer) = books.answers.get(key) {
            return *answer;
        }
        let answer = if self.declines && has_no_cover(order, self.cards) {
            books.declined += 1;
            StatusCode::PAYMENT_REQUIRED
        } else {
            *books.moved.entry(order).or_default() += 1;
            StatusCode::OK
        };
        books.answers.insert(key.to_owned(), answer);
        answer
    }
}

fn has_no_cover(order: u64, cards: u64) -> bool {
    Rng::with_seed(cards ^ order).u64(..DECLINED_IN) == 0
}

async fn answer(
    State(product): State<Arc<Product>>,
    Path(order): Path<u64>,
    headers: HeaderMap,
) -> StatusCode {
    let Some(Ok(key)) = headers.get("idempotency-key").map(|key| key.to_str()) else {
        return StatusCode::BAD_REQUEST;
    };
    time::sleep(Duration::from_millis(2)).await;
    let Some(fault) = product.fault(order) else {
        return product.book(order, key);
    };
    match fault {
        Fault::HangsAfter => {
            product.book(order, key);
            future::pending().await
        }
        Fault::HangsBefore => {
            let (product, key) = (Arc::clone(&product), key.to_owned());
            // Of its own, since this handler ends when the caller hangs up.
            tokio::spawn(async move {
                time::sleep(HANG).await;
                product.book(order, &key);
            });
            future::pending().await
        }
        Fault::FailsAfter => {
            product.book(order, key);
            StatusCode::INTERNAL_SERVER_ERROR
        }
        Fault::FailsBefore => StatusCode::SERVICE_UNAVAILABLE,
        Fault::CutAfter => {
            product.book(order, key);
            cut()
        }
        Fault::CutBefore => cut(),
    }
}

/// The task of a connection that ends like this takes the connection with it.
fn cut() -> ! {
    panic::resume_unwind(Box::new("the connection is cut"))
}
