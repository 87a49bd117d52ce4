//! What comes back: replies, and messages, which are also the entries of the journal.

use std::str::Split;

use crate::rules::Sums;
use crate::rules::fleet::Reply;
use crate::rules::fleet::Status;
use crate::rules::fleet::Told;
use crate::rules::fleet::What;
use crate::store::Entry;
use crate::store::redis::wire::escape::unescape;
use crate::store::redis::wire::fields;

/// Which command is answered. That stands first, and can be read whatever comes after it.
pub(crate) fn nonce(text: &str) -> Option<u64> {
    text.split('|').next()?.parse().ok()
}

/// What it answers. Nothing where the text is none that this version of the script gives of a
/// circuit that it has written.
pub(crate) fn reply(text: &str) -> Option<Reply> {
    let mut rest = text.split('|');
    nonce(rest.next()?)?;
    let status = status(rest.next()?, rest.next()?)?;
    let now = rest.next()?.parse().ok()?;
    let sums = sums(rest.next()?)?;
    let snapshot = fields::snapshot(&mut rest)?;
    let live = match rest.next()? {
        fields::NONE => None,
        written => Some(unescape(written.strip_prefix('=')?)?),
    };
    // Whether the messages went out is for whoever asks for it.
    matches!(rest.next()?, "" | "nopub").then_some(())?;
    is_all(&mut rest)?;
    Some(Reply {
        status,
        now,
        snapshot,
        sums,
        live,
    })
}

/// Whether the server did not let the script publish what it had to tell.
pub(crate) fn is_unpublished(reply: &str) -> bool {
    reply.ends_with("|nopub")
}

/// The circuit that moved, what there is to tell of it, and who sent the command. The journal
/// has the same texts.
pub(crate) fn message(text: &str) -> Option<(String, Entry)> {
    let mut rest = text.split('|');
    let told = told(&mut rest)?;
    let circuit = unescape(rest.next()?)?;
    let origin = unescape(rest.next()?)?.into();
    is_all(&mut rest)?;
    Some((circuit, Entry { told, origin }))
}

fn told(rest: &mut Split<'_, char>) -> Option<Told> {
    let (what, from, to, reason) = (rest.next()?, rest.next()?, rest.next()?, rest.next()?);
    let mut live = None;
    let what = match what {
        "moved" => What::Moved {
            from: fields::state(from)?,
            to: fields::state(to)?,
            reason: fields::reason(reason)?,
        },
        "suspect" => What::Suspect,
        "restored" => What::Restored,
        "renumbered" => {
            live = Some(unescape(reason)?);
            What::Renumbered
        }
        _ => return None,
    };
    let instance = u64::from_str_radix(rest.next()?, 16).ok()?;
    let now = rest.next()?.parse().ok()?;
    Some(Told {
        what,
        snapshot: fields::snapshot(rest)?,
        now,
        instance,
        live,
    })
}

fn is_all(rest: &mut Split<'_, char>) -> Option<()> {
    rest.next().is_none().then_some(())
}

fn status(name: &str, argument: &str) -> Option<Status> {
    let status = match name {
        "settling" => return argument.parse().ok().map(Status::Settling),
        "wait" => return argument.parse().ok().map(Status::Wait),
        "done" => Status::Done,
        "late" => Status::Late,
        "stale" => Status::Stale,
        "opened" => Status::Opened,
        "closed" => Status::Closed,
        "granted" => Status::Granted,
        "full" => Status::Full,
        "pass" => Status::Pass,
        "refused" => Status::Refused,
        _ => return None,
    };
    argument.is_empty().then_some(status)
}

fn sums(text: &str) -> Option<Sums> {
    let mut parts = text.split(',');
    let sums = Sums {
        calls: parts.next()?.parse().ok()?,
        failures: parts.next()?.parse().ok()?,
        slow: parts.next()?.parse().ok()?,
        // Nobody has told of calls that have not ended.
        hung: 0,
    };
    parts.next().is_none().then_some(sums)
}

#[cfg(test)]
mod tests {
    use crate::reason::Reason;
    use crate::rules::fleet::Cover;
    use crate::rules::fleet::CoverKind;
    use crate::rules::fleet::Phase;
    use crate::rules::fleet::Snapshot;
    use crate::state::State;

    use super::*;

    const OPEN: &str = "1800000000001|open|1800000060000|60000|3|failure_rate:7:70:0.1|0|\
                        forced_open:1800000000001:5:9:ann:%3a-)|1800000000007";

    fn open() -> Snapshot {
        Snapshot {
            epoch: 1_800_000_000_001,
            phase: Phase::Open,
            until: 1_800_000_060_000,
            length: 60_000,
            trips: 3,
            opened_by: Some(Reason::FailureRate {
                failures: 7,
                calls: 70,
                limit: 0.1,
            }),
            is_suspect: false,
            cover: Some(Cover {
                kind: CoverKind::ForcedOpen,
                id: 1_800_000_000_001,
                began: 5,
                until: 9,
                actor: "ann".to_owned(),
                why: ":-)".to_owned(),
            }),
            live: 1_800_000_000_007,
        }
    }

    #[test]
    fn a_reply_says_what_came_of_it_and_what_stands() {
        for (ending, is_lost, live) in [
            ("-|", false, None),
            ("-|nopub", true, None),
            ("=|", false, Some("")),
            ("=a=1%7c b|nopub", true, Some("a=1| b")),
        ] {
            let text = format!("18446744073709551615|wait|250|1800000000009|9,8,7|{OPEN}|{ending}");
            let expected = Reply {
                status: Status::Wait(250),
                now: 1_800_000_000_009,
                snapshot: open(),
                sums: Sums {
                    calls: 9,
                    failures: 8,
                    slow: 7,
                    hung: 0,
                },
                live: live.map(str::to_owned),
            };
            assert_eq!(
                (nonce(&text), reply(&text)),
                (Some(u64::MAX), Some(expected))
            );
            assert_eq!(is_unpublished(&text), is_lost);
        }
    }

    #[test]
    fn each_status_has_its_name() {
        for (name, argument, expected) in [
            ("done", "", Status::Done),
            ("late", "", Status::Late),
            ("stale", "", Status::Stale),
            ("opened", "", Status::Opened),
            ("closed", "", Status::Closed),
            ("settling", "7", Status::Settling(7)),
            ("granted", "", Status::Granted),
            ("full", "", Status::Full),
            ("wait", "7", Status::Wait(7)),
            ("pass", "", Status::Pass),
            ("refused", "", Status::Refused),
        ] {
            assert_eq!(status(name, argument), Some(expected));
        }
        assert_eq!(status("wait", ""), None);
        assert_eq!(status("done", "7"), None);
        assert_eq!(status("undone", ""), None);
    }

    #[test]
    fn a_message_names_its_circuit_and_who_moved_it_whatever_their_names() {
        let begin = format!("moved|closed|open|open_for:::|00000000000000ff|12|{OPEN}");
        let told = Told {
            what: What::Moved {
                from: State::Closed,
                to: State::Open,
                reason: Reason::OpenFor,
            },
            snapshot: open(),
            now: 12,
            instance: 255,
            live: None,
        };
        let expected = Entry {
            told,
            origin: "worker:7".into(),
        };
        assert_eq!(
            message(&format!("{begin}|a%7cb|worker%3a7")),
            Some(("a|b".to_owned(), expected))
        );
        for (name, what) in [("suspect", What::Suspect), ("restored", What::Restored)] {
            let text = format!("{name}|||-|00000000000000ff|12|{OPEN}|s|o");
            assert_eq!(message(&text).map(|(_, it)| it.told.what), Some(what));
        }
        for (written, read) in [("", ""), ("a=1%7c b", "a=1| b")] {
            let text = format!("renumbered|||{written}|00000000000000ff|12|{OPEN}|s|o");
            let (_, Entry { told, .. }) = message(&text).expect("a message");
            assert_eq!(
                (told.what, told.live.as_deref()),
                (What::Renumbered, Some(read))
            );
        }
    }

    /// After such an epoch no other could ever be later.
    #[test]
    fn what_tells_of_an_epoch_that_cannot_be_is_not_believed() {
        let reads = |open: &str| {
            let reply = reply(&format!("7|done||12|0,0,0|{open}|-|"));
            let message = message(&format!("suspect|||-|ff|12|{open}|s|o"));
            [reply.is_some(), message.is_some()]
        };
        assert_eq!(reads(OPEN), [true, true]);
        for (known, said) in [
            ("1800000000001|open", "10000000000000000|open"),
            ("1800000000001|open", "253402300800000|open"),
            (")|1800000000007", ")|9007199254740993"),
        ] {
            assert!(OPEN.contains(known));
            assert_eq!(reads(&OPEN.replace(known, said)), [false, false], "{said}");
        }
    }

    /// Another version, another program, or half a text: none of it may be taken for something.
    #[test]
    fn no_beginning_of_a_text_and_no_longer_one_reads_as_one() {
        let text = format!("7|done||12|0,0,0|{OPEN}|=|");
        assert!(reply(&text).is_some());
        for end in 0..text.len() {
            assert_eq!(reply(&text[..end]), None, "{}", &text[..end]);
        }
        assert_eq!(reply(&format!("{text}|")), None);
        assert_eq!(reply(&format!("{text}x")), None);
        let text = format!("suspect|||-|ff|12|{OPEN}|s|o");
        assert!(message(&text).is_some());
        assert_eq!(message(&format!("{text}|")), None);
        for end in 0..text.len() - 1 {
            // The name of the process may be a shorter one, or none.
            assert_eq!(message(&text[..end]), None, "{}", &text[..end]);
        }
    }
}
