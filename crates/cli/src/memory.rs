//! `--memory`: how much may be taken for what is read of an archive, for all that open one.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use tadoc::{MemoryLimit, OpenOptions};

use crate::arguments::Command;
use crate::commands::edit::Editing;

static LIMIT: OnceLock<MemoryLimit> = OnceLock::new();
static IS_SPILLED: AtomicBool = AtomicBool::new(false);

/// Sets what was asked for. Where `--memory` is that of other work, too, a small one does not keep archives from being
/// read.
pub fn set(asked: Option<u64>, command: &Command) {
    let is_of_work = matches!(
        command,
        Command::Compress(_) | Command::Analytics(_) | Command::Edit(Editing::Recompress(_))
    );
    let limit = match asked {
        None => MemoryLimit::Default,
        Some(bytes) if is_of_work => MemoryLimit::AtLeast(bytes),
        Some(bytes) => MemoryLimit::Exactly(bytes),
    };
    let _ = LIMIT.set(limit);
}

/// Memory is in a file from now on: the machine's own is no limit.
pub fn is_spilled() {
    IS_SPILLED.store(true, Ordering::Relaxed);
}

/// How archives are opened, with the limit.
pub fn limit(options: OpenOptions) -> OpenOptions {
    let limit = LIMIT.get().copied().unwrap_or_default();
    options.memory_limit(match limit {
        MemoryLimit::Default if IS_SPILLED.load(Ordering::Relaxed) => MemoryLimit::ByLength,
        limit => limit,
    })
}
