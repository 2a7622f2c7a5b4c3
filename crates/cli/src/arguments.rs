//! The command line: subcommands and what is common to them.

use clap::builder::RangedU64ValueParser;
use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::failure::print_warning;
use crate::{commands, units};

/// Text that ends a subcommand's help: examples under a heading like clap's own.
macro_rules! examples {
    ($($line:literal)*) => {
        concat!("\x1b[1m\x1b[4mExamples:\x1b[0m", $("\n  ", $line),*)
    };
}
pub(crate) use examples;

/// Keeps text compressed and answers on the compressed form.
///
/// An archive (.tdc) holds a corpus: any number of named documents, restored byte by byte.
#[derive(Debug, Parser)]
#[command(
    name = "tadoc",
    version,
    max_term_width = 100,
    subcommand_required = true,
    arg_required_else_help = true,
    after_help = concat!(
        examples!(
            "tadoc demo                               see it at work on a bundled corpus"
            "tadoc compress notes/ -o notes.tdc       one archive of a folder"
            "tadoc list notes.tdc                     what is in it"
            "tadoc grep -n TODO notes.tdc             lines that match"
            "tadoc word-count notes.tdc --top 20      its most frequent words"
            "tadoc collocations notes.tdc --top 20    words that belong together"
            "tadoc cat notes.tdc todo.txt             one document to standard output"
            "tadoc kwic notes.tdc 'next week'         where words are, with what is around them"
            "tadoc find notes.tdc 'summer holidays'   the documents that fit some words best"
            "tadoc add notes.tdc new.txt              one more document, without compressing all again"
            "tadoc restore notes.tdc -C copy          all of it as files again"
        ),
        "\n\n\x1b[1m\x1b[4mExit codes:\x1b[0m\n  0 done, 1 nothing found or a check failed, ",
        "2 wrong usage or bad input,\n  128 + n ended by signal n: 130 Ctrl-C, 143 SIGTERM, 129 SIGHUP"
    )
)]
pub struct Arguments {
    #[command(subcommand)]
    pub command: Command,

    /// No progress and no summary on standard error; errors and warnings stay.
    #[arg(short, long, global = true, display_order = 900)]
    pub quiet: bool,

    /// The most memory for what is read of an archive, such as 512M or 4G
    ///
    /// [default: 64 times the size of the archive, at least 320M, at most half of the memory]
    #[arg(long, global = true, value_name = "SIZE", value_parser = units::parse_size, display_order = 901)]
    pub memory: Option<u64>,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    Compress(commands::compress::Compress),
    Restore(commands::restore::Restore),
    List(commands::list::List),
    #[command(flatten)]
    Access(commands::access::Access),
    Info(commands::info::Info),
    Verify(commands::verify::Verify),
    Transcode(commands::transcode::Transcode),
    Index(commands::index::Index),
    #[command(flatten)]
    Edit(commands::edit::Editing),
    Grep(commands::grep::Grep),
    #[command(flatten)]
    Analytics(commands::analytics::Analytics),
    Devices(commands::devices::Devices),
    Demo(commands::demo::Demo),
    Completions(commands::completions::Completions),
    Man(commands::man::Man),
}

/// `--level`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Level {
    /// Loads at the speed that a query deserves
    Fast,
    /// Smaller and slower to load: for keeping
    Dense,
}

impl From<Level> for tadoc::Level {
    fn from(level: Level) -> Self {
        match level {
            Level::Fast => Self::Fast,
            Level::Dense => Self::Dense,
        }
    }
}

/// `--index`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Index {
    /// Nothing: segments are decoded when they are needed
    None,
    /// Rules and lengths; the documents' own symbols are decoded
    Small,
    /// All symbols and the documents of each word; nothing is decoded
    Fast,
}

impl From<Index> for tadoc::Index {
    fn from(index: Index) -> Self {
        match index {
            Index::None => Self::None,
            Index::Small => Self::Small,
            Index::Fast => Self::Fast,
        }
    }
}

/// `--threads`.
#[derive(Debug, Clone, Copy, Default, Args)]
pub struct Threads {
    /// Threads to use, 1 to 1024 [default: one a core]
    #[arg(long, value_name = "N", value_parser = thread_count())]
    pub threads: Option<usize>,
}

impl Threads {
    /// The threads that work is done on. Where the system refuses to start them, there are fewer.
    pub fn pool(self) -> anyhow::Result<tadoc::Threads> {
        let pool = tadoc::Threads::new(self.threads)?;
        let (started, wanted) = (pool.count(), self.threads);
        if wanted.is_some_and(|wanted| started < wanted) {
            let started = units::counted(started as u64, "thread");
            print_warning(&format!("the system allows no more than {started} at the moment"));
        }
        Ok(pool)
    }
}

fn thread_count() -> RangedU64ValueParser<usize> {
    RangedU64ValueParser::new().range(1..=tadoc::Threads::MOST as u64)
}

/// Reads a number that is not zero.
pub fn at_least_one() -> RangedU64ValueParser<usize> {
    RangedU64ValueParser::new().range(1..)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn every_subcommand_has_examples() {
        for command in Arguments::command().get_subcommands() {
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            assert!(help.contains("Examples:"), "{} has none", command.get_name());
            assert!(help.contains(&format!("tadoc {}", command.get_name())), "{help}");
        }
    }
}
