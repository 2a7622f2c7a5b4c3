//! Batches of reads and edits on a GPU: reads are answered there, and snapshots are put in order there.

use std::path::Path;

use tadoc_engine::Editor;
use tadoc_engine::backend::Choice;
use tadoc_engine::gpu::testing::device;

use super::random::run_many;

/// Operations of each of these tests, at the least.
const OPERATIONS: usize = 10_000;

fn on_a_device(path: &Path) -> Editor {
    let mut editor = Editor::open(path).unwrap();
    editor.set_device(device(), Choice::Gpu);
    editor
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
