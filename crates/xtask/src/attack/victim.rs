//! What is attacked: archives of every kind, stored views and pools, made by the command itself from the sample corpus.
//! All are small, so that a mutant is answered in milliseconds. Making them costs about a hundred runs of the command.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use tadoc_core::Grammar;
use tadoc_core::archive::dictionary::{Entry, Forms};
use tadoc_core::archive::{ArchiveWriter, Document, DocumentTable, EncodedSegment, Summary};
use tadoc_engine::{Level, SegmentInfo};

use super::archive;
use super::child;
use super::probe::{self, ARCHIVE, Asked, Given, POOL, Probe, VIEW};

/// The file of a victim that is changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    Archive,
    View,
    Pool,
}

impl Target {
    /// The file's name.
    pub fn file(self) -> &'static str {
        match self {
            Self::Archive => ARCHIVE,
            Self::View => VIEW,
            Self::Pool => POOL,
        }
    }
}

/// Files by their names.
pub type Files = Vec<(&'static str, Vec<u8>)>;

/// Files that are whole, and what probes give on them.
pub struct Reference {
    pub files: Files,
    /// By the number of the probe; asked when they are needed first.
    pub given: Vec<OnceLock<Option<Given>>>,
}

impl Reference {
    pub fn new(files: Files, probes: usize) -> Self {
        Self { files, given: (0..probes).map(|_| OnceLock::new()).collect() }
    }
}

/// Something to attack.
pub struct Victim {
    pub kind: &'static str,
    pub target: Target,
    pub asked: Asked,
    pub probes: Vec<Probe>,
    /// The victim itself; then what it was after each of its transactions, which a torn journal may be taken for.
    pub references: Vec<Reference>,
}

impl Victim {
    fn new(
        kind: &'static str,
        target: Target,
        files: Files,
        asked: Asked,
        probes: Vec<Probe>,
    ) -> Self {
        let count = probes.len();
        let mut references = vec![Reference::new(files, count)];
        if target == Target::Archive {
            let before = archive::prefixes(references[0].file(ARCHIVE));
            references.extend(
                before.into_iter().map(|bytes| Reference::new(vec![(ARCHIVE, bytes)], count)),
            );
        }
        Self { kind, target, asked, probes, references }
    }

    /// The bytes of the file that is changed.
    pub fn bytes(&self) -> &[u8] {
        self.references[0].file(self.target.file())
    }
}

impl Reference {
    fn file(&self, name: &str) -> &[u8] {
        let found = self.files.iter().find(|(other, _)| *other == name);
        &found.expect("a victim has its files").1
    }
}

/// Writes files into a folder.
pub fn write_files(folder: &Path, files: &Files) -> Result<()> {
    for (name, bytes) in files {
        let path = folder.join(name);
        fs::write(&path, bytes).with_context(|| format!("writing {}", path.display()))?;
    }
    Ok(())
}

const MAIL: Asked =
    Asked { document: "mail/001-readings-too-high.txt", word: "gauge", phrase: "the gauge" };

/// A folder in which victims are made.
struct Workshop<'w> {
    binary: &'w Path,
    folder: PathBuf,
}

impl Workshop<'_> {
    /// Runs the command, which must end well.
    fn run(&self, arguments: &[&str]) -> Result<()> {
        let arguments: Vec<String> = arguments.iter().map(|&word| word.to_owned()).collect();
        let run = child::run(self.binary, &self.folder, &arguments, Duration::from_secs(120))?;
        ensure!(
            run.code() == Some(0),
            "`tadoc {}` gave {:?}: {}",
            arguments.join(" "),
            run.end,
            run.stderr
        );
        Ok(())
    }

    /// Runs several commands, written with spaces between their words.
    fn run_all(&self, commands: &[&str]) -> Result<()> {
        commands.iter().try_for_each(|line| {
            let words: Vec<&str> = line.split(' ').collect();
            self.run(&words)
        })
    }

    fn read(&self, names: &[&'static str]) -> Result<Files> {
        let read = |&name: &&'static str| -> Result<_> {
            let path = self.folder.join(name);
            Ok((name, fs::read(&path).with_context(|| format!("reading {}", path.display()))?))
        };
        names.iter().map(read).collect()
    }

    /// An archive that a command has just made.
    fn archive(&self, kind: &'static str, asked: Asked) -> Result<Victim> {
        let files = self.read(&[ARCHIVE])?;
        let probes = probe::on_archive(&asked, archive::prefixes(&files[0].1).is_empty());
        fs::remove_file(self.folder.join(ARCHIVE))?;
        Ok(Victim::new(kind, Target::Archive, files, asked, probes))
    }
}

/// Makes all victims in a folder of their own.
pub fn all(binary: &Path, sample: &Path, folder: &Path) -> Result<Vec<Victim>> {
    let workshop = Workshop { binary, folder: folder.to_owned() };
    write_texts(sample, folder)?;
    let mut victims = archives(&workshop)?;
    victims.extend(journals(&workshop)?);
    victims.extend(views(&workshop)?);
    victims.extend(pools(&workshop)?);
    Ok(victims)
}

/// The texts that victims are made of.
fn write_texts(sample: &Path, folder: &Path) -> Result<()> {
    let read = |name: &str| {
        let path = sample.join(name);
        fs::read(&path).with_context(|| format!("reading {}", path.display()))
    };
    let write = |name: &str, bytes: &[u8]| crate::files::write(&folder.join(name), bytes);
    for name in [
        "001-readings-too-high.txt",
        "002-re-readings-too-high.txt",
        "003-re-readings-too-high.txt",
        "004-gateway-maintenance.txt",
        "005-bestellung-akku.txt",
    ] {
        write(&format!("text/mail/{name}"), &read(&format!("mail/{name}"))?)?;
    }
    let log = read("logs/gateway-2024-05-01.log")?;
    write("text/gateway.log", &log[..log.len().min(3000)])?;
    write(
        "text/ja.md",
        &read("manual/ja/operation.md").or_else(|_| read("manual/de/operation.md"))?,
    )?;
    write("lines/a.log", &log[..log.len().min(4000)])?;
    for name in ["a", "c", "d"] {
        write(&format!("empty/{name}"), b"")?;
    }
    write("empty/b", b"the gauge and the tide\n")?;
    let mut binary: Vec<u8> = (0..=255).cycle().take(3000).collect();
    binary.extend((0..2000_u64).flat_map(|n| n.wrapping_mul(0x9E37_79B9_7F4A_7C15).to_le_bytes()));
    binary.extend(b" the gauge \x00\xFF the gauge\n");
    write("binary/b", &binary)?;
    let digits: String = (1..200_u64)
        .map(|n| format!("the gauge {:016x}{n:07x}\n", n.wrapping_mul(0x9E37_79B9_7F4A_7C15)))
        .collect();
    write("binary/digits", digits.as_bytes())?;
    let mail = read("mail/001-readings-too-high.txt")?;
    write("repetitive/letters", &mail.repeat(700))
}

/// Archives without edits.
fn archives(workshop: &Workshop<'_>) -> Result<Vec<Victim>> {
    let mut victims = Vec::new();
    let compress = "compress text -o a.tdc";
    for (kind, commands) in [
        ("fast", &["compress text -o a.tdc"][..]),
        ("dense", &["compress text -o a.tdc --level dense"]),
        ("whitespace", &["compress text -o a.tdc --lexer whitespace"]),
        ("sequitur", &["compress text -o a.tdc --builder sequitur"]),
        ("index small", &[compress, "index a.tdc --index small"]),
        ("index fast", &[compress, "index a.tdc --index fast"]),
    ] {
        workshop.run_all(commands)?;
        victims.push(workshop.archive(kind, MAIL)?);
    }
    for (kind, document, command) in [
        ("lines", "a.log:0000000002", "compress lines --split lines -o a.tdc"),
        ("empty", "b", "compress empty -o a.tdc"),
        ("binary", "digits", "compress binary -o a.tdc"),
        ("repetitive", "letters", "compress repetitive -o a.tdc"),
    ] {
        workshop.run_all(&[command])?;
        let word = if kind == "lines" { "INFO" } else { "gauge" };
        let phrase = if kind == "lines" { "INFO gateway" } else { "the gauge" };
        victims.push(workshop.archive(kind, Asked { document, word, phrase })?);
    }
    let path = workshop.folder.join(ARCHIVE);
    for (kind, level, index) in [
        ("segments", Level::Fast, "none"),
        ("segments dense", Level::Dense, "none"),
        ("segments index", Level::Fast, "fast"),
    ] {
        write_segments(workshop, &path, level)?;
        if index != "none" {
            workshop.run(&["index", ARCHIVE, "--index", index])?;
        }
        victims.push(workshop.archive(kind, MAIL)?);
    }
    write_doubling(&path)?;
    let files = workshop.read(&[ARCHIVE])?;
    fs::remove_file(&path)?;
    victims.push(Victim::new(
        "doubling",
        Target::Archive,
        files,
        DOUBLING,
        probe::on_endless(&DOUBLING),
    ));
    Ok(victims)
}

/// Archives with a journal.
fn journals(workshop: &Workshop<'_>) -> Result<Vec<Victim>> {
    let mut victims = Vec::new();
    let edits = [
        "compress text -o a.tdc",
        "append a.tdc mail/001-readings-too-high.txt --text the-gauge",
        "insert a.tdc mail/002-re-readings-too-high.txt 7 --text gauge",
        "delete a.tdc gateway.log 10 300",
        "replace a.tdc mail/003-re-readings-too-high.txt 4 9 --text tide",
        "add a.tdc empty",
        "rename a.tdc ja.md j.md",
        "remove a.tdc mail/004-gateway-maintenance.txt",
    ];
    workshop.run_all(&edits)?;
    victims.push(workshop.archive("journal", MAIL)?);
    workshop.run_all(&edits)?;
    workshop.run(&["index", ARCHIVE, "--index", "fast"])?;
    let mut torn = workshop.read(&[ARCHIVE])?.remove(0).1;
    torn.truncate(torn.len() - 20);
    fs::write(workshop.folder.join(ARCHIVE), torn)?;
    victims.push(workshop.archive("journal torn", MAIL)?);
    workshop.run_all(&[
        "compress text -o a.tdc --level dense",
        "add a.tdc repetitive",
        "add a.tdc binary",
        "append a.tdc b --text gauge",
    ])?;
    victims.push(workshop.archive("journal packed", MAIL)?);
    Ok(victims)
}

/// Views beside an archive, with and without a journal.
fn views(workshop: &Workshop<'_>) -> Result<Vec<Victim>> {
    let mut victims = Vec::new();
    let compress = "compress text -o a.tdc";
    let append = "append a.tdc ja.md --text gauge";
    let lines = "compress lines --split lines -o a.tdc";
    let store = "index a.tdc --view";
    for (kind, commands) in [
        ("view", &[compress, store][..]),
        ("view of edits", &[compress, append, store]),
        ("view of lines", &[lines, store]),
    ] {
        workshop.run_all(commands)?;
        let files = workshop.read(&[ARCHIVE, VIEW])?;
        victims.push(Victim::new(kind, Target::View, files, MAIL, probe::on_view()));
        fs::remove_file(workshop.folder.join(ARCHIVE))?;
        fs::remove_file(workshop.folder.join(VIEW))?;
    }
    Ok(victims)
}

/// Pools of each task and of random access.
fn pools(workshop: &Workshop<'_>) -> Result<Vec<Victim>> {
    let mut victims = Vec::new();
    workshop.run_all(&["compress text -o a.tdc"])?;
    let tasks: [(&'static str, &[&str], &str); 10] = [
        ("pool word-count", &["word-count", ARCHIVE], "phase"),
        ("pool sort", &["sort", ARCHIVE, "--strategy", "bottom-up"], "operation"),
        ("pool inverted-index", &["inverted-index", ARCHIVE, "--strategy", "top-down"], "phase"),
        (
            "pool inverted-index",
            &["inverted-index", ARCHIVE, "--strategy", "bottom-up"],
            "operation",
        ),
        ("pool term-vector", &["term-vector", ARCHIVE], "none"),
        ("pool sequence-count", &["sequence-count", ARCHIVE], "operation"),
        ("pool sequence-count", &["sequence-count", ARCHIVE, "--strategy", "bottom-up"], "phase"),
        (
            "pool per document",
            &["sequence-count", ARCHIVE, "--per-document", "--n", "2", "--min-count", "2"],
            "phase",
        ),
        ("pool ranked", &["ranked-inverted-index", ARCHIVE], "phase"),
        ("pool ranked", &["ranked-inverted-index", ARCHIVE, "--n", "1"], "operation"),
    ];
    let pool = workshop.folder.join(POOL);
    for (kind, task, persist) in tasks {
        let maker = probe::in_pool(task, persist);
        workshop.run(&maker.arguments.iter().map(String::as_str).collect::<Vec<_>>())?;
        // Another task finds the view and the base that the first one has made.
        let probes = vec![maker.clone(), maker, probe::in_pool(&["sort", ARCHIVE], "phase")];
        let files = workshop.read(&[ARCHIVE, POOL])?;
        victims.push(Victim::new(kind, Target::Pool, files, MAIL, probes));
        fs::remove_file(&pool)?;
    }
    for (kind, persist) in [("pool access", "phase"), ("pool access segments", "operation")] {
        if kind == "pool access segments" {
            write_segments(workshop, &workshop.folder.join(ARCHIVE), Level::Fast)?;
        }
        let probes = probe::reads_in_pool(&MAIL, persist);
        workshop.run(&probes[0].arguments.iter().map(String::as_str).collect::<Vec<_>>())?;
        // Every segment is there once it was read.
        workshop.run(&probes[1].arguments.iter().map(String::as_str).collect::<Vec<_>>())?;
        let files = workshop.read(&[ARCHIVE, POOL])?;
        victims.push(Victim::new(kind, Target::Pool, files, MAIL, probes));
        fs::remove_file(&pool)?;
    }
    Ok(victims)
}

/// Writes an archive with a segment for each of three documents. The command makes several segments only of text that
/// is larger than all that is attacked here.
fn write_segments(workshop: &Workshop<'_>, path: &Path, level: Level) -> Result<()> {
    use crate::golden::{Expected, compress, table_of};
    let mut documents = Vec::new();
    for name in ["gateway.log", "ja.md", "mail/001-readings-too-high.txt"] {
        documents.push(Expected::new(name, fs::read(workshop.folder.join("text").join(name))?));
    }
    let options = tadoc_engine::CompressOptions { level, ..Default::default() };
    let mut writer = ArchiveWriter::create(path)?;
    let mut segments = Vec::new();
    let mut summary = Summary::default();
    for (number, document) in documents.iter().enumerate() {
        let part = compress(&workshop.folder, "segment", std::slice::from_ref(document), &options)?;
        let part = tadoc_core::archive::Archive::open(&part)?;
        let entries = part.dictionary(0)?.entries(u64::MAX)?;
        let encoded =
            EncodedSegment::new(&part.grammar(0)?, &entries.words(), &entries.separators(), level);
        writer.add_segment(&encoded)?;
        summary = part.summary().clone();
        segments.push(SegmentInfo { first_document: number as u64, ..summary.segments[0] });
    }
    summary.documents = documents.len() as u64;
    summary.text_bytes = segments.iter().map(|segment| segment.text_bytes).sum();
    summary.segments = segments;
    writer.finish(&table_of(&documents), &summary, true)?;
    Ok(())
}

const DOUBLING: Asked = Asked { document: "endless", word: "gauge", phrase: "the gauge" };

/// Writes an archive of less than a kilobyte whose text has 2^41 bytes and more: each rule is the next one twice.
fn write_doubling(path: &Path) -> Result<()> {
    const RULES: u32 = 38;
    // Token 0 is ` gauge`, token 1 is ` the`; the last rule is both.
    let mut symbols = vec![2, 2];
    let mut starts = vec![2];
    for rule in 1..RULES {
        symbols.extend([2 + rule, 2 + rule]);
        starts.push(symbols.len() as u32);
    }
    symbols.extend([1, 0]);
    starts.push(symbols.len() as u32);
    let text_bytes = 10_u64 << RULES;
    let Ok(grammar) = Grammar::new(2, symbols, starts, vec![0, 2]) else {
        bail!("the doubling grammar is none");
    };
    let words = [b"gauge".as_slice(), b"the"].map(|bytes| Entry { bytes, forms: Forms::Spaced });
    let segment = SegmentInfo {
        documents: 1,
        text_bytes,
        tokens: 2_u64 << RULES,
        token_types: 2,
        words: 2,
        rules: RULES.into(),
        symbols: 2 + 2 * u64::from(RULES),
        root_symbols: 2,
        depth: RULES.into(),
        ..SegmentInfo::default()
    };
    let mut writer = ArchiveWriter::create(path)?;
    writer.add_segment(&EncodedSegment::new(&grammar, &words, &[], Level::Fast))?;
    let document =
        Document { name: b"endless".to_vec(), bytes: text_bytes, modified: None, mode: None };
    let table = DocumentTable { documents: vec![document], digests: vec![0] };
    let summary = Summary {
        written_by: "xtask attack".into(),
        lexer: "words".into(),
        builder: "repair".into(),
        level: Level::Fast,
        documents: 1,
        text_bytes,
        segments: vec![segment],
        origin: None,
    };
    writer.finish(&table, &summary, true)?;
    Ok(())
}
