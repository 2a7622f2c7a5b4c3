//! Sums over all values before each one (exclusive prefix sums), which turn sizes into places.
//!
//! Costs two launches, one for short rows, and reads every value twice; nothing waits. The sum of all stays on the device
//! too.

use std::sync::Arc;

use bytemuck::Pod;

use crate::device::{Buffer, Device, GROUP, Kernel, Module};
use crate::error::Result;
use crate::tuning::{SCAN_GROUPS, SCAN_PER_LANE, SCAN_TILES_ALONE};

/// The kernels.
pub static MODULE: Module = Module { name: "scan", source: include_str!("../../kernels/scan.c") };

/// Values of a tile.
const TILE: usize = GROUP as usize * SCAN_PER_LANE;

/// Values that are added up as values of another type: `u32` as `u32` or `u64`, `u64` as `u64`. Sums beyond the type lose their
/// highest bits.
pub trait SummedAs<Sum>: Pod {
    /// The kernel that adds up stretches.
    const STRETCHES: Kernel;
    /// The kernel that makes the sums.
    const SCAN: Kernel;
}

const fn kernel(name: &'static str) -> Kernel {
    Kernel { module: &MODULE, name }
}

impl SummedAs<u32> for u32 {
    const STRETCHES: Kernel = kernel("stretch_sums_u32");
    const SCAN: Kernel = kernel("scan_u32");
}

impl SummedAs<u64> for u32 {
    const STRETCHES: Kernel = kernel("stretch_sums_u32");
    const SCAN: Kernel = kernel("scan_u32_to_u64");
}

impl SummedAs<u64> for u64 {
    const STRETCHES: Kernel = kernel("stretch_sums_u64");
    const SCAN: Kernel = kernel("scan_u64");
}

/// Writes into `sums` the sum of all values before each of the first `count`, and behind them the sum of all if there is room.
/// `values` and `sums` may be the same buffer. Gives the sum of all, one value.
///
/// # Panics
/// If there are fewer values than `count`, or less room for sums.
pub fn exclusive<T: SummedAs<Sum>, Sum: Pod>(
    values: &Buffer<T>,
    count: usize,
    sums: &Buffer<Sum>,
) -> Result<Buffer<Sum>> {
    assert!(count <= values.len() && count <= sums.len());
    let device = values.device();
    let tiles = count.div_ceil(TILE).max(1);
    let groups = if tiles <= SCAN_TILES_ALONE { 1 } else { tiles.min(SCAN_GROUPS) };
    let stretch = (tiles.div_ceil(groups) * TILE) as u64;
    // Stretches are whole tiles, so that the last ones may be none at all.
    let groups = count.div_ceil(stretch as usize).max(1);
    let stretches = device.allocate::<u64>(groups)?;
    let total = device.allocate::<Sum>(1)?;
    let groups = groups as u32;
    if groups > 1 {
        let arguments = [values.into(), (&stretches).into(), (count as u64).into(), stretch.into()];
        device.launch(&T::STRETCHES, groups, &arguments)?;
    }
    let with_end = u32::from(sums.len() > count);
    device.launch(
        &T::SCAN,
        groups,
        &[
            values.into(),
            sums.into(),
            (&stretches).into(),
            (&total).into(),
            (count as u64).into(),
            stretch.into(),
            with_end.into(),
        ],
    )?;
    Ok(total)
}

/// Where each of rows of these sizes starts if they lie one after the other, and behind the last one where it ends.
pub fn starts<T: SummedAs<Sum>, Sum: Pod>(
    device: &Arc<Device>,
    sizes: &Buffer<T>,
    count: usize,
) -> Result<Buffer<Sum>> {
    let starts = device.allocate(count + 1)?;
    exclusive(sizes, count, &starts)?;
    Ok(starts)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::reference;
    use crate::reference::inputs::{noise, sizes};
    use crate::testing::device;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn sums_are_those_of_the_reference(count in sizes(), seed in any::<u32>(), room in 0..2_usize) {
            let Some(device) = device() else { return Ok(()) };
            let values: Vec<u32> = noise(seed, count);
            let long: Vec<u64> = values.iter().map(|&value| u64::from(value) << 7).collect();
            let (given, given_long) = (device.upload(&values).unwrap(), device.upload(&long).unwrap());
            let (narrow, wide, longer) = (
                device.upload(&vec![9_u32; count + room]).unwrap(),
                device.upload(&vec![9_u64; count + room]).unwrap(),
                device.upload(&vec![9_u64; count + room]).unwrap(),
            );
            let totals = (
                exclusive(&given, count, &narrow).unwrap(),
                exclusive(&given, count, &wide).unwrap(),
                exclusive(&given_long, count, &longer).unwrap(),
            );
            let wanted = reference::scan::exclusive(values.iter().map(|&value| u64::from(value)));
            let wanted_long = reference::scan::exclusive(long.iter().copied());
            let cut: Vec<u32> = wanted.iter().map(|&sum| sum as u32).collect();
            prop_assert_eq!(&device.download(&narrow).unwrap()[..], &cut[..count + room]);
            prop_assert_eq!(&device.download(&wide).unwrap()[..], &wanted[..count + room]);
            prop_assert_eq!(&device.download(&longer).unwrap()[..], &wanted_long[..count + room]);
            prop_assert_eq!(device.value(&totals.0, 0).unwrap(), cut[count]);
            prop_assert_eq!(device.value(&totals.1, 0).unwrap(), wanted[count]);
            prop_assert_eq!(device.value(&totals.2, 0).unwrap(), wanted_long[count]);
            // In place.
            exclusive(&given_long, count, &given_long).unwrap();
            prop_assert_eq!(&device.download(&given_long).unwrap()[..], &wanted_long[..count]);
        }
    }

    #[test]
    fn stretches_of_several_tiles() {
        let Some(device) = device() else { return };
        let count = SCAN_GROUPS * TILE + 3 * TILE + 5;
        let values = vec![3_u32; count];
        let starts: Buffer<u64> = starts(&device, &device.upload(&values).unwrap(), count).unwrap();
        let found = device.download(&starts).unwrap();
        assert!(found.iter().enumerate().all(|(place, &sum)| sum == 3 * place as u64));
        assert_eq!(found.len(), count + 1);
    }
}
