//! What a row costs in each format, in time on the processors and in all:
//! `cargo test --release -p tadoc-cli speed -- --ignored --nocapture`.

use std::fs;
use std::ops::Range;
use std::path::Path;
use std::time::Instant;

use tadoc::answer::{Column, Entries, Rows, Value};

use super::tests::{formats, to_file};
use super::{Format, RowWriter};

const TERMS: &[Column] = &[Column::text("term"), Column::count("count")];
const TRIPLES: &[Column] =
    &[Column::text("sequence"), Column::text("document"), Column::count("count")];
const REALS: &[Column] = &[Column::text("document"), Column::text("term"), Column::real("weight")];

/// Rows that cost next to nothing to come by.
struct Counted {
    columns: &'static [Column],
    rows: u64,
    words: Vec<Vec<u8>>,
}

impl Rows for Counted {
    fn columns(&self) -> &'static [Column] {
        self.columns
    }

    fn len(&self) -> u64 {
        self.rows
    }

    fn visit(&self, rows: Range<u64>, each: &mut dyn FnMut(&[Value<'_>])) {
        let word = |number: u64| &*self.words[number as usize % self.words.len()];
        for row in rows {
            let name = Value::Text(word(row / 100));
            // Of every length.
            let count = Value::Count(row.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (row % 64));
            let weight = Value::Real(row as f64 / 7.0);
            match self.columns {
                TRIPLES => {
                    let terms = [word(row), word(row + 7), word(row + 31)];
                    each(&[Value::Terms(&terms), name, count]);
                }
                REALS => each(&[name, Value::Text(word(row)), weight]),
                _ => each(&[Value::Text(word(row)), count]),
            }
        }
    }
}

impl Entries for Counted {
    fn shape(&self) -> (u64, u64) {
        (self.rows / 100, self.rows)
    }

    fn visit_entries(&self, rows: Range<u64>, each: &mut dyn FnMut(u64, u64, Value<'_>)) {
        for row in rows {
            each(row / 100, row, Value::Real(row as f64 / 7.0));
        }
    }
}

/// Words of 1 to 16 letters in no order; few enough to stay in cache, as what is measured is formatting.
fn words(letters: &[&str]) -> Vec<Vec<u8>> {
    let mut state = 1_u64;
    let mut next = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize
    };
    let mut word = || {
        let length = 1 + next() % 16;
        (0..length).map(|_| letters[next() % letters.len()]).collect::<String>()
    };
    (0..4096).map(|_| word().into_bytes()).collect()
}

/// Nanoseconds that this process has had on processors, in Linux's clock ticks of a hundredth of a second.
fn processor_time() -> u64 {
    let status = fs::read_to_string("/proc/self/stat").unwrap();
    let (_, after) = status.rsplit_once(')').unwrap();
    let ticks =
        after.split_whitespace().skip(11).take(2).map(|field| field.parse::<u64>().unwrap());
    ticks.sum::<u64>() * 10_000_000
}

fn measure(name: &str, answer: &Counted, format: Format, threads: usize) {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let start = (processor_time(), Instant::now());
    pool.install(|| {
        let arguments = to_file(format, Path::new("/dev/null"));
        let mut writer = RowWriter::open_matrix(&arguments, answer.columns).unwrap();
        writer.write_entries(answer).unwrap();
        writer.finish().unwrap();
    });
    let worked = (processor_time() - start.0) as f64 / answer.rows as f64;
    let elapsed = start.1.elapsed().as_nanos() as f64 / answer.rows as f64;
    println!("{name}: {format:?}, {threads} threads: {worked:.1} ns, {elapsed:.1} ns elapsed");
}

#[test]
#[ignore = "measures"]
fn speed() {
    let latin = words(&["a", "b", "c", "d", "e"]);
    let mixed = words(&["a", "b", "c", "d", "é"]);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    for (name, columns, words, rows) in [
        ("term, count", TERMS, &latin, 10_000_000),
        ("term, count; accents", TERMS, &mixed, 10_000_000),
        ("sequence, document, count", TRIPLES, &latin, 5_000_000),
        ("document, term, weight", REALS, &latin, 5_000_000),
    ] {
        let answer = Counted { columns, rows, words: words.clone() };
        let start = processor_time();
        answer.visit(0..rows, &mut |row| _ = std::hint::black_box(row));
        let worked = (processor_time() - start) as f64 / rows as f64;
        println!("{name}: visiting alone: {worked:.1} ns");
        for format in formats() {
            measure(name, &answer, format, 1);
            measure(name, &answer, format, threads);
        }
        if columns == REALS {
            measure(name, &answer, Format::Mtx, 1);
        }
    }
}
