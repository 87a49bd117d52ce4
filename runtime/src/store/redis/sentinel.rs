//! Asks the Sentinels which server is the master now.

use std::sync::Arc;

use crate::store::StoreError;
use crate::store::redis::address::Address;
use crate::store::redis::connection::Connection;
use crate::store::redis::connection::RESPONSE;
use crate::store::redis::fault::Fault;
use crate::store::redis::stream::Dialer;
use crate::store::redis::time::ServerClock;

/// Where the master called `name` is, as the first of the Sentinels says that answers. Any of
/// them may be wrong for a while, so whoever connects asks the server itself, too.
pub(super) async fn master(
    name: &str,
    sentinels: &[Address],
    dialer: &Dialer,
) -> Result<(String, u16), StoreError> {
    let mut cause = StoreError::Unavailable("no Sentinel was named".into());
    for sentinel in sentinels {
        match ask(name, sentinel, dialer).await {
            Ok(master) => return Ok(master),
            Err(error) => cause = error,
        }
    }
    Err(cause)
}

async fn ask(name: &str, sentinel: &Address, dialer: &Dialer) -> Result<(String, u16), StoreError> {
    let clock = Arc::new(ServerClock::default());
    let connection = Connection::open(sentinel, dialer, clock, Box::new(|_| {})).await?;
    let mut command = redis::cmd("SENTINEL");
    command.arg("GET-MASTER-ADDR-BY-NAME").arg(name);
    let master: Result<Option<(String, u16)>, Fault> = connection.ask(&command, RESPONSE).await;
    match master {
        Ok(Some(master)) => Ok(master),
        Ok(None) => Err(StoreError::Unavailable(
            format!("the Sentinel at {} knows no master {name}", sentinel.place).into(),
        )),
        Err(fault) => Err(fault.into_store_error()),
    }
}
