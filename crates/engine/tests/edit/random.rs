//! Random operations over archives of every kind.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use tadoc_core::archive::Archive;
use tadoc_engine::access::{self, Index};
use tadoc_engine::update::RecompressOptions;
use tadoc_engine::{Corpus, Editor};
use tadoc_oracle::Random;

use super::access_support::INDEXES;
use super::archives::Setup;
use super::model::Model;
use super::script::Script;
use super::texts::Kind;
use super::whole;

/// Operations of all these tests together, at the least.
const OPERATIONS: usize = 160_000;
/// Operations between two looks at everything.
const BETWEEN: usize = 120;

/// How an archive is opened for editing.
pub type Opener = dyn Fn(&Path) -> Editor + Sync;

/// One archive, edited again and again; gives how many operations that took.
fn run(seed: u64, segments: u64, open: &Opener) -> usize {
    let mut random = Random::new(seed);
    let kind = if random.below(3) == 0 { Kind::Letters } else { Kind::Snippets };
    let mut setup = Setup::at_random(&mut random);
    setup.segments = segments;
    let most = 1 << random.below(9);
    let documents: Vec<(String, Vec<u8>)> = (0..random.below(9))
        .map(|number| (format!("d{:02}", number * 2), kind.text(&mut random, most)))
        .collect();
    let model = Model::new(setup.lexer, documents);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("c.tdc");
    setup.make(&model, &path, &mut random);
    let mut script = Script::new(seed, model, kind);
    let mut editor = open(&path);
    let mut made = 0;
    for round in 0..6 {
        let what = format!("seed {seed}, {segments} segments, round {round}, {setup:?}");
        made += script.run(&editor, BETWEEN, &what);
        // As it is in memory, and as others see it.
        if random.below(3) == 0 {
            whole::check_texts(&editor.begin().unwrap().corpus().unwrap(), &script.model, &what);
        }
        whole::check_file(&path, &script.model, &what);
        let threads = Some(1 + random.below(2) as usize);
        let index = match random.below(3) {
            0 => Some(*random.choose(&INDEXES)),
            _ => None,
        };
        let options = RecompressOptions { index, threads, ..Default::default() };
        match random.below(6) {
            0 => {
                let report = editor.recompress(&options, &()).unwrap();
                assert_eq!(report.documents, script.model.documents.len() as u64, "{what}");
                assert_eq!(editor.begin().unwrap().pending().edits, 0, "{what}");
                whole::check_file(&path, &script.model, &format!("{what}, recompressed"));
            }
            1 => {
                drop(editor);
                let before = Archive::open(&path).unwrap().index();
                options.recompress(&path, &()).unwrap();
                let corpus = Corpus::open(&path).unwrap();
                if !corpus.info().segments.is_empty() {
                    let found = Archive::open(&path).unwrap().index();
                    assert_eq!(found, index.unwrap_or(before), "{what}");
                }
                whole::check(&corpus, &script.model, &format!("{what}, recompressed"));
                editor = open(&path);
            }
            2 => {
                drop(editor);
                access::store(&path, Index::Fast, &()).unwrap();
                editor = open(&path);
            }
            3 => {
                drop(editor);
                editor = open(&path);
            }
            _ => {}
        }
    }
    made
}

/// Runs seeds until there were enough operations.
pub fn run_many(
    first_seed: u64,
    operations: usize,
    segments: impl Fn(u64) -> u64 + Sync,
    open: &Opener,
) {
    let (made, next) = (AtomicUsize::new(0), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while made.load(Ordering::Relaxed) < operations {
                    let seed = first_seed + next.fetch_add(1, Ordering::Relaxed) as u64;
                    made.fetch_add(run(seed, segments(seed), open), Ordering::Relaxed);
                }
            });
        }
    });
    let seeds = next.into_inner();
    println!("{} operations, {seeds} seeds", made.into_inner());
    assert!(seeds * 2000 > operations);
}

fn plainly(path: &Path) -> Editor {
    Editor::open(path).unwrap()
}

#[test]
fn one_segment_equals_plain_text() {
    run_many(0, OPERATIONS / 2, |_| 1, &plainly);
}

#[test]
fn several_segments_equal_plain_text() {
    run_many(1_000_000, OPERATIONS / 2, |seed| 2 + seed % 6, &plainly);
}
