//! The virtual machine: its boots, what it says on its console, and how its power is cut.
//!
//! The guest's script (`init.sh`) says what it does in lines that begin with `dax: `. At the end of its checks it says
//! `dax: N passed, M failed`, and then either turns the machine off or says `dax: at work` and works until the power is cut.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail};

use super::build::TASKS;
use super::packages::{self, Packages};

/// What begins a line of the guest's script.
const MARK: &str = "dax: ";
/// A guest with KVM that works has booted by then.
const HELLO_LIMIT: Duration = Duration::from_secs(30);
/// The power is cut so long after the guest said that it is at work, or a multiple of that.
const CUT_AFTER: Duration = Duration::from_millis(400);
/// Lines of the console that an error shows.
const LAST_LINES: usize = 30;

/// What a boot is for.
#[derive(Clone, Copy)]
pub enum Stage {
    /// Says that it is there.
    Hello,
    /// Makes the file system, and runs all checks on it.
    First,
    /// Mounts the file system that is there, and goes on with what was interrupted.
    Next,
}

impl Stage {
    fn name(self) -> &'static str {
        match self {
            Self::Hello => "hello",
            Self::First => "first",
            Self::Next => "next",
        }
    }
}

/// What a boot's checks came to.
#[derive(Debug, PartialEq, Eq)]
pub struct Counts {
    pub passed: u32,
    pub failed: u32,
}

impl Counts {
    /// Reads `N passed, M failed`.
    fn parse(text: &str) -> Option<Self> {
        let (passed, failed) = text.trim().strip_suffix(" failed")?.split_once(" passed, ")?;
        Some(Self { passed: passed.parse().ok()?, failed: failed.parse().ok()? })
    }
}

/// A virtual machine with an NVDIMM, which is a file.
pub struct Guest {
    kernel: PathBuf,
    initramfs: PathBuf,
    nvdimm: PathBuf,
    nvdimm_bytes: u64,
    console: PathBuf,
    accelerator: &'static str,
}

/// A machine that is turned off when it is dropped.
struct Running {
    child: Child,
    lines: Receiver<String>,
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended already, and then this fails.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Guest {
    /// A machine that was never turned on, with an empty NVDIMM.
    pub fn new(
        folder: &Path,
        packages: &Packages,
        initramfs: &Path,
        nvdimm_bytes: u64,
    ) -> Result<Self> {
        let (nvdimm, console) = (folder.join("nvdimm"), folder.join("console.txt"));
        let file =
            File::create(&nvdimm).with_context(|| format!("creating {}", nvdimm.display()))?;
        file.set_len(nvdimm_bytes).with_context(|| format!("sizing {}", nvdimm.display()))?;
        fs::write(&console, "").with_context(|| format!("creating {}", console.display()))?;
        Ok(Self {
            kernel: packages.kernel.clone(),
            initramfs: initramfs.to_owned(),
            nvdimm,
            nvdimm_bytes,
            console,
            accelerator: "tcg",
        })
    }

    /// The file with all that the guest printed.
    pub fn console(&self) -> &Path {
        &self.console
    }

    /// Takes KVM if a guest boots with it, else QEMU's own translation; tells which and why.
    pub fn choose_accelerator(&mut self) -> Result<&'static str> {
        if !Path::new("/dev/kvm").exists() {
            return Ok("without KVM, which is not there");
        }
        self.accelerator = "kvm";
        let running = self.start(Stage::Hello, None)?;
        if self.wait_for(&running, HELLO_LIMIT, |said| (said == "hello").then_some(())).is_ok() {
            return Ok("with KVM");
        }
        self.accelerator = "tcg";
        Ok("without KVM, which is there but boots no guest")
    }

    /// Turns the machine on and runs the checks of a stage. With a `cut`, which is its number, the machine then works until the power is
    /// cut; else it turns itself off. An error if it does not come to that within the limit.
    pub fn boot(&self, stage: Stage, cut: Option<u32>, limit: Duration) -> Result<Counts> {
        let begin = Instant::now();
        let running = self.start(stage, cut)?;
        let counts = self.wait_for(&running, limit, Counts::parse)?;
        let rest = limit.saturating_sub(begin.elapsed());
        match cut {
            Some(number) => {
                self.wait_for(&running, rest, |said| (said == "at work").then_some(()))?;
                thread::sleep(CUT_AFTER * (1 + number % 4));
                drop(running);
            }
            None => self.wait_for_end(running, rest)?,
        }
        println!("{:<8} {:5.1} s", stage.name(), begin.elapsed().as_secs_f64());
        Ok(counts)
    }

    /// Turns the machine on. Its processor is the most that QEMU can emulate, for the instructions that write cache lines back. What it says
    /// on its console is kept, and given line by line. The kernel is not to doubt the timer, which is late when this machine is busy.
    fn start(&self, stage: Stage, cut: Option<u32>) -> Result<Running> {
        let mut parameters = format!(
            "console=ttyS0 quiet panic=-1 no_timer_check dax.stage={} dax.end=off",
            stage.name()
        );
        if let Some(number) = cut {
            let task = TASKS[number as usize % TASKS.len()];
            parameters = parameters.replace("dax.end=off", &format!("dax.end=cut dax.task={task}"));
        }
        let memory = format!(
            "memory-backend-file,id=memory,share=on,mem-path={},size={}",
            self.nvdimm.display(),
            self.nvdimm_bytes
        );
        let mut command = packages::command("qemu-system-x86_64");
        command.args(["-machine", "q35,nvdimm=on", "-accel", self.accelerator, "-cpu", "max"]);
        command.args(["-smp", "2", "-m", "3G,slots=2,maxmem=8G"]);
        command.args(["-object", &memory, "-device", "nvdimm,id=nvdimm,memdev=memory"]);
        command.arg("-kernel").arg(&self.kernel).arg("-initrd").arg(&self.initramfs);
        command.args(["-append", &parameters, "-nic", "none", "-no-reboot"]);
        command.args(["-display", "none", "-monitor", "none", "-serial", "stdio"]);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().context("cannot run qemu-system-x86_64")?;

        let mut console = File::options().append(true).open(&self.console)?;
        writeln!(console, "=== {} by {}, {parameters}", stage.name(), self.accelerator)?;
        let (sender, lines) = mpsc::channel();
        let said = child.stdout.take().expect("standard output is piped");
        let complaints = child.stderr.take().expect("standard error is piped");
        let streams: [Box<dyn BufRead + Send>; 2] =
            [Box::new(BufReader::new(said)), Box::new(BufReader::new(complaints))];
        for mut stream in streams {
            let (sender, mut console) = (sender.clone(), console.try_clone()?);
            thread::spawn(move || {
                let mut line = Vec::new();
                while stream.read_until(b'\n', &mut line).is_ok_and(|bytes| bytes > 0) {
                    // A console that cannot be kept, as the disk is full, is still listened to.
                    let _ = console.write_all(&line);
                    let _ = sender.send(String::from_utf8_lossy(&line).trim_end().to_owned());
                    line.clear();
                }
            });
        }
        Ok(Running { child, lines })
    }

    /// Waits until the script says something that is wanted; everything else that it says is shown.
    fn wait_for<T>(
        &self,
        running: &Running,
        limit: Duration,
        wanted: impl Fn(&str) -> Option<T>,
    ) -> Result<T> {
        let end = Instant::now() + limit;
        loop {
            match running.lines.recv_timeout(end.saturating_duration_since(Instant::now())) {
                Ok(line) => {
                    // The kernel's own lines may begin in the same one.
                    let Some((_, said)) = line.split_once(MARK) else { continue };
                    match wanted(said) {
                        Some(found) => return Ok(found),
                        None => println!("  {said}"),
                    }
                }
                Err(RecvTimeoutError::Timeout) => {
                    return Err(self.silence(&format!("said nothing more in {limit:?}")));
                }
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(self.silence("ended before its checks did"));
                }
            }
        }
    }

    /// Waits until the machine has turned itself off.
    fn wait_for_end(&self, mut running: Running, limit: Duration) -> Result<()> {
        let end = Instant::now() + limit;
        while Instant::now() < end {
            if let Some(status) = running.child.try_wait()? {
                if !status.success() {
                    bail!("QEMU failed ({status})");
                }
                return Ok(());
            }
            thread::sleep(Duration::from_millis(50));
        }
        Err(self.silence("did not turn itself off"))
    }

    /// The error of a guest that is silent, with the last that it said.
    fn silence(&self, what: &str) -> anyhow::Error {
        let console = fs::read(&self.console).unwrap_or_default();
        let console = String::from_utf8_lossy(&console);
        let lines: Vec<&str> = console.lines().collect();
        let last = lines[lines.len().saturating_sub(LAST_LINES)..].join("\n");
        anyhow!("the guest {what}; its console ended with:\n{last}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_read_and_nothing_else() {
        assert_eq!(Counts::parse("12 passed, 3 failed"), Some(Counts { passed: 12, failed: 3 }));
        for text in ["", "12 passed", "passed a, 3 failed", "12 passed, 3 failed, 1 skipped"] {
            assert_eq!(Counts::parse(text), None, "{text}");
        }
    }
}
