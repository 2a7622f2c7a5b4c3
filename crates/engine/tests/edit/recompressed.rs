//! Compressing again: bytes that do not depend on how it is done, and segments that are cut.

use tadoc_engine::access::Index;
use tadoc_engine::update::{Operation, RecompressOptions};
use tadoc_engine::{Builder, Corpus, Durability, Edit, Editor, Level, Lexer};
use tadoc_oracle::Random;
use tadoc_testing::archives::least_memory;

use super::access_support::INDEXES;
use super::archives::Setup;
use super::model::Model;
use super::script::Script;
use super::texts::Kind;
use super::whole;

#[test]
fn bytes_do_not_depend_on_threads() {
    for seed in 0..12 {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("c.tdc");
        let mut random = Random::new(seed);
        let mut setup = Setup::at_random(&mut random);
        setup.segments = 1 + seed % 3;
        let documents =
            (0..6).map(|number| (format!("d{number:02}"), Kind::Snippets.text(&mut random, 400)));
        let model = Model::new(setup.lexer, documents.collect::<Vec<_>>());
        setup.make(&model, &path, &mut random);
        let mut script = Script::new(seed, model, Kind::Snippets);
        let editor = Editor::open(&path).unwrap();
        script.run(&editor, 400, "before compressing again");
        drop(editor);
        let mut made: Vec<Vec<u8>> = Vec::new();
        for threads in [1, 2, 16, 200] {
            for through_editor in [false, true] {
                let copy = folder.path().join("copy.tdc");
                std::fs::copy(&path, &copy).unwrap();
                let options = RecompressOptions { threads: Some(threads), ..Default::default() };
                match through_editor {
                    false => options.recompress(&copy, &()).unwrap(),
                    true => Editor::open(&copy).unwrap().recompress(&options, &()).unwrap(),
                };
                made.push(std::fs::read(&copy).unwrap());
            }
        }
        assert!(made.windows(2).all(|pair| pair[0] == pair[1]), "seed {seed}, {setup:?}");
        let copy = folder.path().join("copy.tdc");
        whole::check_file(&copy, &script.model, &format!("seed {seed}"));
        // There is nothing left to do.
        let report = RecompressOptions::default().recompress(&copy, &()).unwrap();
        assert_eq!((report.edits, report.segments_made), (0, 0));
        assert!(std::fs::read(&copy).unwrap() == made[0]);
    }
}

/// With the least memory a segment is cut wherever that can be done: documents in two and more, empty ones at the cuts; these are edited, and
/// cut again.
#[test]
fn segments_are_cut_small() {
    let mut most = 0;
    for seed in 0..16 {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("c.tdc");
        let mut random = Random::new(seed);
        let setup = Setup::at_random(&mut random);
        let kind = if seed % 3 == 0 { Kind::Letters } else { Kind::Snippets };
        let documents: Vec<(String, Vec<u8>)> = (0..6)
            .map(|number| {
                let text = if number % 3 == 2 { Vec::new() } else { kind.text(&mut random, 20) };
                (format!("d{number:02}"), text)
            })
            .collect();
        let model = Model::new(setup.lexer, documents);
        setup.make(&model, &path, &mut random);
        let mut script = Script::new(seed, model, kind);
        script.longest = 120;
        let memory = Some(least_memory(&path));
        let editor = Editor::open(&path).unwrap();
        for round in 0..3 {
            let what = format!("seed {seed}, round {round}, {setup:?}");
            script.run(&editor, 30, &what);
            whole::check_file(&path, &script.model, &what);
            let index = (round == 2).then(|| *random.choose(&INDEXES));
            let options =
                RecompressOptions { memory, threads: Some(1), index, ..Default::default() };
            let report = editor.recompress(&options, &()).unwrap();
            most = most.max(report.segments);
            whole::check_file(&path, &script.model, &format!("{what}, recompressed"));
        }
    }
    assert!(most > 20, "{most} segments");
}

/// Much text is added to a small archive: it becomes several segments of about the same size, and fewer again with more memory.
#[test]
fn text_that_has_grown_is_cut() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("c.tdc");
    let setup = Setup {
        lexer: Lexer::Words,
        builder: Builder::RePair,
        level: Level::Fast,
        index: Index::Small,
        segments: 1,
    };
    let mut random = Random::new(1);
    let model = Model::new(setup.lexer, [("d00".to_owned(), b"to be ".to_vec())]);
    setup.make(&model, &path, &mut random);
    let mut script = Script::new(1, model, Kind::Snippets);
    let editor = Editor::open(&path).unwrap();
    let mut transaction = editor.begin().unwrap();
    let document = transaction.find(b"d00").unwrap();
    for _ in 0..12_000 {
        // Words that do not come again, so that rules do not make much of them.
        let text = format!("w{} ", random.below(1 << 40));
        transaction.edit(&Edit::Append { document, text: text.as_bytes() }).unwrap();
        script.model.documents.get_mut("d00").unwrap().extend_from_slice(text.as_bytes());
    }
    for name in ["d01", "d02"] {
        let (name, text) = (name.as_bytes(), &b""[..]);
        transaction.edit(&Edit::Add { name, modified: None, mode: None, text }).unwrap();
        script.model.documents.insert(String::from_utf8(name.to_vec()).unwrap(), Vec::new());
    }
    transaction.commit(Durability::None).unwrap();
    let memory = Some(least_memory(&path) + (1 << 17));
    let options = RecompressOptions { memory, threads: Some(1), ..Default::default() };
    let report = editor.recompress(&options, &()).unwrap();
    assert!((2..20).contains(&report.segments), "{report:?}");
    assert_eq!(report.segments, Corpus::open(&path).unwrap().info().segments.len() as u64);
    let corpus = Corpus::open(&path).unwrap();
    whole::check_texts(&corpus, &script.model, "cut");
    script.longest = usize::MAX;
    script.run(&editor, 200, "cut");
    whole::check_texts(&Corpus::open(&path).unwrap(), &script.model, "cut and edited");
    let report = editor.recompress(&RecompressOptions::default(), &()).unwrap();
    assert!(report.segments_made > 0, "{report:?}");
    whole::check_texts(&Corpus::open(&path).unwrap(), &script.model, "cut and made again");
}

/// Segments that end before a separator, and words that stand side by side: an edit makes one word of what two segments had.
#[test]
fn words_become_one_over_the_end_of_a_segment() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("c.tdc");
    let setup = Setup {
        lexer: Lexer::Words,
        builder: Builder::RePair,
        level: Level::Fast,
        index: Index::None,
        segments: 1,
    };
    let text = "aa\nbb,cc\tdd 本\u{301}ee 日本語ff\n語\u{301}\u{301}gg";
    let options = RecompressOptions {
        memory: Some(least_memory(&path)),
        threads: Some(1),
        ..Default::default()
    };
    let made = Model::new(setup.lexer, [("d".to_owned(), text.as_bytes().to_vec())]);
    setup.make(&Model::new(setup.lexer, []), &path, &mut Random::new(1));
    let editor = Editor::open(&path).unwrap();
    let (modified, mode, text) = (None, None, text.as_bytes());
    let mut transaction = editor.begin().unwrap();
    transaction.edit(&Edit::Add { name: b"d", modified, mode, text }).unwrap();
    transaction.commit(Durability::None).unwrap();
    let segments = editor.recompress(&options, &()).unwrap().segments;
    assert!(segments > 6, "{segments} segments");
    drop(editor);
    // Every character goes or becomes a letter, and so do two in a row.
    let places: Vec<usize> =
        std::str::from_utf8(text).unwrap().char_indices().map(|(at, _)| at).collect();
    for from in 0..places.len() {
        for to in from + 1..=places.len().min(from + 2) {
            for new in ["", "x"] {
                let copy = folder.path().join("copy.tdc");
                std::fs::copy(&path, &copy).unwrap();
                let (start, end) = (places[from], places.get(to).copied().unwrap_or(text.len()));
                let (document, offset, length) =
                    (b"d".to_vec(), start as u64, (end - start) as u64);
                let edit = Operation::Replace { document, offset, length, text: new.into() };
                let mut model = made.clone();
                model.edit(&edit);
                let mut transaction = Editor::open(&copy).unwrap().begin().unwrap();
                let document = transaction.find(b"d").unwrap();
                let text = new.as_bytes();
                transaction.edit(&Edit::Replace { document, offset, length, text }).unwrap();
                transaction.commit(Durability::None).unwrap();
                whole::check_file(&copy, &model, &format!("{edit:?}"));
            }
        }
    }
}
