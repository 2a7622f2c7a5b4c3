//! `--memory`: how much may be taken for what is read of an archive, for all that open one.

use std::sync::OnceLock;

use tadoc::{MemoryLimit, OpenOptions};

use crate::arguments::Command;
use crate::commands::edit::Editing;

static LIMIT: OnceLock<MemoryLimit> = OnceLock::new();

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

/// How archives are opened, with the limit.
pub fn limit(options: OpenOptions) -> OpenOptions {
    options.memory_limit(LIMIT.get().copied().unwrap_or_default())
}
