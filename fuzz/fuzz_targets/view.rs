//! Any bytes as a stored view of an archive, with checksums that hold: it is refused, or tasks have answers,
//! without a panic, and in bounded time and memory.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use tadoc_core::archive::Archive;
use tadoc_engine::answer::{Labels, Names, Position, Value};
use tadoc_engine::view::{Detail, open};
use tadoc_engine::{Analyzer, Corpus, Limits};
use tadoc_testing::TASKS;

/// The words of a corpus may be anything, and so may its documents: no more are asked for.
const ENOUGH: u64 = 1 << 16;

/// An archive of as many documents as seeds have.
static CORPUS: LazyLock<Corpus> = LazyLock::new(|| tadoc_fuzz::corpus("view.tdc"));

/// What a view has of its archive, so that it is taken for its view.
static FINGERPRINT: LazyLock<[u64; 2]> = LazyLock::new(|| {
    LazyLock::force(&CORPUS);
    let archive = Archive::open(&tadoc_fuzz::scratch("view.tdc")).expect("the archive is whole");
    archive.fingerprint()
});

fuzz_target!(|data: &[u8]| {
    let corpus = &*CORPUS;
    let mut view = data.to_vec();
    if let Some(place) = view.get_mut(24..40) {
        for (number, place) in FINGERPRINT.iter().zip(place.chunks_exact_mut(8)) {
            place.copy_from_slice(&number.to_le_bytes());
        }
    }
    tadoc_testing::mend_view(&mut view);
    std::fs::write(tadoc_fuzz::scratch("view.tdc.view"), &view).expect("a scratch file");
    let names: Names = (0..tadoc_fuzz::DOCUMENTS).map(|_| "name").collect();
    let fold = Analyzer::new().fold_case(true);
    for (analyzer, detail) in [(&fold, Detail::Whole), (&Analyzer::new(), Detail::Counts)] {
        let Ok((view, _)) = open(&[corpus], analyzer, None, detail, &()) else { continue };
        if view.network().length() > ENOUGH {
            continue;
        }
        let labels = Labels { terms: view.terms().texts(), documents: names.texts() };
        // Counts are enough for the first two.
        for task in &TASKS[..if detail == Detail::Counts { 2 } else { TASKS.len() }] {
            let Ok(answered) = tadoc_engine::analytics::answer(&view, *task, &Limits::default())
            else {
                continue;
            };
            let mut at = Position::default();
            while let Some(rows) = answered.answer.next_part(&mut at, labels).unwrap() {
                rows.visit(0..rows.len(), &mut |row: &[Value<'_>]| assert!(!row.is_empty()));
            }
        }
    }
});
