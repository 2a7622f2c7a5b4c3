//! Views stored beside archives: they give the same answers, and one that is damaged or of another archive is
//! refused, never believed.

use std::fs;
use std::path::{Path, PathBuf};

use tadoc_engine::analytics::answer;
use tadoc_engine::answer::{Labels, Names, Position, Value};
use tadoc_engine::view::{Detail, Origin, open, store};
use tadoc_engine::{Analyzer, CompressOptions, Corpus, Input, Limits, Source, Task, View};
use tadoc_oracle::cases;

fn compress(path: &Path, documents: &[(String, Vec<u8>)]) {
    let input = |(name, bytes): &(String, Vec<u8>)| {
        Input::new(name.as_bytes(), Source::Bytes(bytes.clone()))
    };
    let options = CompressOptions { force: true, ..Default::default() };
    tadoc_engine::compress(documents.iter().map(input).collect(), path, &options, &()).unwrap();
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
            assert_eq!(made.1, Origin::Archive);
            TASKS.map(|task| rows(&corpus, &made.0, task))
        });
        let bytes = store(&corpus, &()).unwrap();
        assert_eq!(bytes, fs::metadata(view_of(&path)).unwrap().len());
        for ((analyzer, documents), expected) in questions.into_iter().zip(expected) {
            let (view, origin) = open(&[&corpus], analyzer, documents, Detail::Whole, &()).unwrap();
            assert_eq!(origin, Origin::Stored);
            assert_eq!(TASKS.map(|task| rows(&corpus, &view, task)), expected, "{}", case.name);
            let (view, origin) =
                open(&[&corpus], analyzer, documents, Detail::Counts, &()).unwrap();
            assert_eq!(origin, Origin::Stored);
            for (task, expected) in TASKS.into_iter().zip(expected).take(2) {
                assert_eq!(rows(&corpus, &view, task), expected, "{}", case.name);
            }
            // Without documents, nothing is said about them.
            assert!(matches!(
                answer(&view, Task::TermVector, &Limits::default()).err(),
                Some(tadoc_engine::Error::CountsOnly)
            ));
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
    assert!(matches!(origin, Origin::Refused(reason) if reason.contains("index --view")));
    assert_eq!(view.terms().len(), 3);
}
