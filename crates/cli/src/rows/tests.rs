//! Every format on awkward answers, read back where there is a reader.

use std::fs;
use std::ops::Range;
use std::os::fd::AsRawFd;
use std::path::Path;

use tadoc::text::{unescape, unescape_utf8};
use tadoc::{Column, Entries, Rows, Value};

use super::{Format, FormatArguments, RowWriter};

const COLUMNS: &[Column] = &[
    Column::text("sequence"),
    Column::text("document"),
    Column::count("count"),
    Column::real("weight"),
];

type Row = ([Vec<u8>; 2], Vec<u8>, u64, f64);

/// Rows of two terms, a name, and two numbers.
#[derive(Clone)]
struct Answer(Vec<Row>);

impl Rows for Answer {
    fn columns(&self) -> &'static [Column] {
        COLUMNS
    }

    fn len(&self) -> u64 {
        self.0.len() as u64
    }

    fn visit(&self, rows: Range<u64>, each: &mut dyn FnMut(&[Value<'_>])) {
        for ([first, second], name, count, weight) in
            &self.0[rows.start as usize..rows.end as usize]
        {
            each(&[
                Value::Terms(&[first, second]),
                Value::Text(name),
                Value::Count(*count),
                Value::Real(*weight),
            ]);
        }
    }
}

/// Document by term, where row `i` is document `i / 3` and term `i % 3`.
impl Entries for Answer {
    fn shape(&self) -> (u64, u64) {
        (self.len().div_ceil(3), 3)
    }

    fn visit_entries(&self, rows: Range<u64>, each: &mut dyn FnMut(u64, u64, Value<'_>)) {
        for row in rows {
            each(row / 3, row % 3, Value::Real(self.0[row as usize].3));
        }
    }
}

const TEXTS: [&[u8]; 16] = [
    b"plain",
    b"",
    b"tab\tfeed\nreturn\r",
    b"back\\slash \\xff \\n",
    b"\"quoted\", and comma",
    b"nul\0 escape\x1b delete\x7f",
    b"not \xff\xfe UTF-8 \xe2\x82",
    b"\xc3\x28,\"\t\\",
    "日本語".as_bytes(),
    "e\u{301} \u{200d}\u{202e}".as_bytes(),
    "🙂\u{9b}".as_bytes(),
    b" spaces ",
    b"\\",
    b"\xff",
    b",",
    b"NA",
];

const REALS: [f64; 12] = [
    0.0,
    -0.0,
    1.0,
    -17.0,
    0.1,
    1e21,
    f64::MAX,
    f64::MIN_POSITIVE,
    5e-324,
    f64::NAN,
    f64::INFINITY,
    f64::NEG_INFINITY,
];

/// Every awkward text in both columns, every awkward number.
fn awkward() -> Answer {
    let counts = [0, 1, 999, 1000, u64::from(u32::MAX), 1 << 53, u64::MAX];
    let mut rows = Vec::new();
    for (place, text) in TEXTS.iter().enumerate() {
        for (other, name) in TEXTS.iter().enumerate() {
            let terms = [text.to_vec(), TEXTS[(place + other) % TEXTS.len()].to_vec()];
            let number = place * TEXTS.len() + other;
            rows.push((
                terms,
                name.to_vec(),
                counts[number % counts.len()],
                REALS[number % REALS.len()],
            ));
        }
    }
    Answer(rows)
}

/// Many rows, awkward ones among them.
fn many(count: usize) -> Answer {
    let awkward = awkward().0;
    let row = |number: usize| {
        if number.is_multiple_of(97) {
            return awkward[number / 97 % awkward.len()].clone();
        }
        let terms = [format!("term{number}").into_bytes(), b"x".repeat(number % 19)];
        (
            terms,
            format!("folder/{}.txt", number / 1000).into_bytes(),
            number as u64,
            number as f64 / 8.0,
        )
    };
    Answer((0..count).map(row).collect())
}

fn join(terms: &[Vec<u8>; 2]) -> Vec<u8> {
    terms.join(&b' ')
}

fn write(format: Format, batches: &[Answer]) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("answer");
    let mut writer = RowWriter::open(&to_file(format, &path), COLUMNS).unwrap();
    for batch in batches {
        writer.write(batch).unwrap();
    }
    writer.finish().unwrap();
    fs::read(path).unwrap()
}

pub fn to_file(format: Format, path: &Path) -> FormatArguments {
    FormatArguments {
        format: Some(format),
        output: Some(path.into()),
        ..FormatArguments::default()
    }
}

fn text(format: Format, answer: &Answer) -> String {
    String::from_utf8(write(format, std::slice::from_ref(answer))).unwrap()
}

/// Equal, where one NaN is as good as another, and zeros have signs.
fn same(left: f64, right: f64) -> bool {
    left.to_bits() == right.to_bits() || (left.is_nan() && right.is_nan())
}

pub fn formats() -> Vec<Format> {
    let mut formats = vec![Format::Table, Format::Tsv, Format::Csv, Format::Json, Format::Jsonl];
    if cfg!(feature = "columns") {
        formats.extend([Format::Arrow, Format::Arrows, Format::Parquet]);
    }
    formats
}

#[test]
fn tsv_reads_back() {
    let answer = awkward();
    let text = text(Format::Tsv, &answer);
    assert_eq!(text.matches('\n').count(), answer.0.len());
    assert!(!text.contains('\r'));
    for (line, (terms, name, count, weight)) in text.split('\n').zip(&answer.0) {
        let fields: Vec<&str> = line.split('\t').collect();
        assert_eq!(fields.len(), 4, "{line}");
        assert_eq!(unescape(fields[0]).unwrap(), join(terms));
        assert_eq!(unescape(fields[1]).unwrap(), *name);
        assert_eq!(fields[2].parse(), Ok(*count));
        assert!(same(fields[3].parse().unwrap(), *weight), "{line}");
    }
}

#[test]
fn tsv_is_what_the_contract_says() {
    let row = |name: &[u8], weight| ([b"a".to_vec(), b"b\\".to_vec()], name.to_vec(), 7, weight);
    let answer = Answer(vec![
        row(b"\t\n\r\xff\x01", 1.0),
        row("é".as_bytes(), 0.1),
        row(b"", 1e300),
        row(b"x", -0.0),
        row(b"x", f64::NAN),
        row(b"x", f64::NEG_INFINITY),
    ]);
    assert_eq!(
        text(Format::Tsv, &answer),
        "a b\\\\\t\\t\\n\\r\\xff\x01\t7\t1.0
a b\\\\\té\t7\t0.1
a b\\\\\t\t7\t1e+300
a b\\\\\tx\t7\t-0.0
a b\\\\\tx\t7\tNaN
a b\\\\\tx\t7\t-inf\n"
    );
}

/// The fields of a CSV file, by the grammar of RFC 4180.
fn parse_csv(text: &str) -> Vec<Vec<String>> {
    let mut records = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let mut record = Vec::new();
        loop {
            let field = if let Some(quoted) = rest.strip_prefix('"') {
                let mut field = String::new();
                let mut inside = quoted;
                loop {
                    let (before, after) = inside.split_once('"').unwrap();
                    field.push_str(before);
                    inside = after;
                    match inside.strip_prefix('"') {
                        Some(after) => {
                            field.push('"');
                            inside = after;
                        }
                        None => break,
                    }
                }
                rest = inside;
                field
            } else {
                let end = rest.find([',', '\n']).unwrap();
                let field = rest[..end].to_owned();
                assert!(!field.contains(['"', '\r']));
                rest = &rest[end..];
                field
            };
            record.push(field);
            let ended = rest.starts_with('\n');
            assert!(ended || rest.starts_with(','), "{rest}");
            rest = &rest[1..];
            if ended {
                break;
            }
        }
        records.push(record);
    }
    records
}

#[test]
fn csv_reads_back() {
    let answer = awkward();
    let text = text(Format::Csv, &answer);
    let records = parse_csv(&text);
    assert_eq!(records[0], ["sequence", "document", "count", "weight"]);
    assert_eq!(records.len(), answer.0.len() + 1);
    for (record, (terms, name, count, weight)) in records[1..].iter().zip(&answer.0) {
        assert_eq!(unescape_utf8(&record[0]), join(terms));
        assert_eq!(unescape_utf8(&record[1]), *name);
        assert_eq!(record[2].parse(), Ok(*count));
        assert!(same(record[3].parse().unwrap(), *weight));
        // What is UTF-8 and looks like no escape is as it is.
        if let Ok(name) = std::str::from_utf8(name)
            && !name.contains("\\x")
        {
            assert_eq!(record[1], name);
        }
    }
    assert!(text.contains("\nplain ,\"\",1,"), "empty text is in quotes");
}

#[test]
fn json_reads_back() {
    use base64::prelude::{BASE64_STANDARD, Engine};
    let answer = awkward();
    let text = text(Format::Jsonl, &answer);
    assert_eq!(text.lines().count(), answer.0.len());
    // The array has the same objects.
    let array: Vec<serde_json::Value> =
        serde_json::from_str(&super::tests::text(Format::Json, &answer)).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
    assert_eq!(lines.collect::<Vec<serde_json::Value>>(), array);
    for (line, (terms, name, count, weight)) in text.lines().zip(&answer.0) {
        let object: serde_json::Map<String, serde_json::Value> =
            serde_json::from_str(line).unwrap();
        assert_eq!(object.len(), 4, "{line}");
        let bytes = |key: &str| match object.get(key) {
            Some(text) => text.as_str().unwrap().as_bytes().to_vec(),
            None => {
                let text = object[&format!("{key}_base64")].as_str().unwrap();
                let bytes = BASE64_STANDARD.decode(text).unwrap();
                assert!(std::str::from_utf8(&bytes).is_err());
                bytes
            }
        };
        assert_eq!(bytes("sequence"), join(terms));
        assert_eq!(bytes("document"), *name);
        assert_eq!(object["count"].as_u64(), Some(*count));
        match object["weight"].as_f64() {
            Some(number) => assert!(same(number, *weight), "{line}"),
            None => assert!(object["weight"].is_null() && !weight.is_finite()),
        }
    }
}

#[test]
fn json_is_what_the_contract_says() {
    let answer =
        Answer(vec![([b"\"a\\".to_vec(), b"\x01\t".to_vec()], b"\xff\xfe".to_vec(), 3, 2.0)]);
    assert_eq!(
        text(Format::Jsonl, &answer),
        "{\"sequence\":\"\\\"a\\\\ \\u0001\\t\",\"document_base64\":\"//4=\",\"count\":3,\"weight\":2.0}\n"
    );
    let lines = text(Format::Jsonl, &answer);
    assert_eq!(text(Format::Json, &answer), format!("[\n{}\n]\n", lines.trim_end()));
    assert_eq!(text(Format::Json, &Answer(Vec::new())), "[]\n");
}

#[test]
fn tables_have_no_control_characters() {
    let text = text(Format::Table, &awkward());
    assert!(text.starts_with("sequence"));
    assert!(text.chars().all(|character| character == '\n' || !character.is_control()));
    assert_eq!(text.lines().count(), awkward().0.len() + 1);
    assert!(text.contains("18,446,744,073,709,551,615"));
}

#[cfg(feature = "columns")]
mod columns {
    use super::*;
    use arrow_array::cast::AsArray;
    use arrow_array::types::{Float64Type, UInt64Type};
    use arrow_array::{Array, RecordBatch};
    use arrow_schema::DataType;
    use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
    use std::io::Write;

    fn check(batches: &[RecordBatch], answer: &Answer) {
        let mut rows = answer.0.iter();
        for batch in batches {
            let types: Vec<DataType> =
                batch.schema().fields().iter().map(|field| field.data_type().clone()).collect();
            assert_eq!(
                types,
                [DataType::Utf8, DataType::Utf8, DataType::UInt64, DataType::Float64]
            );
            for place in 0..batch.num_rows() {
                let (terms, name, count, weight) = rows.next().unwrap();
                let text = |column: usize| batch.column(column).as_string::<i32>().value(place);
                assert_eq!(unescape_utf8(text(0)), join(terms));
                assert_eq!(unescape_utf8(text(1)), *name);
                assert_eq!(batch.column(2).as_primitive::<UInt64Type>().value(place), *count);
                let number = batch.column(3).as_primitive::<Float64Type>().value(place);
                assert!(same(number, *weight));
                assert!(batch.columns().iter().all(|column| column.null_count() == 0));
            }
        }
        assert!(rows.next().is_none());
    }

    fn read_stream(bytes: &[u8]) -> Vec<RecordBatch> {
        let reader = arrow_ipc::reader::StreamReader::try_new(bytes, None).unwrap();
        reader.map(Result::unwrap).collect()
    }

    fn read_file(bytes: &[u8]) -> Vec<RecordBatch> {
        assert!(bytes.starts_with(b"ARROW1") && bytes.ends_with(b"ARROW1"));
        let bytes = std::io::Cursor::new(bytes);
        let reader = arrow_ipc::reader::FileReader::try_new(bytes, None).unwrap();
        reader.map(Result::unwrap).collect()
    }

    #[test]
    fn arrow_reads_back() {
        for answer in [awkward(), many(100_000), Answer(Vec::new())] {
            check(&read_stream(&write(Format::Arrows, std::slice::from_ref(&answer))), &answer);
            check(&read_file(&write(Format::Arrow, std::slice::from_ref(&answer))), &answer);
        }
    }

    #[test]
    fn parquet_reads_back() {
        for answer in [awkward(), many(600_000), Answer(Vec::new())] {
            let bytes = write(Format::Parquet, std::slice::from_ref(&answer));
            let mut file = tempfile::tempfile().unwrap();
            file.write_all(&bytes).unwrap();
            let reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
            let groups = reader.metadata().num_row_groups();
            assert_eq!(groups, answer.0.len().div_ceil(1 << 18));
            let batches: Vec<RecordBatch> = reader.build().unwrap().map(Result::unwrap).collect();
            check(&batches, &answer);
        }
    }

    #[test]
    fn long_text_cuts_batches() {
        let long = vec![b'x'; 40 << 20];
        let row = || ([long.clone(), Vec::new()], b"name".to_vec(), 1, 0.5);
        let answer = Answer(vec![row(), row(), row()]);
        let batches = read_file(&write(Format::Arrow, std::slice::from_ref(&answer)));
        let rows: Vec<usize> = batches.iter().map(RecordBatch::num_rows).collect();
        assert_eq!(rows, [2, 1]);
        check(&batches, &answer);
    }
}

#[test]
fn matrices() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("answer.mtx");
    let output = Some(path.clone());
    let arguments = FormatArguments { output, ..FormatArguments::default() };
    let refused = RowWriter::open(&arguments, COLUMNS).err().unwrap();
    assert!(refused.to_string().contains("no matrix"), "{refused}");
    let row = |weight| ([Vec::new(), Vec::new()], Vec::new(), 0, weight);
    let answer = Answer(vec![row(0.5), row(2.0), row(1e300), row(-3.0)]);
    let mut writer = RowWriter::open_matrix(&arguments, COLUMNS).unwrap();
    writer.write_entries(&answer).unwrap();
    assert!(writer.write_entries(&answer).is_err());
    assert!(writer.write(&answer).is_err());
    writer.finish().unwrap();
    let text = fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "%%MatrixMarket matrix coordinate real general");
    assert!(lines[1].starts_with("% ") && lines[1].contains("`tadoc list`"));
    assert_eq!(lines[2..], ["2 3 4", "1 1 0.5", "1 2 2.0", "1 3 1e+300", "2 1 -3.0"]);
    // In other formats, entries are rows.
    let path = folder.path().join("answer.tsv");
    let arguments = to_file(Format::Tsv, &path);
    let mut writer = RowWriter::open_matrix(&arguments, COLUMNS).unwrap();
    writer.write_entries(&answer).unwrap();
    writer.finish().unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), super::tests::text(Format::Tsv, &answer));
}

#[test]
fn neither_threads_nor_batches_change_the_bytes() {
    // More rows than the largest part has, so that every way of cutting is met.
    let answer = many(300_000);
    for format in formats() {
        let whole = write(format, std::slice::from_ref(&answer));
        for threads in [1, 2, 7] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let again = pool.install(|| write(format, std::slice::from_ref(&answer)));
            assert!(again == whole, "{format:?} on {threads} threads");
        }
        let (mut batches, mut start, mut length) = (Vec::new(), 0, 1);
        while start < answer.0.len() {
            let end = answer.0.len().min(start + length);
            batches.push(Answer(answer.0[start..end].to_vec()));
            batches.push(Answer(Vec::new()));
            (start, length) = (end, length * 3);
        }
        assert!(write(format, &batches) == whole, "{format:?} in {} batches", batches.len());
    }
}

#[test]
fn nothing_is_left_of_what_is_not_finished() {
    let folder = tempfile::tempdir().unwrap();
    for format in formats() {
        let path = folder.path().join("answer");
        let mut writer = RowWriter::open(&to_file(format, &path), COLUMNS).unwrap();
        writer.write(&many(5000)).unwrap();
        drop(writer);
        assert!(fs::read_dir(folder.path()).unwrap().next().is_none(), "{format:?}");
    }
}

#[test]
fn a_full_disk_is_told_by_every_format() {
    for format in formats() {
        let write = || -> anyhow::Result<()> {
            let mut writer = RowWriter::open(&to_file(format, Path::new("/dev/full")), COLUMNS)?;
            writer.write(&many(50_000))?;
            writer.finish()
        };
        let error = write().unwrap_err();
        let message = crate::failure::message(error.as_ref());
        assert!(message.starts_with("/dev/full: No space left"), "{format:?}: {message}");
        let kind = error.downcast_ref::<std::io::Error>().map(std::io::Error::kind);
        assert_eq!(kind, Some(std::io::ErrorKind::StorageFull), "{format:?}");
    }
}

#[test]
fn a_reader_that_has_seen_enough_is_found_by_its_kind() {
    for format in formats() {
        let (reader, writer) = std::io::pipe().unwrap();
        let path = format!("/dev/fd/{}", writer.as_raw_fd());
        let mut rows = RowWriter::open(&to_file(format, Path::new(&path)), COLUMNS).unwrap();
        drop(writer);
        drop(reader);
        let written = rows.write(&many(50_000)).and_then(|()| rows.finish());
        let error = written.unwrap_err();
        let kind = error.downcast_ref::<std::io::Error>().map(std::io::Error::kind);
        assert_eq!(kind, Some(std::io::ErrorKind::BrokenPipe), "{format:?}: {error}");
    }
}

#[cfg(feature = "columns")]
#[test]
fn a_terminal_is_spared_bytes_that_it_cannot_show() {
    let terminal = Path::new("/dev/ptmx");
    if fs::File::options().read(true).write(true).open(terminal).is_err() {
        return; // There are no terminals here.
    }
    for format in [Format::Arrow, Format::Arrows, Format::Parquet] {
        let refused = RowWriter::open(&to_file(format, terminal), COLUMNS).err().unwrap();
        assert!(refused.to_string().contains("a terminal cannot show this"), "{refused}");
    }
    for format in [Format::Table, Format::Tsv, Format::Csv, Format::Json, Format::Jsonl] {
        assert!(RowWriter::open(&to_file(format, terminal), COLUMNS).is_ok());
    }
}
