//! `cargo xtask dax`: the pool on real DAX semantics, without the hardware. A guest of QEMU has an emulated NVDIMM, with a file
//! system on it that is mounted for direct access, so mappings with MAP_SYNC are granted there and nowhere else. In it run
//! the pool crate's tests and the command, which is killed and goes on; then the guest's power is cut while the command is at work,
//! again and again, and what the next boot finds must give the right answers.
//!
//! What the guest's memory lost at a cut is what the kernel had not yet written: the file system's own tables, which
//! MAP_SYNC is about. Lines in caches of the processor are not lost, as QEMU has none; the simulated medium of the pool crate's
//! tests drops those.
//!
//! Everything is below the folder `dax` of the target folder, with all that the guest printed in `console.txt`. Where what it
//! takes cannot be had, one line says what and why. Without KVM a boot takes some seconds and the whole run some minutes.

mod build;
mod guest;
mod image;
mod packages;

use std::time::{Duration, Instant};

use anyhow::{Result, bail};

use crate::files;
use crate::project::Project;
use guest::{Guest, Stage};

/// Bytes of the NVDIMM.
const NVDIMM_BYTES: u64 = 1 << 30;
/// The guest gives its programs limits of their own, so these are met only when it hangs.
const FIRST_BOOT_LIMIT: Duration = Duration::from_secs(60 * 60);
const NEXT_BOOT_LIMIT: Duration = Duration::from_secs(10 * 60);

/// How often the power is cut.
pub struct Options {
    cuts: u32,
}

impl Options {
    /// Reads `[--cuts N]`; an error says what is wrong with it.
    pub fn parse(arguments: &[String]) -> Result<Self, String> {
        match arguments {
            [] => Ok(Self { cuts: 6 }),
            [option, number] if option == "--cuts" => match number.parse() {
                Ok(cuts) => Ok(Self { cuts }),
                Err(_) => Err(format!("--cuts takes a number, not '{number}'")),
            },
            _ => Err(format!("dax takes only --cuts N, not '{}'", arguments.join(" "))),
        }
    }
}

/// Runs everything; fails if a check does.
pub fn run(options: &Options) -> Result<()> {
    let begin = Instant::now();
    let project = Project::find()?;
    let folder = project.target.join("dax");
    files::create_folder(&folder)?;
    let packages = match packages::find(&folder) {
        Ok(packages) => packages,
        Err(why) => {
            println!("skipped: {why:#}");
            return Ok(());
        }
    };
    eprintln!("building the tests and the command");
    let built = build::build(&project, &folder)?;
    eprintln!("packing what the guest starts from");
    let initramfs = image::pack(&project, &folder, &packages, &built)?;
    let mut guest = Guest::new(&folder, &packages, &initramfs, NVDIMM_BYTES)?;
    println!("{}", guest.choose_accelerator()?);

    let (mut passed, mut failed) = (0, 0);
    for boot in 0..=options.cuts {
        let cut = (boot < options.cuts).then_some(boot);
        let (stage, limit) = match boot {
            0 => (Stage::First, FIRST_BOOT_LIMIT),
            _ => (Stage::Next, NEXT_BOOT_LIMIT),
        };
        let counts = guest.boot(stage, cut, limit)?;
        passed += counts.passed;
        failed += counts.failed;
    }
    println!("{passed} passed, {failed} failed in {:.0} s", begin.elapsed().as_secs_f64());
    if failed > 0 {
        bail!("all that the guest printed is in {}", guest.console().display());
    }
    Ok(())
}
