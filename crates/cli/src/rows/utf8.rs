//! Any bytes as UTF-8, for formats whose text is UTF-8 and has no escapes of its own: CSV, Arrow, Parquet.
//!
//! People load these into tools that show text as it is. So it is as it is, backslashes too, with one
//! exception: bytes that are not UTF-8 are `\xHH` (two digits, small letters), and a backslash that
//! would read as such an escape is `\x5c`. Replacing every `\xHH` by its byte gives the bytes back, whatever
//! they were.

use std::borrow::Cow;

/// The bytes as UTF-8. One look at them if they are; else a copy.
pub fn as_utf8(bytes: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = std::str::from_utf8(bytes)
        && !text.as_bytes().windows(4).any(is_escape)
    {
        return Cow::Borrowed(text);
    }
    let mut result = String::with_capacity(bytes.len() + 16);
    for chunk in bytes.utf8_chunks() {
        let valid = chunk.valid();
        let mut copied = 0;
        for (place, _) in valid.match_indices('\\') {
            // What follows within four bytes is of this chunk: an escape after it begins with a backslash.
            if valid.as_bytes()[place..].first_chunk::<4>().is_some_and(|four| is_escape(four)) {
                result.push_str(&valid[copied..place]);
                result.push_str("\\x5c");
                copied = place + 1;
            }
        }
        result.push_str(&valid[copied..]);
        for byte in chunk.invalid() {
            result.push_str("\\x");
            result.push(char::from_digit(u32::from(byte >> 4), 16).expect("a digit"));
            result.push(char::from_digit(u32::from(byte & 15), 16).expect("a digit"));
        }
    }
    Cow::Owned(result)
}

fn is_escape(four: &[u8]) -> bool {
    let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    matches!(*four, [b'\\', b'x', high, low] if is_digit(high) && is_digit(low))
}

/// The bytes that [`as_utf8`] was given.
#[cfg(test)]
pub fn from_utf8(text: &str) -> Vec<u8> {
    let mut rest = text.as_bytes();
    let mut bytes = Vec::new();
    while let Some((&byte, after)) = rest.split_first() {
        if rest.first_chunk::<4>().is_some_and(|four| is_escape(four)) {
            let digits = std::str::from_utf8(&rest[2..4]).unwrap();
            bytes.push(u8::from_str_radix(digits, 16).unwrap());
            rest = &rest[4..];
        } else {
            bytes.push(byte);
            rest = after;
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_as_it_is() {
        for text in ["", "plain", "C:\\new\\table\\x", "\\xFF \\xg0 \\x", "日本語 🙂", "\0\t\n"]
        {
            assert!(matches!(as_utf8(text.as_bytes()), Cow::Borrowed(same) if same == text));
        }
    }

    #[test]
    fn bytes_are_escaped_and_come_back() {
        assert_eq!(as_utf8(b"a\xffb"), "a\\xffb");
        assert_eq!(as_utf8(b"a\\xffb"), "a\\x5cxffb");
        assert_eq!(as_utf8(b"\\\xff"), "\\\\xff");
        // All strings of these pieces: they try to be taken for escapes.
        let pieces: [&[u8]; 8] =
            [b"\\", b"x", b"f", b"5c", b"\xff", b"\xe2\x82", b"\xac", b"\\xff"];
        for number in 0..8_usize.pow(5) {
            let bytes: Vec<u8> = (0..5)
                .flat_map(|place| pieces[number / 8_usize.pow(place) % 8].iter().copied())
                .collect();
            assert_eq!(from_utf8(&as_utf8(&bytes)), bytes, "{bytes:?}");
        }
    }
}
