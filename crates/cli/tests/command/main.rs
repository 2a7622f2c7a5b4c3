//! The built command, run as people and scripts run it.
#![cfg(unix)]

mod access;
mod analytics;
mod answers;
mod edit;
mod faults;
mod folder;
mod formats;
mod grep;
mod inputs;
mod interrupts;
mod new_files;
mod query;
mod refusals;
mod round_trip;
mod screens;

#[cfg(feature = "decompress")]
mod decompress;
#[cfg(feature = "gpu")]
mod devices;
#[cfg(feature = "pool")]
mod pools;
