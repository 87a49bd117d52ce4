//! The protocol of Redis, as much as it takes to give a server orders.

use std::io;
use std::io::BufRead;
use std::io::BufReader;
use std::io::Read;
use std::io::Write;
use std::net::Ipv4Addr;
use std::net::SocketAddr;
use std::net::TcpStream;

use crate::wait::LIMIT;

/// What a server answers. Bytes that are not UTF-8 are replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// No value.
    Nil,
    /// A short word, such as `OK` or `PONG`.
    Status(String),
    /// The server refused: `NOPERM this user has no permissions`.
    Error(String),
    /// A number.
    Integer(i64),
    /// A value.
    Text(String),
    /// Several.
    Array(Vec<Self>),
}

impl Value {
    /// The text of a value, a status or an error, or nothing.
    #[must_use]
    pub fn text(&self) -> &str {
        match self {
            Self::Status(text) | Self::Error(text) | Self::Text(text) => text,
            Self::Nil | Self::Integer(_) | Self::Array(_) => "",
        }
    }

    /// The number, also where it came as a text.
    #[must_use]
    pub fn integer(&self) -> Option<i64> {
        match self {
            Self::Integer(number) => Some(*number),
            other => other.text().parse().ok(),
        }
    }

    /// The elements of an array, or none.
    #[must_use]
    pub fn elements(&self) -> &[Self] {
        match self {
            Self::Array(elements) => elements,
            _ => &[],
        }
    }

    /// Whether the server refused.
    #[must_use]
    pub fn is_error(&self) -> bool {
        matches!(self, Self::Error(_))
    }
}

/// A connection that sends one command at a time.
#[derive(Debug)]
pub(crate) struct Connection(BufReader<TcpStream>);

impl Connection {
    pub(crate) fn open(port: u16) -> io::Result<Self> {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let stream = TcpStream::connect_timeout(&address, LIMIT)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(LIMIT))?;
        stream.set_write_timeout(Some(LIMIT))?;
        Ok(Self(BufReader::new(stream)))
    }

    pub(crate) fn ask(&mut self, command: &[&str]) -> io::Result<Value> {
        self.0.get_mut().write_all(&encoded(command))?;
        decoded(&mut self.0)
    }
}

fn encoded(command: &[&str]) -> Vec<u8> {
    let mut bytes = format!("*{}\r\n", command.len()).into_bytes();
    for word in command {
        bytes.extend(format!("${}\r\n{word}\r\n", word.len()).into_bytes());
    }
    bytes
}

fn decoded(from: &mut impl BufRead) -> io::Result<Value> {
    let line = line(from)?;
    let (kind, rest) = line.split_at_checked(1).ok_or_else(|| garbled(&line))?;
    let number = || rest.parse::<i64>().map_err(|_| garbled(&line));
    Ok(match kind {
        "+" => Value::Status(rest.into()),
        "-" => Value::Error(rest.into()),
        ":" => Value::Integer(number()?),
        "$" => match usize::try_from(number()?) {
            Ok(length) => Value::Text(text(from, length)?),
            Err(_) => Value::Nil,
        },
        "*" => match usize::try_from(number()?) {
            Ok(length) => Value::Array(
                (0..length)
                    .map(|_| decoded(from))
                    .collect::<Result<_, _>>()?,
            ),
            Err(_) => Value::Nil,
        },
        _ => return Err(garbled(&line)),
    })
}

fn line(from: &mut impl BufRead) -> io::Result<String> {
    let mut line = Vec::new();
    from.read_until(b'\n', &mut line)?;
    if !line.ends_with(b"\r\n") {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    line.truncate(line.len() - 2);
    Ok(String::from_utf8_lossy(&line).into_owned())
}

fn text(from: &mut impl Read, length: usize) -> io::Result<String> {
    let mut bytes = vec![0; length + 2];
    from.read_exact(&mut bytes)?;
    bytes.truncate(length);
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn garbled(line: &str) -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidData,
        format!("not an answer: {line:?}"),
    )
}

#[cfg(test)]
mod tests {
    use super::Value;
    use super::decoded;
    use super::encoded;

    #[test]
    fn a_command_is_an_array_of_texts() {
        assert_eq!(
            encoded(&["GET", "é"]),
            "*2\r\n$3\r\nGET\r\n$2\r\né\r\n".as_bytes()
        );
    }

    #[test]
    fn every_kind_of_answer_is_read() {
        let mut bytes = &b"*6\r\n+OK\r\n-ERR no\r\n:-7\r\n$2\r\n\r\n\r\n$-1\r\n*-1\r\n"[..];
        let expected = Value::Array(vec![
            Value::Status("OK".into()),
            Value::Error("ERR no".into()),
            Value::Integer(-7),
            Value::Text("\r\n".into()),
            Value::Nil,
            Value::Nil,
        ]);
        assert_eq!(decoded(&mut bytes).expect("an answer"), expected);
        assert_eq!(bytes, b"");
    }

    #[test]
    fn half_an_answer_is_an_error() {
        assert!(decoded(&mut &b"$5\r\nhel"[..]).is_err());
        assert!(decoded(&mut &b"+OK"[..]).is_err());
        assert!(decoded(&mut &b"\r\n"[..]).is_err());
        assert!(decoded(&mut &b"?\r\n"[..]).is_err());
    }
}
