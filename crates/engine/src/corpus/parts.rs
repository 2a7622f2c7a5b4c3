//! Where documents are in segments: a long one may go on from one segment to the next.

use tadoc_core::usize_of;

use crate::error::{Error, Result};
use crate::{Document, SegmentInfo};

/// A document, or what of it is in one segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) document: u32,
    pub(crate) segment: u32,
    /// Its number among the documents of the segment.
    pub(crate) place: u32,
    /// Where it starts in the text of the segment.
    pub(crate) text_start: u64,
    /// Where it starts in the document.
    pub(crate) offset: u64,
    pub(crate) bytes: u64,
}

/// The parts of documents, and the first one of each document: by their lengths and those of the segments.
#[expect(
    clippy::cast_possible_truncation,
    reason = "there are fewer than 2^32 parts, and so documents and segments"
)]
pub(crate) fn parts_of(
    documents: &[Document],
    segments: &[SegmentInfo],
) -> Result<(Vec<Part>, Vec<u32>)> {
    // There are at most as many parts as documents and segments.
    if documents.len() as u64 + segments.len() as u64 > u64::from(u32::MAX) {
        let most = u32::MAX.into();
        return Err(Error::TooMany { what: "documents and segments of an archive", most });
    }
    let mut parts = Vec::with_capacity(documents.len());
    let mut first_parts = Vec::with_capacity(documents.len() + 1);
    // Bytes of a document that were in segments before.
    let mut offset = 0;
    for (number, segment) in segments.iter().enumerate() {
        let mut text_start = 0;
        let first = usize_of(segment.first_document);
        for place in 0..segment.documents {
            let document = first + usize_of(place);
            let last = place + 1 == segment.documents;
            let goes_on = last
                && segments
                    .get(number + 1)
                    .is_some_and(|next| usize_of(next.first_document) == document);
            // A document that ends here has what is left of it; one that goes on has what is left of the segment.
            let left = documents[document].bytes.checked_sub(offset);
            let bytes = match goes_on {
                true => segment.text_bytes.checked_sub(text_start),
                false => left,
            };
            let bytes = bytes.filter(|&bytes| Some(bytes) <= left).ok_or_else(|| {
                tadoc_core::Error::malformed("documents are longer or shorter than their segments")
            })?;
            if offset == 0 && first_parts.len() == document {
                first_parts.push(parts.len() as u32);
            }
            let (document, segment) = (document as u32, number as u32);
            parts.push(Part { document, segment, place: place as u32, text_start, offset, bytes });
            text_start += bytes;
            offset = if goes_on { offset + bytes } else { 0 };
        }
    }
    first_parts.push(parts.len() as u32);
    Ok((parts, first_parts))
}
