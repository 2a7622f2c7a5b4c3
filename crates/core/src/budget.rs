//! How much memory reading an archive may take: counted before it is taken, whatever the file announces.
//!
//! A few bytes of a file can stand for gigabytes: front-coded words, packed edits, rules of rules. So whoever decodes
//! takes a [`Share`] of the archive's [`Budget`] first, and gives it back by dropping it with what it has decoded; a
//! share that does not fit is [`Error::MemoryLimit`], with the figures. Counting costs an atomic addition, and is done
//! for some kilobytes at a time.
//!
//! Beside the memory, a budget says where large rows lie and records what the steps of decoding took.

use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::{Error, Result};
use crate::spill::Spill;
use crate::steps::Steps;

/// What may be taken for an archive of any length: a small file never takes more.
const LEAST_DEFAULT: u64 = 320 << 20;
/// What may be taken for each byte of a longer one. Archives of text take 5 to 20 times their length.
const PER_BYTE: u64 = 64;
/// The part of the machine's memory that the default never passes.
const PART_OF_MACHINE: u64 = 2;

/// How much memory may be taken for an archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MemoryLimit {
    /// 64 times the length of the file and 320 MiB at least, but no more than half of the machine's memory.
    #[default]
    Default,
    /// So many bytes.
    Exactly(u64),
    /// The default, or so many bytes if that is more.
    AtLeast(u64),
    /// The default without regard to the machine: for those whose memory is a file.
    ByLength,
}

impl MemoryLimit {
    /// Bytes that may be taken for a file of so many bytes.
    pub fn bytes(self, file_bytes: u64) -> u64 {
        let by_length = file_bytes.saturating_mul(PER_BYTE).max(LEAST_DEFAULT);
        let machine = || machine_memory().map_or(u64::MAX, |memory| memory / PART_OF_MACHINE);
        match self {
            Self::Default => by_length.min(machine()),
            Self::Exactly(bytes) => bytes,
            Self::AtLeast(bytes) => by_length.min(machine()).max(bytes),
            Self::ByLength => by_length,
        }
    }
}

/// A limit of memory, shared by all that is decoded of an archive.
#[derive(Debug, Clone)]
pub struct Budget(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    limit: u64,
    used: AtomicU64,
    spill: Spill,
    steps: Steps,
}

impl Budget {
    /// At most so many bytes.
    pub fn new(limit: u64) -> Self {
        Self::spilling(limit, Spill::default())
    }

    /// At most so many bytes, of which large rows lie where `spill` says.
    pub fn spilling(limit: u64, spill: Spill) -> Self {
        let steps = Steps::default();
        Self(Arc::new(Inner { limit, used: AtomicU64::new(0), spill, steps }))
    }

    /// Where large rows lie.
    pub fn spill(&self) -> &Spill {
        &self.0.spill
    }

    /// Where the steps of decoding are recorded.
    pub fn steps(&self) -> &Steps {
        &self.0.steps
    }

    /// No limit: for what this program has made itself.
    pub fn unlimited() -> Self {
        Self::new(u64::MAX)
    }

    /// The limit.
    pub fn limit(&self) -> u64 {
        self.0.limit
    }

    /// What is taken now.
    pub fn used(&self) -> u64 {
        self.0.used.load(Ordering::Relaxed)
    }

    /// What is left.
    pub fn left(&self) -> u64 {
        self.limit().saturating_sub(self.used())
    }

    /// A share of nothing, which may grow.
    pub fn share(&self) -> Share {
        Share(Arc::new(Held { budget: self.clone(), bytes: AtomicU64::new(0) }))
    }

    /// Takes a share; `what` says for what, as in "{what} would need".
    ///
    /// # Errors
    /// [`Error::MemoryLimit`] if less is left; then nothing is taken.
    pub fn take(&self, bytes: u64, what: &'static str) -> Result<Share> {
        let share = self.share();
        share.grow(bytes, what)?;
        Ok(share)
    }

    fn add(&self, bytes: u64, what: &'static str) -> Result<()> {
        let Inner { limit, used, .. } = &*self.0;
        let fits = |used: u64| used.checked_add(bytes).filter(|sum| sum <= limit);
        match used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits) {
            Ok(_) => Ok(()),
            Err(used) => Err(Error::MemoryLimit { what, needed: bytes, used, limit: *limit }),
        }
    }
}

impl Default for Budget {
    fn default() -> Self {
        Self::unlimited()
    }
}

/// A part of a budget that is taken. Clones are one share, which is given back with the last of them.
#[derive(Debug, Clone)]
pub struct Share(Arc<Held>);

#[derive(Debug)]
struct Held {
    budget: Budget,
    bytes: AtomicU64,
}

impl Share {
    /// Takes so much more.
    ///
    /// # Errors
    /// As [`Budget::take`].
    pub fn grow(&self, bytes: u64, what: &'static str) -> Result<()> {
        self.0.budget.add(bytes, what)?;
        self.0.bytes.fetch_add(bytes, Ordering::Relaxed);
        Ok(())
    }

    /// Bytes taken.
    pub fn bytes(&self) -> u64 {
        self.0.bytes.load(Ordering::Relaxed)
    }

    /// The budget that it is of.
    pub fn budget(&self) -> &Budget {
        &self.0.budget
    }

    /// Where large rows lie.
    pub fn spill(&self) -> &Spill {
        self.0.budget.spill()
    }

    /// Never gives it back, as long as the budget lives: for what lives as long.
    pub fn keep(self) {
        self.0.bytes.store(0, Ordering::Relaxed);
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.budget.0.used.fetch_sub(*self.bytes.get_mut(), Ordering::Relaxed);
    }
}

/// A value and the share of a budget that it takes. Compares as the value does.
#[derive(Debug, Clone)]
pub struct Counted<T> {
    value: T,
    share: Option<Share>,
}

impl<T> Counted<T> {
    /// A value whose memory was taken.
    pub fn new(value: T, share: Share) -> Self {
        Self { value, share: Some(share) }
    }

    /// Its share, if it is counted.
    pub fn share(&self) -> Option<&Share> {
        self.share.as_ref()
    }

    /// The value and its share.
    pub fn into_parts(self) -> (T, Option<Share>) {
        (self.value, self.share)
    }
}

impl<T> From<T> for Counted<T> {
    /// A value that nobody counts.
    fn from(value: T) -> Self {
        Self { value, share: None }
    }
}

impl<T: Default> Default for Counted<T> {
    fn default() -> Self {
        T::default().into()
    }
}

impl<T: PartialEq> PartialEq for Counted<T> {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl<T: Eq> Eq for Counted<T> {}

impl<T> std::ops::Deref for Counted<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

/// Bytes of memory of the machine, or of the container that this runs in; `None` if nobody says.
pub fn machine_memory() -> Option<u64> {
    static MEMORY: OnceLock<Option<u64>> = OnceLock::new();
    *MEMORY.get_or_init(|| {
        let meminfo = std::fs::read_to_string("/proc/meminfo").ok()?;
        let total = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
        let total: u64 = total.trim().strip_suffix("kB")?.trim().parse().ok()?;
        let container = std::fs::read_to_string("/sys/fs/cgroup/memory.max").ok();
        let container = container.and_then(|limit| limit.trim().parse().ok());
        Some((total << 10).min(container.unwrap_or(u64::MAX)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_taken_and_given_back() {
        let budget = Budget::new(100);
        let first = budget.take(60, "the first").unwrap();
        let error = budget.take(41, "the second").unwrap_err();
        let Error::MemoryLimit { what, needed, used, limit } = error else { panic!("{error}") };
        assert_eq!((what, needed, used, limit), ("the second", 41, 60, 100));
        let clone = first.clone();
        clone.grow(40, "more").unwrap();
        assert!(first.grow(1, "too much").is_err());
        drop(first);
        assert_eq!(budget.used(), 100);
        drop(clone);
        assert_eq!(budget.used(), 0);
        budget.take(10, "what stays").unwrap().keep();
        assert_eq!(budget.used(), 10);
        assert!(budget.take(u64::MAX, "all").is_err());
    }

    #[test]
    fn the_default_grows_with_the_file() {
        assert_eq!(MemoryLimit::ByLength.bytes(0), 320 << 20);
        assert_eq!(MemoryLimit::ByLength.bytes(1 << 20), 320 << 20);
        assert_eq!(MemoryLimit::ByLength.bytes(1 << 30), 64 << 30);
        assert!(MemoryLimit::Default.bytes(u64::MAX) <= machine_memory().unwrap_or(u64::MAX));
        assert_eq!(MemoryLimit::AtLeast(1).bytes(0), MemoryLimit::Default.bytes(0));
        assert_eq!(MemoryLimit::AtLeast(1 << 60).bytes(0), 1 << 60);
    }
}
