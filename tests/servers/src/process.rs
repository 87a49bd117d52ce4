//! One process, ended with its value.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::process::Child;
use std::process::Command;
use std::process::Stdio;

use rustix::process::Pid;
use rustix::process::Signal;
use rustix::process::kill_process;

/// How a process is started, as often as one likes.
#[derive(Debug)]
pub(crate) struct Recipe {
    pub(crate) program: PathBuf,
    pub(crate) arguments: Vec<OsString>,
    pub(crate) environment: Vec<(&'static str, OsString)>,
    /// Where goes what it prints; emptied at each start.
    pub(crate) log: PathBuf,
}

impl Recipe {
    pub(crate) fn start(&self) -> io::Result<Process> {
        let log = File::create(&self.log)?;
        Command::new(&self.program)
            .args(&self.arguments)
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .spawn()
            .map(Process)
    }
}

/// A running process; dropped, it is killed.
#[derive(Debug)]
pub(crate) struct Process(Child);

impl Process {
    pub(crate) fn id(&self) -> u32 {
        self.0.id()
    }

    pub(crate) fn ended(&mut self) -> bool {
        !matches!(self.0.try_wait(), Ok(None))
    }

    /// Kills it and waits for its end. Fine with one that has ended.
    pub(crate) fn kill(&mut self) -> io::Result<()> {
        self.0.kill()?;
        self.0.wait().map(drop)
    }

    pub(crate) fn signal(&mut self, signal: Signal) -> io::Result<()> {
        if self.ended() {
            return Err(io::Error::other("the process has ended"));
        }
        Ok(kill_process(Pid::from_child(&self.0), signal)?)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // There is nobody left to tell.
        let _ = self.kill();
    }
}
