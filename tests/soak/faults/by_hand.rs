//! Somebody forces circuits, for a short while each time.

use crate::circuits::CIRCUITS;
use crate::crew::WORKERS;
use crate::faults::Source;
use crate::faults::World;

pub(super) fn rain(world: World<'_>, mut source: Source) {
    while source.next(500, 5_000) {
        let kinds = ["open", "open", "closed", "shadow", "clear", "reset"];
        let kind = kinds[source.random.usize(..kinds.len())];
        let circuit = source.random.usize(..CIRCUITS.len());
        let seat = source.random.usize(..WORKERS);
        let ttl = source.time(20, 2_500).as_millis();
        let name = CIRCUITS[circuit].name;
        world.log.fault(
            "forced",
            &format!(": {name} {kind} for {ttl} ms by worker {seat}"),
        );
        world
            .crew
            .order(seat, &format!("force {circuit} {kind} {ttl}"));
    }
}
