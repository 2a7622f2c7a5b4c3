//! Edits of an archive: what they are checked against, and the text that they make.
//!
//! A document that was edited is a sequence of pieces (`pieces`), each a range of the text that the archive stores or of
//! text that is new (`text`). Names and lengths, which is all that an edit has to be checked against, are kept apart
//! (`ledger`), so that a writer needs no text. A batch whose offsets all mean the text before it is turned into edits in
//! sequence (`offsets`).

#[allow(dead_code)]
mod ledger;
#[allow(dead_code)]
mod offsets;
#[allow(dead_code)]
mod pieces;
#[allow(dead_code)]
mod text;
