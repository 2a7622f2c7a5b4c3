//! Archives that every reader refuses, each for one reason: section 12 of docs/format.md. Most have
//! checksums that hold, as those of a hostile file do.

use std::path::Path;

use anyhow::Result;
use tadoc_core::Grammar;
use tadoc_core::archive::dictionary::{Entry, Forms};
use tadoc_core::archive::{ArchiveWriter, DocumentTable, EncodedSegment, Level, Summary};
use tadoc_engine::{CompressOptions, SegmentInfo, Timestamp};

use super::coder::{Model, Step, list, stream, varint};
use super::container::{Container, NO_SEGMENT, Section, edit_table};
use super::good::table_of;
use super::{Expected, compress, journal};

/// Name, a part of the error, and the archive.
type Bad = (String, String, Vec<u8>);

/// Makes them all, in a folder for what is in between.
pub fn all(work: &Path) -> Result<Vec<Bad>> {
    let mut all: Vec<Bad> = Vec::new();
    let mut add =
        |name: &str, error: &str, bytes: Vec<u8>| all.push((name.into(), error.into(), bytes));
    files(&compressed(work, Level::Fast)?, &mut add);
    figures(work, &mut add)?;
    documents(work, &mut add)?;
    dictionaries(work, &mut add)?;
    grammars(work, &mut add)?;
    dense(work, &mut add)?;
    origins(&compressed(work, Level::Fast)?, &mut add);
    journal::bad(&compressed(work, Level::Fast)?, &mut add);
    Ok(all)
}

/// A good archive of two documents, with rules.
fn compressed(work: &Path, level: Level) -> Result<Vec<u8>> {
    let documents = [
        Expected::new("a.txt", "to be or not to be, to be or not to be\n"),
        Expected::new("b.txt", "to be or not to be; that is the question\n"),
    ];
    let options = CompressOptions { level, ..CompressOptions::default() };
    Ok(std::fs::read(compress(work, "base", &documents, &options)?)?)
}

fn files(good: &[u8], add: &mut impl FnMut(&str, &str, Vec<u8>)) {
    add("empty", "not a tadoc archive", Vec::new());
    add("gzip", "not a tadoc archive", b"\x1f\x8b\x08\0\0\0\0\0\0\x03".to_vec());
    add("cut-in-magic", "cut short", good[..5].to_vec());
    add("cut-in-header", "cut short", good[..40].to_vec());
    add("cut-in-sections", "cut short", good[..good.len() / 2].to_vec());
    add("cut-by-one", "cut short", good[..good.len() - 1].to_vec());
    add("longer", "were written", [good, b"\n"].concat());

    let container = Container::parse(good);
    let edited = |edit: &dyn Fn(&mut Container)| {
        let mut container = container.clone();
        edit(&mut container);
        container.to_bytes()
    };
    assert_eq!(edited(&|_| {}), good, "a container that is not changed stays as it is");
    let flipped = |at: usize| {
        let mut bytes = good.to_vec();
        bytes[at] ^= 0x10;
        bytes
    };
    add("damaged-header", "checksum of the header", flipped(20));
    add("damaged-table", "checksum of the table", flipped(good.len() - 30));
    for section in &container.sections {
        let kind = String::from_utf8_lossy(&section.kind);
        let at = good.windows(section.bytes.len()).position(|window| window == section.bytes);
        let at = at.expect("a section is in its archive") + section.bytes.len() / 2;
        let error = format!("checksum of section {kind}");
        add(&format!("damaged-{}", kind.to_lowercase()), &error, flipped(at));
    }
    // A flip with checksums made right again must be found by what the sections say.
    for (kind, from_end, error) in [
        (b"INFO", 1, "parts, recorded are"),
        (b"DOCS", 0, "is damaged: its digest is"),
        (b"DICT", 3, "is damaged: its digest is"),
        (b"ITEM", 0, "token 12 of 12"),
        (b"SYMB", 0, "a block introduces too much"),
        (b"ROOT", 0, "a coded stream does not end where its content does"),
    ] {
        let name = format!("flipped-{}", String::from_utf8_lossy(kind).to_lowercase());
        let bytes = edited(&|container| {
            let bytes = &mut container.section(kind).bytes;
            let at = bytes.len() - 1 - from_end;
            bytes[at] ^= 1;
        });
        add(&name, error, bytes);
    }

    let unknown = "flags that this version does not know";
    add("version-0", "format version 0", edited(&|container| container.version = 0));
    add("version-3", "format version 3", edited(&|container| container.version = 3));
    add("header-flags", unknown, edited(&|container| container.flags = 1));
    let xtra = Section { kind: *b"XTRA", segment: NO_SEGMENT, flags: 0, bytes: b"new".to_vec() };
    let needed = "needs the section XTRA";
    add("section-unknown", needed, edited(&|container| container.sections.push(xtra.clone())));
    let flags = edited(&|container| container.section(b"DICT").flags = 2);
    add("section-flags", "section DICT has unknown flags", flags);
    let twice = edited(&|container| {
        let root = container.section(b"ROOT").clone();
        container.sections.push(root);
    });
    add("section-twice", "section ROOT is there twice", twice);
    for kind in [b"INFO", b"DOCS", b"ROOT"] {
        let name = String::from_utf8_lossy(kind);
        let bytes = edited(&|container| container.sections.retain(|other| other.kind != *kind));
        let error = format!("section {name} is missing");
        add(&format!("section-missing-{}", name.to_lowercase()), &error, bytes);
    }
    let beyond = edited(&|container| {
        let root = Section { segment: 1, ..container.section(b"ROOT").clone() };
        container.sections.push(root);
    });
    add("section-of-another-segment", "of a segment that is not there", beyond);
    let wrong = edited(&|container| container.section(b"INFO").segment = 0);
    add("section-of-the-wrong-segment", "is of the wrong segment", wrong);

    let offset = |entry: usize| 40 * entry + 16;
    let on_header = edit_table(good, |table| table[offset(0)] = 0);
    add("section-on-header", "section DICT lies on another one", on_header);
    let on_another = edit_table(good, |table| {
        table.copy_within(offset(0)..offset(0) + 8, offset(1));
    });
    add("section-on-another", "section ITEM lies on another one", on_another);
    let misaligned = edit_table(good, |table| table[offset(1)] += 1);
    add("section-misaligned", "no multiple of 8", misaligned);
    let outside = edit_table(good, |table| table[offset(5) + 15] = 0xFF);
    add("section-outside", "is outside of the file", outside);
}

/// A small archive in parts, of which each can be made wrong: the text `to be`.
struct Parts {
    grammar: Grammar,
    words: Vec<(&'static [u8], Forms)>,
    table: DocumentTable,
    summary: Summary,
}

impl Parts {
    fn new() -> Self {
        let segment = SegmentInfo {
            documents: 1,
            text_bytes: 5,
            tokens: 2,
            token_types: 2,
            words: 2,
            symbols: 2,
            root_symbols: 2,
            ..SegmentInfo::default()
        };
        Self {
            // Token 0 is ` be`, token 1 is `to`.
            grammar: Grammar::new(2, vec![1, 0], vec![2], vec![0, 2]).expect("it is a grammar"),
            words: vec![(b"be", Forms::Spaced), (b"to", Forms::Bare)],
            table: table_of(&[Expected::new("a.txt", "to be")]),
            summary: Summary {
                written_by: "xtask golden".into(),
                lexer: "words".into(),
                builder: "repair".into(),
                level: Level::Fast,
                documents: 1,
                text_bytes: 5,
                segments: vec![segment],
                origin: None,
            },
        }
    }

    fn write(&self, work: &Path) -> Result<Vec<u8>> {
        let words: Vec<Entry<'_>> =
            self.words.iter().map(|&(bytes, forms)| Entry { bytes, forms }).collect();
        let path = work.join("parts.tdc");
        let mut writer = ArchiveWriter::create(&path)?;
        for _ in &self.summary.segments {
            writer.add_segment(&EncodedSegment::new(
                &self.grammar,
                &words,
                &[],
                self.summary.level,
            ))?;
        }
        writer.finish(&self.table, &self.summary, true)?;
        Ok(std::fs::read(path)?)
    }
}

/// Writes the parts after an edit.
fn edited(work: &Path, edit: impl FnOnce(&mut Parts)) -> Result<Vec<u8>> {
    let mut parts = Parts::new();
    edit(&mut parts);
    parts.write(work)
}

/// Writes the parts with other bytes in a section.
fn replaced(work: &Path, replacements: &[(&[u8; 4], Vec<u8>)]) -> Result<Vec<u8>> {
    let mut container = Container::parse(&Parts::new().write(work)?);
    for (kind, bytes) in replacements {
        container.section(kind).bytes = bytes.clone();
    }
    Ok(container.to_bytes())
}

fn figures(work: &Path, add: &mut impl FnMut(&str, &str, Vec<u8>)) -> Result<()> {
    let parts = "parts, recorded are";
    let words = edited(work, |parts| parts.summary.segments[0].words = 3)?;
    add("figures-words", parts, words);
    let rules = edited(work, |parts| parts.summary.segments[0].rules = 1)?;
    add("figures-rules", parts, rules);
    let symbols = edited(work, |parts| parts.summary.segments[0].symbols = 3)?;
    add("figures-symbols", parts, symbols);
    let longer = edited(work, |parts| {
        parts.summary.segments[0].text_bytes = 6;
        parts.summary.text_bytes = 6;
        parts.table.documents[0].bytes = 6;
    })?;
    add("figures-text", "segment 0 expands to 5 bytes, recorded are 6", longer);
    let sum = edited(work, |parts| parts.summary.text_bytes = 6)?;
    add("figures-sum", "do not add up", sum);
    let start = edited(work, |parts| parts.summary.segments[0].first_document = 1)?;
    add("segment-starts-late", "segment 0 starts at document 1", start);
    let none = edited(work, |parts| parts.summary.segments[0].documents = 0)?;
    add("segment-without-documents", "segment 0 starts at document 0", none);
    let back = edited(work, |parts| {
        let first = parts.summary.segments[0];
        parts.summary.segments = vec![first, first, SegmentInfo { first_document: 2, ..first }];
    })?;
    add("segment-gap", "segment 2 starts at document 2", back);
    let huge = edited(work, |parts| {
        let segment = SegmentInfo { text_bytes: 1 << 62, ..parts.summary.segments[0] };
        parts.summary.segments = vec![segment, segment];
        parts.summary.text_bytes = 1 << 63;
        parts.table.documents[0].bytes = 1 << 63;
    })?;
    add("text-too-long", "bytes of text are too many", huge);
    let short = replaced(work, &[(b"INFO", vec![0x80; 11])])?;
    add("number-too-long", "a number has more than 64 bits", short);
    let mut info = Container::parse(&Parts::new().write(work)?).section(b"INFO").bytes.clone();
    info.push(0);
    add("bytes-left-over", "1 bytes follow its end", replaced(work, &[(b"INFO", info.clone())])?);
    info.pop();
    let level = info.len() - 14;
    info[level] = 2;
    add("level-unknown", "2 is no level", replaced(work, &[(b"INFO", info)])?);
    Ok(())
}

fn documents(work: &Path, add: &mut impl FnMut(&str, &str, Vec<u8>)) -> Result<()> {
    for (name, document, error) in [
        ("name-parent", &b"../x"[..], "its name leads out of the folder"),
        ("name-parent-inside", b"a/../../x", "its name leads out of the folder"),
        ("name-absolute", b"/tmp/x", "its name is absolute"),
        ("name-empty-part", b"a//x", "its name has an empty part"),
        ("name-dot", b"./x", "its name has an empty part"),
        ("name-nul", b"a\0x", "a name has a NUL in it"),
        ("name-empty", b"", "the names are not in order"),
    ] {
        let bytes = edited(work, |parts| parts.table.documents[0].name = document.to_vec())?;
        add(name, error, bytes);
    }
    let two = |names: [&'static str; 2], lengths: [u64; 2]| {
        edited(work, |parts| {
            parts.grammar =
                Grammar::new(2, vec![1, 0], vec![2], vec![0, 1, 2]).expect("it is a grammar");
            parts.table =
                table_of(&[Expected::new(names[0], "to"), Expected::new(names[1], " be")]);
            for (document, length) in parts.table.documents.iter_mut().zip(lengths) {
                document.bytes = length;
            }
            parts.summary.documents = 2;
            parts.summary.segments[0].documents = 2;
        })
    };
    add("names-out-of-order", "the names are not in order", two(["b", "a"], [2, 3])?);
    add("names-twice", "the names are not in order", two(["a", "a"], [2, 3])?);
    add(
        "document-lengths",
        "document “a” expands to 2 bytes, recorded are 3",
        two(["a", "b"], [3, 2])?,
    );
    add("document-lengths-sum", "documents and summary do not agree", two(["a", "b"], [2, 4])?);
    let digest = edited(work, |parts| parts.table.digests[0] ^= 1)?;
    add("digest", "is damaged: its digest is", digest);
    let digests = edited(work, |parts| parts.table.digests.push(0))?;
    add("digests-too-many", "section DOCS: 4 bytes follow its end", digests);
    let mode = edited(work, |parts| parts.table.documents[0].mode = Some(0o10000))?;
    add("mode", "4096 is no mode", mode);
    let nanoseconds = edited(work, |parts| {
        let time = Timestamp { seconds: 0, nanoseconds: 1_000_000_000 };
        parts.table.documents[0].modified = Some(time);
    })?;
    add("nanoseconds", "a time has no nanoseconds", nanoseconds);
    add("list-too-long", "integers cannot be in", {
        let mut root = list(&[2]);
        root.splice(..1, varint(1 << 40));
        replaced(work, &[(b"ROOT", root)])?
    });
    // Each name is the one before it and one more byte: some kilobytes of section, gigabytes of names.
    let count = 20_000_u64;
    let first = 1 << 16;
    let shared: Vec<u64> =
        std::iter::once(0).chain((1..count).map(|name| first + name - 1)).collect();
    let lengths: Vec<u64> = std::iter::once(first).chain((1..count).map(|_| 1)).collect();
    let zeros = list(&vec![0; count as usize]);
    let frame = zstd::bulk::compress(&vec![b'a'; (first + count) as usize - 1], 19)?;
    let mut docs = varint(count);
    docs.extend([list(&shared), list(&lengths), varint(frame.len() as u64), frame].concat());
    docs.extend([zeros.clone(), zeros.clone(), list(&[]), zeros, vec![0; 4]].concat());
    add("names-too-long", "the names are too long", replaced(work, &[(b"DOCS", docs)])?);
    Ok(())
}

/// A dictionary of the words given by one block, as it is told.
fn dictionary(forms: &[u64], key: &[u8], frame: &[u8], unpacked: u64, digits: &[u8]) -> Vec<u8> {
    [
        varint(2),
        varint(0),
        list(forms),
        list(&[2]),
        list(&[frame.len() as u64]),
        list(&[unpacked]),
        list(&[digits.len() as u64]),
        varint(key.len() as u64),
        key.to_vec(),
        frame.to_vec(),
        digits.to_vec(),
    ]
    .concat()
}

/// Section 16: how the documents were made of files.
fn origins(good: &[u8], add: &mut impl FnMut(&str, &str, Vec<u8>)) {
    for (name, error, origin) in [
        ("origin-split", "2 is no way to cut files", &b"\x02\0\0\0"[..]),
        ("origin-base", "3 is no kind of base", b"\0\x03\0\0"),
        ("origin-absolute", "no path from the archive's folder", b"\0\x01\x02/a\0\0"),
        ("origin-up-and-down", "no path from the archive's folder", b"\0\x01\x04../a\0\0"),
        ("origin-prefix-nul", "the prefix has a NUL in it", b"\0\0\x01\0\0"),
        ("origin-name-nul", "a name has a NUL in it", b"\x01\0\0\x01\x01\0\0"),
        ("origin-names", "the names are not in order", b"\x01\0\0\x02\x01a\0\x01a\0"),
        ("origin-attributes", "a file has unknown attributes", b"\x01\0\0\x01\x01a\x04"),
        ("origin-mode", "4096 is a mode", b"\x01\0\0\x01\x01a\x02\x80\x20"),
        ("origin-left-over", "1 bytes follow its end", b"\0\0\0\0\0"),
    ] {
        let mut container = Container::parse(good);
        let (kind, bytes) = (*b"ORIG", origin.to_vec());
        container.sections.push(Section { kind, segment: NO_SEGMENT, flags: 1, bytes });
        add(name, error, container.to_bytes());
    }
}

fn dictionaries(work: &Path, add: &mut impl FnMut(&str, &str, Vec<u8>)) -> Result<()> {
    let order = "entries are empty or not in order";
    let swapped = edited(work, |parts| parts.words.reverse())?;
    add("words-out-of-order", order, swapped);
    let twice = edited(work, |parts| parts.words[1].0 = b"be")?;
    add("words-twice", order, twice);
    let empty = edited(work, |parts| parts.words[0].0 = b"")?;
    add("words-empty", order, empty);
    let long = edited(work, |parts| parts.words[1].0 = b"toooooooo")?;
    add("words-longer-than-text", "section DICT: its tokens have more than 5 bytes", long);

    let block = b"be\0to\0";
    let frame = zstd::bulk::compress(block, 3)?;
    let dict = |forms: &[u64], key: &[u8], block: &[u8], digits: &[u8]| -> Result<Vec<u8>> {
        let frame = zstd::bulk::compress(block, 3)?;
        let section = dictionary(forms, key, &frame, block.len() as u64, digits);
        replaced(work, &[(b"DICT", section)])
    };
    let forms = [2, 1];
    add("form", "4 is no form of a word", dict(&[4, 1], b"b", block, b"")?);
    add("forms-missing", "forms of 1 words, not 2", dict(&[2], b"b", block, b"")?);
    add("key", "a block has the key of another one", dict(&forms, b"c", block, b"")?);
    add("shares-too-much", "an entry shares more", dict(&forms, b"b", b"be\x03to\0", b"")?);
    add("block-ends-early", "bytes are announced where", dict(&forms, b"b", b"be\0to", b"")?);
    add("block-goes-on", "1 bytes follow its end", dict(&forms, b"b", b"be\0to\0x", b"")?);
    let digits = "hexadecimal digits";
    add("digits-missing", digits, dict(&forms, b"b", b"be\0\x1d\x05\0", b"\x10")?);
    add("digits-left-over", digits, dict(&forms, b"b", block, b"\x10")?);
    let bomb = zstd::bulk::compress(&vec![0; 16 << 20], 19)?;
    let section = dictionary(&forms, b"b", &bomb, 6, b"");
    add("frame-too-long", "bytes, not 6", replaced(work, &[(b"DICT", section)])?);
    let section = dictionary(&forms, b"b", &frame, 7, b"");
    add(
        "frame-too-short",
        "a frame unpacks to 6 bytes, not 7",
        replaced(work, &[(b"DICT", section)])?,
    );
    let section = dictionary(&forms, b"b", &[&frame[..], &frame].concat(), 6, b"");
    add("frame-twice", "not one Zstandard frame", replaced(work, &[(b"DICT", section)])?);
    let section = dictionary(&forms, b"b", b"no frame", 6, b"");
    add("frame-none", "section DICT", replaced(work, &[(b"DICT", section)])?);
    Ok(())
}

/// The section ITEM for items that are one block.
fn items(tokens: u64, rules: u64, stream: &[u8], classes: &Model, steps: &Model) -> Vec<u8> {
    let header = [varint(tokens), varint(rules), classes.write(), steps.write()].concat();
    [header, varint(stream.len() as u64), stream.to_vec()].concat()
}

/// The section SYMB for symbols that are one block.
fn symbols(count: u64, introduces: u64, model: &Model, stream: &[u8]) -> Vec<u8> {
    let header = [varint(count), model.write(), varint(introduces)].concat();
    [header, varint(stream.len() as u64), stream.to_vec()].concat()
}

fn grammars(work: &Path, add: &mut impl FnMut(&str, &str, Vec<u8>)) -> Result<()> {
    // Rules that are the next rule twice: 2^70 and 2^60 tokens.
    for (depth, name, error) in [
        (70, "exabytes", "would expand to more than 2^64 units"),
        (59, "exabytes-unrecorded", "expands to 2882303761517117440 bytes, recorded are 5"),
    ] {
        let bytes = edited(work, |parts| {
            let mut body = vec![1, 2];
            for rule in 0..depth {
                let child = if rule + 1 == depth { [0, 1] } else { [rule + 3; 2] };
                body.extend(child);
            }
            body[0] = 2;
            let starts = (0..=depth).map(|rule| 2 + 2 * rule).collect::<Vec<u32>>();
            parts.grammar = Grammar::new(2, body, starts, vec![0, 2]).expect("it is a grammar");
            let segment = &mut parts.summary.segments[0];
            segment.rules = depth.into();
            segment.symbols = u64::from(2 + 2 * depth);
        })?;
        add(name, error, bytes);
    }

    // Tokens of class 1, rules of class 1 and length 2, steps of -1 to 2.
    let (token, rule) = (1, 64 + 32);
    let classes = Model::new(&[token, rule]);
    let steps = Model::new(&[0, 2, 3, 6]);
    let class = |class| Step::Class(&classes, class);
    let step = |class| Step::Class(&steps, class);
    let item = |tokens, rules, coded: &[Step<'_>]| -> Result<Vec<u8>> {
        let section = items(tokens, rules, &stream(coded), &classes, &steps);
        replaced(work, &[(b"ITEM", section)])
    };
    let twice = item(2, 0, &[class(token), step(0), class(token), step(0)])?;
    add("token-twice", "token 0 is introduced twice", twice);
    let beyond = item(2, 0, &[class(token), step(6), Step::Bits(1, 2)])?;
    add("token-beyond", "token 5 of 2", beyond);
    let below = item(2, 0, &[class(token), step(3), class(token), step(0)])?;
    add("token-below", "token -1 of 2", below);
    let more = item(2, 0, &[class(token), step(0), class(rule)])?;
    add("rules-unannounced", "1 rules are described, 0 announced", more);
    let many = item(1 << 31, 0, &[class(token), step(0)])?;
    add("items-too-many", "items cannot be in", many);

    // What a good section has: both items are introduced, the last symbol first.
    let model = Model::new(&[0, 1, 5, 512 + 32, 512 + 32 + 2]);
    let class = |class| Step::Class(&model, class);
    let coded = |steps: &[Step<'_>]| -> Result<Vec<u8>> {
        replaced(work, &[(b"SYMB", symbols(2, 2, &model, &stream(steps)))])
    };
    let nothing = "a symbol refers to nothing";
    add("reference-before-any", nothing, coded(&[class(1), class(0)])?);
    add("reference-nearby", nothing, coded(&[class(0), class(5), Step::Bits(1, 1)])?);
    add("reference-by-frequency", nothing, coded(&[class(0), class(512 + 34), Step::Bits(0, 2)])?);
    add("introduces-too-little", "a block introduces too little", coded(&[class(0), class(1)])?);
    let both = stream(&[class(0), class(0)]);
    let replace = |section: Vec<u8>| replaced(work, &[(b"SYMB", section)]);
    let announced = replace(symbols(2, 3, &model, &both))?;
    add("introductions", "introductions", announced);
    let missing = replace(symbols(2, 1, &model, &both))?;
    add("introductions-missing", "section SYMB: 1", missing);
    add(
        "symbol-count",
        "3 symbols, where the rules have 2",
        replace(symbols(3, 2, &model, &both))?,
    );
    let unused = Model::new(&[0, 300]);
    let unused_stream = stream(&[Step::Class(&unused, 0), Step::Class(&unused, 0)]);
    add(
        "class-unused",
        "class 300 has no meaning",
        replace(symbols(2, 2, &unused, &unused_stream))?,
    );
    let end = "a coded stream does not end where its content does";
    add("stream-goes-on", end, replace(symbols(2, 2, &model, &[&both[..], &[0; 4]].concat()))?);
    add("stream-of-more", end, coded(&[class(0), class(0), class(1)])?);
    let odd = replace(symbols(2, 2, &model, &[&both[..], &[0; 3]].concat()))?;
    add("stream-of-no-words", "not made of whole words", odd);
    let zero = replace(symbols(2, 2, &model, &[0; 8]))?;
    add("stream-state", "starts in no possible state", zero);
    let mut section = symbols(2, 2, &model, &both);
    section[3] ^= 1;
    add("model-sum", "frequencies sum up to", replace(section)?);
    let certain =
        [varint(2), vec![1, 0], varint(16384), varint(2), varint(8), both.clone()].concat();
    add("model-certain", "16384 as a frequency", replace(certain)?);

    // A rule whose body begins with itself.
    let itself = items(
        2,
        1,
        &stream(&[
            Step::Class(&classes, rule),
            Step::Class(&classes, token),
            step(0),
            Step::Class(&classes, token),
            step(2),
        ]),
        &classes,
        &steps,
    );
    let body = symbols(4, 3, &model, &stream(&[class(0), class(0), class(0), class(1)]));
    let mut dense = Container::parse(&edited_dense(work)?);
    dense.section(b"ITEM").bytes = itself.clone();
    // One stream of the rule and one of the root.
    let lengths = [varint(4), varint(3), varint(12), varint(0), varint(4)].concat();
    dense.section(b"SYMX").bytes = [lengths, vec![0; 16]].concat();
    add("dense-rule-of-itself", "uses one that is not described yet", dense.to_bytes());
    let cycle = replaced(work, &[(b"ITEM", itself), (b"SYMB", body)])?;
    add("rule-of-itself", "a rule may use only rules of a higher number", cycle);
    let long = replaced(work, &[(b"ROOT", list(&[1 << 31, 1 << 31]))])?;
    add("root-too-long", "the root passes 2^32 symbols", long);
    Ok(())
}

/// Archives of level dense.
fn dense(work: &Path, add: &mut impl FnMut(&str, &str, Vec<u8>)) -> Result<()> {
    let good = Container::parse(&compressed(work, Level::Dense)?);
    let edited = |edit: &dyn Fn(&mut Container)| {
        let mut container = good.clone();
        edit(&mut container);
        container.to_bytes()
    };
    // The stream of the rules is the last in the section.
    let symbols = |edit: &dyn Fn(&mut Vec<u8>)| {
        edited(&|container| edit(&mut container.section(b"SYMX").bytes))
    };
    let cut = |bytes: &mut Vec<u8>| bytes.truncate(bytes.len() - 1);
    let announced = "are announced where";
    add("dense-cut-by-one", announced, symbols(&cut));
    let half = |bytes: &mut Vec<u8>| bytes.truncate(bytes.len() / 2);
    add("dense-cut-in-half", announced, symbols(&half));
    add("dense-cut-to-nothing", "section SYMX: ", symbols(&|bytes| bytes.truncate(1)));
    add("dense-goes-on", "section SYMX: 1 bytes follow its end", symbols(&|bytes| bytes.push(0)));
    let count = symbols(&|bytes| bytes[0] += 1);
    add("dense-symbol-count", "symbols, where the rules have", count);

    // Which kind has the symbols is a matter of the level.
    let fast = Container::parse(&compressed(work, Level::Fast)?);
    let info = |container: &Container| container.clone().section(b"INFO").bytes.clone();
    let relabelled = |container: &Container, other: &Container| {
        let mut container = container.clone();
        container.section(b"INFO").bytes = info(other);
        container.to_bytes()
    };
    add("dense-with-symb", "section SYMD is missing", relabelled(&fast, &good));
    add("fast-with-symx", "section SYMB is missing", relabelled(&good, &fast));
    let both = edited(&|container| {
        let symb = fast.clone().section(b"SYMB").clone();
        container.sections.push(symb);
    });
    add("dense-with-both", "section SYMB is of the other level", both);
    let twice = edited(&|container| {
        let mut symd = container.section(b"SYMX").clone();
        symd.kind = *b"SYMD";
        container.sections.push(symd);
    });
    add("dense-with-symd", "section SYMD is there beside SYMX", twice);
    let earlier = edited(&|container| container.version = 1);
    add("dense-version", "section SYMX is of a later version", earlier);

    // The text `to be`: two items, in one stream. Nothing is introduced yet when the first decision says
    // that it is not the next item. Then all decisions are zeros: the last item; or ones: a way that does
    // not exist.
    let parts = |introduced: u64, stream: &[u8]| -> Result<Vec<u8>> {
        let mut container = Container::parse(&edited_dense(work)?);
        let lengths = [varint(2), varint(introduced), varint(stream.len() as u64)].concat();
        container.section(b"SYMX").bytes = [&lengths, stream].concat();
        Ok(container.to_bytes())
    };
    let nothing = "section SYMX: a symbol refers to nothing";
    add("dense-reference", nothing, parts(2, &[0xFF; 12])?);
    add("dense-way", nothing, parts(2, &[0x80, 0x38, 0, 0, 0, 0, 0, 0, 0, 0])?);
    // All decisions are ones: both items are introduced, and bytes are left over.
    let end = "a mixed stream does not end where its content does";
    add("dense-stream-of-zeros", end, parts(2, &[0; 12])?);
    add("dense-stream-cut", "section SYMX: it ends early", parts(2, &[0; 3])?);
    add("dense-introductions-missing", "section SYMX: 1 of 2 items occur", parts(1, &[0; 4])?);

    // Documents of one word each, and the stream of others.
    let documents = |words: &[&str]| -> Result<Container> {
        let named = |(number, word): (usize, &&str)| Expected::new(format!("{number}"), *word);
        let documents: Vec<Expected> = words.iter().enumerate().map(named).collect();
        let options = CompressOptions { level: Level::Dense, ..CompressOptions::default() };
        Ok(Container::parse(&std::fs::read(compress(work, "words", &documents, &options)?)?))
    };
    let mut exchanged = |name: &str, error: &str, of: &[&str], stream: &[&str]| -> Result<()> {
        let mut container = documents(of)?;
        let other = documents(stream)?.section(b"SYMX").bytes.clone();
        let own = &mut container.section(b"SYMX").bytes;
        // The number of symbols, and how many of them are introduced.
        *own = [&own[..2], &other[2..]].concat();
        add(name, error, container.to_bytes());
        Ok(())
    };
    let little = "section SYMX: a stream introduces too little";
    exchanged("dense-introduces-too-little", little, &["x", "y", "x"], &["x", "x", "x"])?;
    let much = "section SYMX: a stream introduces too much";
    exchanged("dense-introduces-too-much", much, &["x", "y", "x"], &["x", "y", "z"])?;

    let mut many = Container::parse(&edited_dense(work)?);
    many.section(b"ROOT").bytes = list(&[1 << 20]);
    many.section(b"SYMX").bytes = [varint(1 << 20), vec![0; 32]].concat();
    add("dense-symbols-too-many", "1048576 symbols cannot be in 35 bytes", many.to_bytes());
    Ok(())
}

/// The text `to be`, dense.
fn edited_dense(work: &Path) -> Result<Vec<u8>> {
    edited(work, |parts| parts.summary.level = Level::Dense)
}
