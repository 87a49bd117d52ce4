//! This binary once more, as a process of its own.

use std::env;
use std::process::Command;
use std::process::Stdio;

/// Runs one test of it there, which learns by a variable that it is the other process. It is told
/// things, and heard, through pipes.
pub(super) fn again(test: &str, (name, value): (&str, &str)) -> Command {
    let this = env::current_exe().expect("the path of this binary");
    let mut command = Command::new(this);
    command
        .args([test, "--exact", "--nocapture"])
        .env(name, value)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    command
}
