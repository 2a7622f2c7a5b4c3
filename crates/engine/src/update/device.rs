//! A snapshot batch turned into edits in sequence, with the order and the offsets made on a device.
//!
//! What comes of it is exactly what `offsets` makes. Cost: the lengths of all documents and 12 bytes an edit to the device, 8 back; the
//! texts stay where they are. Batches that also delete or replace are put in order by the processor, and so are those
//! that have 4 GiB or more, or whose documents do.

use std::sync::Arc;

use tadoc_core::archive::journal::Edit;
use tadoc_gpu::Device;
use tadoc_gpu::access::{Insert, InsertPlaces, order};

use super::ledger::Ledger;
use super::offsets;
use crate::error::Result;

/// As [`offsets::sequence_of`].
pub(super) fn sequence_of<'t>(
    edits: &[Edit<'t>],
    ledger: &Ledger,
    device: &Arc<Device>,
) -> Result<Vec<Edit<'t>>> {
    let mut inserts = Vec::with_capacity(edits.len());
    for edit in edits {
        let (document, offset, text) = match *edit {
            Edit::Insert { document, offset, text } => (document, Some(offset), text),
            Edit::Append { document, text } => (document, None, text),
            _ => return offsets::sequence_of(edits, ledger),
        };
        ledger.check(edit)?;
        if ledger.bytes(document) >= u32::MAX.into() {
            return offsets::sequence_of(edits, ledger);
        }
        // Checked: no further than the end of the document.
        #[expect(
            clippy::cast_possible_truncation,
            reason = "within the document, which has less than 4 GiB"
        )]
        inserts.push(Insert { document, offset: offset.map(|offset| offset as u32), text });
    }
    let lengths: Vec<u32> = (0..ledger.next_number())
        .map(|document| u32::try_from(ledger.bytes(document)).unwrap_or(u32::MAX))
        .collect();
    let ordered = || {
        let places = InsertPlaces::upload(device, &inserts)?;
        let longest = lengths.iter().max().copied().unwrap_or(0);
        order(&places, &device.upload(&lengths)?, longest.into())?.download()
    };
    let (numbers, before) = match ordered() {
        Ok(ordered) => ordered,
        Err(tadoc_gpu::Error::Unsupported { .. }) => return offsets::sequence_of(edits, ledger),
        Err(error) => return Err(error.into()),
    };
    let in_order: Vec<(Insert<'t>, u64, u32)> = numbers
        .iter()
        .zip(before)
        .map(|(&number, before)| {
            let insert = inserts[number as usize];
            let end = lengths[insert.document as usize];
            (insert, insert.offset.unwrap_or(end).into(), before)
        })
        .collect();
    let mut sequence = Vec::with_capacity(in_order.len());
    for of_document in in_order.chunk_by(|one, next| one.0.document == next.0.document) {
        let document = of_document[0].0.document;
        let end = u64::from(lengths[document as usize]);
        // From the end to the start, so that offsets stay right; those in one place from the start to the end.
        let places: Vec<_> = of_document.chunk_by(|one, next| one.1 == next.1).collect();
        for place in places.into_iter().rev() {
            let first = place[0].2;
            for &(Insert { text, .. }, offset, before) in place {
                if text.is_empty() {
                    continue;
                }
                let offset =
                    if offset == end { None } else { Some(offset + u64::from(before - first)) };
                sequence.push(match offset {
                    None => Edit::Append { document, text },
                    Some(offset) => Edit::Insert { document, offset, text },
                });
            }
        }
    }
    Ok(sequence)
}
