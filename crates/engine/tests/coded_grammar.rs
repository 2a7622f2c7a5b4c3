//! A coded grammar is the grammar: its rules, and its root in chunks with other symbols.

use tadoc_core::Error;
use tadoc_core::archive::{Archive, Level};
use tadoc_engine::{Builder, CompressOptions, Input, Source, compress};

/// Text of so many words that repeats some passages and no others.
fn text(words: u32, seed: u32) -> Vec<u8> {
    let mut text = Vec::new();
    let mut state = seed;
    for number in 0..words {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let word = match state >> 30 {
            0 => number % 100,
            _ => (state >> 12) % 5000,
        };
        let end = if state >> 24 & 15 == 0 { ".\n" } else { " " };
        text.extend_from_slice(format!("w{word}{end}").as_bytes());
    }
    text
}

fn archive(folder: &std::path::Path, documents: &[Vec<u8>], level: Level) -> Archive {
    let path = folder.join("c.tdc");
    let inputs = documents
        .iter()
        .enumerate()
        .map(|(number, bytes)| Input::new(format!("{number:04}"), Source::Bytes(bytes.clone())));
    let builder = Builder::RePair;
    let options = CompressOptions { level, builder, force: true, ..Default::default() };
    compress(inputs.collect(), &path, &options, &()).unwrap();
    Archive::open(&path).unwrap()
}

#[test]
fn rules_and_root_are_those_of_the_grammar() {
    let folder = tempfile::tempdir().unwrap();
    // Less than a block of 2^15 symbols, some blocks, and an odd number of them.
    for words in [0, 10, 3_000, 120_000, 260_000] {
        let documents = [text(words, 1), Vec::new(), text(words / 2, 2), text(words / 2, 2)];
        let archive = archive(folder.path(), &documents, Level::Fast);
        let grammar = archive.grammar(0).unwrap();
        let coded = archive.coded_grammar(0).unwrap().unwrap();
        let rules = coded.rules();
        assert_eq!(rules.token_count(), grammar.token_count());
        assert_eq!(rules.rule_count(), grammar.rule_count());
        assert_eq!(rules.symbols(), &grammar.symbols()[grammar.root().len()..]);
        assert_eq!(coded.document_starts(), grammar.document_starts());
        assert_eq!(coded.root_length() as usize, grammar.root().len());

        let mut uses = vec![0_u32; grammar.rule_count() as usize];
        for rule in grammar.symbols().iter().filter_map(|&symbol| grammar.rule_of(symbol)) {
            uses[rule as usize] += 1;
        }
        for (least, uses) in coded.least_uses().into_iter().zip(uses) {
            assert!(least <= uses && 3 * least >= 2 * uses && (uses > 3 || least == uses));
        }

        let other = |symbol: u32| symbol.wrapping_mul(7) ^ 5;
        let mut root = Vec::new();
        let taken = coded.replace_root::<_, Error>(
            other,
            &|start, chunk| (start, chunk.to_vec()),
            &mut |chunks| {
                for (start, chunk) in chunks {
                    assert_eq!(start, root.len());
                    root.extend(chunk);
                }
                Ok(())
            },
        );
        taken.unwrap();
        let expected: Vec<u32> = grammar.root().iter().map(|&symbol| other(symbol)).collect();
        assert!(root == expected, "{words} words");
    }
}

#[test]
fn an_error_of_who_takes_ends_it() {
    let folder = tempfile::tempdir().unwrap();
    let archive = archive(folder.path(), &[text(120_000, 3)], Level::Fast);
    let coded = archive.coded_grammar(0).unwrap().unwrap();
    let mut calls = 0;
    let taken = coded.replace_root(|symbol| symbol, &|_, _| (), &mut |_: Vec<()>| {
        calls += 1;
        Err(Error::malformed("enough"))
    });
    assert!(taken.unwrap_err().to_string().contains("enough"));
    assert_eq!(calls, 1);
}

#[test]
fn dense_grammars_are_decoded_as_a_whole() {
    let folder = tempfile::tempdir().unwrap();
    let archive = archive(folder.path(), &[text(1000, 4)], Level::Dense);
    assert!(archive.coded_grammar(0).unwrap().is_none());
}
