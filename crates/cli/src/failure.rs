//! Exit codes, and how errors and warnings look.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::process::ExitCode;

use anstyle::{AnsiColor, Style};

use crate::advice;
use crate::interrupt;
use crate::screen::{push_hex, steers};

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
    let told = message(error.as_ref());
    if is_bad_pattern(error) {
        print_line(&format!("{ERROR}tadoc:{ERROR:#} {}", printable_lines(&told)));
    } else {
        print_error(&told);
    }
    ExitCode::from(2)
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
    advice::kind_of(error.as_ref()) == Some(io::ErrorKind::BrokenPipe)
}

/// The error with its causes, outermost first, and what to do about it.
pub fn message(error: &(dyn std::error::Error + 'static)) -> String {
    let mut message = error.to_string();
    for cause in advice::chain(error).skip(1) {
        write!(message, ": {cause}").expect("a string takes all");
    }
    let advice = advice::about(error);
    if !advice.is_empty() {
        write!(message, "; {advice}").expect("a string takes all");
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
        assert_eq!(message(error.as_ref()), "cannot access a.tdc: the disk is full");
        let outer = Err::<(), _>(error).context("nothing was added").unwrap_err();
        let told = "nothing was added: cannot access a.tdc: the disk is full";
        assert_eq!(message(outer.as_ref()), told);
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
