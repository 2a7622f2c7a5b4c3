//! All sentences at once, and where they may be written.

#[cfg(all(feature = "gpu", feature = "pool"))]
use std::collections::BTreeSet;
#[cfg(all(feature = "gpu", feature = "pool"))]
use std::fmt::Write as _;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use tadoc_core::GrammarError;

use super::*;
#[cfg(all(feature = "gpu", feature = "pool"))]
use crate::failure::message;

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

fn system(kind: ErrorKind) -> io::Error {
    kind.into()
}

fn of_archives() -> Vec<ArchiveError> {
    let path = || PathBuf::from("c.tdc");
    let checksum = |what: &str| ArchiveError::Checksum { what: what.into(), expected: 1, found: 2 };
    let failed = |kind| ArchiveError::JournalFailed {
        path: path(),
        what: "writing failed",
        source: Some(Arc::new(system(kind))),
    };
    vec![
        ArchiveError::NotAnArchive { found: "it looks like a gzip file".into() },
        ArchiveError::UnsupportedVersion { what: "the archive", found: 9, supported: 2 },
        ArchiveError::TooManySegments { most: 1 << 20 },
        ArchiveError::Truncated { what: "the header".into(), needed: 64, available: 40 },
        checksum("section DICT of segment 0"),
        ArchiveError::malformed("section DICT of segment 0: words do not ascend"),
        ArchiveError::Grammar(GrammarError::NotTopological { rule: 7, child: 3 }),
        ArchiveError::NamesTooLong { bytes: 5_000_000_000, most: 4_294_967_295 },
        ArchiveError::MemoryLimit {
            what: "the words of a segment",
            needed: 3 << 20,
            used: 15 << 20,
            limit: 16 << 20,
        },
        ArchiveError::Exists { path: path() },
        ArchiveError::StoredView {
            path: "c.tdc.view".into(),
            source: Box::new(checksum("the stored view")),
        },
        ArchiveError::BytesBehindArchive { stored: 100, length: 120 },
        ArchiveError::UnsupportedJournal { found: 2, supported: 1 },
        ArchiveError::DamagedJournal {
            position: 4096,
            reason: "its checksum does not hold".into(),
            transactions: 3,
            edits: 12,
        },
        failed(ErrorKind::StorageFull),
        failed(ErrorKind::FileTooLarge),
        ArchiveError::Locked { path: path() },
        ArchiveError::Replaced { path: path() },
        ArchiveError::BadEdit { what: "a name is empty" },
        ArchiveError::CountsOnly,
        ArchiveError::BadLength { what: "a sequence", given: 100, least: 1, most: 64 },
        ArchiveError::Unsupported { what: "a sequence of 300 bits".into() },
        ArchiveError::backend(ArchiveError::Cancelled),
        ArchiveError::Cancelled,
        ArchiveError::TemporaryFile {
            folder: "/tmp".into(),
            source: system(ErrorKind::StorageFull),
        },
        ArchiveError::Io { path: path(), source: system(ErrorKind::NotFound) },
    ]
}

fn of_the_engine() -> Vec<Error> {
    let name = || b"log.txt".to_vec();
    let path = || PathBuf::from("c.tdc");
    let not_words = |given: &[u8], count| Error::NotWords {
        given: given.to_vec(),
        count,
        words: String::from_utf8_lossy(given).replace(['-', '+'], " ").trim().into(),
    };
    let damaged = |others| Error::WrongDigest { name: name(), others, expected: 1, found: 2 };
    vec![
        ArchiveError::Locked { path: path() }.into(),
        Error::Io { path: "out".into(), source: system(ErrorKind::PermissionDenied) },
        Error::Io { path: "out".into(), source: system(ErrorKind::FileTooLarge) },
        Error::Exists { path: path() },
        Error::DuplicateName { name: name() },
        Error::BadName { name: name(), reason: "is empty" },
        Error::FileAndFolder { name: b"a".to_vec(), below: b"a/b".to_vec() },
        Error::Changed { path: "log.txt".into() },
        Error::LongLine { path: "log.txt".into(), most: 65536 },
        Error::InArchive {
            archive: path(),
            source: Box::new(Error::NoSuchDocument { name: name() }),
        },
        Error::Ambiguous { name: name(), archives: vec!["a.tdc".into(), "b.tdc".into()] },
        Error::SeveralArchives { archives: 2 },
        Error::IsFolder { name: b"logs".to_vec() },
        Error::BadGlob { glob: b"[a".to_vec(), reason: "unclosed character class".into() },
        Error::NoSuchDocument { name: name() },
        Error::UnsafeName {
            name: b"../a".to_vec(),
            reason: "its name leads out of the folder".into(),
        },
        damaged(0),
        damaged(2),
        Error::WrongIndex { segment: 1 },
        Error::TooLittleMemory { given: 4096, least: 65536 },
        Error::TooMany { what: "documents", most: u32::MAX.into() },
        Error::BadChoice { number: 7, documents: 5 },
        Error::CountsOnly,
        Error::BadParameter { name: "b", given: 2.0, range: "0 to 1" },
        Error::BadLength { what: "a sequence", given: 100, least: 1, most: 64 },
        #[cfg(feature = "gpu")]
        GpuError::NoDevice { why: "there is none".into() }.into(),
        Error::NoGpuBackend,
        #[cfg(feature = "pool")]
        PoolError::InUse { path: "c.pool".into() }.into(),
        Error::NoPool,
        Error::OtherView,
        Error::NoPoolBackend,
        Error::NoReadsInPool,
        Error::UnknownLanguage { given: "klingon".into() },
        Error::NoStopWords { language: "arabic".parse().unwrap() },
        Error::BadPattern { pattern: "a(".into(), reason: "unclosed group".into() },
        Error::UnknownLexer { name: "syllables".into() },
        Error::UnknownBuilder { name: "bisection".into() },
        Error::OffsetPastEnd { name: name(), offset: 11, bytes: 10 },
        Error::RangePastEnd { name: name(), offset: 5, length: 9, left: 5 },
        Error::DocumentExists { name: name() },
        Error::NoSuchNumber { number: 9, next: 4 },
        Error::DocumentTooLong { name: name(), most: 1 << 48 },
        Error::CorpusFull { what: "documents", most: u32::MAX.into() },
        Error::NotInSnapshot { what: "rename" },
        Error::HasEdits { path: path(), edits: 2 },
        Error::NoWord { given: b"--".to_vec() },
        not_words(b"tide-gauge", 2),
        not_words(b"c++", 1),
        Error::EditorFailed { path: path() },
        Error::TransactionOpen { path: path() },
        Error::Threads { source: system(ErrorKind::WouldBlock) },
        Error::Cancelled,
    ]
}

#[cfg(feature = "pool")]
fn of_pools() -> Vec<Error> {
    use PoolError as Error;
    let path = || PathBuf::from("c.pool");
    let errors = vec![
        Error::Io { path: path(), source: system(ErrorKind::PermissionDenied) },
        Error::NoRoom { path: path(), needed: 1 << 30, source: system(ErrorKind::StorageFull) },
        Error::InUse { path: path() },
        Error::NotAPool { path: path() },
        Error::OtherVersion { path: path(), found: 2, supported: 1 },
        Error::OtherArchive { path: path(), expected: [1, 2], found: [3, 4] },
        Error::DamagedHeader { path: path() },
        Error::FailingDevice { path: path() },
        Error::Core(ArchiveError::malformed("the stored view has other documents")),
        Error::Unsupported { what: "a task of more than 4000 phases".into() },
    ];
    errors.into_iter().map(super::Error::Pool).collect()
}

#[cfg(all(feature = "gpu", feature = "pool"))]
fn of_gpus() -> Vec<GpuError> {
    let device = || "Some GPU".to_owned();
    vec![
        GpuError::NoDevice { why: "none is called `x`".into() },
        GpuError::TooLittleMemory { device: device(), needed: 8 << 30, free: 4 << 30 },
        GpuError::TooMuchToMerge { given: 4096, needed: 65536 },
        GpuError::Unsupported { what: "an answer of 5000000000 entries".into() },
        GpuError::Compile { device: device(), module: "sort", log: "line 3: syntax".into() },
        GpuError::Device { device: device(), call: "launching", what: "it is lost".into() },
    ]
}

/// The variants of a crate's `Error`, from its source.
#[cfg(all(feature = "gpu", feature = "pool"))]
fn variants(of: &str) -> BTreeSet<String> {
    let source = fs::read_to_string(crates().join(of).join("src/error.rs")).unwrap();
    let (_, body) = source.split_once("pub enum Error {\n").unwrap();
    let (body, _) = body.split_once("\n}\n").unwrap();
    let lines = body.lines().filter_map(|line| line.strip_prefix("    "));
    let variants = lines.filter(|line| line.starts_with(|first: char| first.is_ascii_uppercase()));
    variants.map(|line| variant(line).to_owned()).collect()
}

/// The first word: what `Debug` shows of a variant, and what its definition begins with.
#[cfg(all(feature = "gpu", feature = "pool"))]
fn variant(text: &str) -> &str {
    text.split(|character: char| !character.is_ascii_alphanumeric()).next().unwrap()
}

/// A chapter of the file: a sentence of each variant, of which none is missing.
#[cfg(all(feature = "gpu", feature = "pool"))]
fn chapter<E: StdError + 'static>(
    of: &str,
    errors: &[E],
    strip: &str,
    left_out: &[&str],
) -> String {
    let mut text = format!("# {of}\n");
    let mut told = BTreeSet::new();
    for error in errors {
        let debug = format!("{error:?}");
        let name = variant(debug.strip_prefix(strip).unwrap_or(&debug)).to_owned();
        let sentence = message(error);
        assert!(!sentence.contains('\n'), "{sentence}");
        write!(text, "\n{name}\n    {sentence}\n").unwrap();
        told.insert(name);
    }
    told.extend(left_out.iter().map(|&name| name.to_owned()));
    assert_eq!(told, variants(of), "{of}");
    text
}

/// Every error that the command can meet, as it is shown: `tests/errors.txt`. `UPDATE_ERRORS` writes
/// it.
#[cfg(all(feature = "gpu", feature = "pool"))]
#[test]
fn every_error_says_what_it_is_and_what_to_do() {
    let chapters = [
        chapter("core", &of_archives(), "", &[]),
        chapter("engine", &of_the_engine(), "", &[]),
        // A pool that is cancelled is `tadoc::Error::Cancelled`.
        chapter("pool", &of_pools(), "Pool(", &["Cancelled"]),
        chapter("gpu", &of_gpus(), "", &[]),
    ];
    let text = chapters.join("\n");
    let path = crates().join("cli/tests/errors.txt");
    if std::env::var_os("UPDATE_ERRORS").is_some() {
        fs::write(&path, &text).unwrap();
    }
    let kept = fs::read_to_string(&path).unwrap();
    for (line, kept) in text.lines().zip(kept.lines()) {
        assert_eq!(line, kept, "tests/errors.txt is another; UPDATE_ERRORS=1 writes it");
    }
    assert_eq!(text.lines().count(), kept.lines().count());
}

/// Nothing is told twice: a cause is in the text of an error or behind it.
#[test]
fn causes_are_in_a_text_or_a_source() {
    let of_archives = of_archives().into_iter().map(anyhow::Error::from);
    let of_the_engine = of_the_engine().into_iter().map(anyhow::Error::from);
    #[cfg(feature = "pool")]
    let of_the_engine = of_the_engine.chain(of_pools().into_iter().map(anyhow::Error::from));
    let mut with_causes = 0;
    for error in of_archives.chain(of_the_engine) {
        let texts: Vec<String> = error.chain().map(ToString::to_string).collect();
        for pair in texts.windows(2) {
            assert!(!pair[0].contains(&pair[1]), "{pair:?}");
            with_causes += 1;
        }
    }
    assert!(with_causes >= 6, "{with_causes}");
}

/// The string literals of a file of Rust, with the numbers of their lines; comments, characters and
/// the module of tests are passed over.
fn literals(source: &str) -> Vec<(usize, String)> {
    let source = source.split("#[cfg(test)]\nmod ").next().unwrap();
    let (mut found, mut line) = (Vec::new(), 1);
    let mut rest = source;
    while let Some(first) = rest.chars().next() {
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if let Some(raw) = rest.strip_prefix("r#\"") {
            let end = raw.find("\"#").unwrap();
            found.push((line, raw[..end].to_owned()));
            end + 5
        } else if first == '"' {
            let mut escaped = false;
            let end = rest[1..].find(|character| {
                let is_end = character == '"' && !escaped;
                escaped = character == '\\' && !escaped;
                is_end
            });
            let end = end.unwrap();
            found.push((line, rest[1..=end].to_owned()));
            end + 2
        } else if let Some(quoted) =
            ["'\"'", "'\\\"'", "b'\"'"].into_iter().find(|quoted| rest.starts_with(quoted))
        {
            quoted.len()
        } else {
            first.len_utf8()
        };
        line += rest[..length].matches('\n').count();
        rest = &rest[length..];
    }
    found
}

/// Whether a text names a flag or a subcommand.
fn names_command_line(text: &str) -> bool {
    let is_flag = |at: usize| {
        let is_alone =
            !text[..at].ends_with(|before: char| before == '-' || before.is_alphanumeric());
        is_alone && text[at + 2..].starts_with(|first: char| first.is_ascii_lowercase())
    };
    text.match_indices("--").any(|(at, _)| is_flag(at)) || text.contains("`tadoc ")
}

fn rust_files(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let is_of_tests = path.file_stem().is_some_and(|name| name == "tests");
        match path.is_dir() {
            true if !is_of_tests => rust_files(&path, files),
            false if !is_of_tests && path.extension().is_some_and(|ending| ending == "rs") => {
                files.push(path);
            }
            _ => {}
        }
    }
}

/// What is on the command line is known to the command alone.
#[test]
fn libraries_name_no_flags_and_no_subcommands() {
    // The name of a task, as it is typed; options of NVIDIA's compiler.
    let allowed =
        ["sequence-count --per-document", "--gpu-architecture={architecture}", "--std=c++17"];
    let mut scanned = 0;
    for library in ["core", "engine", "tasks", "pool", "gpu", "tadoc"] {
        let mut files = Vec::new();
        rust_files(&crates().join(library).join("src"), &mut files);
        for file in files {
            for (line, literal) in literals(&fs::read_to_string(&file).unwrap()) {
                let is_fine = allowed.contains(&&*literal) || !names_command_line(&literal);
                assert!(is_fine, "{}:{line}: {literal:?}", file.display());
                scanned += 1;
            }
        }
    }
    assert!(scanned > 1000, "{scanned}");
}

#[test]
fn the_scan_finds_what_it_looks_for() {
    let source = "// \"--a\"\nfn f() { g('\"', \"use \\\"--memory\\\"\",\n \
                  r#\"run `tadoc list`\"#) }\n\
                  #[cfg(test)]\nmod tests { const A: &str = \"--b\"; }";
    let found = literals(source);
    assert_eq!(found, [(2, "use \\\"--memory\\\"".into()), (3, "run `tadoc list`".into())]);
    assert!(found.iter().all(|(_, literal)| names_command_line(literal)));
    for fine in ["a -- b", "---", "a--b", "tadoc lists", "1 --"] {
        assert!(!names_command_line(fine), "{fine}");
    }
}
