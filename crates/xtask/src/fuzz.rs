//! `cargo xtask fuzz`: the fuzzers of `fuzz/`, with cargo-fuzz on the stable toolchain. Building them
//! takes some minutes, and so does installing cargo-fuzz, once.
//!
//! Every run starts from seeds that are made of the case corpus, so they are never of an old format, and
//! from those that are committed in `fuzz/seeds`: inputs that once found something.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use tadoc_core::archive::{Edit, JournalWriter};
use tadoc_core::storage::SimulatedStorage;
use tadoc_engine::access::Index;
use tadoc_engine::{Builder, CompressOptions, Corpus, Input, Level, Lexer, Source, Timestamp};
use tadoc_oracle::Case;

use crate::files;
use crate::project::Project;

/// The fuzzers.
pub const TARGETS: [&str; 10] = [
    "lexer",
    "builders",
    "archive",
    "index",
    "journal",
    "view",
    "pool",
    "round_trip",
    "grep",
    "operations",
];
/// Patterns that texts are searched for first.
const PATTERNS: [&str; 12] = [
    "the",
    "^$",
    "$",
    r"\bto\b",
    r"[A-Z][a-z]+",
    r"\w+\s\w+$",
    r"^\s|\W\W",
    r"(?i)THE|QUESTION",
    r"\pL\pN",
    r"(?-u:[\x80-\xff])",
    r".{20}",
    r"\B[aeiou]\B|e.*e.*e",
];
/// Operations that are run first: on documents that are there, on others, and on ranges behind their ends.
const OPERATIONS: [&str; 5] = [
    r#"{"op":"extract","document":"0000","offset":3,"length":20}
{"op":"search","word":"to be"}
{"op":"count","word":"the","document":"0001"}
{"op":"sample","k":3,"seed":7}"#,
    r#"{"op":"insert","document":"0000","offset":3,"text":" be"}
{"op":"search","word":"be","document":"0000"}
{"op":"delete","document":"0001","offset":5,"length":9}
{"op":"replace","document":"0001","offset":0,"length":3,"base64":"/w=="}"#,
    r#"{"op":"add","document":"0002","text":"the end"}
{"op":"append","document":"0002","text":" of it"}
{"op":"rename","document":"0002","name":"a/b"}
{"op":"remove","document":"0000"}
{"op":"count","word":"end"}"#,
    r#"{"op":"extract","document":"0000","offset":300,"length":2}
{"op":"delete","document":"0000","offset":3,"length":20000}
{"op":"count","word":", "}
{"op":"remove","document":"nowhere"}"#,
    r#"{"op":"extract","document":1}
["op"]
{"op":"add","document":"../x","text":""}
{"op":"append","document":"0000","text":"a","base64":"YQ=="}"#,
];
/// The version that the layout of `fuzz/` is for.
const CARGO_FUZZ: &str = "^0.13";
/// Bytes of an input: many short ones are worth more than a few long ones.
const LONGEST_INPUT: usize = 4096;

/// Which fuzzers to run and how long.
pub struct Options {
    targets: Vec<String>,
    seconds: u32,
    seeds_only: bool,
}

impl Options {
    /// Reads `[TARGET...] [--seconds N] [--seeds]`; an error says what is wrong with it.
    pub fn parse(arguments: &[String]) -> Result<Self, String> {
        let mut options = Self { targets: Vec::new(), seconds: 60, seeds_only: false };
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                "--seeds" => options.seeds_only = true,
                "--seconds" => {
                    let seconds = arguments.next().and_then(|number| number.parse().ok());
                    options.seconds = seconds.ok_or("--seconds needs a number")?;
                }
                name if TARGETS.contains(&name) => options.targets.push(name.to_owned()),
                other => return Err(format!("there is no fuzzer '{other}'")),
            }
        }
        if options.targets.is_empty() {
            options.targets = TARGETS.map(str::to_owned).to_vec();
        }
        Ok(options)
    }
}

/// Runs the fuzzers one after the other; what they say goes to standard error.
pub fn run(options: &Options) -> Result<()> {
    let project = Project::find()?;
    write_seeds(&project)?;
    if options.seeds_only {
        return Ok(());
    }
    install(&project)?;
    build(&project, None)?;
    for target in &options.targets {
        run_target(&project, target, options.seconds, None)?;
    }
    Ok(())
}

fn tool(project: &Project) -> PathBuf {
    project.target.join("tools/bin/cargo-fuzz")
}

/// Installs cargo-fuzz below the target folder, unless it is there.
pub fn install(project: &Project) -> Result<()> {
    if tool(project).exists() {
        return Ok(());
    }
    let mut command = project.cargo();
    command.args(["install", "--quiet", "cargo-fuzz", "--version", CARGO_FUZZ, "--locked"]);
    command.arg("--root").arg(project.target.join("tools"));
    crate::process::run(&mut command)
}

/// cargo-fuzz with the flags that every use of it has. Without a sanitizer: the code under test is safe
/// Rust, and the C of Zstandard would not be built with one.
fn cargo_fuzz(project: &Project, what: &str, log: Option<&File>) -> Result<Command> {
    let mut command = Command::new(tool(project));
    command.current_dir(&project.root).env("RUSTC_BOOTSTRAP", "1").stdin(Stdio::null());
    command.args([what, "--fuzz-dir", "fuzz", "--sanitizer", "none", "--target-dir"]);
    command.arg(project.target.join("fuzz"));
    if let Some(log) = log {
        command.stdout(log.try_clone()?).stderr(log.try_clone()?);
    }
    Ok(command)
}

/// Builds all fuzzers.
pub fn build(project: &Project, log: Option<&File>) -> Result<()> {
    finish(&mut cargo_fuzz(project, "build", log)?, "the fuzzers cannot be built")
}

/// Runs one fuzzer; an error if it finds something.
pub fn run_target(project: &Project, target: &str, seconds: u32, log: Option<&File>) -> Result<()> {
    let fuzz = project.root.join("fuzz");
    let mut command = cargo_fuzz(project, "run", log)?;
    command.arg(target).arg(fuzz.join("corpus").join(target));
    let committed = fuzz.join("seeds").join(target);
    if committed.is_dir() {
        command.arg(committed);
    }
    command.arg("--");
    command.arg(format!("-max_total_time={seconds}"));
    command.arg(format!("-max_len={LONGEST_INPUT}"));
    command.args(["-rss_limit_mb=2048", "-timeout=20"]);
    // The fuzzers' files, in memory where the system has such a place; one thread is enough for them.
    let memory = Path::new("/dev/shm");
    let above = if memory.is_dir() { memory } else { &project.target };
    let scratch = above.join(format!("tadoc-fuzz-{}", std::process::id()));
    files::create_folder(&scratch)?;
    command.env("TMPDIR", &scratch).env("RAYON_NUM_THREADS", "1");
    let found = format!("the fuzzer {target} found something; its input is in fuzz/artifacts");
    let result = finish(&mut command, &found);
    files::remove_folder(&scratch)?;
    result
}

fn finish(command: &mut Command, failure: &str) -> Result<()> {
    let status = command.status().with_context(|| "cannot run cargo-fuzz".to_owned())?;
    if !status.success() {
        bail!("{failure}");
    }
    Ok(())
}

/// Writes the seeds of all fuzzers to `fuzz/corpus`.
pub fn write_seeds(project: &Project) -> Result<()> {
    let corpus = project.root.join("fuzz/corpus");
    let archive = project.target.join("fuzz-seed.tdc");
    files::create_folder(&project.target)?;
    for (number, case) in tadoc_oracle::cases().iter().enumerate() {
        if case.size() > LONGEST_INPUT {
            continue;
        }
        let name = case.name.replace(|letter: char| !letter.is_ascii_alphanumeric(), "-");
        let write =
            |target: &str, bytes: &[u8]| files::write(&corpus.join(target).join(&name), bytes);
        let documents: Vec<&[u8]> = case.documents.iter().map(|(_, bytes)| &bytes[..]).collect();
        let number = number as u8;
        write("lexer", &documents.concat())?;
        // Few tokens of which some end lines; options. Documents end with a byte of the fuzzer's own.
        write("builders", &[&[number, 0b100][..], &documents.join(&0xFF)].concat())?;
        write("round_trip", &[&[number][..], &documents.join(&0xF5)].concat())?;
        let journal = journal(&documents).with_context(|| format!("a journal of {}", case.name))?;
        if journal.len() <= LONGEST_INPUT {
            write("journal", &[&[number][..], &journal].concat())?;
        }
        write("pool", &pool_changes(number))?;
        let pattern = PATTERNS[usize::from(number) % PATTERNS.len()].as_bytes();
        write("grep", &[&[number], pattern, &[0xF5], &documents.join(&0xF5)].concat())?;
        compress(case, number, &archive)?;
        let bytes = fs::read(&archive).with_context(|| format!("reading {}", archive.display()))?;
        if bytes.len() <= LONGEST_INPUT {
            write("archive", &bytes)?;
        }
        let view = view(&documents.concat(), &archive)
            .with_context(|| format!("a view of {}", case.name))?;
        if view.len() <= LONGEST_INPUT {
            write("view", &view)?;
        }
        let index = if number.is_multiple_of(2) { Index::Fast } else { Index::Small };
        tadoc_engine::access::store(&archive, index, &())
            .with_context(|| format!("an index of {}", case.name))?;
        let bytes = fs::read(&archive).with_context(|| format!("reading {}", archive.display()))?;
        if bytes.len() <= LONGEST_INPUT {
            write("index", &bytes)?;
        }
    }
    for (number, lines) in OPERATIONS.iter().enumerate() {
        files::write(&corpus.join("operations").join(number.to_string()), lines.as_bytes())?;
    }
    fs::remove_file(&archive).with_context(|| format!("removing {}", archive.display()))
}

/// Compresses a case, each with other options.
fn compress(case: &Case, number: u8, to: &Path) -> Result<()> {
    let bit = |bit: u8| number >> bit & 1 == 1;
    let options = CompressOptions {
        lexer: if bit(0) { Lexer::Whitespace } else { Lexer::Words },
        builder: if bit(1) { Builder::Sequitur } else { Builder::RePair },
        level: if bit(2) { Level::Dense } else { Level::Fast },
        threads: Some(1),
        force: true,
        ..Default::default()
    };
    let input = |(name, bytes): &(String, Vec<u8>)| {
        Input::new(name.as_bytes(), Source::Bytes(bytes.clone()))
    };
    let inputs = case.documents.iter().map(input).collect();
    tadoc_engine::compress(inputs, to, &options, &())
        .with_context(|| format!("compressing the case {}", case.name))?;
    Ok(())
}

/// The stored view of a text as three documents, as many as the fuzzer's archive has.
fn view(text: &[u8], archive: &Path) -> Result<Vec<u8>> {
    let mut parts = text.chunks(text.len().div_ceil(3).max(1));
    let inputs = ["a", "b", "c"].map(|name| {
        Input::new(name.as_bytes(), Source::Bytes(parts.next().unwrap_or_default().to_vec()))
    });
    let options = CompressOptions { threads: Some(1), force: true, ..Default::default() };
    tadoc_engine::compress(inputs.into(), archive, &options, &())?;
    tadoc_engine::view::store(&Corpus::open(archive)?, &())?;
    let path = tadoc_core::archive::view_path(archive);
    let view = fs::read(&path)?;
    fs::remove_file(&path)?;
    Ok(view)
}

/// Changes of a pool, as the fuzzer `pool` reads them: another pool each time, and places that are spread over it.
fn pool_changes(number: u8) -> Vec<u8> {
    let changes = (0..4).flat_map(|change: u8| {
        [number.wrapping_mul(37), change * 60, 0, change, change, 0, 0, number]
    });
    [number].into_iter().chain(changes).collect()
}

/// A journal of edits of every kind, in several transactions, with the texts of documents.
fn journal(documents: &[&[u8]]) -> Result<Vec<u8>> {
    let storage = SimulatedStorage::default();
    let (_, mut writer) = JournalWriter::over(storage.clone(), 0)?;
    for (number, text) in documents.iter().enumerate() {
        let document = number as u32;
        let modified = Some(Timestamp { seconds: -1, nanoseconds: 5 });
        let name = b"a name";
        writer.push(&Edit::Insert { document, offset: 300, text })?;
        writer.push(&Edit::Delete { document, offset: 1 << 40, length: 7 })?;
        writer.push(&Edit::Replace { document, offset: 0, length: 9, text: b"short" })?;
        writer.commit(number % 2 == 0)?;
        writer.push(&Edit::Add {
            name,
            modified,
            mode: Some(0o644),
            text: &text[..text.len() / 2],
        })?;
        writer.push(&Edit::Append { document, text: b"" })?;
        writer.push(&Edit::Rename { document, name })?;
        writer.push(&Edit::Remove { document })?;
        writer.commit(false)?;
    }
    Ok(storage.contents())
}
