//! The names of services: 1 to 128 bytes without control characters.

use std::borrow::Cow;

/// The longest name of a service, in bytes.
const LONGEST: usize = 128;

/// What is wrong with a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NameError(pub(crate) &'static str);

/// As much of a text as fits so many bytes, cut between characters.
pub(crate) fn beginning(text: &str, bytes: usize) -> &str {
    let mut ends = (0..=bytes.min(text.len())).rev();
    let end = ends.find(|at| text.is_char_boundary(*at));
    &text[..end.unwrap_or(0)]
}

/// A name as it is shown to people: of one that is too long only the beginning.
pub(crate) fn shown(name: &str) -> Cow<'_, str> {
    if name.len() <= LONGEST {
        return Cow::Borrowed(name);
    }
    Cow::Owned(format!("{}...", beginning(name, LONGEST / 2)))
}

/// Judges a name, also at compile time.
pub(crate) const fn check(name: &str) -> Result<(), NameError> {
    let bytes = name.as_bytes();
    if bytes.is_empty() {
        return Err(NameError("the name of a service cannot be empty"));
    }
    if bytes.len() > LONGEST {
        return Err(NameError("the name of a service has at most 128 bytes"));
    }
    let mut at = 0;
    while at < bytes.len() {
        // U+0080 to U+009F are control characters, too.
        let second_block = bytes[at] == 0xc2 && at + 1 < bytes.len() && bytes[at + 1] < 0xa0;
        if bytes[at] < 0x20 || bytes[at] == 0x7f || second_block {
            return Err(NameError(
                "the name of a service cannot have control characters",
            ));
        }
        at += 1;
    }
    Ok(())
}

/// The name nearest to `name` that a service may have. A call under a bad name is
/// guarded all the same.
pub(crate) fn nearest(name: &str) -> Cow<'_, str> {
    if check(name).is_ok() {
        return Cow::Borrowed(name);
    }
    if name.is_empty() {
        return Cow::Borrowed("unnamed");
    }
    let mut nearest = String::with_capacity(LONGEST);
    for char in name.chars() {
        let char = if char.is_control() { '?' } else { char };
        if nearest.len() + char.len_utf8() > LONGEST {
            break;
        }
        nearest.push(char);
    }
    Cow::Owned(nearest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_one_to_128_bytes_without_control_characters() {
        for good in ["s", "Zahlungen \"A\\B\"", "größe", &"x".repeat(128)] {
            assert_eq!(check(good), Ok(()), "{good}");
            assert_eq!(nearest(good), good);
        }
        for bad in ["", "a\nb", "a\u{85}b", "\u{7f}", &"x".repeat(129)] {
            assert!(check(bad).is_err(), "{bad:?}");
            assert_eq!(check(&nearest(bad)), Ok(()), "{bad:?}");
        }
    }

    #[test]
    fn a_text_is_cut_between_characters() {
        assert_eq!(beginning("über", 0), "");
        assert_eq!(beginning("über", 1), "");
        assert_eq!(beginning("über", 3), "üb");
        assert_eq!(beginning("über", 99), "über");
    }

    #[test]
    fn of_a_name_that_is_too_long_people_are_shown_the_beginning() {
        let longest = "x".repeat(128);
        assert_eq!(shown(&longest), longest);
        let longer = "ü".repeat(100);
        assert_eq!(shown(&longer), format!("{}...", "ü".repeat(32)));
    }

    #[test]
    fn a_long_name_is_cut_between_characters() {
        assert_eq!(nearest(&"ü".repeat(100)).len(), 128);
        assert_eq!(nearest(&format!("x{}", "ü".repeat(100))).len(), 127);
    }
}
