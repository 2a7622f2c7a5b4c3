//! Any pattern on any text: the lines that are found on the compressed form are those in which the
//! crate `regex` finds it.
#![no_main]

use std::io;
use std::ops::ControlFlow;

use libfuzzer_sys::fuzz_target;
use regex::bytes::RegexBuilder;
use tadoc_engine::access::Index;
use tadoc_engine::grep::{
    self, Binary, Case, Line, Method, Options, Pattern, Sink, Summary, Syntax,
};
use tadoc_engine::{Builder, CompressOptions, Corpus, Input, Lexer, Source};

/// Ends the pattern, and then each document; a byte that is in no UTF-8.
const BORDER: u8 = 0xF5;
/// Compiling longer patterns is what takes the time, and is not what this is about.
const LONGEST_PATTERN: usize = 64;
/// Of what a pattern may be compiled to.
const MOST_BYTES: usize = 1 << 20;

/// A line: the number of its document, its own, and its text.
type Found = (usize, u64, Vec<u8>);

/// Keeps lines.
#[derive(Default)]
struct Lines(Vec<Found>);

impl Sink for Lines {
    fn line(&mut self, document: usize, line: &Line<'_>) -> io::Result<()> {
        self.0.push((document, line.number, line.text.to_vec()));
        Ok(())
    }

    fn gap(&mut self) -> io::Result<()> {
        unreachable!("no context was asked for");
    }

    fn end(&mut self, _: usize, _: &Summary) -> io::Result<ControlFlow<()>> {
        Ok(ControlFlow::Continue(()))
    }
}

fuzz_target!(|data: &[u8]| {
    let [choice, rest @ ..] = data else { return };
    let bit = |number: u8| choice >> number & 1 == 1;
    let mut parts = rest.split(|&byte| byte == BORDER);
    let Some(Ok(written)) = parts.next().map(std::str::from_utf8) else { return };
    if written.len() > LONGEST_PATTERN {
        return;
    }
    let case = if bit(0) { Case::Insensitive } else { Case::Sensitive };
    let syntax = Syntax { case, ..Syntax::default() };
    // What matches newlines is refused.
    let Ok(pattern) = Pattern::new(&[written], syntax) else { return };
    let mut plain = RegexBuilder::new(written);
    let Ok(plain) = plain.case_insensitive(bit(0)).size_limit(MOST_BYTES).build() else { return };

    let documents: Vec<&[u8]> = parts.collect();
    let invert = bit(1);
    let mut expected: Vec<Found> = Vec::new();
    for (document, text) in documents.iter().enumerate() {
        for (number, line) in (1..).zip(text.split_inclusive(|&byte| byte == b'\n')) {
            let line = line.strip_suffix(b"\n").unwrap_or(line);
            if plain.is_match(line) != invert {
                expected.push((document, number, line.to_vec()));
            }
        }
    }

    let path = tadoc_fuzz::scratch("grep.tdc");
    let options = CompressOptions {
        lexer: if bit(2) { Lexer::Whitespace } else { Lexer::Words },
        builder: if bit(3) { Builder::Sequitur } else { Builder::RePair },
        threads: Some(1),
        force: true,
        ..CompressOptions::default()
    };
    let inputs = documents.iter().enumerate().map(|(number, text)| {
        Input::new(format!("{number:04}").as_bytes(), Source::Bytes(text.to_vec()))
    });
    tadoc_engine::compress(inputs.collect(), &path, &options, &()).expect("it can be compressed");
    if bit(4) {
        tadoc_engine::access::store(&path, Index::Fast, &()).expect("an index");
    }
    let corpus = Corpus::open(&path).expect("an archive");
    let all: Vec<usize> = (0..documents.len()).collect();
    for method in [Method::Automaton, Method::Expansion] {
        let options = Options {
            numbers: true,
            invert,
            binary: Binary::Text,
            method: Some(method),
            ..Options::default()
        };
        let mut lines = Lines::default();
        grep::search(&corpus, &all, &pattern, &options, &mut lines).expect("a whole archive");
        let found = lines.0;
        assert!(found == expected, "{written:?} {method:?}: {found:?}, expected {expected:?}");
    }
});
