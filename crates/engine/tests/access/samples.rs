//! Words that are drawn: each is an occurrence, each occurrence is as likely as any other, and a seed draws the same
//! words again.

use std::collections::HashMap;

use tadoc_engine::access::{Sampled, Scope};
use tadoc_engine::{Builder, Lexer};
use tadoc_oracle::{Oracle, cases};
use tadoc_testing::archives::{compress, oracle_lexer, thread_pool};
use tadoc_testing::numbered;

use super::support::for_each_index;

#[test]
fn what_is_drawn_is_an_occurrence() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("case.tdc");
    for (number, case) in cases().iter().enumerate() {
        let lexer = [Lexer::Words, Lexer::Whitespace][number % 2];
        let builder = [Builder::RePair, Builder::Sequitur][number / 2 % 2];
        compress(&case.documents, &path, lexer, builder, None).unwrap();
        let odd: Vec<u32> =
            (0..case.documents.len() as u32).filter(|number| number % 2 == 1).collect();
        for scope in [Scope::All, Scope::Documents(odd.clone()), Scope::Documents(Vec::new())] {
            let mut oracle = Oracle::new(oracle_lexer(lexer), &case.documents);
            if let Scope::Documents(chosen) = &scope {
                oracle = oracle.with_documents(chosen.iter().map(|&number| number as usize));
            }
            let all = oracle.occurrences();
            let by_place: HashMap<(usize, usize), &[u8]> =
                all.iter().map(|&(document, offset, word)| ((document, offset), word)).collect();
            let mut first: Option<Vec<Sampled>> = None;
            for_each_index(&path, |access, what| {
                let what = format!("{} {lexer:?} {builder:?} {what} {scope:?}", case.name);
                let drawn = access.sample(60, 7, &scope).unwrap();
                assert_eq!(drawn.len(), if all.is_empty() { 0 } else { 60 }, "{what}");
                for drawn in &drawn {
                    let place = (drawn.document as usize, drawn.offset as usize);
                    assert_eq!(by_place.get(&place), Some(&&drawn.word[..]), "{what}: {drawn:?}");
                }
                // Neither threads nor the index change what a seed draws.
                let again = thread_pool(3).install(|| access.sample(60, 7, &scope).unwrap());
                assert_eq!(drawn, again, "{what}");
                assert_eq!(*first.get_or_insert_with(|| drawn.clone()), drawn, "{what}");
                if all.len() > 1000 {
                    assert_ne!(drawn, access.sample(60, 8, &scope).unwrap(), "{what}");
                }
                assert_eq!(access.sample(0, 7, &scope).unwrap(), [], "{what}");
            });
        }
    }
}

#[test]
fn each_occurrence_is_as_likely_as_any_other() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("text.tdc");
    // Rules of all lengths, documents of all lengths, and words of all lengths.
    let passage = "one two, two three three\nthree four ".repeat(3);
    let documents = numbered([
        passage.repeat(2).into_bytes(),
        b"a".to_vec(),
        Vec::new(),
        format!("{passage}antidisestablishmentarianism {passage}").into_bytes(),
        b"... 5 ...".to_vec(),
    ]);
    compress(&documents, &path, Lexer::Words, Builder::RePair, None).unwrap();
    let oracle = Oracle::new(tadoc_oracle::Lexer::Words, &documents);
    let all = oracle.occurrences();
    let draws = 2000 * all.len() as u64;
    for_each_index(&path, |access, what| {
        let mut times: HashMap<(u32, u64), u64> = HashMap::new();
        for drawn in access.sample(draws, 1, &Scope::All).unwrap() {
            *times.entry((drawn.document, drawn.offset)).or_default() += 1;
        }
        assert_eq!(times.len(), all.len(), "{what}");
        // Pearson's statistic has about as many degrees of freedom as there are occurrences, and their double as its
        // variance.
        let expected = 2000.0;
        let distance: f64 =
            times.values().map(|&times| (times as f64 - expected).powi(2) / expected).sum();
        let (mean, deviation) = (all.len() as f64, (2.0 * all.len() as f64).sqrt());
        assert!((distance - mean).abs() < 5.0 * deviation, "{what}: {distance} of about {mean}");
    });
}
