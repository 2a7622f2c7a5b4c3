//! What the public API promises beyond what its examples show: handles are owned and shared, several archives are one
//! corpus, answers are pulled, edits are transactions.

use std::path::PathBuf;
use std::thread;

use tadoc::edit::Durability;
use tadoc::{
    Answer, Archive, Batches, CompressOptions, Corpus, Document, DocumentId, Error, Extent, Found,
    Grep, Hit, Hits, Input, OpenOptions, Pattern, Position, Query, Read, ReadResult, SearchQuery,
    Source, Syntax, TaskQuery, Value,
};

/// Documents of a folder of logs and some letters, enough for every question to have an answer.
fn documents() -> Vec<(String, String)> {
    (0..40)
        .map(|number| {
            let name = match number % 4 {
                0 => format!("letters/{number:02}.txt"),
                _ => format!("logs/{number:02}.log"),
            };
            let lines = (0..=number % 7).map(|line| {
                format!("{line}: the tide gauge {number} is {}\n", ["low", "high"][line % 2])
            });
            (name, lines.collect())
        })
        .collect()
}

/// The documents in so many archives, an even share in each and in the order of their names.
fn archives(count: usize) -> (tempfile::TempDir, Vec<PathBuf>) {
    let folder = tempfile::tempdir().unwrap();
    let mut documents = documents();
    documents.sort();
    let paths = documents.chunks(documents.len().div_ceil(count)).enumerate();
    let paths = paths.map(|(number, documents)| {
        let path = folder.path().join(format!("{number}.tdc"));
        let inputs = documents
            .iter()
            .map(|(name, text)| Input::new(name.clone(), Source::Bytes(text.clone().into_bytes())));
        tadoc::compress(inputs.collect(), &path, &CompressOptions::default(), &()).unwrap();
        path
    });
    let paths = paths.collect();
    (folder, paths)
}

fn rows(answer: &Answer) -> Vec<String> {
    answer.rows().map(|row| row.unwrap().to_string()).collect()
}

#[test]
fn handles_are_owned_and_shared_between_threads() {
    fn is_shared<T: Send + Sync + 'static>() {}
    is_shared::<Corpus>();
    is_shared::<Archive>();
    is_shared::<Document>();
    is_shared::<Query>();
    is_shared::<TaskQuery>();
    is_shared::<Answer>();
    is_shared::<Grep>();
    is_shared::<Hit>();
    is_shared::<Found>();
    is_shared::<Batches>();
    fn is_sent<T: Send + 'static>() {}
    is_sent::<Hits>();

    let (_folder, paths) = archives(2);
    let corpus = OpenOptions::new().open(&paths).unwrap();
    let answer = corpus.query().word_count().run().unwrap();
    let expected = (rows(&answer), corpus.count("tide gauge").unwrap());
    // What was made of a corpus outlives the handle that made it.
    let query = corpus.query();
    drop(corpus);
    let others: Vec<_> = (0..4)
        .map(|_| {
            let (query, answer) = (query.clone(), answer.clone());
            thread::spawn(move || (rows(&answer), query.count("tide gauge").unwrap()))
        })
        .collect();
    for other in others {
        assert_eq!(other.join().unwrap(), expected);
    }
}

#[test]
fn several_archives_answer_as_one() {
    let (_one_folder, one) = archives(1);
    let one = OpenOptions::new().open(&one).unwrap();
    let pattern = || Pattern::new(&["gauge 1.? is high"], Syntax::default()).unwrap();
    let found = |corpus: &Corpus| {
        let query = corpus.query().ignore_case();
        let tasks = [
            query.word_count(),
            query.inverted_index(),
            query.term_vector().top(3),
            query.sequence_count(3),
            query.ranked_inverted_index(2).top(2),
        ];
        let answers: Vec<Vec<String>> =
            tasks.iter().map(|task| rows(&task.run().unwrap())).collect();
        let hits: Vec<(DocumentId, u64)> = query
            .search("TIDE gauge")
            .unwrap()
            .map(|hit| hit.map(|hit| (hit.document().id(), hit.offset())).unwrap())
            .collect();
        let lines = corpus.query().grep(pattern()).lines().unwrap();
        let lines: Vec<_> = lines.into_iter().map(|line| (line.document.id(), line.text)).collect();
        let wanted = SearchQuery { words: b"high tide".to_vec(), ..Default::default() };
        let best: Vec<(DocumentId, f64)> = query
            .find(&wanted, 7)
            .unwrap()
            .iter()
            .map(|found| (found.document().id(), found.score()))
            .collect();
        let words = query.sample(50, 7).unwrap().map(Result::unwrap);
        let words: Vec<_> =
            words.flatten().map(|drawn| (drawn.document.id(), drawn.offset, drawn.word)).collect();
        let counts = query.count_by_document("low").unwrap();
        let names: Vec<Vec<u8>> =
            corpus.documents().unwrap().map(|document| document.name().to_vec()).collect();
        (answers, hits, lines, best, words, counts, names)
    };
    let expected = found(&one);
    assert!(expected.1.len() > 100 && !expected.2.is_empty());
    for count in [2, 3, 40] {
        let (_folder, paths) = archives(count);
        let several = OpenOptions::new().open(&paths).unwrap();
        assert_eq!(several.archives().len(), count);
        assert!(found(&several) == expected, "{count} archives");
        let reads = [
            Read::Count { document: None, phrase: b"gauge".to_vec() },
            Read::Sample { document: None, count: 9, seed: 3 },
            Read::Search {
                document: several.documents().unwrap().last().map(|last| last.id()),
                phrase: b"is".to_vec(),
            },
        ];
        let read = |corpus: &Corpus| -> Vec<String> {
            let results = corpus.batches(3).unwrap().run(&reads);
            results
                .into_iter()
                .map(|result| match result.unwrap() {
                    ReadResult::Words(words) => {
                        let words = words.iter();
                        words
                            .map(|word| format!("{} {}", word.offset, word.document.id().index()))
                            .collect()
                    }
                    other => format!("{other:?}"),
                })
                .collect()
        };
        assert_eq!(read(&several), read(&one), "{count} archives");
    }
}

#[test]
fn questions_are_narrowed_and_their_views_are_kept() {
    let (_folder, paths) = archives(2);
    let corpus = OpenOptions::new().open(&paths).unwrap();
    let logs = corpus.query().documents("logs/*").unwrap();
    let all = corpus.query().documents("letters/*").unwrap().documents("logs/*").unwrap();
    assert_eq!(all.selected().unwrap().len() as u64, corpus.document_count());
    let (logs, all) = (logs.count("gauge").unwrap(), all.count("gauge").unwrap());
    assert!(0 < logs && logs < all);
    assert_eq!(all, corpus.count("gauge").unwrap());

    assert!(matches!(corpus.query().documents("logs"), Err(Error::IsFolder { .. })));
    assert!(matches!(corpus.query().documents("nowhere"), Err(Error::NoSuchDocument { .. })));
    assert_eq!(corpus.query().documents("*.pdf").unwrap().selected(), Some(&[][..]));
    assert!(matches!(corpus.query().matching("("), Err(Error::BadPattern { .. })));
    assert!(matches!(corpus.search("low; high"), Err(Error::NotWords { .. })));
    assert!(
        matches!(corpus.query().sequence_count(99).run(), Err(error) if error.to_string().contains("99"))
    );

    let query = corpus.query();
    let first = query.word_count().run().unwrap();
    // The second task finds a view, which took the first one its time.
    let again = query.word_count().min_count(10).run().unwrap();
    assert_eq!(first.explanation().words, again.explanation().words);
    assert!(rows(&again).len() < rows(&first).len());
    let narrowed = query.clone().matching("^g").unwrap().word_count().run().unwrap();
    assert_eq!(rows(&narrowed), ["gauge\t155"]);
}

#[test]
fn parts_and_rows_are_the_same_answer() {
    let (_folder, paths) = archives(1);
    let answer = OpenOptions::new().open(&paths).unwrap().query().term_vector().run().unwrap();
    let (mut at, mut parts) = (Position::default(), Vec::new());
    while let Some(part) = answer.next_part(&mut at).unwrap() {
        part.visit(0..part.len(), &mut |row| {
            let [Value::Text(document), Value::Text(term), Value::Count(count)] = row else {
                panic!("a term vector has other columns");
            };
            parts.push((document.to_vec(), term.to_vec(), *count));
        });
    }
    let rows: Vec<_> = answer
        .rows()
        .map(|row| {
            let row = row.unwrap();
            let text = |column| row.text(column).unwrap().to_vec();
            (text("document"), text("term"), row.count("count").unwrap())
        })
        .collect();
    assert_eq!(rows, parts);
    let matrix = answer.matrix().unwrap().unwrap();
    assert_eq!((matrix.shape().0, matrix.len()), (40, rows.len() as u64));
}

#[test]
fn hits_know_their_lines_and_contexts() {
    let (_folder, paths) = archives(3);
    let corpus = OpenOptions::new().open(&paths).unwrap();
    let hit = corpus.query().documents("logs/39.log").unwrap().search("high").unwrap().next();
    let hit = hit.unwrap().unwrap();
    assert_eq!(hit.line().unwrap(), b"1: the tide gauge 39 is high");
    let context = hit.context(Extent::Words(2)).unwrap();
    assert_eq!((&context.left[..], &context.keyword[..]), (&b"39 is "[..], &b"high"[..]));
    assert_eq!(hit.document().line_of(hit.offset()).unwrap(), 1);
}

#[test]
fn documents_are_read_and_checked() {
    let (_folder, paths) = archives(2);
    let corpus = OpenOptions::new().open(&paths).unwrap();
    let mut expected = documents();
    expected.sort();
    let all: Vec<Document> = corpus.documents().unwrap().collect();
    assert_eq!(all.len(), expected.len());
    for (document, (name, text)) in all.iter().zip(&expected) {
        assert_eq!(document.name(), name.as_bytes());
        assert_eq!(document.read().unwrap(), text.as_bytes());
        assert_eq!(corpus.get(document.id()).unwrap().name(), name.as_bytes());
    }
    let ids: Vec<DocumentId> = all.iter().rev().map(Document::id).collect();
    let mut bytes = Vec::new();
    let written = corpus.write_documents(&ids, &mut bytes, &mut |error| panic!("{error}")).unwrap();
    let backwards: String = expected.iter().rev().map(|(_, text)| &text[..]).collect();
    assert_eq!((&bytes[..], written), (backwards.as_bytes(), backwards.len() as u64));
    assert!(corpus.document("logs/1.log").is_err());
}

#[test]
fn an_edit_is_made_whole_or_not_at_all() {
    let (_folder, paths) = archives(1);
    let corpus = Corpus::open(&paths[0]).unwrap();
    let before = corpus.count("battery").unwrap();
    for ends in ["dropped", "rolled back"] {
        let mut edit = corpus.edit().unwrap();
        edit.append("logs/01.log", b"the battery is low\n").unwrap();
        assert!(edit.append("nowhere", b"").is_err());
        match ends {
            "dropped" => drop(edit),
            _ => edit.rollback(),
        }
        assert_eq!(Corpus::open(&paths[0]).unwrap().count("battery").unwrap(), before);
    }
    let mut edit = corpus.edit().unwrap();
    edit.append("logs/01.log", b"the battery is low\n").unwrap();
    edit.rename("logs/02.log", "logs/renamed.log").unwrap();
    edit.remove("logs/03.log").unwrap();
    edit.add("new.txt", b"battery").unwrap();
    edit.commit(Durability::Sync).unwrap();
    // A corpus shows what was committed when it was opened.
    assert_eq!(corpus.count("battery").unwrap(), before);
    let after = Corpus::open(&paths[0]).unwrap();
    assert_eq!(after.count("battery").unwrap(), before + 2);
    assert!(after.document("logs/renamed.log").is_ok() && after.document("logs/03.log").is_err());

    let (_folder, several) = archives(2);
    let several = OpenOptions::new().open(&several).unwrap();
    assert!(matches!(several.edit(), Err(Error::SeveralArchives { archives: 2 })));
}

#[test]
fn errors_name_the_archive_that_they_are_about() {
    let (folder, mut paths) = archives(2);
    let bad = folder.path().join("a");
    std::fs::write(&bad, b"no archive").unwrap();
    paths.push(bad.clone());
    let error = OpenOptions::new().open(&paths).unwrap_err();
    assert!(matches!(&error, Error::InArchive { archive, .. } if *archive == bad), "{error}");
    assert!(matches!(error.innermost(), Error::Archive(_)));
}
