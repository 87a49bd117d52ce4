//! The whole: it begins, things happen, it comes to rest, and is judged.

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::time::Duration;
use std::time::Instant;

use breakerbox_servers::Proxy;
use breakerbox_servers::Server;

use crate::circuits::CIRCUITS;
use crate::crew::Crew;
use crate::crew::WORKERS;
use crate::ending;
use crate::faults;
use crate::faults::World;
use crate::flags::Plan;
use crate::flags::Post;
use crate::journal::Journal;
use crate::journal::least_successes;
use crate::log::Log;
use crate::memory;
use crate::probes::Excuses;
use crate::service::Service;
use crate::spans::Spans;

/// How often the journals are read. They hold a hundred entries, and a circuit does not move
/// that often in a second.
const READ: Duration = Duration::from_millis(50);

pub(crate) fn run(plan: Plan) -> ExitCode {
    println!("\nsoak: {} s, --seed {}", plan.seconds, plan.seed);
    let server = match Server::start() {
        Ok(server) => server,
        Err(error) => {
            eprintln!("soak: no Redis: {error}");
            return ExitCode::FAILURE;
        }
    };
    let empty = server.memory();
    let log = Arc::new(Log::new(plan.is_verbose));
    let proxy = Proxy::start(server.address()).expect("a proxy");
    let service = Service::start().expect("a service");
    let posts = (0..WORKERS).map(|seat| Post {
        seat,
        redis: proxy.url(),
        service: service.address(),
        seed: plan.seed.wrapping_mul(31).wrapping_add(seat as u64),
    });
    let crew = Crew::start(posts.collect(), &log);
    let (journal, troubles) = (Journal::new(), Spans::default());
    let world = World {
        server: &server,
        proxy: &proxy,
        service: &service,
        crew: &crew,
        journal: &journal,
        troubles: &troubles,
        log: &log,
    };
    rain(world, plan);
    println!("the faults are over");
    let rest = ending::come_to_rest(&server, &crew, &journal, &log);
    judge(world, empty, rest);
    crew.end();
    if log.is_clean() {
        println!("\nsoak: all held, --seed {}", plan.seed);
        return ExitCode::SUCCESS;
    }
    log.print_wrongs();
    println!("\nsoak: FAILED, --seed {}", plan.seed);
    ExitCode::FAILURE
}

/// Faults for most of the time, while the journals are read.
fn rain(world: World<'_>, plan: Plan) {
    let began = Instant::now();
    let length = Duration::from_secs(plan.seconds);
    let until = began + length - (length / 6).min(Duration::from_secs(10));
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Relaxed) {
                world.journal.read(world.server, world.log);
                thread::sleep(READ);
            }
        });
        scope.spawn(|| {
            // Everything has happened to everybody by then.
            thread::sleep(length / 3);
            world.crew.are_warm();
        });
        faults::rain(world, plan.seed, until);
        is_over.store(true, Relaxed);
    });
}

/// What can only be told when all is over.
fn judge(world: World<'_>, empty: u64, rest: Option<Duration>) {
    let World {
        server,
        service,
        crew,
        journal,
        troubles,
        log,
        ..
    } = world;
    log.print_faults();
    println!("Redis has lost everything {} times", journal.losses());
    for (circuit, counts) in CIRCUITS.iter().zip(journal.counts()) {
        println!(
            "{:7} {} entries: opened {}, closed {}, forced {}, restored {}",
            circuit.name,
            counts.entries,
            counts.opened,
            counts.closed,
            counts.forced,
            counts.restored
        );
        if counts.opened == 0 || counts.closed == 0 {
            let name = circuit.name;
            log.wrong(&format!(
                "nothing has happened to {name}, so nothing is proved"
            ));
        }
    }
    let excuses = Excuses {
        stops: &crew.stops,
        troubles,
    };
    let counted = service.probes.judge(&journal.rounds(), &excuses);
    println!(
        "probes: {} by leave of all, {} of them while all was well with Redis; \
         {} and {} by what one process had seen alone",
        counted.shared, counted.judged, counted.alone, counted.alone_in_peace
    );
    for wrong in &counted.wrong {
        log.wrong(wrong);
    }
    let closings = journal.closings();
    for closing in &closings {
        let circuit = &CIRCUITS[closing.circuit];
        let seen = service.probes.successes(closing.circuit, closing.round) as u64;
        let enough = least_successes(circuit);
        if seen < enough {
            log.wrong(&format!(
                "{} was closed by round {} after {seen} probes that the service saw succeed, \
                 and it takes {enough}; those about then: {}",
                circuit.name,
                closing.round,
                service.probes.about(closing.circuit, closing.round)
            ));
        }
    }
    let reports = crew.reports();
    let last = || reports.iter().filter_map(|it| it.last.as_ref());
    let calls: u64 = last().map(|report| report.calls).sum();
    let slowest = last().map(|report| report.slowest).max();
    println!(
        "calls: {calls} of the processes that live now; the slowest way through a breaker took {:?}",
        slowest.unwrap_or_default()
    );
    println!("{}", memory::judge_workers(&reports, log));
    println!("{}", memory::judge_redis(server, empty, log));
    if let Some(rest) = rest {
        println!("rest: after {rest:?} every circuit was closed, and no lease left");
    }
    println!("{} rounds of probes have closed a circuit", closings.len());
}
