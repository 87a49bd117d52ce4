//! Functions that declare one service with different numbers (I16, B126): a binary of its
//! own, since every registry of a process knows all of them.

mod alone;
mod elsewhere;

use std::io;
use std::sync::mpsc;
use std::time::Duration;

use breakerbox::BuildError;
use breakerbox::Conflict;
use breakerbox::Event;
use breakerbox::Key;
use breakerbox::Policy;
use breakerbox::Problem;
use breakerbox::Registry;
use breakerbox::Warning;
use breakerbox::circuit_breaker;

use alone::alone;
use alone::heard;
use alone::unheard;
/// Far more than an event takes.
const DEADLINE: Duration = Duration::from_secs(30);

fn body(fails: bool) -> io::Result<()> {
    if fails {
        return Err(io::Error::other("no"));
    }
    Ok(())
}

const LINE: u32 = line!();
#[circuit_breaker(service = "contradicted", threshold = 2)]
fn charge(fails: bool) -> io::Result<()> {
    body(fails)
}

#[circuit_breaker(service = "contradicted", threshold = 3)]
#[expect(dead_code, reason = "what it declares counts")]
fn pay_out(fails: bool) -> io::Result<()> {
    body(fails)
}

#[circuit_breaker(service = "contradicted too", probes = 2)]
#[expect(dead_code, reason = "what it declares counts")]
async fn upload() -> io::Result<()> {
    Ok(())
}

#[circuit_breaker(service = "contradicted too", probes = 3)]
#[expect(dead_code, reason = "what it declares counts")]
async fn download() -> io::Result<()> {
    Ok(())
}

#[circuit_breaker(service = "agreed")]
fn charge_as_agreed(fails: bool) -> io::Result<()> {
    body(fails)
}

/// The three contradictions of this binary.
#[track_caller]
fn are_all(conflicts: &[Conflict]) {
    let said: Vec<_> = conflicts
        .iter()
        .map(|conflict| {
            let (first, second) = (conflict.first(), conflict.second());
            (
                conflict.service(),
                first.line(),
                second.file(),
                second.line(),
            )
        })
        .collect();
    let here = file!();
    let there = here.replace("contradictions", "elsewhere");
    let [
        (one, first, file, line),
        (two, second, place, _),
        (three, ..),
    ] = said[..]
    else {
        panic!("{said:?}");
    };
    assert_eq!(
        [one, two, three],
        ["contradicted", "contradicted", "contradicted too"]
    );
    // By file and line, the first place is here, above the others.
    assert_eq!([first, second], [LINE + 1; 2]);
    assert_eq!([file, place], [here, &there]);
    assert_eq!(line, LINE + 6);
    assert_eq!(conflicts[1].second().line(), elsewhere::LINE + 1);
    assert_eq!(
        Vec::from_iter(conflicts[1].keys()),
        [Key::Threshold, Key::Cooldown]
    );
}

/// I16
#[test]
fn the_first_by_file_and_line_is_in_force_whoever_calls_first() {
    alone(|| {
        elsewhere::refund(true).unwrap_err();
        charge(false).unwrap();
        let policy = breakerbox::breaker("contradicted").unwrap().policy();
        assert_eq!(policy, Policy::new().threshold(2));
        are_all(&Registry::global().conflicts());
    });
}

#[test]
fn the_same_numbers_in_other_words_are_no_contradiction() {
    alone(|| {
        charge_as_agreed(false).unwrap();
        elsewhere::refund_as_agreed(true).unwrap_err();
        let conflicts = Registry::global().conflicts();
        assert!(
            conflicts
                .iter()
                .all(|conflict| conflict.service() != "agreed")
        );
    });
}

/// B126: never silent, also where nobody listens.
#[test]
fn without_a_listener_each_contradiction_goes_to_standard_error_once() {
    let said = heard(|| {
        for _ in 0..3 {
            charge(false).unwrap();
            elsewhere::refund(false).unwrap();
            let _ = breakerbox::services();
        }
        Registry::builder().install().unwrap();
        breakerbox::publish_metrics();
    });
    let Some(said) = said else { return };
    let lines: Vec<_> = said
        .lines()
        .filter(|line| line.starts_with("breakerbox: "))
        .collect();
    assert_eq!(lines.len(), 3, "{said}");
    let here = format!("{}:{}", file!(), LINE + 1);
    let there = file!().replace("contradictions", "elsewhere");
    let there = format!("{there}:{}", elsewhere::LINE + 1);
    let about = lines
        .iter()
        .find(|line| line.contains(&there))
        .expect("both places");
    for part in [
        "`contradicted`",
        &here,
        "threshold 2 at",
        "but 50 at",
        "cooldown 60s",
    ] {
        assert!(about.contains(part), "{part}: {about}");
    }
}

#[test]
fn a_listener_is_told_of_each_contradiction_instead_of_standard_error() {
    let said = heard(|| {
        let (hears, heard) = mpsc::channel();
        let listener = move |event: &Event| hears.send(event.clone()).expect("the test listens");
        Registry::builder().on_event(listener).install().unwrap();
        let conflicts: Vec<_> = (0..3)
            .map(|_| match heard.recv_timeout(DEADLINE) {
                Ok(Event::Warning(Warning::Conflict(conflict))) => conflict,
                other => panic!("{other:?}"),
            })
            .collect();
        are_all(&conflicts);
        charge(false).unwrap();
        Registry::global().close();
        let warned = heard
            .try_iter()
            .find(|event| matches!(event, Event::Warning(_)));
        assert!(warned.is_none(), "{warned:?}");
    });
    if let Some(said) = said {
        assert!(!said.contains("breakerbox: "), "{said}");
    }
}

/// `install()` reports every pair, also where a call came before it.
#[test]
fn a_listener_that_is_installed_after_the_first_call_is_told_as_well() {
    alone(|| {
        charge(false).unwrap();
        let (hears, heard) = mpsc::channel();
        let listener = move |event: &Event| hears.send(event.clone()).expect("the test listens");
        let registry = Registry::builder().on_event(listener).install().unwrap();
        registry.close();
        let told = heard
            .iter()
            .filter(|event| matches!(event, Event::Warning(_)));
        assert_eq!(told.count(), 3);
    });
}

#[test]
fn strict_refuses_and_lists_all_with_everything_else_that_is_wrong() {
    alone(|| {
        let refused = Registry::builder()
            .strict()
            .declare("wrong\n")
            .declare_with("wrong too", Policy::new().cooldown(Duration::ZERO))
            .install();
        let Err(error) = refused else {
            panic!("{refused:?}");
        };
        let text = error.to_string();
        let BuildError::Problems(problems) = error else {
            panic!("{error:?}");
        };
        assert_eq!(problems.len(), 5, "{text}");
        assert_eq!(text.lines().count(), 5, "{text}");
        let conflicts = problems.into_iter().filter_map(|problem| match problem {
            Problem::Conflict(conflict) => Some(conflict),
            _ => None,
        });
        are_all(&Vec::from_iter(conflicts));

        // Nothing was changed, so that a process may go on without `strict`.
        assert!(breakerbox::breaker("wrong too").is_none());
        Registry::builder().install().unwrap();
    });
}

#[test]
fn strict_refuses_a_private_registry_too() {
    alone(|| {
        let refused = Registry::builder().strict().build();
        let Err(BuildError::Problems(problems)) = refused else {
            panic!("{refused:?}");
        };
        assert_eq!(problems.len(), 3);
    });
}

/// A test's registry speaks to its listeners alone.
#[test]
fn a_private_registry_writes_nothing_to_standard_error() {
    let said = heard(|| {
        let registry = Registry::builder().build().unwrap();
        let _entered = registry.enter();
        charge(false).unwrap();
        elsewhere::refund(false).unwrap();
        registry.publish_metrics();
    });
    if let Some(said) = said {
        assert!(!said.contains("breakerbox: "), "{said}");
    }
}

/// What a report says is true: code has the last word on the keys that it writes.
#[test]
fn a_report_does_not_say_that_an_attribute_is_in_force_where_code_is() {
    let said = heard(|| {
        let policy = Policy::new().threshold(9).cooldown(Duration::from_secs(9));
        let builder = Registry::builder().declare_with("contradicted", policy);
        builder.install().unwrap();
        charge(false).unwrap();
        assert_eq!(
            breakerbox::breaker("contradicted").unwrap().policy(),
            policy
        );
    });
    let Some(said) = said else { return };
    let about = said.lines().filter(|line| line.contains("`contradicted`"));
    for line in about {
        assert!(!line.contains("are in force"), "{line}");
    }
}

/// Only what code leaves to attributes is still contradicted.
#[test]
fn a_key_that_code_settles_is_no_contradiction_and_the_others_still_are() {
    alone(|| {
        let settled = Policy::new().threshold(9);
        let builder = Registry::builder().declare_with("contradicted", settled);
        let registry = builder.build().unwrap();
        let conflicts = registry.conflicts();
        let about: Vec<_> = conflicts
            .iter()
            .filter(|conflict| conflict.service() == "contradicted")
            .map(|conflict| conflict.keys().collect::<Vec<_>>())
            .collect();
        assert_eq!(about, [[Key::Cooldown]]);
    });
}

/// A report that cannot be written is no reason not to make a call.
#[test]
fn calls_are_made_though_standard_error_is_closed() {
    unheard(|| {
        for _ in 0..6 {
            charge(false).unwrap();
        }
    });
}

/// What code declares late is in force for names made up at run time as well.
#[test]
fn a_late_declaration_ends_the_contradiction_of_a_name_made_up_at_run_time() {
    #[circuit_breaker(service = service, threshold = 2)]
    fn first(service: &str) -> io::Result<()> {
        body(service.is_empty())
    }

    #[circuit_breaker(service = service, threshold = 3)]
    fn second(service: &str) -> io::Result<()> {
        body(service.is_empty())
    }

    alone(|| {
        first("tenant").unwrap();
        let (told, warnings) = mpsc::channel();
        let registry = Registry::builder()
            .declare_with("tenant", Policy::new().threshold(9))
            .on_event(move |event| drop(told.send(event.clone())))
            .install()
            .unwrap();
        second("tenant").unwrap();
        registry.close();
        let about_tenant = warnings.try_iter().find(|event| {
            matches!(event, Event::Warning(Warning::Conflict(conflict)) if conflict.service() == "tenant")
        });
        assert!(about_tenant.is_none(), "{about_tenant:?}");
        let policy = registry.breaker("tenant").unwrap().policy();
        assert_eq!(policy, Policy::new().threshold(9));
    });
}
