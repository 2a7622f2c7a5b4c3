//! What the scalars of Unicode are to the `words` lexer, and decoding of UTF-8 that may be broken.
//!
//! The classes come from the tables of `regex-syntax`, so that `\w` here is the `\w` of the `regex`
//! crate. They are laid out flat, one byte a scalar (1.1 MB): text touches few pages of it.

use std::sync::LazyLock;

use regex_syntax::hir::{Class, HirKind};

/// Scripts written without spaces: each of their characters is a word of its own.
const WITHOUT_SPACES: &str =
    r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]";

const WORD: u8 = 1;
const MARK: u8 = 2;
const ALONE: u8 = 4;

/// What one scalar is: a word character or not, a mark or not, a word of its own or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ScalarClass(u8);

impl ScalarClass {
    pub(super) fn is_word(self) -> bool {
        self.0 & WORD != 0
    }

    pub(super) fn is_mark(self) -> bool {
        self.0 & MARK != 0
    }

    pub(super) fn stands_alone(self) -> bool {
        self.0 & ALONE != 0
    }
}

/// One decoded scalar, or one byte that is not UTF-8 (which separates).
#[derive(Debug, Clone, Copy)]
pub(super) struct Scalar {
    pub(super) class: ScalarClass,
    pub(super) length: usize,
}

static CLASSES: LazyLock<Box<[u8]>> = LazyLock::new(|| {
    let mut classes = vec![0_u8; char::MAX as usize + 1].into_boxed_slice();
    let mut mark = |pattern: &str, bit: u8| {
        for (start, end) in ranges(pattern) {
            for class in &mut classes[start as usize..=end as usize] {
                *class |= bit;
            }
        }
    };
    mark(r"\w", WORD);
    mark(r"\p{M}", MARK);
    mark(&format!(r"[{WITHOUT_SPACES}&&\w]"), ALONE);
    classes
});

fn ranges(pattern: &str) -> Vec<(char, char)> {
    let parsed = regex_syntax::parse(pattern).expect("the patterns above are valid");
    match parsed.into_kind() {
        HirKind::Class(Class::Unicode(class)) => {
            class.iter().map(|range| (range.start(), range.end())).collect()
        }
        other => unreachable!("{pattern} is a class, not {other:?}"),
    }
}

/// Decodes the scalar at `position`, which must be inside of `text`.
pub(super) fn decode(text: &[u8], position: usize) -> Scalar {
    let invalid = Scalar { class: ScalarClass(0), length: 1 };
    let byte = |offset: usize| text.get(position + offset).copied().unwrap_or(0);
    let tail = |offset: usize| u32::from(byte(offset) & 0x3F);
    let is_tail = |offset: usize| byte(offset) & 0xC0 == 0x80;
    let first = byte(0);
    let (scalar, length) = match first {
        0x00..=0x7F => (u32::from(first), 1),
        0xC2..=0xDF if is_tail(1) => (u32::from(first & 0x1F) << 6 | tail(1), 2),
        0xE0..=0xEF if is_tail(1) && is_tail(2) => {
            let scalar = u32::from(first & 0x0F) << 12 | tail(1) << 6 | tail(2);
            if scalar < 0x800 || (0xD800..0xE000).contains(&scalar) {
                return invalid;
            }
            (scalar, 3)
        }
        0xF0..=0xF4 if is_tail(1) && is_tail(2) && is_tail(3) => {
            let scalar = u32::from(first & 0x07) << 18 | tail(1) << 12 | tail(2) << 6 | tail(3);
            if !(0x1_0000..0x11_0000).contains(&scalar) {
                return invalid;
            }
            (scalar, 4)
        }
        _ => return invalid,
    };
    Scalar { class: ScalarClass(CLASSES[scalar as usize]), length }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decoding_agrees_with_the_standard_library_on_every_scalar() {
        for scalar in '\0'..=char::MAX {
            let mut buffer = [0; 4];
            let text = scalar.encode_utf8(&mut buffer).as_bytes();
            assert_eq!(decode(text, 0).length, text.len(), "{scalar:?}");
            if text.len() > 1 {
                assert_eq!(decode(&text[..text.len() - 1], 0).length, 1, "cut {scalar:?}");
            }
        }
    }

    #[test]
    fn what_is_not_utf8_separates() {
        for bytes in [
            &b"\x80"[..],
            b"\xc0\xaf",
            b"\xc1\x81",
            b"\xe0\x80\x80",
            b"\xed\xa0\x80",
            b"\xf4\x90\x80\x80",
            b"\xf8\x88\x80\x80\x80",
            b"\xff",
            b"\xe4\xb8",
        ] {
            let scalar = decode(bytes, 0);
            assert!(!scalar.class.is_word() && scalar.length == 1, "{bytes:x?}");
        }
    }
}
