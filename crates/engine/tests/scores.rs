//! The formulae of `tadoc_engine::analytics::score` against scikit-learn and NLTK, on the oracle's fixtures, and
//! against exact values for counts of large texts.

use std::collections::{BTreeMap, BTreeSet};

use tadoc_core::Norm;
use tadoc_engine::analytics::score::{
    PairCounts, divisor, inverse_document_frequency, log_dice, log_likelihood, pmi, t_score,
    term_frequency,
};
use tadoc_oracle::{Lexer, Oracle, cases};

fn rows(fixture: &str) -> impl Iterator<Item = Vec<&str>> {
    fixture.lines().map(|line| line.split('\t').collect())
}

fn number(field: &str) -> u64 {
    field.parse().unwrap()
}

fn assert_close(found: f64, expected: &str, what: &[&str]) {
    let expected: f64 = expected.parse().unwrap();
    let tolerance = 1e-9 * expected.abs().max(1e-3);
    assert!((found - expected).abs() <= tolerance, "{found} is not {expected}: {what:?}");
}

fn assert_scores(counts: &PairCounts, expected: &[&str], what: &[&str]) {
    let found = [pmi(counts), log_likelihood(counts), t_score(counts), log_dice(counts)];
    assert_eq!(expected.len(), found.len());
    for (found, expected) in found.into_iter().zip(expected) {
        assert_close(found, expected, what);
    }
}

#[test]
fn pairs_score_as_in_nltk() {
    let mut seen = 0;
    for row in rows(include_str!("../../oracle/tests/scores/collocations.tsv")) {
        let counts: Vec<u64> = row[3..7].iter().map(|field| number(field)).collect();
        let window = number(row[0]) as usize;
        let counts = PairCounts::within(window, counts[0], counts[1], counts[2], counts[3]);
        assert_scores(&counts, &row[7..], &row);
        seen += 1;
    }
    assert!(seen > 300, "{seen}");
}

#[test]
fn large_counts_lose_nothing() {
    for row in rows(include_str!("../../oracle/tests/scores/large.tsv")) {
        let counts: Vec<u64> = row[..4].iter().map(|field| number(field)).collect();
        let counts = PairCounts::within(2, counts[0], counts[1], counts[2], counts[3]);
        assert_scores(&counts, &row[4..], &row);
    }
}

/// On every case, also where two terms make up nearly all of the text and NLTK gives an error.
#[test]
fn pairs_score_as_in_the_oracle() {
    let mut contradictions = 0;
    for case in cases() {
        let oracle = Oracle::new(Lexer::Words, &case.documents);
        let frequencies: BTreeMap<Vec<u8>, u64> = oracle.sort().into_iter().collect();
        let words = frequencies.values().sum();
        for window in [2, 4] {
            for row in oracle.collocations(window) {
                let (first, second) = (frequencies[&row.first], frequencies[&row.second]);
                let counts = PairCounts::within(window, row.count, first, second, words);
                let found =
                    [pmi(&counts), log_likelihood(&counts), t_score(&counts), log_dice(&counts)];
                let expected = [row.pmi, row.log_likelihood, row.t_score, row.log_dice];
                for (found, expected) in found.into_iter().zip(expected) {
                    let tolerance = 1e-9 * expected.abs().max(1.0);
                    assert!((found - expected).abs() <= tolerance, "{}: {row:?}", case.name);
                }
                contradictions += u64::from(counts.pair + counts.words < (first + second) as f64);
            }
        }
    }
    assert!(contradictions > 0, "no case has a negative cell");
}

#[test]
fn terms_weigh_as_in_scikit_learn() {
    let documents: Vec<BTreeMap<&str, u64>> =
        include_str!("../../oracle/tests/scores/documents.txt")
            .lines()
            .map(|line| {
                let mut counts = BTreeMap::new();
                line.split_whitespace().for_each(|word| *counts.entry(word).or_default() += 1);
                counts
            })
            .collect();
    let with_term =
        |term: &str| documents.iter().filter(|counts| counts.contains_key(term)).count();
    let mut norms = BTreeSet::new();
    for row in rows(include_str!("../../oracle/tests/scores/tfidf.tsv")) {
        let norm = match row[0] {
            "none" => Norm::None,
            "l1" => Norm::L1,
            "l2" => Norm::L2,
            other => panic!("norm {other}"),
        };
        norms.insert(row[0]);
        let is = |field: usize| row[field] == "1";
        let weight = |term: &str, count: u64| {
            let idf = match is(1) {
                true => inverse_document_frequency(
                    documents.len() as u64,
                    with_term(term) as u64,
                    is(2),
                ),
                false => 1.0,
            };
            term_frequency(count, is(3)) * idf
        };
        let counts = &documents[number(row[4]) as usize];
        let divided_by = divisor(norm, counts.iter().map(|(term, &count)| weight(term, count)));
        assert_close(weight(row[5], counts[row[5]]) / divided_by, row[6], &row);
    }
    assert_eq!(norms.len(), 3);
}
