//! One server that has all circuits: named by its address, or the master that Sentinel names.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use redis::Cmd;
use redis::Value;

use crate::policy::Policy;
use crate::rules::fleet::Command;
use crate::rules::fleet::Reply;
use crate::rules::fleet::Request;
use crate::rules::fleet::View;
use crate::store::StoreError;
use crate::store::redis::address::Address;
use crate::store::redis::calls::Calls;
use crate::store::redis::connection::Connection;
use crate::store::redis::connection::RESPONSE;
use crate::store::redis::connection::Way;
use crate::store::redis::fault::Fault;
use crate::store::redis::pushes::Pushes;
use crate::store::redis::stream::Dialer;
use crate::store::redis::wire;

/// A connection that carries commands and messages both, so that any answer proves that all
/// messages before it have come.
pub(super) struct Server {
    connection: Arc<Connection>,
    calls: Arc<Calls>,
    /// Messages do not come, or not to everybody.
    is_mute: AtomicBool,
}

impl Server {
    /// Connects, and finds out whether this server does all that is needed of it.
    pub(super) async fn connect(
        address: &Address,
        dialer: &Dialer,
        calls: &Arc<Calls>,
        pushes: &Arc<Pushes>,
    ) -> Result<Self, StoreError> {
        let connection = Connection::open(address, dialer, pushes.clock(), pushes.taker()).await?;
        let channel = wire::channel(&calls.prefix);
        let hears = hears_itself(&connection, &channel, pushes).await;
        let is_mute = !hears.map_err(Fault::into_store_error)?;
        be_master(&connection).await?;
        let beaten = connection.beat().await;
        beaten.map_err(Fault::into_store_error)?;
        try_script(&connection, calls).await?;
        Ok(Self {
            connection,
            calls: Arc::clone(calls),
            is_mute: AtomicBool::new(is_mute),
        })
    }

    pub(super) fn connection(&self) -> &Arc<Connection> {
        &self.connection
    }

    pub(super) fn is_mute(&self) -> bool {
        self.is_mute.load(Relaxed)
    }

    pub(super) async fn call(
        &self,
        circuit: &str,
        request: &Request,
        policy: &Policy,
        within: Duration,
    ) -> Result<Reply, Fault> {
        let connection = &self.connection;
        let calls = &self.calls;
        let called = calls.call(connection, Way::Straight, circuit, request, policy, within);
        let answer = called.await?;
        if answer.was_not_published {
            self.is_mute.store(true, Relaxed);
        }
        Ok(answer.reply)
    }

    pub(super) async fn list(&self, command: &Cmd) -> Result<Vec<String>, Fault> {
        self.connection
            .ask_for_texts(Way::Straight, command, RESPONSE)
            .await
    }
}

/// Says something on the channel and listens. What was said before another command has come
/// before the answer to that, or does not come.
async fn hears_itself(
    connection: &Connection,
    channel: &str,
    pushes: &Pushes,
) -> Result<bool, Fault> {
    let mut publish = redis::cmd("PUBLISH");
    publish.arg(channel).arg(pushes.hello());
    let steps = async {
        connection.subscribe(channel).await?;
        connection.ask::<Value>(&publish, RESPONSE).await?;
        connection.beat().await
    };
    match steps.await {
        Ok(()) => Ok(pushes.has_heard_itself()),
        Err(Fault::Refused(_)) => Ok(false),
        Err(fault) => Err(fault),
    }
}

/// A replica answers whoever only asks, and would lose what is told it.
async fn be_master(connection: &Connection) -> Result<(), StoreError> {
    // Unlike `ROLE`, whoever may connect may ask this. Redis 6.0 wants the number, too.
    let mut hello = redis::cmd("HELLO");
    hello.arg(3);
    let hello: Result<Value, Fault> = connection.ask(&hello, RESPONSE).await;
    match hello.map(|hello| role(&hello)) {
        Ok(Some(role)) if role != "master" => Err(StoreError::Unavailable(
            format!("{} is a {role}", connection.address().place).into(),
        )),
        // What stands between may not know the question; a write will show.
        Ok(_) | Err(Fault::Refused(_)) => Ok(()),
        Err(fault) => Err(fault.into_store_error()),
    }
}

fn role(hello: &Value) -> Option<String> {
    let fields = hello.as_map_iter()?;
    let text = |value: &Value| redis::from_redis_value_ref::<String>(value).ok();
    let mut roles = fields.filter(|(name, _)| text(name).as_deref() == Some("role"));
    roles.next().and_then(|(_, role)| text(role))
}

/// Runs the script on a circuit that there cannot be, which changes nothing: so a server that
/// still loads, or is of a cluster that is down, is not taken for one that works.
pub(super) async fn try_script(connection: &Connection, calls: &Calls) -> Result<(), StoreError> {
    let (request, policy) = (trial(), Policy::new());
    let tried = calls.call(
        connection,
        Way::Straight,
        TRIAL,
        &request,
        &policy,
        RESPONSE,
    );
    match tried.await {
        // What it does not let us do with this circuit it may allow with others.
        Ok(_) | Err(Fault::Refused(_) | Fault::Moved(_) | Fault::Ask(_) | Fault::NoScript) => {
            Ok(())
        }
        Err(fault) => Err(fault.into_store_error()),
    }
}

/// No circuit has such a name. In a cluster it has a slot as every other.
const TRIAL: &str = "\0";

fn trial() -> Request {
    Request {
        command: Command::Sync,
        view: View::default(),
        instance: 0,
        draw: 0,
        deadline: 0,
    }
}
