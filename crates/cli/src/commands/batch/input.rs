//! Lines of operations as they come: read by a thread of its own, taken in chunks.

use std::io::{self, BufRead, BufReader, Read};
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};

/// A chunk has about so many operations and so many bytes, at most.
const CHUNK: usize = 100_000;
const CHUNK_BYTES: usize = 64 << 20;
/// So many lines are handed over at a time, or so many bytes, and so many times before the reader waits.
const HANDFUL: usize = 4096;
const HANDFUL_BYTES: usize = 1 << 20;
const WAITING: usize = 32;
/// Bytes read at a time.
const BUFFER: usize = 1 << 18;

/// A line of the input, without its end.
#[derive(Debug, PartialEq, Eq)]
pub enum Line {
    Bytes(Vec<u8>),
    /// Longer than an operation may be, which is so long; it was skipped.
    TooLong(usize),
}

impl Line {
    /// The bytes; what is wrong with a line that is too long.
    pub fn bytes(&self) -> Result<&[u8], String> {
        match self {
            Self::Bytes(bytes) => Ok(bytes),
            Self::TooLong(longest) => Err(format!(
                "an operation is one line of at most {longest} bytes, and this line is longer"
            )),
        }
    }

    fn len(&self) -> usize {
        self.bytes().map_or(0, <[u8]>::len)
    }
}

/// The lines that are read while those before are worked on.
pub struct Chunks {
    from: Receiver<io::Result<Vec<Line>>>,
    /// What went wrong in reading, once what was read before is worked on.
    failed: Option<io::Error>,
}

impl Chunks {
    /// Starts to read lines of at most `longest` bytes: a file that has no operations may have no line ends at all. The thread ends with the input, or when nobody takes what it reads; one that waits for
    /// input then ends with the process.
    pub fn start(from: impl Read + Send + 'static, longest: usize) -> tadoc::Result<Self> {
        let (to, chunks) = sync_channel(WAITING);
        let reader = BufReader::with_capacity(BUFFER, from);
        let started = std::thread::Builder::new().spawn(move || read(reader, longest, &to));
        started.map_err(|source| tadoc::Error::Threads { source })?;
        Ok(Self { from: chunks, failed: None })
    }

    /// The lines that are there; waits for the first. `None` at the end of the input.
    pub fn next(&mut self) -> io::Result<Option<Vec<Line>>> {
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        let Ok(first) = self.from.recv() else { return Ok(None) };
        let mut lines = first?;
        let mut bytes: usize = lines.iter().map(Line::len).sum();
        while lines.len() < CHUNK && bytes < CHUNK_BYTES {
            match self.from.try_recv() {
                Ok(Ok(mut more)) => {
                    bytes += more.iter().map(Line::len).sum::<usize>();
                    lines.append(&mut more);
                }
                Ok(Err(error)) => {
                    self.failed = Some(error);
                    break;
                }
                Err(TryRecvError::Empty | TryRecvError::Disconnected) => break,
            }
        }
        Ok(Some(lines))
    }
}

fn read(mut from: BufReader<impl Read>, longest: usize, to: &SyncSender<io::Result<Vec<Line>>>) {
    let mut lines = Vec::new();
    let mut bytes = 0;
    loop {
        let line = match next_line(&mut from, longest) {
            Ok(line) => line,
            Err(error) => {
                // An error comes behind what was read before it.
                let _ = to.send(Ok(std::mem::take(&mut lines)));
                let _ = to.send(Err(error));
                return;
            }
        };
        let ended = line.is_none();
        bytes += line.as_ref().map_or(0, Line::len);
        lines.extend(line.filter(|line| !is_blank(line)));
        let is_handful = lines.len() == HANDFUL || bytes >= HANDFUL_BYTES;
        // Lines are not kept while more is waited for.
        if (ended || is_handful || !from.buffer().contains(&b'\n')) && !lines.is_empty() {
            bytes = 0;
            if to.send(Ok(std::mem::take(&mut lines))).is_err() {
                return;
            }
        }
        if ended {
            return;
        }
    }
}

fn is_blank(line: &Line) -> bool {
    matches!(line, Line::Bytes(bytes) if bytes.iter().all(u8::is_ascii_whitespace))
}

/// The next line, of which no more than `longest` bytes are kept; `None` at the end.
fn next_line(from: &mut impl BufRead, longest: usize) -> io::Result<Option<Line>> {
    let mut line = Vec::new();
    let mut length = 0;
    loop {
        let read = match from.fill_buf() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            read => read?,
        };
        let end = read.iter().position(|&byte| byte == b'\n');
        let piece = &read[..end.unwrap_or(read.len())];
        length += piece.len();
        if length <= longest {
            line.extend_from_slice(piece);
        } else {
            line = Vec::new();
        }
        let is_end = read.is_empty();
        let taken = piece.len() + usize::from(end.is_some());
        from.consume(taken);
        if end.is_some() || is_end {
            return Ok(match length {
                0 if is_end => None,
                _ if length <= longest => Some(Line::Bytes(line)),
                _ => Some(Line::TooLong(longest)),
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONGEST: usize = 1 << 20;

    fn all(input: impl Read + Send + 'static) -> (Vec<Line>, Option<io::Error>) {
        let mut chunks = Chunks::start(input, LONGEST).unwrap();
        let mut lines = Vec::new();
        loop {
            match chunks.next() {
                Ok(Some(mut more)) => lines.append(&mut more),
                Ok(None) => return (lines, None),
                Err(error) => return (lines, Some(error)),
            }
        }
    }

    fn line(text: &str) -> Line {
        Line::Bytes(text.as_bytes().to_vec())
    }

    #[test]
    fn lines_come_in_order_and_blank_ones_do_not() {
        let (lines, error) = all(&b"a\n\n b\r\n \t\nc"[..]);
        assert_eq!(lines, [line("a"), line(" b\r"), line("c")]);
        assert!(error.is_none());
        assert_eq!(all(&b""[..]).0, []);
        let many: String = (0..20_000).map(|number| format!("{number}\n")).collect();
        let (lines, _) = all(io::Cursor::new(many.into_bytes()));
        assert!(lines.iter().enumerate().all(|(place, found)| *found == line(&place.to_string())));
        assert_eq!(lines.len(), 20_000);
    }

    #[test]
    fn long_lines_are_skipped() {
        let text =
            [b"a\n".to_vec(), vec![b'x'; LONGEST + 1], b"\nb\n".to_vec(), vec![b'y'; LONGEST]];
        let (lines, _) = all(io::Cursor::new(text.concat()));
        assert_eq!(lines.len(), 4);
        assert_eq!(
            (&lines[0], &lines[1], &lines[2]),
            (&line("a"), &Line::TooLong(LONGEST), &line("b"))
        );
        assert!(matches!(&lines[3], Line::Bytes(bytes) if bytes.len() == LONGEST));
    }

    #[test]
    fn what_was_read_before_an_error_is_there() {
        struct Failing;
        impl Read for Failing {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::Error::other("gone"))
            }
        }
        let (lines, error) = all(io::Cursor::new(b"a\nb\n").chain(Failing));
        assert_eq!(lines, [line("a"), line("b")]);
        assert_eq!(error.unwrap().to_string(), "gone");
    }

    #[test]
    fn a_line_is_there_while_the_input_is_open() {
        let (reader, mut writer) = io::pipe().unwrap();
        let mut chunks = Chunks::start(reader, LONGEST).unwrap();
        for text in ["one", "two"] {
            io::Write::write_all(&mut writer, format!("{text}\n").as_bytes()).unwrap();
            assert_eq!(chunks.next().unwrap(), Some(vec![line(text)]));
        }
        drop(writer);
        assert_eq!(chunks.next().unwrap(), None);
    }
}
