//! Whatever is compressed comes back byte for byte: every case, lexer, builder, split and memory
//! budget; which names it may have, and which folder they are relative to.

use std::path::Path;

use tadoc_core::archive::{Archive, Base};
use tadoc_engine::access::{Access, Index};
use tadoc_engine::{
    Builder, CompressOptions, Corpus, CorpusFile, Editor, Error, Existing, Input, Level, Lexer,
    NamesFrom, SkippedFile, Source, Split,
};
use tadoc_oracle::cases;
use tadoc_testing::archives::{compress_with, inputs, least_memory, one_thread};

/// All documents of an archive.
fn contents(path: &Path) -> Vec<(Vec<u8>, Vec<u8>)> {
    let corpus = Corpus::open(path).unwrap();
    let documents = corpus.documents().unwrap();
    let content = |number: usize| {
        let mut bytes = Vec::new();
        corpus.write_documents(&[number], &mut bytes, &()).unwrap();
        (documents[number].name.clone(), bytes)
    };
    (0..documents.len()).map(content).collect()
}

fn sorted(documents: &[(String, Vec<u8>)]) -> Vec<(Vec<u8>, Vec<u8>)> {
    let mut sorted: Vec<(Vec<u8>, Vec<u8>)> =
        documents.iter().map(|(name, bytes)| (name.clone().into_bytes(), bytes.clone())).collect();
    sorted.sort();
    sorted
}

#[test]
fn every_case_comes_back() {
    let folder = tempfile::tempdir().unwrap();
    for case in cases() {
        for lexer in [Lexer::Words, Lexer::Whitespace] {
            for builder in [Builder::RePair, Builder::Sequitur] {
                for level in [Level::Fast, Level::Dense] {
                    let path = folder.path().join("case.tdc");
                    let options = CompressOptions {
                        lexer,
                        builder,
                        level,
                        force: true,
                        ..Default::default()
                    };
                    compress_with(&case.documents, &path, &options);
                    let found = contents(&path);
                    assert!(found == sorted(&case.documents), "{} {options:?}", case.name);
                    let report = Corpus::open(&path).unwrap().verify(&()).unwrap();
                    assert_eq!(report.documents, case.documents.len() as u64);
                }
            }
        }
    }
}

#[test]
fn lines_become_documents_and_joined_they_are_the_text() {
    let folder = tempfile::tempdir().unwrap();
    for case in cases() {
        let path = folder.path().join("case.tdc");
        let options = CompressOptions { split: Split::Lines, force: true, ..Default::default() };
        compress_with(&case.documents, &path, &options);
        let lines = contents(&path);
        assert!(lines.iter().all(|(_, line)| !line.is_empty()));
        for (name, bytes) in &case.documents {
            let prefix = format!("{name}:");
            let own = lines.iter().filter(|(line, _)| {
                line.starts_with(prefix.as_bytes()) && line.len() == prefix.len() + 10
            });
            let joined: Vec<u8> = own.flat_map(|(_, line)| line.clone()).collect();
            assert!(&joined == bytes, "{} {name}", case.name);
        }
        Corpus::open(&path).unwrap().verify(&()).unwrap();
    }
}

/// Text of some megabytes in which words, lines and numbers come again.
fn long_text(seed: u64, bytes: usize) -> Vec<u8> {
    let mut state = seed;
    let mut text = Vec::with_capacity(bytes + 100);
    while text.len() < bytes {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let line = match state % 5 {
            0 => format!("{:016x} request {} served\n", state, state % 1000),
            1 => "the quick brown fox jumps over the lazy dog ".to_owned(),
            2 => format!("user{} logged in from 10.0.{}.{}\n", state % 97, state % 7, state % 251),
            3 => format!("日本語{}の文章 ", state % 13),
            _ => format!("word{} ", state % 50_000),
        };
        text.extend_from_slice(line.as_bytes());
    }
    text
}

#[test]
fn a_text_of_many_batches_is_the_same_on_any_number_of_threads() {
    let folder = tempfile::tempdir().unwrap();
    let files = folder.path().join("files");
    std::fs::create_dir(&files).unwrap();
    let documents = [("a", 30_000_000), ("b", 10), ("c", 0), ("d", 9_000_000), ("e", 8 << 20)];
    let text: Vec<(String, Vec<u8>)> = documents
        .iter()
        .map(|&(name, bytes)| {
            let mut text = long_text(7 + bytes as u64, bytes);
            text.truncate(bytes);
            std::fs::write(files.join(name), &text).unwrap();
            (name.to_owned(), text)
        })
        .collect();
    let mut archives = Vec::new();
    for threads in [1, 3] {
        let path = folder.path().join(format!("{threads}.tdc"));
        let files = documents
            .iter()
            .map(|(name, _)| Input::new(*name, Source::File(files.join(name))))
            .collect();
        let options = CompressOptions { threads: Some(threads), ..Default::default() };
        tadoc_engine::compress(files, &path, &options, &()).unwrap();
        assert!(contents(&path) == sorted(&text));
        Corpus::open(&path).unwrap().verify(&()).unwrap();
        archives.push(std::fs::read(&path).unwrap());
    }
    assert!(archives[0] == archives[1], "the archive depends on the threads");

    // As streams, cut elsewhere, and in as little memory as can be: several segments.
    let path = folder.path().join("segments.tdc");
    let options =
        CompressOptions { threads: Some(2), memory: Some(160 << 20), ..Default::default() };
    let streams = text
        .iter()
        .map(|(name, bytes)| {
            let bytes = bytes.clone();
            let open: tadoc_engine::compress::Opener =
                Box::new(|| Ok(Box::new(std::io::Cursor::new(bytes))));
            Input::new(name.as_bytes(), Source::Stream(name.into(), open))
        })
        .collect();
    let report = tadoc_engine::compress(streams, &path, &options, &()).unwrap();
    assert!(report.segments > 1, "{report:?}");
    assert!(contents(&path) == sorted(&text));
    Corpus::open(&path).unwrap().verify(&()).unwrap();

    let transcoded = folder.path().join("dense.tdc");
    tadoc_engine::transcode(&path, &transcoded, Level::Dense, false, &()).unwrap();
    assert!(contents(&transcoded) == sorted(&text));
    assert!(transcoded.metadata().unwrap().len() < path.metadata().unwrap().len());
}

/// Lines that come again in other orders: many tokens, and a small grammar.
fn repetitive_text(seed: u64, bytes: usize) -> Vec<u8> {
    let mut state = seed;
    let mut text = Vec::with_capacity(bytes + 100);
    while text.len() < bytes {
        state = state.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(1);
        let line = match state >> 60 {
            0 => format!("a ship of {} tons is expected\n", state >> 40 & 1023),
            kind => format!("gauge {kind} at the pier tells how high the water stands\n"),
        };
        text.extend_from_slice(line.as_bytes());
    }
    text.truncate(bytes);
    text
}

#[test]
fn parts_that_fit_become_one_segment_and_others_several() {
    let folder = tempfile::tempdir().unwrap();
    let documents: Vec<(String, Vec<u8>)> =
        [("a", 21_000_000), ("b", 10), ("c", 0), ("d", 9_000_000), ("e", 1 << 20)]
            .map(|(name, bytes)| (name.to_owned(), repetitive_text(bytes as u64, bytes)))
            .into();
    let path = folder.path().join("corpus.tdc");
    let least = least_memory(&path);
    let compressed = |memory: u64, threads: usize| {
        let options = CompressOptions {
            threads: Some(threads),
            memory: Some(memory),
            force: true,
            ..Default::default()
        };
        let report = compress_with(&documents, &path, &options);
        (report.segments, std::fs::read(&path).unwrap())
    };
    let (segments, whole) = compressed(2 << 30, 2);
    assert_eq!(segments, 1);
    let archive = tadoc_core::archive::Archive::open(&path).unwrap();
    let tokens: u64 = archive.summary().segments.iter().map(|segment| segment.tokens).sum();
    // A token takes 30 bytes: in this memory, there are three parts at least.
    let enough = least + 60 * tokens / 5;
    let (segments, united) = compressed(enough, 2);
    assert_eq!(segments, 1);
    assert!(united.len() * 100 < whole.len() * 103, "{} of {}", united.len(), whole.len());
    assert!(contents(&path) == sorted(&documents));
    Corpus::open(&path).unwrap().verify(&()).unwrap();
    let (segments, several) = compressed(least + (1 << 16), 2);
    assert!(segments > 2, "{segments}");
    assert!(contents(&path) == sorted(&documents));
    for threads in [1, 5, 16] {
        assert!(compressed(enough, threads).1 == united, "{threads} threads");
        assert!(compressed(least + (1 << 16), threads).1 == several, "{threads} threads");
    }
}

/// A stream that fails behind a part that was paired leaves nothing.
#[test]
fn errors_behind_parts_leave_nothing() {
    struct Failing(std::io::Cursor<Vec<u8>>);
    impl std::io::Read for Failing {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            match self.0.read(buffer)? {
                0 => Err(std::io::Error::other("the cable was cut")),
                read => Ok(read),
            }
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("corpus.tdc");
    let memory = Some(least_memory(&path) + (32 << 20));
    let open = || Ok(Failing(std::io::Cursor::new(repetitive_text(1, 20_000_000))));
    let input = Input::new("a", Source::stream("a", open));
    let options = CompressOptions { threads: Some(2), memory, ..Default::default() };
    let error = tadoc_engine::compress(vec![input], &path, &options, &()).unwrap_err();
    assert!(error.to_string().contains('a'), "{error}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn files_come_back_with_their_times_and_modes() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("corpus.tdc");
    let mut documents: Vec<(String, Vec<u8>)> = vec![
        ("plain".into(), b"text".to_vec()),
        ("deep/er/file".into(), b"".to_vec()),
        ("deep/file".into(), b"more text".to_vec()),
    ];
    let mut inputs = inputs(&documents);
    for (number, input) in inputs.iter_mut().enumerate() {
        input.mode = Some(0o640 + number as u32);
        input.modified = Some(tadoc_engine::Timestamp {
            seconds: -5 + number as i64 * 1_000_000_000,
            nanoseconds: 123_456_789,
        });
    }
    tadoc_engine::compress(inputs, &path, &CompressOptions::default(), &()).unwrap();
    let corpus = Corpus::open(&path).unwrap();
    let out = folder.path().join("out");
    let files = corpus.files(false).unwrap();
    let report = corpus.restore(&files, &out, Existing::Refuse, &()).unwrap();
    assert_eq!((report.files, report.bytes), (3, 13));
    for (number, (name, bytes)) in documents.iter().enumerate() {
        assert_eq!(&std::fs::read(out.join(name)).unwrap(), bytes);
        let metadata = out.join(name).metadata().unwrap();
        assert_eq!(metadata.permissions().mode() & 0o777, 0o640 + number as u32);
        assert_eq!(
            (metadata.mtime(), metadata.mtime_nsec()),
            (-5 + number as i64 * 1_000_000_000, 123_456_789)
        );
    }
    // Nothing is replaced without being asked for, and nothing is left beside.
    let again = corpus.restore(&files, &out, Existing::Refuse, &()).unwrap();
    let exists =
        |skipped: &SkippedFile| matches!(skipped.error, tadoc_engine::Error::Exists { .. });
    assert!(again.skipped.len() == 3 && again.skipped.iter().all(exists), "{again:?}");
    let kept = corpus.restore(&files, &out, Existing::Keep, &()).unwrap();
    assert_eq!((kept.kept, kept.files, kept.skipped.len()), (3, 0, 0));
    let replaced = corpus.restore(&files, &out, Existing::Replace, &()).unwrap();
    assert_eq!(replaced.files, 3);
    assert_eq!(std::fs::read_dir(&out).unwrap().count(), 2);
    documents.clear();
}

#[test]
fn links_in_the_way_are_not_followed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("corpus.tdc");
    let documents = [("sub/file".to_owned(), b"text".to_vec())];
    compress_with(&documents, &path, &CompressOptions::default());
    let corpus = Corpus::open(&path).unwrap();
    let (out, elsewhere) = (folder.path().join("out"), folder.path().join("elsewhere"));
    std::fs::create_dir_all(&out).unwrap();
    std::fs::create_dir_all(&elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, out.join("sub")).unwrap();
    let files = corpus.files(false).unwrap();
    for existing in [Existing::Refuse, Existing::Keep, Existing::Replace] {
        let refused = corpus.restore(&files, &out, existing, &()).unwrap().skipped;
        assert!(matches!(refused[0].error, tadoc_engine::Error::UnsafeName { .. }), "{refused:?}");
    }
    assert_eq!(std::fs::read_dir(&elsewhere).unwrap().count(), 0);
    // A link where the file shall be is replaced, not written through.
    std::fs::remove_file(out.join("sub")).unwrap();
    std::fs::create_dir(out.join("sub")).unwrap();
    std::fs::write(elsewhere.join("target"), b"precious").unwrap();
    std::os::unix::fs::symlink(elsewhere.join("target"), out.join("sub/file")).unwrap();
    let refused = corpus.restore(&files, &out, Existing::Refuse, &()).unwrap().skipped;
    assert!(matches!(refused[0].error, tadoc_engine::Error::Exists { .. }), "{refused:?}");
    corpus.restore(&files, &out, Existing::Replace, &()).unwrap();
    assert_eq!(std::fs::read(elsewhere.join("target")).unwrap(), b"precious");
    assert_eq!(std::fs::read(out.join("sub/file")).unwrap(), b"text");
}

/// Found by the fuzzer: a segment that was full after an input without lines ended the work.
#[test]
fn lines_behind_an_empty_input_come_back_in_the_least_memory() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("corpus.tdc");
    let documents = [("a".to_owned(), b"".to_vec()), ("b".to_owned(), b"text\nand more".to_vec())];
    let memory = Some(least_memory(&path));
    let options = CompressOptions { split: Split::Lines, memory, ..one_thread() };
    compress_with(&documents, &path, &options);
    let lines: Vec<Vec<u8>> = contents(&path).into_iter().map(|(_, line)| line).collect();
    assert_eq!(lines, [&b"text\n"[..], b"and more"]);
}

/// Found on a machine of 16 cores: what the threads might take of the default memory left nothing for a segment, and
/// every batch became one.
#[test]
fn segments_do_not_depend_on_threads() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("corpus.tdc");
    let line = b"the tide gauge at the pier tells how high the water stands\n";
    let documents = [("text".to_owned(), line.repeat(24 << 20 >> 6))];
    for threads in [1, 16, 1000] {
        let options = CompressOptions { threads: Some(threads), force: true, ..Default::default() };
        let report = compress_with(&documents, &path, &options);
        assert_eq!(report.segments, 1, "{threads} threads");
    }
    assert!(contents(&path)[0].1 == documents[0].1);
}

/// Separators between words that come once can be guessed, and cost next to nothing.
#[test]
fn symbols_that_cost_nothing_come_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("corpus.tdc");
    let text: String = (0..300_000).map(|number| format!("w{number},")).collect();
    for level in [Level::Fast, Level::Dense] {
        let documents = [("text".to_owned(), text.clone().into_bytes())];
        let options = CompressOptions { level, force: true, ..Default::default() };
        compress_with(&documents, &path, &options);
        assert!(contents(&path) == sorted(&documents), "{level:?}");
    }
}

/// Places that are not there, or do not ascend, are refused before anything is written.
#[test]
fn places_of_documents_are_checked() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("c.tdc");
    let documents = ["a", "b", "c"].map(|name| (name.to_owned(), name.as_bytes().to_vec()));
    tadoc_engine::compress(inputs(&documents), &path, &CompressOptions::default(), &()).unwrap();
    let corpus = Corpus::open(&path).unwrap();
    let access = Access::open(&corpus, Index::Fast).unwrap();
    let files = corpus.files(true).unwrap();
    let target = folder.path().join("restored");
    for (places, wrong) in
        [(&[3][..], 3), (&[0, 5], 5), (&[1, 0], 0), (&[1, 1], 1), (&[2, 0, usize::MAX], u32::MAX)]
    {
        let mut text = Vec::new();
        let file = CorpusFile { document: files[0].document.clone(), places: places.to_vec() };
        let refused = [
            corpus.write_documents(places, &mut text, &()).map(drop),
            access.write_documents(places, &mut text).map(drop),
            corpus.restore(&[file], &target, Existing::Refuse, &()).map(drop),
        ];
        for refused in refused {
            let error = refused.unwrap_err();
            let is_told =
                matches!(error, Error::BadChoice { number, documents: 3 } if number == wrong);
            assert!(is_told, "{places:?}: {error:?}");
        }
        assert!(text.is_empty() && !target.exists(), "{places:?}");
    }
    // A document is in one file.
    let twice = [files[1].clone(), files[1].clone()];
    let refused = corpus.restore(&twice, &target, Existing::Replace, &());
    assert!(matches!(refused, Err(Error::BadChoice { number: 1, documents: 3 })));
    // Files may come in any order.
    let backwards: Vec<CorpusFile> = files.into_iter().rev().collect();
    let report = corpus.restore(&backwards, &target, Existing::Refuse, &()).unwrap();
    assert_eq!(report.files, 3);
    assert_eq!(std::fs::read(target.join("b")).unwrap(), b"b");
}

#[test]
fn names_that_no_file_below_a_folder_can_have() {
    let folder = tempfile::tempdir().unwrap();
    let made = |name: &[u8]| {
        let input = Input::new(name, Source::Bytes(Vec::new()));
        tadoc_engine::compress(vec![input], &folder.path().join("c.tdc"), &one_thread(), &())
    };
    for (name, reason) in [
        (&b"/etc/passwd"[..], "absolute"),
        (b"../x", "leads out"),
        (b"a/../../x", "leads out"),
        (b"..", "leads out"),
        (b"", "is empty"),
        (b"a//b", "empty part"),
        (b"./a", "empty part"),
        (b"a/.", "empty part"),
        (b"a/", "empty part"),
        (b"a\0b", "NUL"),
        (b".tadoc-1-0", "on their way"),
        (b"a/.tadoc-4000000000-12", "on their way"),
    ] {
        let Err(Error::BadName { reason: refused, .. }) = made(name) else { panic!() };
        assert!(refused.contains(reason), "{}: {refused}", name.escape_ascii());
    }
    for name in [
        &b"a"[..],
        b"a/b",
        b"...",
        b"..a/b..",
        b"\xff",
        b"a\\..\\b",
        b".tadoc-1",
        b".tadoc-01-0",
        b".tadoc-1-0-0",
        b".tadoc-1-0/a",
        b".tadoc-5000000000-0",
    ] {
        made(name).unwrap();
    }
}

#[test]
fn a_file_beside_a_folder_of_its_name_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let found = |names: &[&str]| {
        let input = |name: &&str| Input::new(name.as_bytes(), Source::Bytes(Vec::new()));
        let inputs = names.iter().map(input).collect();
        let path = folder.path().join("c.tdc");
        let made = tadoc_engine::compress(inputs, &path, &one_thread(), &());
        made.err().map(|error| error.to_string())
    };
    assert_eq!(found(&["a", "a.b", "a!/b", "ab/c", "b/a", "b/b"]), None);
    assert_eq!(found(&["a/b/c", "a/b/d", "a/bc", "a/b c/d"]), None);
    for names in [
        &["a", "a!", "a/b"][..],
        &["a", "a/b/c"],
        &["a/b", "a/b!", "a/b/c", "z"],
        &["x", "a/c", "a/c/d/e"],
        &["a/b/c", "a/b/c/d", "a/b/ca"],
    ] {
        assert!(found(names).unwrap().contains("both a document and a folder"), "{names:?}");
    }
}

/// Makes an archive whose names are relative to a folder.
fn named_from(folder: &Path, archive: &Path) {
    let names_from = Some(NamesFrom::new(folder, ""));
    compress_with(&[], archive, &CompressOptions { names_from, ..one_thread() });
}

fn names_from(archive: &Path) -> Option<NamesFrom> {
    Editor::open(archive).unwrap().begin().unwrap().names_from()
}

#[test]
fn folders_are_recorded_from_the_archive_or_hashed() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    std::fs::create_dir_all(root.join("a/b")).unwrap();
    std::fs::create_dir_all(root.join("c")).unwrap();
    let base_of = |of: &Path, at: &str| {
        named_from(of, &root.join(at));
        Archive::open(&root.join(at)).unwrap().summary().origin.clone().unwrap().base
    };
    let base = |of: &str, at: &str| base_of(&root.join(of), at);
    assert_eq!(base("a/b", "x.tdc"), Base::Relative(b"a/b".to_vec()));
    assert_eq!(base("a", "a/x.tdc"), Base::Relative(b"".to_vec()));
    assert_eq!(base("a", "a/b/x.tdc"), Base::Relative(b"..".to_vec()));
    assert_eq!(base("", "a/b/x.tdc"), Base::Relative(b"../..".to_vec()));
    assert!(matches!(base("a", "c/x.tdc"), Base::Hashed(_)));
    assert!(matches!(base_of(Path::new("/"), "x.tdc"), Base::Hashed(_)));
    for (of, at) in [("a/b", "x.tdc"), ("a", "a/b/x.tdc"), ("a", "c/x.tdc")] {
        let (of, at) = (root.join(of), root.join(at));
        named_from(&of, &at);
        let naming = names_from(&at).unwrap();
        assert_eq!(naming.relative(&of.join("d/e")), Some(Path::new("d/e")));
        assert_eq!(naming.relative(&of), Some(Path::new("")));
        assert_eq!(naming.relative(&root.join("c/elsewhere")), None);
    }
}

#[test]
fn a_copy_elsewhere_means_the_same_folder() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    std::fs::create_dir_all(root.join("a/b")).unwrap();
    std::fs::create_dir_all(root.join("c")).unwrap();
    let (from, to) = (root.join("x.tdc"), root.join("c/x.tdc"));
    named_from(&root.join("a/b"), &from);
    tadoc_engine::transcode(&from, &to, Level::Dense, false, &()).unwrap();
    let naming = names_from(&to).unwrap();
    assert_eq!(naming.relative(&root.join("a/b/d")), Some(Path::new("d")));
    // A base that is gone names nothing.
    std::fs::remove_dir(root.join("a/b")).unwrap();
    assert!(names_from(&from).is_none());
}

#[test]
fn lines_are_known_by_their_names() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("c.tdc");
    for (name, file) in [
        ("a:0000000001", "a"),
        ("a:0000000001:0123456789", "a:0000000001"),
        ("a", "a"),
        (":0000000001", ":0000000001"),
        ("a:000000001", "a:000000001"),
        ("a:00000000001", "a:00000000001"),
        ("a:000000000x", "a:000000000x"),
    ] {
        compress_with(&[], &path, &CompressOptions { split: Split::Lines, ..one_thread() });
        let mut transaction = Editor::open(&path).unwrap().begin().unwrap();
        transaction.add(name, b"text").unwrap();
        let files = transaction.corpus().unwrap().files(false).unwrap();
        assert_eq!(files.len(), 1);
        assert_eq!(files[0].document.name, file.as_bytes());
    }
}
