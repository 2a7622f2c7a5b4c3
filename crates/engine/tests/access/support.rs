//! What all of these tests share: archives with every index, questions, and the oracle's answers to them.

use std::ops::ControlFlow;
use std::path::Path;

use tadoc_engine::access::{self, Access, Index, Scope};
#[cfg(feature = "pool")]
use tadoc_engine::pool::{Patience, Persist};
use tadoc_engine::{Analyzer, Builder, CompressOptions, Corpus, Input, Lexer, Source};
use tadoc_oracle::{Document, Oracle, Random, words};

/// All indexes.
pub const INDEXES: [Index; 3] = [Index::None, Index::Small, Index::Fast];

/// Documents with the numbers 0000 and so on as their names.
pub fn numbered(texts: impl IntoIterator<Item = Vec<u8>>) -> Vec<Document> {
    let texts = texts.into_iter().enumerate();
    texts.map(|(number, bytes)| (format!("{number:04}"), bytes)).collect()
}

/// Compresses documents with one thread; gives how many segments they have become.
pub fn compress(
    documents: &[Document],
    path: &Path,
    lexer: Lexer,
    builder: Builder,
    memory: Option<u64>,
) -> tadoc_engine::Result<u64> {
    let inputs = documents
        .iter()
        .map(|(name, bytes)| Input::new(name.as_bytes(), Source::Bytes(bytes.clone())))
        .collect();
    let options = CompressOptions {
        lexer,
        builder,
        memory,
        threads: Some(1),
        force: true,
        ..Default::default()
    };
    Ok(tadoc_engine::compress(inputs, path, &options, &())?.segments)
}

pub fn oracle_lexer(lexer: Lexer) -> tadoc_oracle::Lexer {
    match lexer {
        Lexer::Words => tadoc_oracle::Lexer::Words,
        Lexer::Whitespace => tadoc_oracle::Lexer::Whitespace,
    }
}

/// The oracle with an analyzer of the engine.
pub fn oracle_with<'d>(lexer: Lexer, documents: &'d [Document], analyzer: &Analyzer) -> Oracle<'d> {
    let own = analyzer.clone();
    Oracle::new(oracle_lexer(lexer), documents)
        .with_analyzer(move |word| own.term(word).map(|term| term.into_owned()))
}

pub fn pool(threads: usize) -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap()
}

/// Calls `each` with the archive opened with every index, each stored in it anew; and in a pool, made with and without one.
pub fn for_each_index(path: &Path, mut each: impl FnMut(&Access, &str)) {
    for index in INDEXES {
        access::store(path, index, &()).unwrap();
        let corpus = Corpus::open(path).unwrap();
        let access = Access::open(&corpus, Index::Fast).unwrap();
        // An archive without segments has nothing to keep.
        if !corpus.info().segments.is_empty() {
            assert_eq!(access.index(), index);
        }
        each(&access, &format!("index {index:?}"));
        #[cfg(feature = "pool")]
        if index != Index::Small {
            let folder = tempfile::tempdir().unwrap();
            let pool = folder.path().join("pool");
            for what in ["made", "used again"] {
                let (access, _) =
                    Access::in_pool(&corpus, &pool, Persist::None, Patience::default()).unwrap();
                each(&access, &format!("in a pool {what} with index {index:?}"));
            }
        }
    }
}

/// All places of a phrase, as the engine visits them.
pub fn places(access: &Access, phrase: &access::Phrase, scope: &Scope) -> Vec<(usize, usize)> {
    let mut places = Vec::new();
    let visited = access.search(phrase, scope, &mut |document, offsets| {
        assert!(!offsets.is_empty(), "a call without offsets");
        places.extend(offsets.iter().map(|&offset| (document as usize, offset as usize)));
        ControlFlow::Continue(())
    });
    visited.unwrap();
    assert!(places.is_sorted_by(|one, other| one < other), "not in order");
    places
}

/// Some documents: the first, the last, and some between.
fn some_documents(random: &mut Random, count: usize, most: usize) -> Vec<usize> {
    let mut chosen: Vec<usize> = match count <= most {
        true => (0..count).collect(),
        false => {
            (0..most).map(|_| random.below(count as u64) as usize).chain([0, count - 1]).collect()
        }
    };
    chosen.sort_unstable();
    chosen.dedup();
    chosen
}

/// A question about bytes or lines, with its answer.
#[derive(Debug)]
enum Bytes {
    Extract { document: usize, offset: usize, length: u64, bytes: Vec<u8> },
    Lines { document: usize, count: usize },
    LineStart { document: usize, line: usize, offset: usize },
    LineOf { document: usize, offset: usize, line: usize },
}

/// A phrase, with its places.
#[derive(Debug)]
struct Search {
    phrase: Vec<u8>,
    places: Vec<(usize, usize)>,
}

/// Words, and the documents that fit them best with their scores.
type Find = (Vec<u8>, Vec<(usize, f64)>);

/// Questions of all kinds about a corpus, and the oracle's answers.
pub struct Questions<'d> {
    documents: &'d [Document],
    bytes: Vec<Bytes>,
    searches: Vec<Search>,
    finds: Vec<Find>,
    analyzer: Analyzer,
}

impl<'d> Questions<'d> {
    /// Makes about `count` questions of each kind.
    pub fn new(
        lexer: Lexer,
        documents: &'d [Document],
        analyzer: &Analyzer,
        seed: u64,
        count: u64,
    ) -> Self {
        let mut random = Random::new(seed);
        let oracle = oracle_with(lexer, documents, analyzer);
        let bytes = bytes_questions(&mut random, &oracle, documents, count);
        let mut searches = Vec::new();
        for phrase in phrases(&mut random, lexer, documents, analyzer, count) {
            let places = oracle.search_all(&phrase);
            searches.push(Search { phrase, places });
        }
        // What is left out of documents changes their lengths, which has a test of its own.
        let finds = if analyzer.is_identity() { count.min(6) } else { 0 };
        let finds = (0..finds).map(|number| {
            let some: Vec<Vec<u8>> = (0..=number % 4)
                .filter_map(|_| searches.get(random.below(searches.len().max(1) as u64) as usize))
                .map(|search| search.phrase.clone())
                .collect();
            let words = some.join(&b", "[..]);
            let found = oracle.find(&words);
            (words, found)
        });
        let finds = finds.collect();
        Self { documents, bytes, searches, finds, analyzer: analyzer.clone() }
    }

    /// Asks them all.
    pub fn check(&self, access: &Access, what: &str) {
        for question in &self.bytes {
            self.check_bytes(access, question, what);
        }
        for (number, search) in self.searches.iter().enumerate() {
            self.check_search(access, search, number, what);
        }
        for (words, expected) in &self.finds {
            self.check_find(access, words, expected, what);
        }
    }

    fn check_bytes(&self, access: &Access, question: &Bytes, what: &str) {
        let told = || format!("{what}: {question:?}");
        match *question {
            Bytes::Extract { document, offset, length, ref bytes } => {
                let found = access.extract(document as u32, offset as u64, length).unwrap();
                assert!(found == *bytes, "{}: {found:?}", told());
                let mut written = Vec::new();
                let end = (offset as u64).saturating_add(length);
                let count = access.write(document as u32, offset as u64..end, &mut written);
                assert_eq!(count.unwrap(), bytes.len() as u64, "{}", told());
                assert!(written == *bytes, "{}: {written:?}", told());
            }
            Bytes::Lines { document, count } => {
                assert_eq!(access.line_count(document as u32).unwrap(), count as u64, "{}", told());
            }
            Bytes::LineStart { document, line, offset } => {
                let found = access.line_start(document as u32, line as u64).unwrap();
                assert_eq!(found, offset as u64, "{}", told());
            }
            Bytes::LineOf { document, offset, line } => {
                let found = access.line_of(document as u32, offset as u64).unwrap();
                assert_eq!(found, line as u64, "{}", told());
            }
        }
    }

    fn check_search(&self, access: &Access, search: &Search, number: usize, what: &str) {
        let Search { phrase: text, places: expected } = search;
        let told = || format!("{what}: {:?}", String::from_utf8_lossy(text));
        let phrase = access.phrase(text, &self.analyzer).unwrap();
        let found = places(access, &phrase, &Scope::All);
        assert_eq!(found, *expected, "{}", told());
        assert_eq!(
            access.count(&phrase, &Scope::All).unwrap(),
            expected.len() as u64,
            "{}",
            told()
        );
        assert_eq!(
            access.count_by_document(&phrase, &Scope::All).unwrap(),
            counted(expected),
            "{}",
            told()
        );
        // Some of the documents: none, one in which it is, and every third.
        let count = self.documents.len() as u32;
        let one = match expected.get(number % expected.len().max(1)) {
            Some(&(document, _)) => vec![document as u32],
            None => Vec::new(),
        };
        let third = (0..count).filter(|document| document % 3 == number as u32 % 3).collect();
        for chosen in [Vec::new(), one, third] {
            let of_chosen: Vec<(usize, usize)> = expected
                .iter()
                .copied()
                .filter(|(document, _)| chosen.contains(&(*document as u32)))
                .collect();
            let told = || format!("{} in {chosen:?}", told());
            let scope = Scope::Documents(chosen.clone());
            assert_eq!(places(access, &phrase, &scope), of_chosen, "{}", told());
            assert_eq!(
                access.count(&phrase, &scope).unwrap(),
                of_chosen.len() as u64,
                "{}",
                told()
            );
            let by_document = access.count_by_document(&phrase, &scope).unwrap();
            assert_eq!(by_document, counted(&of_chosen), "{}", told());
        }
        // Whoever has seen enough is not shown more.
        let mut seen = 0;
        let ended = access.search(&phrase, &Scope::All, &mut |_, _| {
            seen += 1;
            ControlFlow::Break(())
        });
        ended.unwrap();
        assert_eq!(seen, usize::from(!expected.is_empty()), "{}", told());
    }

    fn check_find(&self, access: &Access, words: &[u8], expected: &[(usize, f64)], what: &str) {
        let told = || format!("{what}: find {:?}", String::from_utf8_lossy(words));
        for most in [1, 3, usize::MAX] {
            let found = match access.find(words, &self.analyzer, &Scope::All, most) {
                // No word is left to find documents by.
                Err(tadoc_engine::Error::NoWord { .. }) if expected.is_empty() => continue,
                found => found.unwrap(),
            };
            let found: Vec<(usize, f64)> =
                found.iter().map(|found| (found.document as usize, found.score)).collect();
            assert_ranked(&found, &expected[..most.min(expected.len())], expected, &told());
        }
    }
}

/// Fails if documents are not those expected. Where two scores differ by rounding alone, either order is right.
pub fn assert_ranked(
    found: &[(usize, f64)],
    expected: &[(usize, f64)],
    all: &[(usize, f64)],
    what: &str,
) {
    let close = |one: f64, other: f64| (one - other).abs() <= 1e-9 * one.abs().max(1.0);
    assert_eq!(found.len(), expected.len(), "{what}\n{found:?}\n{expected:?}");
    for (place, (one, other)) in found.iter().zip(expected).enumerate() {
        assert!(close(one.1, other.1), "{what}, {place}: {one:?}, not {other:?}");
        let own = all.iter().find(|(document, _)| *document == one.0);
        assert!(own.is_some_and(|own| close(own.1, one.1)), "{what}, {place}: {one:?}");
    }
    // Equal scores, which no rounding has made, are in the order of the corpus.
    for pair in found.windows(2) {
        let ordered = pair[0].1 > pair[1].1 || pair[0].1 == pair[1].1 && pair[0].0 < pair[1].0;
        assert!(ordered, "{what}: {pair:?}");
    }
}

fn counted(places: &[(usize, usize)]) -> Vec<(u32, u64)> {
    let documents = places.chunk_by(|one, other| one.0 == other.0);
    documents.map(|places| (places[0].0 as u32, places.len() as u64)).collect()
}

fn bytes_questions(
    random: &mut Random,
    oracle: &Oracle<'_>,
    documents: &[Document],
    count: u64,
) -> Vec<Bytes> {
    let mut questions = Vec::new();
    for document in some_documents(random, documents.len(), 20) {
        let bytes = documents[document].1.len();
        let lines = oracle.line_count(document);
        questions.push(Bytes::Lines { document, count: lines });
        let mut extract = |offset: usize, length: u64| {
            let kept = usize::try_from(length).unwrap_or(usize::MAX);
            let found = oracle.extract(document, offset, kept).unwrap().to_vec();
            questions.push(Bytes::Extract { document, offset, length, bytes: found });
        };
        for (offset, length) in [(0, u64::MAX), (bytes, 9), (0, 0), (bytes.saturating_sub(1), 1)] {
            extract(offset, length);
        }
        for _ in 0..count {
            let offset = random.below(bytes as u64 + 1) as usize;
            extract(offset, random.rank() - 1);
            extract(offset, random.below(200));
        }
        for number in 0..count {
            let line = match number {
                0..4 => number as usize,
                4..8 => (lines + 5).saturating_sub(number as usize),
                _ => random.below(lines as u64 + 2) as usize,
            };
            let offset = oracle.line_start(document, line);
            questions.push(Bytes::LineStart { document, line, offset });
            let offset = match number {
                0 => bytes,
                _ => random.below(bytes as u64 + 1) as usize,
            };
            let line = oracle.line_of(document, offset);
            questions.push(Bytes::LineOf { document, offset, line });
        }
    }
    questions
}

/// Words and phrases: at beginnings, ends and anywhere, over the ends of documents, and some that do not occur.
fn phrases(
    random: &mut Random,
    lexer: Lexer,
    documents: &[Document],
    analyzer: &Analyzer,
    count: u64,
) -> Vec<Vec<u8>> {
    let lexer = oracle_lexer(lexer);
    let of_documents: Vec<Vec<&[u8]>> = some_documents(random, documents.len(), 20)
        .into_iter()
        .map(|document| {
            let bytes = &documents[document].1[..];
            words(lexer, bytes).into_iter().map(|word| &bytes[word]).collect()
        })
        .collect();
    let mut phrases: Vec<Vec<&[u8]>> = vec![vec![b"nowhere0"], vec![b"nowhere0", b"nowhere0"]];
    for document in of_documents.iter().filter(|words| !words.is_empty()) {
        for length in [1, 2, 3, 8] {
            let length = length.min(document.len());
            phrases.push(document[..length].to_vec());
            phrases.push(document[document.len() - length..].to_vec());
        }
        phrases.push(vec![document[0], b"nowhere0"]);
    }
    for pair in of_documents.windows(2) {
        if let (Some(last), Some(first)) = (pair[0].last(), pair[1].first()) {
            phrases.push(vec![last, first]);
        }
    }
    // Of many documents, some of these are enough.
    while phrases.len() as u64 > 2 * count {
        let place = random.below(phrases.len() as u64) as usize;
        phrases.swap_remove(place);
    }
    let full: Vec<&Vec<&[u8]>> = of_documents.iter().filter(|words| !words.is_empty()).collect();
    for number in 0..count {
        if full.is_empty() {
            break;
        }
        let document = random.choose(&full);
        let length = [1, 1, 2, 3, 5, 12][number as usize % 6].min(document.len());
        let start = random.below((document.len() - length + 1) as u64) as usize;
        phrases.push(document[start..start + length].to_vec());
    }
    // What is all removed is no phrase.
    phrases.retain(|phrase| phrase.iter().any(|word| analyzer.term(word).is_some()));
    let gaps: [&[u8]; 3] = [b" ", b"\n", b" \t "];
    phrases.iter().enumerate().map(|(number, phrase)| phrase.join(gaps[number % 3])).collect()
}
