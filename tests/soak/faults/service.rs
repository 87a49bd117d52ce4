//! The service fails, hangs, and is slow; towards the callers of one circuit at a time, and of
//! several at once.

use std::thread;

use crate::circuits::CIRCUITS;
use crate::faults::Source;
use crate::faults::World;
use crate::service::Mood;

pub(super) fn rain(world: World<'_>, mut source: Source) {
    thread::scope(|scope| {
        for at in 0..CIRCUITS.len() {
            let source = Source {
                random: source.random.fork(),
                until: source.until,
            };
            scope.spawn(move || rain_on(world, at, source));
        }
    });
}

fn rain_on(world: World<'_>, at: usize, mut source: Source) {
    while source.next(500, 4_500) {
        let (mood, kind, longest) = match source.random.u8(..10) {
            0..4 => (Mood::Failing, "service fails", 2_500),
            4..6 => (Mood::Flaky, "service flaky", 3_000),
            6..8 => (Mood::Slow, "service slow", 3_000),
            _ => (Mood::Hanging, "service hangs", 4_500),
        };
        let time = source.time(150, longest);
        world
            .log
            .fault(kind, &format!(": {} for {time:?}", CIRCUITS[at].name));
        world.service.set(at, mood);
        thread::sleep(time);
        world.service.set(at, Mood::Well);
    }
}
