//! Inputs that are awkward for text analytics: encodings, control bytes, line ends, texts that
//! stress a grammar, file names and things that are not files. The same bytes on every run.
//! `awkward` writes 130 MB in a second or two, `big-awkward` 400 MB and 100,000 files.
//!
//! They are for the command as people run it. What a unit test needs is smaller, and is a case of
//! the oracle's.

use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};
use tadoc_oracle::Random;

use crate::{files, process};

/// A sentence that many of the texts repeat.
const SENTENCE: &str = "the quick brown fox jumps over the lazy dog";

/// Words of many scripts, with marks, joiners and letters of each length in UTF-8.
const SCRIPTS: &str = "naïve café Ünïcödé Straße ΣΊΣΥΦΟΣ İstanbul Привет мир 中文分词 日本語の文章 \
    한국어 العربية עברית हिन्दी ไทย 👩\u{200d}👩\u{200d}👧\u{200d}👦 🏳\u{fe0f}\u{200d}🌈 𝔘𝔫𝔦 e\u{301} \
    é ﬁ\n";

/// A folder that is being filled.
struct Folder<'path>(&'path Path);

impl Folder<'_> {
    fn put(&self, name: &str, bytes: impl AsRef<[u8]>) -> Result<()> {
        files::write(&self.0.join(name), bytes.as_ref())
    }

    /// The same words, with one space between them.
    fn put_words(&self, name: &str, words: impl IntoIterator<Item = String>) -> Result<()> {
        self.put(name, words.into_iter().collect::<Vec<_>>().join(" "))
    }
}

/// Writes the awkward inputs to a folder that is not there yet.
pub fn write(to: &Path) -> Result<()> {
    let folder = Folder(to);
    tiny(&folder)?;
    line_ends(&folder)?;
    binary(&folder)?;
    unicode(&folder)?;
    other_encodings(&folder)?;
    runs(&folder)?;
    vocabularies(&folder)?;
    long(&folder)?;
    many_files(&folder)?;
    file_names(&folder)?;
    special_files(to)
}

/// Writes those that take long to make or to read: a huge vocabulary, one long line, many files.
pub fn write_big(to: &Path) -> Result<()> {
    let mut vocabulary = files::create(&to.join("shape/huge-vocabulary.txt"))?;
    for index in 0..20_000_000_u32 {
        // The factor is odd, so all products are distinct; they look random to a compressor.
        writeln!(vocabulary, "{:x}", index.wrapping_mul(2_654_435_761))?;
    }
    vocabulary.flush()?;
    let mut line = files::create(&to.join("shape/one-long-line.txt"))?;
    for _ in 0..200 {
        for index in 0..180_000_u64 {
            write!(line, "t{} ", index * index % 9973)?;
        }
    }
    line.flush()?;
    let folder = Folder(to);
    for index in 0..100_000 {
        let name = format!("many/tiny/{:02}/{index:05}", index % 100);
        folder.put(&name, format!("f{} common words here\n", index % 1000))?;
    }
    Ok(())
}

fn tiny(folder: &Folder) -> Result<()> {
    folder.put("tiny/empty", "")?;
    folder.put("tiny/one-byte", "a")?;
    folder.put("tiny/newline", "\n")?;
    folder.put("tiny/spaces", " ".repeat(1000))?;
    folder.put("tiny/blank-lines", "\n".repeat(100_000))?;
    folder.put("tiny/no-final-newline", "alpha beta gamma")?;
    folder.put("tiny/two-words-once", "x y\n")?;
    folder.put("tiny/only-separators", " \t\r\n\u{b}\u{c}".repeat(5000))
}

fn line_ends(folder: &Folder) -> Result<()> {
    let mut random = Random::new(1);
    let ends = ["\n", "\r\n", "\r", "\n\n", "\u{b}", "\u{c}"];
    let mixed: String =
        (0..20_000).map(|_| format!("{SENTENCE}{}", random.choose(&ends))).collect();
    folder.put("eol/crlf.txt", format!("{SENTENCE}\r\n").repeat(20_000))?;
    folder.put("eol/cr-only.txt", format!("{SENTENCE}\r").repeat(20_000))?;
    folder.put("eol/mixed.txt", mixed)
}

fn binary(folder: &Folder) -> Result<()> {
    let mut random = Random::new(2);
    let nuls: String = (0..50_000).map(|i| format!("word\0{} next\0\0 ", i % 97)).collect();
    let noise: Vec<u8> = (0..1 << 19).flat_map(|_| random.next_u64().to_le_bytes()).collect();
    let all: Vec<u8> = (0..=255).collect();
    let controls: Vec<u8> =
        (1..32).flat_map(|byte| [byte, b'w', b' ', byte, byte, byte, b'\n']).collect();
    folder.put("bin/nul-inside.txt", nuls)?;
    folder.put("bin/zeros", vec![0; 1 << 20])?;
    folder.put("bin/random", noise)?;
    folder.put("bin/all-bytes", all.repeat(2000))?;
    folder.put("bin/control-words.txt", controls.repeat(500))
}

fn unicode(folder: &Folder) -> Result<()> {
    folder.put("enc/utf8.txt", SCRIPTS.repeat(5000))?;
    folder.put("enc/utf8-bom.txt", format!("\u{feff}{}", SCRIPTS.repeat(100)))?;
    folder.put("enc/truncated-at-end.txt", b"fin \xE4\xB8")?;
    let folding = "I ı İ i ß ẞ SS ss Σ σ ς ﬀ FF ǅ Ǆ ǆ Å \u{212b} K \u{212a}\n";
    folder.put("enc/case-folding.txt", folding.repeat(1000))?;
    let forms = "é e\u{301} Å A\u{30a} 각 \u{1100}\u{1161}\u{11a8}\n";
    folder.put("enc/nfc-nfd.txt", forms.repeat(1000))?;
    let spaces = "\u{85}\u{a0}\u{1680}\u{2000}\u{2003}\u{2028}\u{2029}\u{202f}\u{205f}\u{3000}\
        \u{200b}\u{feff}\u{180e}";
    let lines: String = spaces.chars().map(|space| format!("a{space}b{space}{space}c\n")).collect();
    folder.put("enc/unicode-spaces.txt", lines.repeat(300))?;
    let broken: [&[u8]; 11] = [
        b"\x80",
        b"\xBF\xBF",
        b"\xC0\xAF",
        b"\xE0\x80\x80",
        b"\xED\xA0\x80",
        b"\xF4\x90\x80\x80",
        b"\xF8\x88\x80\x80\x80",
        b"\xFE\xFF",
        b"\xE4\xB8",
        b"\xF0\x9F\x98",
        b"\xC3",
    ];
    let lines: Vec<u8> = broken
        .iter()
        .flat_map(|bytes| [b"ok ", *bytes, b" x", bytes, b"y ", bytes, b"\n"].concat())
        .collect();
    folder.put("enc/invalid-utf8.txt", lines.repeat(500))
}

fn other_encodings(folder: &Folder) -> Result<()> {
    let western = "naïve café Ünïcödé Straße ÿ\n";
    let quoted = "“quoted” – €5 …\n";
    let japanese = "日本語の文章 表示 能 ソース\n";
    for (name, encoding, text, times) in [
        ("utf-16", "UTF-16", SCRIPTS, 500),
        ("utf-16-be", "UTF-16BE", SCRIPTS, 500),
        ("utf-32-le", "UTF-32LE", SCRIPTS, 500),
        ("latin1", "ISO-8859-1", western, 5000),
        ("cp1252", "CP1252", quoted, 3000),
        ("shift-jis", "CP932", japanese, 3000),
        ("euc-jp", "EUC-JP", japanese, 3000),
        ("gb18030", "GB18030", "中文分词 测试 𠀀\n", 3000),
        ("koi8-r", "KOI8-R", "Привет мир\n", 3000),
    ] {
        let mut convert = Command::new("iconv");
        convert.args(["-f", "UTF-8", "-t", encoding]);
        let line = process::filter(&mut convert, text.as_bytes())?;
        folder.put(&format!("enc/{name}.txt"), line.repeat(times))?;
    }
    Ok(())
}

fn runs(folder: &Folder) -> Result<()> {
    folder.put("shape/one-line-repeated.txt", format!("{SENTENCE}\n").repeat(400_000))?;
    folder.put("shape/a-run.txt", "a ".repeat(2_000_000))?;
    folder.put("shape/single-char-run.txt", "a".repeat(4_000_000))?;
    let (mut shorter, mut longer) = ("x ".to_string(), "x y ".to_string());
    while longer.len() < 6_000_000 {
        let next = format!("{longer}{shorter}");
        shorter = std::mem::replace(&mut longer, next);
    }
    folder.put("shape/fibonacci.txt", longer)?;
    let thue_morse = (0..1_u32 << 20).map(|index| (index.count_ones() % 2).to_string());
    folder.put_words("shape/thue-morse.txt", thue_morse)?;
    // Texts that end right before, at and after the sizes of blocks and buffers.
    for size in [1 << 12, 1 << 16, 1 << 20, 1 << 22] {
        let text = format!("{SENTENCE} ").repeat(size / SENTENCE.len() + 1);
        for length in [size - 1, size, size + 1] {
            folder.put(&format!("shape/boundary/{length}"), &text[..length])?;
        }
    }
    Ok(())
}

fn vocabularies(folder: &Folder) -> Result<()> {
    let mut random = Random::new(3);
    let pairs = (0..500_000).map(|i| format!("p{} q{}", i % 1000, i * 7 % 1000));
    folder.put_words("shape/pairs.txt", pairs)?;
    let distinct = (0..600_000_u32).map(|i| format!("w{:x}", i.wrapping_mul(2_654_435_761)));
    folder.put_words("shape/all-distinct-words.txt", distinct)?;
    let lines: String = (0..500_000).map(|index| format!("k{index:07}\n")).collect();
    folder.put("shape/distinct-words-per-line.txt", lines)?;
    let coins = (0..2_000_000).map(|_| random.below(2).to_string());
    folder.put_words("shape/random-two-words.txt", coins)?;
    let zipf = (0..600_000).map(|_| format!("z{}", random.rank()));
    folder.put_words("shape/zipf.txt", zipf)?;
    let identifiers = (0..30_000_u32).map(|index| {
        let top = u32::MAX - index % 3;
        format!("R{index} #{} {top} -{index} 0x{index:x} <{index}> $ ||| \u{1e}", index % 64)
    });
    folder.put_words("ids/id-like.txt", identifiers)?;
    folder.put("ids/sentinels.txt", b"\xFF\xFF\xFF\xFF \0\0\0\0 -1 \xFF\xFF\n".repeat(10_000))?;
    let chains = (0..60_000).map(|index| "a".repeat(index % 300 + 1));
    folder.put_words("ids/prefix-chains.txt", chains)
}

fn long(folder: &Folder) -> Result<()> {
    let mut random = Random::new(4);
    let line = (0..2_500_000).map(|index| format!("tok{}", index % 5000));
    folder.put_words("shape/long-line.txt", line)?;
    folder.put("shape/long-word.txt", format!("before {} after\n", "Q".repeat(8 << 20)))?;
    let letters = ['a', 'b', 'c', 'd', 'e', 'f'];
    let words: Vec<String> =
        (0..60).map(|_| (0..70_000).map(|_| *random.choose(&letters)).collect()).collect();
    folder.put_words("shape/many-long-words.txt", words)
}

fn many_files(folder: &Folder) -> Result<()> {
    for index in 0..3000 {
        folder.put(&format!("many/tiny/{index:04}.txt"), format!("only{index}"))?;
    }
    for index in 0..1500 {
        folder.put(&format!("many/same/{index:04}.txt"), SENTENCE.repeat(20))?;
    }
    for index in 0..300 {
        folder.put(&format!("many/empty/{index:03}"), "")?;
    }
    let phrase = "common phrase across files ".repeat(3);
    for index in 0..200 {
        let text = if index % 2 == 0 { format!("tail {phrase}") } else { format!("{phrase}head") };
        folder.put(&format!("many/shared-boundary/{index:03}"), text)?;
    }
    let levels = (0..180).map(|level| format!("d{level}/")).collect::<String>();
    folder.put(&format!("deep/{levels}leaf.txt"), "deep leaf text\n")?;
    let level = format!("{}/", "x".repeat(200));
    folder.put(&format!("deep/{}long-path.txt", level.repeat(8)), "long path\n")
}

fn file_names(folder: &Folder) -> Result<()> {
    let longest = "n".repeat(255);
    let names: [&[u8]; 23] = [
        b"with space.txt",
        b" leading",
        b"trailing ",
        b"-rf",
        b"--help",
        b"new\nline",
        b"tab\there",
        b"quote'\"`$(x).txt",
        b"back\\slash",
        b"star*?[a].txt",
        b"\xFF\xFE-not-utf8",
        "日本語-😀.txt".as_bytes(),
        "e\u{301}".as_bytes(),
        "é".as_bytes(),
        longest.as_bytes(),
        b".hidden",
        b"Case",
        b"case",
        b"#hash",
        b"%41",
        b"a:b",
        b"~",
        b"...",
    ];
    for name in names {
        let path = folder.0.join("names").join(OsStr::from_bytes(name));
        files::write(&path, &[b"content of ", name, b"\n"].concat())?;
    }
    Ok(())
}

/// Links, a loop, a pipe, a file that may not be read, a folder with nothing in it.
fn special_files(to: &Path) -> Result<()> {
    let special = to.join("special");
    files::write(&special.join("target.txt"), b"target text\n")?;
    for (target, link) in
        [("target.txt", "link"), ("missing", "dangling"), ("loop", "loop"), ("..", "up")]
    {
        symlink(target, special.join(link)).with_context(|| format!("linking special/{link}"))?;
    }
    fs::hard_link(special.join("target.txt"), special.join("hardlink"))
        .context("linking special/hardlink")?;
    process::run(Command::new("mkfifo").arg(special.join("fifo")))?;
    let unreadable = special.join("unreadable.txt");
    files::write(&unreadable, b"secret\n")?;
    fs::set_permissions(&unreadable, fs::Permissions::from_mode(0o000))
        .context("making special/unreadable.txt unreadable")?;
    files::create_folder(&special.join("empty-folder"))
}
