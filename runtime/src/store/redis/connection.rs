//! One connection to one server, for as long as it is good.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use redis::AsyncConnectionConfig;
use redis::Cmd;
use redis::FromRedisValue;
use redis::ProtocolVersion;
use redis::PushInfo;
use redis::PushKind;
use redis::RedisConnectionInfo;
use redis::aio::MultiplexedConnection;
use tokio::sync::Semaphore;
use tokio::sync::SemaphorePermit;
use tokio::sync::watch;
use tokio::task::AbortHandle;
use tokio::time::Instant;

use crate::store::StoreError;
use crate::store::redis::address::Address;
use crate::store::redis::fault::Fault;
use crate::store::redis::fault::unavailable;
use crate::store::redis::stream::Dialer;
use crate::store::redis::time::ServerClock;

/// No answer is waited for longer.
pub(super) const RESPONSE: Duration = Duration::from_millis(250);

/// A connection has to stand, with its handshake, after so long.
const CONNECT: Duration = Duration::from_secs(1);

/// More commands on circuits than these are not under way at once; the others wait for their
/// turn, within their time.
const AT_ONCE: usize = 256;

/// It is lost once: by whoever finds first that it is good for nothing. Whatever still waits
/// for an answer then gets an error, and nothing is ever sent on it again. So a signal is
/// always about this connection, never about the one after it.
pub(super) struct Connection {
    address: Address,
    handle: MultiplexedConnection,
    pub(super) clock: Arc<ServerClock>,
    turns: Semaphore,
    /// Answers in a row that did not come.
    silent: AtomicU32,
    end: Arc<watch::Sender<Option<StoreError>>>,
    driver: AbortHandle,
}

/// How to reach a circuit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    Straight,
    /// The node has it only for those who were sent there.
    Asking,
}

/// Takes what a server says unasked, on the task that reads the socket: it must not block.
pub(super) type OnPush = Box<dyn Fn(&PushInfo) + Send + Sync>;

impl Connection {
    /// Connects and logs in.
    pub(super) async fn open(
        address: &Address,
        dialer: &Dialer,
        clock: Arc<ServerClock>,
        on_push: OnPush,
    ) -> Result<Arc<Self>, StoreError> {
        let opening = Self::open_slowly(address, dialer, clock, on_push);
        match tokio::time::timeout(CONNECT, opening).await {
            Ok(opened) => opened.map(Arc::new),
            Err(_) => Err(StoreError::Unavailable(
                format!("{} does not answer", address.place).into(),
            )),
        }
    }

    async fn open_slowly(
        address: &Address,
        dialer: &Dialer,
        clock: Arc<ServerClock>,
        on_push: OnPush,
    ) -> Result<Self, StoreError> {
        let socket = dialer.open(address).await;
        let socket = socket.map_err(|error| {
            StoreError::Unavailable(format!("cannot reach {}: {error}", address.place).into())
        })?;
        let end = Arc::new(watch::Sender::new(None));
        let config = AsyncConnectionConfig::new()
            // Each command has a time of its own.
            .set_response_timeout(None)
            .set_push_sender({
                let end = Arc::clone(&end);
                move |push: PushInfo| -> Result<(), redis::aio::SendError> {
                    match push.kind {
                        PushKind::Disconnection => {
                            lose(&end, StoreError::Unavailable("it was cut".into()));
                        }
                        _ => on_push(&push),
                    }
                    Ok(())
                }
            });
        let opened = MultiplexedConnection::new_with_config(&login(address), socket, config).await;
        let (handle, driver) = opened.map_err(|error| {
            let error = Fault::of(&error).into_store_error();
            match error {
                StoreError::Unavailable(why) => {
                    StoreError::Unavailable(format!("{}: {why}", address.place).into())
                }
                StoreError::Denied(why) => {
                    StoreError::Denied(format!("{}: {why}", address.place).into())
                }
                other => other,
            }
        })?;
        Ok(Self {
            address: address.clone(),
            handle,
            clock,
            turns: Semaphore::new(AT_ONCE),
            silent: AtomicU32::new(0),
            end,
            driver: tokio::spawn(driver).abort_handle(),
        })
    }

    pub(super) fn address(&self) -> &Address {
        &self.address
    }

    /// Sends one command, and waits for its answer at most `within` and never longer than
    /// [`RESPONSE`].
    pub(super) async fn ask<T: FromRedisValue>(
        &self,
        command: &Cmd,
        within: Duration,
    ) -> Result<T, Fault> {
        self.wait(within, async {
            command.query_async(&mut self.handle.clone()).await
        })
        .await
    }

    /// The same for a command on a circuit, on the way that leads there, when it is its turn.
    pub(super) async fn ask_by<T: FromRedisValue>(
        &self,
        way: Way,
        command: &Cmd,
        within: Duration,
    ) -> Result<T, Fault> {
        let (_turn, within) = self.turn(within).await?;
        match way {
            Way::Straight => self.ask(command, within).await,
            Way::Asking => {
                let mut both = redis::pipe();
                both.cmd("ASKING").ignore().add_command(command.clone());
                let both = async {
                    let answers = both.query_async(&mut self.handle.clone()).await;
                    answers.map(|(answer,)| answer)
                };
                self.wait(within, both).await
            }
        }
    }

    /// What is left of the time when it is the turn of one more. Nothing is sent where nothing
    /// is, and that says nothing of the connection.
    async fn turn(&self, within: Duration) -> Result<(SemaphorePermit<'_>, Duration), Fault> {
        if let Ok(turn) = self.turns.try_acquire() {
            return Ok((turn, within));
        }
        let begun = Instant::now();
        match tokio::time::timeout(within.min(RESPONSE), self.turns.acquire()).await {
            Ok(Ok(turn)) => Ok((turn, within.saturating_sub(begun.elapsed()))),
            Ok(Err(_)) | Err(_) => Err(Fault::Refused(StoreError::Late)),
        }
    }

    /// Asks for texts. Where somebody has put bytes that are none, the rest of them is one
    /// still.
    pub(super) async fn ask_for_texts(
        &self,
        way: Way,
        command: &Cmd,
        within: Duration,
    ) -> Result<Vec<String>, Fault> {
        let texts: Vec<Vec<u8>> = self.ask_by(way, command, within).await?;
        let texts = texts.iter().map(|text| String::from_utf8_lossy(text));
        Ok(texts.map(Cow::into_owned).collect())
    }

    async fn wait<T>(
        &self,
        within: Duration,
        answer: impl Future<Output = redis::RedisResult<T>>,
    ) -> Result<T, Fault> {
        if let Some(cause) = self.lost_by() {
            return Err(Fault::Lost(unavailable(cause)));
        }
        let answer = tokio::time::timeout(within.min(RESPONSE), answer).await;
        let fault = match answer {
            Ok(Ok(answer)) => {
                self.silent.store(0, Relaxed);
                return Ok(answer);
            }
            Ok(Err(error)) => Fault::of(&error),
            Err(_) => Fault::TimedOut,
        };
        match &fault {
            // Whoever does not wait for long learns nothing of the connection.
            Fault::TimedOut if within < RESPONSE => {}
            Fault::TimedOut => {
                if self.silent.fetch_add(1, Relaxed) > 0 {
                    self.lose(StoreError::TimedOut);
                }
            }
            Fault::Lost(cause) | Fault::ClusterDown(cause) => self.lose(cause.clone()),
            Fault::NoScript | Fault::Moved(_) | Fault::Ask(_) | Fault::Refused(_) => {
                self.silent.store(0, Relaxed);
            }
        }
        Err(fault)
    }

    pub(super) async fn subscribe(&self, channel: &str) -> Result<(), Fault> {
        self.wait(RESPONSE, async {
            self.handle.clone().subscribe(channel).await
        })
        .await
    }

    /// Asks what time it is. An answer proves that all messages before it have come.
    pub(super) async fn beat(&self) -> Result<(), Fault> {
        let sent = Instant::now();
        match self.ask(&redis::cmd("TIME"), RESPONSE).await {
            Ok((seconds, micros)) => {
                let (seconds, micros): (u64, u64) = (seconds, micros);
                let micros = seconds.saturating_mul(1_000_000).saturating_add(micros);
                let received = Instant::now();
                self.clock.heard(sent, received, micros, Duration::ZERO);
                Ok(())
            }
            // An answer, too. The replies to commands tell the time as well.
            Err(Fault::Refused(_)) => Ok(()),
            Err(fault) => Err(fault),
        }
    }

    /// Drops the socket, with all that waits for an answer. The first cause stands.
    pub(super) fn lose(&self, cause: StoreError) {
        lose(&self.end, cause);
        self.driver.abort();
    }

    pub(super) fn lost_by(&self) -> Option<StoreError> {
        self.end.borrow().clone()
    }

    /// Waits until it is lost.
    pub(super) async fn lost(&self) -> StoreError {
        let mut end = self.end.subscribe();
        let cause = match end.wait_for(Option::is_some).await {
            Ok(cause) => cause.clone(),
            Err(_) => None,
        };
        cause.unwrap_or_else(|| StoreError::Unavailable("it was closed".into()))
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.driver.abort();
    }
}

fn lose(end: &watch::Sender<Option<StoreError>>, cause: StoreError) {
    end.send_if_modified(|end| {
        let is_first = end.is_none();
        end.get_or_insert(cause);
        is_first
    });
}

fn login(address: &Address) -> RedisConnectionInfo {
    let mut info = RedisConnectionInfo::default()
        .set_protocol(ProtocolVersion::RESP3)
        .set_lib_name("breakerbox", env!("CARGO_PKG_VERSION"))
        .set_db(address.database.into());
    if let Some(user) = &address.login.user {
        info = info.set_username(user);
    }
    if let Some(password) = &address.login.password {
        info = info.set_password(password.reveal());
    }
    info
}
