//! What compresses output on its way to a file: gzip or Zstandard, on the thread that writes.

use std::io::{self, BufWriter, Write};

/// How output is compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compression {
    None,
    Gzip,
    Zstandard,
}

impl Compression {
    /// What a file with this ending is compressed with.
    pub fn of_ending(ending: &str) -> Option<Self> {
        match ending {
            "gz" => Some(Self::Gzip),
            "zst" => Some(Self::Zstandard),
            _ => None,
        }
    }
}

/// A writer that compresses, or does not.
pub enum Encoder<W: Write> {
    Plain(BufWriter<W>),
    #[cfg(feature = "compressed-rows")]
    Gzip(flate2::write::GzEncoder<BufWriter<W>>),
    #[cfg(feature = "compressed-rows")]
    Zstandard(zstd::stream::write::Encoder<'static, BufWriter<W>>),
}

impl<W: Write> Encoder<W> {
    /// One that does not compress yet.
    pub fn new(to: BufWriter<W>) -> Self {
        Self::Plain(to)
    }

    /// Compresses what is written from now on.
    pub fn compressing(self, compression: Compression) -> io::Result<Self> {
        #[cfg(feature = "compressed-rows")]
        return Ok(match (self, compression) {
            (Self::Plain(to), Compression::Gzip) => {
                Self::Gzip(flate2::write::GzEncoder::new(to, flate2::Compression::default()))
            }
            (Self::Plain(to), Compression::Zstandard) => {
                let mut encoder = zstd::stream::write::Encoder::new(to, 0)?;
                encoder.include_checksum(true)?;
                Self::Zstandard(encoder)
            }
            (other, _) => other,
        });
        #[cfg(not(feature = "compressed-rows"))]
        match compression {
            Compression::None => Ok(self),
            Compression::Gzip | Compression::Zstandard => Err(io::Error::new(
                io::ErrorKind::Unsupported,
                "this build of tadoc has no compressed rows; build it with the feature \
                 `compressed-rows`, or leave .gz or .zst out",
            )),
        }
    }

    /// Where it goes.
    pub fn target(&self) -> &W {
        self.buffer().get_ref()
    }

    fn buffer(&self) -> &BufWriter<W> {
        match self {
            Self::Plain(to) => to,
            #[cfg(feature = "compressed-rows")]
            Self::Gzip(encoder) => encoder.get_ref(),
            #[cfg(feature = "compressed-rows")]
            Self::Zstandard(encoder) => encoder.get_ref(),
        }
    }

    /// Writes all that is still to be written; nothing may be written after it.
    pub fn end(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(to) => to.flush(),
            #[cfg(feature = "compressed-rows")]
            Self::Gzip(encoder) => {
                encoder.try_finish()?;
                encoder.get_mut().flush()
            }
            #[cfg(feature = "compressed-rows")]
            Self::Zstandard(encoder) => {
                encoder.do_finish()?;
                encoder.get_mut().flush()
            }
        }
    }

    /// Where it went, without what could not be written.
    pub fn into_target(self) -> io::Result<W> {
        let buffer = match self {
            Self::Plain(to) => to,
            #[cfg(feature = "compressed-rows")]
            Self::Gzip(encoder) => encoder.finish()?,
            #[cfg(feature = "compressed-rows")]
            Self::Zstandard(encoder) => encoder.finish()?,
        };
        Ok(buffer.into_parts().0)
    }
}

impl<W: Write> Write for Encoder<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(to) => to.write(bytes),
            #[cfg(feature = "compressed-rows")]
            Self::Gzip(encoder) => encoder.write(bytes),
            #[cfg(feature = "compressed-rows")]
            Self::Zstandard(encoder) => encoder.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(to) => to.flush(),
            #[cfg(feature = "compressed-rows")]
            Self::Gzip(encoder) => encoder.flush(),
            #[cfg(feature = "compressed-rows")]
            Self::Zstandard(encoder) => encoder.flush(),
        }
    }
}
