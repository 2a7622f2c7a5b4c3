//! Bundles `testdata/sample` for `tadoc demo`: writes a table of names and `include_bytes!`.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    let manifest = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let sample = manifest.join("../../testdata/sample");
    println!("cargo::rerun-if-changed={}", sample.display());
    let mut files = Vec::new();
    find(&sample, "", &mut files);
    files.sort();
    let mut table = String::from("&[\n");
    for (name, path) in files {
        writeln!(table, "    ({name:?}, include_bytes!({path:?})),").expect("a string takes all");
    }
    table.push(']');
    let to = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it")).join("sample.rs");
    fs::write(&to, table).unwrap_or_else(|error| panic!("{}: {error}", to.display()));
}

fn find(folder: &Path, prefix: &str, files: &mut Vec<(String, PathBuf)>) {
    let entries =
        fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    for entry in entries {
        let entry = entry.expect("the sample's folders can be listed");
        let name = format!("{prefix}{}", entry.file_name().to_str().expect("plain names"));
        let path = entry.path();
        if path.is_dir() {
            find(&path, &format!("{name}/"), files);
        } else {
            files.push((name, path));
        }
    }
}
