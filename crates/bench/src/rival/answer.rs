//! An answer in memory, complete and in its order, and how it is printed: as tab-separated rows, formatted on
//! all threads in parts of some ten thousand rows and written in order as they are ready.
//!
//! Terms and names are escaped once and not in every row; a row is a few copies and allocates nothing.

use std::io::Write;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};

use anyhow::Result;
use rayon::prelude::*;

use super::vocabulary::Vocabulary;

/// Rows that are formatted in one go.
pub const PART: usize = if cfg!(test) { 1 << 8 } else { 1 << 14 };

/// The rows of an answer, as its task made them.
pub trait Rows: Send + Sync {
    /// How many rows there are.
    fn len(&self) -> u64;

    /// In how many parts they are printed.
    fn parts(&self) -> usize;

    /// Appends the rows of a part, as text, to `out`.
    fn print(&self, part: usize, labels: &Labels, out: &mut Vec<u8>);
}

/// What the numbers in rows stand for.
#[derive(Debug)]
pub struct Labels {
    pub terms: Vocabulary,
    /// Documents in their order.
    pub names: Vec<Vec<u8>>,
}

/// An answer.
pub struct Answer {
    pub labels: Labels,
    pub rows: Box<dyn Rows>,
}

impl Answer {
    /// Writes all rows.
    pub fn write(&mut self, threads: usize, output: impl Write + Send) -> Result<()> {
        self.labels.escape();
        let (rows, labels) = (&*self.rows, &self.labels);
        let next = AtomicUsize::new(0);
        let turn = Mutex::new((0, output, Ok(())));
        let passed = Condvar::new();
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    let mut out = Vec::new();
                    loop {
                        let part = next.fetch_add(1, Ordering::Relaxed);
                        if part >= rows.parts() {
                            return;
                        }
                        out.clear();
                        rows.print(part, labels, &mut out);
                        let turn = turn.lock().unwrap_or_else(PoisonError::into_inner);
                        let mut turn = passed
                            .wait_while(turn, |turn| turn.0 != part)
                            .unwrap_or_else(PoisonError::into_inner);
                        if turn.2.is_ok() {
                            turn.2 = turn.1.write_all(&out);
                        }
                        turn.0 += 1;
                        passed.notify_all();
                    }
                });
            }
        });
        let (_, mut output, result) = turn.into_inner().unwrap_or_else(PoisonError::into_inner);
        result?;
        Ok(output.flush()?)
    }
}

impl Labels {
    /// Puts every label as the command prints it. Most need nothing, so most vocabularies stay as they are.
    fn escape(&mut self) {
        if (0..self.terms.len()).into_par_iter().any(|id| !is_plain(self.terms.term(id as u32))) {
            let escaped: Vec<String> = self
                .terms
                .terms()
                .map(|term| tadoc_engine::text::escape(term).to_string())
                .collect();
            self.terms = Vocabulary::from_sorted(escaped.iter().map(|term| term.as_bytes()));
        }
        for name in self.names.iter_mut().filter(|name| !is_plain(name)) {
            *name = tadoc_engine::text::escape(name).to_string().into_bytes();
        }
    }
}

fn is_plain(bytes: &[u8]) -> bool {
    let special = |&byte: &u8| matches!(byte, b'\\' | b'\t' | b'\n' | b'\r');
    !bytes.iter().any(special) && std::str::from_utf8(bytes).is_ok()
}

/// Appends a last column of a number, and the end of the row.
#[inline]
pub fn end_row(out: &mut Vec<u8>, count: u64) {
    out.push(b'\t');
    out.extend_from_slice(itoa::Buffer::new().format(count).as_bytes());
    out.push(b'\n');
}
