//! What the guest is made of: programs of Debian packages, which are installed if they are not there, and a kernel, whose
//! package is only unpacked.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::debian::{self, Debian};
use crate::process;

/// Programs that run here or in the guest, and their packages.
const PROGRAMS: [(&str, &str); 8] = [
    ("qemu-system-x86_64", "qemu-system-x86"),
    ("busybox", "busybox-static"),
    ("ndctl", "ndctl"),
    ("mkfs.ext4", "e2fsprogs"),
    ("cpio", "cpio"),
    ("depmod", "kmod"),
    ("modprobe", "kmod"),
    ("strip", "binutils"),
];
/// The package that depends on the newest kernel for virtual machines: it has ext4 in it, and the rest as a few modules.
const KERNEL: &str = "linux-image-cloud-amd64";
/// Modules that an NVDIMM needs, beside those that they depend on.
const MODULES: [&str; 2] = ["nfit", "nd_pmem"];

/// What the guest is made of.
pub struct Packages {
    /// The kernel's image.
    pub kernel: PathBuf,
    /// Its modules, in the order in which they are loaded.
    pub modules: Vec<PathBuf>,
}

/// Finds or fetches everything; an error says what cannot be had. What is fetched is kept in `folder`.
pub fn find(folder: &Path) -> Result<Packages> {
    if !cfg!(all(target_arch = "x86_64", target_os = "linux")) {
        bail!("the guest runs programs that are built here, for Linux on x86-64 only");
    }
    let missing = || PROGRAMS.iter().find(|(name, _)| program(name).is_none());
    if missing().is_some() {
        eprintln!("installing packages");
        debian::install(&PROGRAMS.map(|(_, package)| package));
    }
    if let Some((name, package)) = missing() {
        bail!("{name} is not there, and the package {package} cannot be installed");
    }
    let kernel = unpacked_kernel(&folder.join("packages"))
        .context("there is no kernel for the guest, and its package cannot be fetched")?;
    let images = kernel.join("boot");
    let image = fs::read_dir(&images)
        .with_context(|| format!("listing {}", images.display()))?
        .flatten()
        .find_map(|file| {
            let version = file.file_name().to_str()?.strip_prefix("vmlinuz-")?.to_owned();
            Some((file.path(), version))
        });
    let (image, version) =
        image.with_context(|| format!("there is no kernel in {}", images.display()))?;
    let modules = modules(&kernel, &version)?;
    Ok(Packages { kernel: image, modules })
}

/// Where a program is, also one that only administrators have in their path.
pub fn program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let administrators = ["/usr/local/sbin", "/usr/sbin", "/sbin"].map(PathBuf::from);
    let mut folders = std::env::split_paths(&path).chain(administrators);
    folders.find_map(|folder| Some(folder.join(name)).filter(|path| path.is_file()))
}

/// A command of one of the programs.
pub fn command(name: &str) -> Command {
    Command::new(program(name).unwrap_or_else(|| name.into()))
}

/// The folder of an unpacked kernel: one that was fetched before, or the newest.
fn unpacked_kernel(cache: &Path) -> Result<PathBuf> {
    let before = fs::read_dir(cache).into_iter().flatten().flatten().find(|folder| {
        let name = folder.file_name().to_string_lossy().into_owned();
        name.starts_with("linux-image-") && !name.ends_with(".part")
    });
    if let Some(folder) = before {
        return Ok(folder.path());
    }
    let newest = || -> Result<String> {
        let depends = process::output(Command::new("apt-cache").args(["depends", KERNEL]))?;
        let mut names = depends.lines().filter_map(|line| line.trim().strip_prefix("Depends: "));
        let name = names.find(|name| name.starts_with("linux-image-"));
        Ok(name.with_context(|| format!("apt knows no package {KERNEL}"))?.to_owned())
    };
    let fetch = || Debian::new(cache).package(&newest()?);
    // The lists that apt has may be old, or none at all.
    fetch().or_else(|_| {
        debian::update();
        fetch()
    })
}

/// The modules and those that they depend on, each once, behind what it depends on.
fn modules(kernel: &Path, version: &str) -> Result<Vec<PathBuf>> {
    process::run(command("depmod").arg("--basedir").arg(kernel).arg(version))?;
    let mut modules = Vec::new();
    for module in MODULES {
        // Without the settings of this machine, which may be about what to run instead.
        let mut show = command("modprobe");
        show.args(["--config", "/dev/null", "--set-version", version, "--show-depends", module]);
        let shown = process::output(show.arg("--dirname").arg(kernel))?;
        for line in shown.lines() {
            let Some(path) = line.strip_prefix("insmod ").map(|path| PathBuf::from(path.trim()))
            else {
                bail!("modprobe would not load the module {module} but: {line}");
            };
            if !modules.contains(&path) {
                modules.push(path);
            }
        }
    }
    Ok(modules)
}
