//! Batches of reads on a device that is lost, that is small, or whose memory runs out: by choice the processor answers; if a GPU is asked
//! for, what it has not answered says why.

use std::sync::Arc;

use tadoc_engine::access::{Access, Index, Operation, Outcome};
use tadoc_engine::backend::{Backends, Choice, Reads};
use tadoc_engine::gpu::Device;
use tadoc_engine::gpu::testing::{open_faulty, spread};
use tadoc_engine::{Builder, Corpus, Error, Lexer};
use tadoc_oracle::{Random, cases};

use super::batches::operations;
use super::device::told;
use super::support::compress;

type Told = Vec<Result<Outcome, String>>;

/// An archive, operations on it, and what comes of them.
fn with_sample(run: impl FnOnce(&Arc<Access>, &[Operation], &Told)) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sample.tdc");
    let sample = cases().into_iter().find(|case| case.name == "sample").unwrap();
    compress(&sample.documents, &path, Lexer::Words, Builder::RePair, None).unwrap();
    let corpus = Corpus::open(&path).unwrap();
    let access = Arc::new(Access::open(&corpus, Index::Fast).unwrap());
    let asked = operations(&mut Random::new(31), Lexer::Words, &sample.documents, 150);
    run(&access, &asked, &told(access.run(&asked)));
}

/// Asks while something is wrong, which is said of everything that has no answer; gives how much that is.
fn check(
    access: &Arc<Access>,
    device: &Arc<Device>,
    (asked, expected): (&[Operation], &Told),
    fault: &dyn Fn(),
    said: &str,
) -> usize {
    fault();
    let backends = Backends::with_device(Choice::Auto, Arc::clone(device));
    let reads = Reads::new(Arc::clone(access), &backends, 0).unwrap();
    assert!(told(reads.run(asked)) == *expected);
    // What has failed does not stay so.
    assert!(told(reads.run(asked)) == *expected);
    drop(reads);
    fault();
    let backends = Backends::with_device(Choice::Gpu, Arc::clone(device));
    let reads = match Reads::new(Arc::clone(access), &backends, 0) {
        Ok(reads) => reads,
        Err(Error::Gpu { what }) => {
            assert!(what.contains(said), "{what}");
            return asked.len();
        }
        Err(error) => panic!("{error}"),
    };
    let mut failed = 0;
    for ((found, expected), asked) in told(reads.run(asked)).iter().zip(expected).zip(asked) {
        match found {
            Err(what) if found != expected => {
                assert!(what.contains(said), "{asked:?}: {what}");
                failed += 1;
            }
            _ => assert_eq!(found, expected, "{asked:?}"),
        }
    }
    failed
}

#[test]
fn the_processor_answers_for_a_device_that_fails() {
    let Some((device, faults)) = open_faulty(u64::MAX) else { return };
    with_sample(|access, asked, expected| {
        let one = |fault: &dyn Fn(), said: &str| {
            let failed = check(access, &device, (asked, expected), fault, said);
            faults.mend();
            assert_eq!(faults.taken(), 0);
            failed
        };
        // The first one compiles kernels.
        assert_eq!(one(&|| {}, ""), 0);
        let (before, _) = (faults.calls(), faults.most_taken());
        let backends = Backends::with_device(Choice::Gpu, Arc::clone(&device));
        assert!(
            told(Reads::new(Arc::clone(access), &backends, 0).unwrap().run(asked)) == *expected
        );
        let (calls, memory) = (faults.calls() - before, faults.most_taken());
        for after in spread(calls, 60) {
            assert!(one(&|| faults.lose_after(after), "the device was lost") > 0, "{after}");
        }
        let little = "bytes of memory free";
        let failed: usize = spread(calls, 30)
            .into_iter()
            .map(|after| one(&|| faults.fill_after(after), little))
            .sum();
        assert!(failed > asked.len());
        for bytes in spread(memory, 30) {
            let failed = one(&|| faults.set_memory(bytes), little);
            assert!(bytes > 0 || failed > 0);
        }
    });
}

/// Small devices, which know that they are: segments stay, come anew for each batch, or do not fit at all.
#[test]
fn small_devices() {
    with_sample(|access, asked, expected| {
        let Some((device, faults)) = open_faulty(u64::MAX) else { return };
        assert_eq!(check(access, &device, (asked, expected), &|| {}, ""), 0);
        let memory = faults.most_taken();
        let mut failed = Vec::new();
        for part in [1, 40, 80, 100, 150, 400] {
            let (device, faults) = open_faulty(memory * part / 100).unwrap();
            let said = "bytes of memory free";
            failed.push(check(access, &device, (asked, expected), &|| {}, said));
            assert_eq!(faults.taken(), 0);
        }
        assert!(failed[0] > 0 && failed.ends_with(&[0]), "{failed:?}");
    });
}
