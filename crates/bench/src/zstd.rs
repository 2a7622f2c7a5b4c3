//! zstd as a process: the program where it is installed, and a hidden subcommand of this one elsewhere.
//!
//! The subcommand does as the program does: it decompresses in one thread and writes in another. It takes frames of
//! any window, as `--long=31` would.

use std::fs::File;
use std::io::{self, Read, Write};
use std::num::NonZeroUsize;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::mpsc;

use anyhow::{Context, Result, anyhow};
use clap::Args;
use zstd::stream::raw::CParameter;
use zstd::zstd_safe::version_string;

use crate::contenders::is_there;
use crate::measure::Job;

/// Bytes that are written at once: as many as the program takes, and as fit into a pipe.
const PIECE: usize = 64 << 10;
/// Pieces that may wait to be written.
const WAITING: usize = 4;
/// Logarithm of the window that compressing finds repetitions in, as `--long` has it.
const WINDOW: u32 = 27;
/// Logarithm of the largest window that there is.
const LARGEST_WINDOW: u32 = 31;

/// Decompresses a file to standard output, or compresses one with -o
#[derive(Debug, Args)]
pub struct Zstd {
    input: PathBuf,

    /// Compress into this file instead
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Level of compressing; the window is that of --long=27
    #[arg(long, default_value_t = 19)]
    level: i32,

    /// Threads that compress
    #[arg(long, default_value = "2")]
    threads: NonZeroUsize,
}

impl Zstd {
    pub fn run(self) -> Result<()> {
        let input =
            File::open(&self.input).with_context(|| format!("opening {}", self.input.display()))?;
        match &self.output {
            None => {
                let output = File::from(io::stdout().as_fd().try_clone_to_owned()?);
                decompress(input, output)
            }
            Some(path) => {
                let output = File::create(path);
                let output = output.with_context(|| format!("creating {}", path.display()))?;
                let bytes = input.metadata()?.len();
                compress(input, bytes, output, self.level, self.threads.get())
            }
        }
    }
}

/// The words that decompress the file behind them to standard output, for a shell, where `$0` is this program.
pub fn decompressing() -> &'static str {
    if is_there("zstd") { "zstd -q -dc --long=27" } else { r#""$0" zstd"# }
}

/// Compresses a file on two threads.
pub fn compressing(from: &Path, to: &Path, level: u8) -> Result<Job> {
    let job = if is_there("zstd") {
        Job::new("zstd").args(["-q", "-f", "-T2", "--long=27", &format!("-{level}")])
    } else {
        let this = std::env::current_exe().context("finding this program")?;
        Job::new(this).args(["zstd", "--level", &level.to_string()])
    };
    Ok(job.arg(from).arg("-o").arg(to))
}

/// The version of the library in this program, for where there is no program.
pub fn built_in_version() -> String {
    format!("{} (library in tadoc-bench)", version_string())
}

/// Decompresses in this thread, and writes in another one.
fn decompress(input: impl Read, mut output: impl Write + Send) -> Result<()> {
    let mut decoder = zstd::Decoder::new(input).context("reading a zstd frame")?;
    decoder.window_log_max(LARGEST_WINDOW)?;
    let (full, filled) = mpsc::sync_channel::<Vec<u8>>(WAITING);
    let (empty, emptied) = mpsc::channel();
    for _ in 0..WAITING {
        empty.send(vec![0; PIECE])?;
    }
    std::thread::scope(|scope| {
        let writing = scope.spawn(move || -> io::Result<()> {
            for piece in filled {
                output.write_all(&piece)?;
                // Nobody waits for buffers in the end.
                let _ = empty.send(piece);
            }
            Ok(())
        });
        let reading = fill(&mut decoder, &full, &emptied);
        drop(full);
        let written = writing.join().map_err(|_| anyhow!("the writing thread panicked"))?;
        // Whoever reads less than all is no error of this program, nor is it one of zstd's.
        written.context("writing what was decompressed")?;
        reading
    })
}

/// Fills buffers and sends them off, until there is no more.
fn fill(
    decoder: &mut impl Read,
    full: &mpsc::SyncSender<Vec<u8>>,
    emptied: &mpsc::Receiver<Vec<u8>>,
) -> Result<()> {
    loop {
        // Writing has failed where there are none; it tells how.
        let Ok(mut piece) = emptied.recv() else { return Ok(()) };
        piece.resize(PIECE, 0);
        let mut length = 0;
        while length < PIECE {
            match decoder.read(&mut piece[length..]).context("decompressing")? {
                0 => break,
                read => length += read,
            }
        }
        piece.truncate(length);
        if length == 0 || full.send(piece).is_err() {
            return Ok(());
        }
    }
}

/// Compresses as `zstd --long=27` does.
fn compress(
    mut input: impl Read,
    bytes: u64,
    output: impl Write,
    level: i32,
    threads: usize,
) -> Result<()> {
    let mut encoder = zstd::Encoder::new(output, level)?;
    encoder.set_parameter(CParameter::EnableLongDistanceMatching(true))?;
    encoder.set_parameter(CParameter::WindowLog(WINDOW))?;
    encoder.include_checksum(true)?;
    encoder.set_pledged_src_size(Some(bytes))?;
    encoder.multithread(u32::try_from(threads)?)?;
    io::copy(&mut input, &mut encoder).context("compressing")?;
    encoder.finish().context("compressing")?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_compressed_is_decompressed() {
        let text: Vec<u8> =
            (0..100_000_u32).flat_map(|number| (number % 999).to_le_bytes()).collect();
        for length in [0, 1, PIECE, text.len()] {
            let (mut compressed, mut back) = (Vec::new(), Vec::new());
            compress(&text[..length], length as u64, &mut compressed, 3, 2).unwrap();
            decompress(&compressed[..], &mut back).unwrap();
            assert_eq!(back, &text[..length]);
        }
    }

    #[test]
    fn what_cannot_be_read_or_written_is_an_error() {
        let text = vec![7; 10 * PIECE];
        let mut compressed = Vec::new();
        compress(&text[..], text.len() as u64, &mut compressed, 3, 1).unwrap();
        let half = &compressed[..compressed.len() / 2];
        assert!(decompress(half, Vec::new()).is_err());
        assert!(decompress(&b"no frame"[..], Vec::new()).is_err());
        let error = decompress(&compressed[..], &mut [0_u8; 100][..]).unwrap_err();
        assert!(error.to_string().contains("writing"), "{error}");
    }
}
