//! Devices that are lost and devices that are small: an answer is the right one, or there is an error that says why there is
//! none, and all memory is given back.

use super::*;
use crate::device::Api;
use crate::reference::networks::Shape;
use crate::testing::{Faults, open_faulty, spread};

const TASKS: [Task; 7] = [
    Task::WordCount,
    Task::Sort,
    Task::InvertedIndex,
    Task::TermVector,
    Task::SequenceCount { n: 3 },
    Task::SequenceCountPerDocument { n: 2 },
    Task::RankedInvertedIndex { n: 3 },
];

fn network(parts: u32) -> Network {
    let shape = Shape {
        seed: 7,
        items: 60,
        parts,
        rules: 40,
        body: 6,
        root: 400,
        documents: 9,
        rule_share: 60,
        longest: 200,
        reach: 1000,
    };
    shape.network()
}

/// What a run of a task on a device that is whole is like.
struct Whole {
    table: Table,
    calls: u64,
    most_taken: u64,
}

/// Every task with every strategy, on a device that has compiled all kernels.
fn for_each_task(
    network: &Network,
    mut each: impl FnMut(&GpuBackend, &Faults, Task, &Limits, Whole),
) {
    let Some((device, faults)) = open_faulty(u64::MAX) else { return };
    let backend = GpuBackend::new(Arc::clone(&device));
    // OpenCL counts what this device took; a CUDA driver knows of the whole GPU, and what others take of it.
    let free = || {
        let counted = device.info().api == Api::OpenCl;
        counted.then(|| device.free_memory().unwrap())
    };
    let at_first = free();
    for strategy in Strategy::ALL {
        let limits = Limits { strategy: Some(strategy), ..Limits::default() };
        for task in TASKS {
            let first = backend.table(network, task, &limits).unwrap();
            assert!(backend.has(network) && faults.taken() > 0);
            backend.forget();
            let before = (faults.calls(), faults.most_taken());
            let table = backend.table(network, task, &limits).unwrap();
            let whole =
                Whole { table, calls: faults.calls() - before.0, most_taken: faults.most_taken() };
            assert_eq!(whole.table, first);
            backend.forget();
            each(&backend, &faults, task, &limits, whole);
            faults.mend();
            backend.forget();
            assert_eq!((faults.taken(), free()), (0, at_first));
            assert_eq!(backend.table(network, task, &limits).unwrap(), first);
            backend.forget();
            assert_eq!((faults.taken(), free()), (0, at_first));
        }
    }
}

#[test]
fn lost_at_any_call() {
    let network = network(3);
    for_each_task(&network, |backend, faults, task, limits, whole| {
        for calls in spread(whole.calls, 60) {
            let failed = faults.failed();
            faults.lose_after(calls);
            let lost = backend.table(&network, task, limits);
            assert!(faults.failed() > failed);
            let said = lost.as_ref().map_or_else(ToString::to_string, |_| String::new());
            assert!(
                matches!(lost, Err(Error::Device { .. })) && said.contains("the device was lost"),
                "{task:?} {limits:?}, lost after {calls} of {} calls: {said:?}",
                whole.calls
            );
            assert!(!backend.has(&network));
            assert_eq!(faults.taken(), 0, "{task:?} {limits:?}, lost after {calls} calls");
            faults.mend();
        }
    });
}

#[test]
fn lost_while_kernels_are_compiled() {
    let network = network(2);
    let limits = Limits::default();
    for task in [Task::TermVector, Task::RankedInvertedIndex { n: 2 }] {
        let Some((device, faults)) = open_faulty(u64::MAX) else { return };
        let expected = GpuBackend::new(device).table(&network, task, &limits).unwrap();
        for calls in spread(faults.calls(), 10) {
            let Some((device, faults)) = open_faulty(u64::MAX) else { return };
            let backend = GpuBackend::new(device);
            faults.lose_after(calls);
            let lost = backend.table(&network, task, &limits);
            assert!(matches!(lost, Err(Error::Device { .. })), "after {calls} calls: {lost:?}");
            assert_eq!(faults.taken(), 0);
            faults.mend();
            assert_eq!(backend.table(&network, task, &limits).unwrap(), expected);
        }
    }
}

/// Whether there is an answer, which must be the right one; else there must be an error that names what is needed and what is free.
fn has_answer(found: Result<Table>, expected: &Table, what: &dyn Fn() -> String) -> bool {
    match found {
        Ok(table) => {
            assert_eq!(table, *expected, "{}", what());
            true
        }
        Err(error @ Error::TooLittleMemory { needed, free, .. }) => {
            assert!(needed > free, "{}: {error}", what());
            let said = error.to_string();
            for bytes in [needed, free] {
                assert!(said.contains(&bytes.to_string()), "{}: {said}", what());
            }
            false
        }
        Err(error) => panic!("{}: {error}", what()),
    }
}

#[test]
fn little_memory_gives_the_answer_or_none() {
    let network = network(8);
    let mut answered_in_pieces = 0;
    for_each_task(&network, |backend, faults, task, limits, whole| {
        let mut answered = Vec::new();
        for memory in spread(whole.most_taken, 40) {
            faults.set_memory(memory);
            let what = || format!("{task:?} {limits:?} in {memory} of {} bytes", whole.most_taken);
            let found = backend.table(&network, task, limits);
            answered.push(has_answer(found, &whole.table, &what));
            answered_in_pieces +=
                usize::from(answered.ends_with(&[true]) && !backend.has(&network));
            backend.forget();
            assert_eq!(faults.taken(), 0, "{}", what());
        }
        assert!(!answered[0], "{task:?} {limits:?} in no memory at all");
        assert!(answered.contains(&true), "{task:?} {limits:?} needs as much as it takes");
    });
    if crate::testing::device().is_some() {
        assert!(answered_in_pieces >= TASKS.len(), "{answered_in_pieces} in pieces");
    }
}

#[test]
fn memory_that_runs_out_in_the_middle() {
    for parts in [1, 4] {
        let network = network(parts);
        for_each_task(&network, |backend, faults, task, limits, whole| {
            let mut failed = 0;
            for calls in spread(whole.calls, 30) {
                faults.fill_after(calls);
                let what = || format!("{task:?} {limits:?}, {parts} parts, full after {calls}");
                let found = backend.table(&network, task, limits);
                failed += usize::from(!has_answer(found, &whole.table, &what));
                backend.forget();
                assert_eq!(faults.taken(), 0, "{}", what());
                faults.mend();
            }
            // The last calls take none.
            assert!((10..=30).contains(&failed), "{task:?} {limits:?}: {failed} failed");
        });
    }
}

#[test]
fn devices_say_how_little_they_have() {
    let Some((device, faults)) = open_faulty(1000) else { return };
    assert_eq!((device.info().memory, device.free_memory().unwrap()), (1000, 1000));
    let buffer = device.zeroed::<u32>(200).unwrap();
    assert_eq!((faults.taken(), device.free_memory().unwrap()), (800, 200));
    let refused = device.allocate::<u32>(51).unwrap_err();
    assert!(matches!(refused, Error::TooLittleMemory { needed: 204, free: 200, .. }), "{refused}");
    drop(buffer);
    assert_eq!((faults.taken(), faults.most_taken(), faults.most_taken()), (0, 800, 0));
    let error = GpuBackend::new(device).table(&network(5), Task::Sort, &Limits::default());
    let said = error.unwrap_err().to_string();
    assert!(said.contains("has 1000 bytes of memory free"), "{said}");
}

#[test]
fn tasks_without_kernels_are_refused() {
    let Some((device, _)) = open_faulty(1 << 20) else { return };
    let backend = GpuBackend::new(device);
    let (network, limits) = (network(5), Limits::default());
    for task in [
        Task::TfIdf(tadoc_core::TfIdfOptions::default()),
        Task::Cooccurrence { window: 5, ordered: false },
        Task::Collocations { window: 1, measure: tadoc_core::Measure::default() },
    ] {
        assert!(!GpuBackend::has_task(task));
        let refused = backend.table(&network, task, &limits);
        assert!(matches!(refused, Err(Error::Unsupported { .. })), "{task:?}");
        assert!(!backend.has(&network), "{task:?} is refused before anything is loaded");
    }
    assert!(TASKS.into_iter().all(GpuBackend::has_task));
}
