//! Edits around the places where a document goes on from one segment to the next.

use std::path::Path;

use tadoc_engine::access::Index;
use tadoc_engine::update::{BatchOptions, Operation, Outcome, RecompressOptions};
use tadoc_engine::{Builder, Corpus, Durability, Editor, Level, Lexer};
use tadoc_oracle::Random;

use super::archives::Setup;
use super::model::{Expected, Model};
use super::whole;

/// A place in a document where a segment ends and the next one starts.
struct Border {
    document: String,
    offset: u64,
    /// The parts of the document before and behind it have so many bytes.
    before: u64,
    behind: u64,
}

/// The places where documents go on.
fn borders(corpus: &Corpus) -> Vec<Border> {
    let (documents, segments) = (corpus.documents().unwrap(), corpus.info().segments);
    // Where segments and documents start in all the text.
    let mut ends = vec![0];
    segments.iter().for_each(|segment| ends.push(ends[ends.len() - 1] + segment.text_bytes));
    let mut borders = Vec::new();
    let mut start = 0;
    for document in documents {
        let name = String::from_utf8(document.name.clone()).unwrap();
        let end = start + document.bytes;
        for place in ends.windows(3).filter(|ends| start < ends[1] && ends[1] < end) {
            borders.push(Border {
                document: name.clone(),
                offset: place[1] - start,
                before: place[1] - place[0].max(start),
                behind: place[2].min(end) - place[1],
            });
        }
        start = end;
    }
    borders
}

/// Makes edits one behind the other in a copy of an archive, and asks everything: as edited, and compressed again.
fn check(original: &Path, model: &Model, edits: &[Operation]) {
    let path = original.with_extension("edited");
    std::fs::copy(original, &path).unwrap();
    let mut model = model.clone();
    let editor = Editor::open(&path).unwrap();
    let mut given = Some(edits.to_vec());
    let options = BatchOptions { durability: Durability::None, ..Default::default() };
    let mut outcomes = |found: Vec<tadoc_engine::Result<Outcome>>| {
        assert!(found.iter().all(Result::is_ok), "{found:?}");
        Ok(())
    };
    editor.run(&mut || Ok(given.take()), options, &mut outcomes).unwrap();
    drop(editor);
    for edit in edits {
        assert_eq!(model.edit(edit), Expected::Outcome(Outcome::Done));
    }
    let what = format!("{edits:?}");
    whole::check_file(&path, &model, &what);
    let options = RecompressOptions { threads: Some(1), ..Default::default() };
    options.recompress(&path, &()).unwrap();
    whole::check_file(&path, &model, &format!("{what}, recompressed"));
}

/// Edits of many kinds at a border.
fn edits_at(border: &Border) -> Vec<Vec<Operation>> {
    let document = || border.document.clone().into_bytes();
    let Border { offset, before, behind, .. } = *border;
    let insert = |offset, text: &str| Operation::Insert {
        document: document(),
        offset,
        text: text.as_bytes().to_vec(),
    };
    let delete = |offset, length| Operation::Delete { document: document(), offset, length };
    let replace = |offset, length, text: &str| Operation::Replace {
        document: document(),
        offset,
        length,
        text: text.as_bytes().to_vec(),
    };
    let rename = |name: &str| Operation::Rename { document: document(), name: name.into() };
    let near_before = before.min(3);
    let near_behind = behind.min(3);
    let mut all = vec![
        vec![insert(offset, "x")],
        vec![insert(offset, " ")],
        vec![insert(offset, "\u{301}")],
        vec![insert(offset, "x"), insert(offset, "y"), insert(offset + 2, "z")],
        vec![insert(offset - 1, "x"), insert(offset + 2, "y")],
        vec![delete(offset - 1, 1)],
        vec![delete(offset, 1)],
        vec![delete(offset - near_before, near_before + near_behind)],
        vec![delete(offset - near_before, near_before), insert(offset - near_before, "日")],
        vec![replace(offset - 1, 2, "ab")],
        vec![replace(offset - 1, 2, "")],
        // Parts that become empty.
        vec![delete(offset - before, before)],
        vec![delete(offset, behind)],
        vec![delete(offset - before, before + behind)],
        vec![delete(offset - before, before), insert(offset - before, "new")],
        vec![delete(offset, behind), insert(offset, "new")],
        vec![delete(offset - 1, behind + 1)],
        // Documents that come and go around it.
        vec![rename("~ the last")],
        vec![rename("! the first")],
        vec![delete(offset - 1, 1), rename("d04+")],
        vec![Operation::Remove { document: document() }],
        vec![
            rename("~ the last"),
            Operation::Add {
                document: document(),
                modified: None,
                mode: None,
                text: b"another".to_vec(),
            },
        ],
    ];
    if behind > 1 {
        all.push(vec![delete(offset, behind - 1)]);
    }
    all
}

#[test]
fn every_border_can_be_edited() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("borders.tdc");
    for (lexer, builder) in
        [(Lexer::Words, Builder::RePair), (Lexer::Whitespace, Builder::Sequitur)]
    {
        let long = "to be or not\nto be 日本 語 \u{301}that is the\nquestion ab cd ";
        let documents = [
            ("d00", ""),
            ("d01", "to be"),
            ("d02", &long.repeat(2)),
            ("d04", ""),
            ("d05", &"a b\nab ".repeat(5)),
            ("d06", "the end"),
        ];
        let documents = documents.map(|(name, text)| (name.to_owned(), text.as_bytes().to_vec()));
        let model = Model::new(lexer, documents);
        let (level, index) = (Level::Fast, Index::None);
        let setup = Setup { lexer, builder, level, index, segments: 9 };
        setup.make(&model, &path, &mut Random::new(3));
        let corpus = Corpus::open(&path).unwrap();
        whole::check(&corpus, &model, "as made");
        let borders = borders(&corpus);
        assert!(borders.len() > 4, "{} borders", borders.len());
        for border in &borders {
            for edits in edits_at(border) {
                check(&path, &model, &edits);
            }
        }
        // A document that is alone in its segments goes, and all that are there.
        let all: Vec<Operation> = model
            .names()
            .into_iter()
            .map(|name| Operation::Remove { document: name.into_bytes() })
            .collect();
        check(&path, &model, &all);
    }
}

/// A whole part in the middle goes: what was before and what was behind it are neighbours.
#[test]
fn words_join_over_a_part_that_is_gone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("joined.tdc");
    let text = "ab cd ef gh ij kl mn op qr st uv wx yz ".repeat(3);
    let model = Model::new(Lexer::Words, [("d".to_owned(), text.into_bytes())]);
    let setup = Setup {
        lexer: Lexer::Words,
        builder: Builder::RePair,
        level: Level::Fast,
        index: Index::None,
        segments: 7,
    };
    setup.make(&model, &path, &mut Random::new(4));
    let corpus = Corpus::open(&path).unwrap();
    let borders = borders(&corpus);
    for (first, one) in borders.iter().enumerate() {
        for other in &borders[first + 1..] {
            // From border to border, and with the separator before.
            for start in [one.offset, one.offset - 1] {
                let length = other.offset - start;
                let delete = Operation::Delete { document: b"d".to_vec(), offset: start, length };
                check(&path, &model, &[delete]);
            }
        }
    }
    // The last byte of each part, and then what is between the first two borders that have a part between them.
    let [first, second, ..] = &borders[..] else { panic!("{} borders", borders.len()) };
    let delete = |offset, length| Operation::Delete { document: b"d".to_vec(), offset, length };
    let edits = [
        delete(second.offset - 1, 1),
        delete(first.offset - 1, 1),
        delete(first.offset - 1, second.offset - first.offset - 1),
    ];
    check(&path, &model, &edits);
}
