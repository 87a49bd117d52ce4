//! Calls the script: at most once, before its deadline or never, and with a number that has
//! to come back.

use std::sync::Arc;
use std::time::Duration;

use redis::Cmd;
use tokio::time::Instant;

use crate::policy::Policy;
use crate::rules::fleet::Reply;
use crate::rules::fleet::Request;
use crate::rules::fleet::Status;
use crate::store::JOURNAL;
use crate::store::Note;
use crate::store::StoreError;
use crate::store::redis::connection::Connection;
use crate::store::redis::connection::RESPONSE;
use crate::store::redis::connection::Way;
use crate::store::redis::counts::Counts;
use crate::store::redis::fault::Fault;
use crate::store::redis::wire;
use crate::store::redis::wire::Sent;

/// What all calls of one process have in common.
pub(super) struct Calls {
    pub(super) prefix: String,
    /// What the journal calls this process.
    pub(super) origin: String,
    pub(super) counts: Arc<Counts>,
}

/// An answer, and whether what it tells was kept from the others.
pub(super) struct Answer {
    pub(super) reply: Reply,
    pub(super) was_not_published: bool,
}

/// The milliseconds of a reply are the whole ones that have passed.
const GRAIN: Duration = Duration::from_micros(500);

impl Calls {
    /// Does one command on a circuit.
    pub(super) async fn call(
        &self,
        connection: &Connection,
        way: Way,
        circuit: &str,
        request: &Request,
        policy: &Policy,
        within: Duration,
    ) -> Result<Answer, Fault> {
        // Nobody hears of what is done later.
        let within = within.min(RESPONSE);
        let begun = Instant::now();
        let mut request = request.clone();
        request.deadline = connection.clock.deadline(begun, within);
        let nonce = fastrand::u64(..);
        let sent = wire::send(&self.prefix, circuit, nonce, &self.origin, &request, policy);
        let text = self.ask(connection, way, &sent, begun, within).await?;
        let text = String::from_utf8_lossy(&text);
        if wire::nonce(&text) != Some(nonce) {
            return Err(out_of_step(connection));
        }
        let Some(reply) = wire::reply(&text) else {
            let why = "the circuit is of another version, or broken";
            return Err(Fault::Refused(StoreError::Foreign(why.into())));
        };
        let micros = reply.now.saturating_mul(1000).saturating_add(500);
        let clock = &connection.clock;
        clock.heard(begun, Instant::now(), micros, GRAIN);
        if reply.status == Status::Late {
            return Err(Fault::Refused(StoreError::Late));
        }
        Ok(Answer {
            reply,
            was_not_published: wire::is_unpublished(&text),
        })
    }

    /// By the hash of the script, and where the server does not know it, by its text.
    async fn ask(
        &self,
        connection: &Connection,
        way: Way,
        sent: &Sent,
        begun: Instant,
        within: Duration,
    ) -> Result<Vec<u8>, Fault> {
        let short = command("EVALSHA", wire::sha(), sent);
        match connection.ask_by(way, &short, within).await {
            Err(Fault::NoScript) => {}
            answer => return answer,
        }
        let left = within.saturating_sub(begun.elapsed());
        if left.is_zero() {
            return Err(Fault::TimedOut);
        }
        let long = command("EVAL", wire::SCRIPT, sent);
        connection.ask_by(way, &long, left).await
    }

    /// Asks for the last entries of a circuit's journal, newest first, and for one at least.
    pub(super) fn journal(&self, circuit: &str, limit: usize) -> Cmd {
        let mut command = redis::cmd("LRANGE");
        command
            .arg(wire::journal_key(&self.prefix, circuit))
            .arg(0)
            .arg(limit.clamp(1, JOURNAL) - 1);
        command
    }

    /// Notes numbers, and asks for all of them.
    pub(super) fn compare(&self, circuit: &str, note: &Note) -> Cmd {
        let mut command = redis::cmd("EVAL");
        let sent = wire::compare(&self.prefix, circuit, note);
        command.arg(wire::NUMBERS).arg(1).arg(sent.as_slice());
        command
    }
}

fn command(name: &str, script: &str, sent: &Sent) -> Cmd {
    let mut command = redis::cmd(name);
    command.arg(script).arg(sent.keys.len());
    command.arg(sent.keys.as_slice()).arg(sent.args.as_slice());
    command
}

/// The answer belongs to another command, and so would every one after it.
fn out_of_step(connection: &Connection) -> Fault {
    let cause = StoreError::Unavailable("its answers were out of step".into());
    connection.lose(cause.clone());
    Fault::Lost(cause)
}
