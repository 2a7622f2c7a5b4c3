//! What an index has, derived from a grammar and its tokens: lengths, samples, packed symbols, documents of words.
//!
//! Cost: a few passes over the symbols, most of them on all threads; for the documents of words a pass over all tokens of the
//! text. Beside the result 24 bytes a rule.

use std::ops::Range;

use rayon::prelude::*;
use tadoc_core::archive::{WordDocuments, WordDocumentsBuilder};
use tadoc_core::navigation::{BYTES_EVERY, NEWLINES_EVERY, Navigation, WIDEST_LENGTH, WORDS_EVERY};
use tadoc_core::packed::{Numbers, Packed};
use tadoc_core::{Budget, Grammar, Share};

use super::segment::{Measure, Segment, Slices};
use super::tokens::TokenStore;
use crate::error::Result;

/// Places of the root that a thread measures at a time: a multiple of all distances between samples.
const MEASURED_AT_ONCE: usize = 1 << 15;

/// No text may be longer: lengths have to be packed.
const MOST_BYTES: u64 = (1 << WIDEST_LENGTH) - 1;

/// Bytes, words and newlines of a text.
type Measures = [u64; 3];

fn add(sum: Measures, other: Measures) -> Measures {
    std::array::from_fn(|index| sum[index].saturating_add(other[index]))
}

fn malformed(what: String) -> crate::Error {
    tadoc_core::Error::malformed(what).into()
}

/// The symbols of the root, packed.
pub(super) fn root(grammar: &Grammar) -> Packed {
    pack(grammar, grammar.root())
}

fn pack(grammar: &Grammar, symbols: &[u32]) -> Packed {
    let most = u64::from(grammar.token_count()) + u64::from(grammar.rule_count());
    Packed::new(symbols.iter().map(|&symbol| symbol.into()), most)
}

/// What memory is taken for, in errors.
pub(super) const WHAT: &str = "the way to any place of a segment";

/// Takes what root and navigation of a segment need: their symbols packed, mostly a byte for each of three lengths of
/// a rule or token and where it starts, and the samples of the root.
pub(super) fn share(grammar: &Grammar, budget: &Budget) -> Result<Share> {
    let (symbols, root) = (grammar.symbols().len() as u64, grammar.root().len() as u64);
    let (rules, tokens) = (u64::from(grammar.rule_count()), u64::from(grammar.token_count()));
    let documents = grammar.document_count() as u64;
    Ok(budget.take(4 * symbols + root + 9 * rules + 4 * tokens + 4 * documents, WHAT)?)
}

/// Rules and lengths of a segment whose text must be of a given length.
pub(super) fn navigation(
    grammar: &Grammar,
    tokens: &TokenStore,
    text_bytes: u64,
    budget: &Budget,
) -> Result<Navigation> {
    let measured = u64::from(grammar.rule_count()) + u64::from(grammar.token_count());
    let _measures = budget.take(size_of::<Measures>() as u64 * measured, WHAT)?;
    let words = tokens.word_token_count();
    let of_tokens: Vec<Measures> = (0..grammar.token_count())
        .into_par_iter()
        .map(|token| {
            let bytes = tokens.get(token)?;
            Ok(match token < words {
                true => [bytes.len() as u64, 1, 0],
                false => [bytes.len() as u64, 0, memchr::memchr_iter(b'\n', bytes).count() as u64],
            })
        })
        .collect::<Result<_>>()?;
    let of_rules = measure_rules(grammar, &of_tokens)?;
    let measures = |symbol: u32| match grammar.rule_of(symbol) {
        None => of_tokens[symbol as usize],
        Some(rule) => of_rules[rule as usize],
    };
    let (samples, total) = sample(grammar.root(), measures);
    if total[0] != text_bytes || total[0] > MOST_BYTES {
        return Err(malformed(format!(
            "a segment expands to {} bytes, recorded are {text_bytes}",
            total[0]
        )));
    }
    let [root_bytes, root_words, root_newlines] = samples;
    let root_length = grammar.root().len();
    let bodies = &grammar.symbols()[root_length..];
    let starts = grammar.rule_starts().iter().map(|&start| u64::from(start) - root_length as u64);
    let documents = grammar.document_starts().iter().map(|&start| u64::from(start));
    let numbers = |of: &[Measures], index: usize| Numbers::new(of.iter().map(|row| row[index]));
    Ok(Navigation {
        token_bytes: numbers(&of_tokens, 0),
        separator_newlines: numbers(&of_tokens[words as usize..], 2),
        rule_bytes: numbers(&of_rules, 0),
        rule_words: numbers(&of_rules, 1),
        rule_newlines: numbers(&of_rules, 2),
        rule_starts: Packed::new(starts, bodies.len() as u64),
        bodies: pack(grammar, bodies),
        document_starts: Packed::new(documents, root_length as u64),
        root_bytes: Packed::new(root_bytes.into_iter(), total[0]),
        root_words: Packed::new(root_words.into_iter(), total[1]),
        root_newlines: Packed::new(root_newlines.into_iter(), total[2]),
    })
}

fn measure_rules(grammar: &Grammar, of_tokens: &[Measures]) -> Result<Vec<Measures>> {
    let mut of_rules = vec![[0; 3]; grammar.rule_count() as usize];
    for rule in (0..grammar.rule_count()).rev() {
        let sum = grammar.body(rule).iter().fold([0; 3], |sum, &symbol| {
            add(
                sum,
                match grammar.rule_of(symbol) {
                    None => of_tokens[symbol as usize],
                    Some(child) => of_rules[child as usize],
                },
            )
        });
        if sum[0] > MOST_BYTES {
            return Err(malformed(format!("rule {rule} expands to more than {MOST_BYTES} bytes")));
        }
        of_rules[rule as usize] = sum;
    }
    Ok(of_rules)
}

/// Samples of bytes, words and newlines of a root, and how many of them there are.
fn sample(root: &[u32], measures: impl Fn(u32) -> Measures + Sync) -> ([Vec<u64>; 3], Measures) {
    const EVERY: [usize; 3] = [BYTES_EVERY, WORDS_EVERY, NEWLINES_EVERY];
    let chunks: Vec<([Vec<u64>; 3], Measures)> = root
        .par_chunks(MEASURED_AT_ONCE)
        .map(|chunk| {
            let mut samples: [Vec<u64>; 3] = Default::default();
            let mut sum = [0; 3];
            for (place, &symbol) in chunk.iter().enumerate() {
                for index in 0..3 {
                    if place % EVERY[index] == 0 {
                        samples[index].push(sum[index]);
                    }
                }
                sum = add(sum, measures(symbol));
            }
            (samples, sum)
        })
        .collect();
    let mut all: [Vec<u64>; 3] = Default::default();
    let mut total = [0; 3];
    for (samples, sum) in chunks {
        for index in 0..3 {
            all[index].extend(samples[index].iter().map(|&sample| total[index] + sample));
        }
        total = add(total, sum);
    }
    for index in 0..3 {
        all[index].push(total[index]);
    }
    (all, total)
}

/// Documents that a thread counts the words of at a time.
const COUNTED_AT_ONCE: usize = 64;

/// Calls `add` with the tokens of some places of the root and how often each comes, rule by rule: for texts that are longer
/// than all rules. O(symbols).
fn count_on_rules(slices: &Slices<'_>, root: Range<usize>, add: &mut impl FnMut(u32, u64)) {
    let mut times_of = vec![0_u64; slices.rule_count() as usize];
    let mut pass = |symbol: u32, times: u64, times_of: &mut [u64]| match slices.rule_of(symbol) {
        None => add(symbol, times),
        Some(rule) => {
            let of_rule = &mut times_of[rule as usize];
            *of_rule = of_rule.saturating_add(times);
        }
    };
    for place in root {
        pass(slices.root(place), 1, &mut times_of);
    }
    // A rule is used by those before it only.
    for rule in 0..slices.rule_count() {
        let times = times_of[rule as usize];
        if times > 0 {
            for at in slices.body(rule) {
                pass(slices.body_symbol(at), times, &mut times_of);
            }
        }
    }
}

/// How often each word of a segment is in each of its documents.
pub(super) fn word_documents(segment: &Segment) -> Result<WordDocuments> {
    let slices = segment.slices()?;
    let words = segment.tokens().word_count() as usize;
    let mut word_of_token = vec![0_u32; segment.word_token_count() as usize];
    let tokens_of_words = segment.tokens().map_words(|_, tokens| Some(tokens))?;
    for (number, tokens) in (0..).zip(tokens_of_words) {
        word_of_token[tokens.start as usize..tokens.end as usize].fill(number);
    }
    let documents = segment.document_count();
    let chunks: Vec<Vec<(u32, u32, u64)>> = (0..documents.div_ceil(COUNTED_AT_ONCE))
        .into_par_iter()
        .map_init(
            || (vec![0_u64; words], Vec::new()),
            |(counts, stack), chunk| {
                let first = chunk * COUNTED_AT_ONCE;
                let mut found = Vec::new();
                for document in first..documents.min(first + COUNTED_AT_ONCE) {
                    let mut there = Vec::new();
                    let root = segment.document_root(document);
                    let mut add = |token: u32, times: u64| {
                        if let Some(&word) = word_of_token.get(token as usize) {
                            let count = &mut counts[word as usize];
                            if *count == 0 {
                                there.push(word);
                            }
                            *count = count.saturating_add(times);
                        }
                    };
                    let length = |measure| {
                        let before = slices.before(measure, root.start);
                        slices.before(measure, root.end).saturating_sub(before)
                    };
                    let (words, bytes) = (length(Measure::Words), length(Measure::Bytes));
                    match words > slices.bodies_length() as u64 {
                        true => count_on_rules(&slices, root, &mut add),
                        false => {
                            let add = |token| add(token, 1);
                            super::walk::tokens(&slices, root, bytes, stack, add)?;
                        }
                    }
                    found.extend(there.into_iter().map(|word| {
                        (word, document as u32, std::mem::take(&mut counts[word as usize]))
                    }));
                }
                Ok(found)
            },
        )
        .collect::<Result<_>>()?;
    // Chunks are in the order of documents, so that a sort by words that keeps the order is enough.
    let mut starts = vec![0_usize; words + 1];
    chunks.iter().flatten().for_each(|&(word, ..)| starts[word as usize + 1] += 1);
    for word in 0..words {
        starts[word + 1] += starts[word];
    }
    let mut lists = vec![(0, 0); starts[words]];
    let mut next = starts.clone();
    for (word, document, count) in chunks.into_iter().flatten() {
        lists[next[word as usize]] = (document, count);
        next[word as usize] += 1;
    }
    let mut builder = WordDocumentsBuilder::new(documents as u64);
    for word in 0..words {
        builder.push(&lists[starts[word]..starts[word + 1]]);
    }
    Ok(builder.finish()?)
}
