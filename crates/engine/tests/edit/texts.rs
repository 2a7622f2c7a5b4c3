//! Text whose words meet in unexpected ways.

use tadoc_oracle::Random;

/// Words, marks, characters that are words of their own, halves of characters, line ends of both kinds, NUL, separators longer than a token.
const SNIPPETS: &[&[u8]] = &[
    b"a",
    b"b",
    b"bc",
    b" ",
    b" ",
    b"  ",
    b"\n",
    b"_",
    b"-",
    b"to be",
    b", or not\n",
    b"to be or not to be ",
    "日本".as_bytes(),
    "語".as_bytes(),
    "ไทย".as_bytes(),
    "\u{e31}".as_bytes(),
    "e\u{301}".as_bytes(),
    "\u{301}".as_bytes(),
    "本\u{301}".as_bytes(),
    b"\xe6",
    b"\x97\xa5",
    b"\xa5",
    b"\xff",
    b"\0",
    b"\r\n",
    "é".as_bytes(),
    b"12",
    b"------------------------------------",
    &[b'='; 300],
    b"the quick brown fox jumps over the lazy dog\n",
];

/// Few letters and spaces: every word is there many times, and edits make others of them.
const LETTERS: &[&[u8]] = &[b"a", b"b", b"ab", b" ", b" ", b"\n"];

/// Which text is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Snippets,
    Letters,
}

impl Kind {
    /// At most so many pieces of text.
    pub fn text(self, random: &mut Random, most: u64) -> Vec<u8> {
        let snippets = match self {
            Self::Snippets => SNIPPETS,
            Self::Letters => LETTERS,
        };
        (0..random.below(most + 1)).flat_map(|_| random.choose(snippets).to_vec()).collect()
    }
}
