//! Documents as archives.

use std::path::Path;

use rayon::ThreadPool;
use tadoc_engine::{
    Analyzer, Builder, CompressOptions, CompressReport, Error, Input, Lexer, Result, Source,
};
use tadoc_oracle::{Document, Oracle};

/// As little memory as one thread can work with: every input becomes a segment of its own.
pub const SEGMENT_AN_INPUT: u64 = (64 << 20) + 10 * (8 << 20);

/// Documents as what is compressed.
pub fn inputs(documents: &[Document]) -> Vec<Input> {
    let input =
        |(name, bytes): &Document| Input::new(name.as_bytes(), Source::Bytes(bytes.clone()));
    documents.iter().map(input).collect()
}

/// Compresses documents with one thread, in place of an archive that may be there; gives how many
/// segments they have become.
pub fn compress(
    documents: &[Document],
    path: &Path,
    lexer: Lexer,
    builder: Builder,
    memory: Option<u64>,
) -> Result<u64> {
    let options = CompressOptions { lexer, builder, memory, ..one_thread() };
    Ok(tadoc_engine::compress(inputs(documents), path, &options, &())?.segments)
}

/// Compresses documents with options that suit them.
#[track_caller]
pub fn compress_with(
    documents: &[Document],
    path: &Path,
    options: &CompressOptions,
) -> CompressReport {
    tadoc_engine::compress(inputs(documents), path, options, &()).expect("it can be compressed")
}

/// One thread, and an archive that is there is replaced.
pub fn one_thread() -> CompressOptions {
    CompressOptions { threads: Some(1), force: true, ..CompressOptions::default() }
}

/// The least memory that anything is compressed in.
pub fn least_memory(path: &Path) -> u64 {
    match compress(&[], path, Lexer::Words, Builder::RePair, Some(0)) {
        Err(Error::TooLittleMemory { least, .. }) => least,
        other => panic!("{other:?}"),
    }
}

/// The oracle's lexer of the same name.
pub fn oracle_lexer(lexer: Lexer) -> tadoc_oracle::Lexer {
    match lexer {
        Lexer::Words => tadoc_oracle::Lexer::Words,
        Lexer::Whitespace => tadoc_oracle::Lexer::Whitespace,
    }
}

/// The oracle with an analyzer of the engine.
pub fn oracle_with<'d>(lexer: Lexer, documents: &'d [Document], analyzer: &Analyzer) -> Oracle<'d> {
    let own = analyzer.clone();
    Oracle::new(oracle_lexer(lexer), documents)
        .with_analyzer(move |word| own.term(word).map(|term| term.into_owned()))
}

/// The documents in the order in which an archive has them.
pub fn sorted(documents: &[Document]) -> Vec<Document> {
    let mut sorted = documents.to_vec();
    sorted.sort();
    sorted
}

/// So many threads to work in.
pub fn thread_pool(count: usize) -> ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(count).build().expect("threads can be started")
}
