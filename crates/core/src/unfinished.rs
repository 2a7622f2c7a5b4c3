//! Files that this process has begun and not finished, for a process that is about to end without
//! unwinding: at a signal, nobody drops the values that would remove them.
//!
//! Beginning and ending a file cost a mutex and an entry each.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What removes a file. It runs on any thread, at most once, and may find the file gone.
pub type Removal = Box<dyn FnOnce() + Send>;

static BEGUN: Mutex<Begun> = Mutex::new(Begun { next: 0, removals: BTreeMap::new() });

struct Begun {
    next: u64,
    removals: BTreeMap<u64, Removal>,
}

fn begun() -> MutexGuard<'static, Begun> {
    // The map is whole at any time: removals run after they are taken out of it.
    BEGUN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A file that is known to [`remove_all`] until this is dropped. Dropping does not remove the file.
#[derive(Debug)]
pub struct Unfinished(u64);

impl Unfinished {
    /// Creates a file and takes note of how it is removed, with no moment in between.
    ///
    /// # Errors
    /// Those of `create`; then nothing is noted.
    pub fn begin<T, E>(create: impl FnOnce() -> Result<(T, Removal), E>) -> Result<(T, Self), E> {
        let mut begun = begun();
        let (created, removal) = create()?;
        let number = begun.next;
        begun.next += 1;
        begun.removals.insert(number, removal);
        Ok((created, Self(number)))
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        begun().removals.remove(&self.0);
    }
}

/// Removes all unfinished files of this process, which has to end right after: whoever begins or ends a
/// file from now on waits for ever.
pub fn remove_all() {
    let mut begun = begun();
    for (_, remove) in std::mem::take(&mut begun.removals) {
        remove();
    }
    std::mem::forget(begun);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};

    /// [`remove_all`] itself ends a process, and is tested by the command.
    #[test]
    fn what_is_finished_or_never_began_is_forgotten() {
        let removed = Arc::new(AtomicU32::new(0));
        let removal = |by: u32| -> Removal {
            let removed = removed.clone();
            Box::new(move || drop(removed.fetch_add(by, Ordering::SeqCst)))
        };
        let begin = |by| Unfinished::begin(|| Ok::<_, ()>(((), removal(by)))).unwrap().1;
        let (first, second) = (begin(1), begin(10));
        assert!(Unfinished::begin(|| Err::<((), Removal), _>("no room")).is_err());
        drop(first);
        let left = begun().removals.remove(&second.0).unwrap();
        left();
        assert_eq!(removed.load(Ordering::SeqCst), 10);
        drop(second);
    }
}
