//! What happens to the workers, scene by scene, and what is claimed of it.

use std::thread;
use std::time::Duration;
use std::time::Instant;
use std::time::SystemTime;
use std::time::UNIX_EPOCH;

use breakerbox_servers::Server;
use tokio::runtime::Builder;

use crate::client::THRESHOLD;
use crate::fleet;
use crate::fleet::Fleet;
use crate::provider::Answer;
use crate::provider::HEALTHY;
use crate::provider::Provider;
use crate::report;
use crate::report::Told;
use crate::stage::FAILS;
use crate::stage::Outcome;
use crate::stage::Stage;
use crate::stage::is_found;
use crate::stage::is_lost;
use crate::stage::moved;
use crate::words::What;
use crate::worker;
use crate::worker::Orders;

/// Probes take their time, so that two would be seen to meet at the provider.
const FAILS_SLOWLY: Answer = Answer::Status(503, Duration::from_millis(150));
const RECOVERS: Answer = Answer::Status(200, Duration::from_millis(150));

/// Tells the story, and prints it as it goes on.
pub(crate) fn tell(workers: usize, redis: &Server) -> Outcome<Told> {
    let start = Instant::now();
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH)?;
    let runtime = Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()?;
    let provider = runtime.block_on(Provider::open(start))?;
    let orders = Orders {
        worker: 0,
        redis: redis.url(),
        provider: provider.address,
        start: u64::try_from(since_1970.as_micros())?,
    };
    let fleet = Fleet::start(workers, orders)?;
    let mut stage = Stage::new(start, redis, provider, fleet, Told::new(workers));
    stage.all_is_well()?;
    stage.the_provider_fails()?;
    stage.a_prober_is_killed()?;
    stage.redis_is_lost()?;
    stage.redis_is_back()?;
    stage.the_end()?;
    Ok(stage.told)
}

impl Stage<'_> {
    fn all_is_well(&mut self) -> Outcome {
        self.scene("All is well");
        self.fleet.until_each(0, "all reach Redis", is_found)?;
        // They ask once how the circuit stands.
        pause(300);
        self.counts()?;
        self.redis.reset_command_stats();
        pause(1500);
        let commands = self.redis.command_stats();
        let scripts = commands.get("evalsha").copied().unwrap_or_default();
        let made: u64 = self.counts()?.iter().map(|(_, counts)| counts.made).sum();
        let connections = self.redis.client_count();
        self.note(
            "redis",
            &format!("{connections} connections, and {scripts} commands for {made} calls"),
        );
        self.claim(
            scripts == 0 && made > 0 && connections == self.told.workers,
            format!("{made} good calls sent Redis no command, over one connection a process"),
        );
        self.show();
        Ok(())
    }

    fn the_provider_fails(&mut self) -> Outcome {
        self.scene("The provider fails, for two seconds");
        let open = self.open_all(FAILS_SLOWLY)?;
        let mark = self.fleet.mark();
        self.fleet.until_each(mark, "the probe fails", |what| {
            moved(what, "half_open", "open")
        })?;
        self.provider("recovers, and is slow", RECOVERS);
        self.close_all(&self.all(), mark, open)?;
        self.note_refused()?;
        self.show();
        Ok(())
    }

    fn a_prober_is_killed(&mut self) -> Outcome {
        self.scene("It fails again, and a worker dies while it probes");
        let open = self.open_all(Answer::Never)?;
        let mark = self.fleet.mark();
        let probe = fleet::wait("somebody probes", || {
            self.provider
                .calls()
                .into_iter()
                .find(|call| call.came > open)
        })?;
        // So long that it has renewed its lease.
        pause(800);
        self.provider("recovers, and is slow", RECOVERS);
        self.fleet.kill(probe.worker)?;
        let killed = self.start.elapsed();
        self.note(
            &worker::name(probe.worker),
            "killed with SIGKILL, while its probe hangs",
        );
        let others: Vec<_> = self
            .fleet
            .numbers()
            .filter(|it| *it != probe.worker)
            .collect();
        self.close_all(&others, mark, open)?;
        let next = self.probes(open, self.start.elapsed());
        let next = next.iter().find(|call| call.came > killed);
        let next = next.map_or(Duration::MAX, |call| call.came - killed);
        self.told.lease_ran_out = Some(next);
        self.claim(
            next < Duration::from_secs(5),
            format!("{next:.1?} after a process was killed in its probe, another one probed"),
        );
        self.fleet.restart(probe.worker)?;
        self.note(&worker::name(probe.worker), "started again");
        self.fleet
            .until_these(&[probe.worker], mark, "it reaches Redis", is_found)?;
        self.show();
        Ok(())
    }

    fn redis_is_lost(&mut self) -> Outcome {
        self.scene("Redis hangs, and is killed; then the provider fails");
        self.counts()?;
        let mark = self.fleet.mark();
        self.redis.stop();
        self.note(
            "redis",
            "stopped with SIGSTOP: it accepts, and never answers",
        );
        self.fleet.until_each(mark, "all notice", is_lost)?;
        pause(500);
        self.redis.kill();
        self.note("redis", "killed");
        pause(500);
        self.provider("fails", FAILS);
        let opened = |what: &What| moved(what, "closed", "open");
        self.fleet
            .until_each(mark, "each opens its own circuit", opened)?;
        self.provider("is healthy", HEALTHY);
        let closed = |what: &What| moved(what, "half_open", "closed");
        self.fleet
            .until_each(mark, "each closes its own circuit", closed)?;
        pause(200);
        let counts = self.counts()?;
        let in_vain: Vec<u64> = counts.iter().map(|(_, counts)| counts.in_vain).collect();
        let longest = counts
            .iter()
            .map(|(_, it)| it.longest.max(it.longest_rejected))
            .max();
        let longest = longest.unwrap_or_default();
        self.note("workers", &report::in_vain(&counts));
        self.claim(
            in_vain.iter().all(|calls| *calls >= u64::from(THRESHOLD)),
            format!("without Redis each opened its own circuit, after {THRESHOLD} failures of its own or more"),
        );
        self.claim(
            longest < Duration::from_millis(200),
            format!(
                "while Redis hung and was gone no call was longer in the breaker than {longest:.1?}"
            ),
        );
        self.told.alone = in_vain.iter().sum();
        self.told.longest_without_redis = longest;
        self.show();
        Ok(())
    }

    fn redis_is_back(&mut self) -> Outcome {
        self.scene("Redis is back, and empty; the provider fails once more");
        let mark = self.fleet.mark();
        self.redis.restart();
        self.note("redis", "started again, with nothing in it");
        self.fleet.until_each(mark, "all find it", is_found)?;
        pause(300);
        let open = self.open_all(FAILS_SLOWLY)?;
        let mark = self.fleet.mark();
        self.provider("recovers, and is slow", RECOVERS);
        self.close_all(&self.all(), mark, open)?;
        self.note_refused()?;
        self.show();
        Ok(())
    }

    fn the_end(&mut self) -> Outcome {
        pause(300);
        self.counts()?;
        self.fleet.quit()?;
        let said = self.fleet.since(0);
        let count = |worker, is_meant: fn(&What) -> bool| {
            let lines = said.iter().filter(|(who, _)| *who == worker);
            lines.filter(|(_, said)| is_meant(&said.what)).count()
        };
        let all_lost_once = self
            .fleet
            .numbers()
            .all(|worker| count(worker, is_lost) == 1);
        let found: usize = self
            .fleet
            .numbers()
            .map(|worker| count(worker, is_found))
            .sum();
        // Twice each, and the one that was killed once more.
        let found_again = found == 2 * self.told.workers + 1;
        self.claim(
            all_lost_once && found_again,
            "each told once that Redis was lost, and once that it was found again".to_owned(),
        );
        let slowest = self
            .told
            .openings
            .iter()
            .map(|opening| opening.within)
            .max();
        let slowest = slowest.unwrap_or(Duration::MAX);
        self.claim(
            slowest < Duration::from_secs(1),
            format!("each time all circuits were open within {slowest:.1?} of the first"),
        );
        let made: usize = self.told.probes.iter().map(|probes| probes.made).sum();
        let one_at_a_time = self.told.probes.iter().all(|probes| probes.at_once == 1);
        let one_good = self.told.probes.iter().all(|probes| probes.good == 1);
        self.claim(
            one_at_a_time && one_good,
            format!("{made} probes of all processes, one at a time, and the first good one closed all circuits"),
        );
        let broken: u64 = self.told.totals.values().map(|counts| counts.broken).sum();
        self.claim(broken == 0, "no call was lost".to_owned());
        Ok(())
    }
}

fn pause(millis: u64) {
    thread::sleep(Duration::from_millis(millis));
}
