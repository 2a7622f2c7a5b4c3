//! A pool that was changed at any places, with checksums that hold: what is asked in it has an answer or an
//! error, without a panic, and in bounded time and memory.
//!
//! A pool is longer than an input may be, so the input says what is changed: a byte for the pool that it is of, then
//! 8 bytes for each change. Of these, three are a place in what the pool has, one is a kind of change, and four a number.
#![no_main]

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use tadoc_engine::access::{Access, Operation};
use tadoc_engine::answer::{Labels, Names, Position, Value};
use tadoc_engine::backend::{Backends, PoolFile};
use tadoc_engine::pool::{Patience, Persist};
use tadoc_engine::view::Detail;
use tadoc_engine::{Analyzer, Corpus, Limits, Strategy, Task};
use tadoc_testing::{TASKS, mend_pool, pool_parts};

/// What pools are asked: every task with one of the strategies, and random access.
fn questions() -> Vec<Option<(Task, Strategy)>> {
    let strategies = Strategy::ALL.into_iter().cycle();
    TASKS.into_iter().zip(strategies).map(Some).chain([None]).collect()
}

struct Pools {
    corpus: Corpus,
    path: PathBuf,
    questions: Vec<Option<(Task, Strategy)>>,
    /// The pool of each question.
    whole: Vec<Vec<u8>>,
}

static POOLS: LazyLock<Pools> = LazyLock::new(|| {
    let (corpus, path) = (tadoc_fuzz::corpus("pool.tdc"), tadoc_fuzz::scratch("pool"));
    let questions = questions();
    let whole = questions.iter().map(|&question| {
        let _ = std::fs::remove_file(&path);
        ask(&corpus, &path, question).expect("a pool that is as it was made");
        std::fs::read(&path).expect("it was just made")
    });
    let whole = whole.collect();
    Pools { corpus, path, questions, whole }
});

fn ask(
    corpus: &Corpus,
    path: &Path,
    question: Option<(Task, Strategy)>,
) -> tadoc_engine::Result<()> {
    let Some((task, strategy)) = question else {
        let (access, _) = Access::in_pool(corpus, path, Persist::Operation, Patience::default())?;
        let operations = [
            Operation::Sample { document: None, count: 30, seed: 1 },
            Operation::Extract { document: 1, offset: 9, length: 64 },
            Operation::Search { document: None, phrase: b"cat".to_vec() },
        ];
        for result in access.run(&operations) {
            result?;
        }
        return Ok(());
    };
    let backends = Backends::with_pool(PoolFile::new(path, Persist::Operation));
    let (view, _) = backends.view(&[corpus], &Analyzer::new(), None, Detail::Whole, &())?;
    let limits = Limits { strategy: Some(strategy), memory: 1 << 20, ..Limits::default() };
    let run = backends.answer(&view, task, &limits)?;
    let names: Names = (0..tadoc_fuzz::DOCUMENTS).map(|_| "name").collect();
    let labels = Labels { terms: view.terms().texts(), documents: names.texts() };
    let mut at = Position::default();
    while let Some(rows) = run.answered.answer.next_part(&mut at, labels).unwrap() {
        rows.visit(0..rows.len(), &mut |row: &[Value<'_>]| assert!(!row.is_empty()));
    }
    Ok(())
}

fuzz_target!(|data: &[u8]| {
    let Some((&which, changes)) = data.split_first() else { return };
    let pools = &*POOLS;
    let which = which as usize % pools.questions.len();
    let mut pool = pools.whole[which].clone();
    let parts = pool_parts(&pool);
    let used: usize = parts.iter().map(|part| part.len()).sum();
    for change in changes.chunks_exact(8) {
        let number = u32::from_le_bytes(change[4..].try_into().expect("four bytes"));
        let mut place = u32::from_le_bytes([change[0], change[1], change[2], 0]) as usize % used;
        let part = parts.iter().find(|part| {
            let is_here = place < part.len();
            place -= if is_here { 0 } else { part.len() };
            is_here
        });
        let at = part.expect("a place in one of them").start + place;
        match change[3] % 3 {
            0 => pool[at] = number as u8,
            1 => pool[at] ^= 1 << (number % 8),
            _ => {
                let at = at / 4 * 4;
                pool[at..at + 4].copy_from_slice(&number.to_le_bytes());
            }
        }
    }
    mend_pool(&mut pool);
    std::fs::write(&pools.path, &pool).expect("a scratch file");
    let _ = ask(&pools.corpus, &pools.path, pools.questions[which]);
});
