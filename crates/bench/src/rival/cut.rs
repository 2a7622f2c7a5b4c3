//! The words of the engine's lexer, found 64 bytes at a time where text is ASCII.
//!
//! A block becomes a mask of its word bytes, and where neighbouring bits differ a word begins or ends: no branch
//! a byte, and so none to guess wrong. What is not ASCII goes to [`Lexer::tokens`], from the word it stands in to
//! the next white space. Cost: some 0.4 ns a byte of ASCII; the lexer's own on the rest.

use tadoc_engine::Lexer;
use tadoc_engine::build::lexer::{LONGEST_WORD, TokenKind};

/// Bytes of a block: the bits of a mask.
const BLOCK: usize = 64;
/// How many bytes the lexer gets at least, where it is called for.
const STRETCH: usize = 512;

/// Which bytes of a block belong to words, and which of them are not ASCII.
struct Masks {
    word: u64,
    beyond: u64,
}

/// Appends a word of ASCII, cut as the lexer cuts long ones.
fn push(words: &mut Vec<(u32, u32)>, mut start: u32, end: u32) {
    while end - start > LONGEST_WORD as u32 {
        words.push((start, start + LONGEST_WORD as u32));
        start += LONGEST_WORD as u32;
    }
    words.push((start, end));
}

/// Appends start and end of every word of the text to `words`, and calls `full` whenever there are `batch`
/// of them or some more, to empty it.
pub fn words(
    lexer: Lexer,
    text: &[u8],
    words: &mut Vec<(u32, u32)>,
    batch: usize,
    mut full: impl FnMut(&mut Vec<(u32, u32)>),
) {
    let mut position = 0;
    // Where the word begins that the last block ended in.
    let mut open: Option<u32> = None;
    while position < text.len() {
        let rest = &text[position..];
        let masks = match rest.first_chunk::<BLOCK>() {
            Some(block) => masks(lexer, block),
            None => {
                // White space behind the end closes the last word.
                let mut block = [b' '; BLOCK];
                block[..rest.len()].copy_from_slice(rest);
                masks(lexer, &block)
            }
        };
        if masks.beyond != 0 {
            let from = open.take().map_or(position, |start| start as usize);
            let to = lexer.safe_cut(text, text.len().min(position + STRETCH)).unwrap_or(text.len());
            let mut start = from;
            lexer.tokens(&text[from..to], |end, kind| {
                let end = from + end;
                if kind != TokenKind::Separator {
                    let spaced = usize::from(kind == TokenKind::SpacedWord);
                    words.push(((start + spaced) as u32, end as u32));
                    if words.len() >= batch {
                        full(words);
                    }
                }
                start = end;
            });
            position = to;
            continue;
        }
        let mut edges = masks.word ^ (masks.word << 1 | u64::from(open.is_some()));
        let at = |edges: u64| position as u32 + edges.trailing_zeros();
        if let Some(start) = open
            && edges != 0
        {
            push(words, start, at(edges));
            edges &= edges - 1;
            open = None;
        }
        // From here on, starts and ends alternate.
        for _ in 0..edges.count_ones() / 2 {
            let start = at(edges);
            edges &= edges - 1;
            words.push((start, at(edges)));
            edges &= edges - 1;
        }
        if edges != 0 {
            open = Some(at(edges));
        }
        position += BLOCK;
        if words.len() >= batch {
            full(words);
        }
    }
    if let Some(start) = open {
        push(words, start, text.len() as u32);
    }
    full(words);
}

#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
#[inline(always)]
fn masks(lexer: Lexer, block: &[u8; BLOCK]) -> Masks {
    // SAFETY: every x86-64 processor has SSE2. (Words of prose are found in a sixth of the time that
    // `Lexer::tokens` takes, which is half of the time of a word count.)
    unsafe { masks_of_sse2(lexer, block) }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "sse2")]
#[inline]
fn masks_of_sse2(lexer: Lexer, block: &[u8; BLOCK]) -> Masks {
    use std::arch::x86_64::{
        __m128i, _mm_add_epi8, _mm_cmpeq_epi8, _mm_cmplt_epi8, _mm_movemask_epi8, _mm_or_si128,
        _mm_set_epi64x, _mm_set1_epi8,
    };
    /// Whether each byte is one of `count` from `first` on: these are moved to the least signed bytes.
    #[target_feature(enable = "sse2")]
    #[inline]
    fn within(bytes: __m128i, first: u8, count: u8) -> __m128i {
        let moved = _mm_add_epi8(bytes, _mm_set1_epi8(0x80_u8.wrapping_sub(first) as i8));
        _mm_cmplt_epi8(moved, _mm_set1_epi8((0x80 + count) as i8))
    }
    let mut masks = Masks { word: 0, beyond: 0 };
    for (index, quarter) in block.as_chunks::<16>().0.iter().enumerate() {
        let half = |at| i64::from_le_bytes(*quarter[at..].first_chunk().expect("eight bytes"));
        let bytes = _mm_set_epi64x(half(8), half(0));
        let bits = |bytes: __m128i| u64::from(_mm_movemask_epi8(bytes) as u16) << (16 * index);
        match lexer {
            Lexer::Words => {
                let letters = within(_mm_or_si128(bytes, _mm_set1_epi8(0x20)), b'a', 26);
                let digits = within(bytes, b'0', 10);
                let line = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(b'_' as i8));
                masks.word |= bits(_mm_or_si128(_mm_or_si128(letters, digits), line));
                masks.beyond |= bits(bytes);
            }
            Lexer::Whitespace => {
                let space = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(b' ' as i8));
                masks.word |= bits(_mm_or_si128(within(bytes, b'\t', 5), space));
            }
        }
    }
    if lexer == Lexer::Whitespace {
        masks.word = !masks.word;
    }
    masks
}

#[cfg(not(target_arch = "x86_64"))]
fn masks(lexer: Lexer, block: &[u8; BLOCK]) -> Masks {
    let mut masks = Masks { word: 0, beyond: 0 };
    for (index, &byte) in block.iter().enumerate() {
        let word = match lexer {
            Lexer::Words => byte.is_ascii_alphanumeric() || byte == b'_',
            Lexer::Whitespace => !matches!(byte, b' ' | 9..=13),
        };
        masks.word |= u64::from(word) << index;
        masks.beyond |= u64::from(lexer == Lexer::Words && byte >= 0x80) << index;
    }
    masks
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lexer's words.
    fn expected(lexer: Lexer, text: &[u8]) -> Vec<(u32, u32)> {
        let mut found = Vec::new();
        let mut start = 0;
        lexer.tokens(text, |end, kind| {
            if kind != TokenKind::Separator {
                found.push((start + u32::from(kind == TokenKind::SpacedWord), end as u32));
            }
            start = end as u32;
        });
        found
    }

    fn found(lexer: Lexer, text: &[u8]) -> Vec<(u32, u32)> {
        let mut found = Vec::new();
        words(lexer, text, &mut Vec::new(), 5, |words| found.append(words));
        found
    }

    #[test]
    fn every_byte_is_what_the_lexer_takes_it_for() {
        for lexer in [Lexer::Words, Lexer::Whitespace] {
            for byte in 0..=255 {
                for length in [1, 63, 64, 65, 200] {
                    for at in [0, length / 2, length - 1] {
                        for filler in [b'x', b' ', b'-'] {
                            let mut text = vec![filler; length];
                            text[at] = byte;
                            let expected = expected(lexer, &text);
                            assert_eq!(found(lexer, &text), expected, "{lexer:?} {byte} {length}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn words_are_those_of_the_lexer_on_all_cases() {
        for case in tadoc_oracle::cases() {
            for (name, text) in &case.documents {
                for lexer in [Lexer::Words, Lexer::Whitespace] {
                    assert_eq!(found(lexer, text), expected(lexer, text), "{} {name}", case.name);
                }
            }
        }
    }
}
