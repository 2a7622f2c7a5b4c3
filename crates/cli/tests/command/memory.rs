//! Small files that stand for gigabytes: every command refuses them, or answers, within 512 MB of memory, and ends.

use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tadoc_core::Grammar;
use tadoc_core::archive::dictionary::{Entry, Forms};
use tadoc_core::archive::{
    Archive, ArchiveWriter, DocumentTable, Edit, EncodedSegment, FastPart, IndexWriter,
    JournalWriter, Summary, WordDocumentsBuilder,
};
use tadoc_core::navigation::Navigation;
use tadoc_core::packed::{Numbers, Packed};
use tadoc_engine::{Document, Level, SegmentInfo};

use crate::folder::{Folder, TADOC};

/// KiB of memory that a command may have: of the heap, and of all else that is its own and can be written to.
const LIMIT: &str = "500000";
/// A command that runs longer hangs, on any machine.
const HANGS: Duration = Duration::from_secs(120);

/// Starts the command with no more memory than [`LIMIT`].
fn start(folder: &Folder, arguments: &[&str]) -> Child {
    let mut command = Command::new("sh");
    command.args(["-c", &format!("ulimit -d {LIMIT} && exec \"$0\" \"$@\""), TADOC]);
    command.args(arguments).current_dir(folder.path(".")).stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// What a command printed, and its exit code; fails if it hangs.
fn run(folder: &Folder, arguments: &[&str]) -> (Option<i32>, String, String) {
    let mut child = start(folder, arguments);
    let (mut stdout, mut stderr) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
    let read = |from: &mut dyn Read| {
        let mut text = Vec::new();
        from.read_to_end(&mut text).unwrap();
        String::from_utf8_lossy(&text).into_owned()
    };
    std::thread::scope(|scope| {
        let told = scope.spawn(move || read(&mut stderr));
        let printed = scope.spawn(move || read(&mut stdout));
        let begin = Instant::now();
        let status = loop {
            if let Some(status) = child.try_wait().unwrap() {
                break status;
            }
            if begin.elapsed() > HANGS {
                child.kill().unwrap();
                panic!("{arguments:?} hangs");
            }
            std::thread::sleep(Duration::from_millis(5));
        };
        (status.code(), printed.join().unwrap(), told.join().unwrap())
    })
}

/// The command says that it would need more memory than is allowed, and how to allow more.
#[track_caller]
fn refuses(folder: &Folder, arguments: &[&str]) {
    let (code, _, stderr) = run(folder, arguments);
    assert_eq!(code, Some(2), "{arguments:?}: {stderr}");
    assert!(stderr.contains("would pass the limit of 320.0 MiB of memory"), "{stderr}");
    assert!(stderr.contains("--memory SIZE"), "{stderr}");
}

/// What the command prints.
#[track_caller]
fn answers(folder: &Folder, arguments: &[&str]) -> String {
    let (code, stdout, stderr) = run(folder, arguments);
    assert_eq!(code, Some(0), "{arguments:?}: {stderr}");
    stdout
}

/// Writes an archive of one document.
fn write_archive(
    path: &Path,
    grammar: &Grammar,
    words: &[Entry<'_>],
    separators: &[&[u8]],
    bytes: u64,
) {
    let document = Document { name: b"a.txt".to_vec(), bytes, modified: None, mode: None };
    let table = DocumentTable { documents: vec![document], digests: vec![0] };
    let segment = SegmentInfo {
        documents: 1,
        text_bytes: bytes,
        token_types: grammar.token_count().into(),
        words: words.len() as u64,
        rules: grammar.rule_count().into(),
        symbols: grammar.symbols().len() as u64,
        root_symbols: grammar.root().len() as u64,
        ..SegmentInfo::default()
    };
    let summary = Summary {
        written_by: "a test".into(),
        lexer: "words".into(),
        builder: "repair".into(),
        level: Level::Fast,
        documents: 1,
        text_bytes: bytes,
        segments: vec![segment],
        origin: None,
    };
    let mut writer = ArchiveWriter::create(path).unwrap();
    let segment = EncodedSegment::new(grammar, words, separators, Level::Fast);
    writer.add_segment(&segment).unwrap();
    writer.finish(&table, &summary, true).unwrap();
    assert!(std::fs::metadata(path).unwrap().len() < 1_000_000, "it is a small file");
}

/// So many times a line is doubled.
const DOUBLED: u32 = 44;

/// 2^44 lines `boom`, in a few hundred bytes.
fn write_bomb(folder: &Folder) {
    let (boom, newline) = (0, 1);
    let mut symbols = vec![2];
    for rule in 0..DOUBLED {
        let child = 2 + rule + 1;
        symbols.extend([child, child]);
    }
    symbols.extend([boom, newline]);
    let starts: Vec<u32> = (0..=DOUBLED + 1).map(|rule| 1 + 2 * rule).collect();
    let grammar = Grammar::new(2, symbols, starts, vec![0, 1]).unwrap();
    let words = [Entry { bytes: b"boom", forms: Forms::Bare }];
    write_archive(&folder.path("bomb.tdc"), &grammar, &words, &[b"\n"], 5 << DOUBLED);
}

#[test]
fn packed_edits_are_refused() {
    let folder = Folder::with(&["a.txt"]);
    folder.run(&["compress", "a.txt", "-o", "c.tdc"]).succeeds();
    let (_, _, mut writer) = JournalWriter::open(&folder.path("c.tdc")).unwrap();
    let text = vec![b'x'; 100_000];
    for _ in 0..5_000 {
        writer.push(&Edit::Append { document: 0, text: &text }).unwrap();
    }
    writer.commit(true).unwrap();
    drop(writer);
    assert!(folder.read("c.tdc").len() < 400_000);
    for command in ["info", "list", "verify", "word-count"] {
        refuses(&folder, &[command, "c.tdc"]);
    }
    refuses(&folder, &["search", "c.tdc", "this"]);
    refuses(&folder, &["cat", "c.tdc", "a.txt"]);
    refuses(&folder, &["recompress", "c.tdc"]);
    // Who has the memory may have the edits.
    let info = folder.run(&["info", "c.tdc", "--memory", "4G", "--json"]).exits(0);
    assert!(info.text().contains("5000"), "{}", info.text());
}

#[test]
fn edits_that_change_nothing_are_refused_by_the_million() {
    let folder = Folder::with(&["a.txt"]);
    folder.run(&["compress", "a.txt", "-o", "c.tdc"]).succeeds();
    let (_, _, mut writer) = JournalWriter::open(&folder.path("c.tdc")).unwrap();
    for _ in 0..6_000_000 {
        writer.push(&Edit::Delete { document: 0, offset: 0, length: 0 }).unwrap();
    }
    writer.commit(true).unwrap();
    drop(writer);
    assert!(folder.read("c.tdc").len() < 400_000);
    refuses(&folder, &["info", "c.tdc"]);
}

#[test]
fn a_dictionary_of_long_words_is_refused() {
    let folder = Folder::new();
    let word = vec![b'z'; 200 << 20];
    let grammar = Grammar::new(1, vec![0], vec![1], vec![0, 1]).unwrap();
    let words = [Entry { bytes: &word, forms: Forms::Bare }];
    write_archive(&folder.path("c.tdc"), &grammar, &words, &[], word.len() as u64);
    for arguments in [
        &["verify", "c.tdc"][..],
        &["cat", "c.tdc", "a.txt"],
        &["count", "c.tdc", "z"],
        &["sample", "c.tdc", "--seed", "1"],
        &["word-count", "c.tdc"],
        &["grep", "z", "c.tdc"],
        &["index", "--index", "fast", "c.tdc"],
    ] {
        refuses(&folder, arguments);
    }
    assert!(answers(&folder, &["list", "c.tdc", "--format", "tsv"]).contains("209715200"));
}

#[test]
fn words_that_share_their_beginnings_are_refused() {
    let folder = Folder::new();
    let long = vec![b'z'; 110_000];
    let words: Vec<Entry<'_>> = (0..8_000)
        .map(|more| Entry { bytes: &long[..100_000 + more], forms: Forms::Bare })
        .collect();
    let count = words.len() as u32;
    let bytes = words.iter().map(|word| word.bytes.len() as u64).sum();
    let root: Vec<u32> = (0..count).collect();
    let grammar = Grammar::new(count, root, vec![count], vec![0, count]).unwrap();
    write_archive(&folder.path("c.tdc"), &grammar, &words, &[], bytes);
    for arguments in [
        &["verify", "c.tdc"][..],
        &["search", "c.tdc", "z"],
        &["word-count", "c.tdc"],
        &["grep", "-c", "z", "c.tdc"],
    ] {
        refuses(&folder, arguments);
    }
}

#[test]
fn what_explodes_is_counted_on_its_rules() {
    let folder = Folder::new();
    write_bomb(&folder);
    let all = format!("{}\n", 1_u64 << DOUBLED);
    let pairs = format!("{}\n", (1_u64 << DOUBLED) - 1);
    let count = |phrase: &str| answers(&folder, &["count", "bomb.tdc", phrase, "--format", "tsv"]);
    assert_eq!(count("boom"), all);
    assert_eq!(count("boom boom"), pairs);
    assert_eq!(count("boom boom boom boom"), format!("{}\n", (1_u64 << DOUBLED) - 3));
    // A phrase that is not there: the words of which it is are.
    assert_eq!(run(&folder, &["search", "bomb.tdc", "boom bang"]).0, Some(1));
    answers(&folder, &["index", "--index", "fast", "bomb.tdc"]);
    assert_eq!(count("boom"), all);
    assert_eq!(count("boom boom"), pairs);
}

#[test]
fn what_explodes_is_found_as_far_as_one_wants() {
    let folder = Folder::new();
    write_bomb(&folder);
    for index in ["none", "small", "fast"] {
        answers(&folder, &["index", "--index", index, "bomb.tdc"]);
        let tsv = |arguments: &[&str]| {
            let format = ["--format", "tsv"];
            answers(&folder, &[arguments, &format].concat())
        };
        let found = tsv(&["search", "bomb.tdc", "boom", "-m", "3"]);
        assert_eq!(found, "a.txt\t0\na.txt\t5\na.txt\t10\n");
        let found = tsv(&["search", "bomb.tdc", "boom boom", "-m", "100000"]);
        assert_eq!(found.lines().last(), Some("a.txt\t499995"));
        let shown = tsv(&["kwic", "bomb.tdc", "boom", "--words", "1", "-m", "2"]);
        assert_eq!(shown, "a.txt\t0\t\tboom\t\\nboom\na.txt\t5\tboom\\n\tboom\t\\nboom\n");
        assert!(tsv(&["find", "bomb.tdc", "boom"]).starts_with("a.txt\t"));
        assert_eq!(tsv(&["sample", "bomb.tdc", "-k", "7", "--seed", "1"]).lines().count(), 7);
        let lines = answers(&folder, &["grep", "-n", "-m", "3", "b..m", "bomb.tdc"]);
        assert_eq!(lines, "a.txt:1:boom\na.txt:2:boom\na.txt:3:boom\n");
        let bytes = answers(&folder, &["extract", "bomb.tdc", "a.txt", "80000000000001", "9"]);
        assert_eq!(bytes, "oom\nboom\n");
    }
}

/// Reads a few bytes of what a command prints, and then no more: it ends.
fn ends_with_its_reader(folder: &Folder, arguments: &[&str]) -> Vec<u8> {
    let mut child = start(folder, arguments);
    let mut first = vec![0; 1000];
    child.stdout.take().unwrap().read_exact(&mut first).unwrap();
    let begin = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if begin.elapsed() > HANGS {
            child.kill().unwrap();
            panic!("{arguments:?} goes on");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    first
}

#[test]
fn answers_without_end_end_with_their_reader() {
    let folder = Folder::new();
    write_bomb(&folder);
    for arguments in [
        &["search", "bomb.tdc", "boom"][..],
        &["kwic", "bomb.tdc", "boom boom"],
        &["grep", "boom", "bomb.tdc"],
        &["cat", "bomb.tdc", "a.txt"],
        &["sample", "bomb.tdc", "-k", "18446744073709551615", "--seed", "1"],
        &["sample", "bomb.tdc", "-k", "1000000000", "--seed", "1"],
    ] {
        ends_with_its_reader(&folder, arguments);
    }
}

#[test]
fn many_samples_begin_as_few_do() {
    let folder = Folder::new();
    folder.write("a.txt", crate::folder::prose(100_000));
    folder.run(&["compress", "a.txt", "-o", "c.tdc"]).succeeds();
    let sample = |count: &str| {
        let arguments = ["sample", "c.tdc", "-k", count, "--seed", "9", "--format", "tsv"];
        answers(&folder, &arguments)
    };
    let (few, many) = (sample("1000"), sample("200000"));
    assert!(many.starts_with(&few));
    assert_eq!(many.lines().count(), 200_000);
}

/// An index that announces more text than there is, with checksums that hold.
fn write_lying_index(path: &Path) {
    let grammar = Grammar::new(1, vec![0], vec![1], vec![0, 1]).unwrap();
    let words = [Entry { bytes: b"boom", forms: Forms::Bare }];
    write_archive(path, &grammar, &words, &[], 9);
    let numbers = |number: Option<u64>| Numbers::new(number.into_iter());
    let packed = |row: &[u64], most: u64| Packed::new(row.iter().copied(), most);
    let navigation = Navigation {
        token_bytes: numbers(Some(9)),
        separator_newlines: numbers(None),
        rule_bytes: numbers(None),
        rule_words: numbers(None),
        rule_newlines: numbers(None),
        rule_starts: packed(&[0], 0),
        bodies: packed(&[], 1),
        document_starts: packed(&[0, 1], 1),
        root_bytes: packed(&[0, 9], 9),
        root_words: packed(&[0, 1], 1),
        root_newlines: packed(&[0, 0], 0),
    };
    let mut documents = WordDocumentsBuilder::new(1);
    documents.push(&[(0, 1)]);
    let word_documents = documents.finish().unwrap();
    let fast = FastPart { root: packed(&[0], 1), word_documents };
    let mut writer = IndexWriter::create(&Archive::open(path).unwrap()).unwrap();
    writer.add_segment(0, &navigation, Some(&fast)).unwrap();
    writer.finish().unwrap();
}

#[test]
fn an_index_that_lies_is_an_error() {
    let folder = Folder::new();
    write_lying_index(&folder.path("c.tdc"));
    for arguments in [
        &["kwic", "c.tdc", "boom", "--words", "3"][..],
        &["kwic", "c.tdc", "boom"],
        &["extract", "c.tdc", "a.txt", "0", "9"],
    ] {
        let (code, _, stderr) = run(&folder, arguments);
        assert_eq!(code, Some(2), "{arguments:?}: {stderr}");
        assert!(stderr.contains("the index is damaged"), "{stderr}");
    }
}
