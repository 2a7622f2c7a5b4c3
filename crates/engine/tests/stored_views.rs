//! Views stored beside archives: they give the same answers, and one that is damaged or of another archive is
//! refused, never believed.

use std::fs;
use std::path::{Path, PathBuf};

use tadoc_core::Network;
use tadoc_engine::analytics::answer;
use tadoc_engine::answer::{Labels, Names, Position, Value};
use tadoc_engine::view::{Detail, Origin, open, store};
use tadoc_engine::{
    Analyzer, CompressOptions, Corpus, Error, Level, Limits, OpenOptions, Task, View,
};
use tadoc_oracle::{Random, cases};
use tadoc_testing::archives::{SEGMENT_AN_INPUT, compress_with, one_thread};

fn compress(path: &Path, documents: &[(String, Vec<u8>)]) {
    compress_with(documents, path, &one_thread());
}

/// The rows of a task, as text.
fn rows(corpus: &Corpus, view: &View, task: Task) -> Vec<String> {
    let documents = corpus.documents().unwrap();
    let names: Vec<&[u8]> = documents.iter().map(|document| &document.name[..]).collect();
    let names = Names::from_iter(names.iter());
    let labels = Labels { terms: view.terms().texts(), documents: names.texts() };
    let answered = answer(view, task, &Limits::default()).unwrap();
    let mut all = Vec::new();
    let mut at = Position::default();
    while let Some(rows) = answered.answer.next_part(&mut at, labels).unwrap() {
        rows.visit(0..rows.len(), &mut |row: &[Value<'_>]| all.push(format!("{row:?}")));
    }
    all
}

const TASKS: [Task; 4] =
    [Task::WordCount, Task::Sort, Task::TermVector, Task::RankedInvertedIndex { n: 2 }];

fn view_of(archive: &Path) -> PathBuf {
    let mut path = archive.as_os_str().to_owned();
    path.push(".view");
    path.into()
}

#[test]
fn stored_views_give_the_same_answers() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("case.tdc");
    let fold = Analyzer::new().fold_case(true);
    for case in cases().into_iter().step_by(3) {
        compress(&path, &case.documents);
        let corpus = Corpus::open(&path).unwrap();
        let chosen: Vec<u32> = (0..case.documents.len() as u32).step_by(2).collect();
        let questions = [(&Analyzer::new(), None), (&fold, None), (&fold, Some(&chosen[..]))];
        let _ = fs::remove_file(view_of(&path));
        let expected = questions.map(|(analyzer, documents)| {
            let made = open(&[&corpus], analyzer, documents, Detail::Whole, &()).unwrap();
            assert!(matches!(made.1, Origin::Archive));
            TASKS.map(|task| rows(&corpus, &made.0, task))
        });
        let bytes = store(&corpus, &()).unwrap();
        assert_eq!(bytes, fs::metadata(view_of(&path)).unwrap().len());
        for ((analyzer, documents), expected) in questions.into_iter().zip(expected) {
            let (view, origin) = open(&[&corpus], analyzer, documents, Detail::Whole, &()).unwrap();
            assert!(matches!(origin, Origin::Stored));
            assert_eq!(TASKS.map(|task| rows(&corpus, &view, task)), expected, "{}", case.name);
            let (view, origin) =
                open(&[&corpus], analyzer, documents, Detail::Counts, &()).unwrap();
            assert!(matches!(origin, Origin::Stored));
            for (task, expected) in TASKS.into_iter().zip(expected).take(2) {
                assert_eq!(rows(&corpus, &view, task), expected, "{}", case.name);
            }
            // Without documents, nothing is said about them, unless there is one.
            let refused = answer(&view, Task::TermVector, &Limits::default()).err();
            match view.network().documents().len() {
                1 => assert!(refused.is_none(), "{}", case.name),
                _ => assert!(matches!(refused, Some(tadoc_engine::Error::CountsOnly))),
            }
        }
    }
}

#[test]
fn damaged_views_are_refused_and_the_archive_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("case.tdc");
    let case = cases().into_iter().max_by_key(|case| case.documents.len().min(50)).unwrap();
    compress(&path, &case.documents);
    let corpus = Corpus::open(&path).unwrap();
    let whole = |detail| open(&[&corpus], &Analyzer::new(), None, detail, &()).unwrap();
    let expected = rows(&corpus, &whole(Detail::Whole).0, Task::WordCount);
    store(&corpus, &()).unwrap();
    let stored = fs::read(view_of(&path)).unwrap();
    let mut damages: Vec<Vec<u8>> = Vec::new();
    for place in (0..stored.len()).step_by(stored.len() / 61 + 1).chain([stored.len() - 1]) {
        let mut bytes = stored.clone();
        bytes[place] ^= 0x10;
        damages.push(bytes);
    }
    for length in [0, 1, 100, 256, 300, stored.len() / 2, stored.len() - 1] {
        damages.push(stored[..length].to_vec());
    }
    damages.push([&stored[..], b"more"].concat());
    for bytes in damages {
        fs::write(view_of(&path), &bytes).unwrap();
        let (view, origin) = whole(Detail::Whole);
        assert!(matches!(origin, Origin::Refused(_)), "{origin:?}");
        assert_eq!(rows(&corpus, &view, Task::WordCount), expected);
        // Counts do not look at the root, so damage there does not matter to them.
        let (view, _) = whole(Detail::Counts);
        assert_eq!(rows(&corpus, &view, Task::WordCount), expected);
    }
}

#[test]
fn a_view_of_another_archive_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.tdc");
    let text = |words: &str| vec![("text".to_string(), words.as_bytes().to_vec())];
    compress(&path, &text("one two two"));
    store(&Corpus::open(&path).unwrap(), &()).unwrap();
    compress(&path, &text("one two three"));
    let corpus = Corpus::open(&path).unwrap();
    let (view, origin) = open(&[&corpus], &Analyzer::new(), None, Detail::Whole, &()).unwrap();
    let Origin::Refused(error) = origin else { panic!("{origin:?}") };
    let Error::Archive(tadoc_core::Error::StoredView { path: told, source }) = &*error else {
        panic!("{error:?}");
    };
    assert_eq!(*told, path.with_extension("tdc.view"));
    assert!(source.to_string().contains("of another archive"), "{source}");
    assert_eq!(view.terms().len(), 3);
}

/// What is decoded into files is what is decoded into memory.
#[test]
fn views_that_spill_are_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("large.tdc");
    let mut random = Random::new(3);
    let documents: Vec<(String, Vec<u8>)> = (0..12)
        .map(|number| {
            let words = (0..15_000).map(|_| {
                let most = 1 + random.below(1 << 17);
                format!("{}{:x} ", ["w", "W"][random.below(2) as usize], random.below(most))
            });
            (format!("{number:02}"), words.collect::<String>().into_bytes())
        })
        .collect();
    let fold = Analyzer::new().fold_case(true);
    let chosen = Some(&[1, 2, 7, 11][..]);
    let segments = Some(SEGMENT_AN_INPUT);
    for (level, memory) in [(Level::Fast, None), (Level::Dense, None), (Level::Fast, segments)] {
        compress_with(&documents, &path, &CompressOptions { level, memory, ..one_thread() });
        let in_memory = Corpus::open(&path).unwrap();
        let options = OpenOptions::new().spill_beside(&path);
        let spilling = Corpus::open_with(&path, &options).unwrap();
        for (analyzer, documents) in [(&Analyzer::new(), None), (&fold, None), (&fold, chosen)] {
            for detail in [Detail::Whole, Detail::Counts] {
                let view = |corpus| open(&[corpus], analyzer, documents, detail, &()).unwrap().0;
                let (view, expected) = (view(&spilling), view(&in_memory));
                assert!(view.network().grammar().spill().is_on());
                assert!(!expected.network().grammar().spill().is_on());
                assert!(view.terms() == expected.terms());
                let (network, expected) = (view.network(), expected.network());
                assert!(network.grammar() == expected.grammar());
                assert!(network.lengths() == expected.lengths());
                assert_eq!(network.levels(), expected.levels());
                assert_eq!(network.parts(), expected.parts());
                assert_eq!(network.documents(), expected.documents());
                let counts = |network: &Network| network.root_counts_or(Vec::new).to_vec();
                assert!(counts(network) == counts(expected));
            }
        }
    }
    // The folder shows nothing of the files.
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}
