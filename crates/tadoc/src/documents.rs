//! A document, read without the rest of its archive.

use std::fmt;
use std::io::Write;
use std::ops::Range;
use std::path::Path;

use crate::{Archive, Corpus, Result, Timestamp};

/// The place of a document in an open [`Corpus`]: what answers and batches number documents by.
///
/// It means nothing to another corpus, and none after the archives were edited and opened again; a
/// name does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DocumentId(pub(crate) u32);

impl DocumentId {
    /// The place as a number from 0.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A document of a corpus. A clone is another handle to it.
///
/// ```
/// # fn main() -> tadoc::Result<()> {
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("plays.tdc");
/// # let text = tadoc::Source::Bytes(b"to be or not to be".to_vec());
/// # let input = tadoc::Input::new("hamlet.txt", text);
/// # tadoc::compress(vec![input], &path, &tadoc::CompressOptions::default(), &())?;
/// let document = tadoc::Corpus::open(&path)?.document("hamlet.txt")?;
/// assert_eq!((document.name(), document.bytes()), (&b"hamlet.txt"[..], 18));
/// assert_eq!(document.extract(3, 5)?, b"be or");
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Document {
    pub(crate) corpus: Corpus,
    /// Which archive of the corpus, and the place in it.
    pub(crate) part: usize,
    pub(crate) place: u32,
}

impl Document {
    fn stored(&self) -> &tadoc_engine::Document {
        let documents = self.part().archive.documents();
        &documents.expect("they were read when it was found")[self.place as usize]
    }

    pub(crate) fn part(&self) -> &crate::corpus::Part {
        &self.corpus.parts()[self.part]
    }

    /// Its place in the corpus.
    pub fn id(&self) -> DocumentId {
        DocumentId(self.part().first + self.place)
    }

    /// Its name: any bytes but NUL, `/` between folders.
    pub fn name(&self) -> &[u8] {
        &self.stored().name
    }

    /// How many bytes it has.
    pub fn bytes(&self) -> u64 {
        self.stored().bytes
    }

    /// When the file was last modified, if that is recorded.
    pub fn modified(&self) -> Option<Timestamp> {
        self.stored().modified
    }

    /// The file's permission bits, if they are recorded.
    pub fn mode(&self) -> Option<u32> {
        self.stored().mode
    }

    /// The archive that it is in, and where that is.
    pub fn archive(&self) -> (&Path, &Archive) {
        (&self.part().path, &self.part().archive)
    }

    /// The corpus that it is of.
    pub fn corpus(&self) -> &Corpus {
        &self.corpus
    }

    /// All its bytes. O(bytes), and decoding what is not decoded yet.
    ///
    /// # Errors
    /// What reading the archive gives.
    pub fn read(&self) -> Result<Vec<u8>> {
        self.extract(0, self.bytes())
    }

    /// At most `length` bytes from `offset` on; fewer where it ends before that. O(depth + length).
    ///
    /// # Errors
    /// [`Error::OffsetPastEnd`](crate::Error::OffsetPastEnd), and what reading the archive gives.
    pub fn extract(&self, offset: u64, length: u64) -> Result<Vec<u8>> {
        let part = self.part();
        part.named(part.access()?.extract(self.place, offset, length))
    }

    /// Writes a range of its bytes, a piece at a time, and tells how many; a range past the end is
    /// cut there.
    ///
    /// # Errors
    /// As [`Document::extract`], and what the writer gives.
    pub fn write_to(&self, range: Range<u64>, to: &mut dyn Write) -> Result<u64> {
        let part = self.part();
        part.named(part.access()?.write(self.place, range, to))
    }

    /// How many lines it has; the last one need not end in a newline.
    ///
    /// # Errors
    /// What reading the archive gives.
    pub fn line_count(&self) -> Result<u64> {
        let part = self.part();
        part.named(part.access()?.line_count(self.place))
    }

    /// Where a line starts, by its number from 0; the end if there are fewer. O(depth).
    ///
    /// # Errors
    /// What reading the archive gives.
    pub fn line_start(&self, line: u64) -> Result<u64> {
        let part = self.part();
        part.named(part.access()?.line_start(self.place, line))
    }

    /// The number of the line that an offset is in, from 0. O(depth).
    ///
    /// # Errors
    /// As [`Document::extract`].
    pub fn line_of(&self, offset: u64) -> Result<u64> {
        let part = self.part();
        part.named(part.access()?.line_of(self.place, offset))
    }
}

impl fmt::Debug for Document {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = crate::text::escape(self.name()).to_string();
        formatter.debug_struct("Document").field("name", &name).finish_non_exhaustive()
    }
}
