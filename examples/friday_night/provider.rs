//! The payment provider: an HTTP server that books charges, and has an outage.

use std::collections::HashSet;
use std::future;
use std::io;
use std::mem;
use std::net::SocketAddr;
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

use crate::flags::Flags;

/// A card that is always declined; payment providers have such numbers for tests.
pub(crate) const BAD_CARD: &str = "4000000000000002";

#[derive(Debug)]
pub(crate) struct Provider {
    outage_after: usize,
    outage: Duration,
    books: Mutex<Books>,
}

/// All that the provider knows about its night.
#[derive(Debug, Default)]
pub(crate) struct Books {
    /// The orders in the order of booking: one entry is money taken once.
    pub(crate) bookings: Vec<usize>,
    pub(crate) declined: usize,
    pub(crate) down: Option<Instant>,
    pub(crate) up_again: Option<Instant>,
    pub(crate) outage_calls: usize,
    /// The idempotency keys of the bookings: one that comes again is confirmed, not booked.
    keys: HashSet<String>,
    dice: Rng,
}

impl Provider {
    /// Opens for business. The outage begins when a fifth of the jobs are booked.
    pub(crate) async fn open(flags: Flags, dice: Rng) -> io::Result<(SocketAddr, Arc<Self>)> {
        let provider = Arc::new(Self {
            outage_after: flags.jobs.div_ceil(5),
            outage: flags.outage,
            books: Mutex::new(Books {
                dice,
                ..Books::default()
            }),
        });
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let router = Router::new()
            .route("/orders/{order}/charge", post(charge))
            .with_state(Arc::clone(&provider));
        tokio::spawn(async { axum::serve(listener, router).await });
        Ok((address, provider))
    }

    pub(crate) fn is_down(&self) -> bool {
        self.books().is_down()
    }

    pub(crate) fn hand_over(&self) -> Books {
        mem::take(&mut self.books())
    }

    /// What the provider answers; `None` leaves the caller hanging.
    fn answer(self: Arc<Self>, order: usize, key: &str, card: &str) -> Option<StatusCode> {
        let mut books = self.books();
        if books.is_down() {
            books.outage_calls += 1;
            return match books.dice.u8(..4) {
                0 => None,
                // The worst of all: the money is taken, and nobody is told.
                1 => books.charge(order, key, card).and(None),
                _ => Some(StatusCode::INTERNAL_SERVER_ERROR),
            };
        }
        let answer = books.charge(order, key, card);
        let due = books.bookings.len() >= self.outage_after && !self.outage.is_zero();
        if due && books.down.is_none() {
            books.down = Some(Instant::now());
            tokio::spawn(Arc::clone(&self).recover());
        }
        answer
    }

    async fn recover(self: Arc<Self>) {
        time::sleep(self.outage).await;
        self.books().up_again = Some(Instant::now());
    }

    fn books(&self) -> MutexGuard<'_, Books> {
        self.books.lock().expect("nobody panics over the books")
    }
}

impl Books {
    fn is_down(&self) -> bool {
        self.down.is_some() && self.up_again.is_none()
    }

    fn charge(&mut self, order: usize, key: &str, card: &str) -> Option<StatusCode> {
        if card == BAD_CARD {
            self.declined += 1;
            return Some(StatusCode::PAYMENT_REQUIRED);
        }
        if self.keys.insert(key.to_owned()) {
            self.bookings.push(order);
        }
        Some(StatusCode::OK)
    }
}

async fn charge(
    State(provider): State<Arc<Provider>>,
    Path(order): Path<usize>,
    headers: HeaderMap,
    card: String,
) -> StatusCode {
    let Some(Ok(key)) = headers.get("idempotency-key").map(|key| key.to_str()) else {
        return StatusCode::BAD_REQUEST;
    };
    let slow = provider.books().dice.bool();
    if slow {
        time::sleep(Duration::from_millis(1)).await;
    }
    match provider.answer(order, key, &card) {
        Some(status) => status,
        None => future::pending().await,
    }
}
