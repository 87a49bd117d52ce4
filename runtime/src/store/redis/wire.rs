//! The texts that go to Redis and come from there, without a connection.
//!
//! A circuit lies in one hash, `{prefix}:{<circuit>}`, and what has happened to it in a list
//! beside it, `…:journal`; the braces keep both in one slot of a cluster. All that is ever done
//! to them is one run of [`SCRIPT`], which answers with one text and publishes others. Their
//! fields stand between bars:
//!
//! - a snapshot: `epoch|phase|until|length|trips|opened_by|suspect|cover|live`
//! - a reply: `nonce|status|argument|now|calls,failures,slow|` + snapshot + `|live|`, and `nopub`
//!   at the end where the messages could not be published; `live` is `=` and what is written in
//!   the last live change where the command asks how the circuit stands
//! - that some process goes by other numbers: `numbers|circuit`
//! - a message, and an entry of the journal: `what|from|to|reason|instance|now|` + snapshot +
//!   `|circuit|origin`, where the origin is what the process is called whose command it was, and
//!   the reason is what is written in a live change that is told

mod answer;
mod escape;
mod fields;
#[cfg(test)]
pub(super) mod hash;
mod sent;

use std::sync::OnceLock;

use crate::store::Note;
use crate::store::noted::KEPT;

pub(super) use answer::is_unpublished;
pub(super) use answer::message;
pub(super) use answer::nonce;
pub(super) use answer::reply;
pub(super) use sent::Sent;
pub(super) use sent::send;

/// One step of a circuit, as `rules::fleet::apply` does it.
pub(super) const SCRIPT: &str = include_str!("script.lua");

/// Notes by which numbers processes go.
pub(super) const NUMBERS: &str = include_str!("numbers.lua");

/// A message that some process goes by other numbers begins so; then comes the circuit.
const RENUMBERED: &str = "numbers|";

/// The key and the arguments of [`NUMBERS`].
pub(super) fn compare(prefix: &str, circuit: &str, note: &Note) -> [String; 6] {
    [
        format!("{}:numbers", key(prefix, circuit)),
        channel(prefix),
        escape::escape(circuit),
        note.former.clone().unwrap_or_default(),
        note.current.clone().unwrap_or_default(),
        KEPT.as_millis().to_string(),
    ]
}

/// The circuit of which a message says that some process goes by other numbers.
pub(super) fn renumbered(message: &str) -> Option<String> {
    escape::unescape(message.strip_prefix(RENUMBERED)?)
}

/// The name of [`SCRIPT`] for `EVALSHA`.
pub(super) fn sha() -> &'static str {
    static SHA: OnceLock<String> = OnceLock::new();
    SHA.get_or_init(|| sha1_smol::Sha1::from(SCRIPT).digest().to_string())
}

/// Where everybody hears of all circuits.
pub(super) fn channel(prefix: &str) -> String {
    format!("{prefix}:events")
}

/// The list of what has happened to a circuit, newest first.
pub(super) fn journal_key(prefix: &str, circuit: &str) -> String {
    format!("{}:journal", key(prefix, circuit))
}

/// The hash of a circuit.
fn key(prefix: &str, circuit: &str) -> String {
    format!("{prefix}:{{{}}}", escape::escape(circuit))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// L22
    #[test]
    fn whatever_it_is_named_all_that_lies_of_a_circuit_is_in_one_slot() {
        for circuit in ["stripe", "{", "}", "a}b{c", "größe", "a|b;c,d:e%f\n"] {
            let hash = key("breakerbox", circuit);
            let journal = journal_key("breakerbox", circuit);
            let tag = |key: &str| {
                let (_, rest) = key.split_once('{').unwrap();
                rest.split_once('}').unwrap().0.to_owned()
            };
            assert_eq!(tag(&hash), tag(&journal), "{circuit}");
            assert_eq!(escape::unescape(&tag(&hash)).as_deref(), Some(circuit));
        }
    }

    #[test]
    fn the_keys_are_the_documented_ones() {
        assert_eq!(key("breakerbox", "stripe"), "breakerbox:{stripe}");
        let journal = "breakerbox:{stripe}:journal";
        assert_eq!(journal_key("breakerbox", "stripe"), journal);
        assert_eq!(channel("breakerbox"), "breakerbox:events");
    }

    #[test]
    fn the_script_is_named_by_forty_digits_in_lower_case() {
        assert_eq!(sha().len(), 40);
        assert!(
            sha()
                .bytes()
                .all(|it| matches!(it, b'0'..=b'9' | b'a'..=b'f'))
        );
    }
}
