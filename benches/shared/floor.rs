//! How soon a message reaches everybody on this machine, at this moment, if nothing is done but
//! to send it and to read it: what the figures of a busy machine are to be read beside.

use std::sync::mpsc;
use std::sync::mpsc::Receiver;
use std::thread;
use std::time::Duration;
use std::time::Instant;

use breakerbox_servers::Server;
use redis::Client;
use redis::Connection;

use crate::samples::Samples;

const CHANNEL: &str = "floor";

/// So long no message takes.
const LONGEST: Duration = Duration::from_secs(30);

pub(crate) struct Floor {
    publisher: Connection,
    heard: Receiver<Instant>,
    listeners: usize,
}

impl Floor {
    /// Lets so many threads listen, each on a connection of its own, until the server is gone.
    pub(crate) fn start(server: &Server, listeners: usize) -> Self {
        let client = Client::open(server.url()).expect("the address of a server");
        let connect = || client.get_connection().expect("a server that answers");
        let (hears, heard) = mpsc::channel();
        for _ in 0..listeners {
            let mut connection = connect();
            let hears = hears.clone();
            thread::spawn(move || {
                let mut channel = connection.as_pubsub();
                channel
                    .subscribe(CHANNEL)
                    .expect("a channel that is free to all");
                let is_wanted = |at| hears.send(at).is_ok();
                // Says once that it listens, and then when it hears something.
                while is_wanted(Instant::now()) && channel.get_message().is_ok() {}
            });
        }
        let floor = Self {
            publisher: connect(),
            heard,
            listeners,
        };
        floor.all_hear().for_each(drop);
        floor
    }

    /// Sends one message, and notes when each has read it.
    pub(crate) fn measure(&mut self, samples: &mut Samples) {
        let begin = Instant::now();
        let mut publish = redis::cmd("PUBLISH");
        publish.arg(CHANNEL).arg("x");
        let sent = publish.exec(&mut self.publisher);
        sent.expect("a server that answers");
        for at in self.all_hear() {
            samples.push(at.saturating_duration_since(begin));
        }
    }

    fn all_hear(&self) -> impl Iterator<Item = Instant> {
        let hear = |_| self.heard.recv_timeout(LONGEST).expect("all hear it");
        (0..self.listeners).map(hear)
    }
}
