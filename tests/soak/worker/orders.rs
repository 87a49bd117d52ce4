//! What a worker is told to do.

use std::io;
use std::time::Duration;

use breakerbox::Breaker;

/// Obeys until standard input ends, or says `end`.
pub(super) fn obey(breakers: &[&'static Breaker], seat: usize) {
    let actor = format!("worker-{seat}");
    for line in io::stdin().lines().map_while(Result::ok) {
        let words: Vec<&str> = line.split(' ').collect();
        match *words.as_slice() {
            ["force", circuit, kind, ttl] => {
                let at: usize = circuit.parse().expect("the number of a circuit");
                let ttl = Duration::from_millis(ttl.parse().expect("milliseconds"));
                force(breakers[at], kind, ttl, &actor);
            }
            ["end"] => return,
            _ => panic!("no such order: {line}"),
        }
    }
}

fn force(breaker: &Breaker, kind: &str, ttl: Duration, actor: &str) {
    let why = "a soak";
    let done = match kind {
        "open" => breaker.force_open(ttl, actor, why).map(drop),
        "closed" => breaker.force_closed(ttl, actor, why).map(drop),
        "shadow" => breaker.shadow(ttl, actor, why).map(drop),
        "clear" => {
            breaker.clear_override();
            Ok(())
        }
        "reset" => {
            breaker.reset();
            Ok(())
        }
        _ => panic!("nothing to force: {kind}"),
    };
    done.expect("it says who, why and for how long");
}
