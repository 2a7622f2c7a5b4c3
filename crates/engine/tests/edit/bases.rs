//! Reads after very many edits, and after very large ones.

use tadoc_engine::access::Index;
use tadoc_engine::{Builder, Editor, Level, Lexer};
use tadoc_oracle::Random;

use super::archives::Setup;
use super::model::Model;
use super::script::Script;
use super::texts::Kind;
use super::whole;

const SETUP: Setup = Setup {
    lexer: Lexer::Words,
    builder: Builder::RePair,
    level: Level::Fast,
    index: Index::None,
    segments: 1,
};

/// More edits between two reads than a base takes, in one run: reads before and behind them are right.
#[test]
fn more_edits_than_a_base_takes() {
    for kind in [Kind::Letters, Kind::Snippets] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("c.tdc");
        let mut random = Random::new(9);
        let documents = (0..5).map(|number| (format!("d{number:02}"), kind.text(&mut random, 800)));
        let model = Model::new(SETUP.lexer, documents.collect::<Vec<_>>());
        SETUP.make(&model, &path, &mut random);
        let mut script = Script::new(9, model, kind);
        let editor = Editor::open(&path).unwrap();
        for round in 0..3 {
            let what = format!("{kind:?}, round {round}");
            script.run_with_edits(&editor, 40, 5000, &what);
            whole::check_file(&path, &script.model, &what);
        }
    }
}

/// Texts of which much goes at once, among many small pieces.
#[test]
fn much_text_goes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("c.tdc");
    let mut random = Random::new(10);
    let documents =
        (0..3).map(|number| (format!("d{number:02}"), Kind::Snippets.text(&mut random, 40_000)));
    let model = Model::new(SETUP.lexer, documents.collect::<Vec<_>>());
    assert!(model.documents.values().any(|text| text.len() > 200_000));
    SETUP.make(&model, &path, &mut random);
    let mut script = Script::new(10, model, Kind::Snippets);
    script.longest = usize::MAX;
    script.samples = 2000;
    let editor = Editor::open(&path).unwrap();
    for round in 0..3 {
        let what = format!("round {round}");
        script.run_with_large_deletes(&editor, 150, &what);
        whole::check_texts(&editor.begin().unwrap().corpus().unwrap(), &script.model, &what);
    }
}
