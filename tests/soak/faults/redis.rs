//! Redis ends, stops, forgets; and so does the network to it.

use std::thread;
use std::time::Duration;

use breakerbox_servers::Direction;

use crate::faults::Source;
use crate::faults::World;

/// One of them at a time, and quiet between, so that there is time to be judged.
pub(super) fn rain(world: World<'_>, mut source: Source) {
    loop {
        // Now and then it stays quiet for so long that all have recovered.
        let (shortest, longest) = match source.random.u8(..5) {
            0..2 => (6_500, 9_500),
            _ => (200, 2_500),
        };
        if !source.next(shortest, longest) {
            return;
        }
        // And now and then the next comes before anybody has.
        for _ in 0..source.random.usize(1..3) {
            let one = source.random.usize(..CUTTING.len() + FORGETTING.len());
            match CUTTING.get(one) {
                Some(cut) => world.troubles.during(|| cut(world, &mut source)),
                None => FORGETTING[one - CUTTING.len()](world, &mut source),
            }
        }
    }
}

type Fault = fn(World<'_>, &mut Source);

/// Some process cannot reach Redis for a while, and goes by what it sees alone.
const CUTTING: [Fault; 11] = [
    kill,
    kill,
    stop,
    stop,
    black_hole,
    hold,
    slow,
    refuse,
    cut,
    cut_within,
    kill_clients,
];

/// All can reach it, so they keep to what they have leave for.
const FORGETTING: [Fault; 4] = [flush, flush, forget_scripts, forget_scripts];

fn kill(world: World<'_>, source: &mut Source) {
    let time = source.time(1, 2_500);
    world.log.fault("redis killed", &format!(" for {time:?}"));
    let mut hold = world.journal.hold();
    hold.read(world.server, world.log);
    world.server.kill();
    hold.lost();
    thread::sleep(time);
    world.server.restart();
}

fn stop(world: World<'_>, source: &mut Source) {
    let time = source.time(20, 4_000);
    world.log.fault("redis stopped", &format!(" for {time:?}"));
    let _hold = world.journal.hold();
    world.server.stop();
    thread::sleep(time);
    world.server.cont();
}

fn black_hole(world: World<'_>, source: &mut Source) {
    let time = source.time(20, 4_000);
    world.log.fault("black hole", &format!(" for {time:?}"));
    world.proxy.black_hole();
    thread::sleep(time);
    world.proxy.heal();
}

/// What is sent arrives, late.
fn hold(world: World<'_>, source: &mut Source) {
    let time = source.time(20, 3_000);
    world.log.fault("network held", &format!(" for {time:?}"));
    world.proxy.hold();
    thread::sleep(time);
    world.proxy.heal();
}

fn slow(world: World<'_>, source: &mut Source) {
    let time = source.time(500, 4_000);
    let by = source.time(1, 160);
    let jitter = source.time(1, 200);
    world.log.fault(
        "network slow",
        &format!(" by {by:?} and up to {jitter:?} for {time:?}"),
    );
    for direction in [Direction::Up, Direction::Down] {
        world.proxy.delay(direction, by);
        world.proxy.jitter(direction, jitter);
    }
    thread::sleep(time);
    world.proxy.heal();
}

fn refuse(world: World<'_>, source: &mut Source) {
    let time = source.time(20, 2_000);
    world
        .log
        .fault("network refused", &format!(" for {time:?}"));
    world.proxy.refuse();
    world.proxy.reset_connections();
    thread::sleep(time);
    world.proxy.heal();
}

fn cut(world: World<'_>, source: &mut Source) {
    match source.random.u8(..3) {
        0 => {
            world.log.fault("connections reset", "");
            world.proxy.reset_connections();
        }
        1 => {
            world.log.fault("connections closed", "");
            world.proxy.drop_connections();
        }
        _ => {
            world.log.fault("connections half closed", "");
            world.proxy.half_close();
        }
    }
}

/// In the middle of a command or an answer.
fn cut_within(world: World<'_>, source: &mut Source) {
    for direction in [Direction::Up, Direction::Down] {
        let bytes = source.random.u64(1..20_000);
        world.log.fault(
            "connection cut",
            &format!(" {direction:?} after {bytes} bytes"),
        );
        world.proxy.cut_after(direction, bytes);
        thread::sleep(Duration::from_millis(400));
    }
}

fn flush(world: World<'_>, _: &mut Source) {
    world.log.fault("FLUSHALL", "");
    let mut hold = world.journal.hold();
    hold.read(world.server, world.log);
    world.server.flushall();
    hold.lost();
}

fn forget_scripts(world: World<'_>, _: &mut Source) {
    world.log.fault("SCRIPT FLUSH", "");
    world.server.script_flush();
}

fn kill_clients(world: World<'_>, _: &mut Source) {
    world.log.fault("CLIENT KILL", "");
    world.server.clients_kill();
}
