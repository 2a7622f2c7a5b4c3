//! Cutting the inputs into batches of about 8 MiB, in order: what one thread reads and lexes at a time.
//!
//! Small files share a batch, large ones are cut where no word is split: behind white space near the end of
//! a piece, or else before a token (`cut`). Where a file is cut depends on its bytes alone, so the archive
//! does not depend on the number of threads. Files are read by the threads that lex them, but for 64 KiB
//! around each cut; streams are read here, one after the other. A batch has at most twice [`BATCH`] bytes
//! of text, except for documents that are lines, which are never cut.

use std::collections::VecDeque;
use std::fs::File;
use std::io::Read;
use std::ops::Range;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use xxhash_rust::xxh64::xxh64;

use super::{Input, Source, Split};
use crate::build::lexer::Lexer;
use crate::error::{Error, Result};

/// Bytes of a batch, and of a piece that gets a hash of its own.
pub(super) const BATCH: u64 = tadoc_core::archive::HASHED_PIECE;
/// Files in a batch at the most.
const MOST_FILES: usize = 1024;
/// So many bytes behind a piece are searched for white space to cut behind.
const READ_ON: usize = 1 << 16;

/// Some text to lex, of one or several inputs.
pub(super) struct Batch {
    /// Its place in the order of the text.
    pub(super) number: u64,
    pub(super) content: Content,
}

pub(super) enum Content {
    /// Whole files.
    Files(Vec<FileInput>),
    /// The text of a large file from one cut to the next.
    Part { file: FileInput, part: Part },
    /// Text in memory.
    Text(Text),
}

/// A part of a large file: its text, and the piece that is hashed with it.
#[derive(Clone)]
pub(super) struct Part {
    text: Range<u64>,
    /// The piece starts at this multiple of [`BATCH`].
    piece: u64,
}

/// A file to read, as it was when its turn came.
#[derive(Clone)]
pub(super) struct FileInput {
    pub(super) input: usize,
    pub(super) path: Arc<Path>,
    pub(super) bytes: u64,
    pub(super) modified: (i64, i64),
}

/// Text of one input.
#[derive(Clone)]
pub(super) struct Text {
    pub(super) input: usize,
    pub(super) bytes: Vec<u8>,
    /// Hash of a whole piece, if one ends here: pieces are cut by length, text between words.
    pub(super) hash: Option<u64>,
    /// The input ends with this text.
    pub(super) ends: bool,
    /// The file grew since it was looked at.
    pub(super) grew: Option<PathBuf>,
}

/// Hands out the batches.
pub(super) struct Feed {
    inputs: std::vec::IntoIter<(usize, Source)>,
    open: Option<OpenInput>,
    /// Batches that were handed out and came back, to be handed out again.
    returned: VecDeque<Batch>,
    next_number: u64,
    lexer: Lexer,
    split: Split,
    /// A line is refused if it is longer, where a line is a document.
    longest_line: u64,
    /// Whether inputs that cannot be opened are left out.
    skip_unreadable: bool,
    /// Inputs that were.
    pub(super) unreadable: Vec<Unreadable>,
}

/// An input that could not be opened.
pub(super) struct Unreadable {
    pub(super) input: usize,
    pub(super) path: PathBuf,
    pub(super) why: String,
}

/// An input that fills several batches.
enum OpenInput {
    /// What comes next is the piece of this number, with text from this place on.
    File {
        file: FileInput,
        piece: u64,
        from: u64,
    },
    Stream(OpenStream),
}

struct OpenStream {
    input: usize,
    path: PathBuf,
    stream: Box<dyn Read + Send>,
    /// Text that was read, behind the last place to cut.
    carry: Vec<u8>,
    /// Nothing was read yet.
    first: bool,
}

impl OpenStream {
    fn new(input: usize, path: PathBuf, stream: Box<dyn Read + Send>) -> Self {
        Self { input, path, stream, carry: Vec::new(), first: true }
    }
}

impl Feed {
    /// Hands out `inputs`. A line is refused if it is longer than `longest_line`, where it is a document.
    pub(super) fn new(
        inputs: Vec<Input>,
        lexer: Lexer,
        split: Split,
        longest_line: u64,
        skip_unreadable: bool,
    ) -> Self {
        let sources: Vec<(usize, Source)> =
            inputs.into_iter().map(|input| input.source).enumerate().collect();
        Self {
            inputs: sources.into_iter(),
            open: None,
            returned: VecDeque::new(),
            next_number: 0,
            lexer,
            split,
            longest_line,
            skip_unreadable,
            unreadable: Vec::new(),
        }
    }

    /// The number of the batch that comes next.
    pub(super) fn position(&self) -> u64 {
        self.returned.front().map_or(self.next_number, |batch| batch.number)
    }

    /// Takes batches back that belong to the next segment.
    pub(super) fn give_back(&mut self, mut batches: Vec<Batch>) {
        batches.sort_by_key(|batch| batch.number);
        batches.into_iter().rev().for_each(|batch| self.returned.push_front(batch));
    }

    /// The next batch, or `None` when all were handed out.
    pub(super) fn next(&mut self) -> Result<Option<Batch>> {
        if let Some(batch) = self.returned.pop_front() {
            return Ok(Some(batch));
        }
        let Some(content) = self.next_content()? else { return Ok(None) };
        let number = self.next_number;
        self.next_number += 1;
        Ok(Some(Batch { number, content }))
    }

    fn next_content(&mut self) -> Result<Option<Content>> {
        match self.open.take() {
            Some(OpenInput::File { file, piece, from }) => {
                return self.part(file, piece, from).map(Some);
            }
            Some(OpenInput::Stream(stream)) => return self.read_stream(stream).map(Some),
            None => {}
        }
        loop {
            let mut files: Vec<FileInput> = Vec::new();
            let mut bytes = 0;
            // Small files are gathered until a batch is full or another kind of input comes.
            while let Some((_, Source::File(_))) = self.inputs.as_slice().first() {
                let Some((input, Source::File(path))) = self.inputs.next() else { unreachable!() };
                let looked_at = look_at(input, &path);
                let Some(file) = self.opened(input, &path, looked_at)? else { continue };
                if file.bytes > BATCH {
                    if files.is_empty() {
                        return self.part(file, 0, 0).map(Some);
                    }
                    self.open = Some(OpenInput::File { file, piece: 0, from: 0 });
                    return Ok(Some(Content::Files(files)));
                }
                bytes += file.bytes;
                files.push(file);
                if bytes >= BATCH || files.len() >= MOST_FILES {
                    break;
                }
            }
            if !files.is_empty() {
                return Ok(Some(Content::Files(files)));
            }
            match self.inputs.next() {
                None => return Ok(None),
                Some((_, Source::File(_))) => unreachable!("files were gathered"),
                Some((input, Source::Bytes(bytes))) => {
                    let stream: Box<dyn Read + Send> = Box::new(std::io::Cursor::new(bytes));
                    let open = OpenStream::new(input, PathBuf::new(), stream);
                    return self.read_stream(open).map(Some);
                }
                Some((input, Source::Stream(path, open))) => {
                    // One that is left out makes way for the next input.
                    if let Some(stream) = self.opened(input, &path, open())? {
                        return self.read_stream(OpenStream::new(input, path, stream)).map(Some);
                    }
                }
            }
        }
    }

    /// What was opened; `None` if it could not be and is left out.
    fn opened<T>(
        &mut self,
        input: usize,
        path: &Path,
        opened: std::io::Result<T>,
    ) -> Result<Option<T>> {
        match opened {
            Ok(opened) => Ok(Some(opened)),
            Err(error) if self.skip_unreadable => {
                let (path, why) = (path.to_owned(), error.to_string());
                self.unreadable.push(Unreadable { input, path, why });
                Ok(None)
            }
            Err(error) => Err(Error::io(path, error)),
        }
    }

    fn part(&mut self, file: FileInput, piece: u64, from: u64) -> Result<Content> {
        let end = (piece + 1) * BATCH;
        let to = if end < file.bytes { self.end_of_part(&file, from, end)? } else { file.bytes };
        if end < file.bytes {
            self.open = Some(OpenInput::File { file: file.clone(), piece: piece + 1, from: to });
        }
        Ok(Content::Part { file, part: Part { text: from..to, piece } })
    }

    /// Where the text that starts at `from` is cut, about at `end`.
    fn end_of_part(&self, file: &FileInput, from: u64, end: u64) -> Result<u64> {
        // Text of the parts before may reach beyond this one: lines that go on through it.
        if from >= end {
            return Ok(from);
        }
        let opened = file.open()?;
        let mut window = vec![0; READ_ON.min((file.bytes - end) as usize)];
        file.read_exact(&opened, &mut window, end)?;
        if let Some(cut) = first_cut(self.lexer, self.split, &window) {
            return Ok(end + cut as u64);
        }
        match self.split {
            Split::Lines => {
                let mut searched = end + window.len() as u64;
                while searched < file.bytes {
                    self.check_line(&file.path, searched - end)?;
                    window.truncate((file.bytes - searched).min(READ_ON as u64) as usize);
                    file.read_exact(&opened, &mut window, searched)?;
                    if let Some(cut) = first_cut(self.lexer, self.split, &window) {
                        return Ok(searched + cut as u64);
                    }
                    searched += window.len() as u64;
                }
                Ok(file.bytes)
            }
            Split::Files => {
                let mut text = vec![0; (end - from) as usize];
                file.read_exact(&opened, &mut text, from)?;
                // A text that is no longer than a word has no cut. It goes on with the next piece.
                Ok(from + self.lexer.last_token_start(&text).unwrap_or(0) as u64)
            }
        }
    }

    fn check_line(&self, path: &Path, bytes: u64) -> Result<()> {
        if bytes <= self.longest_line {
            return Ok(());
        }
        Err(Error::LongLine { path: path.to_owned(), most: self.longest_line })
    }

    /// Reads the next piece of a stream; text behind the last place to cut is carried over.
    fn read_stream(&mut self, mut open: OpenStream) -> Result<Content> {
        let mut bytes = std::mem::take(&mut open.carry);
        let carried = bytes.len();
        open.stream
            .by_ref()
            .take(BATCH)
            .read_to_end(&mut bytes)
            .map_err(|error| Error::io(&open.path, error))?;
        let piece = &bytes[carried..];
        let ends = (piece.len() as u64) < BATCH;
        // A stream without bytes has one empty piece; one that ended with a piece has no other.
        let hash = (!piece.is_empty() || open.first).then(|| xxh64(piece, 0));
        let input = open.input;
        if !ends {
            open.carry = match last_cut(self.lexer, self.split, &bytes) {
                Some(end) => bytes.split_off(end),
                None => std::mem::take(&mut bytes),
            };
            self.check_line(&open.path, open.carry.len() as u64)?;
            open.first = false;
            self.open = Some(OpenInput::Stream(open));
        }
        Ok(Content::Text(Text { input, bytes, hash, ends, grew: None }))
    }
}

fn look_at(input: usize, path: &Path) -> std::io::Result<FileInput> {
    let metadata = std::fs::metadata(path)?;
    Ok(FileInput {
        input,
        path: path.into(),
        bytes: metadata.len(),
        modified: (metadata.mtime(), metadata.mtime_nsec()),
    })
}

/// The first place behind white space where text may be cut.
fn first_cut(lexer: Lexer, split: Split, text: &[u8]) -> Option<usize> {
    match split {
        Split::Files => lexer.safe_cut(text, 0),
        Split::Lines => memchr::memchr(b'\n', text).map(|at| at + 1),
    }
}

/// The last place where text that goes on may be cut.
fn last_cut(lexer: Lexer, split: Split, text: &[u8]) -> Option<usize> {
    match split {
        Split::Files => {
            let near = text.len().saturating_sub(READ_ON);
            let found = memchr::memrchr2(b'\n', b' ', &text[near..]);
            found.map(|at| near + at + 1).or_else(|| lexer.last_token_start(text))
        }
        Split::Lines => memchr::memrchr(b'\n', text).map(|at| at + 1),
    }
}

impl Content {
    /// Reads the text, and calls `each` with that of each input in order.
    pub(super) fn read(&self, mut each: impl FnMut(Text) -> Result<()>) -> Result<()> {
        match self {
            Content::Text(text) => each(text.clone()),
            Content::Files(files) => {
                for file in files {
                    each(file.read_whole()?)?;
                }
                Ok(())
            }
            Content::Part { file, part } => each(file.read_part(part)?),
        }
    }
}

impl FileInput {
    fn error(&self, error: std::io::Error) -> Error {
        Error::io(&*self.path, error)
    }

    fn changed(&self) -> Error {
        Error::Changed { path: self.path.to_path_buf() }
    }

    fn open(&self) -> Result<File> {
        File::open(&self.path).map_err(|error| self.error(error))
    }

    fn read_exact(&self, file: &File, into: &mut [u8], offset: u64) -> Result<()> {
        file.read_exact_at(into, offset).map_err(|error| match error.kind() {
            std::io::ErrorKind::UnexpectedEof => self.changed(),
            _ => self.error(error),
        })
    }

    /// Fails if the file is not the one that was looked at; tells whether it grew since.
    fn check(&self, file: &File) -> Result<Option<PathBuf>> {
        let metadata = file.metadata().map_err(|error| self.error(error))?;
        if metadata.len() > self.bytes {
            return Ok(Some(self.path.to_path_buf()));
        }
        if metadata.len() < self.bytes || (metadata.mtime(), metadata.mtime_nsec()) != self.modified
        {
            return Err(self.changed());
        }
        Ok(None)
    }

    fn read_whole(&self) -> Result<Text> {
        let file = self.open()?;
        let mut bytes = vec![0; self.bytes as usize];
        self.read_exact(&file, &mut bytes, 0)?;
        let hash = Some(xxh64(&bytes, 0));
        Ok(Text { input: self.input, bytes, hash, ends: true, grew: self.check(&file)? })
    }

    /// Reads a part, with the hash of its piece.
    fn read_part(&self, part: &Part) -> Result<Text> {
        let file = self.open()?;
        let piece = part.piece * BATCH..((part.piece + 1) * BATCH).min(self.bytes);
        // Text and piece are read together: the text begins up to a word before the piece, or behind its
        // start, and ends likewise.
        let from = part.text.start.min(piece.start);
        let mut bytes = vec![0; (part.text.end.max(piece.end) - from) as usize];
        self.read_exact(&file, &mut bytes, from)?;
        let within =
            |range: &Range<u64>| (range.start - from) as usize..(range.end - from) as usize;
        let hash = Some(xxh64(&bytes[within(&piece)], 0));
        let text = within(&part.text);
        bytes.truncate(text.end);
        bytes.drain(..text.start);
        let grew = self.check(&file)?;
        Ok(Text { input: self.input, bytes, hash, ends: piece.end == self.bytes, grew })
    }
}
