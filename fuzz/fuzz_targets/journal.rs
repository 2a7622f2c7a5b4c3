//! Any bytes behind an archive, as they are or with checksums that hold: an error, or edits which come back when they are written again,
//! and a journal that can be gone on with.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tadoc_core::archive::{Edit, Journal, JournalWriter};
use tadoc_core::storage::SimulatedStorage;
use tadoc_core::{Error, Result};

fuzz_target!(|data: &[u8]| {
    let [choice, journal @ ..] = data else { return };
    // Journals start anywhere in a sector.
    let start = usize::from(choice >> 1) * 9;
    let mut bytes = vec![b'a'; start];
    bytes.extend_from_slice(journal);
    if choice & 1 == 0 {
        tadoc_testing::mend_journal(&mut bytes, start);
    }
    let length = bytes.len();
    let start = start as u64;
    let storage = SimulatedStorage::new(bytes);
    let Ok((journal, mut writer)) = JournalWriter::over(storage.clone(), start) else { return };
    assert!(start + journal.bytes() + journal.torn() == length as u64);
    let Ok(mut edits) = edits(&journal) else { return };

    let other = SimulatedStorage::default();
    let (_, mut again) = JournalWriter::over(other.clone(), 0).expect("an empty file");
    journal.replay(|edit| again.push(&edit)).expect("what can be read can be written");
    again.commit(true).expect("there is room");
    let (copy, _) = JournalWriter::over(other, 0).expect("a whole journal");
    assert!(self::edits(&copy).expect("whole edits") == edits, "edits do not come back");

    let edit = Edit::Append { document: 1, text: b"one more" };
    edits.push(format!("{edit:?}"));
    writer.push(&edit).expect("an edit");
    writer.commit(true).expect("there is room");
    let (longer, _) = JournalWriter::over(storage, start).expect("a whole journal");
    assert!(longer.transactions() == journal.transactions() + 1 && longer.torn() == 0);
    assert!(self::edits(&longer).expect("whole edits") == edits, "other edits before the last");
});

/// All edits of a journal, in words.
fn edits(journal: &Journal) -> Result<Vec<String>> {
    let mut edits = Vec::new();
    journal.replay(|edit| {
        edits.push(format!("{edit:?}"));
        Ok::<(), Error>(())
    })?;
    assert!(edits.len() as u64 == journal.edit_count());
    Ok(edits)
}
