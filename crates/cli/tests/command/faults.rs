//! What comes between: the command is killed, the disk is full, another one writes the same archive.
#![cfg(target_os = "linux")]

use std::fs;
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::folder::{Folder, TADOC, prose};

/// So many times is the command killed, and more often until enough of these were before its end.
const KILLS: u32 = 40;
const IN_TIME: u32 = 10;

fn start(folder: &Folder, arguments: &[&str]) -> Child {
    let mut command = folder.command(arguments);
    command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
}

/// A moment between 0 and `longest`, another one each time, the whole range covered evenly.
fn moment(number: u32, longest: Duration) -> Duration {
    longest.mul_f64(f64::from(number * 17 % KILLS) / f64::from(KILLS))
}

/// Names but those of files that a killed process could not remove: the next one does so.
fn finished(folder: &Folder) -> Vec<String> {
    folder.names().into_iter().filter(|name| !name.contains(".tmp-")).collect()
}

#[test]
fn killed_at_any_moment_an_archive_is_whole_or_not_there() {
    let folder = Folder::new();
    folder.write("a", prose(3_000_000));
    let begin = Instant::now();
    folder.run(&["compress", "a", "-o", "whole.tdc"]).succeeds();
    let longest = begin.elapsed().mul_f64(1.1);
    let whole = folder.read("whole.tdc");
    let (mut kills, mut in_time) = (0, 0);
    while kills < KILLS || in_time < IN_TIME {
        let mut child = start(&folder, &["compress", "a", "-o", "c.tdc"]);
        sleep(moment(kills, longest));
        child.kill().unwrap();
        child.wait().unwrap();
        kills += 1;
        if folder.path("c.tdc").exists() {
            assert!(folder.read("c.tdc") == whole, "another archive");
            fs::remove_file(folder.path("c.tdc")).unwrap();
        } else {
            in_time += 1;
        }
        assert_eq!(finished(&folder), ["a", "whole.tdc"]);
    }
    folder.run(&["compress", "a", "-o", "c.tdc"]).succeeds();
    assert_eq!(folder.names(), ["a", "c.tdc", "whole.tdc"]);
}

#[test]
fn killed_at_any_moment_the_archive_that_was_there_stays() {
    let folder = Folder::with(&["old"]);
    folder.write("new", prose(3_000_000));
    folder.run(&["compress", "old", "-o", "old.tdc"]).succeeds();
    let begin = Instant::now();
    folder.run(&["compress", "new", "-o", "new.tdc"]).succeeds();
    let longest = begin.elapsed().mul_f64(1.1);
    let (old, new) = (folder.read("old.tdc"), folder.read("new.tdc"));
    for number in 0..KILLS {
        folder.write("c.tdc", &old);
        let mut child = start(&folder, &["compress", "new", "-o", "c.tdc", "--force"]);
        sleep(moment(number, longest));
        child.kill().unwrap();
        child.wait().unwrap();
        let found = folder.read("c.tdc");
        assert!(found == old || found == new, "neither the old nor the new archive");
    }
    folder.run(&["compress", "new", "-o", "c.tdc", "--force"]).succeeds();
    assert_eq!(folder.names(), finished(&folder));
}

/// Runs a line of shell script in the folder.
fn shell(folder: &Folder, script: &str) -> Output {
    Command::new("bash").args(["-c", script]).current_dir(folder.path("")).output().unwrap()
}

#[track_caller]
fn assert_fails(output: &Output, says: &str) {
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(stderr.starts_with("tadoc: ") && stderr.contains(says), "{stderr}");
}

/// Text that does not compress.
fn noise() -> Vec<u8> {
    (0..200_000_u32).flat_map(|number| number.wrapping_mul(2_654_435_761).to_le_bytes()).collect()
}

/// A limit on the length of files stands for a full disk.
#[test]
fn an_archive_that_does_not_fit_leaves_the_old_one() {
    let folder = Folder::with(&["old"]);
    folder.write("new", noise());
    folder.run(&["compress", "old", "-o", "c.tdc"]).succeeds();
    let old = folder.read("c.tdc");
    for command in ["compress new -o c.tdc --force", "compress new -o d.tdc"] {
        let script = format!("ulimit -f 8; trap '' XFSZ; exec {TADOC} {command}");
        assert_fails(&shell(&folder, &script), "File too large");
        assert_eq!(folder.names(), ["c.tdc", "new", "old"], "{command}");
        assert!(folder.read("c.tdc") == old, "{command}");
    }
}

/// A disk that is really full, where this user may mount one in a namespace of its own.
#[test]
fn a_full_disk_leaves_the_old_archive() {
    let folder = Folder::with(&["old"]);
    folder.write("new", noise());
    fs::create_dir(folder.path("disk")).unwrap();
    let mount = "mount -t tmpfs -o size=64k none disk";
    let unshare = |script: &str| {
        let mut command = Command::new("unshare");
        command.args(["--user", "--map-root-user", "--mount", "bash", "-c", script]);
        command.current_dir(folder.path("")).output()
    };
    if !unshare(mount).is_ok_and(|output| output.status.success()) {
        return;
    }
    let script = format!(
        "{mount} && {TADOC} compress old -o disk/c.tdc && cp disk/c.tdc before.tdc
         {TADOC} compress new -o disk/c.tdc --force; code=$?
         ls disk > names; cp disk/c.tdc after.tdc; exit $code"
    );
    assert_fails(&unshare(&script).unwrap(), "No space left on device");
    assert_eq!(folder.read("names"), b"c.tdc\n");
    assert!(folder.read("before.tdc") == folder.read("after.tdc"));
    folder.run(&["verify", "after.tdc"]).succeeds();
}

/// Two archives of one name at once, and what each run of the command said.
fn race(folder: &Folder, force: &[&str]) -> [Output; 2] {
    let runs = ["a", "b"].map(|input| {
        let arguments = [&["compress", input, "-o", "c.tdc"], force].concat();
        start(folder, &arguments)
    });
    runs.map(|child| child.wait_with_output().unwrap())
}

#[test]
fn of_two_at_once_one_wins_wholly() {
    let folder = Folder::new();
    for name in ["a", "b"] {
        folder.write(name, [name.as_bytes(), &prose(300_000)].concat());
        folder.run(&["compress", name, "-o", &format!("{name}.tdc")]).succeeds();
    }
    let expected = [folder.read("a.tdc"), folder.read("b.tdc")];
    for _ in 0..10 {
        let outputs = race(&folder, &[]);
        let winner = usize::from(!outputs[0].status.success());
        let stderr = String::from_utf8_lossy(&outputs[winner].stderr);
        assert!(outputs[winner].status.success(), "none has won: {stderr}");
        assert_fails(&outputs[1 - winner], "exists already");
        assert!(folder.read("c.tdc") == expected[winner], "the archive is not the winner's");
        let outputs = race(&folder, &["--force"]);
        assert!(outputs.iter().all(|output| output.status.success()), "{outputs:?}");
        assert!(expected.contains(&folder.read("c.tdc")), "the archive is no one's");
        assert_eq!(folder.names(), ["a", "a.tdc", "b", "b.tdc", "c.tdc"]);
        fs::remove_file(folder.path("c.tdc")).unwrap();
    }
}
