//! What the guest starts from: an archive of files that its kernel unpacks into memory. There is no other disk but the
//! NVDIMM.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use super::build::Built;
use super::packages::{self, Packages};
use crate::project::Project;
use crate::{files, process};

/// The first program of the guest.
const INIT: &str = include_str!("init.sh");
/// Programs of packages that run in the guest.
const PROGRAMS: [&str; 3] = ["busybox", "ndctl", "mkfs.ext4"];

/// Packs everything; gives the path of the archive.
pub fn pack(
    project: &Project,
    folder: &Path,
    packages: &Packages,
    built: &Built,
) -> Result<PathBuf> {
    let root = folder.join("root");
    files::remove_folder(&root)?;
    for empty in ["dev", "mnt", "proc", "sys", "tmp"] {
        files::create_folder(&root.join(empty))?;
    }
    let init = root.join("init");
    files::write(&init, INIT.as_bytes())?;
    fs::set_permissions(&init, fs::Permissions::from_mode(0o755))?;
    for (number, module) in packages.modules.iter().enumerate() {
        let name = module.file_name().context("a module has no name")?.to_string_lossy();
        files::copy(module, &root.join(format!("modules/{number:02}-{name}")))?;
    }
    for name in PROGRAMS {
        let path = packages::program(name).with_context(|| format!("there is no {name}"))?;
        add_program(&root, &path, &format!("bin/{name}"))?;
    }
    add_program(&root, &built.command, "bin/tadoc")?;
    for (name, path) in &built.tests {
        add_program(&root, path, &format!("tests/{name}"))?;
    }
    for file in files::tree(&built.answers)?.files {
        files::copy(&file, &root.join("answers").join(file.strip_prefix(&built.answers)?))?;
    }
    // Tests look for these where they were when they were built.
    let home = root.join(project.root.strip_prefix("/")?);
    for file in files::tree(&project.root.join("testdata"))?.files {
        files::copy(&file, &home.join(file.strip_prefix(&project.root)?))?;
    }
    let package = project.root.join("crates/pool");
    files::create_folder(&home.join("crates/pool"))?;
    files::write(&root.join("package"), format!("{}\n", package.display()).as_bytes())?;

    let archive = folder.join("initramfs");
    let script = "find . | cpio --create --format newc --quiet > \"$0\"";
    process::run(Command::new("sh").args(["-c", script]).arg(&archive).current_dir(&root))?;
    Ok(archive)
}

/// Adds a program without what only debuggers read, and the libraries that it is linked with.
fn add_program(root: &Path, program: &Path, name: &str) -> Result<()> {
    let copy = root.join(name);
    files::copy(program, &copy)?;
    process::run(packages::command("strip").arg("--strip-debug").arg(&copy))?;
    // A program that is linked with nothing makes ldd fail.
    let linked = process::output(Command::new("ldd").arg(program)).unwrap_or_default();
    for word in linked.split_whitespace().filter(|word| word.starts_with('/')) {
        let library = root.join(word.trim_start_matches('/'));
        if !library.exists() {
            files::copy(Path::new(word), &library)?;
        }
    }
    Ok(())
}
