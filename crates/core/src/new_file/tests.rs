use std::cell::Cell;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

use super::*;

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn write(path: &Path, bytes: &[u8], replace: bool) -> Result<()> {
    let mut file = NewFile::create(path)?;
    file.write_all(bytes).unwrap();
    file.finish(replace)
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().mode() & 0o7777
}

#[test]
fn only_what_nobody_writes_any_more_is_removed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.tdc");
    let written = NewFile::create(&path).unwrap();
    for name in [
        "a.tdc",
        "a.tdc.tmp-1-0",
        "a.tdc.tmp-4000000000-999",
        "a.tdc.tmp-1",
        "a.tdc.tmp-1-0-0",
        "a.tdc.tmp-one-0",
        "b.a.tdc.tmp-1-0",
        "b.tdc.tmp-1-0",
    ] {
        fs::write(folder.path().join(name), "x").unwrap();
    }
    fs::create_dir(folder.path().join("a.tdc.tmp-2-0")).unwrap();
    let by_another = File::open(folder.path().join("a.tdc.tmp-1-0")).unwrap();
    by_another.try_lock().unwrap();
    remove_left_behind(&path);
    assert!(folder.path().join("a.tdc.tmp-1-0").exists());
    by_another.unlock().unwrap();
    remove_left_behind(&path);
    let mut left = names(folder.path());
    left.retain(|name| !name.contains(&format!("-{}-", std::process::id())));
    let kept = [
        "a.tdc",
        "a.tdc.tmp-1",
        "a.tdc.tmp-1-0-0",
        "a.tdc.tmp-2-0",
        "a.tdc.tmp-one-0",
        "b.a.tdc.tmp-1-0",
        "b.tdc.tmp-1-0",
    ];
    assert_eq!(left, kept);
    // What is being written was not touched, and gets its name.
    written.finish(true).unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"");
    // Nobody holds it then.
    File::open(&path).unwrap().try_lock().unwrap();
}

#[test]
fn what_is_dropped_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut dropped = NewFile::create(&folder.path().join("a.tdc")).unwrap();
    dropped.write_all(b"text").unwrap();
    drop(dropped);
    assert!(names(folder.path()).is_empty());
}

#[test]
fn a_file_that_is_lost_again_and_again_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.tdc");
    let asked = Cell::new(0);
    let error = create_aside(&path, 0o666, |_, aside| {
        asked.set(asked.get() + 1);
        assert!(aside.exists());
        false
    })
    .unwrap_err();
    assert_eq!(asked.get(), MOST_LOST);
    assert_eq!(error.path(), Some(&*path));
    let error = std::error::Error::source(&error).unwrap().to_string();
    assert!(error.contains("16 files made beside it were replaced or locked"), "{error}");
    assert!(names(folder.path()).is_empty());
    // Once is no harm: so it is when another process has just taken the file for one left behind.
    let (_, aside) = create_aside(&path, 0o666, |_, _| asked.replace(0) == 0).unwrap();
    assert_eq!(names(folder.path()), [aside.file_name().unwrap().to_str().unwrap()]);
}

#[test]
fn the_longest_name_has_room() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("n".repeat(255));
    let left = NewFile::create(&path).unwrap();
    let aside = left.aside().unwrap().to_owned();
    // As one that is killed.
    fs::copy(&aside, aside.with_file_name(format!("{}9", aside.file_name().unwrap().display())))
        .unwrap();
    write(&path, b"text", false).unwrap();
    assert_eq!(names(folder.path()).len(), 2);
    drop(left);
    assert_eq!(names(folder.path()), ["n".repeat(255)]);
}

#[test]
fn links_stay_and_what_they_lead_to_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::create_dir(path("in")).unwrap();
    symlink("in/target", path("second")).unwrap();
    symlink(path("second"), path("first")).unwrap();
    for (replace, bytes) in [(false, b"a"), (true, b"b")] {
        write(&path("first"), bytes, replace).unwrap();
        assert_eq!(fs::read(path("in/target")).unwrap(), bytes);
    }
    assert!(matches!(write(&path("first"), b"c", false), Err(Error::Exists { .. })));
    assert!(path("first").is_symlink() && path("second").is_symlink());
    assert_eq!(names(folder.path()), ["first", "in", "second"]);
    assert_eq!(names(&path("in")), ["target"]);
    symlink("loop", path("loop")).unwrap();
    symlink("no/where", path("dangling")).unwrap();
    for wrong in ["loop", "dangling", "in", ""] {
        assert!(NewFile::create(&path(wrong)).is_err(), "{wrong}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn what_is_no_file_is_written_into() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("fifo");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &path,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::from_raw_mode(0o600),
        0,
    )
    .unwrap();
    let reader = std::thread::spawn({
        let path = path.clone();
        move || fs::read(path).unwrap()
    });
    let mut file = NewFile::create(&path).unwrap();
    file.write_all(b"..").unwrap();
    file.rewind().unwrap();
    file.write_all(b"ab").unwrap();
    file.finish(false).unwrap();
    assert_eq!(reader.join().unwrap(), b"ab");
    assert!(!fs::metadata(&path).unwrap().is_file());
    assert_eq!(names(folder.path()), ["fifo"]);
}

#[test]
fn what_has_come_up_meanwhile_is_not_replaced_unless_it_is_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a");
    let file = NewFile::create(&path).unwrap();
    fs::create_dir(&path).unwrap();
    file.finish(true).unwrap_err();
    assert!(path.is_dir());
    assert_eq!(names(folder.path()), ["a"]);
}

#[test]
fn a_mode_is_kept_and_nobody_reads_meanwhile() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a");
    for kept in [0o600, 0o640, 0o666, 0o444] {
        fs::write(&path, "old").unwrap();
        set_mode(&path, kept);
        let file = NewFile::create(&path).unwrap();
        assert_eq!(mode(file.aside().unwrap()), 0o600);
        file.finish(true).unwrap();
        assert_eq!(mode(&path), kept);
        fs::remove_file(&path).unwrap();
    }
}

#[test]
fn what_is_derived_is_for_the_same_people() {
    let folder = tempfile::tempdir().unwrap();
    let (from, path) = (folder.path().join("from"), folder.path().join("a"));
    fs::write(&from, "text").unwrap();
    for (of_source, derived) in [(0o600, 0o600), (0o640, 0o640), (0o644, 0o644), (0o444, 0o644)] {
        set_mode(&from, of_source);
        let permissions = || Permissions::of(&File::open(&from).unwrap()).unwrap();
        let file = NewFile::create_within(&path, permissions()).unwrap();
        assert_eq!(mode(file.aside().unwrap()) & !derived, 0);
        file.finish(false).unwrap();
        assert_eq!(mode(&path) & !derived, 0);
        assert_eq!(mode(&path) & 0o600, 0o600);
        // What was there decides, but for those who may not read the source.
        set_mode(&path, 0o664);
        let file = NewFile::create_within(&path, permissions()).unwrap();
        assert_eq!(mode(file.aside().unwrap()), 0o600);
        file.finish(true).unwrap();
        assert_eq!(mode(&path), 0o664 & (derived | 0o600));
        set_mode(&path, 0o666);
        NewFile::create_like(&path, permissions()).unwrap().finish(true).unwrap();
        assert_eq!(mode(&path) & !derived, 0);
        set_mode(&path, 0o644);
        permissions().create_if_missing(&path).unwrap();
        assert_eq!(mode(&path), 0o644);
        permissions().narrow(&path).unwrap();
        assert_eq!(mode(&path), 0o644 & derived);
        fs::remove_file(&path).unwrap();
        permissions().create_if_missing(&path).unwrap();
        assert_eq!(mode(&path) & !derived, 0);
        fs::remove_file(&path).unwrap();
    }
}

/// An ACL as Linux stores it: the owner and a user may read and write, nobody else anything.
#[cfg(target_os = "linux")]
fn acl_for(user: u32) -> Vec<u8> {
    let entries = [(1_u16, 6_u16, u32::MAX), (2, 6, user), (4, 0, u32::MAX), (16, 6, u32::MAX)];
    let mut acl = 2_u32.to_le_bytes().to_vec();
    for (tag, bits, id) in entries.into_iter().chain([(32, 0, u32::MAX)]) {
        acl.extend_from_slice(&tag.to_le_bytes());
        acl.extend_from_slice(&bits.to_le_bytes());
        acl.extend_from_slice(&id.to_le_bytes());
    }
    acl
}

#[cfg(target_os = "linux")]
#[test]
fn acls_and_user_attributes_are_kept() {
    use rustix::fs::{XattrFlags, getxattr, setxattr};
    const ACL: &str = "system.posix_acl_access";
    let folder = tempfile::tempdir().unwrap();
    let (listed, plain) = (folder.path().join("listed"), folder.path().join("plain"));
    fs::write(&listed, "old").unwrap();
    fs::write(&plain, "old").unwrap();
    set_mode(&plain, 0o640);
    if setxattr(&listed, ACL, &acl_for(12345), XattrFlags::empty()).is_err() {
        println!("skipped: the file system of {} has no ACLs", folder.path().display());
        return;
    }
    let has_attributes = setxattr(&listed, "user.note", b"mine", XattrFlags::empty()).is_ok();
    let mut value = [0; 256];
    write(&listed, b"new", true).unwrap();
    let length = getxattr(&listed, ACL, &mut value).unwrap();
    assert_eq!(value[..length], acl_for(12345));
    assert_eq!(mode(&listed), 0o660);
    if has_attributes {
        let length = getxattr(&listed, "user.note", &mut value).unwrap();
        assert_eq!(value[..length], *b"mine");
    }
    // Whoever is named there may not read what is kept from others, and the other way round.
    let of = |path: &Path| Permissions::of(&File::open(path).unwrap()).unwrap();
    NewFile::create_within(&listed, of(&plain)).unwrap().finish(true).unwrap();
    assert!(getxattr(&listed, ACL, &mut value).is_err());
    assert_eq!(mode(&listed), 0o600);
    // A folder may give its new files an ACL that the one replaced did not have.
    let acl = acl_for(12345);
    setxattr(folder.path(), "system.posix_acl_default", &acl, XattrFlags::empty()).unwrap();
    write(&plain, b"new", true).unwrap();
    assert!(getxattr(&plain, ACL, &mut value).is_err());
    assert_eq!(mode(&plain), 0o640);
}
