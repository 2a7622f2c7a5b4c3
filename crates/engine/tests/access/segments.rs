//! Archives of several segments: documents and phrases that go on from one to the next are whole.

use tadoc_engine::access::{Access, Index, Scope, store};
use tadoc_engine::{Analyzer, Builder, Corpus, Lexer, SegmentInfo};
use tadoc_oracle::{Document, Oracle};
use tadoc_testing::archives::{compress, least_memory, oracle_lexer, thread_pool};
use tadoc_testing::numbered;

use super::support::{Questions, for_each_index, places};

/// Text that is cut is cut after so many bytes.
const BATCH: usize = 8 << 20;

/// Words, and then separators until the text is so long. Few words make a long text, so that the plain program is
/// not kept busy.
fn stretched(words: &str, length: usize) -> Vec<u8> {
    let mut text = words.as_bytes().to_vec();
    text.resize(length, b' ');
    text
}

/// A document whose words are on both sides of the places where it is cut, with some before and after it.
pub fn long_documents() -> Vec<Document> {
    let passage = "to be or not to be\nthat is the question ".repeat(5);
    let long = [
        stretched(&passage, BATCH - 7),
        // This one is cut among its words.
        stretched(&format!("{passage} whether tis nobler {passage}"), BATCH),
        stretched("in the\nmind ", BATCH),
        passage.clone().into_bytes(),
    ];
    numbered([
        b"to be or not".to_vec(),
        long.concat(),
        Vec::new(),
        b"to be".to_vec(),
        [stretched("the question\n", BATCH), stretched("that is ", BATCH / 2), b"the end".to_vec()]
            .concat(),
        b" ".to_vec(),
    ])
}

#[test]
fn documents_and_phrases_that_go_on_are_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("segments.tdc");
    let least = least_memory(&path);
    let documents = long_documents();
    // Over the places where text is cut, and over the ends of documents, which nothing crosses.
    let phrases: [&[u8]; 9] = [
        b"to",
        b"question",
        b"the question to be",
        b"question whether",
        b"to be or not to be that is the question in the mind",
        b"the question in the mind to be or not to be",
        b"mind to be",
        b"the question that is the end",
        b"or not to be or not",
    ];
    for (lexer, builder) in
        [(Lexer::Words, Builder::RePair), (Lexer::Whitespace, Builder::Sequitur)]
    {
        let segments = compress(&documents, &path, lexer, builder, Some(least)).unwrap();
        assert!(segments >= 6, "{segments} segments");
        let oracle = Oracle::new(oracle_lexer(lexer), &documents);
        let expected = phrases.map(|phrase| oracle.search_all(phrase));
        assert!(expected.iter().filter(|places| !places.is_empty()).count() > 6);
        let length = documents[1].1.len();
        let analyzer = Analyzer::new();
        for_each_index(&path, |access, what| {
            for (phrase, expected) in phrases.iter().zip(&expected) {
                let made = access.phrase(phrase, &analyzer).unwrap();
                assert_eq!(places(access, &made, &Scope::All), *expected, "{what}: {phrase:?}");
                let one = Scope::Documents(vec![1]);
                let in_one = expected.iter().filter(|(document, _)| *document == 1).count();
                assert_eq!(access.count(&made, &one).unwrap(), in_one as u64, "{what}");
            }
            for (offset, wanted) in
                [(0, length), (BATCH - 100, 200), (2 * BATCH - 50, 300), (length - 20, 40)]
            {
                let found = access.extract(1, offset as u64, wanted as u64).unwrap();
                assert!(found == oracle.extract(1, offset, wanted).unwrap(), "{what}: {offset}");
            }
            for document in [1, 4] {
                let lines = oracle.line_count(document);
                assert_eq!(access.line_count(document as u32).unwrap(), lines as u64, "{what}");
                for line in 0..=lines {
                    let start = oracle.line_start(document, line);
                    let found = access.line_start(document as u32, line as u64).unwrap();
                    assert_eq!(found, start as u64, "{what}: line {line}");
                    let found = access.line_of(document as u32, start as u64).unwrap();
                    assert_eq!(found, oracle.line_of(document, start) as u64, "{what}: {start}");
                }
            }
            let found = access.find(b"nobler mind", &analyzer, &Scope::All, 9).unwrap();
            let found: Vec<(usize, f64)> =
                found.iter().map(|found| (found.document as usize, found.score)).collect();
            let ranked = oracle.find(b"nobler mind");
            super::support::assert_ranked(&found, &ranked, &ranked, what);
            for drawn in access.sample(20, 3, &Scope::All).unwrap() {
                let (document, offset) = (drawn.document as usize, drawn.offset as usize);
                let bytes = oracle.extract(document, offset, drawn.word.len()).unwrap();
                assert!(bytes == drawn.word, "{what}: {drawn:?}");
            }
        });
    }
}

/// Nearly every document a segment of its own.
#[test]
fn many_segments_equal_the_oracle() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("many.tdc");
    let least = least_memory(&path);
    let texts = (0..40).map(|number: usize| {
        let words = (0..60).map(|word| {
            let gap = if word % 7 == 0 { "\n" } else { " " };
            format!("w{}{gap}", (number * word) % 37 % (word + 1))
        });
        words.collect::<String>().into_bytes()
    });
    let documents = numbered(texts);
    for (builder, threads) in [(Builder::RePair, 1), (Builder::Sequitur, 3)] {
        let segments = compress(&documents, &path, Lexer::Words, builder, Some(least)).unwrap();
        assert!(segments > 10, "{segments}");
        let questions = Questions::new(Lexer::Words, &documents, &Analyzer::new(), segments, 24);
        thread_pool(threads).install(|| {
            for_each_index(&path, |access, what| {
                questions.check(access, &format!("{builder:?} {what}"));
            });
        });
    }
}

/// Where an index says how many words segments have, only those are loaded that have a word.
#[test]
fn segments_without_a_word_are_not_loaded() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("words.tdc");
    let least = least_memory(&path);
    let with_word = [3, 4, 31];
    let texts = (0..40).map(|number: usize| {
        let words = (0..60 + number).map(|word| format!("w{} ", number * word % 37));
        let word = if with_word.contains(&number) { "rare indeed" } else { "" };
        (words.collect::<String>() + word).into_bytes()
    });
    let documents = numbered(texts);
    let segments = compress(&documents, &path, Lexer::Words, Builder::RePair, Some(least)).unwrap();
    let oracle = Oracle::new(oracle_lexer(Lexer::Words), &documents);
    let analyzer = Analyzer::new();
    for index in [Index::Small, Index::Fast] {
        store(&path, index, &()).unwrap();
        let corpus = Corpus::open(&path).unwrap();
        let has_word = |segment: &&SegmentInfo| {
            let own = segment.first_document..segment.first_document + segment.documents;
            with_word.iter().any(|&document| own.contains(&(document as u64)))
        };
        let expected = corpus.info().segments.iter().filter(has_word).count();
        assert!(1 < expected && expected + 5 < segments as usize, "{expected} of {segments}");
        let open = || Access::open(&corpus, Index::Fast).unwrap();
        let access = open();
        for (words, loaded) in
            [(&b"nowhere"[..], 0), (b"rare", expected), (b"rare nowhere", expected)]
        {
            let found = access.find(words, &analyzer, &Scope::All, usize::MAX).unwrap();
            let found: Vec<(usize, f64)> =
                found.iter().map(|found| (found.document as usize, found.score)).collect();
            let ranked = oracle.find(words);
            super::support::assert_ranked(&found, &ranked, &ranked, &format!("{index:?}"));
            assert_eq!(access.loaded_segments(), loaded, "{index:?}: {words:?}");
        }
        for text in [&b"rare"[..], b"rare indeed"] {
            let access = open();
            let phrase = access.phrase(text, &analyzer).unwrap();
            assert_eq!(access.count(&phrase, &Scope::All).unwrap(), 3);
            assert_eq!(places(&access, &phrase, &Scope::All), oracle.search_all(text));
            assert_eq!(access.loaded_segments(), expected, "{index:?}: {text:?}");
        }
        // Of what is everywhere, all are.
        let access = open();
        assert_eq!(access.find(b"w0", &analyzer, &Scope::All, 99).unwrap().len(), 40);
        assert_eq!(access.loaded_segments() as u64, segments);
    }
}
