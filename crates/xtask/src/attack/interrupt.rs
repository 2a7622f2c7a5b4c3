//! Writing commands that are killed, or signalled, at a moment drawn over the time that they take. After a kill, what
//! was acknowledged is there, nothing is half-written under a real name, and the next writer leaves no file of the killed
//! one. After a signal, that holds at once, the exit code tells the signal, and the command has ended soon. Costs a
//! few runs of the command for each.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tadoc_oracle::Random;
use tadoc_testing::processor_time;
use wait4::Wait4;

use super::child;
use super::finding::{Fault, Seen};
use super::writer::{Base, Interrupted, Measured, Writes, leftovers};
use super::{Attack, random_of};

/// A command takes no more processor time after a signal, its threads together.
const SOON: Duration = Duration::from_secs(1);
/// It is ended if it does not.
const PATIENCE: Duration = Duration::from_secs(600);
const SIGNALS: [Signal; 3] = [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP];

/// What is sent to a command.
#[derive(Debug, Clone, Copy)]
struct Blow {
    signal: Signal,
    /// When, after it was started.
    after: Duration,
}

/// What came of it.
struct Struck {
    /// The command was still at work.
    in_time: bool,
    end: Option<i32>,
    ended_by: Option<i32>,
    /// Processor time from the signal to the end.
    took: Duration,
    told: String,
    left: Interrupted,
}

/// Kills and signals writing commands, so many times, all of them in turns.
pub fn run(attack: &Attack, jobs: usize, kills: u64, signals: u64) -> Result<()> {
    let base = Base::new(&attack.binary, &attack.scratch)?;
    // What is ignored here, as in the background of a script, is ignored by every child, and rightly so.
    let ignored = child::ignored_signals();
    let heard = SIGNALS.iter().filter(|&&signal| ignored >> (signal as i32 - 1) & 1 == 0);
    let heard: Vec<Signal> = heard.copied().collect();
    let next = AtomicU64::new(0);
    attack.on_threads(jobs, |job| {
        let folder = attack.scratch.join(format!("interrupt-{job}"));
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= kills + signals {
                return Ok(());
            }
            let writer = &base.writers[number as usize % base.writers.len()];
            let mut random = random_of(attack.seed ^ 0x15, number);
            let after = writer.takes.mul_f64(random.below(1050) as f64 / 1000.0);
            if number < kills {
                let blow = Blow { signal: Signal::SIGKILL, after };
                killed(attack, &base, writer, blow, &folder)?;
            } else {
                let blow = Blow { signal: *random.choose(&heard), after };
                signalled(attack, &base, writer, blow, &folder, &mut random)?;
            }
        }
    })
}

/// Kills a writer and checks what is left.
fn killed(attack: &Attack, base: &Base, of: &Measured, blow: Blow, folder: &Path) -> Result<()> {
    base.prepare(folder, &of.writer)?;
    let struck = strike(attack, of, blow, folder, false)?;
    count(attack, "kill", of, &struck);
    if let Err(error) = base.check(folder, of, &struck.left) {
        return found(attack, of, blow, "lost or half-written after a kill", &format!("{error:#}"));
    }
    if let Err(error) = base.check_next(folder, of) {
        return found(attack, of, blow, "the writer after a kill failed", &format!("{error:#}"));
    }
    let left = leftovers(folder)?;
    if !left.is_empty() {
        found(attack, of, blow, "leftovers after the next writer", &left.join(", "))?;
    }
    Ok(())
}

/// Signals a writer and checks how it ends and what is left.
fn signalled(
    attack: &Attack,
    base: &Base,
    of: &Measured,
    blow: Blow,
    folder: &Path,
    random: &mut Random,
) -> Result<()> {
    // As in the background of a script, where the shell has SIGINT ignored.
    let ignoring = blow.signal == Signal::SIGTERM && random.below(3) == 0;
    base.prepare(folder, &of.writer)?;
    let struck = strike(attack, of, blow, folder, ignoring)?;
    count(attack, "signal", of, &struck);
    let signal = blow.signal as i32;
    let right = match (struck.end, struck.ended_by) {
        (Some(0), _) => true,
        (Some(code), _) => code == 128 + signal,
        // Before the handler was there.
        (None, by) => by == Some(signal),
    };
    if !right {
        let told = format!(
            "{:?}: exit code {:?}, ended by {:?}: {}",
            blow.signal, struck.end, struck.ended_by, struck.told
        );
        found(attack, of, blow, "another exit code than the signal's", &told)?;
    }
    if struck.took > SOON {
        let told = format!("{:?} after {:?}", struck.took, blow.after);
        found(attack, of, blow, "slow to end after a signal", &told)?;
    }
    let left = leftovers(folder)?;
    if !left.is_empty() {
        found(attack, of, blow, "leftovers after a signal", &left.join(", "))?;
    }
    // What came is committed before a stream ends, at a signal too.
    let left = match of.writer.writes {
        Writes::Stream => Interrupted { done: struck.end.is_some(), ..struck.left },
        _ => struck.left,
    };
    if let Err(error) = base.check(folder, of, &left) {
        return found(
            attack,
            of,
            blow,
            "lost or half-written after a signal",
            &format!("{error:#}"),
        );
    }
    if let Err(error) = base.check_next(folder, of) {
        return found(attack, of, blow, "the writer after a signal failed", &format!("{error:#}"));
    }
    Ok(())
}

/// Starts a writer and sends it a signal.
fn strike(
    attack: &Attack,
    of: &Measured,
    blow: Blow,
    folder: &Path,
    ignoring: bool,
) -> Result<Struck> {
    let streams = of.writer.writes == Writes::Stream;
    let mut command = if ignoring {
        let mut words =
            vec!["-c".to_owned(), "trap '' INT; exec \"$@\"".to_owned(), "sh".to_owned()];
        words.push(attack.binary.display().to_string());
        words.extend(of.writer.arguments.iter().cloned());
        child::command(Path::new("/bin/sh"), folder, &words)?
    } else {
        child::command(&attack.binary, folder, &of.writer.arguments)?
    };
    if streams {
        command.stdin(Stdio::piped());
    }
    let start = Instant::now();
    let mut child = command.spawn().context("starting a writer")?;
    let fed = if streams { feed(&mut child, &blow) } else { Vec::new() };
    while start.elapsed() < blow.after {
        let rest = blow.after.saturating_sub(start.elapsed());
        std::thread::sleep(rest.min(Duration::from_millis(20)));
    }
    let pid = Pid::from_raw(child.id() as i32);
    let used = child.try_wait4().context("waiting for a writer")?;
    let in_time = used.is_none();
    let before = processor_time(child.id());
    let struck = Instant::now();
    let used = match used {
        Some(used) => used,
        None => {
            kill(pid, blow.signal).context("sending a signal")?;
            loop {
                if let Some(used) = child.try_wait4().context("waiting for a writer")? {
                    break used;
                }
                if struck.elapsed() > PATIENCE {
                    child.kill().context("ending a writer")?;
                    break child.wait4().context("waiting for a writer")?;
                }
                std::thread::sleep(Duration::from_millis(1));
            }
        }
    };
    let all = used.rusage.utime + used.rusage.stime;
    let took = if in_time { all.saturating_sub(before) } else { Duration::ZERO };
    use std::os::unix::process::ExitStatusExt;
    Ok(Struck {
        in_time: in_time && used.status.code() != Some(0),
        end: used.status.code(),
        ended_by: used.status.signal(),
        took,
        told: fs::read_to_string(folder.join(child::STDERR)).unwrap_or_default(),
        left: Interrupted {
            printed: fs::read(folder.join(child::STDOUT))?,
            fed,
            done: used.status.code() == Some(0),
        },
    })
}

/// Writes lines to a stream until the time has come; gives what was written. The pipe stays open, as that of `tail -F`
/// does.
fn feed(child: &mut Child, blow: &Blow) -> Vec<u8> {
    // Long enough for some commits, whatever a command without input takes.
    let time = blow.after.max(Duration::from_millis(5)) * 20;
    let start = Instant::now();
    let mut fed = Vec::new();
    let Some(pipe) = child.stdin.as_mut() else { return fed };
    for number in 0.. {
        if start.elapsed() >= time {
            break;
        }
        let line = format!("line {number} of a stream\n");
        if pipe.write_all(line.as_bytes()).is_err() {
            break;
        }
        fed.extend(line.as_bytes());
        if number % 16 == 0 {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
    fed
}

fn count(attack: &Attack, what: &'static str, of: &Measured, struck: &Struck) {
    let mut tally = attack.tally.lock().expect("no thread panicked");
    let done = tally.interruptions.entry((what, of.writer.name.to_owned())).or_default();
    done.sent += 1;
    done.in_time += u64::from(struck.in_time);
    if what == "signal" {
        done.slowest = done.slowest.max(struck.took);
        tally.answer_time.see(struck.took, || of.writer.name.to_owned());
    }
}

fn found(attack: &Attack, of: &Measured, blow: Blow, what: &'static str, told: &str) -> Result<()> {
    let seen = Seen {
        mutant: format!("{:?} after {:?}", blow.signal, blow.after),
        command: of.writer.name,
        line: of.writer.arguments.join(" "),
        files: &Vec::new(),
        told,
    };
    attack.findings.lock().expect("no thread panicked").add(Fault::Broken(what), &seen).map(|_| ())
}
