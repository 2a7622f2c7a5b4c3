//! Searching for terms: case, stems and stop words, in phrases too.

use tadoc_engine::access::{Bm25, Query, Scope, find};
use tadoc_engine::{Analyzer, Builder, Language, Lexer, StopWords};
use tadoc_oracle::{Case, cases};

use super::support::{
    Questions, assert_ranked, compress, for_each_index, numbered, oracle_with, places, pool,
};

fn analyzers() -> Vec<Analyzer> {
    let english = || StopWords::of(Language::English).unwrap();
    vec![
        Analyzer::new().fold_case(true),
        Analyzer::new().stop_words(english()),
        Analyzer::new().stem(Some(Language::English)).stop_words(english()),
    ]
}

fn english() -> Case {
    let text = "The cats, the CAT and a dog: connections connected, Connecting cats.\n".repeat(4);
    let texts = (0..9).map(|number| match number % 4 {
        3 => Vec::new(),
        _ => text.as_bytes()[number * 3..text.len() - number * 7].to_vec(),
    });
    Case { name: "english".to_owned(), documents: numbered(texts.collect::<Vec<_>>()) }
}

#[test]
fn terms_equal_the_oracle() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("case.tdc");
    let mut small = cases();
    small.retain(|case| case.name == "sample" || case.size() < 20_000);
    small.push(english());
    for (number, case) in small.iter().enumerate() {
        let lexer = [Lexer::Words, Lexer::Whitespace][number % 2];
        let builder = [Builder::RePair, Builder::Sequitur][number / 2 % 2];
        compress(&case.documents, &path, lexer, builder, None).unwrap();
        for (which, analyzer) in analyzers().iter().enumerate() {
            let questions = Questions::new(lexer, &case.documents, analyzer, number as u64, 8);
            pool(1 + number % 3).install(|| {
                for_each_index(&path, |access, what| {
                    let what = format!("{} {lexer:?}, analyzer {which}, {what}", case.name);
                    questions.check(access, &what);
                });
            });
        }
    }
}

#[test]
fn phrases_skip_over_what_is_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("english.tdc");
    let documents = english().documents;
    compress(&documents, &path, Lexer::Words, Builder::RePair, None).unwrap();
    let phrases: [&[u8]; 7] = [
        b"cat and dog",
        b"CAT dog",
        b"the cat the cat",
        b"Connection connects",
        b"dogs a connection",
        b"cats cat the",
        b"cat connecting",
    ];
    for (which, analyzer) in analyzers().iter().enumerate() {
        let oracle = oracle_with(Lexer::Words, &documents, analyzer);
        let expected = phrases.map(|phrase| oracle.search_all(phrase));
        for_each_index(&path, |access, what| {
            for (phrase, expected) in phrases.iter().zip(&expected) {
                let made = access.phrase(phrase, analyzer).unwrap();
                let found = places(access, &made, &Scope::All);
                let text = String::from_utf8_lossy(phrase);
                assert_eq!(found, *expected, "{what}: {text:?}, analyzer {which}");
            }
        });
    }
    // With stems and without stop words, some of them are there.
    let oracle = oracle_with(Lexer::Words, &documents, &analyzers()[2]);
    assert!(phrases[..5].iter().all(|phrase| oracle.count_all(phrase) > 0));
}

/// The documents that are asked are the corpus: their number, their lengths in terms, and what is in them.
#[test]
fn ranks_are_those_of_the_scope() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sample.tdc");
    let sample = cases().into_iter().find(|case| case.name == "sample").unwrap();
    compress(&sample.documents, &path, Lexer::Words, Builder::RePair, None).unwrap();
    let count = sample.documents.len() as u32;
    let odd: Vec<u32> = (0..count).filter(|number| number % 2 == 1).collect();
    for (which, analyzer) in [Analyzer::new()].into_iter().chain(analyzers()).enumerate() {
        for chosen in [odd.clone(), vec![count - 1], (0..count).collect()] {
            let oracle = oracle_with(Lexer::Words, &sample.documents, &analyzer)
                .with_documents(chosen.iter().map(|&number| number as usize));
            for words in [&b"tide gauge"[..], b"The level of the water, the the", b"unicorn 2024"] {
                let expected = oracle.find(words);
                for_each_index(&path, |access, what| {
                    let scope = Scope::Documents(chosen.clone());
                    let found = access.find(words, &analyzer, &scope, usize::MAX).unwrap();
                    let found: Vec<(usize, f64)> =
                        found.iter().map(|found| (found.document as usize, found.score)).collect();
                    let text = String::from_utf8_lossy(words);
                    let told = format!("{what}: {text:?}, analyzer {which}, {chosen:?}");
                    assert_ranked(&found, &expected, &expected, &told);
                    for (k1, b) in [(0.0, 0.75), (2.0, 0.0), (0.9, 1.0)] {
                        let bm25 = Bm25::new(k1, b).unwrap();
                        let query = Query { words: words.to_vec(), bm25, ..Query::default() };
                        let found = find(&[(access, &scope)], &query, &analyzer, usize::MAX);
                        let found = found.unwrap().into_iter();
                        let found: Vec<(usize, f64)> =
                            found.map(|found| (found.document as usize, found.score)).collect();
                        let expected = oracle.find_with(words, k1, b);
                        assert_ranked(&found, &expected, &expected, &format!("{told}, {k1} {b}"));
                    }
                });
            }
        }
    }
}
