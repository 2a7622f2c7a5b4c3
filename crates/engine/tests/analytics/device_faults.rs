//! Tasks on a device that is lost, that is small, or whose memory runs out: by choice the processor answers, and tells why; if a GPU
//! is asked for, there is an error that says what is wrong.

use std::sync::Arc;

use tadoc_core::{Limits, Strategy, Task, View};
use tadoc_engine::backend::{Backends, Choice};
use tadoc_engine::gpu::Device;
use tadoc_engine::gpu::testing::{Faults, open_faulty, spread};
use tadoc_engine::{Analyzer, Builder, Corpus, Error, Lexer};
use tadoc_oracle::cases;
use tadoc_testing::archives::compress;

use super::support::{Row, names, rows};

const TASKS: [Task; 7] = [
    Task::WordCount,
    Task::Sort,
    Task::InvertedIndex,
    Task::TermVector,
    Task::SequenceCount { n: 2 },
    Task::SequenceCountPerDocument { n: 3 },
    Task::RankedInvertedIndex { n: 2 },
];

/// A view of several parts, and the names of its documents.
struct Asked {
    view: View,
    names: Vec<Vec<u8>>,
}

impl Asked {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sample.tdc");
        let sample = cases().into_iter().find(|case| case.name == "sample").unwrap();
        compress(&sample.documents, &path, Lexer::Words, Builder::RePair, None).unwrap();
        let corpora = [(); 3].map(|()| Corpus::open(&path).unwrap());
        let view =
            tadoc_engine::view::make(&corpora.each_ref(), &Analyzer::new(), None, &()).unwrap();
        let names = names(&sample.documents).repeat(3);
        Self { view, names: names.into_iter().map(<[u8]>::to_vec).collect() }
    }

    /// The rows, and for those of the processor why they are.
    fn ask(
        &self,
        backends: &Backends,
        task: Task,
        limits: &Limits,
    ) -> Result<(Vec<Row>, Option<String>), Error> {
        let run = backends.answer(&self.view, task, limits)?;
        let names: Vec<&[u8]> = self.names.iter().map(Vec::as_slice).collect();
        let found = rows(&*run.answered.answer, &self.view, &names);
        Ok((found, run.device.is_none().then_some(run.reason)))
    }
}

/// Asks with and without a choice while something is wrong; whether the device has answered nevertheless.
fn check(
    asked: &Asked,
    device: &Arc<Device>,
    (task, limits): (Task, &Limits),
    expected: &[Row],
    fault: &dyn Fn(),
    said: &str,
) -> bool {
    let ask = |choice: Choice| {
        fault();
        asked.ask(&Backends::with_device(choice, Arc::clone(device)), task, limits)
    };
    let (found, reason) = ask(Choice::Auto).unwrap();
    assert!(found == expected, "{task:?} {limits:?}");
    let on_device = reason.is_none();
    if let Some(reason) = reason {
        assert!(reason.contains(said), "{task:?} {limits:?}: {reason}");
    }
    match ask(Choice::Gpu) {
        Ok((found, reason)) => {
            assert!(found == expected && reason.is_none() && on_device, "{task:?} {limits:?}");
        }
        Err(Error::Gpu(error)) => {
            let is_told = error.to_string().contains(said);
            assert!(is_told && !on_device, "{task:?} {limits:?}: {error}");
        }
        Err(error) => panic!("{task:?} {limits:?}: {error}"),
    }
    on_device
}

#[test]
fn the_processor_answers_for_a_device_that_fails() {
    let Some((device, faults)) = open_faulty(u64::MAX) else { return };
    let asked = Asked::new();
    let on_cpu = Backends::new(Choice::Cpu, None);
    for strategy in [Strategy::TopDown, Strategy::BottomUp] {
        let limits = Limits { strategy: Some(strategy), ..Default::default() };
        for task in TASKS {
            let (expected, _) = asked.ask(&on_cpu, task, &limits).unwrap();
            let one = |fault: &dyn Fn(), said: &str| {
                let on_device = check(&asked, &device, (task, &limits), &expected, fault, said);
                faults.mend();
                assert_eq!(faults.taken(), 0, "{task:?} {limits:?}");
                on_device
            };
            // The first one compiles kernels.
            assert!(one(&|| {}, ""));
            let (before, _) = (faults.calls(), faults.most_taken());
            assert!(one(&|| {}, ""));
            // Both choices were asked.
            let calls = (faults.calls() - before) / 2;
            for after in spread(calls, 6) {
                assert!(!one(&|| faults.lose_after(after), "the device was lost"));
            }
            let memory = faults.most_taken();
            let faults: &Faults = &faults;
            let little = "bytes of memory free";
            for after in spread(calls, 6) {
                one(&|| faults.fill_after(after), little);
            }
            for bytes in spread(memory, 6) {
                let on_device = one(&|| faults.set_memory(bytes), little);
                assert!(bytes > 0 || !on_device);
            }
        }
    }
}

#[test]
fn a_device_too_small_for_anything_says_so() {
    let Some((device, _)) = open_faulty(4096) else { return };
    let asked = Asked::new();
    let limits = Limits::default();
    for task in TASKS {
        let (expected, _) = asked.ask(&Backends::new(Choice::Cpu, None), task, &limits).unwrap();
        let said = "has 4096 bytes of memory free";
        assert!(!check(&asked, &device, (task, &limits), &expected, &|| {}, said));
    }
}
