//! Batches of reads and edits on a GPU: reads are answered there, and snapshots are put in order there.

use std::path::Path;
use std::sync::Arc;

use proptest::prelude::*;
use tadoc_engine::backend::Choice;
use tadoc_engine::gpu::Device;
use tadoc_engine::gpu::testing::device;
use tadoc_engine::{Durability, Edit, Editor};

use super::plain::{begin, numbered};
use super::random::run_many;

/// Operations of each of these tests, at the least.
const OPERATIONS: usize = 10_000;

fn open(path: &Path, device: Option<Arc<Device>>) -> Editor {
    let mut editor = Editor::open(path).unwrap();
    editor.set_device(device, Choice::Gpu);
    editor
}

fn on_a_device(path: &Path) -> Editor {
    open(path, device())
}

#[test]
fn one_segment_equals_plain_text() {
    if device().is_some() {
        run_many(2_000_000, OPERATIONS, |_| 1, &on_a_device);
    }
}

#[test]
fn several_segments_equal_plain_text() {
    if device().is_some() {
        run_many(3_000_000, OPERATIONS, |seed| 2 + seed % 6, &on_a_device);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_sequence_is_that_of_the_processor(
        old in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 1..6),
        given in prop::collection::vec(
            (any::<prop::sample::Index>(), any::<prop::sample::Index>(), 0..40_u8, "[a-z]{0,5}"),
            0..600,
        ),
    ) {
        let Some(device) = device() else { return Ok(()) };
        let edits = given.iter().map(|(document, offset, kind, text)| {
            let document = document.index(old.len());
            let offset = offset.index(old[document].len() + 1) as u64;
            let (document, text) = (document as u32, text.as_bytes());
            match kind {
                0..30 => Edit::Insert { document, offset, text },
                _ => Edit::Append { document, text },
            }
        });
        let edits: Vec<Edit<'_>> = edits.collect();
        let [expected, found] = [None, Some(device)].map(|device| {
            let (folder, transaction) = begin(numbered(&old));
            drop(transaction);
            let path = folder.path().join("c.tdc");
            let mut transaction = open(&path, device).begin().unwrap();
            transaction.edit_together(&edits).unwrap();
            transaction.commit(Durability::None).unwrap();
            std::fs::read(path).unwrap()
        });
        prop_assert!(found == expected, "the journal is another one");
    }
}

#[test]
fn what_is_wrong_is_told_alike() {
    let Some(device) = device() else { return };
    let (folder, transaction) = begin(numbered(&[b"abc".to_vec()]));
    drop(transaction);
    let text = b"def";
    for edits in [
        [Edit::Append { document: 1, text }, Edit::Append { document: 0, text }],
        [Edit::Append { document: 0, text }, Edit::Insert { document: 0, offset: 4, text }],
        [Edit::Append { document: 0, text }, Edit::Delete { document: 0, offset: 2, length: 2 }],
        [Edit::Append { document: 0, text }, Edit::Remove { document: 0 }],
    ] {
        let [expected, found] = [None, Some(device.clone())].map(|device| {
            let editor = open(&folder.path().join("c.tdc"), device);
            editor.begin().unwrap().edit_together(&edits).unwrap_err().to_string()
        });
        assert_eq!(found, expected);
    }
}
