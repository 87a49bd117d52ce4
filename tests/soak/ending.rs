//! Nothing fails any more: by itself all comes to be well.

use std::thread;
use std::time::Duration;
use std::time::Instant;

use breakerbox_servers::Server;

use crate::circuits::CIRCUITS;
use crate::crew::Crew;
use crate::crew::Report;
use crate::journal::Journal;
use crate::log::Log;

/// It takes a few seconds: a connection that is tried again every two, leases that run out after
/// two, overrides of two and a half, cooldowns of two. More is only needed where the machine has
/// more to do than it can.
const LIMIT: Duration = Duration::from_secs(60);

/// For so long it has to stay well.
const STAYS: Duration = Duration::from_secs(2);

const LOOK: Duration = Duration::from_millis(100);

/// Waits until every circuit is closed, in every process and in Redis, and stays so. Says how
/// long that took.
pub(crate) fn come_to_rest(
    server: &Server,
    crew: &Crew,
    journal: &Journal,
    log: &Log,
) -> Option<Duration> {
    let began = Instant::now();
    let mut well_since = None;
    loop {
        thread::sleep(LOOK);
        journal.read(server, log);
        let wrong: Vec<String> = in_workers(crew, began)
            .into_iter()
            .chain(in_redis(server))
            .collect();
        if !wrong.is_empty() {
            well_since = None;
            if began.elapsed() > LIMIT {
                log.wrong(&format!("it does not come to rest: {}", wrong.join("; ")));
                return None;
            }
            continue;
        }
        let since = *well_since.get_or_insert_with(Instant::now);
        if since.elapsed() > STAYS {
            return Some(since - began);
        }
    }
}

/// What is not well in the processes.
fn in_workers(crew: &Crew, began: Instant) -> Vec<String> {
    let is_fresh = |report: &Report| report.at > began && report.at.elapsed() < STAYS;
    let reports = crew.reports().into_iter().enumerate();
    let wrong = reports.filter_map(|(seat, reports)| {
        let Some(report) = reports.last.filter(is_fresh) else {
            return Some(format!("worker {seat} says nothing"));
        };
        let open = CIRCUITS.iter().zip(&report.states);
        let open: Vec<_> = open
            .filter(|(_, state)| *state != "closed")
            .map(|(circuit, state)| format!("{} {state}", circuit.name))
            .collect();
        (!open.is_empty()).then(|| format!("worker {seat} has {}", open.join(", ")))
    });
    wrong.collect()
}

/// What is not well in Redis. No circuit lies there of which nothing bad was ever heard.
fn in_redis(server: &Server) -> Vec<String> {
    let wrong = CIRCUITS.iter().filter_map(|circuit| {
        let key = format!("breakerbox:{{{}}}", circuit.name);
        let lies = server.order(&["HMGET", &key, "v", "phase", "leases", "cover"]);
        let fields: Vec<&str> = lies.elements().iter().map(|it| it.text()).collect();
        match *fields.as_slice() {
            ["", ..] | [_, "closed", "", "-"] => None,
            _ => Some(format!("Redis has {} {fields:?}", circuit.name)),
        }
    });
    wrong.collect()
}
