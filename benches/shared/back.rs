//! How soon all share the circuit again after a server was killed and started anew.

use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::time::Duration;
use std::time::Instant;

use breakerbox::Policy;
use serde_json::json;

use crate::effort::Effort;
use crate::fleet::Fleet;
use crate::fleet::asked;
use crate::fleet::server;
use crate::fleet::until;
use crate::report::Report;
use crate::report::rounded;
use crate::samples::Samples;
use crate::samples::millis;
use crate::traffic::drive;

const INSTANCES: usize = 16;

const POLICY: Policy = Policy::new().threshold(10);

pub(crate) fn measure(effort: &Effort, report: &mut Report) {
    report.title(format!(
        "Killed, {} s away and started anew, empty: 16 instances, 10,000 calls a second",
        effort.away.as_secs()
    ));
    let server = server();
    let fleet = Fleet::start(&server, INSTANCES, POLICY);
    let breakers = fleet.breakers();
    let is_over = AtomicBool::new(false);
    let (connected, all_synced, connects, traffic) = thread::scope(|scope| {
        let traffic = scope.spawn(|| {
            drive(&breakers, 0, Duration::from_secs(600), || {
                !is_over.load(Relaxed)
            })
        });
        server.kill();
        thread::sleep(effort.away);
        // So it holds the start of the server, too.
        let begin = Instant::now();
        server.restart();
        fleet.all("it finds the store again", |it| it.times_found() == 2);
        until("all have asked", || asked(&server) >= INSTANCES as u64);
        let all_synced = begin.elapsed();
        let mut connected = Samples::default();
        for found in fleet.instances.iter().filter_map(|it| it.last_found()) {
            connected.push(found.saturating_duration_since(begin));
        }
        // Long enough for somebody who connects twice.
        thread::sleep(Duration::from_millis(500));
        let connects: u32 = server
            .info("stats", "total_connections_received")
            .parse()
            .expect("a number of connections");
        is_over.store(true, Relaxed);
        let traffic = traffic.join().expect("calls that do not panic");
        (connected.sorted(), all_synced, connects, traffic)
    });
    let p50 = millis(connected.median());
    let max = millis(all_synced);
    report.fact("connected again, p50", p50, "ms");
    report.fact("all connected and synced again", max, "ms");
    // One more is the house's own.
    let connects = connects - 1;
    let most = f64::from(u32::try_from(INSTANCES).unwrap_or(u32::MAX));
    report.bound("connects of 16 instances", f64::from(connects), most, "");
    report.bound(
        "calls that were rejected",
        f64::from(traffic.rejected),
        0.0,
        "",
    );
    report.tell("back_ms", json!({"p50": rounded(p50), "max": rounded(max)}));
    report.tell("reconnects", json!(connects));
}
