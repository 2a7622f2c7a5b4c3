//! Stored views and pools made to harm: bytes and numbers of them are changed, and all checksums put right. What is asked then may have
//! another answer, or an error; nothing panics or hangs.
//!
//! Pools of tasks are tried where they are made, in the crate pool; here it is random access. `TADOC_MUTANTS` tries more.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::Ordering;

use tadoc_engine::analytics::answer;
use tadoc_engine::answer::{Labels, Names, Position, Value};
use tadoc_engine::view::{Detail, open, store};
use tadoc_engine::{Analyzer, CompressOptions, Corpus, Input, Limits, Source, Task};
use tadoc_oracle::{Random, mend_view, mutate, watched};

const TASKS: [Task; 6] = [
    Task::WordCount,
    Task::Sort,
    Task::InvertedIndex,
    Task::TermVector,
    Task::SequenceCountPerDocument { n: 2 },
    Task::RankedInvertedIndex { n: 3 },
];

fn mutants(few: u64) -> u64 {
    std::env::var("TADOC_MUTANTS").map_or(few, |more| more.parse().expect("a number"))
}

/// An archive of documents that share a lot.
fn compress(path: &Path) {
    let text =
        "the cat sat on the mat and The dog ran after the cat; connected cats sat on mats.\n";
    let inputs = (0..8).map(|number: usize| {
        let text = text.repeat(1 + number % 4).as_bytes()[number..].to_vec();
        Input::new(format!("{number}").as_bytes(), Source::Bytes(text))
    });
    tadoc_engine::compress(inputs.collect(), path, &CompressOptions::default(), &()).unwrap();
}

/// Asks tasks on the stored view, as it is and as what another one is made of. Whatever is wrong is an error.
fn ask_view(corpus: &Corpus) -> tadoc_engine::Result<()> {
    let fold = Analyzer::new().fold_case(true);
    let questions = [
        (&Analyzer::new(), None, Detail::Whole),
        (&Analyzer::new(), None, Detail::Counts),
        (&fold, Some(&[0, 3, 5][..]), Detail::Whole),
    ];
    let documents = corpus.documents()?;
    let names: Vec<&[u8]> = documents.iter().map(|document| &document.name[..]).collect();
    for (analyzer, chosen, detail) in questions {
        let (view, _) = open(&[corpus], analyzer, chosen, detail, &())?;
        let names = Names::from_iter(names.iter());
        let labels = Labels { terms: view.terms().texts(), documents: names.texts() };
        let few = if detail == Detail::Counts { 2 } else { TASKS.len() };
        for task in &TASKS[..few] {
            let answered = answer(&view, *task, &Limits::default())?;
            let mut at = Position::default();
            while let Some(rows) = answered.answer.next_part(&mut at, labels).unwrap() {
                rows.visit(0..rows.len(), &mut |row: &[Value<'_>]| assert!(!row.is_empty()));
            }
        }
    }
    Ok(())
}

#[test]
fn a_stored_view_made_to_harm_does_none() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.tdc");
    compress(&path);
    let corpus = Corpus::open(&path).unwrap();
    store(&corpus, &()).unwrap();
    let place = folder.path().join("a.tdc.view");
    let whole = fs::read(&place).unwrap();
    let mut random = Random::new(2);
    let mut harm = Vec::new();
    watched(|steps| {
        for _ in 0..mutants(1500) {
            let mut view = whole.clone();
            let told = mutate(&mut view, &[0..96, 256..whole.len()], &mut random);
            mend_view(&mut view);
            fs::write(&place, &view).unwrap();
            if catch_unwind(AssertUnwindSafe(|| ask_view(&corpus))).is_err() {
                harm.push(told);
            }
            steps.fetch_add(1, Ordering::Relaxed);
        }
    });
    assert!(harm.is_empty(), "{} panicked: {harm:#?}", harm.len());
}

#[cfg(feature = "pool")]
mod pools {
    use tadoc_engine::access::{Access, Operation, Scope};
    use tadoc_engine::pool::{Patience, Persist};
    use tadoc_oracle::{mend_pool, pool_parts};

    use super::*;

    /// Asks for all kinds of things in the pool; gives all that was answered.
    fn ask(corpus: &Corpus, pool: &Path) -> tadoc_engine::Result<Vec<String>> {
        let (access, _) = Access::in_pool(corpus, pool, Persist::Operation, Patience::default())?;
        let mut answers = Vec::new();
        for document in 0..access.documents().len() as u32 {
            let bytes = access.documents()[document as usize].bytes;
            answers.push(format!("{:?}", access.extract(document, bytes / 3, 50)?));
            let line = access.line_of(document, bytes / 2)?;
            answers.push(format!("{line} {}", access.line_start(document, line)?));
        }
        for text in [&b"the"[..], b"the cat sat", b"mats"] {
            let phrase = access.phrase(text, &Analyzer::new())?;
            answers.push(format!("{:?}", access.count_by_document(&phrase, &Scope::All)?));
            answers.push(format!("{}", access.count(&phrase, &Scope::All)?));
        }
        answers.push(format!("{:?}", access.find(b"the dog", &Analyzer::new(), &Scope::All, 5)?));
        let operations = [
            Operation::Sample { document: None, count: 30, seed: 1 },
            Operation::Extract { document: 3, offset: 9, length: 64 },
            Operation::Search { document: None, phrase: b"cat".to_vec() },
        ];
        access.load()?;
        for result in access.run(&operations) {
            answers.push(format!("{:?}", result?));
        }
        Ok(answers)
    }

    #[test]
    fn a_pool_for_random_access_made_to_harm_does_none() {
        let folder = tempfile::tempdir().unwrap();
        let [path, place] = ["a.tdc", "a.pool"].map(|name| folder.path().join(name));
        compress(&path);
        let corpus = Corpus::open(&path).unwrap();
        let expected = ask(&corpus, &place).unwrap();
        let whole = fs::read(&place).unwrap();
        let parts = pool_parts(&whole);
        let mut random = Random::new(3);
        let (mut same, mut harm) = (0, Vec::new());
        watched(|steps| {
            for _ in 0..mutants(1500) {
                let mut pool = whole.clone();
                let told = mutate(&mut pool, &parts, &mut random);
                mend_pool(&mut pool);
                fs::write(&place, &pool).unwrap();
                match catch_unwind(AssertUnwindSafe(|| ask(&corpus, &place))) {
                    Ok(found) => same += u64::from(found.is_ok_and(|found| found == expected)),
                    Err(_) => harm.push(told),
                }
                steps.fetch_add(1, Ordering::Relaxed);
            }
        });
        assert!(harm.is_empty(), "{} panicked: {harm:#?}", harm.len());
        assert!(same > 0, "nothing was made again");
    }
}
