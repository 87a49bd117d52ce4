//! Names and words of people inside texts that give some characters a meaning.

use std::fmt::Write;

/// The text without any character that separates something, and without control characters.
pub(super) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for char in text.chars() {
        let is_special = matches!(char, '{' | '}' | '|' | ';' | ',' | ':' | '%');
        if !is_special && !char.is_control() {
            escaped.push(char);
            continue;
        }
        for byte in char.encode_utf8(&mut [0; 4]).bytes() {
            // A string takes everything that is written to it.
            let _ = write!(escaped, "%{byte:02x}");
        }
    }
    escaped
}

/// What was escaped, unless nobody here has done that.
pub(super) fn unescape(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        rest = after;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let (high, low) = match rest {
            [high, low, after @ ..] => {
                rest = after;
                (digit(*high)?, digit(*low)?)
            }
            _ => return None,
        };
        bytes.push(high << 4 | low);
    }
    String::from_utf8(bytes).ok()
}

fn digit(byte: u8) -> Option<u8> {
    let digit = char::from(byte).to_digit(16)?;
    u8::try_from(digit).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_comes_back() {
        let mut random = fastrand::Rng::with_seed(7);
        for _ in 0..2_000 {
            let text: String = (0..random.usize(..12))
                .map(|_| match random.u8(..4) {
                    0 => random.char(..),
                    1 => random.choice(['{', '}', '|', ';', ',', ':', '%']).unwrap(),
                    _ => random.char('\0'..='\u{ff}'),
                })
                .collect();
            let escaped = escape(&text);
            assert_eq!(unescape(&escaped).as_deref(), Some(&*text));
            let is_plain = |char: char| !char.is_control() && !"{}|;,:".contains(char);
            assert!(escaped.chars().all(is_plain), "{escaped:?}");
        }
    }

    #[test]
    fn plain_names_stay_as_they_are() {
        assert_eq!(escape("payments-api/größe 7"), "payments-api/größe 7");
    }

    #[test]
    fn what_was_cut_or_is_no_text_is_nothing() {
        for broken in ["%", "%7", "%zz", "%+1", "%ff", "a%"] {
            assert_eq!(unescape(broken), None, "{broken}");
        }
    }
}
