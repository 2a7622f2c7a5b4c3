//! The archive on disk.
