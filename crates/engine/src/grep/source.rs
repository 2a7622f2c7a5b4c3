//! What is searched: a segment's symbols and tokens, mapped from an index or decoded.

use std::ops::Range;
use std::sync::OnceLock;

use rayon::prelude::*;
use tadoc_core::archive::Tokens;
use tadoc_core::{Grammar, Share};

use crate::access::{Segment, Slices};
use crate::corpus::Corpus;
use crate::error::Result;

/// A segment. Symbols below [`Source::token_count`] are tokens, the others rules; rule `r` is the symbol
/// `token_count + r`, and uses only rules of higher numbers.
pub(super) trait Source: Sync {
    /// How many tokens there are.
    fn token_count(&self) -> u32;
    /// How many rules there are.
    fn rule_count(&self) -> u32;
    /// The places of a document's symbols in the root; documents are numbered inside of the segment.
    fn document_root(&self, document: usize) -> Range<u32>;
    /// Puts symbols of the root into a buffer, which is cleared before.
    fn read_root(&self, places: Range<u32>, into: &mut Vec<u32>);
    /// The places of a rule's symbols.
    fn body(&self, rule: u32) -> Range<u32>;
    /// The symbol at a place of a rule.
    fn symbol(&self, place: u32) -> u32;
    /// The bytes of a token.
    fn token(&self, token: u32) -> &[u8];
    /// Whether any token has a byte.
    fn any_token_has(&self, byte: u8) -> bool;
    /// The length of a symbol's text.
    fn bytes(&self, symbol: u32) -> u64;
    /// How many newlines a symbol's text has.
    fn newlines(&self, symbol: u32) -> u64;
    /// The documents that have a word with any of these parts in it, if that is known without looking at them.
    fn documents_with(&self, _pieces: &[Vec<u8>]) -> Option<Vec<bool>> {
        None
    }
}

/// A segment whose symbols and lengths are mapped from an index.
pub(super) struct Mapped<'s> {
    segment: &'s Segment,
    slices: Slices<'s>,
}

impl<'s> Mapped<'s> {
    /// Takes the arrays of a segment, and unpacks its tokens.
    pub(super) fn new(segment: &'s Segment) -> Result<Self> {
        let (slices, tokens) = rayon::join(|| segment.slices(), || segment.load_tokens());
        tokens?;
        Ok(Self { segment, slices: slices? })
    }
}

impl Source for Mapped<'_> {
    fn token_count(&self) -> u32 {
        self.slices.token_count()
    }

    fn rule_count(&self) -> u32 {
        self.slices.rule_count()
    }

    fn document_root(&self, document: usize) -> Range<u32> {
        let places = self.segment.document_root(document);
        places.start as u32..places.end as u32
    }

    fn read_root(&self, places: Range<u32>, into: &mut Vec<u32>) {
        into.clear();
        into.extend(places.map(|place| self.slices.root(place as usize)));
    }

    #[inline]
    fn body(&self, rule: u32) -> Range<u32> {
        let places = self.slices.body(rule);
        places.start as u32..places.end as u32
    }

    #[inline]
    fn symbol(&self, place: u32) -> u32 {
        self.slices.body_symbol(place as usize)
    }

    #[inline]
    fn token(&self, token: u32) -> &[u8] {
        self.segment.token(token).expect("unpacked before")
    }

    fn any_token_has(&self, byte: u8) -> bool {
        let has = |token| memchr::memchr(byte, self.token(token)).is_some();
        (0..self.token_count()).into_par_iter().with_min_len(1 << 14).any(has)
    }

    fn bytes(&self, symbol: u32) -> u64 {
        self.slices.bytes(symbol)
    }

    fn newlines(&self, symbol: u32) -> u64 {
        self.slices.newlines(symbol)
    }

    fn documents_with(&self, pieces: &[Vec<u8>]) -> Option<Vec<bool>> {
        // Lists that cannot be read are as good as none.
        self.segment.documents_with(pieces).ok().flatten()
    }
}

/// A decoded segment. Lengths and newlines are summed up when they are first asked for: O(symbols).
pub(super) struct Decoded {
    grammar: Grammar,
    tokens: Tokens,
    rule_bytes: OnceLock<Vec<u64>>,
    rule_newlines: OnceLock<Vec<u64>>,
    _share: Share,
}

impl Decoded {
    /// Decodes a segment.
    pub(super) fn load(corpus: &Corpus, number: usize) -> Result<Self> {
        let recorded = corpus.summary().segments[number].text_bytes;
        let (grammar, tokens) = rayon::join(
            || corpus.grammar(number),
            || -> Result<Tokens> { Ok(corpus.dictionary(number)?.tokens(recorded)?) },
        );
        let (grammar, tokens) = (grammar?, tokens?);
        let (rule_bytes, rule_newlines) = (OnceLock::new(), OnceLock::new());
        let bytes = 2 * size_of::<u64>() as u64 * u64::from(grammar.rule_count());
        let share = corpus.budget().take(bytes, "the lengths of rules")?;
        Ok(Self { grammar, tokens, rule_bytes, rule_newlines, _share: share })
    }
}

/// Newlines in some bytes.
pub(super) fn count_newlines(bytes: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', bytes).count() as u64
}

impl Source for Decoded {
    fn token_count(&self) -> u32 {
        self.grammar.token_count()
    }

    fn rule_count(&self) -> u32 {
        self.grammar.rule_count()
    }

    fn document_root(&self, document: usize) -> Range<u32> {
        let starts = self.grammar.document_starts();
        starts[document]..starts[document + 1]
    }

    fn read_root(&self, places: Range<u32>, into: &mut Vec<u32>) {
        into.clear();
        into.extend_from_slice(&self.grammar.root()[places.start as usize..places.end as usize]);
    }

    #[inline]
    fn body(&self, rule: u32) -> Range<u32> {
        let starts = self.grammar.rule_starts();
        starts[rule as usize]..starts[rule as usize + 1]
    }

    #[inline]
    fn symbol(&self, place: u32) -> u32 {
        self.grammar.symbols()[place as usize]
    }

    #[inline]
    fn token(&self, token: u32) -> &[u8] {
        self.tokens.get(token)
    }

    fn any_token_has(&self, byte: u8) -> bool {
        memchr::memchr(byte, self.tokens.joined()).is_some()
    }

    fn bytes(&self, symbol: u32) -> u64 {
        let weigh = |token| self.tokens.length(token);
        match self.grammar.rule_of(symbol) {
            None => weigh(symbol),
            Some(rule) => {
                let sums = self.rule_bytes.get_or_init(|| sums(&self.grammar, weigh));
                sums[rule as usize]
            }
        }
    }

    fn newlines(&self, symbol: u32) -> u64 {
        let weigh = |token| count_newlines(self.tokens.get(token));
        match self.grammar.rule_of(symbol) {
            None => weigh(symbol),
            Some(rule) => {
                let sums = self.rule_newlines.get_or_init(|| sums(&self.grammar, weigh));
                sums[rule as usize]
            }
        }
    }
}

/// For each rule the sum of `weight` over its tokens; sums that pass 64 bits stay at the end of those.
fn sums(grammar: &Grammar, weight: impl Fn(u32) -> u64) -> Vec<u64> {
    let mut sums = vec![0_u64; grammar.rule_count() as usize];
    for rule in (0..grammar.rule_count()).rev() {
        let weigh = |&symbol: &u32| match grammar.rule_of(symbol) {
            None => weight(symbol),
            Some(child) => sums[child as usize],
        };
        sums[rule as usize] = grammar.body(rule).iter().map(weigh).fold(0, u64::saturating_add);
    }
    sums
}
