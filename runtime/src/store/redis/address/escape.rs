//! What stands for characters that mean something in an address.

use crate::store::redis::address::AddressError;

pub(super) fn unescape(text: &str) -> Result<String, AddressError> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let digits = [rest.next(), rest.next()].map(|digit| digit.and_then(hex));
        let [Some(high), Some(low)] = digits else {
            return Err(AddressError::Escape);
        };
        bytes.push(high << 4 | low);
    }
    String::from_utf8(bytes).map_err(|_| AddressError::Escape)
}

fn hex(digit: u8) -> Option<u8> {
    let value = char::from(digit).to_digit(16)?;
    u8::try_from(value).ok()
}
