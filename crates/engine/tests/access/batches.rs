//! Many operations at once: each has the result that it has by itself.

use tadoc_engine::access::{Access, Operation, Outcome, Scope};
use tadoc_engine::{Analyzer, Builder, Lexer, Result};
use tadoc_oracle::{Document, Random, cases, words};

use super::support::{compress, for_each_index, oracle_lexer, pool};

/// An operation by the function that is there for it.
fn by_itself(access: &Access, operation: &Operation) -> Result<Outcome> {
    let scope = |document: Option<u32>| match document {
        Some(document) => Scope::Documents(vec![document]),
        None => Scope::All,
    };
    Ok(match operation {
        Operation::Extract { document, offset, length } => {
            Outcome::Bytes(access.extract(*document, *offset, *length)?)
        }
        Operation::Search { document, phrase } => {
            let phrase = access.phrase(phrase, &Analyzer::new())?;
            let mut offsets: Vec<(u32, Vec<u64>)> = Vec::new();
            access.search(&phrase, &scope(*document), &mut |document, more| {
                match offsets.last_mut() {
                    Some((last, before)) if *last == document => before.extend_from_slice(more),
                    _ => offsets.push((document, more.to_vec())),
                }
                std::ops::ControlFlow::Continue(())
            })?;
            Outcome::Offsets(offsets)
        }
        Operation::Count { document, phrase } => {
            let phrase = access.phrase(phrase, &Analyzer::new())?;
            Outcome::Count(access.count(&phrase, &scope(*document))?)
        }
        Operation::Sample { document, count, seed } => {
            Outcome::Words(access.sample(*count, *seed, &scope(*document))?)
        }
    })
}

/// Operations of all kinds, of which some are wrong.
pub fn operations(
    random: &mut Random,
    lexer: Lexer,
    documents: &[Document],
    count: u64,
) -> Vec<Operation> {
    let vocabulary: Vec<&[u8]> = documents
        .iter()
        .take(30)
        .flat_map(|(_, bytes)| {
            words(oracle_lexer(lexer), bytes).into_iter().take(300).map(|word| &bytes[word])
        })
        .chain([&b"nowhere0"[..]])
        .collect();
    let mut operations = Vec::new();
    for _ in 0..count {
        // One document more than there are.
        let document = random.below(documents.len() as u64 + 1) as u32;
        let bytes = documents.get(document as usize).map_or(0, |(_, bytes)| bytes.len() as u64);
        let scope = if random.below(2) == 0 { Some(document) } else { None };
        let start = random.below(vocabulary.len() as u64) as usize;
        let length = 1 + random.below(3) as usize;
        let mut phrase = vocabulary[start..vocabulary.len().min(start + length)].join(&b' ');
        if random.below(20) == 0 {
            phrase = random.choose(&[&b""[..], b" ", b"..", b"a, b"]).to_vec();
        }
        operations.push(match random.below(4) {
            0 => {
                let offset = random.below(bytes + 3);
                Operation::Extract { document, offset, length: random.below(100) }
            }
            1 => Operation::Search { document: scope, phrase },
            2 => Operation::Count { document: scope, phrase },
            _ => {
                let (count, seed) = (random.below(6), random.next_u64());
                Operation::Sample { document: scope, count, seed }
            }
        });
    }
    operations
}

#[test]
fn batches_are_operations_one_by_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("case.tdc");
    let mut random = Random::new(11);
    for (number, case) in cases().iter().enumerate() {
        let lexer = [Lexer::Words, Lexer::Whitespace][number % 2];
        compress(&case.documents, &path, lexer, Builder::RePair, None).unwrap();
        let operations = operations(&mut random, lexer, &case.documents, 150);
        for_each_index(&path, |access, what| {
            let told = |result: Result<Outcome>| result.map_err(|error| error.to_string());
            let expected: Vec<_> =
                operations.iter().map(|operation| told(by_itself(access, operation))).collect();
            for threads in [1, 3] {
                let found = pool(threads).install(|| access.run(&operations));
                assert_eq!(found.len(), expected.len());
                for ((found, expected), operation) in
                    found.into_iter().zip(&expected).zip(&operations)
                {
                    assert_eq!(told(found), *expected, "{} {what}: {operation:?}", case.name);
                }
            }
            assert!(access.run(&[]).is_empty());
        });
    }
}

#[test]
fn some_fail_and_some_do_not() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("case.tdc");
    let sample = cases().into_iter().find(|case| case.name == "sample").unwrap();
    compress(&sample.documents, &path, Lexer::Words, Builder::RePair, None).unwrap();
    let operations = operations(&mut Random::new(5), Lexer::Words, &sample.documents, 2000);
    for_each_index(&path, |access, _| {
        let found = access.run(&operations);
        let failed = found.iter().filter(|result| result.is_err()).count();
        assert!((20..1000).contains(&failed), "{failed} of {}", found.len());
    });
}
