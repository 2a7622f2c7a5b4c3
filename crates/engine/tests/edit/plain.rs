//! Edits one after the other and edits made together, against plain bytes.

use std::collections::BTreeMap;

use proptest::prelude::*;
use tadoc_engine::{Document, Edit, Editor, Error, Transaction};
use tadoc_testing::archives::{compress_with, one_thread};
use tempfile::TempDir;

/// A transaction on a new archive, which goes with the folder.
pub fn begin(documents: Vec<(String, Vec<u8>)>) -> (TempDir, Transaction) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("c.tdc");
    compress_with(&documents, &path, &one_thread());
    let transaction = Editor::open(&path).unwrap().begin().unwrap();
    (folder, transaction)
}

/// Documents `0`, `1` and so on, no more than 10.
pub fn numbered(documents: &[Vec<u8>]) -> Vec<(String, Vec<u8>)> {
    (0..).map(|number: u32| number.to_string()).zip(documents.iter().cloned()).collect()
}

/// The texts, in byte order of their names.
fn texts(transaction: &mut Transaction) -> Vec<Vec<u8>> {
    let corpus = transaction.corpus().unwrap();
    let text = |place| {
        let mut text = Vec::new();
        corpus.write_documents(&[place], &mut text, &()).unwrap();
        text
    };
    (0..transaction.document_count()).map(text).collect()
}

fn add<'t>(name: &'t str, text: &'t [u8]) -> Edit<'t> {
    Edit::Add { name: name.as_bytes(), modified: None, mode: Some(0o600), text }
}

fn rename(document: u32, name: &str) -> Edit<'_> {
    Edit::Rename { document, name: name.as_bytes() }
}

/// Names, numbers and lengths, and the number that the next document gets.
fn listed(transaction: &mut Transaction) -> (Vec<(Document, u32)>, u32) {
    let documents = transaction.documents();
    assert_eq!(documents.len(), transaction.document_count());
    let numbered = documents.into_iter().map(|document| {
        let number = transaction.find(&document.name).unwrap();
        assert_eq!(transaction.name(number), document.name);
        assert_eq!(transaction.bytes(number), document.bytes);
        (document, number)
    });
    let numbered: Vec<(Document, u32)> = numbered.collect();
    match transaction.edit(&Edit::Remove { document: u32::MAX }) {
        Err(Error::NoSuchNumber { next, .. }) => (numbered, next),
        other => panic!("{other:?}"),
    }
}

/// Documents of 10, 20 and no bytes.
fn three() -> (TempDir, Transaction) {
    let lengths = [("a", 10), ("b", 20), ("c", 0)];
    begin(lengths.map(|(name, bytes)| (name.into(), vec![b'x'; bytes])).into())
}

#[test]
fn numbers_are_not_used_again_and_names_are() {
    let (_folder, mut transaction) = three();
    assert_eq!(transaction.edit(&add("aa", b"12")).unwrap(), Some(3));
    transaction.edit(&Edit::Remove { document: 3 }).unwrap();
    assert!(transaction.find(b"aa").is_err());
    assert_eq!((transaction.bytes(3), transaction.name(3)), (0, &b"aa"[..]));
    assert_eq!(transaction.edit(&add("aa", b"123")).unwrap(), Some(4));
    transaction.edit(&Edit::Remove { document: 1 }).unwrap();
    assert!(transaction.find(b"b").is_err());
    assert_eq!(transaction.edit(&add("b", b"")).unwrap(), Some(5));
    let (listed, next) = listed(&mut transaction);
    let rows: Vec<(u32, &[u8], u64)> = listed
        .iter()
        .map(|(document, number)| (*number, &document.name[..], document.bytes))
        .collect();
    assert_eq!(rows, [(0, &b"a"[..], 10), (4, b"aa", 3), (5, b"b", 0), (2, b"c", 0)]);
    assert_eq!((listed[2].0.mode, listed[2].0.modified, next), (Some(0o600), None, 6));
    // Those that are there, and no others, can be edited.
    let is_there = |&document: &u32| {
        transaction.edit(&Edit::Insert { document, offset: 0, text: b"" }).is_ok()
    };
    assert_eq!((0..next).filter(is_there).collect::<Vec<_>>(), [0, 2, 4, 5]);
}

/// What an edit is refused with; nothing has changed by it.
fn refused(transaction: &mut Transaction, edit: Edit<'_>) -> String {
    let before = listed(transaction);
    let error = transaction.edit(&edit).unwrap_err();
    assert_eq!(listed(transaction), before);
    error.to_string()
}

#[test]
fn what_is_wrong_is_said() {
    let (_folder, mut transaction) = three();
    transaction.edit(&add("d", b"12345")).unwrap();
    transaction.edit(&Edit::Remove { document: 1 }).unwrap();
    let text = b"x";
    for (edit, expected) in [
        (
            Edit::Insert { document: 0, offset: 11, text },
            "offset 11 is past the end of “a”, which has 10 bytes; offsets count bytes from 0",
        ),
        (
            Edit::Delete { document: 3, offset: 6, length: 0 },
            "offset 6 is past the end of “d”, which has 5 bytes; offsets count bytes from 0",
        ),
        (
            Edit::Delete { document: 0, offset: 2, length: u64::MAX },
            "18446744073709551615 bytes from offset 2 on are past the end of “a”, which has 8 from \
             there",
        ),
        (
            Edit::Replace { document: 3, offset: 5, length: 1, text },
            "1 byte from offset 5 on is past the end of “d”, which has 0 from there",
        ),
        (Edit::Append { document: 1, text }, "the archive has no document “b”"),
        (rename(1, "e"), "the archive has no document “b”"),
        (Edit::Remove { document: 1 }, "the archive has no document “b”"),
        (
            Edit::Append { document: 4, text },
            "there is no document number 4; numbers given so far are below 4",
        ),
        (add("c", text), "the archive has a document “c” already"),
        (rename(0, "d"), "the archive has a document “d” already"),
        (add("", text), "“” cannot be the name of a document: it is empty"),
        (rename(0, "a\0"), "“a\0” cannot be the name of a document: it has a NUL in it"),
    ] {
        assert_eq!(refused(&mut transaction, edit), expected);
    }
}

/// Any edit, also one that is not possible.
#[derive(Debug, Clone)]
enum Step {
    Replace { document: u32, offset: u64, length: u64, text: Vec<u8> },
    Append { document: u32, text: Vec<u8> },
    Add { name: u8, text: Vec<u8> },
    Remove { document: u32 },
    Rename { document: u32, name: u8 },
}

fn step() -> impl Strategy<Value = Step> {
    let (document, name, text) = (|| 0..12_u32, || b'0'..b'0' + 12, || any::<Vec<u8>>());
    let text = move || text().prop_map(|text| text.into_iter().take(9).collect::<Vec<u8>>());
    prop_oneof![
        6 => (document(), 0..40_u64, 0..9_u64, text()).prop_map(|(document, offset, length, text)| {
            Step::Replace { document, offset, length, text }
        }),
        3 => (document(), text()).prop_map(|(document, text)| Step::Append { document, text }),
        1 => (name(), text()).prop_map(|(name, text)| Step::Add { name, text }),
        1 => document().prop_map(|document| Step::Remove { document }),
        1 => (document(), name()).prop_map(|(document, name)| Step::Rename { document, name }),
    ]
}

proptest! {
    #[test]
    fn documents_are_what_plain_bytes_are(
        stored in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..50), 0..6),
        steps in prop::collection::vec(step(), 0..200),
    ) {
        let (_folder, mut transaction) = begin(numbered(&stored));
        let mut next = stored.len() as u32;
        let named = |(number, text): (u32, Vec<u8>)| (number, (vec![b'0' + number as u8], text));
        let mut model: BTreeMap<u32, (Vec<u8>, Vec<u8>)> =
            (0..).zip(stored).map(named).collect();
        for step in steps {
            let taken = |model: &BTreeMap<u32, (Vec<u8>, Vec<u8>)>, name: u8, but: Option<u32>| {
                model.iter().any(|(&number, (other, _))| Some(number) != but && other[..] == [name])
            };
            match step {
                Step::Replace { document, offset, length, ref text } => {
                    let edit = match (length, text.len()) {
                        (0, _) => Edit::Insert { document, offset, text },
                        (_, 0) => Edit::Delete { document, offset, length },
                        _ => Edit::Replace { document, offset, length, text },
                    };
                    let range = offset as usize..(offset + length) as usize;
                    let old = model.get_mut(&document).map(|(_, bytes)| bytes);
                    let old = old.filter(|bytes| range.end <= bytes.len());
                    let possible = old.is_some();
                    old.map(|bytes| bytes.splice(range, text.iter().copied()).count());
                    prop_assert_eq!(transaction.edit(&edit).is_ok(), possible);
                }
                Step::Append { document, ref text } => {
                    let old = model.get_mut(&document);
                    let possible = old.is_some();
                    old.into_iter().for_each(|(_, bytes)| bytes.extend(text));
                    prop_assert_eq!(transaction.edit(&Edit::Append { document, text }).is_ok(), possible);
                }
                Step::Add { name, ref text } => {
                    let edit = Edit::Add { name: &[name], modified: None, mode: None, text };
                    let possible = !taken(&model, name, None);
                    prop_assert_eq!(transaction.edit(&edit).ok(), possible.then_some(Some(next)));
                    if possible {
                        model.insert(next, (vec![name], text.clone()));
                        next += 1;
                    }
                }
                Step::Remove { document } => {
                    let possible = model.remove(&document).is_some();
                    prop_assert_eq!(transaction.edit(&Edit::Remove { document }).is_ok(), possible);
                }
                Step::Rename { document, name } => {
                    let edit = Edit::Rename { document, name: &[name] };
                    let free = !taken(&model, name, Some(document));
                    let old = model.get_mut(&document).filter(|_| free);
                    let possible = old.is_some();
                    old.into_iter().for_each(|(old, _)| *old = vec![name]);
                    prop_assert_eq!(transaction.edit(&edit).is_ok(), possible);
                }
            }
            // Also where the edit was not possible, and has changed nothing.
            let mut expected: Vec<(&[u8], u32, usize)> =
                model.iter().map(|(&number, (name, text))| (&name[..], number, text.len())).collect();
            expected.sort_unstable();
            let documents = transaction.documents();
            let found = documents.iter().map(|document| {
                let number = transaction.find(&document.name).unwrap();
                (&document.name[..], number, document.bytes as usize)
            });
            prop_assert_eq!(found.collect::<Vec<_>>(), expected);
        }
        for (&number, (name, _)) in &model {
            prop_assert_eq!(transaction.find(name).unwrap(), number);
        }
        let by_name: BTreeMap<Vec<u8>, Vec<u8>> = model.into_values().collect();
        prop_assert_eq!(texts(&mut transaction), by_name.into_values().collect::<Vec<_>>());
    }
}

/// The plain way: for each byte of the old text and for its end, what comes before it and whether it goes.
fn plainly(old: &[u8], document: u32, edits: &[Edit<'_>]) -> Vec<u8> {
    let mut before: Vec<Vec<u8>> = vec![Vec::new(); old.len() + 1];
    let mut goes = vec![false; old.len()];
    for edit in edits {
        let (of, offset, length, text): (_, _, _, &[u8]) = match *edit {
            Edit::Insert { document, offset, text } => (document, offset, 0, text),
            Edit::Append { document, text } => (document, old.len() as u64, 0, text),
            Edit::Delete { document, offset, length } => (document, offset, length, &[]),
            Edit::Replace { document, offset, length, text } => (document, offset, length, text),
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
        let (_folder, mut transaction) = begin(numbered(&[b"abcdef".to_vec()]));
        transaction.edit_together(&edits).unwrap();
        assert_eq!(texts(&mut transaction), [expected.as_bytes()]);
    }
}

#[test]
fn edits_are_checked_against_the_text_before() {
    let (_folder, mut transaction) = begin(numbered(&[b"abc".to_vec()]));
    let append = Edit::Append { document: 0, text: b"def" };
    let delete = Edit::Delete { document: 0, offset: 2, length: 2 };
    let mut refused = |edits: &[Edit<'_>]| transaction.edit_together(edits).unwrap_err();
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
        let (_folder, mut transaction) = begin(numbered(&old));
        transaction.edit_together(&edits).unwrap();
        let expected = (0..).zip(&old).map(|(number, old)| plainly(old, number, &edits));
        prop_assert_eq!(texts(&mut transaction), expected.collect::<Vec<_>>());
        prop_assert!(transaction.pending().edits <= edits.len() as u64);
    }
}
