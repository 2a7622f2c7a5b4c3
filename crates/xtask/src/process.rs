//! Running other programs, with errors that say what was run and what to install.

use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};

use anyhow::{Context, Result, anyhow, bail};

/// Runs a command to its end; its standard output is dropped.
pub fn run(command: &mut Command) -> Result<()> {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let child = spawn(command)?;
    finish(command, child)
}

/// Runs a command to its end; what it prints is seen.
pub fn run_visibly(command: &mut Command) -> Result<()> {
    let status = spawn(command.stdin(Stdio::null()))?.wait()?;
    if !status.success() {
        bail!("`{}` failed ({status})", shown(command));
    }
    Ok(())
}

/// Whether a command runs and ends well; what it says is no matter.
pub fn succeeds(command: &mut Command) -> bool {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// Runs a command to its end and returns what it wrote to standard output.
pub fn output(command: &mut Command) -> Result<String> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let output = spawn(command)?.wait_with_output()?;
    check(command, output.status, &output.stderr)?;
    String::from_utf8(output.stdout).with_context(|| format!("output of `{}`", shown(command)))
}

/// Writes at most `limit` bytes of what some commands print to one file, one after the other. A
/// command that has more to print than there is room for is ended.
pub fn write_output(commands: Vec<Command>, limit: u64, to: &Path) -> Result<()> {
    let mut file = crate::files::create(to)?;
    let mut room = limit;
    for mut command in commands {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::inherit());
        let mut child = spawn(&mut command)?;
        let printed = child.stdout.take().expect("standard output is piped");
        room -= std::io::copy(&mut printed.take(room), &mut file).with_context(|| {
            format!("writing output of `{}` to {}", shown(&command), to.display())
        })?;
        if room == 0 {
            // What we wanted of it is there, so how it ends is no matter.
            child.kill()?;
            child.wait()?;
            break;
        }
        finish(&command, child)?;
    }
    file.flush().with_context(|| format!("writing {}", to.display()))
}

/// What a command prints when it reads `input`, which is short: the command may not read all of
/// it before it prints.
pub fn filter(command: &mut Command, input: &[u8]) -> Result<Vec<u8>> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = spawn(command)?;
    let mut pipe = child.stdin.take().expect("standard input is piped");
    pipe.write_all(input).with_context(|| format!("writing to `{}`", shown(command)))?;
    drop(pipe);
    let output = child.wait_with_output()?;
    check(command, output.status, &output.stderr)?;
    Ok(output.stdout)
}

/// Starts a command, or says what to install when there is no such program.
fn spawn(command: &mut Command) -> Result<Child> {
    command.spawn().map_err(|error| {
        let program = command.get_program().to_string_lossy().into_owned();
        if error.kind() == std::io::ErrorKind::NotFound {
            let package = package_of(&program);
            anyhow!("cannot run `{program}`: not found; on Debian: apt-get install {package}")
        } else {
            anyhow!("cannot run `{}`: {error}", shown(command))
        }
    })
}

/// Waits for a command to end well.
fn finish(command: &Command, child: Child) -> Result<()> {
    let output = child.wait_with_output()?;
    check(command, output.status, &output.stderr)
}

fn check(command: &Command, status: ExitStatus, said: &[u8]) -> Result<()> {
    if !status.success() {
        let said = String::from_utf8_lossy(said);
        bail!("`{}` failed ({status}): {}", shown(command), said.trim());
    }
    Ok(())
}

/// The command as one would type it, nearly: it is for reading.
fn shown(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

/// The Debian package that has a program.
fn package_of(program: &str) -> &str {
    match program {
        "apt-get" => "apt",
        "dpkg-deb" => "dpkg",
        "iconv" => "libc-bin",
        "mkfifo" => "coreutils",
        "xz" => "xz-utils",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_program_is_named() {
        let error = run(&mut Command::new("no-such-program")).unwrap_err().to_string();
        assert!(error.contains("apt-get install no-such-program"), "{error}");
    }

    #[test]
    fn a_failing_command_is_shown_with_what_it_said() {
        let error = run(Command::new("sh").args(["-c", "echo why >&2; exit 3"])).unwrap_err();
        let error = error.to_string();
        assert!(error.contains("`sh -c") && error.ends_with(": why"), "{error}");
    }
}
