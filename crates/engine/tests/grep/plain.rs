//! The plain program: text cut at newlines, each line searched with `regex`.

use tadoc_engine::grep::{Binary, Options, Summary, Want};
use tadoc_oracle::Document;

use super::support::Event;

/// The lines of a text: where each starts, its bytes without newline, and whether it has one.
fn lines(text: &[u8]) -> Vec<(u64, &[u8], bool)> {
    let mut offset = 0;
    text.split_inclusive(|&byte| byte == b'\n')
        .map(|line| {
            let start = offset;
            offset += line.len() as u64;
            match line.strip_suffix(b"\n") {
                Some(line) => (start, line, true),
                None => (start, line, false),
            }
        })
        .collect()
}

/// What a search must give for documents that are in order.
pub fn expected(
    documents: &[Document],
    regex: &regex::bytes::Regex,
    options: &Options,
) -> Vec<Event> {
    let mut events = Vec::new();
    for (document, (_, text)) in documents.iter().enumerate() {
        one_document(document, text, regex, options, &mut events);
    }
    events
}

fn one_document(
    document: usize,
    text: &[u8],
    regex: &regex::bytes::Regex,
    options: &Options,
    events: &mut Vec<Event>,
) {
    let lines = lines(text);
    let asked: Vec<usize> =
        (0..lines.len()).filter(|&line| regex.is_match(lines[line].1) != options.invert).collect();
    let most = options.max_count.unwrap_or(u64::MAX) as usize;
    let taken = &asked[..asked.len().min(most)];
    let first_nul = text.iter().position(|&byte| byte == 0).map(|place| place as u64);
    let binary = first_nul.filter(|_| options.binary != Binary::Text);
    let mut summary = Summary { lines: taken.len() as u64, matches: 0, binary };
    match options.want {
        Want::Any => summary.lines = summary.lines.min(1),
        Want::Count => {}
        Want::CountMatches => {
            let matches = |&line: &usize| match options.invert {
                true => 1,
                // An empty match at the end stands before the newline, if there is one.
                false => {
                    let (_, text, newline) = lines[line];
                    let matches = regex.find_iter(text);
                    matches.filter(|found| newline || found.start() < text.len()).count() as u64
                }
            };
            summary.matches = taken.iter().map(matches).sum();
        }
        Want::Lines if binary.is_some() && options.binary == Binary::Withhold => {
            summary.lines = summary.lines.min(1);
        }
        Want::Lines => {
            let near = |line: usize| {
                taken.iter().any(|&taken| {
                    line + options.before as usize >= taken
                        && line <= taken + options.after as usize
                })
            };
            let mut before = None;
            for line in (0..lines.len()).filter(|&line| near(line)) {
                let nearby = options.before > 0 || options.after > 0;
                if nearby && before.is_some_and(|before| before + 1 < line) {
                    events.push(Event::Gap);
                }
                before = Some(line);
                let numbers = options.numbers || nearby || options.invert;
                let (offset, text, newline) = lines[line];
                events.push(Event::Line {
                    document,
                    number: if numbers { line as u64 + 1 } else { 0 },
                    offset: if numbers { offset } else { 0 },
                    text: text.to_vec(),
                    newline,
                    asked: asked.contains(&line),
                });
            }
        }
    }
    events.push(Event::End(document, summary));
}
