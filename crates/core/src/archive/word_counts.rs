//! How often each word of a segment occurs: the section `CNTW` of docs/format.md.
//!
//! Counts follow from the grammar, but decoding that is most of what counting words takes. Stored,
//! they take 3 to 5 bits a word. Blocks are independent of each other and coded on all threads.

use rayon::prelude::*;

use super::dictionary::Forms;
use super::integers::{self, LENGTHS, bit_length};
use super::rans::{Decoder, DecodingTable, Encoder, Model, most_values};
use super::wire::{Reader, put_varint};
use crate::budget::{Budget, Counted};
use crate::error::{Error, Result};
use crate::grammar::Grammar;
use crate::spill::SpillVec;
use crate::usize_of;

/// Words of a block.
const BLOCK: usize = 1 << 15;
/// A count after a count of 1, and one after another: words that come once stand together.
const CONTEXTS: usize = 2;
/// What memory is taken for, in errors.
const WHAT: &str = "the counts of words";

fn context_behind(count: u64) -> usize {
    usize::from(count != 1)
}

/// How often each word stands in the text of a grammar; `forms` are those of its words. O(symbols).
pub(super) fn of_grammar(grammar: &Grammar, forms: impl Iterator<Item = Forms>) -> Vec<u64> {
    let slices = grammar.slices();
    let mut tokens = vec![0_u64; grammar.token_count() as usize];
    let mut rules = vec![0_u64; grammar.rule_count() as usize];
    let mut add = |rules: &mut [u64], row: &[u32], times: u64| {
        for &symbol in row {
            let sum = match slices.rule_of(symbol) {
                None => &mut tokens[symbol as usize],
                Some(rule) => &mut rules[rule as usize],
            };
            *sum = sum.saturating_add(times);
        }
    };
    add(&mut rules, grammar.root(), 1);
    // Parents come before children.
    for rule in 0..grammar.rule_count() {
        let times = rules[rule as usize];
        add(&mut rules, grammar.body(rule), times);
    }
    let mut tokens = tokens.into_iter();
    let of_word = |forms: Forms| {
        let own = tokens.by_ref().take(forms.count() as usize);
        own.fold(0_u64, u64::saturating_add)
    };
    forms.map(of_word).collect()
}

/// Encodes counts, none of them 0, on all threads.
pub(super) fn encode(counts: &[u64]) -> Vec<u8> {
    let mut lengths = [[0_u64; LENGTHS]; CONTEXTS];
    for block in counts.chunks(BLOCK) {
        let mut context = 0;
        for &count in block {
            lengths[context][bit_length(count) as usize] += 1;
            context = context_behind(count);
        }
    }
    let models = lengths.map(|lengths| Model::from_counts(&lengths));
    let encode = |encoder: &mut Encoder, block: &[u64]| {
        let mut context = 0;
        for &count in block {
            integers::put(encoder, &models[context], count);
            context = context_behind(count);
        }
        let mut stream = Vec::new();
        encoder.write(&mut stream);
        stream
    };
    let blocks = counts.par_chunks(BLOCK);
    let streams: Vec<Vec<u8>> = blocks.map_init(Encoder::default, encode).collect();
    let mut section = Vec::new();
    put_varint(&mut section, counts.len() as u64);
    models.iter().for_each(|model| model.write(&mut section));
    streams.iter().for_each(|stream| put_varint(&mut section, stream.len() as u64));
    section.extend(streams.concat());
    section
}

/// Decodes the counts of so many words, which a text of so many bytes can have, on all threads.
pub(super) fn decode(
    section: &[u8],
    words: u64,
    text_bytes: u64,
    budget: &Budget,
) -> Result<Counted<SpillVec<u64>>> {
    let mut reader = Reader::new(section, "section CNTW");
    let count = reader.varint()?;
    if count != words {
        return Err(reader.malformed(format!("counts of {count} words, where there are {words}")));
    }
    if count > most_values(section.len()) {
        return Err(
            reader.malformed(format!("{count} counts cannot be in {} bytes", section.len()))
        );
    }
    let share = budget.take(size_of::<u64>() as u64 * count, WHAT)?;
    let mut table = || Model::read(&mut reader, LENGTHS).map(|model| model.decoding_table());
    let tables: [DecodingTable; CONTEXTS] = [table()?, table()?];
    let lengths: Vec<u64> =
        (0..usize_of(count).div_ceil(BLOCK)).map(|_| reader.varint()).collect::<Result<_>>()?;
    let streams: Vec<&[u8]> =
        lengths.into_iter().map(|length| reader.take(length)).collect::<Result<_>>()?;
    reader.finish()?;
    let mut counts = budget.spill().filled(0_u64, usize_of(count));
    let decode = |(counts, stream): (&mut [u64], &[u8])| {
        let mut decoder = Decoder::new(stream)?;
        let (mut context, mut sum) = (0, 0_u64);
        for count in counts {
            *count = integers::take(&mut decoder, &tables[context]);
            context = context_behind(*count);
            sum = sum.saturating_add(*count);
            if *count == 0 {
                return Err(Error::malformed("section CNTW: a word does not occur"));
            }
        }
        decoder.finish()?;
        Ok(sum)
    };
    let blocks = counts.par_chunks_mut(BLOCK).zip(streams);
    let sums: Vec<u64> = blocks.map(decode).collect::<Result<_>>()?;
    // A word has a byte at least.
    let total = sums.into_iter().fold(0_u64, u64::saturating_add);
    if total > text_bytes {
        let what = format!("section CNTW: {total} words in {text_bytes} bytes of text");
        return Err(Error::malformed(what));
    }
    Ok(Counted::new(counts, share))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn decoded(section: &[u8], words: usize, text_bytes: u64) -> Result<Vec<u64>> {
        let counts = decode(section, words as u64, text_bytes, &Budget::unlimited())?;
        Ok(counts.to_vec())
    }

    proptest! {
        #[test]
        fn counts_round_trip(
            counts in prop::collection::vec(prop_oneof![1_u64..3, 1_u64..1 << 40], 0..300),
            times in 1_usize..300,
        ) {
            let counts = counts.repeat(times);
            let total = counts.iter().sum();
            let section = encode(&counts);
            prop_assert_eq!(&decoded(&section, counts.len(), total).unwrap(), &counts);
            prop_assert!(total == 0 || decoded(&section, counts.len(), total - 1).is_err());
            prop_assert!(decoded(&section, counts.len() + 1, u64::MAX).is_err());
        }
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let all = [1_u64, 5, 1, 1, 700];
        let section = encode(&all);
        let flips = (0..section.len()).flat_map(|place| (0..8).map(move |bit| (place, 1 << bit)));
        for (place, flipped) in flips {
            let mut damaged = section.clone();
            damaged[place] ^= flipped;
            // Whatever it is by now, it is as many counts as a text can have, or none.
            if let Ok(counts) = decoded(&damaged, all.len(), 1000) {
                assert!(
                    counts.iter().all(|&count| count > 0) && counts.iter().sum::<u64>() <= 1000
                );
            }
        }
        assert!(decoded(&encode(&[3, 0]), 2, 100).is_err(), "a word that does not occur");
        assert!(decoded(&[section, vec![0]].concat(), all.len(), 1000).is_err());
        let mut many = Vec::new();
        put_varint(&mut many, 1 << 40);
        assert!(decoded(&many, 1 << 40, u64::MAX).is_err());
    }

    #[test]
    fn counts_are_those_of_the_expansion() {
        // Words "a" (bare) and "b" (both), and a separator; rules `4 = 5 5 2` and `5 = 0 1`.
        let symbols = vec![4, 4, 3, 2, 5, 5, 2, 0, 1];
        let grammar = Grammar::new(4, symbols, vec![4, 7, 9], vec![0, 2, 4]).unwrap();
        let forms = [Forms::Bare, Forms::Both];
        let mut expected = [0; 2];
        fn walk(grammar: &Grammar, row: &[u32], expected: &mut [u64; 2]) {
            for &symbol in row {
                match symbol {
                    0 => expected[0] += 1,
                    1 | 2 => expected[1] += 1,
                    3 => {}
                    rule => walk(grammar, grammar.body(rule - 4), expected),
                }
            }
        }
        walk(&grammar, grammar.root(), &mut expected);
        assert_eq!(of_grammar(&grammar, forms.into_iter()), expected);
    }
}
