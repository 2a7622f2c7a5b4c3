//! Who may read and write a file: owner, group, mode and ACL.
//!
//! Only root can give a file to another owner, and only members of a group can give it to the group. Where
//! owner, group or ACL cannot be kept, the mode is narrowed, so that nobody reads what they could not read
//! before.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
use std::path::Path;

use super::{Destination, Found};
use crate::error::{Error, Result};

/// Permission bits of group and others.
const NOT_OWNER: u32 = 0o077;

/// Who may read and write a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Permissions {
    /// `None`: the owner of the process that writes.
    owner: Option<u32>,
    /// `None`: the group that a new file gets.
    group: Option<u32>,
    mode: u32,
    /// As the system stores it.
    acl: Option<Vec<u8>>,
}

impl Permissions {
    /// Those of an open file.
    pub fn of(file: &File) -> io::Result<Self> {
        Ok(Self::new(&file.metadata()?, attributes::acl_of(file)))
    }

    /// Those of the file at a path; `None` if there is no regular file.
    pub(super) fn at(path: &Path) -> io::Result<Option<Self>> {
        match std::fs::symlink_metadata(path) {
            Ok(metadata) if metadata.is_file() => {
                Ok(Some(Self::new(&metadata, attributes::acl_at(path))))
            }
            Ok(_) => Ok(None),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn new(metadata: &Metadata, acl: Option<Vec<u8>>) -> Self {
        let (owner, group) = (Some(metadata.uid()), Some(metadata.gid()));
        Self { owner, group, mode: metadata.mode() & 0o777, acl }
    }

    /// What all of several files allow; of files with different owners or groups, neither is kept.
    pub fn shared(all: impl IntoIterator<Item = Self>) -> Option<Self> {
        all.into_iter().reduce(|left, right| {
            let group = left.group.filter(|_| left.group == right.group);
            let mode = left.mode_in(group) & right.mode_in(group);
            let owner = left.owner.filter(|_| left.owner == right.owner);
            if left.acl == right.acl && (left.acl.is_none() || group.is_some()) {
                Self { owner, group, mode, acl: left.acl }
            } else {
                Self { owner, group, mode: mode & !NOT_OWNER, acl: None }
            }
        })
    }

    /// These permissions without readers whom `limit` keeps out.
    pub(super) fn within(mut self, limit: &Self) -> Self {
        let is_open = limit.acl.is_none() && limit.mode & 0o044 == 0o044;
        let has_same_acl = self.acl == limit.acl && self.group == limit.group;
        self.mode &= limit.mode_in(self.group) | !NOT_OWNER;
        let has_acl = self.acl.is_some() || limit.acl.is_some();
        if has_acl && !is_open && !has_same_acl {
            self.mode &= !NOT_OWNER;
            self.acl = None;
        }
        self
    }

    /// The mode where the file is in another group: what both its own group and others had, since people of
    /// either can now be in either.
    fn mode_in(&self, group: Option<u32>) -> u32 {
        if group.is_some() && self.group == group {
            return self.mode;
        }
        let both = match self.acl {
            None => self.mode >> 3 & self.mode & 0o7,
            Some(_) => 0,
        };
        self.mode & !NOT_OWNER | both << 3 | both
    }

    /// The mode of a new file that is derived from one with these permissions, before the umask: its owner
    /// may write it, and nobody runs it.
    pub(super) fn mode_of_derived(&self) -> u32 {
        self.mode & 0o066 | 0o600
    }

    /// Gives them to a file that was created with [`Permissions::mode_of_derived`].
    pub(super) fn give_derived(&self, file: &File) -> io::Result<()> {
        let umasked = file.metadata()?.mode();
        Self { mode: self.mode_of_derived() & umasked, ..self.clone() }.give(file)
    }

    /// Gives them to a file of this process: owner and group where the system allows it.
    pub(super) fn give(&self, file: &File) -> io::Result<()> {
        let own = file.metadata()?;
        let owner = self.owner.filter(|&owner| owner != own.uid());
        let group = self.group.filter(|&group| group != own.gid());
        if owner.is_some() || group.is_some() {
            // Before others may read it. Members of a group may keep it, if they cannot keep the owner.
            let given = fchown(file, owner, group);
            if given.is_err() && group.is_some() {
                let _ = fchown(file, None, group);
            }
        }
        let now = Some(file.metadata()?.gid());
        let has_group = self.group.is_none() || self.group == now;
        let mode = if has_group { self.mode } else { self.mode_in(now) };
        let has_acl = match &self.acl {
            Some(acl) => has_group && attributes::set_acl(file, acl),
            // A folder can have given it one.
            None => attributes::remove_acl(file),
        };
        let mode = if has_acl { mode } else { mode & !NOT_OWNER };
        file.set_permissions(std::fs::Permissions::from_mode(mode))
    }

    /// Makes an empty file at `path`, unless something is there, that nobody may read whom these permissions
    /// keep out: for files that are written in place.
    pub fn create_if_missing(&self, path: &Path) -> Result<()> {
        let failed = |error| Error::io(path, error);
        let Destination { path: target, found } = Destination::of(path)?;
        if found != Found::Nothing {
            return Ok(());
        }
        let mode = self.mode_of_derived();
        match OpenOptions::new().write(true).create_new(true).mode(mode).open(&target) {
            Ok(file) => self.give_derived(&file).map_err(failed),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
            Err(error) => Err(failed(error)),
        }
    }

    /// Makes sure that nobody may read the file at `path` whom these permissions keep out.
    pub fn narrow(&self, path: &Path) -> Result<()> {
        let failed = |error| Error::io(path, error);
        let target = Destination::of(path)?.path;
        let Some(there) = Self::at(&target).map_err(failed)? else { return Ok(()) };
        let narrow = there.clone().within(self);
        if there.mode & 0o044 == narrow.mode & 0o044 && there.acl == narrow.acl {
            return Ok(());
        }
        let opened = OpenOptions::new().write(true).open(&target);
        opened.and_then(|file| narrow.give(&file)).map_err(|error| {
            let reason = format!(
                "more people can read it than the archive, which cannot be changed: {error}"
            );
            failed(io::Error::new(error.kind(), reason))
        })
    }
}

/// Copies the attributes that users have given to a file, as far as the system allows it.
pub(super) fn copy_user_attributes(from: &Path, to: &File) {
    attributes::copy_user(from, to);
}

/// Extended attributes, of which an ACL is one.
#[cfg(target_os = "linux")]
mod attributes {
    use std::fs::File;
    use std::path::Path;

    use rustix::fs::{XattrFlags, fgetxattr, fremovexattr, fsetxattr, getxattr, listxattr};
    use rustix::io::Errno;

    const ACL: &str = "system.posix_acl_access";
    /// What Linux allows for a value, and for a list of names.
    const MOST_BYTES: usize = 1 << 16;

    fn read(get: impl FnOnce(&mut [u8]) -> Result<usize, Errno>) -> Option<Vec<u8>> {
        let mut value = vec![0; MOST_BYTES];
        let length = get(&mut value).ok()?;
        value.truncate(length);
        Some(value)
    }

    pub fn acl_of(file: &File) -> Option<Vec<u8>> {
        read(|value| fgetxattr(file, ACL, value))
    }

    pub fn acl_at(path: &Path) -> Option<Vec<u8>> {
        read(|value| getxattr(path, ACL, value))
    }

    pub fn set_acl(file: &File, acl: &[u8]) -> bool {
        fsetxattr(file, ACL, acl, XattrFlags::empty()).is_ok()
    }

    /// Whether there is none any more.
    pub fn remove_acl(file: &File) -> bool {
        match fremovexattr(file, ACL) {
            Ok(()) | Err(Errno::NODATA | Errno::NOTSUP | Errno::NOSYS) => true,
            Err(_) => acl_of(file).is_none(),
        }
    }

    pub fn copy_user(from: &Path, to: &File) {
        let names = read(|names| listxattr(from, names)).unwrap_or_default();
        for name in names.split(|&byte| byte == 0).filter(|name| name.starts_with(b"user.")) {
            if let Some(value) = read(|value| getxattr(from, name, value)) {
                let _ = fsetxattr(to, name, &value, XattrFlags::empty());
            }
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod attributes {
    use std::fs::File;
    use std::path::Path;

    pub fn acl_of(_: &File) -> Option<Vec<u8>> {
        None
    }

    pub fn acl_at(_: &Path) -> Option<Vec<u8>> {
        None
    }

    pub fn set_acl(_: &File, _: &[u8]) -> bool {
        false
    }

    pub fn remove_acl(_: &File) -> bool {
        true
    }

    pub fn copy_user(_: &Path, _: &File) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(owner: u32, group: u32, mode: u32) -> Permissions {
        Permissions { owner: Some(owner), group: Some(group), mode, acl: None }
    }

    fn with_acl(permissions: Permissions, acl: &[u8]) -> Permissions {
        Permissions { acl: Some(acl.to_vec()), ..permissions }
    }

    #[test]
    fn several_files_share_what_all_allow() {
        let shared = |all: &[Permissions]| Permissions::shared(all.iter().cloned());
        assert_eq!(shared(&[]), None);
        let one = with_acl(of(1, 2, 0o640), b"acl");
        assert_eq!(shared(std::slice::from_ref(&one)), Some(one.clone()));
        assert_eq!(shared(&[one.clone(), one.clone()]), Some(one.clone()));
        assert_eq!(shared(&[of(1, 2, 0o644), of(1, 2, 0o660)]), Some(of(1, 2, 0o640)));
        let nobody = |mode| Permissions { owner: None, group: None, mode, acl: None };
        assert_eq!(shared(&[of(1, 2, 0o644), of(3, 4, 0o664)]), Some(nobody(0o644)));
        // Those of one group need not be in the other one.
        assert_eq!(shared(&[of(1, 2, 0o640), of(3, 4, 0o660)]), Some(nobody(0o600)));
        assert_eq!(shared(&[of(1, 2, 0o604), of(3, 4, 0o604)]), Some(nobody(0o600)));
        assert_eq!(shared(&[one, of(1, 2, 0o640)]), Some(of(1, 2, 0o600)));
    }

    #[test]
    fn what_replaces_a_file_keeps_it_within_limits() {
        let kept = of(1, 2, 0o664);
        assert_eq!(kept.clone().within(&of(3, 4, 0o644)), of(1, 2, 0o644));
        assert_eq!(kept.clone().within(&of(3, 4, 0o400)), of(1, 2, 0o600));
        assert_eq!(kept.clone().within(&of(3, 2, 0o640)), of(1, 2, 0o640));
        assert_eq!(kept.clone().within(&of(3, 4, 0o640)), of(1, 2, 0o600));
        assert_eq!(kept.within(&with_acl(of(1, 2, 0o640), b"acl")), of(1, 2, 0o600));
        let listed = with_acl(of(1, 2, 0o640), b"acl");
        assert_eq!(listed.clone().within(&of(3, 4, 0o644)), listed);
        assert_eq!(listed.clone().within(&listed), listed);
        assert_eq!(listed.within(&of(1, 2, 0o640)), of(1, 2, 0o600));
    }
}
