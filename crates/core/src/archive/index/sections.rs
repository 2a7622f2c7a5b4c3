//! The three sections of an index, read from any memory and written to any: those of an archive, and those that are kept elsewhere
//! in the same form.
//!
//! Reading takes rows where they lie, and checks that nothing in them leads out of anything: what was read may be anything. Whether the bytes are those
//! that were written is for whoever keeps them to say.

use super::rows::{Rows, RowsWriter};
use super::word_documents::WordDocuments;
use crate::Array;
use crate::archive::types::SegmentInfo;
use crate::error::{Error, Result};
use crate::navigation::{Navigation, check_root};
use crate::packed::Packed;
use crate::spill::{Spill, SpillVec};

/// The bytes of section `NAVI`.
pub fn write_navigation(navigation: &Navigation, spill: &Spill) -> SpillVec<u8> {
    let mut rows = RowsWriter::default();
    for numbers in [
        &navigation.token_bytes,
        &navigation.separator_newlines,
        &navigation.rule_bytes,
        &navigation.rule_words,
        &navigation.rule_newlines,
    ] {
        rows.numbers(numbers);
    }
    for packed in [
        &navigation.rule_starts,
        &navigation.bodies,
        &navigation.document_starts,
        &navigation.root_bytes,
        &navigation.root_words,
        &navigation.root_newlines,
    ] {
        rows.packed(packed);
    }
    rows.to_bytes(spill)
}

/// Rules and lengths of a segment.
///
/// # Errors
/// If it is no such section, or not of a segment with these figures.
pub fn read_navigation(section: Array<u8>, segment: &SegmentInfo) -> Result<Navigation> {
    let mut rows = Rows::new(section, "section NAVI")?;
    let navigation = Navigation {
        token_bytes: rows.numbers()?,
        separator_newlines: rows.numbers()?,
        rule_bytes: rows.numbers()?,
        rule_words: rows.numbers()?,
        rule_newlines: rows.numbers()?,
        rule_starts: rows.packed()?,
        bodies: rows.packed()?,
        document_starts: rows.packed()?,
        root_bytes: rows.packed()?,
        root_words: rows.packed()?,
        root_newlines: rows.packed()?,
    };
    rows.finish()?;
    navigation.check(segment)?;
    Ok(navigation)
}

/// Rows of section `NAVI` before the words before places of the root: three for each length, and
/// one for each other.
const ROWS_BEFORE_WORDS: usize = 5 * 3 + 4;

/// How many words a segment's text has, by its section `NAVI`, of which no more is looked at. O(1).
///
/// # Errors
/// If it is no such section.
pub fn read_word_total(section: Array<u8>) -> Result<u64> {
    let mut rows = Rows::new(section, "section NAVI")?;
    rows.pass_over(ROWS_BEFORE_WORDS);
    let words = rows.packed()?;
    let last = words.len().checked_sub(1).map(|last| words.get(last));
    last.ok_or_else(|| Error::malformed("section NAVI: it has no samples of words"))
}

/// The bytes of section `SYMR`.
pub fn write_root(root: &Packed, spill: &Spill) -> SpillVec<u8> {
    let mut rows = RowsWriter::default();
    rows.packed(root);
    rows.to_bytes(spill)
}

/// The symbols of the root of a segment.
///
/// # Errors
/// As [`read_navigation`].
pub fn read_root(section: Array<u8>, segment: &SegmentInfo) -> Result<Packed> {
    let mut rows = Rows::new(section, "section SYMR")?;
    let root = rows.packed()?;
    rows.finish()?;
    check_root(&root, segment.root_symbols, segment.token_types + segment.rules)?;
    Ok(root)
}

/// The bytes of section `DOCW`.
pub fn write_word_documents(word_documents: &WordDocuments, spill: &Spill) -> SpillVec<u8> {
    let mut rows = RowsWriter::default();
    rows.packed(word_documents.starts());
    rows.bytes(word_documents.lists());
    rows.to_bytes(spill)
}

/// The documents of the words of a segment.
///
/// # Errors
/// As [`read_navigation`].
pub fn read_word_documents(section: Array<u8>, segment: &SegmentInfo) -> Result<WordDocuments> {
    let mut rows = Rows::new(section, "section DOCW")?;
    let (starts, lists) = (rows.packed()?, rows.bytes()?);
    rows.finish()?;
    WordDocuments::new(segment.words, segment.documents, starts, lists)
}
