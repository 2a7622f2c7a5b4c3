//! What an index has, derived from a grammar and its tokens: lengths, samples, packed symbols, documents of words.
//!
//! Cost: a few passes over the symbols, most of them on all threads; for the documents of words a pass over all tokens of the
//! text. Beside the result 24 bytes a rule.

use std::ops::Range;

use rayon::prelude::*;
use tadoc_core::archive::{WordDocuments, WordDocumentsBuilder};
use tadoc_core::navigation::{BYTES_EVERY, NEWLINES_EVERY, Navigation, WIDEST_LENGTH, WORDS_EVERY};
use tadoc_core::packed::{Numbers, Packed};
use tadoc_core::parallel::{self, Idle};
use tadoc_core::{Budget, Grammar, Share, Spill, SpillVec, usize_of};

use super::segment::{Measure, Segment, Slices};
use super::tokens::TokenStore;
use crate::error::{Error, Result};

/// Places of the root that a thread measures at a time: a multiple of all distances between samples.
const MEASURED_AT_ONCE: usize = 1 << 15;

/// No text may be longer: lengths have to be packed.
const MOST_BYTES: u64 = (1 << WIDEST_LENGTH) - 1;

/// Bytes, words and newlines of a text.
type Measures = [u64; 3];

fn add(sum: Measures, other: Measures) -> Measures {
    std::array::from_fn(|index| sum[index].saturating_add(other[index]))
}

/// The symbols of the root, packed.
pub(super) fn root(grammar: &Grammar) -> Packed {
    pack(grammar, grammar.root())
}

fn pack(grammar: &Grammar, symbols: &[u32]) -> Packed {
    let most = u64::from(grammar.token_count()) + u64::from(grammar.rule_count());
    Packed::spilling(symbols.iter().map(|&symbol| symbol.into()), most, &grammar.spill())
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
    let spill = budget.spill();
    let mut of_tokens = spill.filled([0; 3], grammar.token_count() as usize);
    of_tokens.par_iter_mut().zip(0..grammar.token_count()).try_for_each(|(measures, token)| {
        let bytes = tokens.get(token)?;
        *measures = match token < words {
            true => [bytes.len() as u64, 1, 0],
            false => [bytes.len() as u64, 0, memchr::memchr_iter(b'\n', bytes).count() as u64],
        };
        Ok::<(), crate::Error>(())
    })?;
    let of_rules = measure_rules(grammar, &of_tokens)?;
    let (of_tokens, of_rules) = (&of_tokens[..], &of_rules[..]);
    let measures = |symbol: u32| match grammar.rule_of(symbol) {
        None => of_tokens[symbol as usize],
        Some(rule) => of_rules[rule as usize],
    };
    let (samples, total) = sample(grammar.root(), measures, spill);
    if total[0] != text_bytes || total[0] > MOST_BYTES {
        let what = format!("a segment expands to {} bytes, recorded are {text_bytes}", total[0]);
        return Err(Error::malformed(what));
    }
    let [root_bytes, root_words, root_newlines] = samples;
    let root_length = grammar.root().len();
    let bodies = &grammar.symbols()[root_length..];
    let starts = grammar.rule_starts().iter().map(|&start| u64::from(start) - root_length as u64);
    let documents = grammar.document_starts().iter().map(|&start| u64::from(start));
    let numbers =
        |of: &[Measures], index: usize| Numbers::spilling(of.iter().map(|row| row[index]), spill);
    let samples = |of: &SpillVec<u64>, most: u64| Packed::spilling(of.iter().copied(), most, spill);
    Ok(Navigation {
        token_bytes: numbers(of_tokens, 0),
        separator_newlines: numbers(&of_tokens[words as usize..], 2),
        rule_bytes: numbers(of_rules, 0),
        rule_words: numbers(of_rules, 1),
        rule_newlines: numbers(of_rules, 2),
        rule_starts: Packed::spilling(starts, bodies.len() as u64, spill),
        bodies: pack(grammar, bodies),
        document_starts: Packed::new(documents, root_length as u64),
        root_bytes: samples(&root_bytes, total[0]),
        root_words: samples(&root_words, total[1]),
        root_newlines: samples(&root_newlines, total[2]),
    })
}

fn measure_rules(grammar: &Grammar, of_tokens: &[Measures]) -> Result<SpillVec<Measures>> {
    let mut row = grammar.spill().filled([0; 3], grammar.rule_count() as usize);
    let of_rules = &mut row[..];
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
            return Err(Error::malformed(format!(
                "rule {rule} expands to more than {MOST_BYTES} bytes"
            )));
        }
        of_rules[rule as usize] = sum;
    }
    Ok(row)
}

/// Samples of bytes, words and newlines of a root, and how many of them there are.
fn sample(
    root: &[u32],
    measures: impl Fn(u32) -> Measures + Sync,
    spill: &Spill,
) -> ([SpillVec<u64>; 3], Measures) {
    const EVERY: [usize; 3] = [BYTES_EVERY, WORDS_EVERY, NEWLINES_EVERY];
    let of_chunk = |chunk: &[u32]| {
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
    };
    let mut all = [(); 3].map(|()| spill.row());
    let mut total = [0; 3];
    // The samples of chunks are in memory, so some for each thread are taken at a time.
    for chunks in root.chunks(MEASURED_AT_ONCE * 64 * rayon::current_num_threads()) {
        let sampled: Vec<([Vec<u64>; 3], Measures)> =
            chunks.par_chunks(MEASURED_AT_ONCE).map(of_chunk).collect();
        for (samples, sum) in sampled {
            for index in 0..3 {
                all[index].extend(samples[index].iter().map(|&sample| total[index] + sample));
            }
            total = add(total, sum);
        }
    }
    for index in 0..3 {
        all[index].push(total[index]);
    }
    (all, total)
}

/// A thread counts the words of documents of about so many bytes at a time.
const COUNTED_AT_ONCE: u64 = 1 << 18;

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
    let spill = segment.budget().spill();
    let words = segment.tokens().word_count() as usize;
    let mut word_of_token = spill.filled(0_u32, segment.word_token_count() as usize);
    let firsts = segment.tokens().map_words(|_, tokens| Some(tokens.start))?;
    let ends = firsts.iter().skip(1).copied().chain([segment.word_token_count()]);
    for ((number, &first), end) in (0..).zip(&firsts).zip(ends) {
        word_of_token[first as usize..end as usize].fill(number);
    }
    drop(firsts);
    let word_of_token = &word_of_token[..];
    let documents = segment.document_count();
    let (mut cuts, mut start) = (vec![0], 0);
    for document in 0..documents {
        let end = slices.before(Measure::Bytes, segment.document_root(document).end);
        if document + 1 == documents || end.saturating_sub(start) >= COUNTED_AT_ONCE {
            cuts.push(document + 1);
            start = end;
        }
    }
    // Word and document in one number, and the count: in the order of documents.
    let of_chunk = |counts: &mut [u64], stack: &mut _, chunk: Range<usize>| {
        let mut found: SpillVec<[u64; 2]> = spill.row();
        for document in chunk {
            let mut there = spill.row();
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
            found.extend(there.iter().map(|&word: &u32| {
                let count = std::mem::take(&mut counts[word as usize]);
                [u64::from(word) << 32 | document as u64, count]
            }));
        }
        Ok::<_, crate::Error>(found)
    };
    let idle = Idle::default();
    let make = || (spill.filled(0_u64, words), Vec::new());
    let mut found: SpillVec<[u64; 2]> = spill.row();
    // Some chunks for each thread are counted at a time, as most of what they have found is in
    // memory.
    let chunks: Vec<Range<usize>> = cuts.windows(2).map(|cut| cut[0]..cut[1]).collect();
    for chunks in chunks.chunks(2 * rayon::current_num_threads()) {
        let counted = parallel::try_map(chunks.len(), &|chunk| {
            idle.with(make, |(counts, stack)| of_chunk(counts, stack, chunks[chunk].clone()))
        })?;
        counted.iter().for_each(|counted| found.extend_from_slice(counted));
    }
    // A sort by words that keeps the order of documents: where the next entry of each word goes.
    let word_of = |entry: &[u64; 2]| (entry[0] >> 32) as usize;
    let mut next = spill.filled(0_u64, words + 1);
    found.iter().for_each(|entry| next[word_of(entry) + 1] += 1);
    for word in 0..words {
        next[word + 1] += next[word];
    }
    let mut lists = spill.filled([0; 2], found.len());
    for entry in &found[..] {
        let place = &mut next[word_of(entry)];
        lists[usize_of(*place)] = *entry;
        *place += 1;
    }
    drop(found);
    let mut builder = WordDocumentsBuilder::spilling(documents as u64, spill);
    // Where the next entry of a word would go, its list ends.
    let (mut start, mut list) = (0, Vec::new());
    for &end in &next[..words] {
        list.clear();
        let own = lists[start..usize_of(end)].iter();
        #[expect(clippy::cast_possible_truncation, reason = "the lower half is the document")]
        list.extend(own.map(|&[entry, count]| (entry as u32, count)));
        builder.push(&list);
        start = usize_of(end);
    }
    Ok(builder.finish()?)
}
