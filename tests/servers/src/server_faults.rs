//! What can happen to a server.

use rustix::process::Signal;

use crate::clock::Clock;
use crate::launch::field;
use crate::server::Server;
use crate::wait::until;

impl Server {
    /// Kills it with SIGKILL. Clients see their connections reset, and nobody listens.
    #[track_caller]
    pub fn kill(&self) {
        self.process().kill().expect("a process can be killed");
        self.reconnected(None);
    }

    /// Starts it again on the same port, after killing it where it runs. Nothing was written
    /// to disk, so its database is empty and its scripts are gone.
    #[track_caller]
    pub fn restart(&self) {
        let mut process = self.process();
        process.kill().expect("a process can be killed");
        match self.plan.start_again() {
            Ok((started, connection)) => {
                *process = started;
                self.reconnected(Some(connection));
            }
            Err(error) => panic!("{error}"),
        }
    }

    /// Stops it with SIGSTOP: the system goes on to accept connections and to take in what
    /// is sent, and nobody answers. Give no order before [`cont`](Self::cont).
    #[track_caller]
    pub fn stop(&self) {
        let stopped = self.process().signal(Signal::STOP);
        stopped.expect("a running process can be stopped");
    }

    /// Lets it go on with SIGCONT. It executes what came in meanwhile.
    #[track_caller]
    pub fn cont(&self) {
        let continued = self.process().signal(Signal::CONT);
        continued.expect("a stopped process can go on");
    }

    /// Removes every key of every database.
    #[track_caller]
    pub fn flushall(&self) {
        self.order(&["FLUSHALL"]);
    }

    /// Lets it forget every script, so that `EVALSHA` answers `NOSCRIPT`.
    #[track_caller]
    pub fn script_flush(&self) {
        self.order(&["SCRIPT", "FLUSH"]);
    }

    /// Takes a command, or a category such as `@write`, from a user; at once, also on
    /// connections that exist.
    #[track_caller]
    pub fn deny(&self, user: &str, command: &str) {
        self.acl(user, &[&format!("-{command}")]);
    }

    /// Gives a command, or a category, to a user.
    #[track_caller]
    pub fn allow(&self, user: &str, command: &str) {
        self.acl(user, &[&format!("+{command}")]);
    }

    /// Any rules of `ACL SETUSER`, such as `resetchannels`, `resetkeys`, `off`.
    #[track_caller]
    pub fn acl(&self, user: &str, rules: &[&str]) {
        self.order(&[&["ACL", "SETUSER", user], rules].concat());
    }

    /// Closes the connections of all clients, but not of replicas.
    #[track_caller]
    pub fn clients_kill(&self) {
        for kind in ["normal", "pubsub"] {
            self.order(&["CLIENT", "KILL", "TYPE", kind, "SKIPME", "yes"]);
        }
    }

    /// Sets a configuration while it runs: `maxmemory`, `1`.
    #[track_caller]
    pub fn config_set(&self, name: &str, value: &str) {
        self.order(&["CONFIG", "SET", name, value]);
    }

    /// Makes it a replica, and returns once it has the other's data. It refuses to write
    /// from now on.
    #[track_caller]
    pub fn replica_of(&self, master: &Self) {
        if let Some(password) = &master.plan.options.password {
            self.config_set("masterauth", password);
        }
        self.order(&["REPLICAOF", "127.0.0.1", &master.port().to_string()]);
        until("the replica has the data of its master", || {
            self.in_step().then_some(())
        });
    }

    /// Makes it a master, with the data that it has.
    #[track_caller]
    pub fn promote(&self) {
        self.order(&["REPLICAOF", "NO", "ONE"]);
    }

    /// Sets what its clock shows, from its next command on. Its timeouts go on as they were.
    ///
    /// # Panics
    ///
    /// If it was started without a clock of its own.
    #[track_caller]
    pub fn set_clock(&self, clock: Clock) {
        assert!(self.plan.options.clock, "it was started without a clock");
        let set = clock.set(&self.plan.clock_file());
        set.expect("the folder of the server can be written to");
    }

    /// Whether it is a replica that is connected to its master and has its data.
    pub(crate) fn in_step(&self) -> bool {
        let info = self.try_command(&["INFO", "replication"]);
        info.is_ok_and(|info| field(&info, "master_link_status") == Some("up"))
    }

    /// Whether it is connected to this very master.
    pub(crate) fn obeys(&self, master: &Self) -> bool {
        let info = self.try_command(&["INFO", "replication"]);
        let port = master.plan.port_for_peers().to_string();
        let named = info.is_ok_and(|info| field(&info, "master_port") == Some(&port));
        named && self.in_step()
    }
}
