//! Disks that are full, files and folders that cannot be written: what was acknowledged stays, and editing goes on when it can.
//!
//! The disk is a small file system in memory that this program mounts in a namespace of its own, where that is allowed; files
//! that may not grow do the same everywhere.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tadoc_engine::update::RecompressOptions;
use tadoc_engine::{Corpus, Durability, Edit, Editor, Error};
use tadoc_oracle::Random;

use super::states;

const BALLAST: &str = "ballast";

/// Bytes that do not become smaller.
fn ballast(random: &mut Random, bytes: usize) -> Vec<u8> {
    (0..bytes).map(|_| random.below(256) as u8).collect()
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

/// An error with its causes.
fn told(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    causes.map(|error| error.to_string()).collect::<Vec<_>>().join(": ")
}

/// Edits until that fails; gives the last state that was committed.
fn edit_until_full(path: &Path) -> u64 {
    let editor = Editor::open(path).unwrap();
    let mut state = states::state_of(&Corpus::open(path).unwrap(), BALLAST);
    let mut random = Random::new(state);
    let error = loop {
        let text = ballast(&mut random, 3000);
        let mut transaction = editor.begin().unwrap();
        let document = transaction.find(BALLAST.as_bytes()).unwrap();
        let append = Edit::Append { document, text: &text };
        let edited = states::advance(&mut transaction, state)
            .and_then(|()| transaction.edit(&append))
            .inspect_err(|_| {
                // Nobody can say what this one has made; it makes nothing more.
                let refused = transaction.edit(&append);
                assert!(matches!(refused, Err(Error::EditorFailed { .. })));
            })
            .and_then(|_| transaction.commit(Durability::Sync));
        match edited {
            Ok(()) => state += 1,
            Err(error) => break error,
        }
        assert!(state < 10_000, "the disk is never full");
    };
    let told = told(&error);
    assert!(told.contains("No space left on device") || told.contains("File too large"), "{told}");
    assert!(matches!(editor.begin(), Err(Error::EditorFailed { .. })));
    state
}

fn assert_state(path: &Path, state: u64) {
    assert_eq!(states::state_of(&Corpus::open(path).unwrap(), BALLAST), state);
}

/// Fills the disk with edits; all that was acknowledged is there. Gives the state.
fn fill(path: &Path) -> u64 {
    let state = edit_until_full(path);
    assert_state(path, state);
    // As it is full, so it stays.
    assert_eq!(edit_until_full(path), state);
    assert_state(path, state);
    state
}

/// Compressing again fails without harm.
fn assert_not_recompressed(path: &Path, state: u64) {
    let before = files(path.parent().unwrap());
    let error = told(&RecompressOptions::default().recompress(path, &()).unwrap_err());
    assert!(
        error.contains("No space left on device") || error.contains("File too large"),
        "{error}"
    );
    assert_state(path, state);
    // An editor goes on after compressing again has failed.
    let editor = Editor::open(path).unwrap();
    editor.recompress(&RecompressOptions::default(), &()).unwrap_err();
    assert_eq!(files(path.parent().unwrap()), before, "something was left behind");
    let mut transaction = editor.begin().unwrap();
    transaction.find(BALLAST.as_bytes()).unwrap();
    transaction.edit(&Edit::Append { document: 0, text: b"" }).unwrap();
    drop((transaction, editor));
    assert_state(path, state);
}

/// There is room again.
fn go_on(path: &Path, state: u64) {
    let editor = Editor::open(path).unwrap();
    states::commit_next(&editor, state, Durability::Sync);
    assert_state(path, state + 1);
    editor.recompress(&RecompressOptions::default(), &()).unwrap();
    assert_state(path, state + 1);
}

/// An archive with so much in it that does not become smaller.
fn make(path: &Path, bytes: usize) {
    states::make(path);
    let editor = Editor::open(path).unwrap();
    let text = ballast(&mut Random::new(0), bytes);
    let name = BALLAST.as_bytes();
    let mut transaction = editor.begin().unwrap();
    transaction.edit(&Edit::Add { name, modified: None, mode: None, text: &text }).unwrap();
    transaction.commit(Durability::None).unwrap();
    editor.recompress(&RecompressOptions::default(), &()).unwrap();
}

/// Starts this program once more for one of its tests, through a shell.
fn run_through(shell: &[&str], test: &str, folder: &Path) -> Option<std::process::Output> {
    Command::new(shell[0])
        .args(&shell[1..])
        .arg(std::env::current_exe().unwrap())
        .args([test, "--exact", "--ignored", "--nocapture", "--test-threads=1"])
        .env("TADOC_TEST_FOLDER", folder)
        .stdin(Stdio::null())
        .output()
        .ok()
}

fn folder_given() -> PathBuf {
    std::env::var_os("TADOC_TEST_FOLDER").expect("started by another test").into()
}

fn assert_passed(output: &std::process::Output) {
    let told = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(
        output.status.success() && told(&output.stdout).contains("1 passed"),
        "{}\n{}{}",
        output.status,
        told(&output.stdout),
        told(&output.stderr)
    );
}

#[test]
#[ignore = "only for the test that bounds files"]
fn files_that_may_not_grow() {
    let path = folder_given().join("full.tdc");
    let state = fill(&path);
    println!("state {state}.");
}

#[test]
#[ignore = "only for the test that bounds files"]
fn files_that_may_not_be_made() {
    let path = folder_given().join("full.tdc");
    let state = fill(&path);
    assert_not_recompressed(&path, state);
}

/// Files may not become longer than a bound: writes fail in the middle of a record.
#[test]
fn a_file_that_may_not_grow_keeps_what_it_has() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("full.tdc");
    make(&path, 300_000);
    // In blocks of 512 bytes, or of 1024 as some shells count: a bit more than the file has, or less than twice as much.
    let bytes = std::fs::metadata(&path).unwrap().len();
    let run = |test: &str, blocks: u64| {
        let limit = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" \"$@\"");
        let output = run_through(&["sh", "-c", &limit], test, folder.path()).expect("a shell");
        assert_passed(&output);
        output
    };
    let output = run("faults::files_that_may_not_grow", bytes.div_ceil(512) + 40);
    // A fourth or half of what it has: nothing can be written behind it, nor a new one.
    run("faults::files_that_may_not_be_made", bytes / 2048);
    let told = String::from_utf8(output.stdout).unwrap();
    let state = told.split("state ").nth(1).and_then(|rest| rest.split('.').next()).unwrap();
    go_on(&path, state.parse().unwrap());
}

#[test]
#[ignore = "only for the test that mounts a disk"]
fn small_disk() {
    let folder = folder_given();
    let path = folder.join("full.tdc");
    make(&path, 100_000);
    let filler = folder.join("filler");
    std::fs::write(&filler, vec![0; 700_000]).unwrap();
    let state = fill(&path);
    assert_not_recompressed(&path, state);
    std::fs::remove_file(&filler).unwrap();
    go_on(&path, state);
    assert_eq!(files(&folder), std::slice::from_ref(&path));
    // The same disk, when nothing can be written.
    let status = Command::new("mount").args(["-o", "remount,ro"]).arg(&folder).status().unwrap();
    assert!(status.success());
    for result in [
        Editor::open(&path).map(|_| ()),
        RecompressOptions::default().recompress(&path, &()).map(|_| ()),
    ] {
        let shown = result.map_or_else(|error| told(&error), |()| "done".into());
        assert!(shown.contains("Read-only file system") || shown == "done", "{shown}");
    }
    let refused = told(&Editor::open(&path).unwrap_err());
    assert!(refused.contains("Read-only file system"), "{refused}");
    assert_state(&path, state + 1);
}

#[test]
fn a_full_disk_keeps_what_it_has() {
    let folder = tempfile::tempdir().unwrap();
    let mount = "mount -t tmpfs -o size=1m tadoc-test \"$TADOC_TEST_FOLDER\" || exit 77; exec \"$0\" \"$@\"";
    let shell = ["unshare", "--map-root-user", "--mount", "sh", "-c", mount];
    match run_through(&shell, "faults::small_disk", folder.path()) {
        Some(output) if output.status.code() != Some(77) && output.status.code() != Some(1) => {
            assert_passed(&output);
        }
        // The bound on files is the same test but for the disk.
        _ => println!("skipped: no file system can be mounted here"),
    }
}

/// Who may do everything cannot be refused by permissions.
fn is_root() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let user = status.lines().find_map(|line| line.strip_prefix("Uid:"));
    user.and_then(|ids| ids.split_whitespace().nth(1)) == Some("0")
}

#[test]
fn files_and_folders_that_cannot_be_written_are_refused() {
    use std::os::unix::fs::PermissionsExt;
    if is_root() {
        println!("skipped: nothing is refused to root");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("closed.tdc");
    states::make(&path);
    states::commit_next(&Editor::open(&path).unwrap(), 0, Durability::Sync);
    let set = |path: &Path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    set(&path, 0o444);
    let refused = told(&Editor::open(&path).unwrap_err());
    assert!(refused.contains("Permission denied"), "{refused}");
    assert_state(&path, 1);
    set(&path, 0o644);
    set(folder.path(), 0o555);
    // The file itself can be edited, and not replaced.
    let editor = Editor::open(&path).unwrap();
    states::commit_next(&editor, 1, Durability::Sync);
    let error = told(&editor.recompress(&RecompressOptions::default(), &()).unwrap_err());
    assert!(error.contains("Permission denied"), "{error}");
    states::commit_next(&editor, 2, Durability::Sync);
    set(folder.path(), 0o755);
    assert_state(&path, 3);
}
