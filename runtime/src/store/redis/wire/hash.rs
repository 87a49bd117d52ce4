//! The hash of a circuit, read and written as the script does: for tests that look behind it.

use std::collections::HashMap;

use crate::rules::fleet::Lease;
use crate::rules::fleet::Reporter;
use crate::rules::fleet::Round;
use crate::rules::fleet::Shared;
use crate::rules::fleet::Slot;
use crate::rules::fleet::Width;
use crate::store::redis::wire::fields;

/// What lies there; nothing where there is no circuit.
///
/// # Panics
///
/// Where a field is missing or cannot be read: the script never leaves that behind.
pub(crate) fn read(hash: &HashMap<String, String>) -> Option<Shared> {
    let field = |name: &str| {
        hash.get(name)
            .unwrap_or_else(|| panic!("no {name}: {hash:?}"))
    };
    let number = |name: &str| field(name).parse::<u64>().expect("a number");
    assert_eq!(hash.get("v")?, "1");
    let [successes, failures, hung] = numbers(field("round"), ',');
    let small = |number: u64| u32::try_from(number).expect("32 bits");
    Some(Shared {
        epoch: number("epoch"),
        phase: fields::phase(field("phase")).expect("a phase"),
        until: number("until"),
        length: number("length"),
        trips: small(number("trips")),
        opened_by: fields::optional(field("opened_by"), fields::reason).expect("a reason"),
        closed_at: number("closed_at"),
        failures: small(number("failures")),
        slots: entries(field("slots"), |slot| {
            let (kind, rest) = slot.split_at(1);
            let [width, index, calls, failures, slow] = numbers(rest, ',');
            let width = match kind {
                "m" => Width::Millis(width),
                "c" => Width::Calls(width),
                _ => panic!("no width: {slot}"),
            };
            Slot {
                width,
                index,
                calls,
                failures,
                slow,
            }
        }),
        suspect_since: number("suspect_since"),
        told_at: number("told_at"),
        reporters: entries(field("reporters"), |reporter| {
            let (instance, at) = reporter.split_once(',').expect("two parts");
            Reporter {
                instance: u64::from_str_radix(instance, 16).expect("digits"),
                at: at.parse().expect("a number"),
            }
        }),
        round: Round {
            successes: small(successes),
            failures: small(failures),
            hung: small(hung),
            leases: entries(field("leases"), |lease| {
                let (token, rest) = lease.split_once(',').expect("four parts");
                let [started, expires, hung] = numbers(rest, ',');
                Lease {
                    token: u64::from_str_radix(token, 16).expect("digits"),
                    started,
                    expires,
                    hung: hung == 1,
                }
            }),
        },
        cover: fields::optional(field("cover"), fields::cover).expect("a cover"),
        live: fields::live(field("live")).expect("a live change"),
    })
}

/// The fields that say so.
pub(crate) fn write(state: &Shared) -> Vec<(&'static str, String)> {
    let slots = state.slots.iter().map(|it| {
        let (calls, failures, slow) = (it.calls, it.failures, it.slow);
        let width = fields::write_width(it.width);
        format!("{width},{},{calls},{failures},{slow};", it.index)
    });
    let reporters = state.reporters.iter();
    let reporters = reporters.map(|it| format!("{:016x},{};", it.instance, it.at));
    let round = &state.round;
    let leases = round.leases.iter().map(|it| {
        let (started, expires, hung) = (it.started, it.expires, u8::from(it.hung));
        format!("{:016x},{started},{expires},{hung};", it.token)
    });
    vec![
        ("v", "1".to_owned()),
        ("epoch", state.epoch.to_string()),
        ("phase", state.phase.state().label().to_owned()),
        ("until", state.until.to_string()),
        ("length", state.length.to_string()),
        ("trips", state.trips.to_string()),
        ("opened_by", fields::write_reason(state.opened_by)),
        ("closed_at", state.closed_at.to_string()),
        ("failures", state.failures.to_string()),
        ("slots", slots.collect()),
        ("suspect_since", state.suspect_since.to_string()),
        ("told_at", state.told_at.to_string()),
        ("reporters", reporters.collect()),
        (
            "round",
            format!("{},{},{}", round.successes, round.failures, round.hung),
        ),
        ("leases", leases.collect()),
        ("cover", fields::write_cover(state.cover.as_ref())),
        ("live", fields::write_live(&state.live)),
    ]
}

fn numbers<const N: usize>(text: &str, between: char) -> [u64; N] {
    let all: Vec<u64> = text
        .split(between)
        .map(|it| it.parse().expect("a number"))
        .collect();
    all.try_into().expect("so many numbers")
}

fn entries<T>(packed: &str, read: impl Fn(&str) -> T) -> Vec<T> {
    let entries = packed.split_terminator(';');
    entries.map(read).collect()
}
