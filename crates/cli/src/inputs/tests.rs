//! Collecting from folders with everything in them that folders can have.

use super::*;

use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};

use tempfile::TempDir;

fn request(paths: &[&Path]) -> Request {
    Request {
        paths: paths.iter().map(|path| path.to_path_buf()).collect(),
        output: "no-such-folder/out.tdc".into(),
        ..Request::default()
    }
}

fn run(request: &Request) -> anyhow::Result<Collected> {
    collect(request, &mut |_| {})
}

fn names(collected: &Collected) -> Vec<String> {
    collected.inputs.iter().map(|input| tadoc::text::escape(&input.name).to_string()).collect()
}

fn folder(files: &[&str]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for file in files {
        let path = folder.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, file).unwrap();
    }
    folder
}

#[test]
fn one_folder_gives_relative_names() {
    let folder = folder(&["b.txt", "a/z", "a/b/c", "a.txt"]);
    let collected = run(&request(&[folder.path()])).unwrap();
    assert_eq!(names(&collected), ["a/b/c", "a/z", "a.txt", "b.txt"]);
    assert!(collected.skipped.is_empty());
    assert!(collected.inputs.iter().all(|input| input.modified.is_some()));
}

#[test]
fn several_paths_give_names_as_given() {
    let folder = folder(&["x/a", "y/b", "c"]);
    let at = |name: &str| folder.path().join(name);
    let collected = run(&request(&[&at("x"), &at("y"), &at("c"), &at("x/../c")])).unwrap();
    let prefix = folder.path().to_str().unwrap().trim_start_matches('/').to_owned();
    let expected = ["x/a", "y/b", "c", "c"].map(|name| format!("{prefix}/{name}"));
    assert_eq!(names(&collected), expected);
}

#[test]
fn one_file_is_named_as_given() {
    let folder = folder(&["x/a"]);
    let path = folder.path().join("x/a");
    let collected = run(&request(&[&path])).unwrap();
    assert_eq!(names(&collected), [path.to_str().unwrap().trim_start_matches('/')]);
}

#[test]
fn links_inside_folders_are_left_out_and_loops_are_harmless() {
    let folder = folder(&["a/file"]);
    symlink("..", folder.path().join("a/loop")).unwrap();
    symlink("file", folder.path().join("a/link")).unwrap();
    symlink("nowhere", folder.path().join("dangling")).unwrap();
    let collected = run(&request(&[folder.path()])).unwrap();
    assert_eq!(names(&collected), ["a/file"]);
    assert_eq!(collected.skipped.len(), 3);
    assert!(collected.skipped.iter().all(|skipped| skipped.reason == Reason::SymbolicLink));
}

#[test]
fn a_link_that_is_given_is_followed() {
    let folder = folder(&["real/file"]);
    let link = folder.path().join("link");
    symlink("real", &link).unwrap();
    assert_eq!(names(&run(&request(&[&link])).unwrap()), ["file"]);
    let dangling = folder.path().join("dangling");
    symlink("nowhere", &dangling).unwrap();
    assert!(run(&request(&[&dangling])).is_err());
}

#[test]
fn pipes_inside_folders_are_left_out() {
    let folder = folder(&["file"]);
    let status =
        std::process::Command::new("mkfifo").arg(folder.path().join("pipe")).status().unwrap();
    assert!(status.success());
    let _socket = std::os::unix::net::UnixListener::bind(folder.path().join("socket")).unwrap();
    let collected = run(&request(&[folder.path()])).unwrap();
    assert_eq!(names(&collected), ["file"]);
    assert_eq!(collected.skipped.len(), 2);
    assert!(collected.skipped.iter().all(|skipped| skipped.reason == Reason::Special));
}

#[test]
fn names_that_are_not_utf_8_keep_their_bytes() {
    let folder = folder(&[]);
    fs::write(folder.path().join(std::ffi::OsStr::from_bytes(b"caf\xe9")), "x").unwrap();
    let collected = run(&request(&[folder.path()])).unwrap();
    assert_eq!(collected.inputs[0].name, b"caf\xe9");
}

#[test]
fn what_cannot_be_read_is_an_error_unless_it_is_to_be_skipped() {
    let folder = folder(&["readable", "secret", "closed/inner"]);
    let close = |name: &str, mode| {
        fs::set_permissions(folder.path().join(name), fs::Permissions::from_mode(mode)).unwrap();
    };
    close("secret", 0o000);
    close("closed", 0o000);
    // The superuser reads everything.
    if File::open(folder.path().join("secret")).is_err() {
        let mut request = request(&[folder.path()]);
        let error = run(&request).err().unwrap();
        assert!(error.to_string().contains("--skip-unreadable"), "{error}");
        request.skip_unreadable = true;
        let collected = run(&request).unwrap();
        assert_eq!(names(&collected), ["readable"]);
        assert_eq!(collected.skipped.len(), 2);
    }
    close("closed", 0o755);
}

#[test]
fn a_path_that_is_not_there() {
    let folder = folder(&["a"]);
    let missing = folder.path().join("missing");
    let mut request = request(&[folder.path(), &missing]);
    assert!(run(&request).is_err());
    request.skip_unreadable = true;
    let collected = run(&request).unwrap();
    assert_eq!(collected.inputs.len(), 1);
    assert_eq!(collected.skipped[0].reason, Reason::Unreadable);
}

#[test]
fn the_output_is_left_out_of_a_folder_and_refused_as_a_file() {
    let folder = folder(&["a", "sub/out.tdc", "out.tdc"]);
    let mut request = request(&[folder.path()]);
    request.output = folder.path().join("sub/../sub/out.tdc");
    assert_eq!(names(&run(&request).unwrap()), ["a", "out.tdc"]);
    request.paths.push(folder.path().join("sub/out.tdc"));
    let error = run(&request).err().unwrap();
    assert!(error.to_string().contains("both an input and the archive"), "{error}");
}

#[test]
fn nothing_to_compress_is_an_error() {
    let folder = folder(&[]);
    fs::create_dir(folder.path().join("empty")).unwrap();
    let error = run(&request(&[folder.path()])).err().unwrap();
    assert!(error.to_string().contains("no files in"), "{error}");
    let error = run(&request(&[])).err().unwrap();
    assert!(error.to_string().contains("list of files is empty"), "{error}");
}

#[test]
fn permission_bits_and_times_are_kept() {
    let folder = folder(&["tool"]);
    let path = folder.path().join("tool");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o750)).unwrap();
    let when = std::time::UNIX_EPOCH + std::time::Duration::new(1_714_566_245, 5000);
    File::options().write(true).open(&path).unwrap().set_modified(when).unwrap();
    let collected = run(&request(&[folder.path()])).unwrap();
    assert_eq!(collected.inputs[0].mode, Some(0o750));
    let expected = Timestamp { seconds: 1_714_566_245, nanoseconds: 5000 };
    assert_eq!(collected.inputs[0].modified, Some(expected));
}

#[cfg(feature = "decompress")]
#[test]
fn compressed_files_are_named_by_their_content_only_when_asked() {
    let folder = folder(&["a.txt"]);
    fs::write(folder.path().join("b.txt.bz2"), b"BZh9 and so on").unwrap();
    let mut request = request(&[folder.path()]);
    assert_eq!(names(&run(&request).unwrap()), ["a.txt", "b.txt.bz2"]);
    request.decompress = true;
    assert_eq!(names(&run(&request).unwrap()), ["a.txt", "b.txt"]);
    fs::write(folder.path().join("c.gz"), b"plain").unwrap();
    assert!(run(&request).is_err());
}
