//! The places of a row that have something: a flag, or a key that differs from the one before it.
//!
//! Marking is a launch and a scan of one value for each 2048 places. Listing what is marked waits once, for how many they are, so
//! that the list is no longer than it must be.

use std::sync::Arc;

use bytemuck::Pod;

use super::scan;
use super::sort::Keys;
use crate::device::{Argument, Buffer, Device, GROUP, Kernel, Module};
use crate::error::{Error, Result};
use crate::tuning::SELECT_PER_LANE;

/// The kernels.
pub static MODULE: Module =
    Module { name: "select", source: include_str!("../../kernels/select.c") };

const FLAGS_U8: Kernel = Kernel { module: &MODULE, name: "mark_flags_u8" };
const FLAGS_U32: Kernel = Kernel { module: &MODULE, name: "mark_flags_u32" };
const HEADS_U32: Kernel = Kernel { module: &MODULE, name: "mark_heads_u32" };
const HEADS_U64: Kernel = Kernel { module: &MODULE, name: "mark_heads_u64" };
const HEADS_DOUBLE: Kernel = Kernel { module: &MODULE, name: "mark_heads_double" };
const LIST: Kernel = Kernel { module: &MODULE, name: "list_places" };

/// Places of a tile.
const TILE: usize = GROUP as usize * SELECT_PER_LANE;

/// Values that are flags: those other than 0 are set.
pub trait Flag: Pod {
    /// The kernel that marks them.
    const MARK: Kernel;
}

impl Flag for u8 {
    const MARK: Kernel = FLAGS_U8;
}

impl Flag for u32 {
    const MARK: Kernel = FLAGS_U32;
}

/// Places that are marked.
#[derive(Debug)]
pub struct Marks {
    /// A bit for each place.
    words: Buffer<u32>,
    /// How many are marked before each tile, and behind them all how many there are.
    tiles: Buffer<u32>,
    count: usize,
}

impl Marks {
    /// Marks which of the first `count` flags are set.
    pub fn of_flags<F: Flag>(flags: &Buffer<F>, count: usize) -> Result<Self> {
        assert!(count <= flags.len());
        Self::new(flags.device(), &F::MARK, [flags.into()], count)
    }

    /// Marks which of the first `count` keys differ from the one before them; the first one does.
    pub fn of_heads(keys: &Keys, count: usize) -> Result<Self> {
        assert!(count <= keys.len());
        match keys {
            Keys::Narrow(keys) => Self::new(keys.device(), &HEADS_U32, [keys.into()], count),
            Keys::Wide(keys) => Self::new(keys.device(), &HEADS_U64, [keys.into()], count),
            Keys::Double { high, low } => {
                Self::new(low.device(), &HEADS_DOUBLE, [high.into(), low.into()], count)
            }
        }
    }

    fn new<const PLANES: usize>(
        device: &Arc<Device>,
        kernel: &Kernel,
        planes: [Argument; PLANES],
        count: usize,
    ) -> Result<Self> {
        if u32::try_from(count).is_err() {
            return Err(Error::Unsupported { what: format!("choosing of {count} places") });
        }
        let groups = count.div_ceil(TILE);
        let words = device.allocate(groups * TILE / 32)?;
        let tiles = device.allocate(groups + 1)?;
        let mut arguments = Vec::from(planes);
        arguments.extend([(&words).into(), (&tiles).into(), (count as u64).into()]);
        device.launch(kernel, groups as u32, &arguments)?;
        scan::exclusive(&tiles, groups, &tiles)?;
        Ok(Self { words, tiles, count })
    }

    /// How many are marked. Waits for it.
    pub fn marked(&self) -> Result<usize> {
        let device = self.tiles.device();
        Ok(device.value(&self.tiles, self.tiles.len() - 1)? as usize)
    }

    /// The places that are marked, ascending, and behind them the number of all places: if these are heads of runs, where each run
    /// starts and the last one ends. Waits for how many there are.
    pub fn places(&self) -> Result<Buffer<u32>> {
        let device = self.tiles.device();
        if self.count == 0 {
            return device.zeroed(1);
        }
        let places = device.allocate(self.marked()? + 1)?;
        let groups = (self.tiles.len() - 1) as u32;
        let arguments = [
            (&self.words).into(),
            (&self.tiles).into(),
            (&places).into(),
            (self.count as u64).into(),
        ];
        device.launch(&LIST, groups, &arguments)?;
        Ok(places)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::reference::inputs::{noise, sizes};
    use crate::reference::select::{flagged, heads};
    use crate::testing::device;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn places_are_those_of_the_reference(count in sizes(), seed in any::<u32>(), one_of in 1..40_u32) {
            let Some(device) = device() else { return Ok(()) };
            let flags: Vec<u32> = noise(seed, count).iter().map(|&number| u32::from(number % one_of == 0)).collect();
            let wanted = flagged(&flags);
            let short: Vec<u8> = flags.iter().map(|&flag| flag as u8 * 128).collect();
            let marks = [
                Marks::of_flags(&device.upload(&flags).unwrap(), count).unwrap(),
                Marks::of_flags(&device.upload(&short).unwrap(), count).unwrap(),
            ];
            for marks in marks {
                prop_assert_eq!(marks.marked().unwrap(), wanted.len() - 1);
                prop_assert_eq!(&device.download(&marks.places().unwrap()).unwrap(), &wanted);
            }
        }

        #[test]
        fn heads_are_those_of_the_reference(count in sizes(), seed in any::<u32>(), spread in 1..5_u32) {
            let Some(device) = device() else { return Ok(()) };
            let narrow: Vec<u32> = noise(seed, count).iter().map(|&number| (number % spread) << 30).collect();
            let high: Vec<u64> = narrow.iter().map(|&key| u64::from(key) << 30).collect();
            let low: Vec<u64> = noise(!seed, count).iter().map(|&number| u64::from(number % 2) << 50).collect();
            let double: Vec<(u64, u64)> = high.iter().copied().zip(low.iter().copied()).collect();
            let places = |keys: Keys| device.download(&Marks::of_heads(&keys, count).unwrap().places().unwrap()).unwrap();
            let upload = |plane: &[u64]| device.upload(plane).unwrap();
            prop_assert_eq!(places(Keys::Narrow(device.upload(&narrow).unwrap())), heads(&narrow));
            prop_assert_eq!(places(Keys::Wide(upload(&low))), heads(&low));
            prop_assert_eq!(places(Keys::Double { high: upload(&high), low: upload(&low) }), heads(&double));
        }
    }
}
