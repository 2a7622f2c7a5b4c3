//! Occurrences on their way from the engine to rows: batch by batch, so that no answer is in memory as a whole.

use std::ops::{ControlFlow, Range};

use tadoc_engine::Document;
use tadoc_engine::answer::{Column, Rows, Value};

use super::Opened;
use super::phrase::Asked;

/// The columns of occurrences.
pub const COLUMNS: &[Column] = &[Column::text("document"), Column::count("offset")];

/// Where a phrase occurs: the document's number, and the offset in it.
pub type Place = (u32, u64);

/// Gives what is looked for to `each`: archive after archive, in order and at most `batch` places at a time,
/// until there are no more or `most` were given; tells how many were.
pub fn for_each_batch<'o, 'c>(
    asked: &[Asked<'o, 'c>],
    most: Option<u64>,
    batch: usize,
    each: &mut dyn FnMut(&'o Opened<'c>, &[Place]) -> anyhow::Result<()>,
) -> anyhow::Result<u64> {
    let most = most.unwrap_or(u64::MAX);
    let mut given = 0;
    for asked in asked {
        if given == most {
            break;
        }
        let each = &mut |places: &[Place]| each(asked.opened, places);
        given += for_each_batch_of(asked, most - given, batch, each)?;
    }
    Ok(given)
}

/// The same for one archive; `most` is not 0.
fn for_each_batch_of(
    Asked { opened, phrase, scope }: &Asked<'_, '_>,
    most: u64,
    batch: usize,
    each: &mut dyn FnMut(&[Place]) -> anyhow::Result<()>,
) -> anyhow::Result<u64> {
    let mut waiting: Vec<Place> = Vec::new();
    let mut given = 0;
    let mut result = Ok(());
    let searched = opened.access.search(phrase, scope, &mut |document, mut offsets| {
        while !offsets.is_empty() {
            let left = most - given - waiting.len() as u64;
            let room = ((batch - waiting.len()) as u64).min(left) as usize;
            let (now, later) = offsets.split_at(room.min(offsets.len()));
            waiting.extend(now.iter().map(|&offset| (document, offset)));
            offsets = later;
            let full = given + waiting.len() as u64 == most;
            if full || waiting.len() == batch {
                given += waiting.len() as u64;
                result = each(&waiting);
                waiting.clear();
                if full || result.is_err() {
                    return ControlFlow::Break(());
                }
            }
        }
        ControlFlow::Continue(())
    });
    result?;
    opened.told(searched)?;
    if !waiting.is_empty() {
        each(&waiting)?;
        given += waiting.len() as u64;
    }
    Ok(given)
}

/// A batch of places as rows.
pub struct Places<'p> {
    pub documents: &'p [Document],
    pub places: &'p [Place],
}

impl Rows for Places<'_> {
    fn columns(&self) -> &'static [Column] {
        COLUMNS
    }

    fn len(&self) -> u64 {
        self.places.len() as u64
    }

    fn visit(&self, rows: Range<u64>, each: &mut dyn FnMut(&[Value<'_>])) {
        for &(document, offset) in &self.places[rows.start as usize..rows.end as usize] {
            each(&[Value::Text(&self.documents[document as usize].name), Value::Count(offset)]);
        }
    }
}
