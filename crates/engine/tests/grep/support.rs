//! A sink that keeps what it gets, and ways to compress and search.

use std::io;
use std::ops::ControlFlow;
use std::path::Path;

use tadoc_engine::grep::{self, Line, Options, Pattern, Sink, Summary};
use tadoc_engine::{Builder, CompressOptions, Corpus, Error, Input, Lexer, Source};
use tadoc_oracle::Document;

/// What a sink is given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    Line { document: usize, number: u64, offset: u64, text: Vec<u8>, newline: bool, asked: bool },
    Gap,
    End(usize, Summary),
}

/// Keeps all that it is given.
#[derive(Default)]
pub struct Events(pub Vec<Event>);

impl Sink for Events {
    fn line(&mut self, document: usize, line: &Line<'_>) -> io::Result<()> {
        let Line { number, offset, text, newline, asked } = *line;
        let text = text.to_vec();
        self.0.push(Event::Line { document, number, offset, text, newline, asked });
        Ok(())
    }

    fn gap(&mut self) -> io::Result<()> {
        self.0.push(Event::Gap);
        Ok(())
    }

    fn end(&mut self, document: usize, summary: &Summary) -> io::Result<ControlFlow<()>> {
        self.0.push(Event::End(document, *summary));
        Ok(ControlFlow::Continue(()))
    }
}

/// Makes an archive; gives the number of segments.
pub fn compress(
    documents: &[Document],
    path: &Path,
    lexer: Lexer,
    builder: Builder,
    memory: Option<u64>,
) -> tadoc_engine::Result<u64> {
    let inputs = documents
        .iter()
        .map(|(name, bytes)| Input::new(name.as_bytes(), Source::Bytes(bytes.clone())))
        .collect();
    let options = CompressOptions {
        lexer,
        builder,
        memory,
        threads: Some(1),
        force: true,
        ..Default::default()
    };
    Ok(tadoc_engine::compress(inputs, path, &options, &())?.segments)
}

/// The least memory that anything is compressed in.
pub fn least_memory(path: &Path) -> u64 {
    match compress(&[], path, Lexer::Words, Builder::RePair, Some(0)) {
        Err(Error::TooLittleMemory { least, .. }) => least,
        other => panic!("{other:?}"),
    }
}

/// Searches all documents of an archive on so many threads.
pub fn search(path: &Path, pattern: &Pattern, options: &Options, threads: usize) -> Vec<Event> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| {
        let corpus = Corpus::open(path).unwrap();
        let all: Vec<usize> = (0..corpus.documents().unwrap().len()).collect();
        let mut events = Events::default();
        grep::search(&corpus, &all, pattern, options, &mut events).unwrap();
        events.0
    })
}

/// The documents as an archive has them.
pub fn sorted(documents: &[Document]) -> Vec<Document> {
    let mut sorted = documents.to_vec();
    sorted.sort();
    sorted
}

/// The options that are tried with every pattern.
pub fn all_options() -> Vec<Options> {
    use tadoc_engine::grep::{Binary, Want};
    let mut all = Vec::new();
    for invert in [false, true] {
        let plain = Options { numbers: true, invert, ..Options::default() };
        all.push(plain.clone());
        all.push(Options { binary: Binary::Text, numbers: false, ..plain.clone() });
        all.push(Options { binary: Binary::Tell, max_count: Some(2), ..plain.clone() });
        all.push(Options { before: 1, after: 2, binary: Binary::Text, ..plain.clone() });
        // Nothing is remembered, or some of it.
        all.push(Options { memory: Some(0), ..plain.clone() });
        all.push(Options { memory: Some(1 << 10), binary: Binary::Text, ..plain.clone() });
        all.push(Options { before: 3, max_count: Some(1), ..plain.clone() });
        all.push(Options { after: 2, max_count: Some(2), ..plain.clone() });
        for want in [Want::Count, Want::CountMatches, Want::Any] {
            all.push(Options { want, numbers: false, ..plain.clone() });
        }
        all.push(Options { want: Want::CountMatches, max_count: Some(3), ..plain.clone() });
    }
    all
}
