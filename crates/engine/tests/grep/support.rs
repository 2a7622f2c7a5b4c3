//! A sink that keeps what it gets, and ways to compress and search.

use std::io;
use std::ops::ControlFlow;
use std::path::Path;

use tadoc_engine::Corpus;
use tadoc_engine::grep::{self, Line, Method, Options, Pattern, Sink, Summary};
use tadoc_testing::archives::thread_pool;

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

/// Searches all documents of an archive on so many threads, by each method; what is found is the
/// same.
pub fn search(path: &Path, pattern: &Pattern, options: &Options, threads: usize) -> Vec<Event> {
    search_some(path, None, pattern, options, threads)
}

/// Searches some documents, by their places.
pub fn search_some(
    path: &Path,
    documents: Option<&[usize]>,
    pattern: &Pattern,
    options: &Options,
    threads: usize,
) -> Vec<Event> {
    thread_pool(threads).install(|| {
        let corpus = Corpus::open(path).unwrap();
        let all: Vec<usize> = (0..corpus.documents().unwrap().len()).collect();
        let documents = documents.unwrap_or(&all);
        let search = |method: Option<Method>| {
            let options = Options { method, ..options.clone() };
            let mut events = Events::default();
            let report = grep::search(&corpus, documents, pattern, &options, &mut events).unwrap();
            (events.0, report)
        };
        let (events, of_automaton) = search(Some(Method::Automaton));
        let (by_expansion, of_expansion) = search(Some(Method::Expansion));
        assert!(by_expansion == events, "{pattern:?} {options:?}: {:?}", Method::Expansion);
        let needs_text = options.invert || options.before > 0 || options.after > 0;
        assert!(of_automaton.expanded == 0 || needs_text, "{options:?}");
        assert_eq!(of_expansion.symbols, 0, "{options:?}");
        events
    })
}

/// Searches some documents by the method that is chosen.
pub fn search_as_chosen(
    path: &Path,
    documents: &[usize],
    pattern: &Pattern,
    options: &Options,
) -> Vec<Event> {
    let corpus = Corpus::open(path).unwrap();
    let mut events = Events::default();
    grep::search(&corpus, documents, pattern, options, &mut events).unwrap();
    events.0
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
