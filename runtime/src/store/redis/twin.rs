//! The script on a real server, one command at a time, for tests.

use std::collections::HashMap;
use std::time::Duration;

use breakerbox_servers::Server;
use redis::Connection;

use crate::policy::Policy;
use crate::rules::fleet::Reply;
use crate::rules::fleet::Request;
use crate::rules::fleet::Shared;
use crate::rules::fleet::Told;
use crate::store::redis::wire;

pub(super) const PREFIX: &str = "test";

/// Who sends all commands, as the journal names it.
pub(super) const ORIGIN: &str = "host|7:a";

/// A server of its own for one test. Where there is none, the test fails and says what to run.
pub(super) fn server() -> Server {
    Server::start().unwrap_or_else(|error| panic!("{error}"))
}

/// One connection that gives orders, and one that hears what is told.
pub(super) struct Twin {
    pub(super) connection: Connection,
    messages: Connection,
    nonce: u64,
}

impl Twin {
    pub(super) fn connect(url: &str) -> Self {
        let client = redis::Client::open(url).expect("an address");
        let connect = || client.get_connection().expect("a connection");
        let mut messages = connect();
        redis::cmd("SUBSCRIBE")
            .arg(wire::channel(PREFIX))
            .exec(&mut messages)
            .expect("a subscription");
        messages
            .set_read_timeout(Some(Duration::from_secs(5)))
            .expect("a time to wait");
        Self {
            connection: connect(),
            messages,
            nonce: 0,
        }
    }

    /// Runs the script by its name, and with its text where the server does not know it.
    pub(super) fn run(&mut self, circuit: &str, request: &Request, policy: &Policy) -> Reply {
        let text = self.try_run(circuit, request, policy).expect("a reply");
        let reply = wire::reply(&text).unwrap_or_else(|| panic!("no reply: {text}"));
        assert_eq!(wire::nonce(&text), Some(self.nonce));
        assert!(!wire::is_unpublished(&text), "{text}");
        reply
    }

    pub(super) fn try_run(
        &mut self,
        circuit: &str,
        request: &Request,
        policy: &Policy,
    ) -> redis::RedisResult<String> {
        self.nonce += 1;
        let sent = wire::send(PREFIX, circuit, self.nonce, ORIGIN, request, policy);
        let by_name = order("EVALSHA", wire::sha(), &sent).query(&mut self.connection);
        match by_name {
            Err(error) if error.kind() == redis::ServerErrorKind::NoScript.into() => {
                order("EVAL", wire::SCRIPT, &sent).query(&mut self.connection)
            }
            other => other,
        }
    }

    /// All that was told of this circuit since the last time, and nothing of any other.
    pub(super) fn hear(&mut self, circuit: &str) -> Vec<Told> {
        const LAST: &str = "the last";
        self.exec(&["PUBLISH", &wire::channel(PREFIX), LAST]);
        let mut all = Vec::new();
        loop {
            let message = self.messages.recv_response().expect("a message in time");
            let [_, _, text]: [String; 3] = redis::from_redis_value(message).expect("a message");
            if text == LAST {
                return all;
            }
            let message = wire::message(&text);
            let (of, entry) = message.unwrap_or_else(|| panic!("no message: {text}"));
            assert_eq!((&*of, &*entry.origin), (circuit, ORIGIN));
            all.push(entry.told);
        }
    }

    pub(super) fn hash(&mut self, circuit: &str) -> HashMap<String, String> {
        redis::cmd("HGETALL")
            .arg(hash_key(circuit))
            .query(&mut self.connection)
            .expect("a hash")
    }

    /// What lies there.
    pub(super) fn state(&mut self, circuit: &str) -> Option<Shared> {
        wire::hash::read(&self.hash(circuit))
    }

    /// Lays that there, instead of what the script has left.
    pub(super) fn lay(&mut self, circuit: &str, state: &Shared) {
        let mut order = redis::cmd("HSET");
        order.arg(hash_key(circuit));
        for (field, text) in wire::hash::write(state) {
            order.arg(field).arg(text);
        }
        order
            .exec(&mut self.connection)
            .expect("a hash can be written");
    }

    pub(super) fn exec(&mut self, words: &[&str]) {
        let mut order = redis::cmd(words[0]);
        order.arg(&words[1..]);
        order.exec(&mut self.connection).expect("it is done");
    }
}

pub(super) fn hash_key(circuit: &str) -> String {
    wire::send(PREFIX, circuit, 0, ORIGIN, &Request::sync(), &Policy::new()).keys[0].clone()
}

fn order(name: &str, script: &str, sent: &wire::Sent) -> redis::Cmd {
    let mut order = redis::cmd(name);
    order
        .arg(script)
        .arg(sent.keys.len())
        .arg(&sent.keys)
        .arg(&sent.args);
    order
}

impl Request {
    /// Asks what is known, by somebody who knows nothing.
    pub(in crate::store) fn sync() -> Self {
        Self {
            command: crate::rules::fleet::Command::Sync,
            view: crate::rules::fleet::View::default(),
            instance: 1,
            draw: 0,
            deadline: 0,
        }
    }
}
