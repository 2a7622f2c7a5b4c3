//! Exit codes, and how errors and warnings look.

use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::process::ExitCode;

use anstyle::{AnsiColor, Style};

use crate::interrupt;

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
    if kind_of(error) == Some(io::ErrorKind::FileTooLarge) {
        told.push_str("; raise the limit for files (`ulimit -f`), or write to another file system");
    }
    print_error(&told);
    ExitCode::from(2)
}

/// Whether what was asked for needs more memory than was allowed.
fn is_memory_limit(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause.downcast_ref::<tadoc::Error>().is_some_and(tadoc::Error::is_memory_limit)
    })
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

/// The text with control characters shown as `\xHH`, so that a file's name cannot steer the terminal.
pub fn printable(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_control() && character != '\n' {
            let mut bytes = [0; 4];
            for byte in character.encode_utf8(&mut bytes).bytes() {
                write!(result, "\\x{byte:02x}").expect("a string takes all");
            }
        } else {
            result.push(character);
        }
    }
    result
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
        assert_eq!(printable("a\x1b[31mb\u{9b}\nc\u{e9}"), "a\\x1b[31mb\\xc2\\x9b\nc\u{e9}");
    }
}
