//! Stable sorts of rows by keys, digit by digit from the lowest (a radix sort).
//!
//! Rows are planes: one or two for the key, up to two of 4 bytes that go along. A pass over a digit is three or four launches, and
//! moves the bytes that `kernels/sort.c` says; nothing waits. Needs the rows' memory a second time while it runs, and
//! half a byte a row.

use std::ops::Range;
use std::sync::Arc;

use bytemuck::Pod;

use super::scan;
use crate::device::{Argument, Buffer, Device, GROUP, Kernel, Module};
use crate::error::{Error, Result};
use crate::tuning::{SORT_DIGIT_BITS, SORT_PER_LANE};

/// The kernels.
pub static MODULE: Module = Module { name: "sort", source: include_str!("../../kernels/sort.c") };

const COUNTS_U32: Kernel = Kernel { module: &MODULE, name: "digit_counts_u32" };
const COUNTS_U64: Kernel = Kernel { module: &MODULE, name: "digit_counts_u64" };
const MOVE_U32: Kernel = Kernel { module: &MODULE, name: "move_rows_u32" };
const MOVE_U64: Kernel = Kernel { module: &MODULE, name: "move_rows_u64" };

/// Rows of a tile.
const TILE: usize = GROUP as usize * SORT_PER_LANE;

/// What rows are sorted by.
#[derive(Debug)]
pub enum Keys {
    /// 32 bits.
    Narrow(Buffer<u32>),
    /// 64 bits.
    Wide(Buffer<u64>),
    /// 128 bits.
    Double {
        /// The higher ones.
        high: Buffer<u64>,
        /// The lower ones.
        low: Buffer<u64>,
    },
}

/// Rows in planes: keys, and what goes along with each.
#[derive(Debug)]
pub struct Rows {
    /// The keys.
    pub keys: Keys,
    /// What goes along.
    pub first: Option<Buffer<u32>>,
    /// What goes along too.
    pub second: Option<Buffer<u32>>,
}

/// Which keys come first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// The lowest.
    Ascending,
    /// The highest. Rows of equal keys stay in the order that they have.
    Descending,
}

impl Keys {
    /// The keys, if they have 64 bits.
    ///
    /// # Panics
    /// If they have not.
    pub fn wide(self) -> Buffer<u64> {
        match self {
            Self::Wide(keys) => keys,
            _ => panic!("the keys have other than 64 bits"),
        }
    }

    /// The keys, if they have 32 bits.
    ///
    /// # Panics
    /// If they have not.
    pub fn narrow(self) -> Buffer<u32> {
        match self {
            Self::Narrow(keys) => keys,
            _ => panic!("the keys have other than 32 bits"),
        }
    }

    /// How many there is room for.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Narrow(keys) => keys.len(),
            Self::Wide(keys) => keys.len(),
            Self::Double { high, low } => high.len().min(low.len()),
        }
    }

    fn room(&self, device: &Arc<Device>, count: usize) -> Result<Self> {
        Ok(match self {
            Self::Narrow(_) => Self::Narrow(device.allocate(count)?),
            Self::Wide(_) => Self::Wide(device.allocate(count)?),
            Self::Double { .. } => {
                Self::Double { high: device.allocate(count)?, low: device.allocate(count)? }
            }
        })
    }
}

/// Sorts the first `count` rows by some bits of their keys, of which no others are looked at; bits in `bits` beyond those of
/// the keys do not matter. The planes that come back have room for at least `count` rows.
///
/// # Errors
/// [`Error::Unsupported`] for 2^32 rows or more.
///
/// # Panics
/// If a plane has fewer rows than `count`.
pub fn sort(
    device: &Arc<Device>,
    rows: Rows,
    count: usize,
    bits: Range<u32>,
    order: Order,
) -> Result<Rows> {
    let along = [&rows.first, &rows.second];
    assert!(count <= rows.keys.len());
    assert!(along.iter().all(|plane| plane.as_ref().is_none_or(|plane| count <= plane.len())));
    let passes = passes(&rows.keys, bits);
    if passes.is_empty() || count <= 1 {
        return Ok(rows);
    }
    let count = u32::try_from(count)
        .map_err(|_| Error::Unsupported { what: format!("sorting {count} rows") })?;
    let tiles = (count as usize).div_ceil(TILE);
    let room = |plane: &Option<Buffer<u32>>| {
        plane.as_ref().map(|_| device.allocate(count as usize)).transpose()
    };
    let mut other = Rows {
        keys: rows.keys.room(device, count as usize)?,
        first: room(&rows.first)?,
        second: room(&rows.second)?,
    };
    let mut rows = rows;
    let table = device.allocate::<u32>(tiles << SORT_DIGIT_BITS)?;
    // Stands for planes that there are not.
    let none = device.allocate::<u64>(1)?;
    for pass in passes {
        let mask = (1 << pass.bits.len()) - 1;
        let flip = if order == Order::Descending { mask } else { 0 };
        let work = Pass { device, table: &table, none: &none, count, tiles, mask, flip, pass };
        work.run(&rows, &other)?;
        std::mem::swap(&mut rows, &mut other);
    }
    Ok(rows)
}

/// The digit that a pass sorts by.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Digit {
    /// Whether it is in the higher plane of two.
    high: bool,
    /// Its bits in that plane.
    bits: Range<u32>,
}

/// The digits of some bits, from the lowest: of about equal length, and none in two planes.
fn passes(keys: &Keys, bits: Range<u32>) -> Vec<Digit> {
    let planes: &[(bool, Range<u32>)] = match keys {
        Keys::Narrow(_) => &[(false, 0..32)],
        Keys::Wide(_) => &[(false, 0..64)],
        Keys::Double { .. } => &[(false, 0..64), (true, 64..128)],
    };
    let mut digits = Vec::new();
    for (high, plane) in planes {
        let start = bits.start.max(plane.start) - plane.start;
        let length = (bits.end.min(plane.end) - plane.start.min(bits.end)).saturating_sub(start);
        let passes = length.div_ceil(SORT_DIGIT_BITS);
        for pass in 0..passes {
            let bound = |pass: u32| start + pass * length / passes;
            digits.push(Digit { high: *high, bits: bound(pass)..bound(pass + 1) });
        }
    }
    digits
}

/// A pass over one digit.
struct Pass<'a> {
    device: &'a Device,
    table: &'a Buffer<u32>,
    none: &'a Buffer<u64>,
    count: u32,
    tiles: usize,
    mask: u32,
    flip: u32,
    pass: Digit,
}

impl Pass<'_> {
    fn run(&self, rows: &Rows, moved: &Rows) -> Result<()> {
        match (&rows.keys, &moved.keys) {
            (Keys::Narrow(keys), Keys::Narrow(to)) => {
                self.by_plane(&COUNTS_U32, &MOVE_U32, (keys, to), None, (rows, moved))
            }
            (Keys::Wide(keys), Keys::Wide(to)) => {
                self.by_plane(&COUNTS_U64, &MOVE_U64, (keys, to), None, (rows, moved))
            }
            (Keys::Double { high, low }, Keys::Double { high: to_high, low: to_low }) => {
                let (keys, beside) = match self.pass.high {
                    true => ((high, to_high), (low, to_low)),
                    false => ((low, to_low), (high, to_high)),
                };
                self.by_plane(&COUNTS_U64, &MOVE_U64, keys, Some(beside), (rows, moved))
            }
            _ => unreachable!("both have room for the same planes"),
        }
    }

    fn by_plane<K: Pod>(
        &self,
        counts: &Kernel,
        moves: &Kernel,
        keys: (&Buffer<K>, &Buffer<K>),
        wide: Option<(&Buffer<u64>, &Buffer<u64>)>,
        (rows, moved): (&Rows, &Rows),
    ) -> Result<()> {
        let groups = self.tiles as u32;
        let digit = || -> [Argument; 4] {
            [self.count.into(), self.pass.bits.start.into(), self.mask.into(), self.flip.into()]
        };
        let mut arguments = vec![keys.0.into(), self.table.into()];
        arguments.extend(digit());
        self.device.launch(counts, groups, &arguments)?;
        let digits = self.mask as usize + 1;
        scan::exclusive(self.table, self.tiles * digits, self.table)?;
        let narrow = |from: &Option<Buffer<u32>>, to: &Option<Buffer<u32>>| -> [Argument; 2] {
            match (from, to) {
                (Some(from), Some(to)) => [from.into(), to.into()],
                _ => [self.table.into(), self.table.into()],
            }
        };
        let mut arguments = vec![keys.0.into(), keys.1.into()];
        let (from, to) = wide.unwrap_or((self.none, self.none));
        arguments.extend([from.into(), to.into()]);
        arguments.extend(narrow(&rows.first, &moved.first));
        arguments.extend(narrow(&rows.second, &moved.second));
        arguments.push(self.table.into());
        arguments.extend(digit());
        let beside = u32::from(wide.is_some())
            | u32::from(rows.first.is_some()) << 1
            | u32::from(rows.second.is_some()) << 2;
        arguments.push(beside.into());
        self.device.launch(moves, groups, &arguments)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::reference;
    use crate::reference::inputs::{noise, sizes};
    use crate::testing::device;

    /// Keys of 128 bits, many of them equal if `spread` is small.
    fn keys(seed: u32, count: usize, spread: u32) -> Vec<u128> {
        let numbers = noise(seed, 4 * count);
        let keys = numbers
            .chunks(4)
            .map(|parts| parts.iter().fold(0, |key, &part| key << 32 | u128::from(part % spread)));
        keys.collect()
    }

    fn bounds() -> impl Strategy<Value = (Range<u32>, Order)> {
        let order = prop_oneof![Just(Order::Ascending), Just(Order::Descending)];
        let bits = (0..100_u32, prop_oneof![0..9_u32, 0..128_u32]);
        (bits, order).prop_map(|((start, length), order)| (start..start + length, order))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn rows_are_those_of_the_reference(
            count in sizes(),
            seed in any::<u32>(),
            spread in prop_oneof![1..5_u32, Just(300), Just(u32::MAX)],
            (bits, order) in bounds(),
            width in 0..3_usize,
            along in 0..3_usize,
        ) {
            let Some(device) = device() else { return Ok(()) };
            let keys = keys(seed, count, spread);
            let planes: [Vec<u64>; 2] =
                [64, 0].map(|shift| keys.iter().map(|key| (key >> shift) as u64).collect());
            let narrow: Vec<u32> = keys.iter().map(|&key| key as u32).collect();
            let payload: Vec<u32> = (0..count as u32).collect();
            let upload = |plane: &[u64]| device.upload(plane).unwrap();
            let rows = Rows {
                keys: match width {
                    0 => Keys::Narrow(device.upload(&narrow).unwrap()),
                    1 => Keys::Wide(upload(&planes[1])),
                    _ => Keys::Double { high: upload(&planes[0]), low: upload(&planes[1]) },
                },
                first: (along > 0).then(|| device.upload(&payload).unwrap()),
                second: (along > 1).then(|| device.upload(&narrow).unwrap()),
            };
            let known = keys.iter().map(|&key| match width {
                0 => u128::from(key as u32),
                1 => u128::from(key as u64),
                _ => key,
            });
            let known: Vec<u128> = known.collect();
            let wanted = reference::sort::places(&known, bits.clone(), order == Order::Descending);
            let sorted = sort(&device, rows, count, bits, order).unwrap();
            let found: Vec<u128> = match &sorted.keys {
                Keys::Narrow(keys) => device.download(keys).unwrap().into_iter().map(u128::from).collect(),
                Keys::Wide(keys) => device.download(keys).unwrap().into_iter().map(u128::from).collect(),
                Keys::Double { high, low } => {
                    let (high, low) = (device.download(high).unwrap(), device.download(low).unwrap());
                    high.iter().zip(low).map(|(&high, low)| u128::from(high) << 64 | u128::from(low)).collect()
                }
            };
            let in_order: Vec<u128> = wanted.iter().map(|&place| known[place as usize]).collect();
            prop_assert_eq!(found, in_order);
            if let Some(first) = sorted.first {
                prop_assert_eq!(&device.download(&first).unwrap(), &wanted);
            }
            if let Some(second) = sorted.second {
                let in_order: Vec<u32> = wanted.iter().map(|&place| narrow[place as usize]).collect();
                prop_assert_eq!(device.download(&second).unwrap(), in_order);
            }
        }
    }

    #[test]
    fn more_tiles_than_run_at_once() {
        let Some(device) = device() else { return };
        let keys: Vec<u32> = noise(5, 3_000_001).iter().map(|number| number >> 12).collect();
        let places: Vec<u32> = (0..keys.len() as u32).collect();
        let rows = Rows {
            keys: Keys::Narrow(device.upload(&keys).unwrap()),
            first: Some(device.upload(&places).unwrap()),
            second: None,
        };
        let sorted = sort(&device, rows, keys.len(), 0..20, Order::Ascending).unwrap();
        let wide: Vec<u128> = keys.iter().map(|&key| key.into()).collect();
        let wanted = reference::sort::places(&wide, 0..20, false);
        assert!(device.download(&sorted.first.unwrap()).unwrap() == wanted);
        let in_order = wanted.iter().map(|&place| keys[place as usize]);
        assert!(device.download(&sorted.keys.narrow()).unwrap().into_iter().eq(in_order));
    }

    #[test]
    fn digits_cover_the_bits() {
        let Some(device) = device() else { return };
        let room = || device.allocate::<u64>(1).unwrap();
        let double = Keys::Double { high: room(), low: room() };
        for start in 0..128 {
            for end in start..=128 {
                let mut at = start;
                for digit in passes(&double, start..end) {
                    let plane = 64 * u32::from(digit.high);
                    assert_eq!(plane + digit.bits.start, at);
                    assert!(
                        !digit.bits.is_empty() && digit.bits.len() <= 8 && digit.bits.end <= 64
                    );
                    at = plane + digit.bits.end;
                }
                assert_eq!(at, end);
            }
        }
        assert_eq!(passes(&Keys::Wide(room()), 0..20).len(), 3);
        assert_eq!(passes(&Keys::Wide(room()), 60..90).len(), 1);
    }
}
