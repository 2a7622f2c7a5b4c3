//! Analyzers: terms of words, stop words, and folding and stemming against Python's `str.casefold`
//! and Snowball's own stemmers. `fixtures.py` says how the fixtures were made.

mod stop_words;
mod terms;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use tadoc_engine::analyzer::{Analyzer, Language};

fn term(analyzer: &Analyzer, word: &str) -> String {
    String::from_utf8(analyzer.term(word.as_bytes()).unwrap_or_default().into()).unwrap()
}

fn scalar(digits: &str) -> u32 {
    u32::from_str_radix(digits, 16).unwrap()
}

#[test]
fn folding_is_that_of_python() {
    let mut lines = include_str!("case_folding.tsv").lines();
    assert_eq!(lines.next(), Some("14.0.0"));
    let assigned: Vec<RangeInclusive<u32>> = lines
        .next()
        .unwrap()
        .split(' ')
        .map(|run| run.split_once('-').unwrap())
        .map(|(first, last)| scalar(first)..=scalar(last))
        .collect();
    let mut folded: BTreeMap<u32, String> = BTreeMap::new();
    for line in lines {
        let fields: Vec<&str> = line.split('\t').collect();
        let (first, last) = (scalar(fields[0]), scalar(fields[1]));
        let to: Vec<u32> = fields[3].split(' ').map(scalar).collect();
        for from in (first..=last).step_by(fields[2].parse::<usize>().unwrap().max(1)) {
            let shifted = to.iter().map(|to| char::from_u32(to + from - first).unwrap());
            folded.insert(from, shifted.collect());
        }
    }
    assert_eq!(folded.len(), 1530, "scalars that Python's Unicode folds");

    let analyzer = Analyzer::new().fold_case(true);
    for number in assigned.into_iter().flatten() {
        let Some(character) = char::from_u32(number) else { continue };
        let word = character.to_string();
        let expected = folded.get(&number).unwrap_or(&word);
        assert_eq!(&term(&analyzer, &word), expected, "U+{number:04X}");
    }
}

#[test]
fn stems_are_those_of_snowball() {
    let mut analyzer = Analyzer::new();
    let mut seen = BTreeSet::new();
    let mut words = 0;
    for line in include_str!("stems.tsv").lines() {
        if let Some(name) = line.strip_prefix("# ") {
            let language: Language = name.parse().unwrap();
            analyzer = Analyzer::new().stem(Some(language));
            seen.insert(language);
            continue;
        }
        let fields: Vec<&str> = line.split('\t').collect();
        let kept = fields[0].chars().take(fields[1].parse().unwrap());
        let stem: String = kept.chain(fields[2].chars()).collect();
        assert_eq!(term(&analyzer, fields[0]), stem, "{} in {:?}", fields[0], seen.last());
        words += 1;
    }
    assert!(seen.iter().eq(Language::ALL), "{seen:?}");
    assert_eq!(words, 1000 * Language::ALL.len());
}
