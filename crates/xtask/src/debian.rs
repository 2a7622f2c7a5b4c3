//! Packages and indices of a Debian archive, which the corpora and the guest of `dax` are made of. Each is fetched once
//! and kept in a cache folder; fetching takes as long as the network needs. Others are installed.

use std::cell::OnceCell;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::files;
use crate::process;

/// The release that the names of packages and indices below are of.
const RELEASE: &str = "bookworm";

/// A Debian archive and the cache of what was fetched of it.
pub struct Debian {
    cache: PathBuf,
    mirror: OnceCell<String>,
}

impl Debian {
    /// Keeps what it fetches in `cache`.
    pub fn new(cache: &Path) -> Debian {
        Debian { cache: cache.to_path_buf(), mirror: OnceCell::new() }
    }

    /// The archive that apt itself is set up with, unless `DEBIAN_MIRROR` names another.
    fn mirror(&self) -> Result<&str> {
        if let Some(mirror) = self.mirror.get() {
            return Ok(mirror);
        }
        let mirror = match std::env::var("DEBIAN_MIRROR") {
            Ok(mirror) => mirror,
            Err(_) => configured_mirror()?,
        };
        Ok(self.mirror.get_or_init(|| mirror.trim_end_matches('/').to_string()))
    }

    /// The folder of an unpacked package, which apt finds by its name.
    pub fn package(&self, name: &str) -> Result<PathBuf> {
        self.unpacked(name, |folder| {
            process::run(
                Command::new("apt-get").args(["-qq", "download", name]).current_dir(folder),
            )
            .with_context(|| {
                format!("fetching the package {name} of Debian {RELEASE} (`apt-get update` run?)")
            })
        })
    }

    /// The folder of an unpacked package that apt may not know, as it is not in the main
    /// component: it is fetched by its path in the archive.
    pub fn package_at(&self, name: &str, path: &str) -> Result<PathBuf> {
        self.unpacked(name, |folder| {
            download(&format!("{}/{path}", self.mirror()?), &folder.join(format!("{name}.deb")))
        })
    }

    /// Unpacks a package once; `fetch` puts its one file into the folder it is given. The folder
    /// gets its name when it is complete.
    fn unpacked(&self, name: &str, fetch: impl Fn(&Path) -> Result<()>) -> Result<PathBuf> {
        let folder = self.cache.join(name);
        if folder.exists() {
            return Ok(folder);
        }
        eprintln!("fetching {name}");
        let partial = self.cache.join(format!("{name}.part"));
        files::remove_folder(&partial)?;
        let (packed, content) = (partial.join("packed"), partial.join("content"));
        files::create_folder(&packed)?;
        fetch(&packed)?;
        for file in files::tree(&packed)?.files {
            process::run(Command::new("dpkg-deb").arg("-x").arg(file).arg(&content))?;
        }
        fs::rename(&content, &folder)
            .with_context(|| format!("unpacking the package {name} to {}", folder.display()))?;
        files::remove_folder(&partial)?;
        Ok(folder)
    }

    /// The command that prints an index of the archive's main component, decompressed.
    fn index(&self, path: &str) -> Result<Command> {
        let file = self.cache.join(path.replace('/', "_"));
        if !file.exists() {
            eprintln!("fetching the index {path}");
            files::create_folder(&self.cache)?;
            let partial = self.cache.join("index.part");
            download(&format!("{}/dists/{RELEASE}/main/{path}", self.mirror()?), &partial)?;
            fs::rename(&partial, &file).with_context(|| format!("keeping {}", file.display()))?;
        }
        let program = match file.extension().and_then(|extension| extension.to_str()) {
            Some("xz") => "xz",
            Some("bz2") => "bzip2",
            _ => "gzip",
        };
        let mut command = Command::new(program);
        command.arg("-dc").arg(file);
        Ok(command)
    }

    /// Writes at most `limit` bytes of indices to one file, one after the other.
    pub fn write_indices(&self, paths: &[&str], limit: u64, to: &Path) -> Result<()> {
        let commands = paths.iter().map(|path| self.index(path)).collect::<Result<_>>()?;
        process::write_output(commands, limit, to)
    }
}

/// Installs packages, if that can be; whether what they have is there then is for the caller to see.
pub fn install(packages: &[&str]) {
    let install = || {
        let mut command = Command::new("apt-get");
        command.args(["install", "-y", "--no-install-recommends"]).args(packages);
        process::succeeds(&mut command)
    };
    if !install() {
        update();
        install();
    }
}

/// Fetches the lists of packages anew, if that can be.
pub fn update() {
    process::succeeds(Command::new("apt-get").arg("update"));
}

/// The address of the release's archive, from what apt is set up with.
fn configured_mirror() -> Result<String> {
    let format = "$(REPO_URI) $(CODENAME)";
    let targets = process::output(Command::new("apt-get").args([
        "indextargets",
        "--format",
        format,
        "Created-By: Packages",
    ]))?;
    targets
        .lines()
        .filter_map(|line| line.split_once(' '))
        .find(|(_, release)| *release == RELEASE)
        .map(|(mirror, _)| mirror.to_string())
        .with_context(|| {
            format!(
                "apt is not set up for Debian {RELEASE}; name an archive of it in DEBIAN_MIRROR"
            )
        })
}

fn download(address: &str, to: &Path) -> Result<()> {
    process::run(Command::new("curl").args(["-fsS", "-o"]).arg(to).arg(address))
}
