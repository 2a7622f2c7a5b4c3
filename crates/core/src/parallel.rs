//! Work for several threads: over numbers, over rows in pieces, and into rows that are put together.
//!
//! A parallel iterator is a thousand lines of code, compiled anew for every closure and every kind of key that
//! it is called with. [`each`] is one for all, behind a pointer, and [`map`], [`map_with`] and [`for_each`] stand on
//! it: they are for work of which one call is large.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;

/// Calls `work` with each number below `count`.
pub fn each(count: usize, work: &(dyn Fn(usize) + Sync)) {
    (0..count).into_par_iter().with_max_len(1).for_each(work);
}

/// What `work` gives for each number below `count`, in order.
pub fn map<T: Send>(count: usize, work: &(dyn Fn(usize) -> T + Sync)) -> Vec<T> {
    let results: Vec<Mutex<Option<T>>> = (0..count).map(|_| Mutex::new(None)).collect();
    each(count, &|number| {
        let result = work(number);
        *results[number].lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
    });
    let taken =
        |result: Mutex<Option<T>>| result.into_inner().unwrap_or_else(PoisonError::into_inner);
    results.into_iter().map(|result| taken(result).expect("each was called")).collect()
}

/// What `work` gives for each chunk of so many elements and its number, in order.
pub fn map_chunks<E: Sync, T: Send>(
    row: &[E],
    size: usize,
    work: &(dyn Fn(usize, &[E]) -> T + Sync),
) -> Vec<T> {
    let chunk = |number: usize| &row[number * size..row.len().min((number + 1) * size)];
    map(row.len().div_ceil(size), &|number| work(number, chunk(number)))
}

/// What `work` gives for each number below `count`, in order, until one fails: the error of the first, in order, of those that did.
///
/// # Errors
/// That of `work`.
pub fn try_map<T: Send, E: Send>(
    count: usize,
    work: &(dyn Fn(usize) -> Result<T, E> + Sync),
) -> Result<Vec<T>, E> {
    let failed = AtomicBool::new(false);
    let results = map(count, &|number| {
        if failed.load(Ordering::Relaxed) {
            return None;
        }
        let result = work(number);
        failed.fetch_or(result.is_err(), Ordering::Relaxed);
        Some(result)
    });
    // Nothing is missing unless there is an error.
    results.into_iter().flatten().collect()
}

/// Whether `is` holds for each number below `count`.
pub fn all(count: usize, is: &(dyn Fn(usize) -> bool + Sync)) -> bool {
    (0..count).into_par_iter().with_max_len(1).all(is)
}

/// What `work` gives for each number below `count`, in order, with something to work with that is handed on from call to call; there are as many as threads.
pub fn map_with<S: Send, T: Send>(
    make: &(dyn Fn() -> S + Sync),
    count: usize,
    work: &(dyn Fn(&mut S, usize) -> T + Sync),
) -> Vec<T> {
    let idle = Idle::default();
    map(count, &|number| idle.with(make, |with| work(with, number)))
}

/// Values to work with that calls hand on to each other, so that their memory is asked for once a
/// thread.
#[derive(Debug)]
pub struct Idle<S>(Mutex<Vec<S>>);

impl<S> Default for Idle<S> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<S> Idle<S> {
    /// Works with one that nobody works with, or with a new one.
    pub fn with<T>(&self, make: impl FnOnce() -> S, work: impl FnOnce(&mut S) -> T) -> T {
        let idle = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = idle().pop();
        let mut with = kept.unwrap_or_else(make);
        let result = work(&mut with);
        idle().push(with);
        result
    }
}

/// Calls `work` with each item and its number.
pub fn for_each<T: Send>(items: Vec<T>, work: &(dyn Fn(usize, T) + Sync)) {
    let items: Vec<Mutex<Option<T>>> =
        items.into_iter().map(|item| Mutex::new(Some(item))).collect();
    each(items.len(), &|number| {
        let item = items[number].lock().unwrap_or_else(PoisonError::into_inner).take();
        item.into_iter().for_each(|item| work(number, item));
    });
}

/// Items of a batch.
const BATCH: usize = 64;

/// Calls `then` with each item, batch by batch, behind `look` with all items of the batch. Atomic operations that miss the cache wait
/// for each other, reads do not: `look` reads what `then` is going to change.
#[inline(always)]
pub fn in_batches<T: Copy + Default>(
    items: impl Iterator<Item = T>,
    look: impl Fn(T) -> u64,
    mut then: impl FnMut(T),
) {
    let mut batch = [T::default(); BATCH];
    let mut filled = 0;
    let mut run = |batch: &[T]| {
        let seen = batch.iter().fold(0, |seen, &item| seen ^ look(item));
        std::hint::black_box(seen);
        batch.iter().for_each(|&item| then(item));
    };
    for item in items {
        batch[filled] = item;
        filled += 1;
        if filled == BATCH {
            run(&batch);
            filled = 0;
        }
    }
    run(&batch[..filled]);
}

/// Fewer symbols are looked at by one thread.
const WORTH_SHARING: usize = 1 << 16;

/// Calls `update` with the state of each symbol of some rows and its place, in order: the states are those of the symbols from
/// `first` on, others have none, and places are counted from `start`. Each thread looks at all symbols and has a range of the states to
/// itself, which is cheaper than atomic operations on all of them.
pub fn tally<S: Send>(
    states: &mut [S],
    first: u32,
    rows: &[&[u32]],
    start: u32,
    update: impl Fn(&mut S, u32) + Sync,
) {
    let total: usize = rows.iter().map(|row| row.len()).sum();
    let threads = if total < WORTH_SHARING { 1 } else { rayon::current_num_threads() };
    let size = states.len().div_ceil(threads).max(1);
    states.par_chunks_mut(size).enumerate().for_each(|(number, own)| {
        #[expect(clippy::cast_possible_truncation, reason = "symbols have 32 bits")]
        let low = first + (number * size) as u32;
        let mut place = start;
        for row in rows {
            for &symbol in *row {
                if let Some(state) = own.get_mut(symbol.wrapping_sub(low) as usize) {
                    update(state, place);
                }
                place = place.wrapping_add(1);
            }
        }
    });
}

/// Cuts a row into stretches of these lengths, which must not be more than it has.
pub fn split<T>(row: &mut [T], lengths: impl Iterator<Item = usize>) -> Vec<&mut [T]> {
    let mut rest = row;
    lengths
        .map(|length| {
            let (stretch, behind) = std::mem::take(&mut rest).split_at_mut(length);
            rest = behind;
            stretch
        })
        .collect()
}

/// Maps every symbol of every part, and puts the results one after the other. `map` gets the number of the
/// part and a symbol. One pass, each thread writing its own stretch of the result.
pub fn map_concat(parts: &[&[u32]], map: impl Fn(usize, u32) -> u32 + Sync) -> Vec<u32> {
    let mut result = vec![0_u32; parts.iter().map(|part| part.len()).sum()];
    let stretches = split(&mut result, parts.iter().map(|part| part.len()));
    stretches.into_par_iter().zip(parts).enumerate().for_each(|(number, (stretch, part))| {
        for (place, &symbol) in stretch.iter_mut().zip(*part) {
            *place = map(number, symbol);
        }
    });
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_order_and_what_is_made_is_handed_on() {
        assert_eq!(map(5, &|number| number * number), [0, 1, 4, 9, 16]);
        let seen = map_with(&Vec::new, 1000, &|seen: &mut Vec<usize>, number| {
            seen.push(number);
            seen.len()
        });
        let made = seen.iter().filter(|&&length| length == 1).count();
        assert!(made <= rayon::current_num_threads(), "{made}");
        let sums = map_chunks(&[1, 2, 3, 4, 5], 2, &|chunk, row: &[i32]| (chunk, row.iter().sum()));
        assert_eq!(sums, [(0, 3), (1, 7), (2, 5)]);
        assert_eq!(map_chunks(&[0; 0], 2, &|_, _| ()), []);
        assert_eq!(try_map(3, &|number| Ok::<_, ()>(number)), Ok(vec![0, 1, 2]));
        let odd = |number: usize| if number % 2 == 1 { Err(number) } else { Ok(()) };
        assert!(try_map(9, &odd).unwrap_err() % 2 == 1);
        assert_eq!(try_map(2, &odd), Err(1));
        assert!(all(9, &|number| number < 9) && !all(9, &|number| number < 8));
        let sums = Mutex::new([0; 3]);
        for_each(vec![5, 6, 7], &|number, item| sums.lock().unwrap()[number] += item);
        assert_eq!(*sums.lock().unwrap(), [5, 6, 7]);
    }

    #[test]
    fn each_symbol_is_seen_in_order_by_the_thread_that_has_its_state() {
        let symbols: Vec<u32> = (0..200_000).map(|place| place * 7919 % 1009).collect();
        let (left, right) = symbols.split_at(77_777);
        let mut last = vec![(0_u32, 0_u32); 1000];
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        pool.install(|| {
            tally(&mut last, 5, &[left, right], 10, |(count, last), place| {
                assert!(*last < place);
                (*count, *last) = (*count + 1, place);
            });
        });
        for (symbol, &(count, last)) in (5..).zip(&last) {
            let places: Vec<usize> =
                (0..symbols.len()).filter(|&at| symbols[at] == symbol).collect();
            assert_eq!(count as usize, places.len());
            assert_eq!(last as usize, places[places.len() - 1] + 10);
        }
    }

    #[test]
    fn parts_stay_in_order() {
        let mapped = map_concat(&[&[1, 2], &[], &[3]], |part, symbol| symbol * 10 + part as u32);
        assert_eq!(mapped, [10, 20, 32]);
    }
}
