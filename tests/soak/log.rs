//! What has happened, and what should not have.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;
use std::sync::MutexGuard;
use std::sync::PoisonError;
use std::time::Instant;

/// So many of the last events are shown where something is wrong. All are written to a file.
const LAST: usize = 60;

/// So many wrongs are shown. What breaks once breaks often.
const SHOWN: usize = 40;

pub(crate) struct Log {
    began: Instant,
    is_verbose: bool,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    events: Vec<String>,
    wrong: Vec<String>,
    faults: BTreeMap<&'static str, u32>,
}

impl Log {
    pub(crate) fn new(is_verbose: bool) -> Self {
        Self {
            began: Instant::now(),
            is_verbose,
            kept: Mutex::default(),
        }
    }

    /// Something that may explain what comes.
    pub(crate) fn note(&self, text: &str) {
        let line = self.line(text);
        self.kept().events.push(line);
    }

    /// Something bad is done.
    pub(crate) fn fault(&self, kind: &'static str, details: &str) {
        let text = format!("fault: {kind}{details}");
        if self.is_verbose {
            println!("{}", self.line(&text));
        }
        *self.kept().faults.entry(kind).or_default() += 1;
        self.note(&text);
    }

    /// Something has happened that must not.
    pub(crate) fn wrong(&self, text: &str) {
        let line = self.line(text);
        println!("WRONG {line}");
        self.note(&format!("WRONG: {text}"));
        self.kept().wrong.push(line);
    }

    pub(crate) fn is_clean(&self) -> bool {
        self.kept().wrong.is_empty()
    }

    pub(crate) fn print_faults(&self) {
        let kept = self.kept();
        let all: u32 = kept.faults.values().sum();
        let each = kept.faults.iter().map(|(kind, n)| format!("{kind} {n}"));
        println!("{all} faults: {}", each.collect::<Vec<_>>().join(", "));
    }

    /// All that may help to find out why.
    pub(crate) fn print_wrongs(&self) {
        let kept = self.kept();
        let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("soak.log");
        match std::fs::write(&file, kept.events.join("\n")) {
            Ok(()) => println!("\nall events are in {}; the last:", file.display()),
            Err(error) => println!("\n{}: {error}; the last events:", file.display()),
        }
        for line in &kept.events[kept.events.len().saturating_sub(LAST)..] {
            println!("{line}");
        }
        println!("\n{} wrong:", kept.wrong.len());
        for line in kept.wrong.iter().take(SHOWN) {
            println!("{line}");
        }
    }

    fn line(&self, text: &str) -> String {
        format!("{:9.3} {text}", self.began.elapsed().as_secs_f64())
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
