//! Processes die and come back, and stop and go on.

use std::thread;
use std::time::Duration;

use crate::crew::SPARED;
use crate::crew::WORKERS;
use crate::faults::Source;
use crate::faults::World;

pub(super) fn rain(world: World<'_>, mut source: Source) {
    while source.next(300, 4_000) {
        match source.random.u8(..5) {
            0..2 => kill(world, &mut source, None),
            2 => kill_in_mid_probe(world, &mut source),
            _ => stop(world, &mut source),
        }
    }
}

fn kill(world: World<'_>, source: &mut Source, seat: Option<usize>) {
    let seat = seat.unwrap_or_else(|| source.random.usize(SPARED..WORKERS));
    let time = source.time(1, 1_500);
    let kind = "worker killed";
    world.log.fault(kind, &format!(": {seat} for {time:?}"));
    world.crew.kill(seat);
    thread::sleep(time);
    world.crew.restart(seat);
}

/// Waits for a moment until one of them probes.
fn kill_in_mid_probe(world: World<'_>, source: &mut Source) {
    for _ in 0..400 {
        let probing = world.service.probes.under_way();
        if let Some(seat) = probing.into_iter().find(|seat| *seat >= SPARED) {
            world.log.fault("prober killed", &format!(": {seat}"));
            return kill(world, source, Some(seat));
        }
        thread::sleep(Duration::from_millis(1));
    }
}

/// For less and for longer than leases and the store's patience last.
fn stop(world: World<'_>, source: &mut Source) {
    let seat = source.random.usize(..WORKERS);
    let time = source.time(20, 5_000);
    world
        .log
        .fault("worker stopped", &format!(": {seat} for {time:?}"));
    world.crew.stop(seat, time);
}
