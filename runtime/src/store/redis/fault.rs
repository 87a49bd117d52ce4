//! What an error of a server or of a connection means.

use redis::ErrorKind;
use redis::RedisError;

use crate::store::StoreError;

/// Why a command has no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// The server does not know the script. Nothing was done.
    NoScript,
    /// Another node has the circuit: from now on, ...
    Moved(String),
    /// ... or for this time. Nothing was done.
    Ask(String),
    /// No answer in time.
    TimedOut,
    /// The server says no, and the connection is as good as before.
    Refused(StoreError),
    /// The connection is worth nothing any more.
    Lost(StoreError),
    /// Nor is one to another node of the cluster, if that says so, too.
    ClusterDown(StoreError),
}

/// What the code of an error stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Meaning {
    NoScript,
    Moved,
    Ask,
    Denied,
    Foreign,
    Full,
    /// It is not done now, and may be another time.
    Later,
    /// This server does nothing for us, and another connection may lead to one that does.
    Gone,
    /// Nor one to another node.
    ClusterDown,
}

const CODES: &[(&str, Meaning)] = &[
    ("NOSCRIPT", Meaning::NoScript),
    ("MOVED", Meaning::Moved),
    ("ASK", Meaning::Ask),
    ("NOPERM", Meaning::Denied),
    ("NOAUTH", Meaning::Denied),
    ("WRONGPASS", Meaning::Denied),
    ("WRONGTYPE", Meaning::Foreign),
    ("BREAKERBOX", Meaning::Foreign),
    ("OOM", Meaning::Full),
    ("MISCONF", Meaning::Full),
    ("NOREPLICAS", Meaning::Full),
    ("TRYAGAIN", Meaning::Later),
    ("READONLY", Meaning::Gone),
    ("LOADING", Meaning::Gone),
    ("MASTERDOWN", Meaning::Gone),
    ("CLUSTERDOWN", Meaning::ClusterDown),
    ("BUSY", Meaning::Gone),
];

impl Fault {
    pub(super) fn of(error: &RedisError) -> Self {
        // Of several commands that were sent together the last is the one that matters.
        let errors = error.clone().into_server_errors();
        if let Some((_, last)) = errors.as_deref().and_then(<[_]>::last) {
            return Self::of_server(last.code(), last.details().unwrap_or_default());
        }
        match error.kind() {
            // The words of the parser are many lines, and say nothing of what is there.
            ErrorKind::Parse => Self::Lost(StoreError::Unavailable(
                "what answers there does not speak as Redis does".into(),
            )),
            ErrorKind::AuthenticationFailed => Self::Lost(StoreError::Denied(said(error).into())),
            // What cannot be read shows that replies and commands do not belong together.
            _ => Self::Lost(StoreError::Unavailable(said(error).into())),
        }
    }

    fn of_server(code: &str, detail: &str) -> Self {
        let why = || format!("{code} {}", without_words(detail)).trim().into();
        match meaning(code, detail) {
            Some(Meaning::NoScript) => Self::NoScript,
            Some(Meaning::Moved) => Self::Moved(node(detail)),
            Some(Meaning::Ask) => Self::Ask(node(detail)),
            Some(Meaning::Foreign) => Self::Refused(StoreError::Foreign(why())),
            Some(Meaning::Full) => Self::Refused(StoreError::Full(why())),
            Some(Meaning::Later) => Self::Refused(StoreError::Unavailable(why())),
            Some(Meaning::Gone) => Self::Lost(StoreError::Unavailable(why())),
            Some(Meaning::ClusterDown) => Self::ClusterDown(StoreError::Unavailable(why())),
            // What else a server does not do for us, as a command that it does not know.
            Some(Meaning::Denied) | None => Self::Refused(StoreError::Denied(why())),
        }
    }

    /// What came of the command, for whoever sent it.
    pub(super) fn into_store_error(self) -> StoreError {
        match self {
            Self::TimedOut => StoreError::TimedOut,
            Self::Refused(error) | Self::Lost(error) | Self::ClusterDown(error) => error,
            Self::NoScript => StoreError::Denied("the server does not keep the script".into()),
            Self::Moved(node) | Self::Ask(node) => StoreError::Denied(
                format!("the circuit lies at {node}: it is a cluster, and not named as one").into(),
            ),
        }
    }
}

/// What a command is told that finds no connection: nothing can be said of its circuit,
/// whatever the cause is that there is none.
pub(super) fn unavailable(cause: StoreError) -> StoreError {
    match cause {
        StoreError::Unavailable(_) => cause,
        other => StoreError::Unavailable(other.to_string().into()),
    }
}

/// Of the code, or of one within the text: servers before Redis 7 wrap what a script met.
fn meaning(code: &str, detail: &str) -> Option<Meaning> {
    let of = |word: &str| {
        let found = CODES.iter().find(|(code, _)| *code == word);
        found.map(|(_, meaning)| *meaning)
    };
    of(code).or_else(|| {
        let inner = detail.contains("@user_script");
        let mut words = detail.split_whitespace().filter(|_| inner);
        words.find_map(|word| of(word.trim_start_matches('-')))
    })
}

/// The node in `slot host:port`.
fn node(detail: &str) -> String {
    let node = detail.split_whitespace().nth(1);
    node.unwrap_or_default().to_owned()
}

/// A server that does not know a command repeats what it was told with it, and one of those
/// words may be a password.
fn without_words(detail: &str) -> &str {
    let cut = detail.split_once(", with args beginning with");
    cut.map_or(detail, |(said, _)| said)
}

/// What an error says, without the words around it.
fn said(error: &RedisError) -> String {
    match (error.code(), error.detail()) {
        (Some(code), Some(detail)) => format!("{code} {}", without_words(detail)),
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    fn of(code: &str, detail: &str) -> Fault {
        Fault::of(&redis::make_extension_error(
            code.to_owned(),
            Some(detail.to_owned()),
        ))
    }

    fn label(fault: Fault) -> (&'static str, bool) {
        match fault {
            Fault::Refused(error) => (error.label(), false),
            Fault::Lost(error) | Fault::ClusterDown(error) => (error.label(), true),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn each_code_of_a_server_means_one_thing() {
        for (code, expected) in [
            ("NOPERM", ("denied", false)),
            ("NOAUTH", ("denied", false)),
            ("ERR", ("denied", false)),
            ("WRONGTYPE", ("foreign", false)),
            ("BREAKERBOX", ("foreign", false)),
            ("OOM", ("full", false)),
            ("MISCONF", ("full", false)),
            ("TRYAGAIN", ("unavailable", false)),
            ("READONLY", ("unavailable", true)),
            ("LOADING", ("unavailable", true)),
            ("MASTERDOWN", ("unavailable", true)),
            ("CLUSTERDOWN", ("unavailable", true)),
            ("BUSY", ("unavailable", true)),
        ] {
            assert_eq!(label(of(code, "some text")), expected, "{code}");
        }
        assert_eq!(of("NOSCRIPT", "No matching script."), Fault::NoScript);
        assert_eq!(
            of("MOVED", "42 10.0.0.7:7001"),
            Fault::Moved("10.0.0.7:7001".into())
        );
        assert_eq!(of("ASK", "42 :7001"), Fault::Ask(":7001".into()));
    }

    #[test]
    fn a_code_that_an_old_server_wraps_is_found() {
        let wrapped = "Error running script (call to f_0): @user_script:7: -OOM command not \
                       allowed when used memory > 'maxmemory'.";
        assert_eq!(label(of("ERR", wrapped)), ("full", false));
        // Nobody's text may pass for a code.
        assert_eq!(label(of("ERR", "unknown command OOM")), ("denied", false));
    }

    #[test]
    fn a_connection_that_is_broken_or_that_the_system_gives_up_is_lost() {
        for kind in [io::ErrorKind::BrokenPipe, io::ErrorKind::TimedOut] {
            let error = io::Error::from(kind).into();
            assert_eq!(label(Fault::of(&error)), ("unavailable", true), "{kind}");
        }
    }

    #[test]
    fn what_is_no_redis_is_said_in_one_line() {
        let http = RedisError::from((ErrorKind::Parse, "Unexpected `84`\nUnexpected `72`\n"));
        let Fault::Lost(error) = Fault::of(&http) else {
            panic!("nothing good comes of it");
        };
        assert_eq!(error.label(), "unavailable");
        assert!(!error.to_string().contains('\n'), "{error}");
    }
}
