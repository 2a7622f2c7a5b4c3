//! Streaming: `tadoc append CORPUS DOCUMENT -` with text through a pipe, then `tadoc recompress`.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use serde::Serialize;

use crate::corpus::Corpus;
use crate::paths;

/// What streaming took. Times are in seconds.
#[derive(Debug, Serialize)]
pub struct Ingest {
    /// Bytes of the archive's text before, and bytes streamed.
    pub text_bytes: u64,
    pub streamed_bytes: u64,
    pub stream_seconds: f64,
    pub recompress_seconds: f64,
    /// Bytes of the archive before, with the stream behind it, compressed again; and of all compressed at once.
    pub before_bytes: u64,
    pub streamed_archive_bytes: u64,
    pub again_bytes: u64,
    pub at_once_bytes: u64,
    pub at_once_seconds: f64,
}

impl Ingest {
    /// Compresses the first half of the files of a corpus, and streams in the text of the others.
    pub fn measure(corpus: &Corpus, most: u64, work: &Path) -> Result<Self> {
        let tadoc = paths::tadoc()?;
        let half = corpus.bytes() / 2;
        let mut before = 0;
        let first = corpus.files.iter().take_while(|(_, bytes)| {
            before += bytes;
            before <= half
        });
        let (kept, streamed) = corpus.files.split_at(first.count());
        let folder = work.join("ingest");
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder)?;
        // In memory, so that the disk is not measured. If the first file is half of all, half of that is kept.
        let mut text = Vec::new();
        let mut text_bytes = kept.iter().map(|(_, bytes)| bytes).sum();
        if let ([], [(file, _), ..]) = (kept, streamed) {
            let mut whole = fs::read(file)?;
            let cut = whole.len() / 2;
            text = whole.split_off(cut);
            text_bytes = cut as u64;
            fs::write(folder.join("first"), whole)?;
        }
        for (file, _) in kept {
            let link = folder.join(file.strip_prefix(&corpus.folder)?);
            fs::create_dir_all(link.parent().context("a file is in a folder")?)?;
            if fs::hard_link(file, &link).is_err() {
                fs::copy(file, &link)?;
            }
        }
        let archive = work.join("ingest.tdc");
        let compress = |to: &Path| -> Result<f64> {
            let start = Instant::now();
            run(Command::new(&tadoc)
                .args(["compress", "-q", "--force"])
                .arg(&folder)
                .arg("-o")
                .arg(to))?;
            Ok(start.elapsed().as_secs_f64())
        };
        compress(&archive)?;
        let before_bytes = fs::metadata(&archive)?.len();
        for (file, _) in streamed.iter().skip(usize::from(kept.is_empty())) {
            if text.len() as u64 >= most {
                break;
            }
            File::open(file)?.read_to_end(&mut text)?;
        }
        text.truncate(most as usize);
        let start = Instant::now();
        let mut child = Command::new(&tadoc)
            .arg("append")
            .arg(&archive)
            .args(["zz-streamed", "-"])
            .stdin(Stdio::piped())
            .spawn()?;
        child.stdin.take().context("a pipe")?.write_all(&text)?;
        ensure!(child.wait()?.success(), "tadoc append failed");
        let stream_seconds = start.elapsed().as_secs_f64();
        let streamed_archive_bytes = fs::metadata(&archive)?.len();
        let start = Instant::now();
        run(Command::new(&tadoc).args(["recompress", "-q"]).arg(&archive))?;
        let recompress_seconds = start.elapsed().as_secs_f64();
        fs::write(folder.join("zz-streamed"), &text)?;
        let at_once: PathBuf = work.join("at-once.tdc");
        let at_once_seconds = compress(&at_once)?;
        let result = Self {
            text_bytes,
            streamed_bytes: text.len() as u64,
            stream_seconds,
            recompress_seconds,
            before_bytes,
            streamed_archive_bytes,
            again_bytes: fs::metadata(&archive)?.len(),
            at_once_bytes: fs::metadata(&at_once)?.len(),
            at_once_seconds,
        };
        fs::remove_dir_all(&folder)?;
        fs::remove_file(&at_once)?;
        Ok(result)
    }
}

fn run(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("running {command:?}"))?;
    ensure!(status.success(), "{command:?} failed");
    Ok(())
}
