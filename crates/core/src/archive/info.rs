//! What the archive says about itself: the section `INFO` of docs/format.md. A few dozen bytes.

use super::origin::Origin;
use super::types::{Level, SegmentInfo};
use super::wire::{Reader, put_varint};
use crate::error::Result;

/// Segments are numbered with fewer bits than sections could be.
pub(super) const MOST_SEGMENTS: u64 = 1 << 16;

/// Documents, tokens, rules and symbols of a segment are numbered with 32 bits.
const MOST_OF_A_SEGMENT: u64 = 1 << 32;

/// The fields of the section, and those of `ORIG`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Summary {
    /// The program that wrote the archive.
    pub written_by: String,
    /// `words` or `whitespace`.
    pub lexer: String,
    /// `repair` or `sequitur`.
    pub builder: String,
    /// How the segments are encoded.
    pub level: Level,
    /// Number of documents.
    pub documents: u64,
    /// Bytes of text.
    pub text_bytes: u64,
    /// The segments.
    pub segments: Vec<SegmentInfo>,
    /// How the documents were made of files, where that is recorded: in a section of its own.
    pub origin: Option<Origin>,
}

pub(super) fn encode(summary: &Summary) -> Vec<u8> {
    let mut section = Vec::new();
    for text in [&summary.written_by, &summary.lexer, &summary.builder] {
        put_varint(&mut section, text.len() as u64);
        section.extend_from_slice(text.as_bytes());
    }
    let level = match summary.level {
        Level::Fast => 0,
        Level::Dense => 1,
    };
    for number in [level, summary.documents, summary.text_bytes, summary.segments.len() as u64] {
        put_varint(&mut section, number);
    }
    for segment in &summary.segments {
        for field in fields(&mut { *segment }) {
            put_varint(&mut section, *field);
        }
    }
    section
}

pub(super) fn decode(section: &[u8]) -> Result<Summary> {
    let mut reader = Reader::new(section, "section INFO");
    let mut texts = [const { String::new() }; 3];
    for text in &mut texts {
        let length = reader.varint()?;
        let bytes = reader.take(length)?.to_vec();
        *text = String::from_utf8(bytes).map_err(|_| reader.malformed("a text is not UTF-8"))?;
    }
    let [written_by, lexer, builder] = texts;
    let level = match reader.varint()? {
        0 => Level::Fast,
        1 => Level::Dense,
        other => return Err(reader.malformed(format!("{other} is no level"))),
    };
    let documents = reader.varint()?;
    let text_bytes = reader.varint()?;
    let count = reader.bounded(MOST_SEGMENTS, "segments")?;
    let mut segments = Vec::new();
    for _ in 0..count {
        let mut segment = SegmentInfo::default();
        for field in fields(&mut segment) {
            *field = reader.varint()?;
        }
        let SegmentInfo {
            documents, token_types, words, rules, symbols, root_symbols, depth, ..
        } = segment;
        for figure in [documents, token_types, words, rules, symbols, root_symbols, depth] {
            if figure > MOST_OF_A_SEGMENT {
                return Err(reader.malformed(format!(
                    "a segment has {figure} of what there are at most {MOST_OF_A_SEGMENT}"
                )));
            }
        }
        segments.push(segment);
    }
    // Whoever adds these up is not to be surprised.
    let sum = |figure: fn(&SegmentInfo) -> u64| {
        segments.iter().try_fold(0_u64, |sum, segment| sum.checked_add(figure(segment)))
    };
    if sum(|segment| segment.text_bytes).is_none() || sum(|segment| segment.tokens).is_none() {
        return Err(reader.malformed("segments have more than 2^64 bytes or tokens"));
    }
    reader.finish()?;
    let origin = None;
    Ok(Summary { written_by, lexer, builder, level, documents, text_bytes, segments, origin })
}

/// The fields of a segment, in the order of the file.
fn fields(segment: &mut SegmentInfo) -> [&mut u64; 10] {
    [
        &mut segment.first_document,
        &mut segment.documents,
        &mut segment.text_bytes,
        &mut segment.tokens,
        &mut segment.token_types,
        &mut segment.words,
        &mut segment.rules,
        &mut segment.symbols,
        &mut segment.root_symbols,
        &mut segment.depth,
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summaries_round_trip() {
        let mut segment = SegmentInfo::default();
        fields(&mut segment).into_iter().zip(1..).for_each(|(field, number)| *field = number);
        let summary = Summary {
            written_by: "tadoc 1".into(),
            lexer: "words".into(),
            builder: "repair".into(),
            level: Level::Dense,
            documents: 3,
            text_bytes: 1 << 40,
            segments: vec![segment, SegmentInfo::default()],
            origin: None,
        };
        let section = encode(&summary);
        assert_eq!(decode(&section).unwrap(), summary);
        for cut in 0..section.len() {
            assert!(decode(&section[..cut]).is_err());
        }
    }

    #[test]
    fn figures_that_cannot_be_are_refused() {
        let of = |change: fn(&mut SegmentInfo)| {
            let mut segments = vec![SegmentInfo::default(); 2];
            segments.iter_mut().for_each(change);
            decode(&encode(&Summary { segments, ..Summary::default() }))
        };
        assert!(of(|segment| segment.text_bytes = 1 << 62).is_ok());
        assert!(of(|segment| segment.text_bytes = 1 << 63).is_err());
        assert!(of(|segment| segment.tokens = u64::MAX).is_err());
        assert!(of(|segment| segment.rules = 1 << 32).is_ok());
        assert!(of(|segment| segment.rules = (1 << 32) + 1).is_err());
        assert!(of(|segment| segment.token_types = u64::MAX).is_err());
        assert!(of(|segment| segment.first_document = u64::MAX).is_ok());
    }
}
