//! Inserts in sequence, each of which sees those before it, turned into inserts all at once.
//!
//! Done on the host: each insert depends on the one before. What is inserted into something that was itself inserted becomes one text with it. A
//! document is a list of stretches in chunks. Cost: for each insert a look at the chunks of its document and at the stretches of one, so about the
//! square root of the inserts into that document; and the bytes of all texts.

use std::collections::BTreeMap;

/// Stretches of a chunk at the most.
const CHUNK: usize = 256;

/// A stretch of a document: of the text before the inserts, or of one insert.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stretch {
    /// The place of the insert, or `None` for the text before.
    insert: Option<usize>,
    /// Where it starts in that.
    start: u64,
    length: u64,
}

#[derive(Debug, Default)]
struct Chunk {
    bytes: u64,
    stretches: Vec<Stretch>,
}

/// A document on its way.
#[derive(Debug)]
struct Stretches {
    bytes: u64,
    chunks: Vec<Chunk>,
}

impl Stretches {
    fn new(bytes: u64) -> Self {
        let whole = Stretch { insert: None, start: 0, length: bytes };
        Self { bytes, chunks: vec![Chunk { bytes, stretches: vec![whole] }] }
    }

    fn insert(&mut self, offset: u64, new: Stretch) {
        self.bytes += new.length;
        let (mut place, mut rest) = (0, offset);
        while rest > self.chunks[place].bytes {
            rest -= self.chunks[place].bytes;
            place += 1;
        }
        let chunk = &mut self.chunks[place];
        chunk.bytes += new.length;
        let mut at = 0;
        while at < chunk.stretches.len() && rest >= chunk.stretches[at].length {
            rest -= chunk.stretches[at].length;
            at += 1;
        }
        if rest == 0 {
            chunk.stretches.insert(at, new);
        } else {
            let cut = &mut chunk.stretches[at];
            let behind = Stretch { start: cut.start + rest, length: cut.length - rest, ..*cut };
            cut.length = rest;
            chunk.stretches.splice(at + 1..at + 1, [new, behind]);
        }
        if chunk.stretches.len() > CHUNK {
            let stretches = chunk.stretches.split_off(CHUNK / 2);
            let bytes = stretches.iter().map(|stretch| stretch.length).sum();
            chunk.bytes -= bytes;
            self.chunks.insert(place + 1, Chunk { bytes, stretches });
        }
    }
}

/// An insert in sequence: its document, before which byte of what the inserts before it have left (`None` for the end), and its text.
pub type InSequence<'t> = (u32, Option<u64>, &'t [u8]);

/// Documents, offsets in them, and texts that are put there all at once.
pub type Together = Vec<(u32, u64, Vec<u8>)>;

/// An insert that is not inside its document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutsideDocument {
    /// Its place among the inserts.
    pub number: usize,
    /// How long the document is then.
    pub bytes: u64,
}

/// Texts with the documents and offsets at which they are put all at once, so that what comes of it is what `inserts` give in sequence. `length_of`
/// gives the length of a document before. By document and offset, none of them in one place with another.
///
/// # Errors
/// The first insert that is not inside its document.
pub fn in_sequence(
    inserts: &[InSequence<'_>],
    length_of: impl Fn(u32) -> u64,
) -> Result<Together, OutsideDocument> {
    let mut documents: BTreeMap<u32, Stretches> = BTreeMap::new();
    for (number, &(document, offset, text)) in inserts.iter().enumerate() {
        let stretches =
            documents.entry(document).or_insert_with(|| Stretches::new(length_of(document)));
        let offset = offset.unwrap_or(stretches.bytes);
        if offset > stretches.bytes {
            return Err(OutsideDocument { number, bytes: stretches.bytes });
        }
        let length = text.len() as u64;
        if length > 0 {
            stretches.insert(offset, Stretch { insert: Some(number), start: 0, length });
        }
    }
    let mut together = Together::new();
    for (document, stretches) in documents {
        let mut offset = 0;
        for stretch in stretches.chunks.iter().flat_map(|chunk| &chunk.stretches) {
            let Some(number) = stretch.insert else {
                offset = stretch.start + stretch.length;
                continue;
            };
            let (start, length) = (stretch.start as usize, stretch.length as usize);
            let text = &inserts[number].2[start..start + length];
            match together.last_mut() {
                Some(last) if (last.0, last.1) == (document, offset) => {
                    last.2.extend_from_slice(text);
                }
                _ => together.push((document, offset, text.to_vec())),
            }
        }
    }
    Ok(together)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn together_they_do_what_they_do_in_sequence(
            old in prop::collection::vec("[A-Z]{0,20}", 1..4),
            given in prop::collection::vec((any::<(prop::sample::Index, prop::sample::Index)>(), 0..4_u8, "[a-z]{0,4}"), 0..700),
        ) {
            let mut plain: Vec<Vec<u8>> = old.iter().map(|text| text.clone().into_bytes()).collect();
            let mut inserts = Vec::new();
            for ((document, offset), kind, text) in &given {
                let document = document.index(plain.len());
                let now = &mut plain[document];
                let offset = offset.index(now.len() + 1);
                let at = if *kind == 0 { now.len() } else { offset };
                now.splice(at..at, text.bytes());
                let offset = (*kind != 0).then_some(offset as u64);
                inserts.push((document as u32, offset, text.as_bytes()));
            }
            let together =
                in_sequence(&inserts, |document| old[document as usize].len() as u64).unwrap();
            prop_assert!(together.is_sorted_by(|one, next| (one.0, one.1) < (next.0, next.1)));
            let mut made: Vec<Vec<u8>> = old.iter().map(|text| text.clone().into_bytes()).collect();
            for (document, offset, text) in together.iter().rev() {
                made[*document as usize].splice(*offset as usize..*offset as usize, text.iter().copied());
            }
            prop_assert_eq!(made, plain);
        }
    }

    #[test]
    fn an_insert_that_is_not_inside_is_told() {
        let inserts: [InSequence<'_>; 3] =
            [(0, Some(3), b"abc"), (0, Some(6), b"d"), (0, Some(8), b"e")];
        assert_eq!(in_sequence(&inserts[..2], |_| 3).unwrap(), [(0, 3, b"abcd".to_vec())]);
        assert_eq!(in_sequence(&inserts, |_| 3), Err(OutsideDocument { number: 2, bytes: 7 }));
    }
}
