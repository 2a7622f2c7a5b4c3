//! Batches against the rows that they are made of.

use std::ops::Range;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type, TimestampNanosecondType, UInt64Type};
use arrow_array::{Array, RecordBatch, RecordBatchReader, StringArray};
use arrow_schema::{ArrowError, DataType};
use tadoc::text::{as_utf8, unescape_utf8};
use tadoc::{Column, Rows, Timestamp, Value};
use tadoc_arrow::{BatchBuilder, Batches, Error, Options, batch, batches, schema};

const COLUMNS: &[Column] =
    &[Column::text("sequence"), Column::text("document"), Column::count("count")];

/// Rows of two terms, a name and a count.
struct Table(Vec<([Vec<u8>; 2], Vec<u8>, u64)>);

impl Rows for Table {
    fn columns(&self) -> &'static [Column] {
        COLUMNS
    }

    fn len(&self) -> u64 {
        self.0.len() as u64
    }

    fn visit(&self, rows: Range<u64>, each: &mut dyn FnMut(&[Value<'_>])) {
        for ([first, second], name, count) in &self.0[rows.start as usize..rows.end as usize] {
            let terms: [&[u8]; 2] = [first, second];
            each(&[Value::Terms(&terms), Value::Text(name), Value::Count(*count)]);
        }
    }
}

/// Many rows, of which each thousandth has bytes that are not UTF-8 or look like escapes.
fn many(count: usize) -> Table {
    let awkward: [&[u8]; 6] = [b"\xff", b"\\xff", b"\\", b"", "日本".as_bytes(), b"\xe6\x97"];
    let row = |number: usize| {
        let terms = match number.is_multiple_of(997) {
            true => [awkward[number % 6].to_vec(), awkward[number / 997 % 6].to_vec()],
            false => [format!("term{}", number % 321).into_bytes(), b"x".repeat(number % 19)],
        };
        (terms, format!("folder/{}.txt", number / 1000).into_bytes(), number as u64)
    };
    Table((0..count).map(row).collect())
}

fn texts(batch: &RecordBatch, column: usize) -> Vec<String> {
    let values = batch.column(column);
    match values.data_type() {
        DataType::Utf8 => {
            values.as_string::<i32>().iter().map(|text| text.unwrap().to_owned()).collect()
        }
        _ => {
            let values = values.as_dictionary::<Int32Type>();
            let values = values.downcast_dict::<StringArray>().unwrap();
            values.into_iter().map(|text| text.unwrap().to_owned()).collect()
        }
    }
}

fn check(batches: &[RecordBatch], table: &Table, options: &Options) {
    let mut rows = table.0.iter();
    for batch in batches {
        assert_eq!(batch.schema(), schema(COLUMNS, options));
        assert!(batch.columns().iter().all(|column| column.null_count() == 0));
        let (sequences, names) = (texts(batch, 0), texts(batch, 1));
        let counts = batch.column(2);
        for place in 0..batch.num_rows() {
            let (terms, name, count) = rows.next().unwrap();
            assert_eq!(unescape_utf8(&sequences[place]), terms.join(&b' '));
            assert_eq!(sequences[place], as_utf8(&terms.join(&b' ')));
            assert_eq!(unescape_utf8(&names[place]), *name);
            match counts.as_primitive_opt::<UInt64Type>() {
                Some(counts) => assert_eq!(counts.value(place), *count),
                None => {
                    let counts = counts.as_primitive::<Int64Type>();
                    assert_eq!(u64::try_from(counts.value(place)), Ok(*count));
                }
            }
        }
    }
    assert!(rows.next().is_none());
}

fn every_option() -> [Options; 4] {
    let options = Options::new();
    [
        options.clone(),
        options.clone().dictionary(true),
        options.clone().signed_counts(true),
        options.dictionary(true).signed_counts(true).rows(1000),
    ]
}

#[test]
fn batches_hold_the_rows() {
    for options in every_option() {
        for table in [many(100_000), many(1), many(0)] {
            let made = batch(&table, 0..table.len(), &options).unwrap();
            check(&made, &table, &options);
        }
        let table = many(5000);
        let part = Table(table.0[1234..4321].to_vec());
        check(&batch(&table, 1234..4321, &options).unwrap(), &part, &options);
    }
}

#[test]
fn neither_parts_nor_threads_change_batches() {
    let table = many(40_000);
    for options in every_option() {
        let options = options.rows(3000);
        let whole = batch(&table, 0..table.len(), &options).unwrap();
        let lengths: Vec<usize> = whole.iter().map(RecordBatch::num_rows).collect();
        assert_eq!(lengths, [&[3000; 13][..], &[1000]].concat());
        for threads in [1, 2, 7] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            for step in [1, 7, 2999, 3000, 3001, 39_999] {
                let mut builder = BatchBuilder::new(COLUMNS, options.clone());
                let mut made = Vec::new();
                let mut start = 0;
                while start < table.len() {
                    let end = table.len().min(start + step);
                    made.extend(pool.install(|| builder.push(&table, start..end)).unwrap());
                    made.extend(builder.push(&table, end..end).unwrap());
                    start = end;
                }
                made.extend(builder.finish().unwrap());
                assert_eq!(made, whole, "{threads} threads, {step} rows at a time");
            }
        }
    }
}

#[test]
fn dictionaries_have_each_text_once() {
    let table = many(50_000);
    for batch in batch(&table, 0..table.len(), &Options::new().dictionary(true)).unwrap() {
        for column in 0..2 {
            let values = batch.column(column).as_dictionary::<Int32Type>().values().clone();
            let values: Vec<&str> = values.as_string::<i32>().iter().flatten().collect();
            let mut first = Vec::new();
            for text in texts(&batch, column) {
                if !first.contains(&text) {
                    first.push(text);
                }
            }
            assert_eq!(values, first, "in the order in which they first occur");
        }
    }
}

#[test]
fn counts_that_are_too_large_are_told() {
    let row = |count| ([Vec::new(), Vec::new()], Vec::new(), count);
    let largest = i64::MAX as u64;
    let fits = Table(vec![row(0), row(largest)]);
    let signed = Options::new().signed_counts(true);
    check(&batch(&fits, 0..2, &signed).unwrap(), &fits, &signed);
    let above = Table(vec![row(1), row(largest + 1), row(u64::MAX)]);
    check(&batch(&above, 0..3, &Options::new()).unwrap(), &above, &Options::new());
    let error = batch(&above, 0..3, &signed).unwrap_err();
    let Error::CountTooLarge { column, count } = error else { panic!("{error}") };
    assert_eq!((column, count), ("count", largest + 1));
    let ArrowError::ExternalError(cause) = error.into() else { panic!("another error") };
    assert!(matches!(cause.downcast_ref(), Some(Error::CountTooLarge { .. })));
}

#[test]
fn long_text_cuts_batches() {
    let row = |byte| ([vec![byte; 40 << 20], Vec::new()], b"name".to_vec(), 1);
    let table = Table(vec![row(b'a'), row(b'b'), row(b'c'), row(b'd')]);
    for options in [Options::new(), Options::new().dictionary(true)] {
        for (rows, expected) in [(3, &[2, 1, 1][..]), (4, &[2, 2]), (10, &[2, 2])] {
            let options = options.clone().rows(rows);
            let made = batch(&table, 0..4, &options).unwrap();
            let lengths: Vec<usize> = made.iter().map(RecordBatch::num_rows).collect();
            assert_eq!(lengths, expected);
            check(&made, &table, &options);
        }
    }
    // A text that is in the dictionary is no more text.
    let same = Table((0..9).map(|_| row(b'a')).collect());
    let made = batch(&same, 0..9, &Options::new().dictionary(true)).unwrap();
    assert_eq!(made.len(), 1);
}

/// Moments, each a row.
struct Moments(Vec<Option<Timestamp>>);

impl Rows for Moments {
    fn columns(&self) -> &'static [Column] {
        const { &[Column::time("modified")] }
    }

    fn len(&self) -> u64 {
        self.0.len() as u64
    }

    fn visit(&self, rows: Range<u64>, each: &mut dyn FnMut(&[Value<'_>])) {
        for row in rows {
            each(&[Value::Time(self.0[row as usize])]);
        }
    }
}

#[test]
fn moments_are_nanoseconds_or_told() {
    let moment = |seconds| Some(Timestamp { seconds, nanoseconds: 7 });
    let made = batch(&Moments(vec![moment(-1), None, moment(2)]), 0..3, &Options::new()).unwrap();
    assert!(made[0].schema().field(0).is_nullable());
    let values = made[0].column(0).as_primitive::<TimestampNanosecondType>();
    let values: Vec<Option<i64>> = values.iter().collect();
    assert_eq!(values, [Some(-999_999_993), None, Some(2_000_000_007)]);
    let error = batch(&Moments(vec![moment(1 << 40)]), 0..1, &Options::new()).unwrap_err();
    assert!(matches!(error, Error::TimeOutOfRange { column: "modified", .. }), "{error}");
}

/// An archive of documents that share words, some of which are not UTF-8.
fn corpus(folder: &tempfile::TempDir, documents: usize) -> tadoc::Corpus {
    let path = folder.path().join("words.tdc");
    let input = |number: usize| {
        let words = (0..200).map(|word| format!("w{} ", word * number % 1013));
        let mut text = words.collect::<String>().into_bytes();
        text.extend_from_slice(b"caf\xe9 end");
        let name = [format!("{number:04}").as_bytes(), b"\xff.txt"].concat();
        tadoc::Input::new(name, tadoc::Source::Bytes(text))
    };
    let options = tadoc::CompressOptions { lexer: tadoc::Lexer::Whitespace, ..Default::default() };
    tadoc::compress((0..documents).map(input).collect(), &path, &options, &()).unwrap();
    tadoc::Corpus::open(&path).unwrap()
}

#[test]
fn answers_are_read_as_batches() {
    fn is_owned<T: Send + 'static>(_: &T) {}
    let folder = tempfile::tempdir().unwrap();
    let query = corpus(&folder, 300).query();
    for answer in [query.term_vector(), query.sequence_count(2), query.word_count()] {
        let answer = answer.run().unwrap();
        let rows: Vec<tadoc::Row> = answer.rows().collect::<tadoc::Result<_>>().unwrap();
        for options in every_option() {
            let options = options.rows(700);
            let reader: Batches = batches(&answer, options.clone());
            is_owned(&reader);
            assert_eq!(reader.schema(), schema(answer.columns(), &options));
            let made: Vec<RecordBatch> = reader.map(Result::unwrap).collect();
            assert_eq!(made.len(), rows.len().div_ceil(700));
            assert!(made[..made.len() - 1].iter().all(|batch| batch.num_rows() == 700));
            let first = made.iter().flat_map(|batch| texts(batch, 0));
            assert!(first.eq(rows.iter().map(|row| {
                let text = row.text(answer.columns()[0].name).unwrap();
                as_utf8(text).into_owned()
            })));
            let pool = rayon::ThreadPoolBuilder::new().num_threads(5).build().unwrap();
            let again = pool.install(|| batches(&answer, options).collect::<Result<Vec<_>, _>>());
            assert_eq!(again.unwrap(), made);
        }
    }
}

#[test]
fn answers_without_rows_have_a_schema_and_no_batches() {
    let folder = tempfile::tempdir().unwrap();
    let query = corpus(&folder, 3).query().matching("^nothing$").unwrap();
    let mut reader = batches(&query.word_count().run().unwrap(), Options::new());
    assert_eq!(reader.schema().fields().len(), 2);
    assert!(reader.next().is_none());
    assert!(reader.next().is_none());
}
