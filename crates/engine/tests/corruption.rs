//! A damaged archive gives an error or what was compressed, never a panic and never other text; one
//! made to harm, with checksums that hold, gives an error or some text in bounded time and memory.

use std::path::Path;

use tadoc_engine::{Builder, CompressOptions, Corpus, Level, Lexer};
use tadoc_oracle::{Case, cases};
use tadoc_testing::archives::{SEGMENT_AN_INPUT, compress_with, one_thread};
use tadoc_testing::mend_checksums;
#[cfg(target_os = "linux")]
use tadoc_testing::peak_memory;

type Contents = Vec<(Vec<u8>, Vec<u8>)>;

/// An archive, and what is in it.
struct Subject {
    name: String,
    bytes: Vec<u8>,
    contents: Contents,
}

impl Subject {
    fn new(name: &str, documents: &[(String, Vec<u8>)], options: &CompressOptions) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("subject.tdc");
        compress_with(documents, &path, options);
        let contents = read(&path).unwrap();
        Self { name: name.into(), bytes: std::fs::read(&path).unwrap(), contents }
    }
}

/// Small archives that together have every lexer, builder and level, and one of several segments.
fn subjects() -> Vec<Subject> {
    use {Builder::*, Level::*, Lexer::*};
    let cases = cases();
    let case = |name: &str| -> &Case {
        cases.iter().find(|case| case.name == name).unwrap_or_else(|| panic!("no case {name}"))
    };
    let mut subjects: Vec<Subject> = [
        ("recipes", Words, RePair, Fast),
        ("letters", Words, RePair, Dense),
        ("revisions", Whitespace, Sequitur, Fast),
        ("recipes", Whitespace, Sequitur, Dense),
    ]
    .into_iter()
    .map(|(name, lexer, builder, level)| {
        let options = CompressOptions { lexer, builder, level, ..one_thread() };
        Subject::new(name, &case(name).documents, &options)
    })
    .collect();
    let segments = CompressOptions { memory: Some(SEGMENT_AN_INPUT), ..one_thread() };
    let subject = Subject::new("recipes in segments", &case("recipes").documents, &segments);
    subjects.push(subject);
    subjects
}

/// All documents, if the archive gives them.
fn read(path: &Path) -> tadoc_engine::Result<Contents> {
    let corpus = Corpus::open(path)?;
    let documents = corpus.documents()?;
    let mut contents = Vec::with_capacity(documents.len());
    for (number, document) in documents.iter().enumerate() {
        let mut bytes = Vec::new();
        corpus.write_documents(&[number], &mut bytes, &())?;
        contents.push((document.name.clone(), bytes));
    }
    Ok(contents)
}

fn verify(path: &Path) -> tadoc_engine::Result<()> {
    Corpus::open(path)?.verify(&()).map(|_| ())
}

/// Calls `each` with an archive that has a bit flipped, for bits all over it.
fn for_each_flip(bytes: &[u8], step: usize, mut each: impl FnMut(usize, &mut Vec<u8>)) {
    for position in (0..bytes.len()).step_by(step) {
        let mut damaged = bytes.to_vec();
        damaged[position] ^= 1 << ((position / step) % 8);
        each(position, &mut damaged);
    }
}

/// Fails unless the archive is refused, or right; tells whether it is refused by the one who verifies.
#[track_caller]
fn check(subject: &Subject, damaged: &[u8], path: &Path, how: &str) -> bool {
    std::fs::write(path, damaged).unwrap();
    if let Ok(found) = read(path) {
        assert!(found == subject.contents, "{}, {how}: other text", subject.name);
    }
    verify(path).is_err()
}

#[test]
fn a_flipped_bit_is_noticed_or_does_no_harm() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("damaged.tdc");
    for subject in subjects() {
        let mut unnoticed = 0;
        for_each_flip(&subject.bytes, 1, |position, damaged| {
            let how = format!("flipped at {position}");
            unnoticed += usize::from(!check(&subject, damaged, &path, &how));
        });
        // Only the zeros that pad sections are under no checksum.
        std::fs::write(&path, &subject.bytes).unwrap();
        let sections = Corpus::open(&path).unwrap().info().sections.len();
        assert!(unnoticed <= 7 * sections, "{}: {unnoticed} flips unnoticed", subject.name);
    }
}

#[test]
fn a_part_of_an_archive_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("damaged.tdc");
    for subject in subjects() {
        for length in 0..subject.bytes.len() {
            std::fs::write(&path, &subject.bytes[..length]).unwrap();
            assert!(read(&path).is_err(), "{}, {length} bytes of it", subject.name);
        }
    }
}

#[test]
fn bytes_behind_the_end_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("damaged.tdc");
    for subject in subjects() {
        for garbage in [&b"\n"[..], &[0xA5; 5000], &subject.bytes] {
            std::fs::write(&path, [&subject.bytes, garbage].concat()).unwrap();
            let refused = read(&path);
            assert!(refused.is_err(), "{}, {} bytes more", subject.name, garbage.len());
        }
        // Zeros are what a power loss leaves of an edit that was never acknowledged: they do not count.
        for zeros in [1, 5000] {
            std::fs::write(&path, [&subject.bytes[..], &vec![0; zeros]].concat()).unwrap();
            assert!(read(&path).unwrap() == subject.contents, "{}, {zeros} zeros", subject.name);
        }
    }
}

#[test]
fn a_larger_archive_is_no_different() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("damaged.tdc");
    let cases = cases();
    let sample = cases.iter().find(|case| case.name == "sample").unwrap();
    let subject = Subject::new("sample", &sample.documents, &CompressOptions::default());
    let step = subject.bytes.len() / 150;
    for_each_flip(&subject.bytes, step, |position, damaged| {
        check(&subject, damaged, &path, &format!("flipped at {position}"));
        mend_checksums(damaged);
        harmless(damaged, &path);
    });
    for length in (0..subject.bytes.len()).step_by(step) {
        std::fs::write(&path, &subject.bytes[..length]).unwrap();
        assert!(read(&path).is_err(), "{length} bytes of it");
    }
}

/// A document that goes on in a second segment.
#[test]
fn a_document_in_two_segments_is_no_different() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("damaged.tdc");
    let line = b"the same line again and again\n";
    let text: Vec<u8> = line.iter().copied().cycle().take(line.len() * 300_000).collect();
    let options = CompressOptions { memory: Some(SEGMENT_AN_INPUT), ..one_thread() };
    let subject = Subject::new("two segments", &[("text".into(), text)], &options);
    std::fs::write(&path, &subject.bytes).unwrap();
    assert_eq!(Corpus::open(&path).unwrap().info().segments.len(), 2);
    let step = subject.bytes.len() / 60;
    for_each_flip(&subject.bytes, step, |position, damaged| {
        check(&subject, damaged, &path, &format!("flipped at {position}"));
        mend_checksums(damaged);
        harmless(damaged, &path);
    });
}

/// Reads an archive whose checksums hold and whose content may be anything.
#[track_caller]
fn harmless(archive: &[u8], path: &Path) {
    std::fs::write(path, archive).unwrap();
    let (read, verified) = (read(path), verify(path));
    assert!(verified.is_err() || read.is_ok(), "verified, yet it cannot be read: {read:?}");
    let copy = path.with_extension("copy");
    let transcoded = tadoc_engine::transcode(path, &copy, Level::Fast, true, &());
    if let (Ok(read), Ok(())) = (&read, &verified) {
        assert!(transcoded.is_ok(), "what can be read can be transcoded: {transcoded:?}");
        assert!(&self::read(&copy).unwrap() == read, "transcoded, it is another text");
    }
}

#[test]
fn flips_behind_good_checksums_do_no_harm() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("hostile.tdc");
    for subject in subjects() {
        for_each_flip(&subject.bytes, 2, |_, damaged| {
            mend_checksums(damaged);
            harmless(damaged, &path);
        });
        for length in (0..subject.bytes.len()).step_by(5) {
            let mut damaged = subject.bytes.clone();
            damaged.remove(length);
            mend_checksums(&mut damaged);
            harmless(&damaged, &path);
        }
    }
    #[cfg(target_os = "linux")]
    assert!(peak_memory() < 2 << 30, "{} bytes at the peak", peak_memory());
}
