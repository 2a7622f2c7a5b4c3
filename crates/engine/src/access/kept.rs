//! A segment as it is kept outside of its archive, such as in a pool: the sections of a fast index, and all tokens unpacked.
//!
//! Nothing of it is decoded, copied or held on the heap, whatever memory its rows lie in. Taking one costs a pass over its rows, which checks that
//! none leads out of another, as that over an index does.

use tadoc_core::Array;
use tadoc_core::archive::{WordDocuments, sections};
use tadoc_core::navigation::Navigation;
use tadoc_core::packed::Packed;

use super::tokens::TokenStore;
use super::unpacked::{FirstTokens, Unpacked};
use crate::SegmentInfo;
use crate::error::Result;

/// The rows of a segment.
#[derive(Debug)]
pub(super) struct KeptSegment {
    /// What [`figures`] gave.
    pub(super) figures: Array<u64>,
    /// As in section `NAVI`.
    pub(super) navigation: Array<u8>,
    /// As in section `SYMR`.
    pub(super) root: Array<u8>,
    /// As in section `DOCW`.
    pub(super) word_documents: Array<u8>,
    /// The parts of [`Unpacked`].
    pub(super) token_bytes: Array<u8>,
    pub(super) token_ends: Array<u32>,
    /// The parts of [`FirstTokens`].
    pub(super) first_tokens: Array<u64>,
    pub(super) words_before: Array<u32>,
}

/// What is in it, ready to be read.
pub(super) struct Read {
    pub(super) navigation: Navigation,
    pub(super) root: Packed,
    pub(super) word_documents: WordDocuments,
    pub(super) tokens: TokenStore,
}

/// How much of everything a segment has. The figures of an archive are not those of a segment that edits have touched.
#[cfg(feature = "pool")]
pub(super) fn figures(segment: &SegmentInfo) -> [u64; 7] {
    [
        segment.documents,
        segment.text_bytes,
        segment.token_types,
        segment.words,
        segment.rules,
        segment.symbols,
        segment.root_symbols,
    ]
}

impl KeptSegment {
    /// Takes its rows, if they are those of a segment with as many documents and as much text as this one.
    pub(super) fn read(&self, segment: &SegmentInfo) -> Result<Read> {
        let malformed = |what: &str| tadoc_core::Error::malformed(what);
        let &[documents, text_bytes, token_types, words, rules, symbols, root_symbols] =
            &self.figures[..]
        else {
            return Err(malformed("a kept segment has other figures").into());
        };
        if [documents, text_bytes] != [segment.documents, segment.text_bytes]
            || [token_types, rules].iter().any(|&count| count > u32::MAX.into())
        {
            return Err(malformed("a kept segment is not that of the archive").into());
        }
        let own = SegmentInfo { token_types, words, rules, symbols, root_symbols, ..*segment };
        let ((navigation, tokens), (root, word_documents)) = rayon::join(
            || {
                rayon::join(
                    || sections::read_navigation(self.navigation.clone(), &own),
                    || {
                        let (bytes, ends) = (self.token_bytes.clone(), self.token_ends.clone());
                        Unpacked::from_parts(bytes, ends, token_types)
                    },
                )
            },
            || {
                rayon::join(
                    || sections::read_root(self.root.clone(), &own),
                    || sections::read_word_documents(self.word_documents.clone(), &own),
                )
            },
        );
        let navigation = navigation?;
        // Those without newlines of their own are those that have a word.
        let word_tokens = token_types - navigation.separator_newlines.len() as u64;
        let (marks, before) = (self.first_tokens.clone(), self.words_before.clone());
        let firsts = FirstTokens::from_parts(marks, before, word_tokens, words)?;
        Ok(Read {
            navigation,
            root: root?,
            word_documents: word_documents?,
            tokens: TokenStore::elsewhere(tokens?, firsts),
        })
    }
}
