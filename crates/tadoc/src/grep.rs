//! Lines that match a regular expression, in all archives of a corpus.

use std::io;
use std::ops::ControlFlow;
use std::sync::Arc;

use tadoc_engine::grep;

use crate::select::Selection;
use crate::{
    Corpus, Document, DocumentId, GrepOptions, GrepReport, Line, Pattern, Result, Summary,
};

/// A search for lines that match.
///
/// ```
/// # fn main() -> tadoc::Result<()> {
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("plays.tdc");
/// # let text = tadoc::Source::Bytes(b"to be or not to be".to_vec());
/// # let input = tadoc::Input::new("hamlet.txt", text);
/// # tadoc::compress(vec![input], &path, &tadoc::CompressOptions::default(), &())?;
/// use tadoc::{GrepOptions, Pattern, Syntax};
///
/// let corpus = tadoc::Corpus::open(&path)?;
/// let pattern = Pattern::new(&["n.t"], Syntax::default())?;
/// let options = GrepOptions { numbers: true, ..Default::default() };
/// let lines = corpus.query().grep(pattern).options(options).lines()?;
/// assert_eq!((lines[0].number, &lines[0].text[..]), (1, &b"to be or not to be"[..]));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Grep {
    corpus: Corpus,
    selection: Selection,
    pattern: Arc<Pattern>,
    options: GrepOptions,
}

/// A line that was found, as a copy.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct GrepLine {
    /// The document.
    pub document: Document,
    /// Its number, the first being 1; 0 if [`GrepOptions::numbers`] does not ask for it.
    pub number: u64,
    /// Where it starts in the document; 0 if [`GrepOptions::numbers`] does not ask for it.
    pub offset: u64,
    /// Its bytes without newline.
    pub text: Vec<u8>,
    /// Whether it matches, and is not given because of a line nearby.
    pub asked: bool,
}

/// What takes lines as they are found, in order: documents one after the other, and the lines of
/// each.
pub trait GrepSink: Send {
    /// A line of a document.
    ///
    /// # Errors
    /// What ends the search.
    fn line(&mut self, document: &Document, line: &Line<'_>) -> io::Result<()>;

    /// Lines are left out between the last one and the next one of the same document. Called only
    /// where lines nearby are given, too.
    ///
    /// # Errors
    /// What ends the search.
    fn gap(&mut self) -> io::Result<()> {
        Ok(())
    }

    /// A document ends; called for those without lines, too. Breaking ends the search.
    ///
    /// # Errors
    /// What ends the search.
    fn end(&mut self, document: &Document, summary: &Summary) -> io::Result<ControlFlow<()>> {
        let _ = (document, summary);
        Ok(ControlFlow::Continue(()))
    }
}

impl Grep {
    pub(crate) fn new(corpus: Corpus, selection: Selection, pattern: Arc<Pattern>) -> Self {
        Self { corpus, selection, pattern, options: GrepOptions::default() }
    }

    /// What is looked for besides the pattern, and what is told.
    #[must_use]
    pub fn options(self, options: GrepOptions) -> Self {
        Self { options, ..self }
    }

    /// All lines, in memory at once.
    ///
    /// # Errors
    /// What reading the archives gives.
    pub fn lines(&self) -> Result<Vec<GrepLine>> {
        #[derive(Default)]
        struct Lines(Vec<GrepLine>);
        impl GrepSink for Lines {
            fn line(&mut self, document: &Document, line: &Line<'_>) -> io::Result<()> {
                let Line { number, offset, text, asked, .. } = *line;
                let (document, text) = (document.clone(), text.to_vec());
                self.0.push(GrepLine { document, number, offset, text, asked });
                Ok(())
            }
        }
        let mut lines = Lines::default();
        self.visit(&mut lines)?;
        Ok(lines.0)
    }

    /// Gives lines to a sink as they are found; tells what was done to find them. What the sink is
    /// given does not depend on the number of threads.
    ///
    /// # Errors
    /// What reading the archives gives, and what the sink gives.
    pub fn visit(&self, sink: &mut dyn GrepSink) -> Result<GrepReport> {
        let mut report = GrepReport::default();
        for (number, part) in self.corpus.parts().iter().enumerate() {
            let count = part.named(part.archive.documents())?.len();
            let places: Vec<usize> = match &self.selection {
                Selection::All => (0..count).collect(),
                Selection::Some(ids) => {
                    let first = part.first as usize;
                    let own = ids.iter().map(|id| id.index());
                    let own = own.filter(|place| (first..first + count).contains(place));
                    own.map(|place| place - first).collect()
                }
            };
            let mut to = InPart { corpus: &self.corpus, part: number, sink, has_ended: false };
            let (pattern, options) = (&*self.pattern, &self.options);
            let searched = grep::search(&part.archive, &places, pattern, options, &mut to);
            report.add(&part.named(searched)?);
            if to.has_ended {
                break;
            }
        }
        Ok(report)
    }
}

/// The sink of one archive, whose documents are numbered by their places there.
struct InPart<'s> {
    corpus: &'s Corpus,
    part: usize,
    sink: &'s mut dyn GrepSink,
    has_ended: bool,
}

impl InPart<'_> {
    fn document(&self, place: usize) -> Document {
        let id = DocumentId(self.corpus.parts()[self.part].first + place as u32);
        self.corpus.get(id).expect("it was searched")
    }
}

impl grep::Sink for InPart<'_> {
    fn line(&mut self, document: usize, line: &Line<'_>) -> io::Result<()> {
        let document = self.document(document);
        self.sink.line(&document, line)
    }

    fn gap(&mut self) -> io::Result<()> {
        self.sink.gap()
    }

    fn end(&mut self, document: usize, summary: &Summary) -> io::Result<ControlFlow<()>> {
        let document = self.document(document);
        let flow = self.sink.end(&document, summary)?;
        self.has_ended |= flow.is_break();
        Ok(flow)
    }
}
