//! Waiting for a pool that another process has.
//!
//! A process that was killed holds its lock until the system has taken its memory apart, which takes moments
//! for a large pool. So a lock that is held is asked for again for a while before the pool is refused.

use std::fs::{File, TryLockError};
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::{Error, Result};

/// How long is waited before anybody is told.
const UNTOLD: Duration = Duration::from_millis(200);
/// How long between two attempts.
const ASK_AGAIN: Duration = Duration::from_millis(10);

/// How long a pool that another process has is waited for, who is told, and who may end it.
#[derive(Debug, Clone, Copy)]
pub struct Patience {
    /// At most so long; with zero it is refused at once.
    pub most: Duration,
    /// Called once, with the pool's file, when the wait has become noticeable.
    pub tell: fn(&Path),
    /// Asked again and again whether the wait shall end.
    pub is_cancelled: fn() -> bool,
}

impl Default for Patience {
    /// Two seconds, untold.
    fn default() -> Self {
        Self { most: Duration::from_secs(2), tell: |_| {}, is_cancelled: || false }
    }
}

impl Patience {
    pub(crate) fn lock(self, file: &File, path: &Path) -> Result<()> {
        let start = Instant::now();
        let mut told = false;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(()),
                Err(TryLockError::Error(source)) => {
                    return Err(Error::Io { path: path.to_owned(), source });
                }
                Err(TryLockError::WouldBlock) => {}
            }
            let waited = start.elapsed();
            if waited >= self.most {
                return Err(Error::InUse { path: path.to_owned() });
            }
            if (self.is_cancelled)() {
                return Err(Error::Cancelled);
            }
            if waited >= UNTOLD && !told {
                (self.tell)(path);
                told = true;
            }
            sleep(ASK_AGAIN.min(self.most - waited));
        }
    }
}
