//! What a mutant with right checksums must answer if `verify` finds nothing wrong with it: what a fresh archive of its
//! restored text answers. Costs four runs of the command and compressing the text.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};
use tadoc_engine::{CompressOptions, Input, Lexer, Source};

use super::child;
use super::probe::ARCHIVE;

/// A mutant with more text is not compared.
const MOST_TEXT: usize = 2 << 20;

/// A fresh archive of the documents that a mutant restores to, as bytes. `None` where they cannot be told, or are too
/// long.
pub fn fresh(binary: &Path, folder: &Path, scratch: &Path) -> Result<Option<Vec<u8>>> {
    let ask = |arguments: &[&str]| -> Result<Option<Vec<u8>>> {
        let arguments: Vec<String> = arguments.iter().map(|&word| word.to_owned()).collect();
        let run = child::run(binary, folder, &arguments, Duration::from_secs(10))?;
        Ok((run.code() == Some(0)).then_some(run.stdout))
    };
    let Some(info) = ask(&["info", ARCHIVE, "--json"])? else { return Ok(None) };
    let info: serde_json::Value = serde_json::from_slice(&info).context("reading figures")?;
    let lexer = match info["lexer"].as_str() {
        Some("words") => Lexer::Words,
        Some("whitespace") => Lexer::Whitespace,
        _ => return Ok(None),
    };
    if info["text_bytes"].as_u64().is_none_or(|bytes| bytes > MOST_TEXT as u64) {
        return Ok(None);
    }
    let Some(list) = ask(&["list", ARCHIVE, "--format", "tsv"])? else { return Ok(None) };
    let Some(text) = ask(&["restore", ARCHIVE, "--stdout"])? else { return Ok(None) };
    let mut rest = &text[..];
    let mut inputs = Vec::new();
    for line in list.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
        let mut columns = line.split(|&byte| byte == b'\t');
        let name = unescape(columns.next().unwrap_or_default());
        let length = columns.next().and_then(|number| std::str::from_utf8(number).ok());
        let length: usize = length.and_then(|number| number.parse().ok()).unwrap_or(usize::MAX);
        let Some((bytes, behind)) = rest.split_at_checked(length) else { return Ok(None) };
        rest = behind;
        inputs.push(Input::new(name, Source::Bytes(bytes.to_vec())));
    }
    let path = scratch.join("fresh.tdc");
    let options =
        CompressOptions { lexer, threads: Some(1), force: true, ..CompressOptions::default() };
    // A name may be one that the library refuses: then there is nothing to compare with.
    if tadoc_engine::compress(inputs, &path, &options, &()).is_err() {
        return Ok(None);
    }
    Ok(Some(std::fs::read(&path)?))
}

/// A name as it is, of one as rows show it.
fn unescape(shown: &[u8]) -> Vec<u8> {
    let mut name = Vec::new();
    let mut bytes = shown.iter().copied();
    while let Some(byte) = bytes.next() {
        if byte != b'\\' {
            name.push(byte);
            continue;
        }
        match bytes.next() {
            Some(b't') => name.push(b'\t'),
            Some(b'n') => name.push(b'\n'),
            Some(b'r') => name.push(b'\r'),
            Some(b'x') => {
                let digits: Vec<u8> = bytes.by_ref().take(2).collect();
                let digits = std::str::from_utf8(&digits).unwrap_or_default();
                name.push(u8::from_str_radix(digits, 16).unwrap_or(b'?'));
            }
            Some(other) => name.push(other),
            None => {}
        }
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unescaped() {
        assert_eq!(unescape(br"a\\b\tc\n\xff\r"), b"a\\b\tc\n\xff\r");
    }
}
