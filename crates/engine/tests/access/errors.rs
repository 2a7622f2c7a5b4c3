//! What must be refused, and how it is told.

use tadoc_engine::access::{self, Access, Index, Scope};
use tadoc_engine::{Analyzer, Builder, Corpus, Error, Language, Lexer, StopWords};
use tadoc_testing::archives::compress;
use tadoc_testing::numbered;

use super::support::for_each_index;

#[test]
fn offsets_past_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("text.tdc");
    let documents = numbered([b"to be".to_vec(), Vec::new()]);
    compress(&documents, &path, Lexer::Words, Builder::RePair, None).unwrap();
    for_each_index(&path, |access, what| {
        assert_eq!(access.extract(0, 5, 1).unwrap(), b"", "{what}");
        assert_eq!(access.extract(1, 0, u64::MAX).unwrap(), b"", "{what}");
        for (document, past, bytes) in [(0, 6, 5), (0, u64::MAX, 5), (1, 1, 0)] {
            match access.extract(document, past, 0) {
                Err(Error::OffsetPastEnd { offset, bytes: found, name }) => {
                    assert_eq!((offset, found), (past, bytes), "{what}");
                    assert_eq!(name, format!("{document:04}").as_bytes(), "{what}");
                }
                other => panic!("{what}: {other:?}"),
            }
        }
    });
}

#[test]
fn documents_that_are_not_there() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("text.tdc");
    compress(&numbered([b"to be".to_vec()]), &path, Lexer::Words, Builder::RePair, None).unwrap();
    for_each_index(&path, |access, what| {
        let phrase = access.phrase(b"to", &Analyzer::new()).unwrap();
        assert!(access.extract(1, 0, 1).is_err(), "{what}");
        assert!(access.write(1, 0..1, &mut Vec::new()).is_err(), "{what}");
        assert!(access.line_count(7).is_err(), "{what}");
        assert!(access.line_start(1, 0).is_err(), "{what}");
        assert!(access.line_of(u32::MAX, 0).is_err(), "{what}");
        for wrong in [vec![1], vec![0, 0], vec![0, u32::MAX]] {
            let scope = Scope::Documents(wrong);
            assert!(access.count(&phrase, &scope).is_err(), "{what}: {scope:?}");
            assert!(access.count_by_document(&phrase, &scope).is_err(), "{what}: {scope:?}");
            assert!(access.sample(1, 1, &scope).is_err(), "{what}: {scope:?}");
            assert!(access.find(b"to", &Analyzer::new(), &scope, 1).is_err(), "{what}: {scope:?}");
            let searched =
                access.search(&phrase, &scope, &mut |_, _| std::ops::ControlFlow::Continue(()));
            assert!(searched.is_err(), "{what}: {scope:?}");
        }
    });
}

#[test]
fn what_is_no_phrase() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("text.tdc");
    let documents = numbered([b"to be, or it's not".to_vec()]);
    let none = Analyzer::new();
    compress(&documents, &path, Lexer::Words, Builder::RePair, None).unwrap();
    let corpus = Corpus::open(&path).unwrap();
    let access = Access::open(&corpus, Index::None).unwrap();
    for wordless in ["", " ", "\n\t", "...", "\u{a0}", "👩"] {
        let refused = access.phrase(wordless.as_bytes(), &none);
        assert!(matches!(refused, Err(Error::NoWord { .. })), "{wordless:?}: {refused:?}");
    }
    for (text, words, count) in [
        ("it's", "it s", 2),
        ("be, or", "be or", 2),
        ("(be)", "be", 1),
        ("be.", "be", 1),
        ("a-b c/d", "a b c d", 4),
    ] {
        match access.phrase(text.as_bytes(), &none) {
            Err(Error::NotWords { count: found, words: told, given }) => {
                assert_eq!((found, &told[..], &given[..]), (count, words, text.as_bytes()));
            }
            other => panic!("{text:?}: {other:?}"),
        }
    }
    // Stop words are no words to look for, where nothing else is given.
    let stop = Analyzer::new().stop_words(StopWords::of(Language::English).unwrap());
    assert!(access.phrase(b"to be", &stop).is_err());
    assert!(access.phrase(b"to sea", &stop).is_ok());
    assert!(access.phrase(b" to \n be ", &none).is_ok());

    // For the other lexer these are words.
    compress(&documents, &path, Lexer::Whitespace, Builder::RePair, None).unwrap();
    let corpus = Corpus::open(&path).unwrap();
    let access = Access::open(&corpus, Index::None).unwrap();
    for text in ["it's", "be, or", "(be)"] {
        assert!(access.phrase(text.as_bytes(), &none).is_ok(), "{text}");
    }
    assert!(matches!(access.phrase(b" \x0b", &none), Err(Error::NoWord { .. })));
}

#[test]
fn indexes_are_kept_replaced_and_removed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("text.tdc");
    let documents = numbered([b"to be or not to be".repeat(100)]);
    compress(&documents, &path, Lexer::Words, Builder::RePair, None).unwrap();
    let before = std::fs::read(&path).unwrap();
    for (index, larger) in [(Index::Small, true), (Index::Fast, true), (Index::None, false)] {
        access::store(&path, index, &()).unwrap();
        let corpus = Corpus::open(&path).unwrap();
        corpus.verify(&()).unwrap();
        assert_eq!(Access::open(&corpus, Index::Fast).unwrap().index(), index);
        let length = std::fs::metadata(&path).unwrap().len();
        assert_eq!(length > before.len() as u64, larger, "{index:?}");
    }
    // Without an index the archive is what it was.
    assert!(std::fs::read(&path).unwrap() == before);
    assert!(access::store(folder.path().join("missing.tdc"), Index::Fast, &()).is_err());
    std::fs::write(folder.path().join("no.tdc"), "no archive").unwrap();
    assert!(access::store(folder.path().join("no.tdc"), Index::Fast, &()).is_err());
    assert_eq!(std::fs::read(folder.path().join("no.tdc")).unwrap(), b"no archive");
}
