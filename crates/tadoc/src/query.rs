//! Questions: which documents and which words, and then what is asked of them.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use tadoc_core::answer::Names;
use tadoc_core::{Limits, View};
use tadoc_engine::access::{self, Scope};
use tadoc_engine::view::{Detail, Origin};

use crate::answer::{Answer, names};
use crate::custom::CustomTask;
use crate::select::{Selection, matching};
use crate::{
    Analyzer, Corpus, DocumentId, Found, Grep, Hits, Language, Measure, Observer, Pattern, Phrase,
    Result, Sampled, SearchQuery, StopWords, Strategy, Task, TfIdfOptions,
};

/// A question about a corpus: the documents and the words that it is about.
///
/// Methods that narrow it consume and give it back; the others ask. A clone asks the same. The
/// grammar over terms that tasks run on is made by the first task and kept for the next ones of the
/// same query and its clones.
///
/// ```
/// # fn main() -> tadoc::Result<()> {
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("plays.tdc");
/// # let text = tadoc::Source::Bytes(b"to be or not to be".to_vec());
/// # let input = tadoc::Input::new("hamlet.txt", text);
/// # tadoc::compress(vec![input], &path, &tadoc::CompressOptions::default(), &())?;
/// let corpus = tadoc::Corpus::open(&path)?;
/// let query = corpus.query().ignore_case().documents("*.txt")?;
/// let answer = query.word_count().top(2).run()?;
/// let rows = answer.rows().map(|row| Ok(row?.to_string()));
/// let rows = rows.collect::<tadoc::Result<Vec<String>>>()?;
/// assert_eq!(rows, ["be\t2", "to\t2"]);
/// assert_eq!(query.count("NOT")?, 1);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Query {
    corpus: Corpus,
    analyzer: Analyzer,
    selection: Selection,
    view: Arc<Mutex<Option<Kept>>>,
}

/// A view that was made for a query.
#[derive(Debug)]
struct Kept {
    view: View,
    detail: Detail,
    origin: Origin,
}

impl Query {
    pub(crate) fn new(corpus: Corpus) -> Self {
        let (analyzer, selection) = (Analyzer::new(), Selection::All);
        Self { corpus, analyzer, selection, view: Arc::default() }
    }

    /// The corpus that is asked.
    pub fn corpus(&self) -> &Corpus {
        &self.corpus
    }

    /// Takes words that differ in case alone as one, by full Unicode case folding.
    #[must_use]
    pub fn ignore_case(self) -> Self {
        let analyzer = self.analyzer.clone().fold_case(true);
        self.analyzer(analyzer)
    }

    /// Takes words of one stem as one, by Snowball's rules for a language.
    #[must_use]
    pub fn stem(self, language: Language) -> Self {
        let analyzer = self.analyzer.clone().stem(Some(language));
        self.analyzer(analyzer)
    }

    /// Leaves words out.
    #[must_use]
    pub fn stop_words(self, words: StopWords) -> Self {
        let analyzer = self.analyzer.clone().stop_words(words);
        self.analyzer(analyzer)
    }

    /// Keeps terms in which a regular expression matches, and leaves out all others.
    ///
    /// # Errors
    /// [`Error::BadPattern`](crate::Error::BadPattern).
    pub fn matching(self, pattern: &str) -> Result<Self> {
        let analyzer = self.analyzer.clone().matching(pattern)?;
        Ok(self.analyzer(analyzer))
    }

    /// Replaces all of the four above.
    #[must_use]
    pub fn analyzer(self, analyzer: Analyzer) -> Self {
        Self { analyzer, view: Arc::default(), ..self }
    }

    /// Adds documents to those that are asked; without a call, all are. A name is as it is or as
    /// `tadoc list` prints it; what is no name is a glob, in which `*` stands for `/` too. A glob
    /// may match none.
    ///
    /// # Errors
    /// [`Error::NoSuchDocument`](crate::Error::NoSuchDocument),
    /// [`Error::IsFolder`](crate::Error::IsFolder), [`Error::BadGlob`](crate::Error::BadGlob), and
    /// what reading the names gives.
    pub fn documents(self, name_or_glob: impl AsRef<[u8]>) -> Result<Self> {
        let found = matching(&self.corpus, name_or_glob.as_ref())?;
        Ok(self.only(found))
    }

    /// Adds documents to those that are asked, by their places.
    #[must_use]
    pub fn only(self, documents: impl IntoIterator<Item = DocumentId>) -> Self {
        let mut all = match self.selection {
            Selection::All => Vec::new(),
            Selection::Some(ids) => ids,
        };
        all.extend(documents);
        all.sort_unstable();
        all.dedup();
        Self { selection: Selection::Some(all), view: Arc::default(), ..self }
    }

    /// The documents that are asked, in order; `None` for all of them.
    pub fn selected(&self) -> Option<&[DocumentId]> {
        match &self.selection {
            Selection::All => None,
            Selection::Some(ids) => Some(ids),
        }
    }

    /// Terms with their occurrences, most frequent first.
    pub fn word_count(&self) -> TaskQuery {
        self.task(Task::WordCount)
    }

    /// Terms with their occurrences, in byte order.
    pub fn sort(&self) -> TaskQuery {
        self.task(Task::Sort)
    }

    /// Terms with the documents that they occur in.
    pub fn inverted_index(&self) -> TaskQuery {
        self.task(Task::InvertedIndex)
    }

    /// Documents with their terms, most frequent first.
    pub fn term_vector(&self) -> TaskQuery {
        self.task(Task::TermVector)
    }

    /// Sequences of `n` terms with their occurrences, most frequent first.
    pub fn sequence_count(&self, n: usize) -> TaskQuery {
        self.task(Task::SequenceCount { n })
    }

    /// Sequences of `n` terms with the documents that they occur in, most occurrences first.
    pub fn ranked_inverted_index(&self, n: usize) -> TaskQuery {
        self.task(Task::RankedInvertedIndex { n })
    }

    /// Terms with their weights in each document.
    pub fn tfidf(&self, options: TfIdfOptions) -> TaskQuery {
        self.task(Task::TfIdf(options))
    }

    /// Pairs of terms at most `window` terms apart, with their occurrences.
    pub fn cooccurrence(&self, window: usize) -> TaskQuery {
        self.task(Task::Cooccurrence { window, ordered: false })
    }

    /// Pairs of terms at most `window` terms apart, with scores of how much more often than by
    /// chance that is.
    pub fn collocations(&self, window: usize, measure: Measure) -> TaskQuery {
        self.task(Task::Collocations { window, measure })
    }

    /// Any task.
    pub fn task(&self, task: Task) -> TaskQuery {
        TaskQuery { query: self.clone(), task, limits: Limits::default() }
    }

    /// Runs a task of your own: in the pool if the corpus was opened in one, else in memory.
    /// `memory` is how many bytes the work may take, beside the view and its tables.
    ///
    /// ```
    /// # fn main() -> tadoc::Result<()> {
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("plays.tdc");
    /// # let text = tadoc::Source::Bytes(b"to be or not to be".to_vec());
    /// # let input = tadoc::Input::new("hamlet.txt", text);
    /// # tadoc::compress(vec![input], &path, &tadoc::CompressOptions::default(), &())?;
    /// use tadoc::ArchiveError;
    /// use tadoc::custom::{Array, CustomTask, Phases};
    ///
    /// /// How many different words each document has.
    /// struct DistinctWords;
    ///
    /// impl CustomTask for DistinctWords {
    ///     type Answer = Array<u32>;
    ///
    ///     fn name(&self) -> &str {
    ///         "distinct words"
    ///     }
    ///
    ///     fn key(&self) -> Vec<u8> {
    ///         b"distinct words, version 1".to_vec()
    ///     }
    ///
    ///     fn run(&self, phases: &mut Phases<'_, '_>) -> tadoc::Result<Array<u32>, ArchiveError> {
    ///         let words = phases.view().terms().len();
    ///         let can_be = |&count: &u32| count <= words;
    ///         phases.documents("distinct words", can_be, |_, found| found.len() as u32)
    ///     }
    /// }
    ///
    /// let counts = tadoc::Corpus::open(&path)?.query().run_custom(&DistinctWords, 1 << 20)?;
    /// assert_eq!(counts[..], [4]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// What reading the archives and the task give.
    pub fn run_custom<T: CustomTask>(&self, task: &T, memory: u64) -> Result<T::Answer> {
        let (view, _) = self.view(Detail::Whole, &())?;
        self.corpus.backends().run_custom(&view, task, memory)
    }

    /// Where a word or phrase is.
    ///
    /// # Errors
    /// [`Error::NoWord`](crate::Error::NoWord) and [`Error::NotWords`](crate::Error::NotWords) if
    /// it is no word or words in a row.
    pub fn search(&self, phrase: impl Into<Phrase>) -> Result<Hits> {
        Hits::new(&self.corpus, phrase.into(), &self.analyzer, self.scopes())
    }

    /// How often a word or phrase occurs. With a fast index O(1) for a word in all documents.
    ///
    /// # Errors
    /// As [`Query::search`].
    pub fn count(&self, phrase: impl Into<Phrase>) -> Result<u64> {
        let phrase = phrase.into();
        let mut sum = 0_u64;
        for (part, scope) in self.corpus.parts().iter().zip(self.scopes()) {
            let access = part.access()?;
            let phrase = phrase.of(access, &self.analyzer)?;
            sum = sum.saturating_add(part.named(access.count(&phrase, &scope))?);
        }
        Ok(sum)
    }

    /// How often a word or phrase occurs in each document in which it does, in order.
    ///
    /// # Errors
    /// As [`Query::search`].
    pub fn count_by_document(&self, phrase: impl Into<Phrase>) -> Result<Vec<(DocumentId, u64)>> {
        let phrase = phrase.into();
        let mut counts = Vec::new();
        for (part, scope) in self.corpus.parts().iter().zip(self.scopes()) {
            let access = part.access()?;
            let phrase = phrase.of(access, &self.analyzer)?;
            let own = part.named(access.count_by_document(&phrase, &scope))?.into_iter();
            counts.extend(own.map(|(place, count)| (DocumentId(part.first + place), count)));
        }
        Ok(counts)
    }

    /// The documents that fit a query best, best first, at most `most`.
    ///
    /// # Errors
    /// [`Error::NoWord`](crate::Error::NoWord) if there is no word in it.
    pub fn find(&self, query: &SearchQuery, most: usize) -> Result<Vec<Found>> {
        crate::find::find(&self.corpus, query, &self.analyzer, &self.scopes(), most)
    }

    /// Words drawn at random, each occurrence being as likely as any other: some thousands at a
    /// time, in the order drawn. The same seed draws the same words.
    ///
    /// # Errors
    /// What reading the archives gives.
    pub fn sample(
        &self,
        count: u64,
        seed: u64,
    ) -> Result<impl Iterator<Item = Result<Vec<Sampled>>> + use<>> {
        let scopes = self.scopes();
        let accesses = self.corpus.parts().iter().map(|part| part.access().cloned());
        let accesses = accesses.collect::<Result<Vec<_>>>()?;
        let archives: Vec<(&access::Access, &Scope)> =
            accesses.iter().map(|access| &**access).zip(&scopes).collect();
        let mut draws = access::Draws::new(&archives, count, seed)?;
        let corpus = self.corpus.clone();
        Ok(std::iter::from_fn(move || {
            let drawn = draws.next(accesses.iter().map(|access| &**access)).transpose()?;
            let words =
                drawn.map(|words| words.into_iter().map(|word| Sampled::new(&corpus, word)));
            Some(words.map(Iterator::collect))
        }))
    }

    /// The lines that match a regular expression.
    pub fn grep(&self, pattern: impl Into<Arc<Pattern>>) -> Grep {
        Grep::new(self.corpus.clone(), self.selection.clone(), pattern.into())
    }

    fn scopes(&self) -> Vec<Scope> {
        self.selection.scopes(&self.corpus)
    }

    /// The view of the query, kept or made.
    fn view(&self, detail: Detail, observer: &dyn Observer) -> Result<(View, Origin)> {
        let mut kept = self.view.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(kept) = kept.as_ref().filter(|kept| is_enough(kept.detail, detail)) {
            return Ok((kept.view.clone(), kept.origin.clone()));
        }
        let corpora: Vec<_> = self.corpus.parts().iter().map(|part| &part.archive).collect();
        let documents = self.selection.numbers();
        let backends = self.corpus.backends();
        let made = backends.view(&corpora, &self.analyzer, documents.as_deref(), detail, observer);
        let (view, origin) = match self.corpus.parts() {
            [only] => only.named(made)?,
            _ => made?,
        };
        *kept = Some(Kept { view: view.clone(), detail, origin: origin.clone() });
        Ok((view, origin))
    }
}

/// Whether a view of one detail serves a task that needs another.
fn is_enough(kept: Detail, needed: Detail) -> bool {
    kept == needed || kept == Detail::Whole
}

/// A task asked of a query, with limits.
///
/// ```
/// # fn main() -> tadoc::Result<()> {
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("plays.tdc");
/// # let text = tadoc::Source::Bytes(b"to be or not to be".to_vec());
/// # let input = tadoc::Input::new("hamlet.txt", text);
/// # tadoc::compress(vec![input], &path, &tadoc::CompressOptions::default(), &())?;
/// let query = tadoc::Corpus::open(&path)?.query();
/// let task: tadoc::TaskQuery = query.sequence_count(2).min_count(2).memory(64 << 20);
/// let rows = task.run()?.rows().collect::<tadoc::Result<Vec<_>>>()?;
/// assert_eq!((rows.len(), rows[0].text("sequence")), (1, Some(&b"to be"[..])));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct TaskQuery {
    query: Query,
    task: Task,
    limits: Limits,
}

impl TaskQuery {
    /// At most so many rows; where rows are in groups (the terms of a document, the documents of a
    /// term), so many of each group.
    #[must_use]
    pub fn top(self, rows: usize) -> Self {
        self.limits(|limits| limits.top = Some(rows))
    }

    /// Leaves out terms, sequences and pairs that occur less often than this in all.
    #[must_use]
    pub fn min_count(self, least: u64) -> Self {
        self.limits(|limits| limits.least = least)
    }

    /// The direction in which the grammar is gone through; without a call an estimate chooses. Rows
    /// are the same.
    #[must_use]
    pub fn strategy(self, strategy: Strategy) -> Self {
        self.limits(|limits| limits.strategy = Some(strategy))
    }

    /// Bytes that the work may take, beside the view and the answer; what is more goes to temporary
    /// files.
    #[must_use]
    pub fn memory(self, bytes: u64) -> Self {
        self.limits(|limits| limits.memory = bytes)
    }

    fn limits(mut self, change: impl FnOnce(&mut Limits)) -> Self {
        change(&mut self.limits);
        self
    }

    /// Runs the task.
    ///
    /// # Errors
    /// What reading the archives gives, what the task's lengths may not be
    /// ([`Error::BadLength`](crate::Error::BadLength)), and what the backend that was asked for
    /// cannot do.
    pub fn run(&self) -> Result<Answer> {
        self.run_observed(&())
    }

    /// The same, watched: the observer sees the archives being read, and may end the work.
    ///
    /// # Errors
    /// As [`TaskQuery::run`], and [`Error::Cancelled`](crate::Error::Cancelled).
    pub fn run_observed(&self, observer: &dyn Observer) -> Result<Answer> {
        let corpus = &self.query.corpus;
        let detail = match self.task {
            Task::WordCount | Task::Sort => Detail::Counts,
            // All that there is, is of the only document.
            Task::InvertedIndex | Task::TermVector | Task::TfIdf(_)
                if corpus.document_count() == 1
                    && self.query.selected().is_none()
                    && corpus.backends().may_choose_the_processor() =>
            {
                Detail::Counts
            }
            _ => Detail::Whole,
        };
        let start = Instant::now();
        // Reading names takes time, and only rows that name documents show them.
        let shows_names = !matches!(self.task, Task::WordCount | Task::Sort);
        let (names, made) = rayon::join(
            || if shows_names { names(corpus) } else { Ok(Names::default()) },
            || self.query.view(detail, observer),
        );
        let (view, origin) = made?;
        let steps = corpus.parts().iter().flat_map(|part| part.archive.take_steps()).collect();
        let read = Instant::now();
        let run = corpus.backends().answer(&view, self.task, &self.limits)?;
        let all = || corpus.document_count();
        let documents = self.query.selected().map_or_else(all, |ids| ids.len() as u64);
        let times = [read - start, read.elapsed()];
        Ok(Answer::new(run, view, names?, origin, (documents, steps), times))
    }
}
