//! Archives that every reader restores.

use std::path::Path;

use anyhow::{Context, Result};
use tadoc_core::archive::{
    Archive, ArchiveWriter, Digester, Document, DocumentTable, EncodedSegment, PieceHasher, Summary,
};
use tadoc_engine::access::Index;
use tadoc_engine::{
    Builder, CompressOptions, Level, Lexer, NamesFrom, SegmentInfo, Split, Timestamp,
};

use super::container::{Container, NO_SEGMENT, Section};
use super::{Expected, compress, journal};
use crate::files;

/// An archive and what it must be restored to.
pub struct Good {
    pub name: &'static str,
    pub bytes: Vec<u8>,
    pub documents: Vec<Expected>,
}

/// Makes them all; `sample` is the sample corpus, `work` a folder for what is in between.
pub fn all(sample: &Path, work: &Path) -> Result<Vec<Good>> {
    let sample = read_folder(sample)?;
    let defaults = CompressOptions::default();
    let whitespace = CompressOptions { lexer: Lexer::Whitespace, ..defaults.clone() };
    let sequitur = CompressOptions { builder: Builder::Sequitur, ..defaults.clone() };
    let mut all = Vec::new();
    let mut add = |name, mut documents: Vec<Expected>, options: &CompressOptions| -> Result<()> {
        let path = compress(work, name, &documents, options)?;
        documents.sort_by(|left, right| left.name.cmp(&right.name));
        if options.split == Split::Lines {
            documents = documents.iter().flat_map(lines).collect();
            documents.sort_by(|left, right| left.name.cmp(&right.name));
        }
        all.push(Good { name, bytes: std::fs::read(path)?, documents });
        Ok(())
    };
    add("sample", sample.clone(), &defaults)?;
    add("whitespace", sample.clone(), &whitespace)?;
    add("sequitur", sample.clone(), &sequitur)?;
    add("one-line", vec![Expected::new("hamlet.txt", "to be or not to be")], &defaults)?;
    add("no-documents", vec![], &defaults)?;
    add("empty-document", vec![Expected::new("empty", "")], &defaults)?;
    add(
        "empty-documents",
        ["a", "b", "c"].map(|name| Expected::new(name, "")).to_vec(),
        &defaults,
    )?;
    add("attributes", attributes(), &defaults)?;
    add("bytes", bytes(), &defaults)?;
    add("many-words", vec![Expected::new("words.txt", many_words())], &defaults)?;
    add("pieces", pieces(), &defaults)?;
    let split = CompressOptions { split: Split::Lines, ..defaults.clone() };
    let log = "start\nstop\n\nstart\nstop\nno line feed at the end";
    let logs = vec![Expected::new("b.log", log), Expected::new("a.log", "one line\r\n")];
    add("lines", logs, &split)?;
    // A file without time and mode, one with both, and an empty one; names are relative to the
    // archive's folder.
    let split = CompressOptions {
        names_from: Some(NamesFrom::new(work.canonicalize()?, Vec::new())),
        ..split
    };
    let file = |name: &str, text: &str, seconds, nanoseconds, mode| Expected {
        modified: Some(Timestamp { seconds, nanoseconds }),
        mode: Some(mode),
        ..Expected::new(name, text)
    };
    let files = vec![
        Expected::new("a", "one\ntwo\n\nno line feed at the end"),
        file("a.txt", "only\r\n", 1_700_000_000, 123_456_789, 0o640),
        file("empty", "", -1, 999_999_999, 0o600),
    ];
    add("split-lines", files, &split)?;
    let dense = CompressOptions { level: Level::Dense, ..defaults.clone() };
    add("dense-sample", sample.clone(), &dense)?;
    add("dense-one-line", vec![Expected::new("hamlet.txt", "to be or not to be")], &dense)?;
    add("dense-empty-document", vec![Expected::new("empty", "")], &dense)?;
    let among = [("a", ""), ("b", "to be or not"), ("c", ""), ("d", "or not to be or"), ("e", "")];
    let among = among.map(|(name, text)| Expected::new(name, text)).to_vec();
    add("dense-empty-documents", among, &dense)?;
    add("dense-predicted", vec![Expected::new("grid.txt", grid())], &dense)?;

    // Archives from before there were origins.
    let lines = all.iter_mut().find(|archive| archive.name == "lines").expect("just made");
    let mut without = Container::parse(&lines.bytes);
    without.sections.retain(|section| section.kind != *b"ORIG");
    lines.bytes = without.to_bytes();
    let mut optional = Container::parse(&all[3].bytes);
    let unknown = |kind: &[u8; 4], segment| Section {
        kind: *kind,
        segment,
        flags: 1,
        bytes: b"passed over".to_vec(),
    };
    optional.sections.insert(0, unknown(b"XTRA", NO_SEGMENT));
    optional.sections.insert(3, unknown(b"IDX9", 0));
    let documents = all[3].documents.clone();
    all.push(Good { name: "optional-sections", bytes: optional.to_bytes(), documents });
    let with_segments = segments("segments", &sample, work, &defaults)?;
    for (name, index) in [("index-small", Index::Small), ("index-fast", Index::Fast)] {
        let path = work.join(format!("{name}.tdc"));
        std::fs::write(&path, &with_segments.bytes)?;
        tadoc_engine::access::store(&path, index, &())?;
        let documents = with_segments.documents.clone();
        all.push(Good { name, bytes: std::fs::read(path)?, documents });
    }
    let dense_segments = segments("dense-segments", &sample, work, &dense)?;
    for (name, stored) in [("journal-segments", &with_segments), ("journal-dense", &dense_segments)]
    {
        all.push(journal::of_segments(name, stored, work)?);
    }
    all.push(with_segments);
    all.push(dense_segments);
    all.extend(journal::good(work)?);
    Ok(all)
}

fn read_folder(folder: &Path) -> Result<Vec<Expected>> {
    let mut documents = Vec::new();
    for path in files::tree(folder)?.files {
        let name = path.strip_prefix(folder)?.to_str().context("sample names are UTF-8")?;
        documents.push(Expected::new(name, std::fs::read(&path)?));
    }
    Ok(documents)
}

/// One document for each line.
fn lines(document: &Expected) -> Vec<Expected> {
    let lines = document.bytes.split_inclusive(|&byte| byte == b'\n').enumerate();
    lines
        .map(|(index, line)| {
            let name = [&document.name[..], format!(":{:010}", index + 1).as_bytes()].concat();
            Expected { name, bytes: line.to_vec(), ..document.clone() }
        })
        .collect()
}

/// Names of many kinds, times before and after 1970 and far away, modes.
fn attributes() -> Vec<Expected> {
    let time = |seconds, nanoseconds| Some(Timestamp { seconds, nanoseconds });
    let document = |name: &[u8], modified, mode| Expected {
        modified,
        mode,
        ..Expected::new(name, format!("text of {}\n", name.escape_ascii()))
    };
    vec![
        document(b"1969", time(-1, 999_999_999), Some(0o644)),
        document(b"1970", time(0, 0), Some(0)),
        document(b"far/future", time(1 << 40, 1), Some(0o7777)),
        document(b"far/past", time(-(1 << 33), 0), None),
        document(b"no time", None, Some(0o755)),
        document(b"not utf-8: \xff\xfe", time(1_700_000_000, 123_456_789), Some(0o600)),
        document("ünïcödé/日本語".as_bytes(), None, None),
        document(b"white\tspace\nand \\ back\\slashes\r", time(1, 0), None),
        document(&[b"deep/".repeat(40), b"file".to_vec()].concat(), None, None),
        document(&[b"deep/".repeat(40), b"file2".to_vec()].concat(), None, None),
    ]
}

/// Every byte as text and as separator, digits to be packed, long words with long shared beginnings.
fn bytes() -> Vec<Expected> {
    let every: Vec<u8> = (0..=255).collect();
    let backwards: Vec<u8> = (0..=255).rev().flat_map(|byte| [byte, b'x', byte, b' ']).collect();
    let digests: String = (1..60_u64)
        .map(|number| format!("{:016x}{:07x} ", number.wrapping_mul(0x9E37_79B9_7F4A_7C15), number))
        .collect();
    let word = "long".repeat(20);
    let long = format!("{word}a {word}b {word}bc {word}{word} {word}\n");
    vec![
        Expected::new("every", every),
        Expected::new("backwards", backwards),
        Expected::new("digests", digests),
        Expected::new("long words", long),
        Expected::new("nul", vec![0; 5000]),
        Expected::new("line ends", "a\r\nb\rc\n\n\r\n"),
        Expected::new("latin-1", &b"caf\xe9 na\xefve caf\xe9"[..]),
    ]
}

/// More words than fit into one block of a dictionary, or of items and symbols.
fn many_words() -> String {
    (0..140_000).map(|number| format!(" w{number:06}")).collect()
}

/// No pair of words comes twice, and yet each is told by what is two words behind it: more symbols than
/// streams of fixed models could hold in so many bytes.
fn grid() -> String {
    let row = |row| (0..200).map(move |cell| format!("column{cell} row{row} "));
    (0..200).flat_map(row).collect()
}

/// Longer than one piece of a digest; exactly one piece; short ones in between.
fn pieces() -> Vec<Expected> {
    let line = b"a line that comes again and again, as lines do 0123456789 abcdef";
    let repeated = |bytes: usize| line.iter().copied().cycle().take(bytes).collect::<Vec<u8>>();
    vec![
        Expected::new("1 short", "short"),
        Expected::new("2 one piece", repeated(8 << 20)),
        Expected::new("3 just below a run", repeated(4095)),
        Expected::new("4 short", "x"),
        Expected::new("5 a byte over", repeated((8 << 20) + 1)),
        Expected::new("6 short", "y"),
    ]
}

/// Text in four segments: a document ends with the first, one goes on over two, and one over three.
fn segments(
    name: &'static str,
    sample: &[Expected],
    work: &Path,
    options: &CompressOptions,
) -> Result<Good> {
    let mail: Vec<Expected> =
        sample.iter().filter(|document| document.name.starts_with(b"mail/")).cloned().collect();
    let [first, second, third, fourth, fifth] = &mail[..] else {
        anyhow::bail!("the sample has {} mails", mail.len());
    };
    let part = |document: &Expected, from: usize, to: usize| {
        let length = document.bytes.len();
        Expected {
            bytes: document.bytes[length * from / 4..length * to / 4].to_vec(),
            ..document.clone()
        }
    };
    let cuts = [
        (0, vec![first.clone()]),
        (1, vec![second.clone(), part(third, 0, 2)]),
        (2, vec![part(third, 2, 4), fourth.clone(), part(fifth, 0, 1)]),
        (4, vec![part(fifth, 1, 3)]),
        (4, vec![part(fifth, 3, 4)]),
    ];
    let path = work.join(format!("{name}.tdc"));
    let mut writer = ArchiveWriter::create(&path)?;
    let mut summary = Summary::default();
    for (number, (first_document, documents)) in cuts.iter().enumerate() {
        let part = compress(work, &format!("segment-{number}"), documents, options)?;
        let part = Archive::open(&part)?;
        let entries = part.dictionary(0)?.entries(u64::MAX)?;
        let level = part.summary().level;
        writer.add_segment(&EncodedSegment::new(
            &part.grammar(0)?,
            &entries.words(),
            &entries.separators(),
            level,
        ))?;
        let info = SegmentInfo { first_document: *first_document, ..part.summary().segments[0] };
        let mut segments = std::mem::take(&mut summary.segments);
        segments.push(info);
        summary = Summary { segments, ..part.summary().clone() };
    }
    let table = table_of(&mail);
    summary.documents = mail.len() as u64;
    summary.text_bytes = mail.iter().map(|document| document.bytes.len() as u64).sum();
    writer.finish(&table, &summary, true)?;
    Ok(Good { name, bytes: std::fs::read(path)?, documents: mail })
}

/// The table of documents, with their digests.
pub fn table_of(documents: &[Expected]) -> DocumentTable {
    let mut table = DocumentTable::default();
    let mut digester = Digester::default();
    for (number, document) in documents.iter().enumerate() {
        let mut hasher = PieceHasher::default();
        hasher.update(&document.bytes);
        let last = number + 1 == documents.len();
        let length = document.bytes.len() as u64;
        table.digests.extend(digester.document(length, &hasher.finish(), last));
        table.documents.push(Document {
            name: document.name.clone(),
            bytes: length,
            modified: document.modified,
            mode: document.mode,
        });
    }
    table
}
