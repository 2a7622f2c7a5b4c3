//! Lines that match a regular expression, found on the compressed form.
//!
//! The text is not expanded to be searched. An automaton goes over the grammar instead: what a rule does to it is
//! computed once for each state that it is met in and remembered, so that a passage that comes a thousand times is
//! searched once. The automaton lets through every line that matches and perhaps some that do not; those lines alone
//! are written out, and the regular expression itself decides. Where many lines match, stretches of text are
//! written out whole and searched as any text is.
//!
//! Answers are those of ripgrep on the restored files: lines end in newlines, which nothing matches; a last line needs
//! none. `pattern` has the syntax. A document with a NUL byte anywhere is binary, however long it is and wherever
//! the byte stands; [`Binary`] says what becomes of its lines. (ripgrep looks for the byte as it reads, so that what it
//! prints of a large file depends on the size of its buffers.)
//!
//! Cost: decoding, O(symbols × states met) steps of the automaton on all threads, and the lines that are written
//! out. Memory: a segment, 2 bytes for each symbol and state met within
//! [`Options::memory`], and a few stretches of text for each thread; a line is
//! held as a whole.
//!
//! ```
//! use std::ops::ControlFlow;
//! use tadoc_engine::grep::{self, Line, Options, Pattern, Sink, Summary, Syntax};
//!
//! /// Keeps lines with their numbers.
//! #[derive(Default)]
//! struct Lines(Vec<(u64, Vec<u8>)>);
//!
//! impl Sink for Lines {
//!     fn line(&mut self, _document: usize, line: &Line<'_>) -> std::io::Result<()> {
//!         self.0.push((line.number, line.text.to_vec()));
//!         Ok(())
//!     }
//!     fn gap(&mut self) -> std::io::Result<()> {
//!         Ok(())
//!     }
//!     fn end(&mut self, _document: usize, _: &Summary) -> std::io::Result<ControlFlow<()>> {
//!         Ok(ControlFlow::Continue(()))
//!     }
//! }
//!
//! # fn main() -> tadoc_engine::Result<()> {
//! # let folder = tempfile::tempdir().unwrap();
//! # let path = folder.path().join("corpus.tdc");
//! # let text = b"to be\nor not\nto be\n".to_vec();
//! # let input = tadoc_engine::Input::new("hamlet.txt", tadoc_engine::Source::Bytes(text));
//! # tadoc_engine::compress(vec![input], &path, &tadoc_engine::CompressOptions::default(), &())?;
//! let corpus = tadoc_engine::Corpus::open(&path)?;
//! let pattern = Pattern::new(&["n.t"], Syntax::default())?;
//! let options = Options { numbers: true, ..Options::default() };
//! let mut lines = Lines::default();
//! grep::search(&corpus, &[0], &pattern, &options, &mut lines)?;
//! assert_eq!(lines.0, [(2, b"or not".to_vec())]);
//! # Ok(())
//! # }
//! ```

mod assemble;
mod automaton;
mod binary;
mod filter;
mod pattern;
mod run;
mod source;
mod stretch;
mod text;

use std::io;
use std::ops::ControlFlow;

pub use pattern::{Case, Pattern, Syntax};
pub use run::search;

/// What is wanted of each document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Want {
    /// The lines.
    #[default]
    Lines,
    /// How many lines there are.
    Count,
    /// How many matches there are in the lines; how many lines where those that do not match are asked for.
    CountMatches,
    /// Whether there is any line.
    Any,
}

/// What becomes of a document with a NUL byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Binary {
    /// No lines are given, only whether there are any; the summary tells where the first NUL is. Counts are as for
    /// text.
    #[default]
    Withhold,
    /// Lines are given, and the summary tells where the first NUL is.
    Tell,
    /// It is text as any other.
    Text,
}

/// What is looked for besides the pattern, and what is told.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Options {
    /// What is wanted.
    pub want: Want,
    /// Lines that do not match are asked for.
    pub invert: bool,
    /// How many lines before a line that is asked for are given with it.
    pub before: u64,
    /// How many lines behind it.
    pub after: u64,
    /// At most so many lines that are asked for in each document. Lines that follow the last of them within `after` are
    /// given as what they are.
    pub max_count: Option<u64>,
    /// What becomes of binary documents.
    pub binary: Binary,
    /// Whether [`Line::number`] and [`Line::offset`] are needed. They cost a pass over the grammar.
    pub numbers: bool,
    /// Bytes that may be taken to remember what symbols do to the automaton, 1 GiB by default, and at
    /// most half of what is left of the memory allowed for the archive. With less, passages that come
    /// again are searched again.
    pub memory: Option<u64>,
}

/// A line of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line<'l> {
    /// Its number, the first being 1; 0 if [`Options::numbers`] does not ask for it.
    pub number: u64,
    /// Where it starts in the document; 0 if [`Options::numbers`] does not ask for it.
    pub offset: u64,
    /// Its bytes without newline.
    pub text: &'l [u8],
    /// Whether it has a newline; only the last line of a document can be without.
    pub newline: bool,
    /// Whether it is asked for, and not given because of a line nearby.
    pub asked: bool,
}

/// What was found in a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Summary {
    /// How many lines that are asked for; 1 if only [`Want::Any`] is.
    pub lines: u64,
    /// How many matches they have, if [`Want::CountMatches`] is.
    pub matches: u64,
    /// Where the first NUL byte is, if there is one and it is looked for.
    pub binary: Option<u64>,
}

/// Who gets the lines, in order: documents one after the other, and the lines of each.
pub trait Sink: Send {
    /// A line of a document.
    fn line(&mut self, document: usize, line: &Line<'_>) -> io::Result<()>;

    /// Lines are left out between the last one and the next one of the same document. Called only where lines nearby
    /// are given, too.
    fn gap(&mut self) -> io::Result<()>;

    /// A document ends; called for those without lines, too. Breaking ends the search.
    fn end(&mut self, document: usize, summary: &Summary) -> io::Result<ControlFlow<()>>;
}
