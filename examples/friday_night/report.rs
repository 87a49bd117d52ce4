//! The report: a table of both nights, what went wrong, and the JSON.

use std::fmt::Write;
use std::time::Duration;

use serde_json::Value;
use serde_json::json;

use crate::night::Night;

/// Both nights side by side.
pub(crate) fn table(without: &Night, with: &Night) -> String {
    let mut text = format!("{:32}{:>12}{:>12}\n", "", "WITHOUT", "WITH");
    let mut row = |label, cell: fn(&Night) -> String| {
        let _ = writeln!(text, "{label:32}{:>12}{:>12}", cell(without), cell(with));
    };
    row("payments charged", |n| count(n.charged()));
    row("    charged twice", |n| count(n.charged_twice()));
    row("    lost", |n| count(n.lost()));
    row("    first card declined", |n| count(n.books.declined));
    row("    last one made after", |n| time(n.elapsed()));
    row("calls during the outage", |n| count(n.books.outage_calls));
    row("worker time in failed calls", |n| time(n.tally.failing));
    row("e-mails sent", |n| count(n.mails_sent));
    row("    late by, the median", |n| time(n.mail_wait(50)));
    row("    late by, 99 of 100 at most", |n| time(n.mail_wait(99)));
    row("payments put back", |n| count(n.tally.put_back.len()));
    row("    taking, the median", |n| time(n.put_back_in()));
    row("times the circuit opened", |n| count(n.trips()));
    row("    after the outage began", |n| time(n.detected_in()));
    row("    closed after the recovery", |n| time(n.recovered_in()));
    text
}

/// Says that a night was stopped before all payments were made.
pub(crate) fn stopped(night: &Night) -> Option<String> {
    let (name, queued) = (night.guard.name(), night.lanes.payments.len());
    (queued > 0).then(|| {
        let (time, queued) = (time(night.elapsed()), count(queued));
        format!("The night {name} was stopped after {time}: {queued} payments are still queued.")
    })
}

/// What the guarded night promised and did not keep.
pub(crate) fn broken_promises(with: &Night) -> Vec<String> {
    let promises = [
        (with.jobs - with.charged(), "not charged"),
        (with.charged_twice(), "charged twice"),
        (with.lost(), "lost"),
    ];
    let broken = promises.into_iter().filter(|(orders, _)| *orders > 0);
    broken
        .map(|(orders, what)| format!("Payments {what}: {}.", count(orders)))
        .collect()
}

pub(crate) fn json(without: &Night, with: &Night) -> Value {
    json!({
        "jobs": with.jobs,
        "without": {
            "elapsed_s": round(without.elapsed().as_secs_f64()),
            "charged": without.charged(),
            "provider_calls_during_outage": without.books.outage_calls,
            "email_p99_ms": millis(without.mail_wait(99)),
        },
        "with": {
            "elapsed_s": round(with.elapsed().as_secs_f64()),
            "charged": with.charged(),
            "charged_twice": with.charged_twice(),
            "lost": with.lost(),
            "provider_calls_during_outage": with.books.outage_calls,
            "put_back": with.tally.put_back.len(),
            "put_back_us": with.put_back_in().map(|time| round(time.as_secs_f64() * 1e6)),
            "email_p99_ms": millis(with.mail_wait(99)),
            "trips": with.trips(),
            "detect_ms": millis(with.detected_in()),
            "recover_ms": millis(with.recovered_in()),
        },
    })
}

/// `1234567` as `1,234,567`.
pub(crate) fn count(n: usize) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

fn time(time: impl Into<Option<Duration>>) -> String {
    time.into()
        .map_or_else(|| "-".to_owned(), |time| format!("{time:.1?}"))
}

fn millis(time: Option<Duration>) -> Option<f64> {
    time.map(|time| round(time.as_secs_f64() * 1e3))
}

fn round(number: f64) -> f64 {
    (number * 1e3).round() / 1e3
}
