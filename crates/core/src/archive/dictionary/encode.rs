//! From sorted entries to the section.

use rayon::prelude::*;

use super::Forms;
use super::block::{self, EncodedBlock};
use crate::archive::types::Level;
use crate::archive::{integers, wire::put_varint};
use crate::{CancelFlag, Cancelled};

/// Front-coded bytes of a block, about.
const BLOCK_BYTES: usize = 256 * 1024;

/// A word and its forms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry<'e> {
    /// The word.
    pub bytes: &'e [u8],
    /// The forms in which it is a token.
    pub forms: Forms,
}

/// Encodes a dictionary, on all threads. Words and separators must be in ascending order and distinct.
pub fn encode(
    words: &[Entry<'_>],
    separators: &[&[u8]],
    level: Level,
    cancel: &CancelFlag,
) -> Result<Vec<u8>, Cancelled> {
    let level = match level {
        Level::Fast => 9,
        Level::Dense => 19,
    };
    encode_at(words, separators, level, cancel)
}

/// The same at a level of Zstandard.
pub(in crate::archive) fn encode_at(
    words: &[Entry<'_>],
    separators: &[&[u8]],
    level: i32,
    cancel: &CancelFlag,
) -> Result<Vec<u8>, Cancelled> {
    let words_only: Vec<&[u8]> = words.iter().map(|entry| entry.bytes).collect();
    let blocks: Vec<EncodedBlock> = [&words_only[..], separators]
        .iter()
        .flat_map(|entries| cut(entries))
        .collect::<Vec<_>>()
        .into_par_iter()
        .map(|(before, entries)| {
            cancel.check()?;
            Ok(block::encode(entries.iter().copied(), before, level))
        })
        .collect::<Result<_, Cancelled>>()?;
    let mut section = Vec::new();
    put_varint(&mut section, words.len() as u64);
    put_varint(&mut section, separators.len() as u64);
    integers::write(&mut section, words.iter().map(|entry| entry.forms as u64));
    block::write_index(&mut section, &blocks);
    for block in blocks {
        section.extend_from_slice(&block.compressed);
        section.extend_from_slice(&block.digits);
    }
    Ok(section)
}

/// Cuts entries into blocks, each with the entry before it.
fn cut<'e, 's>(entries: &'s [&'e [u8]]) -> Vec<(&'e [u8], &'s [&'e [u8]])> {
    let mut blocks = Vec::new();
    let mut start = 0;
    let mut bytes = 0;
    for index in 0..entries.len() {
        let before: &[u8] = if index == start { &[] } else { entries[index - 1] };
        let shared =
            before.iter().zip(entries[index]).take_while(|(left, right)| left == right).count();
        bytes += entries[index].len() - shared + 1;
        if bytes >= BLOCK_BYTES || index + 1 == entries.len() {
            let before: &[u8] = if start == 0 { &[] } else { entries[start - 1] };
            blocks.push((before, &entries[start..=index]));
            (start, bytes) = (index + 1, 0);
        }
    }
    blocks
}

#[cfg(test)]
mod tests {
    use super::super::{Dictionary, TokenForm};
    use super::*;
    use crate::budget::Budget;
    use proptest::prelude::*;

    fn encode(words: &[Entry<'_>], separators: &[&[u8]], level: Level) -> Vec<u8> {
        super::encode(words, separators, level, &CancelFlag::default()).unwrap()
    }

    fn round_trip(words: &[(Vec<u8>, Forms)], separators: &[Vec<u8>]) -> Dictionary {
        let entries: Vec<Entry<'_>> =
            words.iter().map(|(bytes, forms)| Entry { bytes, forms: *forms }).collect();
        let separator_slices: Vec<&[u8]> = separators.iter().map(|bytes| &bytes[..]).collect();
        let section = encode(&entries, &separator_slices, Level::Fast);
        let dictionary = Dictionary::open(&section, &Budget::unlimited()).unwrap();
        let tokens = dictionary.tokens(u64::MAX).unwrap();
        assert_eq!(tokens.len(), dictionary.token_count() as usize);
        let mut token = 0;
        for (word, (bytes, forms)) in words.iter().enumerate() {
            let (bare, spaced) = dictionary.tokens_of_word(word as u32);
            assert_eq!(
                (bare.is_some(), spaced.is_some()),
                (*forms != Forms::Spaced, *forms != Forms::Bare)
            );
            if let Some(bare) = bare {
                assert_eq!((bare, tokens.get(bare)), (token, &bytes[..]));
                assert_eq!(dictionary.form_of_token(bare), TokenForm::Bare(word as u32));
                token += 1;
            }
            if let Some(spaced) = spaced {
                assert_eq!((spaced, tokens.get(spaced)), (token, &[b" ", &bytes[..]].concat()[..]));
                assert_eq!(dictionary.form_of_token(spaced), TokenForm::Spaced(word as u32));
                token += 1;
            }
        }
        for (number, bytes) in separators.iter().enumerate() {
            assert_eq!(tokens.get(token), &bytes[..]);
            assert_eq!(dictionary.form_of_token(token), TokenForm::Separator(number as u32));
            token += 1;
        }
        dictionary
    }

    proptest! {
        #[test]
        fn dictionaries_round_trip(
            words in proptest::collection::btree_map(prop_oneof![
                proptest::collection::vec(any::<u8>(), 1..8),
                "[a-f0-9]{10,40}".prop_map(String::into_bytes),
                "[a-c]{1,60}".prop_map(String::into_bytes),
            ], 1_u64..=3, 0..200),
            separators in proptest::collection::btree_set(proptest::collection::vec(0_u8..40, 1..6), 0..50),
        ) {
            let words: Vec<_> = words.into_iter().map(|(bytes, forms)| (bytes, Forms::from_number(forms).unwrap())).collect();
            let separators: Vec<_> = separators.into_iter().collect();
            let dictionary = round_trip(&words, &separators);
            for (number, (bytes, _)) in words.iter().enumerate() {
                prop_assert_eq!(dictionary.find_word(bytes).unwrap(), Some(number as u32));
                prop_assert_eq!(&dictionary.word(number as u32).unwrap(), bytes);
                let mut other = bytes.clone();
                other.push(b'!');
                let known = words.iter().position(|(word, _)| *word == other);
                prop_assert_eq!(dictionary.find_word(&other).unwrap(), known.map(|number| number as u32));
            }
        }
    }

    #[test]
    fn words_are_found_in_any_of_many_blocks() {
        let words: Vec<(Vec<u8>, Forms)> = (0..200_000)
            .map(|number| (format!("{:08x}x{number}", number * 7919).into_bytes(), Forms::Both))
            .collect();
        let dictionary = round_trip(&words, &[b"\n".to_vec()]);
        assert!(dictionary.blocks.len() > 3);
        for number in (0..200_000).step_by(9973).chain([0, 199_999]) {
            assert_eq!(dictionary.find_word(&words[number].0).unwrap(), Some(number as u32));
            assert_eq!(dictionary.token(2 * number as u32 + 1).unwrap()[1..], words[number].0);
        }
        assert_eq!(dictionary.find_word(b"").unwrap(), None);
        assert_eq!(dictionary.find_word(b"\n").unwrap(), None);
        assert!(dictionary.tokens(1000).is_err());
    }

    #[test]
    fn empty_entries_are_refused() {
        let words = [Entry { bytes: b"", forms: Forms::Bare }];
        let section = encode(&words, &[b"."], Level::Fast);
        assert!(Dictionary::open(&section, &Budget::unlimited()).unwrap().tokens(1000).is_err());
        let section = encode(&[], &[b""], Level::Fast);
        assert!(Dictionary::open(&section, &Budget::unlimited()).unwrap().tokens(1000).is_err());
    }

    #[test]
    fn a_block_longer_than_the_text_is_not_unpacked() {
        let word = vec![b'x'; 64 << 20];
        let words = [Entry { bytes: &word, forms: Forms::Bare }];
        let section = encode(&words, &[], Level::Fast);
        let dictionary = Dictionary::open(&section, &Budget::unlimited()).unwrap();
        // Unpacked each time, they would be 640 GB.
        for _ in 0..10_000 {
            assert!(dictionary.tokens(1000).is_err());
        }
        assert_eq!(dictionary.tokens(64 << 20).unwrap().length(0), 64 << 20);
    }
}
