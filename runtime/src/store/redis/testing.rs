//! The server of a test.

use std::io;
use std::net::TcpListener;
use std::process::Child;
use std::process::Command;
use std::process::Stdio;
use std::thread;
use std::time::Duration;

/// A server of its own for one test; dropped, it is killed.
pub(super) struct Server {
    child: Child,
    port: u16,
}

pub(super) fn server() -> Server {
    let free = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = free.local_addr().expect("its number").port();
    drop(free);
    let started = Command::new("redis-server")
        .args(["--port", &port.to_string(), "--save", ""])
        .args(["--appendonly", "no", "--bind", "127.0.0.1"])
        .stdout(Stdio::null())
        .spawn();
    let child = match started {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            panic!("redis-server is not installed: ./tests/run installs it")
        }
        other => other.expect("redis-server starts"),
    };
    let server = Server { child, port };
    for _ in 0..200 {
        if std::net::TcpStream::connect(("127.0.0.1", port)).is_ok() {
            return server;
        }
        thread::sleep(Duration::from_millis(10));
    }
    panic!("redis-server does not answer");
}

impl Server {
    pub(super) fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
