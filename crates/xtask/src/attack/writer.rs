//! The commands that write, each with what may be there after it was interrupted at any moment: what was there before,
//! or what is there when it is done, and nothing between.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use tadoc_oracle::Random;
use xxhash_rust::xxh64::xxh64;

use super::child::{self, Outcome};
use crate::files;

/// A check takes no longer, whatever else the machine does.
const PATIENCE: Duration = Duration::from_secs(300);
/// The document that batches and streams append to.
pub const LOG: &str = "log";
/// Edits of a batch.
const BATCH: usize = 2000;

/// What a command writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Writes {
    /// A new archive.
    New,
    /// The archive in place, or a new one under its name.
    Archive,
    /// Numbered edits of the archive, each acknowledged by a line.
    Batch,
    /// What comes from standard input, to the end of a document.
    Stream,
    View,
    /// Files in a folder.
    Folder,
    Rows,
    Pool,
}

/// A command that writes.
pub struct Writer {
    /// For reports: the command and what is special about it.
    pub name: &'static str,
    pub arguments: Vec<String>,
    /// A command that writes to the same place next.
    next: Vec<String>,
    pub writes: Writes,
}

const ARCHIVE: &str = "a.tdc";
const NEW: &str = "new.tdc";
const ROWS: &str = "rows.tsv";
const FOLDER: &str = "restored";

fn words(line: &str, base: &Path) -> Vec<String> {
    line.replace("BASE", &base.display().to_string()).split(' ').map(str::to_owned).collect()
}

/// All of them; `base` is the folder that [`Base`] has made.
fn all(base: &Path) -> Vec<Writer> {
    let writer = |name, line: &str, next: &str, writes| Writer {
        name,
        arguments: words(line, base),
        next: words(next, base),
        writes,
    };
    let edit =
        |name, line: &str| writer(name, line, "append a.tdc log --text more", Writes::Archive);
    let pool = |name, task: &str, persist: &str| {
        let line = format!("{task} --backend pool --pool a.pool --persist {persist} -o rows.tsv");
        writer(name, &line, &format!("{line} --force"), Writes::Pool)
    };
    let new = |name, line: &str| writer(name, line, &format!("{line} --force"), Writes::New);
    vec![
        new("compress", "compress BASE/text -o new.tdc"),
        new("compress --level dense", "compress BASE/text -o new.tdc --level dense"),
        new("compress --builder sequitur", "compress BASE/text -o new.tdc --builder sequitur"),
        edit("compress --force", "compress BASE/more -o a.tdc --force"),
        new("transcode", "transcode a.tdc -o new.tdc --level dense"),
        edit("transcode --force", "transcode BASE/a.tdc -o a.tdc --level fast --force"),
        edit("recompress", "recompress a.tdc"),
        edit("index --index", "index a.tdc --index fast"),
        writer("index --view", "index a.tdc --view", "index a.tdc --view", Writes::View),
        edit("append", "append a.tdc log --text more"),
        edit("insert", "insert a.tdc 03 5 --text more"),
        edit("delete", "delete a.tdc 03 5 1000"),
        edit("replace", "replace a.tdc 03 5 1000 --text more"),
        edit("add", "add a.tdc BASE/more"),
        edit("remove", "remove a.tdc 03"),
        edit("rename", "rename a.tdc 03 another"),
        edit("edit --offsets snapshot", "edit a.tdc -f BASE/snapshot.jsonl --offsets snapshot"),
        edit("append --recompress", "append a.tdc log --text more --recompress 1K"),
        writer(
            "edit",
            "edit a.tdc -f BASE/batch.jsonl --durability operation",
            "append a.tdc log --text more",
            Writes::Batch,
        ),
        writer("append -", "append a.tdc log -", "append a.tdc log --text more", Writes::Stream),
        writer(
            "restore",
            "restore a.tdc -C restored",
            "restore a.tdc -C restored --force",
            Writes::Folder,
        ),
        writer(
            "word-count -o",
            "word-count a.tdc -o rows.tsv",
            "word-count a.tdc -o rows.tsv --force",
            Writes::Rows,
        ),
        writer(
            "cooccurrence -o",
            "cooccurrence a.tdc -o rows.tsv",
            "cooccurrence a.tdc -o rows.tsv --force",
            Writes::Rows,
        ),
        pool("inverted-index, pool", "inverted-index a.tdc", "phase"),
        pool("sequence-count, pool", "sequence-count a.tdc", "operation"),
        pool("word-count, pool", "word-count a.tdc", "none"),
    ]
}

/// An archive with a journal and the texts that writers read, made once.
pub struct Base {
    binary: PathBuf,
    pub folder: PathBuf,
    pub writers: Vec<Measured>,
}

/// A writer, how long it takes, and what was there before and is there after it.
pub struct Measured {
    pub writer: Writer,
    pub takes: Duration,
    before: Left,
    after: Left,
}

/// What can be found where a command has written: text, rows or files, by hash. `None` where nothing is.
type Left = Option<u64>;

impl Base {
    /// Makes it, and runs every writer once.
    pub fn new(binary: &Path, scratch: &Path) -> Result<Self> {
        let folder = scratch.join("base");
        let mut random = Random::new(15);
        for number in 0..40 {
            let text = prose(&mut random, 60_000);
            files::write(&folder.join(format!("text/{number:02}")), text.as_bytes())?;
        }
        for number in 0..10 {
            let text = prose(&mut random, 40_000);
            files::write(&folder.join(format!("more/m{number}")), text.as_bytes())?;
        }
        files::write(&folder.join("text").join(LOG), b"")?;
        let append = |number: usize| {
            format!("{{\"op\":\"append\",\"document\":\"{LOG}\",\"text\":\"{}\"}}\n", mark(number))
        };
        let batch: String = (0..BATCH).map(append).collect();
        files::write(&folder.join("batch.jsonl"), batch.as_bytes())?;
        files::write(&folder.join("snapshot.jsonl"), batch.as_bytes())?;
        let mut base =
            Self { binary: binary.to_owned(), folder: folder.clone(), writers: Vec::new() };
        base.succeed(&folder, "compress text -o a.tdc")?;
        let work = scratch.join("measure");
        // Archives that are transcoded have no journal; others have one, so that there is something to keep.
        files::create_folder(&work)?;
        files::copy(&folder.join(ARCHIVE), &folder.join("edited.tdc"))?;
        for line in [
            "insert edited.tdc 07 100 --text edited",
            "delete edited.tdc 09 7 5000",
            "add edited.tdc more/m1",
        ] {
            base.succeed(&folder, line)?;
        }
        for writer in all(&folder) {
            base.prepare(&work, &writer)?;
            let before = base.left(&work, &writer)?;
            let run = child::run(binary, &work, &writer.arguments, PATIENCE)?;
            ensure!(
                run.code() == Some(0),
                "`tadoc {}` gave {:?}: {}",
                writer.arguments.join(" "),
                run.end,
                run.stderr
            );
            let after = base.left(&work, &writer)?;
            base.writers.push(Measured { writer, takes: run.wall, before, after });
        }
        Ok(base)
    }

    fn succeed(&self, folder: &Path, line: &str) -> Result<()> {
        let run = child::run(&self.binary, folder, &words(line, &self.folder), PATIENCE)?;
        ensure!(run.code() == Some(0), "`tadoc {line}` gave {:?}: {}", run.end, run.stderr);
        Ok(())
    }

    /// Puts into an empty folder what a writer needs.
    pub fn prepare(&self, folder: &Path, writer: &Writer) -> Result<()> {
        files::remove_folder(folder)?;
        files::create_folder(folder)?;
        let stored = writer.name.starts_with("transcode");
        let archive = if stored { ARCHIVE } else { "edited.tdc" };
        files::copy(&self.folder.join(archive), &folder.join(ARCHIVE))
    }

    /// What a writer has left in a folder; an error says what is wrong with that.
    fn left(&self, folder: &Path, writer: &Writer) -> Result<Left> {
        let there = |name: &str| folder.join(name).exists();
        let file = |name: &str| -> Result<Left> {
            Ok(if there(name) { Some(xxh64(&fs::read(folder.join(name))?, 0)) } else { None })
        };
        match writer.writes {
            Writes::New if !there(NEW) => Ok(None),
            Writes::New => self.text(folder, NEW).map(Some),
            Writes::Archive | Writes::Batch | Writes::Stream => {
                self.text(folder, ARCHIVE).map(Some)
            }
            Writes::View => {
                if there("a.tdc.view") {
                    let run = self.ask(folder, &["word-count", ARCHIVE])?;
                    ensure!(run.stderr.is_empty(), "the view is not whole: {}", run.stderr);
                }
                self.text(folder, ARCHIVE).map(Some)
            }
            Writes::Rows => file(ROWS),
            Writes::Folder => Ok(None),
            Writes::Pool => file(ROWS),
        }
    }

    /// The names, lengths and bytes of an archive that must be whole.
    fn text(&self, folder: &Path, archive: &str) -> Result<u64> {
        let mut all = Vec::new();
        for arguments in [
            &["verify", archive][..],
            &["list", archive, "--format", "tsv"],
            &["restore", archive, "--stdout"],
        ] {
            let run = self.ask(folder, arguments)?;
            if arguments[0] != "verify" {
                all.extend(run.stdout);
            }
        }
        Ok(xxh64(&all, 0))
    }

    /// Runs a command that must end well.
    fn ask(&self, folder: &Path, arguments: &[&str]) -> Result<Outcome> {
        let arguments: Vec<String> = arguments.iter().map(|&word| word.to_owned()).collect();
        let run = child::run(&self.binary, folder, &arguments, PATIENCE)?;
        let line = arguments.join(" ");
        ensure!(run.code() == Some(0), "`tadoc {line}` gave {:?}: {}", run.end, run.stderr);
        Ok(run)
    }

    /// Checks what an interrupted writer has left. `printed` is what it printed, `fed` what it was given, and `done`
    /// whether it said that it was done. An error says what is wrong.
    pub fn check(&self, folder: &Path, of: &Measured, end: &Interrupted) -> Result<()> {
        match of.writer.writes {
            Writes::Batch => {
                let log = self.ask(folder, &["cat", ARCHIVE, LOG])?.stdout;
                self.ask(folder, &["verify", ARCHIVE])?;
                let told = end.printed.split(|&byte| byte == b'\n');
                let acknowledged = told.filter(|line| *line == br#"{"ok":true}"#).count();
                let kept = log.len() / mark(0).len();
                let expected: String = (0..kept).map(mark).collect();
                ensure!(
                    log == expected.as_bytes(),
                    "the edits that are there are not the first ones"
                );
                ensure!(
                    kept >= acknowledged,
                    "{acknowledged} edits were acknowledged, {kept} are there"
                );
                ensure!(!end.done || kept == BATCH, "it said that all were done, {kept} are there");
            }
            Writes::Stream => {
                let log = self.ask(folder, &["cat", ARCHIVE, LOG])?.stdout;
                self.ask(folder, &["verify", ARCHIVE])?;
                ensure!(end.fed.starts_with(&log), "what is there is not what came");
                if end.done {
                    let (kept, fed) = (log.len(), end.fed.len());
                    ensure!(kept == fed, "{fed} bytes had come, {kept} are there");
                }
            }
            Writes::Folder => {
                let mut restored = BTreeMap::new();
                let root = folder.join(FOLDER);
                for path in if root.exists() { files::tree(&root)?.files } else { Vec::new() } {
                    let name = path.strip_prefix(&root)?.to_owned();
                    if !is_leftover(&name) {
                        restored.insert(name, fs::read(&path)?);
                    }
                }
                for (name, bytes) in restored {
                    let name = name.to_str().context("a name is not one of ours")?;
                    let expected = self.ask(folder, &["cat", ARCHIVE, name])?.stdout;
                    ensure!(bytes == expected, "{name} is half-written under its name");
                }
            }
            _ => {
                let left = self.left(folder, &of.writer)?;
                if end.done && left != of.after {
                    bail!("it said that it was done, and it is not");
                }
                if left != of.before && left != of.after {
                    bail!("neither what was there before nor what is there after it");
                }
            }
        }
        Ok(())
    }

    /// Runs a writer to the same place, which must end well, be right and clean up.
    pub fn check_next(&self, folder: &Path, of: &Measured) -> Result<()> {
        let next = &of.writer.next;
        let run = child::run(&self.binary, folder, next, PATIENCE)?;
        let line = next.join(" ");
        ensure!(run.code() == Some(0), "next, `tadoc {line}` gave {:?}: {}", run.end, run.stderr);
        if matches!(of.writer.writes, Writes::New | Writes::Rows | Writes::Pool | Writes::View) {
            let left = self.left(folder, &of.writer)?;
            ensure!(left == of.after, "next, `tadoc {line}` did not write what it should");
        }
        Ok(())
    }
}

/// How an interrupted command ended.
pub struct Interrupted {
    pub printed: Vec<u8>,
    pub fed: Vec<u8>,
    /// It said that it was done.
    pub done: bool,
}

/// The files in a folder that were written aside and not finished.
pub fn leftovers(folder: &Path) -> Result<Vec<String>> {
    let tree = files::tree(folder)?;
    let names = tree.files.iter().map(|path| path.strip_prefix(folder).unwrap_or(path));
    Ok(names.filter(|name| is_leftover(name)).map(|name| name.display().to_string()).collect())
}

fn is_leftover(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    name.contains(".tmp-") || name.starts_with(".tadoc-")
}

/// The text of the edit of a number.
fn mark(number: usize) -> String {
    format!("#{number:05} ")
}

/// Words of which few are most of the text, in lines.
fn prose(random: &mut Random, bytes: usize) -> String {
    let mut text = String::new();
    while text.len() < bytes {
        let rank = random.rank().min(4000);
        let end = if random.below(12) == 0 { '\n' } else { ' ' };
        text.push_str(&format!("w{rank}{end}"));
    }
    text
}
