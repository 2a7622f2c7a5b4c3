//! Edited corpora against plain byte strings: texts and words, in one segment and in several.

use std::collections::BTreeMap;
use std::sync::Arc;

use tadoc_core::archive::Archive;
use tadoc_core::archive::journal::Edit;
use tadoc_oracle::Random;

use super::{EditedText, Ledger};
use crate::{CompressOptions, Corpus, Input, Lexer, Source};

/// Pieces of text that meet in unexpected ways: words, marks, characters that are words of their own, halves of characters.
const SNIPPETS: &[&[u8]] = &[
    b"a",
    b"bc",
    b" ",
    b"  ",
    b"\n",
    b"_",
    b"-",
    b"to be",
    b", or not\n",
    "日本".as_bytes(),
    "語".as_bytes(),
    "ไทย".as_bytes(),
    "\u{e31}".as_bytes(),
    "e\u{301}".as_bytes(),
    "\u{301}".as_bytes(),
    b"\xe6",
    b"\x97\xa5",
    b"\xff",
    b"\0",
    b"\r\n",
    "é".as_bytes(),
    b"12",
    b"------------------------------------",
    b"the quick brown fox jumps over the lazy dog\n",
];

fn text(random: &mut Random, snippets: u64) -> Vec<u8> {
    (0..random.below(snippets + 1)).flat_map(|_| random.choose(SNIPPETS).to_vec()).collect()
}

/// The words of a text, each with its offset.
fn words(lexer: Lexer, text: &[u8]) -> Vec<(usize, Vec<u8>)> {
    tadoc_oracle::words(
        match lexer {
            Lexer::Words => tadoc_oracle::Lexer::Words,
            Lexer::Whitespace => tadoc_oracle::Lexer::Whitespace,
        },
        text,
    )
    .into_iter()
    .map(|range| (range.start, text[range].to_vec()))
    .collect()
}

/// A random edit that is possible, and what it does to the model.
fn edit_at_random(
    random: &mut Random,
    ledger: &mut Ledger,
    text_of: &mut EditedText,
    model: &mut BTreeMap<Vec<u8>, Vec<u8>>,
) {
    let names: Vec<Vec<u8>> = model.keys().cloned().collect();
    let new = text(random, 6);
    let name = format!("{:02}", random.below(40)).into_bytes();
    if names.is_empty() || (random.below(20) == 0 && !model.contains_key(&name)) {
        let edit = Edit::Add { name: &name, modified: None, mode: None, text: &new };
        ledger.apply(&edit).unwrap();
        text_of.apply(&edit, ledger);
        model.insert(name, new);
        return;
    }
    let old = random.choose(&names).clone();
    let document = ledger.find(&old).unwrap();
    let is_free = !model.contains_key(&name);
    let most = if random.below(8) == 0 { 1000 } else { 12 };
    let bytes = model.get_mut(&old).unwrap();
    let offset = random.below(bytes.len() as u64 + 1);
    let length = random.below((bytes.len() as u64 - offset).min(most) + 1);
    let (from, to) = (offset as usize, (offset + length) as usize);
    let edit = match random.below(20) {
        0 => {
            model.remove(&old);
            Edit::Remove { document }
        }
        1 if is_free => {
            let bytes = model.remove(&old).unwrap();
            model.insert(name.clone(), bytes);
            Edit::Rename { document, name: &name }
        }
        2..=5 => {
            bytes.drain(from..to);
            Edit::Delete { document, offset, length }
        }
        6..=9 => {
            bytes.splice(from..to, new.iter().copied());
            Edit::Replace { document, offset, length, text: &new }
        }
        10..=12 => {
            bytes.extend_from_slice(&new);
            Edit::Append { document, text: &new }
        }
        _ => {
            bytes.splice(from..from, new.iter().copied());
            Edit::Insert { document, offset, text: &new }
        }
    };
    ledger.apply(&edit).unwrap();
    text_of.apply(&edit, ledger);
}

fn check(
    path: &std::path::Path,
    lexer: Lexer,
    ledger: &Ledger,
    text: &EditedText,
    model: &BTreeMap<Vec<u8>, Vec<u8>>,
) {
    let corpus = Corpus::stored(Archive::open(path).unwrap())
        .with_edits(ledger, Arc::new(text.clone()))
        .unwrap();
    let documents = corpus.documents().unwrap();
    let names: Vec<&Vec<u8>> = documents.iter().map(|document| &document.name).collect();
    assert_eq!(names, model.keys().collect::<Vec<_>>());
    let mut found: Vec<Vec<(usize, Vec<u8>)>> = vec![Vec::new(); documents.len()];
    let mut at = vec![0; documents.len()];
    let all: Vec<usize> = (0..documents.len()).collect();
    for (segment, parts) in corpus.segments_of(&all) {
        let (grammar, dictionary) = corpus.segment(segment).unwrap();
        let tokens = dictionary.tokens(u64::MAX).unwrap();
        for (document, place) in parts {
            for token in grammar.expand(grammar.document(place)) {
                let bytes = tokens.get(token);
                if token < dictionary.word_token_count() {
                    let space = usize::from(bytes[0] == b' ');
                    found[document].push((at[document] + space, bytes[space..].to_vec()));
                }
                at[document] += bytes.len();
            }
        }
    }
    for (place, (name, bytes)) in model.iter().enumerate() {
        let mut restored = Vec::new();
        corpus.write_documents(&[place], &mut restored, &()).unwrap();
        assert_eq!(
            String::from_utf8_lossy(&restored),
            String::from_utf8_lossy(bytes),
            "{}",
            String::from_utf8_lossy(name)
        );
        assert_eq!(&restored, bytes);
        assert_eq!(found[place], words(lexer, bytes), "{:?}", String::from_utf8_lossy(bytes));
    }
    corpus.verify(&()).unwrap();
}

fn run(seed: u64, memory: Option<u64>, snippets: u64, lexer: Lexer) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("c.tdc");
    let mut random = Random::new(seed);
    let mut model: BTreeMap<Vec<u8>, Vec<u8>> = BTreeMap::new();
    for number in 0..random.below(6) {
        model.insert(format!("{number:02}").into_bytes(), text(&mut random, snippets));
    }
    let inputs =
        model.iter().map(|(name, bytes)| Input::new(name.clone(), Source::Bytes(bytes.clone())));
    let options = CompressOptions { lexer, memory, threads: Some(1), ..Default::default() };
    crate::compress(inputs.collect(), &path, &options, &()).unwrap();
    let archive = Archive::open(&path).unwrap();
    let mut ledger = Ledger::new(Arc::new(archive.documents().unwrap()));
    let mut edited = EditedText::default();
    for round in 0..12 {
        for _ in 0..1 + round * 2 {
            edit_at_random(&mut random, &mut ledger, &mut edited, &mut model);
        }
        check(&path, lexer, &ledger, &edited, &model);
    }
}

#[test]
fn edited_documents_have_the_text_and_the_words_of_the_model() {
    for seed in 0..150 {
        let lexer = if seed % 3 == 0 { Lexer::Whitespace } else { Lexer::Words };
        run(seed, None, 1 << (seed % 9), lexer);
    }
}

#[test]
fn recompressed_archives_have_the_text_of_the_model() {
    for seed in 0..40 {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("c.tdc");
        let mut random = Random::new(seed);
        let mut model: BTreeMap<Vec<u8>, Vec<u8>> = BTreeMap::new();
        crate::compress(Vec::new(), &path, &CompressOptions::default(), &()).unwrap();
        let mut editor = crate::Editor::open(&path).unwrap();
        for round in 0..6 {
            for _ in 0..30 {
                let name = format!("{:02}", random.below(9)).into_bytes();
                let new = text(&mut random, 30);
                match model.get_mut(&name) {
                    None => {
                        let add = Edit::Add { name: &name, modified: None, mode: None, text: &new };
                        editor.edit(&add).unwrap();
                        model.insert(name, new);
                    }
                    Some(bytes) => {
                        let document = editor.find(&name).unwrap();
                        let offset = random.below(bytes.len() as u64 + 1);
                        editor.edit(&Edit::Insert { document, offset, text: &new }).unwrap();
                        bytes.splice(offset as usize..offset as usize, new.iter().copied());
                    }
                }
            }
            editor.commit(false).unwrap();
            if round % 2 == 1 {
                let options = super::RecompressOptions::default();
                let report = editor.recompress(&options, &()).unwrap();
                assert_eq!(report.documents as usize, model.len());
                assert_eq!(editor.pending().edits, 0);
            }
            let corpus = Corpus::open(&path).unwrap();
            corpus.verify(&()).unwrap();
            for (place, bytes) in model.values().enumerate() {
                let mut restored = Vec::new();
                corpus.write_documents(&[place], &mut restored, &()).unwrap();
                assert_eq!(&restored, bytes);
            }
        }
    }
}
