//! Exit codes, and how errors and warnings look.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::process::ExitCode;

use anstyle::{AnsiColor, Style};

use tadoc::text::steers;

use crate::interrupt;
use crate::screen::push_hex;

/// How a subcommand ended that did not fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Exit code 0.
    Done,
    /// Exit code 1: nothing was found, or a check failed.
    Negative,
}

impl From<Outcome> for ExitCode {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Done => ExitCode::SUCCESS,
            Outcome::Negative => ExitCode::from(1),
        }
    }
}

const ERROR: Style = AnsiColor::Red.on_default().bold();
const WARNING: Style = AnsiColor::Yellow.on_default().bold();

/// Prints an error to standard error.
pub fn print_error(message: &str) {
    print_line(&format!("{ERROR}tadoc:{ERROR:#} {}", printable(message)));
}

/// Prints a warning to standard error.
pub fn print_warning(message: &str) {
    print_line(&format!("{WARNING}tadoc:{WARNING:#} warning: {}", printable(message)));
}

/// Prints to standard error what is good to know and is nothing wrong.
pub fn print_note(message: &str) {
    print_line(&format!("tadoc: {}", printable(message)));
}

/// Prints a line to standard error. Where that fails, as on a terminal that is gone, nobody can be told.
pub fn print_line(line: &str) {
    let _ = writeln!(anstream::stderr(), "{line}");
}

/// Tells the person what went wrong and gives the exit code. A reader of our output that has seen enough
/// (`tadoc cat … | head`) is no error.
pub fn report(error: &anyhow::Error) -> ExitCode {
    if is_broken_pipe(error) {
        return ExitCode::SUCCESS;
    }
    if is_cancelled(error) {
        interrupt::print_cancelled();
        return ExitCode::from(interrupt::exit_code());
    }
    let mut told = message(error);
    // A journal keeps what the system said as text.
    if kind_of(error) == Some(io::ErrorKind::FileTooLarge) || told.contains("File too large") {
        told.push_str("; raise the limit for files (`ulimit -f`), or write to another file system");
    }
    if is_bad_pattern(error) {
        print_line(&format!("{ERROR}tadoc:{ERROR:#} {}", printable_lines(&told)));
    } else {
        print_error(&told);
    }
    ExitCode::from(2)
}

/// Whether what was asked for needs more memory than was allowed.
fn is_memory_limit(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause.downcast_ref::<tadoc::Error>().is_some_and(tadoc::Error::is_memory_limit)
    })
}

/// Tells what is wrong with the command line, or prints help or version, and ends the process. Clap
/// repeats arguments as they are, which may be the names of files.
pub fn exit_with_usage(error: &clap::Error) -> ! {
    let steering = |argument: OsString| argument.to_string_lossy().chars().any(steers);
    if error.use_stderr() && std::env::args_os().any(steering) {
        print_line(&printable_lines(error.to_string().trim_end()));
        std::process::exit(error.exit_code());
    }
    error.exit()
}

/// Whether the message has several lines, in which a caret points at a place of the pattern.
fn is_bad_pattern(error: &anyhow::Error) -> bool {
    let is = |cause: &(dyn std::error::Error + 'static)| {
        matches!(cause.downcast_ref(), Some(tadoc::Error::BadPattern { .. }))
    };
    error.chain().any(is)
}

/// Whether the error is the wish of the person, in whatever way the work has met it.
pub fn is_cancelled(error: &anyhow::Error) -> bool {
    interrupt::requested()
        || error.chain().any(|cause| matches!(cause.downcast_ref(), Some(tadoc::Error::Cancelled)))
}

/// Whether nobody reads any more what we write.
pub fn is_broken_pipe(error: &anyhow::Error) -> bool {
    kind_of(error) == Some(io::ErrorKind::BrokenPipe)
}

/// The kind of the system's error behind an error, if there is one.
fn kind_of(error: &anyhow::Error) -> Option<io::ErrorKind> {
    error.chain().find_map(|cause| cause.downcast_ref().map(io::Error::kind))
}

/// The error with its causes, outermost first; a cause that the error before it has told already is left
/// out.
pub fn message(error: &anyhow::Error) -> String {
    let mut message = error.to_string();
    let mut last = message.clone();
    for cause in error.chain().skip(1) {
        let cause = cause.to_string();
        if !last.contains(&cause) {
            write!(message, ": {cause}").expect("a string takes all");
        }
        last = cause;
    }
    if is_memory_limit(error) {
        message.push_str("; --memory SIZE sets another limit");
    }
    message
}

/// The text of one line with what steers a terminal shown as `\xHH`, and a line feed as `\n`, so
/// that a file's name can neither steer the terminal nor look like a line of ours.
pub fn printable(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' => result.push_str("\\n"),
            hidden if steers(hidden) => {
                push_hex(hidden.encode_utf8(&mut [0; 4]).as_bytes(), &mut result);
            }
            other => result.push(other),
        }
    }
    result
}

fn printable_lines(text: &str) -> String {
    text.split('\n').map(printable).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::Context;

    #[test]
    fn causes_are_told_once() {
        let cause = io::Error::other("the disk is full");
        let error: anyhow::Error = tadoc::Error::Io { path: "a.tdc".into(), source: cause }.into();
        assert_eq!(message(&error), "a.tdc: the disk is full");
        let outer = Err::<(), _>(error).context("cannot write").unwrap_err();
        assert_eq!(message(&outer), "cannot write: a.tdc: the disk is full");
    }

    #[test]
    fn broken_pipes_are_found_below_the_library_s_errors() {
        let cause = io::Error::from(io::ErrorKind::BrokenPipe);
        let error: anyhow::Error = tadoc::Error::Io { path: "out".into(), source: cause }.into();
        assert!(is_broken_pipe(&error));
        assert!(!is_broken_pipe(&anyhow::anyhow!("other")));
    }

    #[test]
    fn control_characters_do_not_reach_the_terminal() {
        assert_eq!(printable("a\x1b[31mb\u{9b}\nc\u{e9}"), "a\\x1b[31mb\\xc2\\x9b\\nc\u{e9}");
        assert_eq!(printable("a\u{202e}b\\"), "a\\xe2\\x80\\xaeb\\");
        assert_eq!(printable_lines("a\x07\n ^"), "a\\x07\n ^");
    }
}
