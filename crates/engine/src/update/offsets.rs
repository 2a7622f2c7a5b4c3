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
    use proptest::prelude::*;

    use super::*;
    use crate::update::text::tests::Corpus;

    /// The plain way: for each byte of the old text and for its end, what comes before it and whether it goes.
    fn plainly(old: &[u8], document: u32, edits: &[Edit<'_>]) -> Vec<u8> {
        let mut before: Vec<Vec<u8>> = vec![Vec::new(); old.len() + 1];
        let mut goes = vec![false; old.len()];
        for edit in edits {
            let (of, offset, length, text): (_, _, _, &[u8]) = match *edit {
                Edit::Insert { document, offset, text } => (document, offset, 0, text),
                Edit::Append { document, text } => (document, old.len() as u64, 0, text),
                Edit::Delete { document, offset, length } => (document, offset, length, &[]),
                Edit::Replace { document, offset, length, text } => {
                    (document, offset, length, text)
                }
                _ => panic!("not in a snapshot"),
            };
            if of == document {
                before[offset as usize].extend(text);
                goes[offset as usize..(offset + length) as usize].fill(true);
            }
        }
        let mut new = Vec::new();
        for (place, inserted) in before.iter().enumerate() {
            new.extend(inserted);
            new.extend(old.get(place).filter(|_| !goes[place]));
        }
        new
    }

    fn applied(old: Vec<Vec<u8>>, edits: &[Edit<'_>]) -> Corpus {
        let mut corpus = Corpus::new(old);
        for edit in sequence_of(edits, &corpus.ledger).unwrap() {
            corpus.apply(&edit).unwrap();
        }
        corpus
    }

    #[test]
    fn rules_by_example() {
        let document = 0;
        for (edits, expected) in [
            (
                vec![
                    Edit::Append { document, text: b"1" },
                    Edit::Insert { document, offset: 6, text: b"2" },
                    Edit::Append { document, text: b"3" },
                    Edit::Insert { document, offset: 0, text: b"4" },
                    Edit::Insert { document, offset: 0, text: b"5" },
                ],
                "45abcdef123",
            ),
            (
                vec![
                    Edit::Delete { document, offset: 1, length: 3 },
                    Edit::Insert { document, offset: 3, text: b"2" },
                    Edit::Insert { document, offset: 2, text: b"1" },
                    Edit::Delete { document, offset: 2, length: 3 },
                    Edit::Insert { document, offset: 5, text: b"3" },
                ],
                "a123f",
            ),
            (
                vec![
                    Edit::Insert { document, offset: 2, text: b"1" },
                    Edit::Replace { document, offset: 2, length: 2, text: b"2" },
                    Edit::Replace { document, offset: 2, length: 1, text: b"3" },
                    Edit::Delete { document, offset: 4, length: 2 },
                ],
                "ab123",
            ),
        ] {
            let corpus = applied(vec![b"abcdef".to_vec()], &edits);
            assert_eq!(corpus.document(0), expected.as_bytes());
        }
    }

    #[test]
    fn inserts_in_one_place_become_one_piece() {
        let insert = |text| Edit::Insert { document: 0, offset: 3, text };
        let corpus = applied(vec![b"abcdef".to_vec()], &[insert(b"1"), insert(b"2"), insert(b"3")]);
        assert_eq!(corpus.text.document(0).unwrap().len(), 3);
    }

    #[test]
    fn edits_are_checked_against_the_text_before() {
        let corpus = Corpus::new(vec![b"abc".to_vec()]);
        let append = Edit::Append { document: 0, text: b"def" };
        let delete = Edit::Delete { document: 0, offset: 2, length: 2 };
        let refused = |edits: &[Edit<'_>]| sequence_of(edits, &corpus.ledger).unwrap_err();
        assert!(matches!(refused(&[append, delete]), Error::RangePastEnd { left: 1, .. }));
        let append = Edit::Append { document: 1, text: b"def" };
        assert!(matches!(refused(&[append]), Error::NoSuchNumber { number: 1, next: 1 }));
        let add = Edit::Add { name: b"0", modified: None, mode: None, text: b"" };
        let expected = "a batch with snapshot offsets cannot add documents, only change their text";
        assert_eq!(refused(&[add]).to_string(), expected);
        for edit in [Edit::Remove { document: 0 }, Edit::Rename { document: 0, name: b"1" }] {
            assert!(matches!(refused(&[edit]), Error::NotInSnapshot { .. }));
        }
    }

    proptest! {
        #[test]
        fn a_snapshot_is_what_the_plain_way_gives(
            old in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 1..4),
            given in prop::collection::vec(
                (any::<prop::sample::Index>(), any::<(prop::sample::Index, prop::sample::Index)>(), 0..4_u8, "[a-z]{0,5}"),
                0..30,
            ),
        ) {
            let edits = given.iter().map(|(document, (offset, length), kind, text)| {
                let document = document.index(old.len());
                let bytes = old[document].len();
                let offset = offset.index(bytes + 1);
                // Short ones, so that many are apart.
                let length = length.index((bytes - offset).min(6) + 1) as u64;
                let (document, offset, text) = (document as u32, offset as u64, text.as_bytes());
                match kind {
                    0 => Edit::Insert { document, offset, text },
                    1 => Edit::Append { document, text },
                    2 => Edit::Delete { document, offset, length },
                    _ => Edit::Replace { document, offset, length, text },
                }
            });
            let edits: Vec<Edit<'_>> = edits.collect();
            let corpus = applied(old.clone(), &edits);
            for (number, old) in (0..).zip(&old) {
                prop_assert_eq!(corpus.document(number), plainly(old, number, &edits));
            }
            let sequence = sequence_of(&edits, &Corpus::new(old).ledger).unwrap();
            prop_assert!(sequence.len() <= edits.len());
        }
    }
}
