//! Lines found on the grammar are those that a plain program finds in the text.

mod patterns;
mod plain;
mod segments;
mod support;
mod texts;
