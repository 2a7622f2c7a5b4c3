//! The whole of the storage: a chain with every kind of phase, on every medium, through every fault.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use crate::medium::mapped::Mapped;
use crate::medium::simulated::Simulated;
use crate::testing::{ARCHIVE, chain, check, fill, random, run, run_chain};
use crate::work::Work;
use crate::{Chain, Error, Persist, Pool};

/// Phases of the chain, with the base's.
const PHASES: usize = 5;
const ROOM: usize = 4 << 20;

fn finished(pool: &Pool) -> usize {
    pool.resumptions().iter().map(|resumption| resumption.finished.len()).sum()
}

#[test]
fn work_without_a_file_gives_the_same() {
    let mut work = Work::volatile(1 << 20);
    let filled = fill(&mut work).unwrap();
    check(&run_chain(&mut work, filled).unwrap());
}

#[test]
fn a_chain_is_found_finished_on_a_file() {
    let folder = tempfile::tempdir().unwrap();
    for persist in Persist::ALL {
        let path = folder.path().join(persist.name());
        for found in [0, PHASES, PHASES] {
            let mut pool = Pool::open(&path, ARCHIVE).unwrap();
            assert_eq!(pool.medium(), "mapped file");
            check(&run(&mut pool, persist).unwrap());
            assert_eq!(finished(&pool), found);
            assert!(pool.resumptions().iter().all(|resumption| resumption.discarded.is_empty()));
        }
    }
}
