//! `cargo xtask api`: the public items of a package, compared with the list that is committed
//! beside it as `api.txt`, so that a change of the API is seen in a change of this file. Items are
//! bounded in number, and each type, trait and function is used in an example of the documentation.
//!
//! The list is made of rustdoc's JSON, which stable Rust gives when it is told to; about half a
//! minute once the dependencies are checked.

mod examples;
mod items;
mod signature;

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use anyhow::{Context, Result, bail, ensure};

use crate::project::Project;
use crate::{files, process};
use items::{Items, Walk};

/// The package whose API is kept.
pub const PACKAGE: &str = "tadoc";

/// The most public items of it.
const MOST_ITEMS: usize = 120;

/// Which package, and whether its list is written.
pub struct Options {
    package: String,
    write: bool,
}

impl Options {
    /// Reads `[PACKAGE] [--write]`; an error says what is wrong with it.
    pub fn parse(arguments: &[String]) -> Result<Self, String> {
        let mut options = Self { package: PACKAGE.to_owned(), write: false };
        for argument in arguments {
            match argument.as_str() {
                "--write" => options.write = true,
                option if option.starts_with('-') => {
                    return Err(format!("there is no option '{option}'"));
                }
                package => options.package = package.to_owned(),
            }
        }
        Ok(options)
    }
}

/// Writes the list, or prints how it differs from the one that is committed, which is an error.
pub fn run(options: &Options) -> Result<()> {
    let project = Project::find()?;
    if options.write {
        let items = Walk::of_package(&project, &options.package)?;
        let path = list(&project, &options.package);
        files::write(&path, items.text().as_bytes())?;
        println!("{}: {}", path.display(), items.summary());
        return Ok(());
    }
    println!("{}", compare(&project, &options.package)?);
    Ok(())
}

/// The committed list of a package.
fn list(project: &Project, package: &str) -> PathBuf {
    project.folder_of(package).join("api.txt")
}

/// Says how many items there are, if the committed list has the same and [`PACKAGE`] is small and
/// shown enough; otherwise an error has the lines that differ, or what has no example.
pub fn compare(project: &Project, package: &str) -> Result<String> {
    let path = list(project, package);
    let update = format!("`cargo xtask api {package} --write`");
    let committed = fs::read_to_string(&path)
        .with_context(|| format!("reading {}, which {update} makes", path.display()))?;
    let items = Walk::of_package(project, package)?;
    let changes = changes(&committed, &items.text());
    if !changes.is_empty() {
        bail!(
            "the API of {package} is not the one in {}:\n{changes}\n\
             If the change is meant, run {update} and commit the file with it.",
            path.display()
        );
    }
    if package == PACKAGE {
        check(&items)?;
    }
    Ok(items.summary())
}

/// That there are not too many items, and that each has an example.
fn check(items: &Items) -> Result<()> {
    let count = items.count();
    ensure!(count <= MOST_ITEMS, "there are {count} public items; at most {MOST_ITEMS} may be");
    let bare = items.without_example();
    ensure!(
        bare.is_empty(),
        "no example that runs and asserts uses {} of the public items:\n{}",
        bare.len(),
        bare.join("\n")
    );
    Ok(())
}

/// Lines that are only in the one, with a minus, and only in the other, with a plus.
fn changes(before: &str, after: &str) -> String {
    let only = |own: &str, other: &str, sign: char| -> Vec<String> {
        let lines = own.lines().filter(|line| !other.lines().any(|known| known == *line));
        lines.map(|line| format!("{sign} {line}")).collect()
    };
    [only(before, after, '-'), only(after, before, '+')].concat().join("\n")
}

/// Has rustdoc write the JSON of a package with all of its features.
///
/// Only rustdoc is told that it may. If cargo were, build scripts would run again, and all that
/// depends on them would be compiled again.
fn document(project: &Project, package: &str) -> Result<()> {
    let rustdoc = project.target.join("xtask/rustdoc");
    files::write(&rustdoc, b"#!/bin/sh\nRUSTC_BOOTSTRAP=1 exec rustdoc \"$@\"\n")?;
    fs::set_permissions(&rustdoc, Permissions::from_mode(0o755))?;
    let mut command = project.cargo();
    command.env("RUSTDOC", &rustdoc).args(["rustdoc", "--package", package]);
    command.args(["--lib", "--all-features", "--quiet", "--"]);
    command.args(["-Z", "unstable-options", "--output-format", "json"]);
    process::run(&mut command)
}

#[cfg(test)]
mod tests {
    use super::changes;

    #[test]
    fn changes_are_lines_of_one_side() {
        assert_eq!(changes("a\nb\nc\n", "a\nc\n"), "- b");
        assert_eq!(changes("a\nb\n", "b\nd\n"), "- a\n+ d");
        assert_eq!(changes("a\n", "a\n"), "");
    }
}
