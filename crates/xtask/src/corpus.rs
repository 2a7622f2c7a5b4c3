//! `cargo xtask corpus`: the corpora that benchmarks and larger tests use. The public ones are made
//! of Debian packages and are not byte-stable: indices change with point releases, and the log has
//! process ids. `small` takes 20 seconds and a 140 MB package, `medium` a minute, `large` several;
//! their disk space is that of the corpus and of the packages in the cache.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::debian::Debian;
use crate::{awkward, files, process};

/// What to make, and where.
pub struct Options {
    names: Vec<Name>,
    folder: PathBuf,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Name {
    Small,
    Medium,
    Large,
    Awkward,
    BigAwkward,
}

impl Name {
    const ALL: [Name; 5] =
        [Name::Small, Name::Medium, Name::Large, Name::Awkward, Name::BigAwkward];

    fn as_str(self) -> &'static str {
        match self {
            Name::Small => "small",
            Name::Medium => "medium",
            Name::Large => "large",
            Name::Awkward => "awkward",
            Name::BigAwkward => "big-awkward",
        }
    }
}

impl Options {
    /// Reads `[NAME...] [--to DIR]`; an error says what is wrong with it.
    pub fn parse(arguments: &[String]) -> Result<Options, String> {
        let mut options = Options { names: Vec::new(), folder: PathBuf::from("target/corpora") };
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            if argument == "--to" {
                options.folder = arguments.next().ok_or("--to needs a folder")?.into();
            } else {
                let name = Name::ALL.into_iter().find(|name| name.as_str() == argument);
                options.names.push(name.ok_or(format!("there is no corpus '{argument}'"))?);
            }
        }
        if options.names.is_empty() {
            options.names.push(Name::Small);
        }
        Ok(options)
    }
}

/// Makes the corpora, one after the other. One that was there before is replaced when the new one
/// is complete.
pub fn run(options: Options) -> Result<()> {
    let cache = options.folder.join(".cache");
    files::create_folder(&cache)?;
    let cache = fs::canonicalize(&cache).with_context(|| format!("finding {}", cache.display()))?;
    let debian = Debian::new(&cache);
    for name in options.names {
        let partial = cache.join(format!("{}.part", name.as_str()));
        files::remove_folder(&partial)?;
        match name {
            Name::Small => small(&debian, &partial),
            Name::Medium => medium(&debian, &partial),
            Name::Large => large(&debian, &partial),
            Name::Awkward => awkward::write(&partial),
            Name::BigAwkward => awkward::write_big(&partial),
        }
        .with_context(|| format!("cannot make the corpus '{}'", name.as_str()))?;
        let complete = options.folder.join(name.as_str());
        files::remove_folder(&complete)?;
        fs::rename(&partial, &complete)
            .with_context(|| format!("putting the corpus at {}", complete.display()))?;
        report(&complete)?;
    }
    Ok(())
}

/// Prints where a corpus is and how large.
fn report(folder: &Path) -> Result<()> {
    let files = files::tree(folder)?.files;
    let mut bytes = 0;
    for file in &files {
        bytes += fs::metadata(file).with_context(|| format!("reading {}", file.display()))?.len();
    }
    println!("{}: {:.1} MB, {} files", folder.display(), bytes as f64 / 1e6, files.len());
    Ok(())
}

fn small(debian: &Debian, to: &Path) -> Result<()> {
    let bindings = "Documentation/devicetree/bindings";
    let kinds = ["clock", "iio", "regulator", "sound"];
    let members = kinds.map(|kind| format!("{bindings}/{kind}"));
    linux(debian, &members, 3, &to.join("files"))?;

    let pages = debian.package("python3.11-doc")?.join("usr/share/doc/python3.11/html/library");
    copy_flat(&pages, &to.join("web"), usize::MAX, |name| {
        name.ends_with(".html") && name.starts_with(['a', 'b'])
    })?;

    debian.write_indices(&["binary-amd64/Packages.xz"], 2_500_000, &to.join("records/Packages"))?;
    for language in ["de", "fr", "ja", "ko", "ru", "uk", "zh_CN"] {
        let index = format!("i18n/Translation-{language}.bz2");
        let file = to.join(format!("multilingual/Translation-{language}"));
        debian.write_indices(&[&index], 350_000, &file)?;
    }
    let prose = debian.package("anarchism")?;
    copy_flat(&prose, &to.join("prose"), 40, |name| name.ends_with(".html"))?;
    linker_log(2_000_000, &to.join("logs/ld.log"))
}

fn medium(debian: &Debian, to: &Path) -> Result<()> {
    let members = ["arch", "Documentation", "include", "fs", "tools"].map(String::from);
    linux(debian, &members, 0, &to.join("files-linux"))?;
    documentation(debian, "openjdk-17-doc", &to.join("web-openjdk"))?;
    documentation(debian, "cppreference-doc-en-html", &to.join("web-cppref"))?;
    let records = ["binary-amd64/Packages.xz", "source/Sources.xz"];
    debian.write_indices(&records, u64::MAX, &to.join("records-debian/records"))?;

    let locales = debian.package("unicode-cldr-core")?.join("usr/share/unicode/cldr");
    copy_tree(&locales, &to.join("multilingual-cldr"), |path| path.starts_with("common"))?;
    let descriptions = to.join("multilingual-ddtp");
    debian.write_indices(&["i18n/Translation-en.xz"], u64::MAX, &descriptions.join("en"))?;
    for language in [
        "cs", "da", "de", "es", "fr", "it", "ja", "ko", "nl", "pl", "pt_BR", "ru", "sk", "sr",
        "sv", "uk", "zh_CN", "zh_TW",
    ] {
        let index = format!("i18n/Translation-{language}.bz2");
        debian.write_indices(&[&index], u64::MAX, &descriptions.join(language))?;
    }

    let path = "pool/non-free/d/doc-rfc/doc-rfc-std-proposed_20230121-1_all.deb";
    let requests = debian.package_at("doc-rfc-std-proposed", path)?;
    let prose = to.join("prose-rfc");
    copy_flat(&requests, &prose, usize::MAX, |name| {
        name.starts_with("rfc") && name.ends_with(".txt.gz")
    })?;
    process::run(Command::new("gzip").arg("-dr").arg(&prose))?;
    linker_log(200_000_000, &to.join("logs-ld/ld.log"))
}

fn large(debian: &Debian, to: &Path) -> Result<()> {
    linux(debian, &[], 0, &to.join("files-linux"))?;
    for package in [
        "rust-doc",
        "openjdk-17-doc",
        "cppreference-doc-en-html",
        "libstdc++-12-doc",
        "python3.11-doc",
        "qtbase5-doc-html",
        "libboost1.81-doc",
    ] {
        documentation(debian, package, &to.join("web-docs").join(package))?;
    }
    let records = [
        "binary-amd64/Packages.xz",
        "binary-arm64/Packages.xz",
        "binary-armel/Packages.xz",
        "binary-armhf/Packages.xz",
        "binary-i386/Packages.xz",
        "binary-mips64el/Packages.xz",
        "binary-mipsel/Packages.xz",
        "binary-ppc64el/Packages.xz",
        "binary-s390x/Packages.xz",
        "source/Sources.xz",
        "Contents-all.gz",
        "Contents-amd64.gz",
    ];
    debian.write_indices(&records, u64::MAX, &to.join("records-debian/records"))
}

/// Unpacks folders of the sources of Linux, or all of them when none is named. `depth` says how
/// many folders above each are left out.
fn linux(debian: &Debian, folders: &[String], depth: usize, to: &Path) -> Result<()> {
    let name = "linux-source-6.1";
    let sources = debian.package(name)?.join(format!("usr/src/{name}.tar.xz"));
    files::create_folder(to)?;
    let mut command = Command::new("tar");
    command.arg("-xf").arg(sources).arg("-C").arg(to);
    command.arg(format!("--strip-components={}", depth + 1));
    command.args(folders.iter().map(|folder| format!("{name}/{folder}")));
    process::run(&mut command)?;
    // Links would give the same text twice, or lead out of the corpus.
    for link in files::tree(to)?.links {
        fs::remove_file(&link).with_context(|| format!("removing {}", link.display()))?;
    }
    Ok(())
}

/// Copies the text files of a documentation package.
fn documentation(debian: &Debian, package: &str, to: &Path) -> Result<()> {
    copy_tree(&debian.package(package)?.join("usr/share"), to, |path| {
        let extension = path.extension().and_then(|extension| extension.to_str());
        matches!(extension, Some("html" | "htm" | "js" | "css" | "txt" | "xml"))
    })
}

/// Copies the files under a folder whose relative path is wanted, with the folders they are in.
fn copy_tree(from: &Path, to: &Path, wanted: impl Fn(&Path) -> bool) -> Result<()> {
    for file in files::tree(from)?.files {
        let relative = file.strip_prefix(from)?;
        if wanted(relative) {
            files::copy(&file, &to.join(relative))?;
        }
    }
    Ok(())
}

/// Copies the first files under a folder whose name is wanted into one folder.
fn copy_flat(from: &Path, to: &Path, most: usize, wanted: impl Fn(&str) -> bool) -> Result<()> {
    let files = files::tree(from)?.files;
    let named = files.iter().filter_map(|file| Some((file, file.file_name()?.to_str()?)));
    for (file, name) in named.filter(|(_, name)| wanted(name)).take(most) {
        files::copy(file, &to.join(name))?;
    }
    Ok(())
}

/// Writes what the dynamic linker logs while programs start: the output of a real program, as much
/// as one likes. Programs that are not installed are left out.
fn linker_log(size: u64, to: &Path) -> Result<()> {
    let modules = [
        "json",
        "ssl",
        "sqlite3",
        "ctypes",
        "lzma",
        "xml.sax",
        "email",
        "decimal",
        "curses",
        "multiprocessing",
        "unittest",
        "asyncio",
    ];
    let mut programs: Vec<(&str, Vec<String>)> = modules
        .iter()
        .map(|module| ("python3", vec!["-c".to_string(), format!("import {module}")]))
        .collect();
    programs.push(("perl", ["-MPOSIX", "-MEncode", "-e", "1"].map(String::from).to_vec()));
    programs.push(("curl", vec!["--version".to_string()]));
    programs.push(("git", vec!["--version".to_string()]));

    let log = files::create(to)?.into_inner()?;
    let length = |log: &File| Ok::<u64, std::io::Error>(log.metadata()?.len());
    loop {
        let before = length(&log)?;
        for (program, arguments) in &programs {
            if length(&log)? >= size {
                log.set_len(size)?;
                return Ok(());
            }
            // A program that is absent or fails has logged less; only a round without any output
            // is an error.
            let _ = Command::new(program)
                .args(arguments)
                .env("LD_DEBUG", "all")
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(log.try_clone()?)
                .status();
        }
        if length(&log)? == before {
            bail!(
                "no program logged anything with LD_DEBUG=all; this needs the GNU C library and \
                 python3, perl, curl or git"
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(arguments: &[&str]) -> Result<(Vec<Name>, PathBuf), String> {
        let arguments: Vec<String> = arguments.iter().map(|text| text.to_string()).collect();
        Options::parse(&arguments).map(|options| (options.names, options.folder))
    }

    #[test]
    fn options_have_defaults_and_errors() {
        assert_eq!(parse(&[]).unwrap(), (vec![Name::Small], "target/corpora".into()));
        assert_eq!(
            parse(&["medium", "--to", "x", "big-awkward"]).unwrap(),
            (vec![Name::Medium, Name::BigAwkward], "x".into())
        );
        assert_eq!(parse(&["tiny"]).unwrap_err(), "there is no corpus 'tiny'");
        assert_eq!(parse(&["--to"]).unwrap_err(), "--to needs a folder");
    }
}
