//! Batches on a GPU (or on what OpenCL has instead) give what the processor gives, and what plain text gives.

use std::sync::Arc;

use tadoc_engine::access::{Access, DeviceAccess, Index, Operation, Outcome};
use tadoc_engine::gpu::Device;
use tadoc_engine::gpu::testing::device;
use tadoc_engine::{Builder, Corpus, Edit, Error, Lexer, Result};
use tadoc_oracle::{Document, Oracle, Random, cases, words};

use super::batches::operations;
use super::segments::{least_memory, long_documents};
use super::support::{compress, oracle_lexer};

pub fn told(results: Vec<Result<Outcome>>) -> Vec<Result<Outcome, String>> {
    results.into_iter().map(|result| result.map_err(|error| error.to_string())).collect()
}

fn compare(
    found: Vec<Result<Outcome>>,
    expected: Vec<Result<Outcome>>,
    asked: &[Operation],
    what: &str,
) {
    assert_eq!(found.len(), expected.len());
    for ((found, expected), asked) in told(found).into_iter().zip(told(expected)).zip(asked) {
        assert_eq!(found, expected, "{what}: {asked:?}");
    }
}

/// The same operations on the processor and on the device, with all segments there and with none that stays.
fn check(access: &Arc<Access>, device: &Arc<Device>, asked: &[Operation], what: &str) {
    let mut on_device = DeviceAccess::new(Arc::clone(access), Arc::clone(device)).unwrap();
    compare(on_device.run(asked), access.run(asked), asked, what);
    for number in 0..access.segment_count() {
        assert!(on_device.resident(number).is_some());
        on_device.evict(number);
    }
    assert_eq!(on_device.memory(), 0);
    let asked = &asked[..asked.len() / 4];
    compare(on_device.run(asked), access.run(asked), asked, &format!("{what}, none stays"));
}

/// What plain text gives; for operations that are right.
fn plainly(oracle: &Oracle<'_>, documents: &[Document], asked: &Operation) -> Outcome {
    let places = |phrase: &[u8], document: Option<u32>| {
        let mut lists: Vec<(u32, Vec<u64>)> = Vec::new();
        for (found, offset) in oracle.search_all(phrase) {
            let found = found as u32;
            match lists.last_mut() {
                _ if document.is_some_and(|document| document != found) => {}
                Some((last, list)) if *last == found => list.push(offset as u64),
                _ => lists.push((found, vec![offset as u64])),
            }
        }
        lists
    };
    match asked {
        Operation::Extract { document, offset, length } => {
            let text = &documents[*document as usize].1[*offset as usize..];
            Outcome::Bytes(text[..text.len().min(*length as usize)].to_vec())
        }
        Operation::Search { document, phrase } => Outcome::Offsets(places(phrase, *document)),
        Operation::Count { document, phrase } => {
            let lists = places(phrase, *document);
            Outcome::Count(lists.iter().map(|(_, offsets)| offsets.len() as u64).sum())
        }
        Operation::Sample { .. } => panic!("samples are random"),
    }
}

#[test]
fn every_case_equals_the_processor_and_the_oracle() {
    let Some(device) = device() else { return };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("case.tdc");
    let mut random = Random::new(17);
    let mut compared = 0;
    for case in &cases() {
        for lexer in [Lexer::Words, Lexer::Whitespace] {
            let oracle = Oracle::new(oracle_lexer(lexer), &case.documents);
            let asked = operations(&mut random, lexer, &case.documents, 120);
            for builder in [Builder::RePair, Builder::Sequitur] {
                compress(&case.documents, &path, lexer, builder, None).unwrap();
                let corpus = Corpus::open(&path).unwrap();
                let access = Arc::new(Access::open(&corpus, Index::Fast).unwrap());
                let what = format!("{} {lexer:?} {builder:?}", case.name);
                check(&access, &device, &asked, &what);
                let on_device =
                    DeviceAccess::new(Arc::clone(&access), Arc::clone(&device)).unwrap();
                for (asked, found) in asked.iter().zip(on_device.run(&asked)).take(40) {
                    if let (Ok(found), false) = (found, matches!(asked, Operation::Sample { .. })) {
                        let expected = plainly(&oracle, &case.documents, asked);
                        assert_eq!(found, expected, "{what}: {asked:?}");
                        compared += 1;
                    }
                }
            }
        }
    }
    assert!(compared > 1000, "{compared}");
}

#[test]
fn documents_that_go_on_are_whole() {
    let Some(device) = device() else { return };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("segments.tdc");
    let least = least_memory(&path);
    let documents = long_documents();
    let mut random = Random::new(23);
    let segments = compress(&documents, &path, Lexer::Words, Builder::RePair, Some(least)).unwrap();
    assert!(segments >= 6, "{segments} segments");
    let corpus = Corpus::open(&path).unwrap();
    let access = Arc::new(Access::open(&corpus, Index::Fast).unwrap());
    let mut asked = operations(&mut random, Lexer::Words, &documents, 300);
    // Over the ends of parts.
    for document in [1, 4] {
        for cut in 1..3 {
            let offset = (cut * (8 << 20) - 20) as u64;
            asked.push(Operation::Extract { document, offset, length: 50 });
        }
        asked.push(Operation::Extract { document, offset: 0, length: u64::MAX });
    }
    check(&access, &device, &asked, "several segments");
    // What is inserted where a document goes on stays in order.
    let mut on_device = DeviceAccess::new(Arc::clone(&access), Arc::clone(&device)).unwrap();
    let mut plain: Vec<Vec<u8>> = documents.iter().map(|(_, text)| text.clone()).collect();
    let text = &b"inserted"[..];
    let mut edits = Vec::new();
    for document in [0, 1, 2, 4] {
        let bytes = plain[document as usize].len() as u64;
        for offset in [8 << 20, 0, bytes, (8 << 20) - 3, 8 << 20] {
            if offset <= bytes {
                edits.push(Edit::Insert { document, offset, text: &text[edits.len() % 8..] });
                edits.push(Edit::Append { document, text: &text[edits.len() % 8..] });
            }
        }
    }
    on_device.edit_together(&edits).unwrap();
    insert(&mut plain, &edits);
    for (document, text) in (0..).zip(&plain) {
        let all = Operation::Extract { document, offset: 0, length: u64::MAX };
        let Ok(Outcome::Bytes(found)) = on_device.run(&[all]).remove(0) else { panic!() };
        assert!(found == *text, "document {document}");
    }
}

/// Inserts into plain text, with offsets that all mean the text before.
fn insert(plain: &mut [Vec<u8>], edits: &[Edit<'_>]) {
    for (number, text) in (0..).zip(plain) {
        let mut own: Vec<(usize, &[u8])> = edits
            .iter()
            .filter_map(|edit| match *edit {
                Edit::Insert { document, offset, text } => Some((document, Some(offset), text)),
                Edit::Append { document, text } => Some((document, None, text)),
                _ => None,
            })
            .filter(|(document, ..)| *document == number)
            .map(|(_, offset, new)| (offset.map_or(text.len(), |offset| offset as usize), new))
            .collect();
        own.sort_by_key(|(offset, _)| *offset);
        let (mut new, mut at) = (Vec::new(), 0);
        for (offset, inserted) in own {
            new.extend_from_slice(&text[at..offset]);
            new.extend_from_slice(inserted);
            at = offset;
        }
        new.extend_from_slice(&text[at..]);
        *text = new;
    }
}

/// Mixed batches: reads see the text before the batch, inserts are made at its end.
#[test]
fn many_operations_equal_plain_text() {
    let Some(device) = device() else { return };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sample.tdc");
    let sample = cases().into_iter().find(|case| case.name == "sample").unwrap();
    let documents = &sample.documents;
    let mut random = Random::new(29);
    let mut made = 0;
    for (lexer, builder) in
        [(Lexer::Words, Builder::RePair), (Lexer::Whitespace, Builder::Sequitur)]
    {
        compress(documents, &path, lexer, builder, None).unwrap();
        let corpus = Corpus::open(&path).unwrap();
        let access = Arc::new(Access::open(&corpus, Index::None).unwrap());
        let mut on_device = DeviceAccess::new(Arc::clone(&access), Arc::clone(&device)).unwrap();
        let oracle = Oracle::new(oracle_lexer(lexer), documents);
        // Words, as the text is before anything is inserted.
        let vocabulary: Vec<&[u8]> = documents
            .iter()
            .flat_map(|(_, text)| {
                words(oracle_lexer(lexer), text).into_iter().map(|word| &text[word])
            })
            .collect();
        let asked: Vec<Operation> = (0..1500)
            .map(|_| {
                let phrase = random.choose(&vocabulary).to_vec();
                let document =
                    (random.below(2) == 0).then(|| random.below(documents.len() as u64) as u32);
                match random.below(2) {
                    0 => Operation::Count { document, phrase },
                    _ => Operation::Search { document, phrase },
                }
            })
            .collect();
        for (asked, found) in asked.iter().zip(on_device.run(&asked)) {
            assert_eq!(found.unwrap(), plainly(&oracle, documents, asked), "{asked:?}");
            made += 1;
        }
        let mut plain: Vec<Vec<u8>> = documents.iter().map(|(_, text)| text.clone()).collect();
        let letters = b"0123456789abcdef".repeat(4);
        let texts: Vec<&[u8]> = (0..50).map(|length| &letters[..length]).collect();
        for round in 0..30 {
            let mut reads = Vec::new();
            let mut edits = Vec::new();
            let mut expected = Vec::new();
            for _ in 0..150 {
                let document = random.below(plain.len() as u64) as u32;
                let text = &plain[document as usize];
                let offset = random.below(text.len() as u64 + 1);
                let new: &[u8] = random.choose::<&[u8]>(&texts);
                match random.below(4) {
                    0 => edits.push(Edit::Insert { document, offset, text: new }),
                    1 => edits.push(Edit::Append { document, text: new }),
                    _ => {
                        let length = random.below(300);
                        let end = text.len().min((offset + length) as usize);
                        expected.push(text[offset as usize..end].to_vec());
                        reads.push(Operation::Extract { document, offset, length });
                    }
                }
            }
            for ((found, expected), read) in
                on_device.run(&reads).into_iter().zip(expected).zip(&reads)
            {
                assert_eq!(found.unwrap(), Outcome::Bytes(expected), "{read:?}");
            }
            made += reads.len() + edits.len();
            if round % 3 > 0 {
                on_device.edit_together(&edits).unwrap();
                insert(&mut plain, &edits);
                continue;
            }
            // Offsets are inside of what was there before, and so of what is there after other inserts.
            on_device.edit_in_sequence(&edits).unwrap();
            edits.iter().for_each(|edit| insert(&mut plain, &[*edit]));
        }
        // The end of a document has moved, and words are no longer known.
        let bytes = plain[0].len() as u64;
        let past = Operation::Extract { document: 0, offset: bytes + 1, length: 1 };
        let found = on_device.run(&[past, asked[0].clone()]);
        assert!(
            matches!(&found[0], Err(Error::OffsetPastEnd { bytes: found, .. }) if *found == bytes)
        );
        assert!(matches!(&found[1], Err(Error::Gpu { .. })));
        let refused = [Edit::Insert { document: 0, offset: bytes + 1, text: b"no" }];
        assert!(matches!(on_device.edit_together(&refused), Err(Error::OffsetPastEnd { .. })));
        assert!(matches!(on_device.edit_in_sequence(&refused), Err(Error::OffsetPastEnd { .. })));
        let append = Edit::Append { document: 0, text: b"yes" };
        assert!(matches!(
            on_device.edit_together(&[append, refused[0]]),
            Err(Error::OffsetPastEnd { .. })
        ));
        on_device.edit_in_sequence(&[append, refused[0]]).unwrap();
        let other = [Edit::Delete { document: 0, offset: 0, length: 1 }];
        assert!(matches!(on_device.edit_together(&other), Err(Error::Gpu { .. })));
        let none = [Edit::Append { document: documents.len() as u32, text: b"no" }];
        assert!(matches!(on_device.edit_in_sequence(&none), Err(Error::BadChoice { .. })));
    }
    assert!(made >= 10_000, "{made}");
}
