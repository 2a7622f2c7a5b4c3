//! Numbers that were chosen for speed. Those that kernels know too are written in their files by the same names, and a
//! test holds both against each other.

/// Values that a lane of a scan adds up at a time. More need more local memory, 9 bytes times 256 for each; fewer have more
/// barriers for a value.
pub const SCAN_PER_LANE: usize = 8;

/// Groups of a scan at most, each with a stretch of the values. Enough to fill a large GPU; every group reads the
/// sums of the stretches before its own, so that more of them cost more than they bring.
pub const SCAN_GROUPS: usize = 1024;

/// Tiles that one group scans alone: one launch instead of two.
pub const SCAN_TILES_ALONE: usize = 4;

/// Keys that a lane of a sort has. A tile of 256 times as many is put in order in local memory; the longer it is, the longer
/// are the runs that are written, and 18 bytes of local memory for each key are what there is.
pub const SORT_PER_LANE: usize = 8;

/// Bits of a key that a pass of a sort puts in order, at most: kernels have a lane for each digit.
pub const SORT_DIGIT_BITS: u32 = 8;

/// Places that a lane of a selection looks at.
pub const SELECT_PER_LANE: usize = 8;

/// Bytes of text for each sample of where a place of the root is. Fewer make the search at the start of every way down shorter by a
/// step for each halving, and the samples twice as large.
pub const SAMPLE_BYTES: u32 = 256;

/// Bytes of the result of extracts that a lane makes, whole words of 4. Longer ones save ways down; shorter ones have more
/// lanes.
pub const EXTRACT_STRETCH: u32 = 64;

/// Bytes of text that a lane goes through, where documents are searched through and when words are counted.
pub const WINDOW_BYTES: u32 = 512;

/// A search in one document follows each occurrence of its word in the segment up the rules, or goes through the document: the latter if that has
/// fewer bytes than so many for each occurrence.
pub const OCCURRENCE_BYTES: u32 = 32;

/// Occurrences of words whose documents are found at a time, so that loading a segment needs little memory beside the segment: 32
/// bytes each. The most frequent word may have more.
pub const POSTINGS_AT_ONCE: usize = 1 << 26;

/// Symbols that a lane looks at for sequences. Finding the rows of a tile, which are searched for, is shared by all of its
/// symbols.
pub const SEQUENCES_PER_LANE: usize = 8;

/// Edges of a tile of weights for each lane. Fewer spread a level over more groups, more need fewer barriers for an edge.
pub const WEIGHTS_PER_LANE: u32 = 4;

/// Levels of at most so many tiles of weights are done by one group in one launch with their neighbours: a tile costs less than
/// a launch.
pub const SMALL_LEVEL_TILES: u32 = 2;

/// Entries of a tile of merged lists for each lane, which keeps them in registers: 8 numbers each.
pub const LISTS_PER_LANE: u32 = 4;

/// Groups for each unit of a device where groups take one tile after the other.
pub const GROUPS_PER_UNIT: u32 = 8;

/// Where there are at most so many values, each group counts them in local memory first, of which they take 8 KiB.
pub const COUNTED_LOCALLY: u64 = 2048;

/// Long rows are counted if they have an entry for so many values, and sorted otherwise: a counter costs 20 bytes, an entry that is
/// sorted about 28 for each of about 5 digits and 40 more.
pub const VALUES_PER_ENTRY: u64 = 16;

/// Counters of long rows at a time: 8 bytes each.
pub const COUNTERS_AT_ONCE: u64 = 1 << 26;

/// Where all rows that might be long have no more counters than this together, they are counted without waiting for which of
/// them are long, and how long.
pub const COUNTERS_WITHOUT_WAITING: u64 = 1 << 22;

/// Entries of long rows that are sorted at a time: 28 bytes each.
pub const SORTED_AT_ONCE: u64 = 1 << 26;

#[cfg(test)]
mod tests {
    use crate::device::Module;
    use crate::{lists, primitives, sequences, weights};

    /// The number that a kernel file defines by a name.
    fn defined(module: &Module, name: &str) -> usize {
        let start = format!("#define {name} ");
        let line = module.source.lines().find_map(|line| line.strip_prefix(&*start));
        line.expect("the name is defined").trim().parse().expect("it is a number")
    }

    #[test]
    fn kernels_know_the_same_numbers() {
        assert_eq!(defined(&primitives::scan::MODULE, "PER_LANE"), super::SCAN_PER_LANE);
        assert_eq!(defined(&primitives::sort::MODULE, "PER_LANE"), super::SORT_PER_LANE);
        assert_eq!(
            defined(&primitives::sort::MODULE, "DIGIT_BITS"),
            super::SORT_DIGIT_BITS as usize
        );
        assert_eq!(defined(&primitives::select::MODULE, "PER_LANE"), super::SELECT_PER_LANE);
        assert_eq!(defined(&sequences::MODULE, "PER_LANE"), super::SEQUENCES_PER_LANE);
        assert_eq!(defined(&weights::MODULE, "PER_LANE"), super::WEIGHTS_PER_LANE as usize);
        assert_eq!(defined(&lists::MODULE, "PER_LANE"), super::LISTS_PER_LANE as usize);
        assert_eq!(defined(&lists::MODULE, "LOCAL_VALUES"), super::COUNTED_LOCALLY as usize);
    }
}
