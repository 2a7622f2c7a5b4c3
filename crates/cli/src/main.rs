//! The `tadoc` command: a thin user of the `tadoc` library.
//!
//! `arguments` is the command line, `commands` has a module for each subcommand; the other modules are
//! what they share.

#![cfg_attr(
    not(test),
    warn(clippy::cast_possible_truncation, clippy::cast_possible_wrap, clippy::cast_sign_loss)
)]

mod advice;
mod arguments;
mod closed;
mod commands;
mod encode;
mod failure;
mod inputs;
mod interrupt;
mod memory;
mod output;
mod progress;
mod rows;
mod screen;
mod temporary;
mod units;

use std::process::ExitCode;

use clap::Parser;

/// For a read of a mapped file that is cut short meanwhile.
const TRUNCATED: &str = "tadoc: a file was truncated while it was read, or its disk is full or \
failed (SIGBUS); run `tadoc verify`, and fetch or copy the archive again if it is damaged\n";

fn main() -> ExitCode {
    let arguments = match arguments::Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => failure::exit_with_usage(&error),
    };
    interrupt::install();
    if let Err(error) = tadoc::exit_on_truncated_files(TRUNCATED) {
        failure::print_warning(&format!("SIGBUS cannot be handled: {error}"));
    }
    match commands::run(arguments) {
        Ok(outcome) => outcome.into(),
        Err(error) => failure::report(&error),
    }
}
