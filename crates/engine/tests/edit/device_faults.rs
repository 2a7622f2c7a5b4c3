//! Batches of reads and edits on a device that is lost, that is small, or whose memory runs out: by choice the processor goes on, and if a GPU is
//! asked for, a batch is made as a whole or not at all.

use std::path::Path;
use std::sync::Arc;

use tadoc_engine::access::{Access, DeviceAccess, Index};
use tadoc_engine::backend::Choice;
use tadoc_engine::gpu::testing::{open_faulty, spread};
use tadoc_engine::update::{BatchOptions, Operation, Outcome};
use tadoc_engine::{Builder, Corpus, Durability, Edit, Editor, Error, Level, Lexer, Offsets};
use tadoc_oracle::Random;

use super::archives::Setup;
use super::model::Model;
use super::script::Script;
use super::texts::Kind;
use super::whole;

/// Documents in an archive of about so many segments.
fn archive(path: &Path, seed: u64, segments: u64) -> Model {
    let mut random = Random::new(seed);
    let documents: Vec<(String, Vec<u8>)> = (0..7)
        .map(|number| (format!("d{:02}", number * 2), Kind::Snippets.text(&mut random, 60)))
        .collect();
    let (builder, level) = (Builder::RePair, Level::Fast);
    let setup = Setup { lexer: Lexer::Words, builder, level, index: Index::None, segments };
    let model = Model::new(setup.lexer, documents);
    setup.make(&model, path, &mut random);
    model
}

/// Random operations equal those on plain text, whatever happens to the device.
#[test]
fn the_processor_goes_on() {
    let Some((device, faults)) = open_faulty(u64::MAX) else { return };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("c.tdc");
    let mut random = Random::new(37);
    let mut with_faults = 0;
    for seed in 0..12 {
        let model = archive(&path, seed, 1 + seed % 4);
        let mut script = Script::new(seed, model, Kind::Snippets);
        let mut editor = Editor::open(&path).unwrap();
        editor.set_device(Some(Arc::clone(&device)), Choice::Auto);
        for round in 0..10 {
            let failed = faults.failed();
            match round % 3 {
                0 => faults.lose_after(random.below(1000)),
                1 => faults.fill_after(random.below(1000)),
                _ => faults.set_memory(random.below(30_000)),
            }
            let what = format!("seed {seed}, round {round}");
            script.run(&editor, 40, &what);
            with_faults += usize::from(faults.failed() > failed);
            faults.mend();
            assert_eq!(faults.taken(), 0, "{what}");
            whole::check_texts(&Corpus::open(&path).unwrap(), &script.model, &what);
        }
    }
    assert!(with_faults > 40, "{with_faults} rounds with faults");
}

/// Reads and edits, of which the edits are to be made together or in sequence.
fn batch() -> Vec<Operation> {
    let document = |number: usize| format!("d{:02}", number * 2 % 14).into_bytes();
    let mut operations = Vec::new();
    for number in 0..40 {
        let text = format!("<{number}>").into_bytes();
        operations.push(match number % 5 {
            0 => Operation::Append { document: document(number), text },
            1 => Operation::Insert { document: document(number), offset: 0, text },
            2 => Operation::Extract { document: document(number), offset: 0, length: 30 },
            3 => Operation::Count { document: None, phrase: b"be".to_vec() },
            _ => Operation::Search { document: Some(document(number)), phrase: b"be".to_vec() },
        });
    }
    operations
}

/// Runs one batch.
fn run(
    editor: &Editor,
    offsets: Offsets,
) -> tadoc_engine::Result<Vec<tadoc_engine::Result<Outcome>>> {
    let (mut next, mut found) = (Some(batch()), Vec::new());
    let options = BatchOptions { offsets, durability: Durability::None, ..Default::default() };
    editor.run(&mut || Ok(next.take()), options, &mut |outcomes| {
        found.extend(outcomes);
        Ok(())
    })?;
    Ok(found)
}

fn texts(path: &Path) -> Vec<Vec<u8>> {
    let corpus = Corpus::open(path).unwrap();
    let text = |place: usize| {
        let mut text = Vec::new();
        corpus.write_documents(&[place], &mut text, &()).unwrap();
        text
    };
    (0..corpus.documents().unwrap().len()).map(text).collect()
}

#[test]
fn a_batch_is_made_as_a_whole_or_not_at_all() {
    let Some((device, faults)) = open_faulty(u64::MAX) else { return };
    let folder = tempfile::tempdir().unwrap();
    let [fresh, path] = ["fresh.tdc", "c.tdc"].map(|name| folder.path().join(name));
    archive(&fresh, 5, 3);
    let before = texts(&fresh);
    let open = |choice: Choice| {
        std::fs::copy(&fresh, &path).unwrap();
        let mut editor = Editor::open(&path).unwrap();
        editor.set_device((choice != Choice::Cpu).then(|| Arc::clone(&device)), choice);
        editor
    };
    for offsets in [Offsets::Sequence, Offsets::Snapshot] {
        let on_processor = run(&open(Choice::Cpu), offsets).unwrap();
        let expected: Vec<Outcome> = on_processor.into_iter().map(Result::unwrap).collect();
        let after = texts(&path);
        assert_ne!(before, after);
        // Once to compile kernels.
        let whole = [(); 2].map(|()| {
            let calls = faults.calls();
            let found = run(&open(Choice::Gpu), offsets).unwrap();
            let found: Vec<Outcome> = found.into_iter().map(Result::unwrap).collect();
            assert_eq!(found, expected);
            assert_eq!(texts(&path), after);
            faults.calls() - calls
        });
        let mut refused = 0;
        for calls in spread(whole[1], 60) {
            let editor = open(Choice::Auto);
            faults.lose_after(calls);
            let found = run(&editor, offsets).unwrap();
            faults.mend();
            let found: Vec<Outcome> = found.into_iter().map(Result::unwrap).collect();
            assert_eq!((found, texts(&path)), (expected.clone(), after.clone()), "{calls}");
            drop(editor);
            let editor = open(Choice::Gpu);
            faults.lose_after(calls);
            let found = run(&editor, offsets);
            faults.mend();
            drop(editor);
            let is_lost = |error: &Error| matches!(error, Error::Gpu { what } if what.contains("the device was lost"));
            match found {
                // Edits were made, and reads that were not answered say so.
                Ok(found) => {
                    assert_eq!(texts(&path), after, "{calls}");
                    let mut lost = 0;
                    for (found, expected) in found.iter().zip(&expected) {
                        match found {
                            Ok(found) => assert_eq!(found, expected),
                            Err(error) => {
                                assert!(is_lost(error) && *expected != Outcome::Done, "{error}");
                                lost += 1;
                            }
                        }
                    }
                    assert!(lost > 0, "{calls}");
                }
                Err(error) => {
                    assert!(is_lost(&error), "{error}");
                    assert_eq!(texts(&path), before, "{calls}");
                    refused += 1;
                }
            }
            assert_eq!(faults.taken(), 0);
        }
        assert!(refused > 5, "{offsets:?}: {refused} refused");
    }
}

/// All documents as a device has them.
fn texts_on_device(on_device: &DeviceAccess, documents: usize) -> Vec<Vec<u8>> {
    use tadoc_engine::access::{Operation, Outcome};
    let all = |document| Operation::Extract { document, offset: 0, length: u64::MAX };
    let asked: Vec<Operation> = (0..documents as u32).map(all).collect();
    let bytes = |outcome: tadoc_engine::Result<Outcome>| match outcome {
        Ok(Outcome::Bytes(bytes)) => bytes,
        other => panic!("{other:?}"),
    };
    on_device.run(&asked).into_iter().map(bytes).collect()
}

#[test]
fn inserts_are_made_in_all_segments_or_in_none() {
    let Some((device, faults)) = open_faulty(u64::MAX) else { return };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("c.tdc");
    archive(&path, 11, 4);
    let corpus = Corpus::open(&path).unwrap();
    let access = Arc::new(Access::open(&corpus, Index::None).unwrap());
    assert!(access.segment_count() > 2);
    let before = texts(&path);
    let edits: Vec<Edit<'_>> = (0..before.len() as u32)
        .flat_map(|document| {
            let text = &b"inserted"[..];
            [Edit::Insert { document, offset: 0, text }, Edit::Append { document, text }]
        })
        .collect();
    let after: Vec<Vec<u8>> =
        before.iter().map(|text| [b"inserted", &text[..], b"inserted"].concat()).collect();
    // Once to compile kernels.
    let whole = [(); 2].map(|()| {
        let mut on_device = DeviceAccess::new(Arc::clone(&access), Arc::clone(&device)).unwrap();
        let calls = faults.calls();
        on_device.edit_together(&edits).unwrap();
        let calls = faults.calls() - calls;
        assert_eq!(texts_on_device(&on_device, before.len()), after);
        calls
    });
    let faulted = |fault: &dyn Fn(), said: &str| {
        let mut on_device = DeviceAccess::new(Arc::clone(&access), Arc::clone(&device)).unwrap();
        let taken = faults.taken();
        fault();
        let failed = match on_device.edit_together(&edits) {
            Ok(()) => false,
            Err(Error::Gpu { what }) => {
                assert!(what.contains(said), "{what}");
                // What was made before it failed is given back.
                assert_eq!(faults.taken(), taken);
                true
            }
            Err(error) => panic!("{error}"),
        };
        faults.mend();
        if failed {
            assert_eq!(texts_on_device(&on_device, before.len()), before);
            on_device.edit_together(&edits).unwrap();
        }
        assert_eq!(texts_on_device(&on_device, before.len()), after);
        drop(on_device);
        assert_eq!(faults.taken(), 0);
        failed
    };
    for calls in spread(whole[1], 60) {
        assert!(faulted(&|| faults.lose_after(calls), "the device was lost"), "{calls}");
    }
    let full = |calls| faulted(&|| faults.fill_after(calls), "bytes of memory free");
    let failed = spread(whole[1], 30).into_iter().filter(|&calls| full(calls)).count();
    assert!(failed > 10, "{failed} failed");
}
