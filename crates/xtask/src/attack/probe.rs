//! The commands that are run on mutants, and what of a run is its answer. A probe names its files as they lie in the
//! folder that it runs in, so that a finding can be repeated wherever its files are.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use xxhash_rust::xxh64::{Xxh64, xxh64};

use super::child::{self, Outcome};
use crate::files;

/// The archive, its stored view and its pool.
pub const ARCHIVE: &str = "a.tdc";
pub const VIEW: &str = "a.tdc.view";
pub const POOL: &str = "a.pool";
/// What probes write.
const WRITTEN: &str = "b.tdc";
const FOLDER: &str = "restored";
const ROWS: &str = "rows.tsv";
/// What probes read beside the archive.
const QUERIES: &str = "queries.jsonl";
const EDITS: &str = "edits.jsonl";
const ADDED: &str = "added.txt";

/// What is the answer of a probe, beside its exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Answer {
    /// What it prints.
    Printed,
    /// Lines, each of which may be an error where the archive is damaged.
    Lines,
    /// Nothing: figures of the file, which a torn journal changes.
    Figures,
    /// The files in a folder.
    Folder,
    /// The file that it writes.
    File,
    /// The text of an archive that it writes.
    Archive(&'static str),
}

/// A command that is run on mutants.
#[derive(Debug, Clone)]
pub struct Probe {
    pub arguments: Vec<String>,
    answer: Answer,
    /// Exit code 1 is an answer too: nothing is found.
    finds: bool,
    /// Its work is in proportion to the text, however little space that takes compressed.
    pub reads_all: bool,
}

impl Probe {
    fn new(arguments: &[&str]) -> Self {
        let arguments: Vec<String> = arguments.iter().map(|&word| word.to_owned()).collect();
        let command = arguments[0].as_str();
        let finds = matches!(command, "search" | "count" | "kwic" | "find" | "grep");
        let reads_all = !matches!(command, "info" | "list" | "extract" | "sample" | "head");
        Self { arguments, answer: Answer::Printed, finds, reads_all }
    }

    fn with(arguments: &[&str], answer: Answer) -> Self {
        Self { answer, ..Self::new(arguments) }
    }

    fn editing(arguments: &[&str]) -> Self {
        Self { answer: Answer::Archive(ARCHIVE), ..Self::new(arguments) }
    }

    /// The name of the command.
    pub fn name(&self) -> &str {
        &self.arguments[0]
    }

    /// The command as one would type it.
    pub fn shown(&self) -> String {
        let quoted = self.arguments.iter().map(|word| {
            let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./=:,@%+".contains(&byte);
            if !word.is_empty() && word.bytes().all(plain) {
                word.clone()
            } else {
                format!("'{}'", word.replace('\'', r"'\''"))
            }
        });
        quoted.collect::<Vec<_>>().join(" ")
    }

    /// What a run that ended well gave: a run of another command may be needed to tell. `None` where the exit code says
    /// that there is no answer.
    pub fn given(&self, binary: &Path, folder: &Path, run: &Outcome) -> Result<Option<Given>> {
        let code = match run.code() {
            Some(0) => 0,
            Some(1) if self.finds => 1,
            _ => return Ok(None),
        };
        let given =
            |bytes: &[u8]| Given { code, length: bytes.len(), hash: xxh64(bytes, 0), lines: None };
        Ok(match self.answer {
            Answer::Printed => Some(given(&run.stdout)),
            Answer::Lines => Some(Given { lines: Some(run.stdout.clone()), ..given(&[]) }),
            Answer::Figures => Some(given(&[])),
            Answer::Folder => {
                let root = folder.join(FOLDER);
                let mut all = Hashing::default();
                for path in if root.exists() { files::tree(&root)?.files } else { Vec::new() } {
                    all.write_all(path.strip_prefix(&root)?.as_os_str().as_encoded_bytes())?;
                    all.write_all(&[0])?;
                    io::copy(&mut File::open(&path)?, &mut all)?;
                }
                Some(all.given(code))
            }
            Answer::File => {
                let mut all = Hashing::default();
                io::copy(&mut File::open(folder.join(ROWS))?, &mut all)?;
                Some(all.given(code))
            }
            Answer::Archive(archive) => {
                let arguments = ["restore", archive, "--stdout"].map(str::to_owned);
                let run = child::run(binary, folder, &arguments, Duration::from_secs(30))?;
                (run.code() == Some(0)).then(|| given(&run.stdout))
            }
        })
    }
}

/// Takes bytes for their length and hash: what a mutant makes may be far longer than this process may be.
struct Hashing {
    length: usize,
    hash: Xxh64,
}

impl Default for Hashing {
    fn default() -> Self {
        Self { length: 0, hash: Xxh64::new(0) }
    }
}

impl Hashing {
    fn given(&self, code: i32) -> Given {
        Given { code, length: self.length, hash: self.hash.digest(), lines: None }
    }
}

impl Write for Hashing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.hash.update(bytes);
        self.length += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Given {
    code: i32,
    length: usize,
    hash: u64,
    lines: Option<Vec<u8>>,
}

impl Given {
    /// Whether it is as good as another: the same, or with errors in place of lines.
    pub fn agrees(&self, with: &Self) -> bool {
        let (Some(lines), Some(others)) = (&self.lines, &with.lines) else { return self == with };
        let split = |lines: &'_ [u8]| -> Vec<Vec<u8>> {
            lines.split(|&byte| byte == b'\n').map(<[u8]>::to_vec).collect()
        };
        let (lines, others) = (split(lines), split(others));
        lines.len() == others.len()
            && lines
                .iter()
                .zip(&others)
                .all(|(line, other)| line == other || line.starts_with(br#"{"error":"#))
    }
}

/// What a victim is asked: a document and words that it has.
#[derive(Debug, Clone)]
pub struct Asked {
    pub document: &'static str,
    pub word: &'static str,
    pub phrase: &'static str,
}

/// Writes the files that probes read beside the archive.
pub fn write_inputs(folder: &Path, asked: &Asked) -> Result<()> {
    let Asked { document, word, phrase } = asked;
    let queries = format!(
        r#"{{"op":"extract","document":"{document}","offset":3,"length":64}}
{{"op":"search","word":"{word}"}}
{{"op":"search","word":"{phrase}","document":"{document}"}}
{{"op":"count","word":"{phrase}"}}
{{"op":"sample","k":3,"seed":7}}
"#
    );
    let edits = format!(
        r#"{{"op":"insert","document":"{document}","offset":0,"text":"{phrase} "}}
{{"op":"count","word":"{word}"}}
{{"op":"append","document":"{document}","text":" {word}"}}
{{"op":"extract","document":"{document}","offset":0,"length":20}}
{{"op":"add","document":"zz","text":"{word}"}}
{{"op":"delete","document":"{document}","offset":0,"length":1}}
{{"op":"search","word":"{word}"}}
"#
    );
    fs::write(folder.join(QUERIES), queries)?;
    fs::write(folder.join(EDITS), edits)?;
    fs::write(folder.join(ADDED), "one more gauge\n")?;
    Ok(())
}

/// Removes what probes have written beside the archive.
pub fn clean(folder: &Path) -> Result<()> {
    files::remove_folder(&folder.join(FOLDER))?;
    for name in [WRITTEN, ROWS, VIEW] {
        let _ = fs::remove_file(folder.join(name));
    }
    Ok(())
}

/// All commands on an archive; `stored` is one that has no journal.
pub fn on_archive(asked: &Asked, stored: bool) -> Vec<Probe> {
    let Asked { document, word, phrase } = *asked;
    let both = format!("{word} {phrase}");
    let mut probes: Vec<Probe> = [
        &["list", ARCHIVE, "--format", "tsv"][..],
        &["cat", ARCHIVE, document],
        &["cat", ARCHIVE, "*"],
        &["cat", ARCHIVE, document, "--lines", "2:-1"],
        &["head", ARCHIVE, document, "-n", "3"],
        &["restore", ARCHIVE, "--stdout"],
        &["extract", ARCHIVE, document, "5", "40"],
        &["search", ARCHIVE, word],
        &["search", ARCHIVE, phrase],
        &["search", ARCHIVE, phrase, "-i"],
        &["search", ARCHIVE, word, "--index", "none"],
        &["search", ARCHIVE, phrase, "--index", "small"],
        &["count", ARCHIVE, word],
        &["count", ARCHIVE, phrase, "--per-document"],
        &["kwic", ARCHIVE, word, "--format", "tsv"],
        &["kwic", ARCHIVE, phrase, "--words", "3", "--format", "tsv"],
        &["kwic", ARCHIVE, word, "--words", "50", "--format", "jsonl"],
        &["find", ARCHIVE, &both, "--format", "tsv"],
        &["find", ARCHIVE, word, "--no-snippets", "--format", "tsv"],
        &["sample", ARCHIVE, "-k", "20", "--seed", "1"],
        &["sample", ARCHIVE, "-k", "5", "--seed", "2", "--document", document],
        &["grep", word, ARCHIVE],
        &["grep", "-m", "3", "[a-z]", ARCHIVE],
        &["grep", "-n", "-i", "-C", "1", word, ARCHIVE],
        &["grep", "-c", "^", ARCHIVE],
        &["grep", "-o", "[a-z]+ [a-z]+", ARCHIVE],
        &["word-count", ARCHIVE],
        &["word-count", ARCHIVE, "-i", "--stem", "english", "--strategy", "bottom-up"],
        &["sort", ARCHIVE],
        &["inverted-index", ARCHIVE],
        &["inverted-index", ARCHIVE, "--strategy", "bottom-up"],
        &["term-vector", ARCHIVE],
        &["term-vector", ARCHIVE, "--format", "mtx"],
        &["sequence-count", ARCHIVE],
        &["sequence-count", ARCHIVE, "--n", "2", "--per-document", "--strategy", "top-down"],
        &["ranked-inverted-index", ARCHIVE],
        &["ranked-inverted-index", ARCHIVE, "--n", "1"],
        &["tfidf", ARCHIVE],
        &["cooccurrence", ARCHIVE, "--window", "3"],
        &["collocations", ARCHIVE, "--min-count", "2"],
        &["collocations", ARCHIVE, "--window", "5", "--measure", "pmi"],
    ]
    .iter()
    .map(|arguments| Probe::new(arguments))
    .collect();
    probes.extend([
        Probe::with(&["info", ARCHIVE, "--json"], Answer::Figures),
        Probe::with(&["verify", ARCHIVE], Answer::Figures),
        // Documents, as an archive of its texts has them: files that were split are others.
        Probe::with(&["restore", ARCHIVE, "-C", FOLDER, "--pieces"], Answer::Folder),
        Probe::with(&["query", ARCHIVE, "-f", QUERIES], Answer::Lines),
        Probe::with(&["word-count", ARCHIVE, "-o", ROWS], Answer::File),
    ]);
    probes.extend(
        [
            &["append", ARCHIVE, document, "--text", " and more"][..],
            &["insert", ARCHIVE, document, "3", "--text", phrase],
            &["delete", ARCHIVE, document, "1", "5"],
            &["replace", ARCHIVE, document, "0", "4", "--text", word],
            &["add", ARCHIVE, ADDED],
            &["remove", ARCHIVE, document],
            &["rename", ARCHIVE, document, "another"],
            &["edit", ARCHIVE, "-f", EDITS],
            &["recompress", ARCHIVE],
            &["index", ARCHIVE, "--index", "fast"],
            &["index", ARCHIVE, "--index", "none", "--view"],
        ]
        .iter()
        .map(|arguments| Probe::editing(arguments)),
    );
    if stored {
        for level in ["dense", "fast"] {
            let arguments = ["transcode", ARCHIVE, "-o", WRITTEN, "--level", level];
            probes.push(Probe::with(&arguments, Answer::Archive(WRITTEN)));
        }
    }
    probes
}

/// The commands that use a stored view.
pub fn on_view() -> Vec<Probe> {
    let all = [
        &["word-count", ARCHIVE][..],
        &["word-count", ARCHIVE, "-i"],
        &["sort", ARCHIVE],
        &["inverted-index", ARCHIVE],
        &["inverted-index", ARCHIVE, "--strategy", "bottom-up"],
        &["term-vector", ARCHIVE],
        &["sequence-count", ARCHIVE],
        &["sequence-count", ARCHIVE, "--per-document", "--n", "2"],
        &["ranked-inverted-index", ARCHIVE],
        &["tfidf", ARCHIVE],
        &["cooccurrence", ARCHIVE],
        &["collocations", ARCHIVE],
        &["inverted-index", ARCHIVE, "--documents", "*1*"],
    ];
    all.iter().map(|arguments| Probe::new(arguments)).collect()
}

/// A task in the pool that was made by it.
pub fn in_pool(task: &[&str], persist: &str) -> Probe {
    let flags = ["--backend", "pool", "--pool", POOL, "--persist", persist];
    let arguments = [task, &flags].concat();
    Probe::new(&arguments)
}

/// Random access in a pool.
pub fn reads_in_pool(asked: &Asked, persist: &str) -> Vec<Probe> {
    let Asked { document, word, phrase } = *asked;
    let mut probes: Vec<Probe> = [
        &["extract", ARCHIVE, document, "5", "40"][..],
        &["search", ARCHIVE, word],
        &["search", ARCHIVE, phrase],
        &["count", ARCHIVE, phrase, "--per-document"],
        &["cat", ARCHIVE, document],
        &["cat", ARCHIVE, "*"],
        &["head", ARCHIVE, document],
        &["kwic", ARCHIVE, phrase, "--words", "3", "--format", "tsv"],
        &["find", ARCHIVE, word, "--format", "tsv"],
        &["sample", ARCHIVE, "-k", "20", "--seed", "1"],
    ]
    .iter()
    .map(|arguments| in_pool(arguments, persist))
    .collect();
    let query = in_pool(&["query", ARCHIVE, "-f", QUERIES], persist);
    probes.push(Probe { answer: Answer::Lines, ..query });
    probes
}

/// The commands that answer without a look at all of a text, however long that is.
pub fn on_endless(asked: &Asked) -> Vec<Probe> {
    let Asked { document, word, phrase } = *asked;
    let all = [
        &["list", ARCHIVE, "--format", "tsv"][..],
        &["head", ARCHIVE, document, "-c", "100"],
        &["extract", ARCHIVE, document, "1000000000000", "40"],
        &["search", ARCHIVE, word, "-m", "3"],
        &["search", ARCHIVE, phrase, "-m", "3"],
        &["count", ARCHIVE, word],
        &["count", ARCHIVE, phrase],
        &["kwic", ARCHIVE, phrase, "-m", "3", "--format", "tsv"],
        &["kwic", ARCHIVE, word, "-m", "3", "--words", "3", "--format", "tsv"],
        &["find", ARCHIVE, word, "--no-snippets", "--format", "tsv"],
        &["sample", ARCHIVE, "-k", "3", "--seed", "1"],
        &["word-count", ARCHIVE],
        &["sequence-count", ARCHIVE],
        &["inverted-index", ARCHIVE],
        &["collocations", ARCHIVE],
    ];
    // What it says has the length of the file in it.
    let info = Probe::with(&["info", ARCHIVE], Answer::Figures);
    let probes = all.iter().map(|arguments| Probe::new(arguments)).chain([info]);
    probes.map(|probe| Probe { reads_all: false, ..probe }).collect()
}
