//! The connections of the instances of a design that asks Redis at each call.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use breakerbox_servers::Server;
use redis::AsyncConnectionConfig;
use redis::Client;
use redis::IntoConnectionInfo;
use redis::aio::MultiplexedConnection;
use redis::io::tcp::TcpSettings;

use crate::peers::INSTANCES;

/// The connections of all instances, and what was sent on them.
pub(super) struct Connections {
    all: Vec<MultiplexedConnection>,
    sent: AtomicU64,
}

impl Connections {
    pub(super) async fn open(server: &Server) -> Self {
        let address = server.url().into_connection_info();
        let address = address.expect("the address of a server");
        let at_once = TcpSettings::default().set_nodelay(true);
        let client = Client::open(address.set_tcp_settings(at_once)).expect("the same address");
        let mut all = Vec::new();
        for _ in 0..INSTANCES {
            // What it waits for is measured, and not cut off.
            let config =
                AsyncConnectionConfig::new().set_response_timeout(Some(Duration::from_secs(30)));
            let connection = client.get_multiplexed_async_connection_with_config(&config);
            all.push(connection.await.expect("a server that answers"));
        }
        Self {
            all,
            sent: AtomicU64::new(0),
        }
    }

    pub(super) async fn ask<T: redis::FromRedisValue>(
        &self,
        instance: usize,
        command: &redis::Cmd,
    ) -> T {
        self.sent.fetch_add(1, Relaxed);
        let mut connection = self.all[instance].clone();
        let answer = command.query_async(&mut connection).await;
        answer.expect("an answer of a server that is well")
    }

    pub(super) fn sent(&self) -> u64 {
        self.sent.load(Relaxed)
    }
}
