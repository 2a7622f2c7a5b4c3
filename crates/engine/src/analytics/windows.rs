//! Stretches of the root, cut by documents.

use std::ops::Range;

use tadoc_core::Network;

/// Cuts a stretch of the root by documents; calls `each` with a document's place, its symbols before the
/// stretch, and those in it.
pub(super) fn for_each_document<'n>(
    network: &'n Network,
    stretch: Range<u32>,
    mut each: impl FnMut(usize, &'n [u32], &'n [u32]),
) {
    let root = network.grammar().root();
    let starts = network.grammar().document_starts();
    // The last one that starts there is the one that has symbols there.
    let mut document = starts.partition_point(|&start| start <= stretch.start).max(1) - 1;
    let mut at = stretch.start;
    while at < stretch.end {
        let end = starts[document + 1].min(stretch.end);
        if at < end {
            let start = starts[document] as usize;
            each(document, &root[start..at as usize], &root[at as usize..end as usize]);
        }
        at = end;
        document += 1;
    }
}
