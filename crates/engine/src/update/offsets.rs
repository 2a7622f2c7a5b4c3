//! A snapshot batch: all offsets mean the text before the batch. It is turned into edits in sequence.
//!
//! What such a batch means does not depend on how it is carried out:
//!
//! - Deletes take away the union of their ranges.
//! - Inserts at one offset come in the order in which they were given. One that is inside of a range that is deleted stays.
//! - A replace is a delete of its range, and an insert at its offset.
//! - An append is an insert at the end of the text before the batch.
//! - Documents are neither added nor removed nor renamed: offsets have no say in that, and what a batch means would depend
//!   on an order again.
//!
//! Cost: a sort of the edits.

use tadoc_core::archive::journal::Edit;

use super::ledger::Ledger;
use crate::error::{Error, Result};

/// What one edit does to the text before the batch.
struct Change<'t> {
    document: u32,
    offset: u64,
    /// How many bytes go from there on.
    length: u64,
    /// What comes before the byte at the offset.
    text: &'t [u8],
}

/// The edits in sequence that do what `edits` mean as a snapshot of the documents in `ledger`; the first thing that is wrong
/// with one of them if there is any. For each document they go from the end to the start, so that offsets stay right.
///
/// Lengths that an archive cannot have are found edit by edit: applying the sequence may still find that all together would
/// be too long.
pub(crate) fn sequence_of<'t>(edits: &[Edit<'t>], ledger: &Ledger) -> Result<Vec<Edit<'t>>> {
    let mut changes = Vec::with_capacity(edits.len());
    for edit in edits {
        let (document, offset, length, text): (_, _, _, &[u8]) = match *edit {
            Edit::Insert { document, offset, text } => (document, Some(offset), 0, text),
            Edit::Append { document, text } => (document, None, 0, text),
            Edit::Delete { document, offset, length } => (document, Some(offset), length, &[]),
            Edit::Replace { document, offset, length, text } => {
                (document, Some(offset), length, text)
            }
            Edit::Add { .. } => return Err(Error::NotInSnapshot { what: "add" }),
            Edit::Remove { .. } => return Err(Error::NotInSnapshot { what: "remove" }),
            Edit::Rename { .. } => return Err(Error::NotInSnapshot { what: "rename" }),
        };
        ledger.check(edit)?;
        let offset = offset.unwrap_or_else(|| ledger.bytes(document));
        changes.push(Change { document, offset, length, text });
    }
    // Those at one offset stay in their order.
    changes.sort_by_key(|change| (change.document, change.offset));
    let mut sequence = Vec::with_capacity(changes.len());
    for changes in changes.chunk_by(|one, next| one.document == next.document) {
        let document = changes[0].document;
        let end = ledger.bytes(document);
        for place in places(changes).into_iter().rev() {
            put(&mut sequence, document, end, &place);
        }
    }
    Ok(sequence)
}

/// Changes that end up in one place: a range goes, and all their texts come there, in order.
struct Place<'c, 't> {
    offset: u64,
    end: u64,
    changes: &'c [Change<'t>],
}

/// The places of one document's changes, which are in order; ascending. No two of them have an offset or a byte in common.
fn places<'c, 't>(changes: &'c [Change<'t>]) -> Vec<Place<'c, 't>> {
    let mut places: Vec<Place<'c, 't>> = Vec::new();
    let mut first = 0;
    for (index, change) in changes.iter().enumerate() {
        let end = change.offset + change.length;
        match places.last_mut() {
            Some(place) if change.offset < place.end || change.offset == place.offset => {
                place.end = place.end.max(end);
                place.changes = &changes[first..=index];
            }
            _ => {
                first = index;
                places.push(Place { offset: change.offset, end, changes: &changes[index..=index] });
            }
        }
    }
    places
}

/// Adds the edits of one place. Texts follow each other from the start to the end, so that they become one piece.
fn put<'t>(sequence: &mut Vec<Edit<'t>>, document: u32, end: u64, place: &Place<'_, 't>) {
    let length = place.end - place.offset;
    let mut texts = place.changes.iter().map(|change| change.text).filter(|text| !text.is_empty());
    let mut offset = place.offset;
    if length > 0 {
        sequence.push(match texts.next() {
            Some(text) => {
                offset += text.len() as u64;
                Edit::Replace { document, offset: place.offset, length, text }
            }
            None => Edit::Delete { document, offset, length },
        });
    }
    for text in texts {
        sequence.push(if place.offset == end {
            Edit::Append { document, text }
        } else {
            Edit::Insert { document, offset, text }
        });
        offset += text.len() as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::update::text::tests::Corpus;

    #[test]
    fn inserts_in_one_place_become_one_piece() {
        let insert = |text| Edit::Insert { document: 0, offset: 3, text };
        let edits = [insert(b"1"), insert(b"2"), insert(b"3")];
        let mut corpus = Corpus::new(vec![b"abcdef".to_vec()]);
        for edit in sequence_of(&edits, &corpus.ledger).unwrap() {
            corpus.apply(&edit).unwrap();
        }
        assert_eq!(corpus.text.document(0).unwrap().iter().count(), 3);
    }
}
