//! A damaged index gives an error or the right answer, never a panic; one made to harm, with checksums that hold, gives an
//! error or some answer in bounded time.

use std::path::Path;

use tadoc_engine::access::{Access, Index, Operation, Scope, store};
use tadoc_engine::{Analyzer, CompressOptions, Corpus};
use tadoc_oracle::cases;
use tadoc_testing::archives::{SEGMENT_AN_INPUT, compress_with, one_thread};
use tadoc_testing::mend_checksums;

/// An archive of several segments with an index, and where the index starts in it.
fn indexed(folder: &Path, index: Index) -> (Vec<u8>, usize) {
    let path = folder.join("indexed.tdc");
    let cases = cases();
    let case = cases.iter().find(|case| case.name == "recipes").expect("a case of that name");
    let options = CompressOptions { memory: Some(SEGMENT_AN_INPUT), ..one_thread() };
    compress_with(&case.documents, &path, &options);
    // The index is behind all that was there; only the table of sections follows it.
    let plain = std::fs::metadata(&path).unwrap().len() as usize;
    store(&path, index, &()).unwrap();
    let sections = Corpus::open(&path).unwrap().info().sections.len();
    assert!(sections > 4);
    (std::fs::read(&path).unwrap(), plain - 40 * sections)
}

/// Asks for all kinds of things; gives all that was answered.
fn ask(path: &Path) -> tadoc_engine::Result<Vec<String>> {
    let corpus = Corpus::open(path)?;
    let access = Access::open(&corpus, Index::Fast)?;
    let mut answers = Vec::new();
    for document in 0..access.documents().len() as u32 {
        let bytes = access.documents()[document as usize].bytes;
        answers.push(format!("{:?}", access.extract(document, bytes / 3, 50)?));
        let line = access.line_of(document, bytes / 2)?;
        answers.push(format!("{line} {}", access.line_start(document, line)?));
    }
    let word =
        access.sample(1, 7, &Scope::All)?.pop().map(|sampled| sampled.word).unwrap_or_default();
    for text in [&b"the"[..], b"of the", &word] {
        let phrase = access.phrase(text, &Analyzer::new())?;
        answers.push(format!("{:?}", access.count_by_document(&phrase, &Scope::All)?));
        answers.push(format!("{}", access.count(&phrase, &Scope::All)?));
    }
    answers.push(format!("{:?}", access.find(b"the oven", &Analyzer::new(), &Scope::All, 5)?));
    let mut operations = vec![Operation::Sample { document: None, count: 30, seed: 1 }];
    let longest = (0..).zip(access.documents()).max_by_key(|(_, document)| document.bytes);
    let document = longest.map_or(0, |(number, _)| number);
    for offset in 0..40 {
        operations.push(Operation::Extract { document, offset, length: 64 });
        operations.push(Operation::Search { document: None, phrase: word.clone() });
    }
    access.load()?;
    for result in access.run(&operations) {
        answers.push(format!("{:?}", result?));
    }
    Ok(answers)
}

#[test]
fn damage_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    for index in [Index::Small, Index::Fast] {
        let (bytes, start) = indexed(folder.path(), index);
        let path = folder.path().join("damaged.tdc");
        std::fs::write(&path, &bytes).unwrap();
        let expected = ask(&path).unwrap();
        Corpus::open(&path).unwrap().verify(&()).unwrap();
        let mut noticed = 0;
        for position in (start..bytes.len()).step_by(bytes.len() / 150) {
            let mut damaged = bytes.clone();
            damaged[position] ^= 1 << (position % 8);
            std::fs::write(&path, &damaged).unwrap();
            let verified = Corpus::open(&path).and_then(|corpus| corpus.verify(&()).map(drop));
            noticed += u32::from(verified.is_err());
            if let Ok(found) = ask(&path) {
                assert!(found == expected, "{index:?}, byte {position}: another answer");
            }
        }
        // Bytes between sections are nobody's.
        assert!(noticed > 50, "{noticed}");
    }
}

#[test]
fn an_index_made_to_harm_does_none() {
    let folder = tempfile::tempdir().unwrap();
    let mut refused = 0;
    for index in [Index::Small, Index::Fast] {
        let (bytes, start) = indexed(folder.path(), index);
        let path = folder.path().join("hostile.tdc");
        for position in (start..bytes.len()).step_by(bytes.len() / 700) {
            for change in [0xFF, 0x01, 0x80] {
                let mut hostile = bytes.clone();
                hostile[position] ^= change;
                mend_checksums(&mut hostile);
                std::fs::write(&path, &hostile).unwrap();
                refused += u32::from(ask(&path).is_err());
            }
        }
    }
    assert!(refused > 100, "{refused}");
}

#[test]
fn verifying_compares_an_index_with_the_text() {
    let folder = tempfile::tempdir().unwrap();
    let (bytes, start) = indexed(folder.path(), Index::Fast);
    let path = folder.path().join("wrong.tdc");
    let mut noticed = 0;
    for position in (start..bytes.len()).step_by(bytes.len() / 40) {
        let mut wrong = bytes.clone();
        wrong[position] ^= 0x04;
        mend_checksums(&mut wrong);
        std::fs::write(&path, &wrong).unwrap();
        let verified = Corpus::open(&path).and_then(|corpus| corpus.verify(&()).map(drop));
        noticed += u32::from(verified.is_err());
    }
    assert!(noticed > 20, "{noticed}");
}

#[test]
fn an_index_can_be_replaced_and_taken_away() {
    let folder = tempfile::tempdir().unwrap();
    let (bytes, _) = indexed(folder.path(), Index::Fast);
    let path = folder.path().join("indexed.tdc");
    let answers = ask(&path).unwrap();
    let mut lengths = Vec::new();
    for index in [Index::None, Index::Small, Index::Fast, Index::None] {
        lengths.push(store(&path, index, &()).unwrap());
        assert_eq!(
            Access::open(&Corpus::open(&path).unwrap(), Index::Fast).unwrap().index(),
            index
        );
        assert_eq!(ask(&path).unwrap(), answers);
        Corpus::open(&path).unwrap().verify(&()).unwrap();
    }
    assert_eq!(lengths[2], bytes.len() as u64);
    assert!(lengths[0] == lengths[3] && lengths[0] < lengths[1] && lengths[1] < lengths[2]);
    // Nothing is left beside it.
    let names = std::fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(names, 1);
}
