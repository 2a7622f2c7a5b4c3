//! Transactions: all their edits are there, or none; a read commits nothing.

use std::path::Path;

use tadoc_core::archive::{Archive, ArchiveWriter, EncodedSegment};
use tadoc_engine::access::Index;
use tadoc_engine::update::{BatchOptions, Operation, Transactions};
use tadoc_engine::{
    Builder, Corpus, Durability, Edit, Editor, Error, Level, Lexer, Offsets, Transaction,
};
use tadoc_oracle::Random;

use super::archives::Setup;
use super::model::{Expected, Model};
use super::script::Script;
use super::texts::Kind;
use super::{states, whole};

const SETUP: Setup = Setup {
    lexer: Lexer::Words,
    builder: Builder::RePair,
    level: Level::Fast,
    index: Index::None,
    segments: 1,
};

/// Makes an edit of a script.
fn edit(transaction: &mut Transaction, operation: &Operation) -> tadoc_engine::Result<()> {
    let edit = match operation {
        Operation::Insert { document, offset, text } => {
            Edit::Insert { document: transaction.find(document)?, offset: *offset, text }
        }
        Operation::Append { document, text } => {
            Edit::Append { document: transaction.find(document)?, text }
        }
        Operation::Delete { document, offset, length } => {
            Edit::Delete { document: transaction.find(document)?, offset: *offset, length: *length }
        }
        Operation::Replace { document, offset, length, text } => Edit::Replace {
            document: transaction.find(document)?,
            offset: *offset,
            length: *length,
            text,
        },
        Operation::Add { document, modified, mode, text } => {
            Edit::Add { name: document, modified: *modified, mode: *mode, text }
        }
        Operation::Remove { document } => Edit::Remove { document: transaction.find(document)? },
        Operation::Rename { document, name } => {
            Edit::Rename { document: transaction.find(document)?, name }
        }
        other => panic!("{other:?} is no edit"),
    };
    transaction.edit(&edit).map(drop)
}

/// What a transaction says of its documents is what the model has.
fn check_documents(transaction: &Transaction, model: &Model, what: &str) {
    let documents = transaction.documents();
    assert_eq!(documents.len(), transaction.document_count(), "{what}");
    let found = documents.iter().map(|document| (&document.name[..], document.bytes as usize));
    let expected = model.documents.iter().map(|(name, text)| (name.as_bytes(), text.len()));
    assert!(found.eq(expected), "{what}: {documents:?}");
    for (name, text) in &model.documents {
        let document = transaction.find(name.as_bytes()).unwrap();
        assert_eq!(transaction.name(document), name.as_bytes(), "{what}");
        assert_eq!(transaction.bytes(document) as usize, text.len(), "{what}");
    }
}

/// Random transactions, of which some are committed and others are not: names and lengths, pieces of
/// text, folders and the journal are those of the committed ones alone.
#[test]
fn what_is_rolled_back_leaves_nothing() {
    let (mut committed, mut rolled_back) = (0, 0);
    for seed in 0..30 {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("c.tdc");
        let mut random = Random::new(seed);
        let kind = if seed % 2 == 0 { Kind::Letters } else { Kind::Snippets };
        let documents = (0..5).map(|number| (format!("d{number:02}"), kind.text(&mut random, 60)));
        let model = Model::new(SETUP.lexer, documents.collect::<Vec<_>>());
        let setup = Setup { segments: 1 + seed % 3, ..SETUP };
        setup.make(&model, &path, &mut random);
        let mut script = Script::new(seed, model, kind);
        let mut editor = Editor::open(&path).unwrap();
        for round in 0..20 {
            let what = format!("seed {seed}, round {round}");
            let before = script.model.clone();
            let mut transaction = editor.begin().unwrap();
            check_documents(&transaction, &before, &what);
            let pending = transaction.pending();
            let bytes = std::fs::read(&path).unwrap();
            for _ in 0..random.below(30) {
                let (operation, expected) = script.edit_in_sequence();
                match (edit(&mut transaction, &operation), expected) {
                    (Ok(()), Expected::Outcome(_)) => {}
                    (Err(error), Expected::Refused(refusal)) => assert!(refusal.is(&error)),
                    (found, expected) => panic!("{what}: {operation:?}: {found:?}, {expected:?}"),
                }
                if random.below(20) == 0 {
                    // It sees its own edits, and nobody else does.
                    let corpus = transaction.corpus().unwrap();
                    whole::check_texts(&corpus, &script.model, &what);
                    whole::check_texts(&Corpus::open(&path).unwrap(), &before, &what);
                }
            }
            check_documents(&transaction, &script.model, &what);
            match random.below(4) {
                0 => transaction.rollback(),
                1 => drop(transaction),
                _ => {
                    transaction.commit(Durability::None).unwrap();
                    committed += 1;
                    whole::check_texts(&Corpus::open(&path).unwrap(), &script.model, &what);
                    continue;
                }
            }
            rolled_back += 1;
            script.model = before;
            assert!(std::fs::read(&path).unwrap() == bytes, "{what}: the journal has changed");
            assert_eq!(editor.begin().unwrap().pending(), pending, "{what}");
            whole::check_texts(&Corpus::open(&path).unwrap(), &script.model, &what);
            match random.below(4) {
                0 => drop(editor.recompress(&Default::default(), &()).unwrap()),
                1 => {
                    drop(editor);
                    editor = Editor::open(&path).unwrap();
                }
                _ => {}
            }
        }
        whole::check_file(&path, &script.model, &format!("seed {seed}"));
    }
    assert!(committed > 100 && rolled_back > 100, "{committed} committed, {rolled_back} not");
}

#[test]
fn one_transaction_is_open_at_a_time() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("states.tdc");
    states::make(&path);
    let editor = Editor::open(&path).unwrap();
    let transaction = editor.begin().unwrap();
    assert!(matches!(editor.begin(), Err(Error::TransactionOpen { .. })));
    let refused = editor.recompress(&Default::default(), &());
    assert!(matches!(refused, Err(Error::TransactionOpen { .. })));
    let refused = editor.run(&mut || panic!("no batch"), Default::default(), &mut |_| Ok(()));
    assert!(matches!(refused, Err(Error::TransactionOpen { .. })));
    drop(transaction);
    // A transaction keeps the archive by itself, and can go to another thread.
    let mut transaction = editor.begin().unwrap();
    drop(editor);
    assert!(Editor::open(&path).is_err());
    let write = move || {
        states::advance(&mut transaction, 0).unwrap();
        transaction.commit(Durability::Sync).unwrap();
    };
    std::thread::spawn(write).join().unwrap();
    assert_eq!(states::state_of(&Corpus::open(&path).unwrap(), ""), 1);
    states::commit_next(&Editor::open(&path).unwrap(), 1, Durability::Sync);
}

/// Names that were given and taken back are free, as documents and as folders.
#[test]
fn folders_are_rolled_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("states.tdc");
    states::make(&path);
    let editor = Editor::open(&path).unwrap();
    let add = |name| Edit::Add { name, modified: None, mode: None, text: b"text" };
    let mut transaction = editor.begin().unwrap();
    transaction.edit(&add(b"folder/file")).unwrap();
    let document = transaction.find(b"document 0").unwrap();
    transaction.edit(&Edit::Rename { document, name: b"other/file" }).unwrap();
    let refused = transaction.edit(&add(b"folder"));
    assert!(matches!(refused, Err(Error::FileAndFolder { .. })), "{refused:?}");
    transaction.rollback();
    let mut transaction = editor.begin().unwrap();
    transaction.edit(&add(b"folder")).unwrap();
    transaction.edit(&add(b"other")).unwrap();
    let refused = transaction.edit(&add(b"document 0/file"));
    assert!(matches!(refused, Err(Error::FileAndFolder { .. })), "{refused:?}");
    transaction.commit(Durability::None).unwrap();
    assert!(Corpus::open(&path).unwrap().find(b"other").is_ok());
}

/// More edits than fit into a record of the journal are written before they are committed; they are
/// read, and cut off again.
#[test]
fn long_transactions_are_read_and_rolled_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("states.tdc");
    states::make(&path);
    let editor = Editor::open(&path).unwrap();
    states::commit_next(&editor, 0, Durability::Sync);
    let committed = std::fs::read(&path).unwrap();
    let mut random = Random::new(1);
    let text: Vec<u8> = (0..3 << 20).map(|_| random.below(256) as u8).collect();
    for read in [false, true] {
        let mut transaction = editor.begin().unwrap();
        let document = transaction.find(b"document 0").unwrap();
        let stored = transaction.bytes(document);
        for count in 1..=4 {
            transaction.edit(&Edit::Append { document, text: &text }).unwrap();
            if read {
                let corpus = transaction.corpus().unwrap();
                let place = corpus.find(b"document 0").unwrap();
                let mut found = Vec::new();
                corpus.write_documents(&[place], &mut found, &()).unwrap();
                assert_eq!(found.len() as u64, stored + count * text.len() as u64);
                assert!(found.ends_with(&text));
            }
        }
        assert!(std::fs::metadata(&path).unwrap().len() > committed.len() as u64);
        assert_eq!(states::state_of(&Corpus::open(&path).unwrap(), ""), 1);
        drop(transaction);
        assert!(std::fs::read(&path).unwrap() == committed);
    }
    states::commit_next(&editor, 1, Durability::Sync);
}

/// A batch whose end is not reached is rolled back as far as it was not acknowledged.
#[test]
fn batches_that_fail_leave_what_was_acknowledged() {
    for transactions in [Transactions::Batch, Transactions::Edit] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("c.tdc");
        let model = Model::new(Lexer::Words, [("d".to_owned(), b"to be".to_vec())]);
        SETUP.make(&model, &path, &mut Random::new(1));
        let editor = Editor::open(&path).unwrap();
        let append = |text: &str| Operation::Append { document: b"d".into(), text: text.into() };
        let count = Operation::Count { document: None, phrase: b"be".into() };
        let mut batches =
            [vec![append(" or"), count], vec![append(" not"), append(" to"), append(" be")]]
                .into_iter();
        let mut acknowledged = 0;
        let options = BatchOptions { transactions, ..Default::default() };
        let failed = editor.run(&mut || Ok(batches.next()), options, &mut |outcomes| {
            acknowledged += outcomes.len();
            if acknowledged > 3 { Err(Error::Cancelled) } else { Ok(()) }
        });
        assert!(matches!(failed, Err(Error::Cancelled)));
        // What was committed when it could not be told any more stays.
        let expected = match transactions {
            Transactions::Batch => "to be or not to be",
            Transactions::Edit => "to be or not to",
        };
        let model = Model::new(Lexer::Words, [("d".to_owned(), expected.into())]);
        whole::check_texts(&Corpus::open(&path).unwrap(), &model, expected);
        let corpus = editor.begin().unwrap().corpus().unwrap();
        whole::check_texts(&corpus, &model, expected);
    }
}

/// An archive that says of its document that it is almost as long as one can be: editing believes it.
fn make_with_long_document(path: &Path, bytes: u64) {
    let part = path.with_extension("part");
    let model = Model::new(Lexer::Words, [("d".to_owned(), b"to be".to_vec())]);
    SETUP.make(&model, &part, &mut Random::new(1));
    let part = Archive::open(&part).unwrap();
    let entries = part.dictionary(0).unwrap().entries(u64::MAX).unwrap();
    let grammar = part.grammar(0).unwrap();
    let mut writer = ArchiveWriter::create(path).unwrap();
    let segment =
        EncodedSegment::new(&grammar, &entries.words(), &entries.separators(), Level::Fast);
    writer.add_segment(&segment).unwrap();
    let (mut table, mut summary) = (part.documents().unwrap(), part.summary().clone());
    table.documents[0].bytes = bytes;
    (summary.text_bytes, summary.segments[0].text_bytes) = (bytes, bytes);
    writer.finish(&table, &summary, true).unwrap();
}

/// Each edit is possible by itself, and both together are not: none is made.
#[test]
fn a_snapshot_that_is_too_long_makes_none_of_its_edits() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("long.tdc");
    let bytes = (1 << 48) - 4;
    make_with_long_document(&path, bytes);
    let editor = Editor::open(&path).unwrap();
    let mut transaction = editor.begin().unwrap();
    let append = Edit::Append { document: 0, text: b"12" };
    let refused = transaction.edit_together(&[append, append]);
    assert!(matches!(refused, Err(Error::DocumentTooLong { .. })), "{refused:?}");
    assert_eq!((transaction.bytes(0), transaction.pending().edits), (bytes, 0));
    // Both fit where enough goes that is behind them.
    let insert = Edit::Insert { document: 0, offset: 0, text: b"12" };
    let replace = Edit::Replace { document: 0, offset: bytes - 9, length: 9, text: b"0" };
    transaction.edit_together(&[insert, insert, replace]).unwrap();
    assert_eq!(transaction.bytes(0), bytes - 4);
    transaction.rollback();
    let before = std::fs::read(&path).unwrap();
    let append = Operation::Append { document: b"d".into(), text: b"12".into() };
    let mut batch = Some(vec![append.clone(), append]);
    let options = BatchOptions { offsets: Offsets::Snapshot, ..Default::default() };
    let refused = editor.run(&mut || Ok(batch.take()), options, &mut |_| Ok(()));
    assert!(matches!(refused, Err(Error::DocumentTooLong { .. })), "{refused:?}");
    assert_eq!(editor.begin().unwrap().bytes(0), bytes);
    assert!(std::fs::read(&path).unwrap() == before);
}

/// Of an edited corpus the digests of what edits have not touched are compared, and counted.
#[test]
fn verifying_counts_the_digests_that_it_compares() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("c.tdc");
    let mut random = Random::new(1);
    // Long enough to have digests of their own.
    let documents =
        (0..4).map(|number| (format!("d{number}"), Kind::Snippets.text(&mut random, 9000)));
    let mut model = Model::new(Lexer::Words, documents.collect::<Vec<_>>());
    assert!(model.documents.values().all(|text| text.len() > 4096));
    SETUP.make(&model, &path, &mut random);
    let verify = |path: &Path| {
        let report = Corpus::open(path).unwrap().verify(&()).unwrap();
        (report.documents, report.compared)
    };
    assert_eq!(verify(&path), (4, 4));
    let mut transaction = Editor::open(&path).unwrap().begin().unwrap();
    for operation in [
        Operation::Append { document: b"d1".into(), text: b"!".into() },
        Operation::Rename { document: b"d2".into(), name: b"other".into() },
        Operation::Add { document: b"d5".into(), modified: None, mode: None, text: b"new".into() },
    ] {
        edit(&mut transaction, &operation).unwrap();
        model.edit(&operation);
    }
    transaction.commit(Durability::Sync).unwrap();
    // A new name changes no byte; what is edited or new has no digest.
    assert_eq!(verify(&path), (5, 3));
    whole::check_file(&path, &model, "edited");
}
