//! Lines that match a regular expression, found on the compressed form.
//!
//! There are two methods, and both find the same lines ([`Method`]). An automaton goes over the
//! grammar: what a rule does to it is computed once for each state that it is met in and
//! remembered, so that a passage that comes a thousand times is searched once. It lets through
//! every line that matches and perhaps some that do not; those lines alone are written out, and the
//! regular expression itself decides. Or stretches of text are expanded and scanned by the regular
//! expression, as any text is: better where text repeats little and many lines match or expressions
//! need many states, and for a few documents, where that takes time in proportion to their text.
//! `choose` estimates which is quicker, before the search and while it goes on.
//!
//! Answers are those of ripgrep on the restored files: lines end in newlines, which nothing matches; a last line needs
//! none. `pattern` has the syntax. A document with a NUL byte anywhere is binary, however long it is and wherever
//! the byte stands; [`Binary`] says what becomes of its lines. (ripgrep looks for the byte as it reads, so that what it
//! prints of a large file depends on the size of its buffers.)
//!
//! Cost: decoding, O(symbols × states met) steps of the automaton on all threads, and the lines that are written
//! out; or O(symbols + text) where text is expanded. Memory: a segment, and the next one where there
//! is room; 2 bytes for each symbol and state met within [`Options::memory`], or the texts of short
//! rules; and a few stretches of text for each thread. A line is held as a whole.
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
mod choose;
mod filter;
mod pattern;
mod run;
mod source;
mod stretch;
mod text;

use std::io;
use std::ops::ControlFlow;
use std::time::Duration;

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

/// How text is searched. Which lines are found does not depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Method {
    /// An automaton goes over the grammar; lines that may match are expanded.
    #[default]
    Automaton,
    /// Text is expanded and scanned.
    Expansion,
}

/// What a search has done, and how long it took.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Report {
    /// Symbols that the automaton went over, of those that documents consist of.
    pub symbols: u64,
    /// Bytes that were expanded to be scanned.
    pub expanded: u64,
    /// Lines that were looked at one by one.
    pub lines: u64,
    /// What was estimated of the automaton and of expanding when a method was chosen; zero where there was
    /// no choice.
    pub estimates: [Duration; 2],
    /// Reading and decoding, but for what was decoded while something else was searched.
    pub load: Duration,
    /// Finding out what symbols do to the automaton, and writing out the texts of short rules.
    pub prepare: Duration,
    /// Searching, and giving lines to the sink.
    pub search: Duration,
}

impl Report {
    /// Adds what another search has done.
    pub fn add(&mut self, other: &Self) {
        self.symbols += other.symbols;
        self.expanded += other.expanded;
        self.lines += other.lines;
        for (sum, estimate) in self.estimates.iter_mut().zip(other.estimates) {
            *sum += estimate;
        }
        self.load += other.load;
        self.prepare += other.prepare;
        self.search += other.search;
    }
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
    /// Bytes that may be taken to remember what symbols do to the automaton, 1 GiB by default, and
    /// at most half of what is left of the memory allowed for the archive. With less, passages that
    /// come again are searched again.
    pub memory: Option<u64>,
    /// How text is searched; chosen by an estimate if nothing is said. Where lines that do not match or lines nearby are
    /// asked for, text is expanded all the same.
    pub method: Option<Method>,
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
