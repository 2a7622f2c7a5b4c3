//! Pools made to harm: what every task finds in a pool is changed at random places, all checksums are put right, and the task is asked
//! again. It may give other rows, or an error; it must not panic, hang or ask for much memory.
//!
//! `TADOC_MUTANTS` makes it try more of them than a test has time for.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use tadoc_core::{Backend, Limits, Strategy, Task, View};
use tadoc_oracle::Random;
use tadoc_pool::{Persist, Pool, PoolBackend};
use tadoc_tasks::root_counts;
use tadoc_testing::networks::{Shape, rows, view};
use tadoc_testing::{TASKS, mend_pool, mutants, mutate, pool_parts, watched};

use super::chain::ARCHIVE;
use super::simulated::Simulated;

const ROOM: usize = 3 << 20;
const QUESTION: u64 = 7;
/// Mutants of each pool.
const MUTANTS: u64 = 12;

fn corpus() -> View {
    let shape = Shape {
        seed: 11,
        items: 50,
        parts: 2,
        rules: 25,
        body: 7,
        root: 150,
        documents: 9,
        rule_share: 60,
        longest: 60,
        reach: 8,
    };
    view(shape.network())
}

/// Opens a pool, takes its view or puts it there, and asks a task; gives the rows.
fn ask(
    medium: &Arc<Simulated>,
    own: &View,
    task: Task,
    limits: &Limits,
    persist: Persist,
) -> tadoc_pool::Result<Vec<String>> {
    let mut pool = Pool::over(medium.clone(), ARCHIVE)?;
    let found = match pool.view(QUESTION, false)? {
        // A backend shows names of documents, so whoever opens a pool compares their numbers.
        Some(found) if found.network().documents() == own.network().documents() => found,
        _ => pool.initialise(QUESTION, own, root_counts(own.network()), persist)?,
    };
    let backend = PoolBackend::new(pool, persist);
    let answered = backend.answer(&found, task, limits)?;
    Ok(rows(&found, &*answered.answer))
}

#[test]
fn a_pool_made_to_harm_does_none() {
    let own = corpus();
    let mutants = mutants(MUTANTS);
    let mut random = Random::new(1);
    let (mut errors, mut others, mut harm) = (0, 0, Vec::new());
    watched(|steps| {
        for (task, strategy) in
            TASKS.iter().flat_map(|&task| Strategy::ALL.map(|strategy| (task, strategy)))
        {
            let limits = Limits { strategy: Some(strategy), memory: 1 << 20, ..Limits::default() };
            for persist in Persist::ALL {
                let whole = Arc::new(Simulated::new(ROOM));
                let expected = ask(&whole, &own, task, &limits, persist).unwrap();
                let mut images = vec![whole.image(|| 1)];
                // What is left when the power goes in the middle, in which a table is at work.
                for _ in 0..if persist == Persist::Operation { 3 } else { 0 } {
                    let medium = Arc::new(Simulated::new(ROOM));
                    medium.power_goes_at(random.below(whole.events()));
                    assert!(ask(&medium, &own, task, &limits, persist).is_err());
                    images.push(medium.image(|| 1));
                }
                for number in 0..mutants {
                    let mut image = images[number as usize % images.len()].clone();
                    let parts = pool_parts(&image);
                    let told = mutate(&mut image, &parts, &mut random);
                    mend_pool(&mut image);
                    let medium = Arc::new(Simulated::from_image(&image, ROOM));
                    let asked = AssertUnwindSafe(|| ask(&medium, &own, task, &limits, persist));
                    match catch_unwind(asked) {
                        Ok(Ok(rows)) => others += u64::from(rows != expected),
                        Ok(Err(_)) => errors += 1,
                        Err(_) => harm.push(format!("{task:?} {strategy:?} {persist}: {told:?}")),
                    }
                    steps.fetch_add(1, Ordering::Relaxed);
                }
            }
        }
    });
    println!("{errors} gave errors, {others} other rows");
    assert!(harm.is_empty(), "{} panicked: {harm:#?}", harm.len());
}
