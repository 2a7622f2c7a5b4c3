//! Every task in a pool: with every strategy and persistence, found again, and through losses of power.

use std::sync::Arc;

use tadoc_core::answer::Answer;
use tadoc_core::{Array, Backend, Limits, Strategy, Task, View};
use tadoc_pool::{Patience, Persist, Pool, PoolBackend};
use tadoc_tasks::{CpuBackend, CustomTask, Phases, Work, answer_with};
use tadoc_testing::TASKS;
use tadoc_testing::networks::{Shape, rows, view};

use super::chain::{ARCHIVE, random};
use super::simulated::Simulated;

const ROOM: usize = 8 << 20;

fn corpus() -> View {
    let shape = Shape {
        seed: 5,
        items: 40,
        parts: 2,
        rules: 30,
        body: 6,
        root: 120,
        documents: 7,
        rule_share: 60,
        longest: 40,
        reach: 8,
    };
    view(shape.network())
}

/// The rows that work without a pool gives.
fn expected(view: &View, task: Task, limits: &Limits) -> Vec<String> {
    let mut work = Work::volatile(limits.memory);
    let answered = answer_with(&mut work, view, task, limits).unwrap();
    rows(view, &*answered.answer)
}

fn limits(strategy: Strategy) -> Limits {
    Limits { strategy: Some(strategy), memory: 1 << 20, ..Limits::default() }
}

#[test]
fn every_task_is_found_finished() {
    let view = corpus();
    let folder = tempfile::tempdir().unwrap();
    for persist in Persist::ALL {
        let path = folder.path().join(persist.name());
        for (task, strategy) in
            TASKS.iter().flat_map(|&task| Strategy::ALL.map(|strategy| (task, strategy)))
        {
            let limits = limits(strategy);
            let expected = expected(&view, task, &limits);
            assert!(!expected.is_empty());
            for again in [false, true] {
                let backend = PoolBackend::new(
                    Pool::open(&path, ARCHIVE, Patience::default()).unwrap(),
                    persist,
                );
                let answered = backend.answer(&view, task, &limits).unwrap();
                assert_eq!(answered.strategy, strategy);
                let pool = backend.pool();
                let chain = pool.resumptions().last().unwrap();
                assert_eq!(chain.chain, task.name());
                assert_eq!(again, !chain.finished.is_empty(), "{} {persist}", task.name());
                drop(pool);
                // The answer outlives the pool that it lies in.
                let answer: Box<dyn Answer> = answered.answer;
                drop(backend);
                assert_eq!(rows(&view, &*answer), expected, "{} {persist}", task.name());
            }
        }
    }
}

/// The power goes at some events of every task, and whatever part of what was not durable is there afterwards: the same task gives the same rows.
#[test]
fn power_is_lost_in_every_task() {
    let view = corpus();
    let mut seed = 3;
    for persist in [Persist::Phase, Persist::Operation] {
        for (task, strategy) in
            TASKS.iter().flat_map(|&task| Strategy::ALL.map(|strategy| (task, strategy)))
        {
            let limits = limits(strategy);
            let expected = expected(&view, task, &limits);
            let run = |medium: &Arc<Simulated>| {
                let pool = Pool::over(medium.clone(), ARCHIVE).ok()?;
                let answered = PoolBackend::new(pool, persist).answer(&view, task, &limits).ok()?;
                assert_eq!(rows(&view, &*answered.answer), expected, "{} {persist}", task.name());
                Some(())
            };
            let whole = Arc::new(Simulated::new(ROOM));
            run(&whole).unwrap();
            for _ in 0..4 {
                let event = random(&mut seed) % whole.events();
                let medium = Arc::new(Simulated::new(ROOM));
                medium.power_goes_at(event);
                assert_eq!(run(&medium), None, "event {event}");
                let image = medium.image(|| random(&mut seed));
                run(&Arc::new(Simulated::from_image(&image, ROOM))).unwrap();
            }
        }
    }
}

/// How many different terms each document has, and the length of every rule.
struct Custom;

impl CustomTask for Custom {
    type Answer = (Array<u32>, Array<u64>);

    fn name(&self) -> &str {
        "custom"
    }

    fn key(&self) -> Vec<u8> {
        b"custom 1".to_vec()
    }

    fn run(&self, phases: &mut Phases<'_, '_>) -> tadoc_core::Result<Self::Answer> {
        let network = phases.view().network();
        let terms = phases.view().terms().len();
        let distinct =
            phases.documents("distinct", |&count| count <= terms, |_, found| found.len() as u32)?;
        let lengths = phases.fold(
            "lengths",
            |_| true,
            |body, of_rule| {
                let length =
                    |&symbol: &u32| network.grammar().rule_of(symbol).map_or(1_u64, of_rule);
                body.iter().map(length).sum()
            },
        )?;
        Ok((distinct, lengths))
    }
}

/// A task that is none of the pool's: the same in memory, finished and found again, and through losses of power.
#[test]
fn power_is_lost_in_a_custom_task() {
    let view = corpus();
    let mut seed = 7;
    let (distinct, lengths) = CpuBackend.run(&view, &Custom, 1 << 20).unwrap();
    assert_eq!(&lengths[..], view.network().lengths());
    for persist in [Persist::Phase, Persist::Operation] {
        let run = |medium: &Arc<Simulated>| {
            let pool = Pool::over(medium.clone(), ARCHIVE).ok()?;
            let backend = PoolBackend::new(pool, persist);
            let found = backend.run(&view, &Custom, 1 << 20).ok()?;
            assert_eq!((&found.0[..], &found.1[..]), (&distinct[..], &lengths[..]), "{persist}");
            let pool = backend.pool();
            Some(pool.resumptions().last().unwrap().finished.len())
        };
        let whole = Arc::new(Simulated::new(ROOM));
        assert_eq!(run(&whole), Some(0));
        for _ in 0..8 {
            let event = random(&mut seed) % whole.events();
            let medium = Arc::new(Simulated::new(ROOM));
            medium.power_goes_at(event);
            assert_eq!(run(&medium), None, "event {event}");
            let image = medium.image(|| random(&mut seed));
            let medium = Arc::new(Simulated::from_image(&image, ROOM));
            run(&medium).unwrap();
            assert!(run(&medium).unwrap() > 0, "it is found finished");
        }
    }
}
