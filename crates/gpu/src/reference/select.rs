//! The places of `primitives::select`.

/// The places of flags that are set, and behind them the number of flags.
pub fn flagged(flags: &[u32]) -> Vec<u32> {
    let places = 0..flags.len() as u32;
    let set = places.filter(|&place| flags[place as usize] != 0);
    set.chain([flags.len() as u32]).collect()
}

/// The places of keys that differ from the one before, and behind them the number of keys.
pub fn heads<K: PartialEq>(keys: &[K]) -> Vec<u32> {
    let differs = |place: usize| place == 0 || keys[place] != keys[place - 1];
    let flags: Vec<u32> = (0..keys.len()).map(|place| u32::from(differs(place))).collect();
    flagged(&flags)
}
