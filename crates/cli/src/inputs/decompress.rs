//! Compressed files taken as their content (`-z`): told by suffix for files, by their first bytes for
//! streams. Members, frames and streams that follow each other are read as one.

use std::io::{self, Cursor, Read, Seek};

/// A way in which a file is compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compression {
    Gzip,
    Zstd,
    Xz,
    Bzip2,
}

type Reader = Box<dyn Read + Send>;

/// As many first bytes as are needed to tell.
const MAGIC: usize = 6;

impl Compression {
    const ALL: [Self; 4] = [Self::Gzip, Self::Zstd, Self::Xz, Self::Bzip2];

    fn suffix(self) -> &'static str {
        match self {
            Self::Gzip => ".gz",
            Self::Zstd => ".zst",
            Self::Xz => ".xz",
            Self::Bzip2 => ".bz2",
        }
    }

    /// What the method is called.
    pub fn title(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Zstd => "Zstandard",
            Self::Xz => "xz",
            Self::Bzip2 => "bzip2",
        }
    }

    /// How a file of that name is compressed, and the name of its content.
    pub fn of_name(name: &[u8]) -> Option<(Self, &[u8])> {
        Self::ALL.into_iter().find_map(|compression| {
            let content = name.strip_suffix(compression.suffix().as_bytes())?;
            let named = content.last().is_some_and(|&byte| byte != b'/');
            named.then_some((compression, content))
        })
    }

    fn of_magic(first: &[u8]) -> Option<Self> {
        Self::ALL.into_iter().find(|compression| match compression {
            Self::Gzip => first.starts_with(&[0x1f, 0x8b]),
            Self::Zstd => match first {
                [0x28, 0xb5, 0x2f, 0xfd, ..] => true,
                // A frame to be skipped, as some tools begin with.
                [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => true,
                _ => false,
            },
            Self::Xz => first.starts_with(b"\xfd7zXZ\0"),
            Self::Bzip2 => first.starts_with(b"BZh"),
        })
    }

    /// Sees whether a file begins as its suffix says.
    pub fn check(self, file: impl Read) -> io::Result<()> {
        if Self::of_magic(&first_bytes(file)?) == Some(self) {
            return Ok(());
        }
        Err(io::Error::new(
            io::ErrorKind::InvalidData,
            format!(
                "its name ends in {}, but it is not {} data; rename it, or leave out -z",
                self.suffix(),
                self.title()
            ),
        ))
    }

    /// The content of what `reader` gives.
    pub fn reader(self, reader: Reader) -> io::Result<Reader> {
        let content: Reader = match self {
            Self::Gzip => Box::new(flate2::read::MultiGzDecoder::new(reader)),
            Self::Zstd => {
                let mut decoder = zstd::stream::read::Decoder::new(reader)?;
                // What `zstd --long=31 --ultra` writes at most.
                decoder.window_log_max(31)?;
                Box::new(decoder)
            }
            Self::Xz => Box::new(liblzma::read::XzDecoder::new_multi_decoder(reader)),
            Self::Bzip2 => Box::new(bzip2::read::MultiBzDecoder::new(reader)),
        };
        Ok(Box::new(Content { compression: self, content }))
    }

    /// The content of a stream that begins like a compressed one, or the stream as it is.
    pub fn detect(mut stream: Reader) -> io::Result<Reader> {
        let first = first_bytes(&mut stream)?;
        let compression = Self::of_magic(&first);
        let whole: Reader = Box::new(Cursor::new(first).chain(stream));
        match compression {
            Some(compression) => compression.reader(whole),
            None => Ok(whole),
        }
    }
}

/// Contents of up to so many bytes are kept in memory.
const IN_MEMORY: usize = 16 << 20;
const CHUNK: u64 = 1 << 20;

/// Reads a content to its end, into memory or a temporary file without a name, and gives it anew:
/// or an error before anything of it was taken.
pub fn read_whole(content: Reader) -> io::Result<Reader> {
    let mut content = content;
    let mut whole = tempfile::SpooledTempFile::new(IN_MEMORY);
    while io::copy(&mut content.by_ref().take(CHUNK), &mut whole)? > 0 {
        if crate::interrupt::requested() {
            return Err(io::Error::other("cancelled"));
        }
    }
    whole.rewind()?;
    Ok(Box::new(whole))
}

fn first_bytes(file: impl Read) -> io::Result<Vec<u8>> {
    let mut first = Vec::with_capacity(MAGIC);
    file.take(MAGIC as u64).read_to_end(&mut first)?;
    Ok(first)
}

/// Says what was being done when it goes wrong.
struct Content {
    compression: Compression,
    content: Reader,
}

impl Read for Content {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        self.content.read(to).map_err(|error| match error.kind() {
            io::ErrorKind::Interrupted => error,
            kind => io::Error::new(
                kind,
                format!(
                    "cannot be decompressed as {}: {error}; fetch it again, or leave out -z",
                    self.compression.title()
                ),
            ),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    const TEXT: &[u8] = b"the text of a file that was compressed, and compressed, and compressed";

    /// One member, frame or stream.
    fn compressed(compression: Compression, text: &[u8]) -> Vec<u8> {
        match compression {
            Compression::Gzip => {
                let mut encoder = flate2::write::GzEncoder::new(Vec::new(), Default::default());
                encoder.write_all(text).unwrap();
                encoder.finish().unwrap()
            }
            Compression::Zstd => zstd::stream::encode_all(text, 3).unwrap(),
            Compression::Xz => liblzma::encode_all(text, 6).unwrap(),
            Compression::Bzip2 => {
                let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), Default::default());
                encoder.write_all(text).unwrap();
                encoder.finish().unwrap()
            }
        }
    }

    fn content(reader: io::Result<Reader>) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        reader?.read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    #[test]
    fn members_are_joined() {
        for compression in Compression::ALL {
            let mut file = compressed(compression, TEXT);
            file.extend(compressed(compression, b""));
            file.extend(compressed(compression, TEXT));
            compression.check(&file[..]).unwrap();
            let expected = [TEXT, TEXT].concat();
            let named = compression.reader(Box::new(Cursor::new(file.clone())));
            assert_eq!(content(named).unwrap(), expected, "{compression:?}");
            let detected = Compression::detect(Box::new(Cursor::new(file)));
            assert_eq!(content(detected).unwrap(), expected, "{compression:?}");
        }
    }

    #[test]
    fn what_is_cut_short_is_an_error() {
        for compression in Compression::ALL {
            let file = compressed(compression, TEXT);
            for length in [file.len() / 2, file.len() - 1] {
                let cut = file[..length].to_vec();
                let error = content(compression.reader(Box::new(Cursor::new(cut)))).unwrap_err();
                assert!(error.to_string().contains(compression.title()), "{error}");
            }
        }
    }

    #[test]
    fn streams_that_are_not_compressed_pass() {
        for text in [&b""[..], b"B", b"BZ", b"plain text"] {
            let detected = Compression::detect(Box::new(Cursor::new(text.to_vec())));
            assert_eq!(content(detected).unwrap(), text);
        }
    }

    #[test]
    fn names_lose_their_suffix() {
        assert_eq!(Compression::of_name(b"a/b.txt.gz"), Some((Compression::Gzip, &b"a/b.txt"[..])));
        assert_eq!(Compression::of_name(b"x.zst"), Some((Compression::Zstd, &b"x"[..])));
        assert_eq!(Compression::of_name(b"x.xz"), Some((Compression::Xz, &b"x"[..])));
        assert_eq!(Compression::of_name(b"x.bz2"), Some((Compression::Bzip2, &b"x"[..])));
        for name in [&b"a/.gz"[..], b".xz", b"gz", b"a.gz.txt"] {
            assert_eq!(Compression::of_name(name), None);
        }
    }

    #[test]
    fn a_wrong_suffix_is_told() {
        let error = Compression::Xz.check(&b"plain text"[..]).unwrap_err();
        assert!(error.to_string().contains("not xz data"), "{error}");
        assert!(Compression::Gzip.check(&b""[..]).is_err());
    }
}
