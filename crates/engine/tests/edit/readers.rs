//! A reader against a writer: it sees one state that there was, and none that is older than what was committed before it opened the archive.
//!
//! `TADOC_TEST_SECONDS` makes it run longer.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tadoc_engine::access::Index;
use tadoc_engine::update::RecompressOptions;
use tadoc_engine::{Corpus, Durability, Editor};
use tadoc_oracle::Random;

use super::states;

fn seconds() -> u64 {
    std::env::var("TADOC_TEST_SECONDS")
        .ok()
        .map_or(4, |seconds| seconds.parse().expect("TADOC_TEST_SECONDS is a number"))
}

/// Ends the others when it goes, also by a panic.
struct End<'e>(&'e AtomicBool);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

#[test]
fn readers_see_states_that_existed() {
    let folder = tempfile::tempdir().unwrap();
    let path = &folder.path().join("states.tdc");
    states::make(path);
    let end = Instant::now() + Duration::from_secs(seconds());
    // The last state that is committed, and the last that may be.
    let (committed, begun) = (&AtomicU64::new(0), &AtomicU64::new(0));
    let is_over = &AtomicBool::new(false);
    let reads = &[AtomicU64::new(0), AtomicU64::new(0)];
    let recompressions = std::thread::scope(|scope| {
        let readers: Vec<_> = reads
            .iter()
            .zip(0..)
            .map(|(reads, number)| {
                scope.spawn(move || {
                    let mut random = Random::new(number);
                    let mut kept: Option<(Corpus, u64)> = None;
                    while !is_over.load(Ordering::SeqCst) {
                        let least = committed.load(Ordering::SeqCst);
                        let corpus = Corpus::open(path).unwrap();
                        let most = begun.load(Ordering::SeqCst);
                        let state = states::state_of(&corpus, "");
                        assert!((least..=most).contains(&state), "{least} <= {state} <= {most}");
                        // One that was opened before stays as it was.
                        if let Some((corpus, state)) = &kept {
                            assert_eq!(states::state_of(corpus, ""), *state);
                        }
                        if random.below(8) == 0 {
                            kept = Some((corpus, state));
                        }
                        reads.fetch_add(1, Ordering::SeqCst);
                    }
                })
            })
            .collect();
        let writer = scope.spawn(move || {
            let _end = End(is_over);
            let mut random = Random::new(5);
            let mut recompressions = 0_u64;
            let mut editor = Editor::open(path).unwrap();
            let mut state = 0;
            // For so long, and on until there was something to see: how much that is, is up to the machine.
            let is_enough = |state: u64, recompressions: u64| {
                let read = reads.iter().all(|reads| reads.load(Ordering::SeqCst) > 10);
                Instant::now() >= end && state > 20 && recompressions > 0 && read
            };
            while !is_enough(state, recompressions) && !is_over.load(Ordering::SeqCst) {
                begun.store(state + 1, Ordering::SeqCst);
                let durability = match random.below(20) {
                    0 => Durability::Sync,
                    _ => Durability::None,
                };
                states::commit_next(&editor, state, durability);
                state += 1;
                committed.store(state, Ordering::SeqCst);
                let index = *random.choose(&[None, Some(Index::None), Some(Index::Fast)]);
                let options = RecompressOptions { index, ..Default::default() };
                match random.below(60) {
                    0 => {
                        editor.recompress(&options, &()).unwrap();
                        recompressions += 1;
                    }
                    1 => {
                        drop(editor);
                        options.recompress(path, &()).unwrap();
                        recompressions += 1;
                        editor = Editor::open(path).unwrap();
                    }
                    _ => {}
                }
            }
            recompressions
        });
        let recompressions = writer.join().unwrap();
        readers.into_iter().for_each(|reader| reader.join().unwrap());
        println!("{reads:?} reads");
        recompressions
    });
    let state = states::state_of(&Corpus::open(path).unwrap(), "");
    println!("{state} states, {recompressions} recompressions");
    assert_eq!(state, committed.load(Ordering::SeqCst));
}
