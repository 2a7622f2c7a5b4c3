//! `cargo xtask bench`: tadoc beside other compressors and beside plain text, in the same run on the same
//! machine.
//!
//! Every measured program is a child process of its own ([`measure`]); the harness only reads clocks and
//! file lengths. What is asked of a loaded archive is the exception: it is asked here, as a program that keeps an
//! archive open would. Time: that of the slowest rival, some minutes for each 200 MB.

mod access;
mod analytics;
mod bars;
mod compress;
mod contenders;
mod corpus;
mod edit;
mod gpu;
mod grep;
mod load;
mod loading;
mod machine;
mod measure;
mod paths;
mod pool;
mod render;
mod rival;
mod run;
mod scale;
mod segments;
mod source;
mod statistics;
mod table;
mod task;
mod threads;
mod units;
mod versions;
mod zstd;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;

/// Measures tadoc beside other compressors, its analytics beside plain text, and random access
#[derive(Debug, Parser)]
#[command(name = "cargo xtask bench", bin_name = "cargo xtask bench", max_term_width = 100)]
enum Command {
    Access(access::Access),
    Analytics(analytics::Analytics),
    Compress(compress::Compress),
    Edit(edit::EditBench),
    Gpu(gpu::Gpu),
    Grep(grep::Grep),
    Loading(loading::Loading),
    Pool(pool::Pool),
    Scale(scale::Scale),
    Rival(rival::Rival),
    Threads(threads::Threads),
    Versions(versions::Versions),
    /// Runs a program, and prints what it took as JSON
    #[command(hide = true)]
    Measure {
        /// Where the program's standard output goes
        #[arg(long, default_value = "/dev/null")]
        output: PathBuf,
        #[arg(last = true, required = true)]
        words: Vec<OsString>,
    },
    #[command(hide = true)]
    GpuFirst(gpu::First),
    #[command(hide = true)]
    AccessInside(access::inside::Inside),
    /// Decodes the grammars and opens the dictionaries of an archive
    #[command(hide = true)]
    Load {
        archive: PathBuf,
    },
    #[command(hide = true)]
    Zstd(zstd::Zstd),
}

fn main() -> ExitCode {
    let result = match Command::parse() {
        Command::Access(command) => command.run(),
        Command::Analytics(command) => command.run(),
        Command::Compress(command) => command.run(),
        Command::Edit(command) => command.run(),
        Command::Gpu(command) => command.run(),
        Command::GpuFirst(command) => command.run(),
        Command::Grep(command) => command.run(),
        Command::Loading(command) => command.run(),
        Command::Pool(command) => command.run(),
        Command::Scale(command) => command.run(),
        Command::Rival(command) => command.run(),
        Command::Threads(command) => command.run(),
        Command::Versions(command) => command.run(),
        Command::Measure { output, words } => measure::as_helper(&output, &words),
        Command::AccessInside(command) => command.run(),
        Command::Load { archive } => load::run(&archive),
        Command::Zstd(command) => command.run(),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        super::Command::command().debug_assert();
    }
}
