//! Tables whose elements are written once.

use std::marker::PhantomData;
use std::ops::Range;
use std::sync::Arc;

use bytemuck::{Pod, cast_slice, cast_slice_mut};
use tadoc_core::{Array, parallel};

use super::{Bytes, Starts, Work, operations_of};
use crate::Result;

/// What fills the elements of an operation: gets its number, its bytes (zero before), and those behind its level.
pub type Fill<'a> = dyn Fn(usize, &mut [u8], &[u8]) + Sync + 'a;
/// What checks the elements of an operation.
pub type CheckFilled<'a> = dyn Fn(usize, &[u8], &[u8]) -> bool + Sync + 'a;

impl Work<'_> {
    /// A table of `cuts.last()` elements, of which operation `i` fills those from `cuts[i]` to `cuts[i + 1]`; they are zero before. `cuts` begins
    /// with 0 and does not descend. `check` gets an operation and its elements as they were found.
    pub fn fill<T: Pod + Send + Sync>(
        &mut self,
        phase: &'static str,
        cuts: &[usize],
        check: impl Fn(usize, &[T]) -> bool + Sync,
        work: impl Fn(usize, &mut [T]) + Sync,
    ) -> Result<Array<T>> {
        let element = size_of::<T>();
        let operations: Vec<Range<usize>> =
            cuts.windows(2).map(|cut| cut[0] * element..cut[1] * element).collect();
        let all = 0..operations.len();
        let filling = Filling {
            bytes: cuts.last().expect("cuts begin with 0") * element,
            element,
            levels: std::slice::from_ref(&all),
            operations: &operations,
        };
        let check = |operation: usize, own: &[u8], _: &[u8]| check(operation, cast_slice(own));
        let work =
            |operation: usize, own: &mut [u8], _: &[u8]| work(operation, cast_slice_mut(own));
        let (storage, bytes) = (&mut self.storage, filling.bytes as u64);
        let fill = || storage.fill(phase, &filling, &check, &work);
        Ok(elements(self.steps.measure(phase, bytes, fill)?))
    }

    /// A table with elements for every rule, of which those of rule `r` are `starts.of(r)`; rules of higher numbers first. `levels` are as those of a
    /// [`tadoc_core::Network`]. `work` gets some rules of one level, their elements (zero before), and the elements of all rules behind that
    /// level, of which the first belongs to the rule that the level ends with. `check` gets the same of what was found.
    pub fn fill_upwards<T: Pod + Send + Sync>(
        &mut self,
        phase: &'static str,
        starts: Starts<'_>,
        levels: &[u32],
        check: impl Fn(Range<u32>, &[T], &[T]) -> bool + Sync,
        work: impl Fn(Range<u32>, &mut [T], &[T]) + Sync,
    ) -> Result<Array<T>> {
        let element = size_of::<T>();
        let rules_end = levels.last().copied().unwrap_or(0);
        let mut rules = Vec::new();
        let mut ranges = Vec::new();
        for level in levels.windows(2).rev() {
            let first = rules.len();
            rules.extend(operations_of(level));
            ranges.push(first..rules.len());
        }
        let start_of = |rule: u32| starts.of(rule) * element;
        let operations: Vec<Range<usize>> =
            rules.iter().map(|rules| start_of(rules.start)..start_of(rules.end)).collect();
        let bytes = if rules_end == 0 { 0 } else { start_of(rules_end) };
        let filling = Filling { bytes, element, operations: &operations, levels: &ranges };
        let check = |operation: usize, own: &[u8], below: &[u8]| {
            check(rules[operation].clone(), cast_slice(own), cast_slice(below))
        };
        let work = |operation: usize, own: &mut [u8], below: &[u8]| {
            work(rules[operation].clone(), cast_slice_mut(own), cast_slice(below));
        };
        let (storage, bytes) = (&mut self.storage, filling.bytes as u64);
        let fill = || storage.fill(phase, &filling, &check, &work);
        Ok(elements(self.steps.measure(phase, bytes, fill)?))
    }
}

/// Bytes of a table as elements.
fn elements<T: Pod + Send + Sync>(bytes: Bytes) -> Array<T> {
    Array::Shared(Arc::new(Elements { bytes, kind: PhantomData }))
}

struct Elements<T> {
    bytes: Bytes,
    kind: PhantomData<T>,
}

impl<T: Pod> AsRef<[T]> for Elements<T> {
    #[inline]
    fn as_ref(&self) -> &[T] {
        cast_slice((*self.bytes).as_ref())
    }
}

/// A table to be filled. Places are in bytes.
#[derive(Debug, Clone, Copy)]
pub struct Filling<'a> {
    /// How long it is.
    pub bytes: usize,
    /// How long an element is.
    pub element: usize,
    /// Where the elements of each operation are. Those of a level follow each other.
    pub operations: &'a [Range<usize>],
    /// Which operations depend on nothing but those of levels before theirs.
    pub levels: &'a [Range<usize>],
}

impl Filling<'_> {
    /// Where the elements of operations are that are of one level.
    pub fn bytes_of(&self, operations: &Range<usize>) -> Range<usize> {
        match operations.is_empty() {
            true => 0..0,
            false => {
                self.operations[operations.start].start..self.operations[operations.end - 1].end
            }
        }
    }

    /// Runs those operations of a level that `is_done` denies.
    pub fn run(
        &self,
        table: &mut [u8],
        level: &Range<usize>,
        operations: &Range<usize>,
        is_done: &dyn Fn(usize) -> bool,
        work: &Fill<'_>,
    ) {
        let (own, below) = table.split_at_mut(self.bytes_of(level).end);
        let mut rest = &mut own[self.bytes_of(operations)];
        let mut pieces = Vec::with_capacity(operations.len());
        for operation in operations.clone() {
            let length = self.operations[operation].len();
            let own =
                rest.split_off_mut(..length).expect("operations of a level follow each other");
            if !is_done(operation) {
                pieces.push((operation, own));
            }
        }
        parallel::for_each(pieces, &|_, (operation, own)| work(operation, own, below));
    }

    /// Whether all operations have elements that pass the check.
    pub fn is_sound(&self, table: &[u8], check: &CheckFilled<'_>) -> bool {
        self.levels.iter().all(|level| {
            let below = &table[self.bytes_of(level).end..];
            parallel::all(level.len(), &|number| {
                let operation = level.start + number;
                check(operation, &table[self.operations[operation].clone()], below)
            })
        })
    }
}
