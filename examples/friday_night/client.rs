//! The shop's side of the wire: what a developer writes, and the one attribute they add.

use std::net::SocketAddr;
use std::time::Duration;

use breakerbox::Rejected;
use breakerbox::circuit_breaker;
use reqwest::StatusCode;

use crate::queue::Payment;

/// As most of us write it.
pub(crate) async fn charge(shop: &Shop, payment: &Payment) -> Result<(), ChargeError> {
    let answer = shop.post_charge(payment).send().await?;
    match answer.status() {
        StatusCode::OK => Ok(()),
        StatusCode::PAYMENT_REQUIRED => Err(ChargeError::Declined),
        status => Err(ChargeError::Provider(status)),
    }
}

/// The same function, guarded.
#[circuit_breaker(service = "payments", threshold = 5, cooldown = "1s", fails_on = is_outage)]
pub(crate) async fn charge_guarded(shop: &Shop, payment: &Payment) -> Result<(), ChargeError> {
    let answer = shop.post_charge(payment).send().await?;
    match answer.status() {
        StatusCode::OK => Ok(()),
        StatusCode::PAYMENT_REQUIRED => Err(ChargeError::Declined),
        status => Err(ChargeError::Provider(status)),
    }
}

/// What can come of a charge that was not confirmed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ChargeError {
    /// The circuit is open: nothing left this process.
    #[error(transparent)]
    Rejected(#[from] Rejected),
    #[error("the card was declined")]
    Declined,
    #[error("the provider answered {0}")]
    Provider(StatusCode),
    /// Timed out or cut off: the charge may have been booked or not.
    #[error(transparent)]
    Network(#[from] reqwest::Error),
}

/// A declined card is an answer; a broken or silent provider is an outage.
fn is_outage(error: &ChargeError) -> bool {
    match error {
        ChargeError::Network(_) => true,
        ChargeError::Provider(status) => status.is_server_error(),
        ChargeError::Declined | ChargeError::Rejected(_) => false,
    }
}

/// The HTTP client and the addresses it talks to.
#[derive(Debug)]
pub(crate) struct Shop {
    http: reqwest::Client,
    payments: SocketAddr,
    mail: SocketAddr,
}

impl Shop {
    const TIMEOUT: Duration = Duration::from_millis(300);

    pub(crate) fn new(payments: SocketAddr, mail: SocketAddr) -> Result<Self, reqwest::Error> {
        let http = reqwest::Client::builder().timeout(Self::TIMEOUT).build()?;
        Ok(Self {
            http,
            payments,
            mail,
        })
    }

    fn post_charge(&self, payment: &Payment) -> reqwest::RequestBuilder {
        self.http
            .post(format!(
                "http://{}/orders/{}/charge",
                self.payments, payment.order
            ))
            .header("idempotency-key", format!("{:016x}", payment.key))
            .body(payment.card)
    }

    pub(crate) async fn send_mail(&self) -> Result<(), reqwest::Error> {
        let url = format!("http://{}/send", self.mail);
        self.http.post(url).send().await?.error_for_status()?;
        Ok(())
    }
}
