//! Bytes as text that can be printed, and back.

use std::borrow::Cow;

use tadoc_engine::text::{as_utf8, steers, unescape, unescape_utf8, visible};

#[test]
fn nothing_that_steers_is_visible_and_all_of_it_reads_back() {
    let mut hidden = 0;
    for character in '\0'..=char::MAX {
        let text = format!("a\\{character}b");
        let shown = visible(text.as_bytes()).to_string();
        assert!(!shown.chars().any(steers), "{character:?}");
        assert_eq!(unescape(&shown).as_deref(), Some(text.as_bytes()), "{character:?}");
        hidden += u32::from(steers(character));
    }
    // C0, DEL and C1, then those with other meanings.
    assert_eq!(hidden, 32 + 1 + 32 + 1 + 2 + 7 + 4 + 1);
    assert_eq!(visible(b"\xff\xe2\x80").to_string(), "\\xff\\xe2\\x80");
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
