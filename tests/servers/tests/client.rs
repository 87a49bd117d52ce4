//! A client that says a line and hears a line.

use std::io;
use std::io::BufRead;
use std::io::BufReader;
use std::io::ErrorKind;
use std::io::Write;
use std::net::SocketAddr;
use std::net::TcpStream;
use std::time::Duration;

use breakerbox_servers::LIMIT;

/// So long a silence is believed to last. Only a test of something that is broken can be
/// wrong about it.
const SILENCE: Duration = Duration::from_millis(50);

pub(crate) struct Client(BufReader<TcpStream>);

impl Client {
    #[track_caller]
    pub(crate) fn of(address: SocketAddr) -> Self {
        Self::try_of(address).expect("somebody listens")
    }

    pub(crate) fn try_of(address: SocketAddr) -> io::Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(LIMIT))?;
        Ok(Self(BufReader::new(stream)))
    }

    /// Sends a command.
    #[track_caller]
    pub(crate) fn say(&mut self, command: &str) {
        let line = format!("{command}\r\n");
        let said = self.0.get_mut().write_all(line.as_bytes());
        said.expect("the connection takes it");
    }

    /// The next line of an answer; of an end it is `UnexpectedEof`.
    pub(crate) fn hear(&mut self) -> io::Result<String> {
        let mut line = String::new();
        self.0.read_line(&mut line)?;
        match line.strip_suffix("\r\n") {
            Some(whole) => Ok(whole.into()),
            None => Err(io::Error::new(ErrorKind::UnexpectedEof, line)),
        }
    }

    #[track_caller]
    pub(crate) fn ask(&mut self, command: &str) -> String {
        self.say(command);
        self.hear().expect("an answer")
    }

    /// As [`ask`](Self::ask), of a command that is answered with a text.
    #[track_caller]
    pub(crate) fn ask_for_text(&mut self, command: &str) -> String {
        let length = self.ask(command);
        assert!(length.starts_with('$'), "{length}");
        let text = self.hear().expect("the text");
        assert_eq!(length, format!("${}", text.len()));
        text
    }

    /// Whether nothing at all comes, not even an end.
    pub(crate) fn hears_nothing(&mut self) -> bool {
        let stream = self.0.get_ref();
        stream.set_read_timeout(Some(SILENCE)).expect("a timeout");
        let kind = self.hear().map_err(|error| error.kind());
        let stream = self.0.get_ref();
        stream.set_read_timeout(Some(LIMIT)).expect("a timeout");
        matches!(kind, Err(ErrorKind::WouldBlock | ErrorKind::TimedOut))
    }

    /// How the connection ends.
    #[track_caller]
    pub(crate) fn end(&mut self) -> ErrorKind {
        self.hear().expect_err("an end").kind()
    }
}
