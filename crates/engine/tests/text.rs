//! Bytes for people, and back.

use std::borrow::Cow;

use tadoc_engine::text::{as_utf8, escape, unescape, unescape_utf8};

#[test]
fn every_character_reads_back() {
    for character in '\0'..=char::MAX {
        let text = format!("a\\{character}b");
        let shown = escape(text.as_bytes()).to_string();
        assert!(!shown.contains(['\t', '\n', '\r']), "{character:?}");
        assert_eq!(unescape(&shown).as_deref(), Some(text.as_bytes()), "{character:?}");
    }
    assert_eq!(escape(b"\xff\xe2\x80").to_string(), "\\xff\\xe2\\x80");
}

#[test]
fn text_is_as_it_is() {
    for text in ["", "plain", "C:\\new\\table\\x", "\\xFF \\xg0 \\x", "日本語 🙂", "\0\t\n"] {
        assert!(matches!(as_utf8(text.as_bytes()), Cow::Borrowed(same) if same == text));
    }
}

#[test]
fn bytes_are_escaped_and_come_back() {
    assert_eq!(as_utf8(b"a\xffb"), "a\\xffb");
    assert_eq!(as_utf8(b"a\\xffb"), "a\\x5cxffb");
    assert_eq!(as_utf8(b"\\\xff"), "\\\\xff");
    // All strings of these pieces: they try to be taken for escapes.
    let pieces: [&[u8]; 8] = [b"\\", b"x", b"f", b"5c", b"\xff", b"\xe2\x82", b"\xac", b"\\xff"];
    for number in 0..8_usize.pow(5) {
        let bytes: Vec<u8> = (0..5)
            .flat_map(|place| pieces[number / 8_usize.pow(place) % 8].iter().copied())
            .collect();
        assert_eq!(unescape_utf8(&as_utf8(&bytes)), bytes, "{bytes:?}");
    }
}
