//! Changes while calls run, while breakers are made, and while others change something.

use std::io;
use std::sync::Barrier;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;

use breakerbox::Policy;
use breakerbox::Registry;
use breakerbox::circuit_breaker;

use super::Folder;

#[circuit_breaker(service = tenant, threshold = 1_000)]
fn call(tenant: &str) -> io::Result<()> {
    let _ = tenant;
    Ok(())
}

const ROUNDS: u32 = 100;

/// Two services whose numbers belong together.
fn text(round: u32) -> String {
    let probes = round + 1;
    format!(
        "[defaults]\nmax_keys = {probes}\n\
         [services.together-1]\nprobes = {probes}\nclose_after = {probes}\n\
         [services.together-2]\nprobes = {probes}\nclose_after = {probes}\n"
    )
}

#[test]
fn reloads_beside_calls_and_live_changes_are_whole_and_lose_nothing() {
    let folder = Folder::new();
    let path = folder.write("a.toml", text(0));
    let registry = Registry::builder()
        .declare("together-1")
        .declare("together-2")
        .config_file(&path)
        .build()
        .unwrap();
    let [one, two] = ["together-1", "together-2"].map(|name| registry.breaker(name).unwrap());
    let over = AtomicBool::new(false);
    let updates = thread::scope(|scope| {
        for breaker in [one, two] {
            scope.spawn(|| {
                while !over.load(Relaxed) {
                    breaker.try_acquire().unwrap().success();
                    let policy = breaker.snapshot().policy;
                    assert_eq!(policy.check(), Ok(()));
                    assert_eq!(policy.get_probes(), policy.get_close_after());
                }
            });
        }
        let updating = scope.spawn(|| {
            let mut updates = 0;
            while !over.load(Relaxed) {
                one.update(|policy| {
                    let threshold = policy.get_threshold().unwrap_or(0);
                    policy.threshold(threshold + 1)
                })
                .unwrap();
                updates += 1;
            }
            updates
        });
        for round in 1..=ROUNDS {
            folder.write("a.toml", text(round));
            registry.reload().unwrap();
        }
        over.store(true, Relaxed);
        updating.join().unwrap()
    });
    let probes = ROUNDS + 1;
    let expected = Policy::new()
        .probes(probes)
        .close_after(probes)
        .max_keys(probes);
    assert_eq!(one.policy(), expected.threshold(5 + updates));
    assert_eq!(two.policy(), expected);
}

/// None has the numbers of a file that is no longer in force. The next file would mend that,
/// so it is looked at after each.
#[test]
fn breakers_that_are_made_beside_a_reload_have_its_numbers() {
    const EACH: u32 = 5;
    let folder = Folder::new();
    let path = folder.write("a.toml", text(0));
    let registry = Registry::builder().config_file(&path).build().unwrap();
    for round in 1..=40 {
        folder.write("a.toml", text(round));
        let name = |maker: u32, number: u32| format!("made beside {round}: {maker}.{number}");
        let start = Barrier::new(3);
        thread::scope(|scope| {
            for maker in 0..2 {
                let (registry, start) = (&registry, &start);
                scope.spawn(move || {
                    let _entered = registry.enter();
                    start.wait();
                    for number in 0..EACH {
                        call(&name(maker, number)).unwrap();
                        thread::yield_now();
                    }
                });
            }
            start.wait();
            registry.reload().unwrap();
        });
        for (maker, number) in (0..2).flat_map(|maker| (0..EACH).map(move |it| (maker, it))) {
            let name = name(maker, number);
            let expected = Policy::new().threshold(1_000).max_keys(round + 1);
            assert_eq!(
                registry.breaker(&name).unwrap().policy(),
                expected,
                "{name}"
            );
        }
    }
}

#[test]
fn reloads_at_once_come_one_after_the_other() {
    let folder = Folder::new();
    let path = folder.write("a.toml", text(0));
    let registry = Registry::builder()
        .declare("together-1")
        .declare("together-2")
        .config_file(&path)
        .build()
        .unwrap();
    folder.write("a.toml", text(7));
    let changes: usize = thread::scope(|scope| {
        let threads: Vec<_> = (0..4)
            .map(|_| scope.spawn(|| registry.reload().unwrap().changes().len()))
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .sum()
    });
    // Every service of this binary has another `max_keys`, and is told of once.
    let services = registry.services().len();
    assert_eq!(changes, services + 2 * 3);
}
