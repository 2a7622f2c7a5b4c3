//! Which items the examples of a crate's documentation use: paths that begin with the crate's name,
//! in code blocks that are compiled, run and assert something.

use std::collections::BTreeSet;

/// Attributes of code blocks that are compiled and run.
const RUN: [&str; 3] = ["", "rust", "standalone_crate"];

/// The code blocks of a documentation that are compiled and run.
pub fn blocks(docs: &str) -> Vec<String> {
    let mut blocks = Vec::new();
    let mut lines = docs.lines();
    while let Some(line) = lines.next() {
        let Some(attributes) = line.trim_start().strip_prefix("```") else { continue };
        let code = lines.by_ref().take_while(|line| !line.trim_start().starts_with("```"));
        let code: Vec<&str> = code.collect();
        if attributes.split(',').all(|attribute| RUN.contains(&attribute.trim())) {
            blocks.push(code.join("\n"));
        }
    }
    blocks
}

/// Whether a documentation has an example that asserts something.
pub fn is_shown(docs: &str) -> bool {
    blocks(docs).iter().any(|code| asserts(code))
}

fn asserts(code: &str) -> bool {
    code.contains("assert")
}

/// Adds all paths of items of a crate that an example uses, and the paths of what these are in. An
/// example without an assertion adds none.
pub fn add_used(code: &str, name: &str, to: &mut BTreeSet<String>) {
    if !asserts(code) {
        return;
    }
    // Comments name items without using them.
    let code: Vec<&str> =
        code.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
    let code = code.join("\n");
    for (place, _) in code.match_indices(name) {
        let before = code[..place].chars().next_back();
        let is_inside = before.is_some_and(|last| is_of_name(last) || last == ':');
        let after = &code[place + name.len()..];
        if !is_inside && after.starts_with("::") {
            add_tree(&mut after.chars().peekable(), name, to);
        }
    }
}

type Rest<'c> = std::iter::Peekable<std::str::Chars<'c>>;

/// What follows the path `above`: `::name`, and what follows that, or `::{several}`.
fn add_tree(rest: &mut Rest<'_>, above: &str, to: &mut BTreeSet<String>) {
    if rest.next_if_eq(&':').is_none() || rest.next_if_eq(&':').is_none() {
        return;
    }
    if rest.next_if_eq(&'{').is_none() {
        add_name(rest, above, to);
        return;
    }
    loop {
        while rest.next_if(|next| next.is_whitespace() || *next == ',').is_some() {}
        match rest.peek() {
            Some(next) if is_of_name(*next) => add_name(rest, above, to),
            _ => break,
        }
        // ` as Other`.
        while rest.next_if(|next| *next != ',' && *next != '}').is_some() {}
    }
    rest.next_if_eq(&'}');
}

fn add_name(rest: &mut Rest<'_>, above: &str, to: &mut BTreeSet<String>) {
    let mut path = format!("{above}::");
    while let Some(next) = rest.next_if(|next| is_of_name(*next)) {
        path.push(next);
    }
    add_tree(rest, &path, to);
    to.insert(path);
}

fn is_of_name(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn used(code: &str) -> Vec<String> {
        let mut paths = BTreeSet::new();
        add_used(code, "lib", &mut paths);
        paths.into_iter().collect()
    }

    #[test]
    fn only_blocks_that_run_are_examples() {
        let docs = "Text.\n```\na\nb\n```\n```no_run\nc\n```\n```text\nd\n```\n```rust\ne\n```";
        assert_eq!(blocks(docs), ["a\nb", "e"]);
        assert!(blocks("no example").is_empty());
    }

    #[test]
    fn paths_of_imports_and_expressions_are_used() {
        let imports = "use lib::{A, edit::{B, C as D}, f};\nassert!(true);";
        assert_eq!(
            used(imports),
            ["lib::A", "lib::edit", "lib::edit::B", "lib::edit::C", "lib::f"]
        );
        let calls = "assert_eq!(lib::A::new(&lib::f(1)), my::lib::B, calib::C);";
        assert_eq!(used(calls), ["lib::A", "lib::A::new", "lib::f"]);
        let lines = "use lib::{\n    A,\n    custom::B,\n};\nassert!(A::x());";
        assert_eq!(used(lines), ["lib::A", "lib::custom", "lib::custom::B"]);
    }

    #[test]
    fn comments_and_examples_that_assert_nothing_do_not_count() {
        assert!(used("lib::A::new();").is_empty());
        assert!(used("// lib::A\nassert!(true);").is_empty());
    }
}
