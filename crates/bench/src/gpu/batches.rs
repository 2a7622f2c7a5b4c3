//! Batches of random access on the device, beside one thread of the processor.
//!
//! Both sides have the archive loaded and get the same operations; results are in the host's memory in the end, on both. On the device two times are
//! taken: its own, from requests that are there to results that are there, and the host's from operations to outcomes. Edits
//! are inserts and appends of [`EDIT_BYTES`] bytes whose offsets all mean the text before: both sides make them in the pieces of
//! the documents that they keep, which extracts then see. The processor also journals them, in memory and not synced.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use rayon::ThreadPool;
use tadoc_engine::access::{Access, DeviceAccess, Index, Operation, Outcome};
use tadoc_engine::gpu::Device;
use tadoc_engine::{Corpus, Edit, Editor};

use super::result::BatchResult;
use crate::access::operations::{Drawn, Kind};

/// Bytes of an edit.
const EDIT_BYTES: usize = 64;
/// Places, words and texts follow from this.
const SEED: u64 = 1;
/// A batch that would take one thread longer than this is cut for it, and its time scaled.
const LONGEST_SECONDS: f64 = 20.0;
/// Extracts by which edited texts are compared.
const COMPARED: usize = 10_000;
/// Operations that say how long a batch will take.
const TRIED: usize = 200;

/// The kinds of reads.
const READS: [Kind; 3] = [Kind::CountInDocument, Kind::SearchInDocument, Kind::Extract];

/// Measures batches of so many operations.
pub fn measure(
    archive: &Path,
    device: &Arc<Device>,
    count: u64,
    rounds: usize,
    one_thread: &ThreadPool,
    check: bool,
) -> Result<Vec<BatchResult>> {
    let drawn = Drawn::of(archive, count, SEED)?;
    let corpus = Corpus::open(archive)?;
    let access = Arc::new(Access::open(&corpus, Index::Fast)?);
    access.load()?;
    let start = Instant::now();
    let mut on_device = DeviceAccess::new(Arc::clone(&access), Arc::clone(device))?;
    device.finish()?;
    eprintln!("  loaded to the device in {:.0} ms", start.elapsed().as_secs_f64() * 1e3);
    let mut results = Vec::new();
    for kind in READS {
        let operations = drawn.batch(kind);
        let (mut device_seconds, mut host_seconds) = (Vec::new(), Vec::new());
        // The first round compiles kernels.
        for round in 0..=rounds {
            let start = Instant::now();
            let outcomes = on_device.run(&operations);
            if round > 0 {
                host_seconds.push(start.elapsed().as_secs_f64());
                device_seconds.push(on_device.device_time()?.as_secs_f64());
            }
            ensure!(outcomes.iter().all(Result::is_ok), "operations failed on the device");
        }
        let run = |some: &[Operation]| {
            let start = Instant::now();
            drop(one_thread.install(|| access.run(some)));
            start.elapsed().as_secs_f64()
        };
        let processor_seconds = scaled(&operations, run);
        let checked = match check {
            true => Some(same(&on_device.run(&operations), &access.run(&operations))),
            false => None,
        };
        let (kind, operations) = (kind.name().to_owned(), operations.len() as u64);
        results.push(BatchResult {
            kind,
            operations,
            device_seconds,
            host_seconds,
            processor_seconds,
            checked,
        });
    }
    // What is read of the edited text, to compare it.
    let mut reads = drawn.batch(Kind::Extract);
    reads.truncate(COMPARED);
    let text = vec![b'x'; EDIT_BYTES];
    let append = |&(document, _): &(u32, u64)| Edit::Append { document, text: &text };
    let insert = |&(document, offset): &(u32, u64)| Edit::Insert { document, offset, text: &text };
    let kinds: [(&str, Vec<Edit<'_>>); 2] = [
        ("append 64 bytes", drawn.places.iter().map(append).collect()),
        ("insert 64 bytes as a snapshot", drawn.places.iter().map(insert).collect()),
    ];
    for (kind, edits) in kinds {
        let (mut device_seconds, mut host_seconds) = (Vec::new(), Vec::new());
        for round in 0..=rounds {
            // Each round edits the text as it is stored.
            for segment in 0..access.segment_count() {
                on_device.evict(segment);
            }
            on_device = DeviceAccess::new(Arc::clone(&access), Arc::clone(device))?;
            device.finish()?;
            let start = Instant::now();
            on_device.edit_together(&edits)?;
            device.finish()?;
            if round > 0 {
                host_seconds.push(start.elapsed().as_secs_f64());
                device_seconds.push(on_device.device_time()?.as_secs_f64());
            }
        }
        let (processor_seconds, expected) =
            edit_on_processor(archive, &edits, one_thread, check.then_some(&reads))?;
        let checked = expected.map(|expected| same(&on_device.run(&reads), &expected));
        let (kind, operations) = (kind.to_owned(), edits.len() as u64);
        results.push(BatchResult {
            kind,
            operations,
            device_seconds,
            host_seconds,
            processor_seconds,
            checked,
        });
    }
    Ok(results)
}

/// Makes edits in a copy of the archive on one thread: the seconds that they take, and what is then read.
fn edit_on_processor(
    archive: &Path,
    edits: &[Edit<'_>],
    one_thread: &ThreadPool,
    reads: Option<&Vec<Operation>>,
) -> Result<(f64, Option<Vec<tadoc_engine::Result<Outcome>>>)> {
    let folder = tempfile::tempdir().context("making a folder for a copy of the archive")?;
    let copy = folder.path().join("copy.tdc");
    std::fs::copy(archive, &copy).context("copying the archive")?;
    let mut transaction = Editor::open(&copy)?.begin()?;
    // From then on it keeps the pieces of documents, and edits are made in them.
    drop(transaction.corpus()?);
    let start = Instant::now();
    one_thread.install(|| transaction.edit_together(edits))?;
    let seconds = start.elapsed().as_secs_f64();
    let outcomes = match reads {
        Some(reads) => {
            let corpus = transaction.corpus()?;
            Some(Access::open(&corpus, Index::None)?.run(reads))
        }
        None => None,
    };
    Ok((seconds, outcomes))
}

/// What a batch takes; a long one by its first operations.
fn scaled<T>(batch: &[T], run: impl Fn(&[T]) -> f64) -> f64 {
    let each = run(&batch[..batch.len().min(TRIED)]) / batch.len().clamp(1, TRIED) as f64;
    let fitting = ((LONGEST_SECONDS / each.max(1e-9)) as usize).clamp(1, batch.len().max(1));
    let some = &batch[..fitting.min(batch.len())];
    run(some) * batch.len() as f64 / some.len().max(1) as f64
}

/// Whether all outcomes are the same.
fn same(
    found: &[tadoc_engine::Result<Outcome>],
    expected: &[tadoc_engine::Result<Outcome>],
) -> bool {
    let equal =
        |(one, other): (&tadoc_engine::Result<Outcome>, &tadoc_engine::Result<Outcome>)| match (
            one, other,
        ) {
            (Ok(one), Ok(other)) => one == other,
            (Err(one), Err(other)) => one.to_string() == other.to_string(),
            _ => false,
        };
    found.len() == expected.len() && found.iter().zip(expected).all(equal)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_batches_are_scaled() {
        // A tenth of a second each: 200 of them are run, and the rest is reckoned.
        let batch = vec![0; 1000];
        let seconds = scaled(&batch, |some| some.len() as f64 * 0.1);
        assert!((seconds - 100.0).abs() < 1e-6, "{seconds}");
        assert_eq!(scaled(&[0_u8; 0], |_| 0.0), 0.0);
    }
}
