//! What a developer writes: four guarded functions, and the money rules in their attributes.

use breakerbox::Rejected;
use breakerbox::TimedOut;
use breakerbox::circuit_breaker;
use breakerbox::fallback;
use breakerbox::retry;
use breakerbox::timeout;
use reqwest::StatusCode;

use crate::server::Providers;

/// Takes the money of an order from a card, with acme or else with best.
///
/// The fallback runs only where acme's circuit turned the call away: then nothing has left this
/// process, and the customer need not wait for acme. Where acme gave no answer or a bad one it
/// may have taken the money, so the caller gets that error, and no other provider the order.
#[fallback(charge_with_best(client, request).await)]
#[circuit_breaker(service = "acme cards", threshold = 5, cooldown = "300ms")]
#[timeout("150ms")]
pub(crate) async fn charge(client: &Client, request: &Request) -> Result<Answer, PaymentError> {
    client.post(Account::AcmeCards, request).await
}

#[circuit_breaker(service = "best cards", threshold = 5, cooldown = "300ms")]
#[timeout("150ms")]
async fn charge_with_best(client: &Client, request: &Request) -> Result<Answer, PaymentError> {
    client.post(Account::BestCards, request).await
}

/// Sends money out. It has no fallback: a payout that is turned away waits in the queue and
/// goes to the same provider.
#[circuit_breaker(service = "acme instant", threshold = 5, cooldown = "300ms")]
#[timeout("150ms")]
pub(crate) async fn pay_out(client: &Client, request: &Request) -> Result<Answer, PaymentError> {
    client.post(Account::AcmeInstant, request).await
}

/// Finds out what became of a request that was sent: the same request to the same provider
/// under the same key. If the money has moved this is the answer of then, if not it moves now.
///
/// That can be done as often as it takes, and it cannot be done anywhere else, so it waits for
/// the circuit.
#[retry(idempotent, wait_for_circuit, attempts = 4, delay = "50ms")]
#[circuit_breaker(service = account.service(), threshold = 5, cooldown = "300ms")]
#[timeout("150ms")]
pub(crate) async fn confirm(
    client: &Client,
    account: Account,
    request: &Request,
) -> Result<Answer, PaymentError> {
    client.post(account, request).await
}

/// The wrong rule: whatever went wrong with acme, best gets the order, too.
#[fallback(charge_with_best(client, request).await, when = any)]
#[circuit_breaker(service = "acme cards", threshold = 5, cooldown = "300ms")]
#[timeout("150ms")]
pub(crate) async fn charge_naively(
    client: &Client,
    request: &Request,
) -> Result<Answer, PaymentError> {
    client.post(Account::AcmeCards, request).await
}

/// What is asked for. One key stands for one movement of money, however often it is asked for.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) order: u64,
    pub(crate) key: String,
}

/// What a provider answered: it is final.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    Done(Account),
    Declined,
}

/// What a call can come to that brought no answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PaymentError {
    /// Nothing was sent.
    #[error(transparent)]
    Rejected(#[from] Rejected),
    /// It was sent, and may have been carried out.
    #[error(transparent)]
    TimedOut(#[from] TimedOut),
    /// The same: a bad answer says nothing about the money.
    #[error("{} answered {status}", account.service())]
    Status {
        account: Account,
        status: StatusCode,
    },
    /// The same.
    #[error("the connection to {} broke: {source}", account.service())]
    Broken {
        account: Account,
        source: reqwest::Error,
    },
}

impl PaymentError {
    /// Who has the request, and alone can say what became of it. Nobody has one that was
    /// rejected.
    pub(crate) fn sent_to(&self) -> Option<Account> {
        match self {
            Self::Rejected(_) => None,
            Self::TimedOut(timed_out) => {
                let service = timed_out.service().expect("all calls here name one");
                Some(Account::of(service))
            }
            Self::Status { account, .. } | Self::Broken { account, .. } => Some(*account),
        }
    }
}

/// Where money is asked for. Each has a circuit of its own: that acme's cards are down says
/// nothing about its instant payments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Account {
    AcmeCards,
    AcmeInstant,
    BestCards,
}

impl Account {
    pub(crate) const ALL: [Self; 3] = [Self::AcmeCards, Self::AcmeInstant, Self::BestCards];

    pub(crate) const fn service(self) -> &'static str {
        match self {
            Self::AcmeCards => "acme cards",
            Self::AcmeInstant => "acme instant",
            Self::BestCards => "best cards",
        }
    }

    fn of(service: &str) -> Self {
        match service {
            "acme cards" => Self::AcmeCards,
            "acme instant" => Self::AcmeInstant,
            "best cards" => Self::BestCards,
            other => unreachable!("no account is called {other}"),
        }
    }
}

/// The HTTP client and the providers it talks to.
#[derive(Clone, Debug)]
pub(crate) struct Client {
    http: reqwest::Client,
    providers: Providers,
}

impl Client {
    pub(crate) fn new(providers: Providers) -> Self {
        let http = reqwest::Client::new();
        Self { http, providers }
    }

    async fn post(&self, account: Account, request: &Request) -> Result<Answer, PaymentError> {
        let url = format!("{}/{}", self.providers.of(account).url, request.order);
        let sent = self.http.post(url).header("idempotency-key", &request.key);
        match sent.send().await.map(|answer| answer.status()) {
            Ok(StatusCode::OK) => Ok(Answer::Done(account)),
            Ok(StatusCode::PAYMENT_REQUIRED) => Ok(Answer::Declined),
            Ok(status) => Err(PaymentError::Status { account, status }),
            Err(source) => Err(PaymentError::Broken { account, source }),
        }
    }
}
