//! Vocabularies and lengths of sequences that need keys of every width, also to the last bit.

use tadoc_core::{Grammar, Limits, Network, Part, Task, View};
use tadoc_oracle::{Document, Lexer, Oracle, Random};

use super::random_grammar::terms;
use tadoc_testing::archives::thread_pool;
use tadoc_testing::numbered;

use super::support::{Question, check, expected_of};

/// A view of documents without rules, and their text.
fn flat(vocabulary: u32, documents: &[Vec<u32>]) -> (View, Vec<Document>) {
    let terms = terms(vocabulary);
    let text = documents.iter().map(|items| {
        let words: Vec<&[u8]> = items.iter().map(|&item| terms.get(item)).collect();
        words.join(&b" "[..])
    });
    let text = numbered(text);
    let mut starts = vec![0];
    for items in documents {
        starts.push(starts.last().unwrap() + items.len() as u32);
    }
    let symbols = documents.concat();
    let parts = vec![Part { root: 0..symbols.len() as u32, rules: 0..0 }];
    let rule_starts = vec![symbols.len() as u32];
    let grammar = Grammar::new(vocabulary, symbols, rule_starts, starts).unwrap();
    let numbers = (0..documents.len() as u32).collect();
    (View::new(terms, Network::new(grammar, parts, numbers).unwrap()).unwrap(), text)
}

/// Documents of these lengths; terms near both ends of the vocabulary come most often.
fn documents(seed: u64, vocabulary: u32, lengths: &[usize]) -> Vec<Vec<u32>> {
    let mut random = Random::new(seed);
    let mut item = || match random.below(3) {
        0 => random.below(3.min(u64::from(vocabulary))) as u32,
        1 => vocabulary - 1 - random.below(3.min(u64::from(vocabulary))) as u32,
        _ => random.below(vocabulary.into()) as u32,
    };
    lengths.iter().map(|&length| (0..length).map(|_| item()).collect()).collect()
}

fn check_sequences(vocabulary: u32, lengths: &[usize], of: &[usize]) {
    let documents = documents(vocabulary.into(), vocabulary, lengths);
    let (view, text) = flat(vocabulary, &documents);
    let oracle = Oracle::new(Lexer::Whitespace, &text);
    let tasks = of.iter().flat_map(|&n| {
        [
            Task::SequenceCount { n },
            Task::SequenceCountPerDocument { n },
            Task::RankedInvertedIndex { n },
        ]
    });
    let questions: Vec<Question> = tasks.map(Question::Task).collect();
    let expected = expected_of(&oracle, &text, &questions, None);
    thread_pool(2).install(|| {
        check(&view, &text, &expected, Limits::default(), &|| format!("{vocabulary} terms"));
    });
}

/// A key of all of its bits, with records for one bucket only and with records for several: 8 terms of 8 bits or
/// 4 of 16 fill 64 bits, 8 of 16 fill 128, and 8 of 17 need more.
#[test]
fn keys_are_full_to_the_last_bit() {
    check_sequences(256, &[40, 0, 9, 7, 8], &[8]);
    check_sequences(200, &[300, 12], &[8, 7]);
    check_sequences(1 << 16, &[30, 3, 0, 11], &[4, 8]);
    check_sequences(40_000, &[30_000, 500, 7], &[4, 8]);
    check_sequences((1 << 16) + 1, &[25, 8, 7], &[7, 8]);
    check_sequences(70_000, &[12_000, 9], &[8]);
}

/// An index of more terms than one part of an answer has.
#[test]
fn an_index_of_many_parts() {
    let vocabulary = 140_000;
    let documents: Vec<Vec<u32>> = (0..3)
        .map(|document| (0..vocabulary).filter(|term| term % (document + 2) != 1).rev().collect())
        .collect();
    let (view, text) = flat(vocabulary, &documents);
    let oracle = Oracle::new(Lexer::Whitespace, &text);
    let questions = [Question::Task(Task::InvertedIndex)];
    let expected = expected_of(&oracle, &text, &questions, None);
    thread_pool(3)
        .install(|| check(&view, &text, &expected, Limits::default(), &|| "parts".into()));
}

/// Nearly all sequences in one bucket of many, more than are sorted at one go, and most of them equal.
#[test]
fn one_bucket_has_nearly_all() {
    let mut random = Random::new(23);
    let mut items: Vec<u32> = (0..160_000).map(|_| (random.rank() % 40) as u32).collect();
    items.extend([69_999, 69_998, 3]);
    let (view, text) = flat(70_000, &[items, vec![1, 2]]);
    let oracle = Oracle::new(Lexer::Whitespace, &text);
    let tasks = [Task::SequenceCount { n: 2 }, Task::RankedInvertedIndex { n: 2 }];
    let expected = expected_of(&oracle, &text, &tasks.map(Question::Task), None);
    thread_pool(2)
        .install(|| check(&view, &text, &expected, Limits::default(), &|| "skewed".into()));
}
