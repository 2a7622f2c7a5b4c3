//! The built command, run as people and scripts run it.
#![cfg(unix)]

mod access;
mod analytics;
mod answers;
mod archives;
mod edit;
mod faults;
mod folder;
mod grep;
mod inputs;
mod interrupts;
mod query;
mod refusals;
mod round_trip;

#[cfg(feature = "decompress")]
mod decompress;
#[cfg(feature = "gpu")]
mod devices;
#[cfg(feature = "pool")]
mod pools;
