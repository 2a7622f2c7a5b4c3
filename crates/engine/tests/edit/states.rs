//! A corpus whose every state is recognisable: a mixture of two of them is none.
//!
//! A state has a number. All its documents tell it, each in its own way, and a document has it in its name; so a transaction edits all of
//! them, and renames, adds and removes some.

use std::collections::BTreeMap;
use std::path::Path;

use tadoc_engine::access::{Access, Index, Scope};
use tadoc_engine::{
    Analyzer, CompressOptions, Corpus, Durability, Edit, Editor, Input, Lexer, Result, Source,
    Transaction, compress,
};

use tadoc_oracle::Random;

use super::model::Model;
use super::whole;

/// Documents that are there in every state.
const DOCUMENTS: u64 = 3;
/// Lines that such a document has at the most, but for its first.
const LINES: u64 = 20;
/// Documents that come with a state and go with a later one.
const KEPT: u64 = 4;

/// The documents of a state.
pub fn documents(state: u64) -> BTreeMap<String, Vec<u8>> {
    let mut documents = BTreeMap::new();
    for number in 0..DOCUMENTS {
        let lines = state.saturating_sub(LINES - 1)..=state;
        let text: String = lines.map(|of| line(of, number)).collect();
        documents.insert(format!("document {number}"), format!("{}{text}", head(state)).into());
    }
    documents.insert(mark(state), format!("the mark of {}", head(state)).into());
    for of in state.saturating_sub(KEPT - 1)..=state {
        documents.insert(format!("note {of:08}"), line(of, DOCUMENTS).into());
    }
    documents
}

fn head(state: u64) -> String {
    format!("state {state:08}\n")
}

/// A line that a document gets with a state.
fn line(state: u64, document: u64) -> String {
    let mixed = (state * 31 + document).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    format!("line {state} of {document}: {:x}\n", mixed >> (mixed % 40))
}

fn mark(state: u64) -> String {
    format!("mark {state:08}")
}

/// Makes an archive of the first state.
pub fn make(path: &Path) {
    let inputs = documents(0)
        .into_iter()
        .map(|(name, text)| Input::new(name.into_bytes(), Source::Bytes(text)));
    let options = CompressOptions { threads: Some(1), ..Default::default() };
    compress(inputs.collect(), path, &options, &()).unwrap();
}

/// Makes the edits that lead from a state to the next, and does not commit them.
pub fn advance(transaction: &mut Transaction, state: u64) -> Result<()> {
    let next = state + 1;
    for number in 0..DOCUMENTS {
        let document = transaction.find(format!("document {number}").as_bytes())?;
        let (old, new) = (head(state), head(next));
        // The number alone.
        let (offset, length) = (6, old.len() as u64 - 7);
        let text = &new.as_bytes()[6..new.len() - 1];
        transaction.edit(&Edit::Replace { document, offset, length, text })?;
        transaction.edit(&Edit::Append { document, text: line(next, number).as_bytes() })?;
        if let Some(gone) = next.checked_sub(LINES) {
            let (offset, length) = (new.len() as u64, line(gone, number).len() as u64);
            transaction.edit(&Edit::Delete { document, offset, length })?;
        }
    }
    let document = transaction.find(mark(state).as_bytes())?;
    transaction.edit(&Edit::Rename { document, name: mark(next).as_bytes() })?;
    let length = head(state).len() as u64;
    transaction.edit(&Edit::Delete { document, offset: 12, length })?;
    transaction.edit(&Edit::Insert { document, offset: 12, text: head(next).as_bytes() })?;
    let (name, text) = (format!("note {next:08}"), line(next, DOCUMENTS));
    let (name, text) = (name.as_bytes(), text.as_bytes());
    transaction.edit(&Edit::Add { name, modified: None, mode: None, text })?;
    if let Some(gone) = next.checked_sub(KEPT) {
        let document = transaction.find(format!("note {gone:08}").as_bytes())?;
        transaction.edit(&Edit::Remove { document })?;
    }
    Ok(())
}

/// Commits the edits that lead from a state to the next.
pub fn commit_next(editor: &Editor, state: u64, durability: Durability) {
    let mut transaction = editor.begin().unwrap();
    advance(&mut transaction, state).unwrap();
    transaction.commit(durability).unwrap();
}

/// The state that a corpus is in; fails if it is none. Documents whose names start with `other` are not looked at.
pub fn state_of(corpus: &Corpus, other: &str) -> u64 {
    let all = corpus.documents().unwrap();
    let own = |name: &[u8]| other.is_empty() || !name.starts_with(other.as_bytes());
    let mark = all.iter().find(|document| document.name.starts_with(b"mark ")).expect("a mark");
    let state = std::str::from_utf8(&mark.name[5..]).unwrap().parse().unwrap();
    let expected = documents(state);
    let mut found = BTreeMap::new();
    for (place, document) in all.iter().enumerate().filter(|(_, document)| own(&document.name)) {
        let mut text = Vec::new();
        corpus.write_documents(&[place], &mut text, &()).unwrap();
        found.insert(String::from_utf8(document.name.clone()).unwrap(), text);
    }
    assert_eq!(found, expected, "not state {state}");
    let access = Access::open(corpus, Index::Fast).unwrap();
    let count = |phrase: &str| {
        let phrase = access.phrase(phrase.as_bytes(), &Analyzer::new()).unwrap();
        access.count(&phrase, &Scope::All).unwrap()
    };
    assert_eq!(count(&format!("state {state:08}")), DOCUMENTS + 1);
    assert_eq!(count(&format!("line {state} of")), DOCUMENTS + 1);
    assert_eq!(count(&format!("line {} of", state + 1)), 0);
    corpus.verify(&()).unwrap();
    state
}

#[test]
fn states_follow_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("states.tdc");
    make(&path);
    let editor = Editor::open(&path).unwrap();
    for state in 0..40 {
        assert_eq!(state_of(&Corpus::open(&path).unwrap(), ""), state);
        let mut transaction = editor.begin().unwrap();
        advance(&mut transaction, state).unwrap();
        // What is not committed is seen by the transaction alone.
        assert_eq!(state_of(&transaction.corpus().unwrap(), ""), state + 1);
        assert_eq!(state_of(&Corpus::open(&path).unwrap(), ""), state);
        transaction.commit(Durability::None).unwrap();
    }
    let model = Model::new(Lexer::Words, documents(40));
    whole::check_file(&path, &model, "40 states");
}

/// Edits without a commit, few or more than fit into a record of the journal, are not there when the archive is opened again.
#[test]
fn what_is_not_committed_is_gone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("states.tdc");
    make(&path);
    let mut random = Random::new(1);
    for (state, bytes) in [0, 100, 5 << 20, 9 << 20].into_iter().enumerate() {
        let mut transaction = Editor::open(&path).unwrap().begin().unwrap();
        advance(&mut transaction, state as u64).unwrap();
        let text: Vec<u8> = (0..bytes).map(|_| random.below(256) as u8).collect();
        let document = transaction.find(b"document 0").unwrap();
        transaction.edit(&Edit::Append { document, text: &text }).unwrap();
        transaction.edit(&Edit::Append { document, text: b"more" }).unwrap();
        assert_eq!(state_of(&Corpus::open(&path).unwrap(), ""), state as u64);
        drop(transaction);
        assert_eq!(state_of(&Corpus::open(&path).unwrap(), ""), state as u64);
        // Nothing of it comes back with the next transaction.
        commit_next(&Editor::open(&path).unwrap(), state as u64, Durability::Sync);
        assert_eq!(state_of(&Corpus::open(&path).unwrap(), ""), state as u64 + 1);
    }
}
