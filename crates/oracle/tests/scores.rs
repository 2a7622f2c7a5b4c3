//! The oracle's weights and scores against scikit-learn's and NLTK's. `scores/fixtures.py` says how the
//! fixtures were made.

use std::collections::BTreeMap;

use tadoc_oracle::{Document, Lexer, Norm, Oracle, TfidfOptions};

fn corpus() -> Vec<Document> {
    let lines = include_str!("scores/documents.txt").lines().enumerate();
    lines.map(|(number, line)| (number.to_string(), line.into())).collect()
}

fn rows(fixture: &str) -> impl Iterator<Item = Vec<&str>> {
    fixture.lines().map(|line| line.split('\t').collect())
}

fn assert_close(found: f64, expected: &str, what: &[&str]) {
    let expected: f64 = expected.parse().unwrap();
    let tolerance = 1e-9 * expected.abs().max(1e-3);
    assert!((found - expected).abs() <= tolerance, "{found} is not {expected}: {what:?}");
}

#[test]
fn tfidf_is_that_of_scikit_learn() {
    let documents = corpus();
    let oracle = Oracle::new(Lexer::Words, &documents);
    let mut by_options: BTreeMap<Vec<&str>, Vec<Vec<&str>>> = BTreeMap::new();
    for row in rows(include_str!("scores/tfidf.tsv")) {
        by_options.entry(row[..4].to_vec()).or_default().push(row[4..].to_vec());
    }
    assert_eq!(by_options.len(), 7);
    for (options, expected) in by_options {
        let norm = match options[0] {
            "none" => Norm::None,
            "l1" => Norm::L1,
            "l2" => Norm::L2,
            other => panic!("norm {other}"),
        };
        let is = |field: usize| options[field] == "1";
        let answer = oracle.tfidf(TfidfOptions {
            norm,
            use_idf: is(1),
            smooth_idf: is(2),
            sublinear_tf: is(3),
        });
        assert_eq!(answer.len(), documents.len());
        let found: Vec<(usize, String, f64)> = answer
            .into_iter()
            .enumerate()
            .flat_map(|(document, row)| row.into_iter().map(move |entry| (document, entry)))
            .map(|(document, (term, weight))| (document, String::from_utf8(term).unwrap(), weight))
            .collect();
        assert_eq!(found.len(), expected.len(), "{options:?}");
        for ((document, term, weight), expected) in found.into_iter().zip(expected) {
            assert_eq!((document.to_string().as_str(), term.as_str()), (expected[0], expected[1]));
            assert_close(weight, expected[2], &options);
        }
    }
    assert_eq!(TfidfOptions::default().norm, Norm::L2);
}

#[test]
fn collocations_are_those_of_nltk() {
    let documents = corpus();
    let oracle = Oracle::new(Lexer::Words, &documents);
    let mut by_window: BTreeMap<&str, Vec<Vec<&str>>> = BTreeMap::new();
    for row in rows(include_str!("scores/collocations.tsv")) {
        by_window.entry(row[0]).or_default().push(row);
    }
    assert_eq!(by_window.len(), 3);
    for (window, expected) in by_window {
        let window: usize = window.parse().unwrap();
        let mut found = oracle.collocations(window);
        let cooccurrence = oracle.ordered_cooccurrence(window - 1);
        assert!(
            found
                .iter()
                .map(|row| (&row.first, &row.second, row.count))
                .eq(cooccurrence.iter().map(|((first, second), count)| (first, second, *count)))
        );
        assert!(found.is_sorted_by_key(|row| std::cmp::Reverse(row.count)));
        found.sort_by(|one, other| (&one.first, &one.second).cmp(&(&other.first, &other.second)));
        assert_eq!(found.len(), expected.len());
        for (found, expected) in found.into_iter().zip(expected) {
            assert_eq!(found.first, expected[1].as_bytes());
            assert_eq!(found.second, expected[2].as_bytes());
            assert_eq!(found.count.to_string(), expected[3]);
            assert_close(found.pmi, expected[7], &expected);
            assert_close(found.log_likelihood, expected[8], &expected);
            assert_close(found.t_score, expected[9], &expected);
            assert_close(found.log_dice, expected[10], &expected);
        }
    }
}

/// Filters come before weights: the answer is that for the documents without what they leave out.
#[test]
fn weights_are_those_of_what_is_left() {
    let documents = corpus();
    let oracle = || Oracle::new(Lexer::Words, &documents);
    let options = TfidfOptions::default();

    let chosen = [0, 2, 3];
    let alone: Vec<Document> = chosen.iter().map(|&number| documents[number].clone()).collect();
    let found = oracle().with_documents(chosen).tfidf(options);
    let expected = Oracle::new(Lexer::Words, &alone).tfidf(options);
    assert!(chosen.iter().map(|&number| &found[number]).eq(&expected));
    assert!([1, 4, 5].iter().all(|&number| found[number].is_empty()));
    assert_eq!(
        oracle().with_documents(chosen).collocations(3),
        Oracle::new(Lexer::Words, &alone).collocations(3)
    );

    let counts: BTreeMap<Vec<u8>, u64> = oracle().word_count().into_iter().collect();
    let kept = move |word: &[u8]| (counts[word] >= 6).then(|| word.to_vec());
    let found = oracle().with_min_count(6).tfidf(options);
    assert_eq!(found, oracle().with_analyzer(kept).tfidf(options));
    assert_ne!(found, oracle().tfidf(options));
}
