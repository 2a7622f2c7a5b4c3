//! Types, generics and signatures of rustdoc's JSON as Rust text, with paths as the source has
//! them, without `crate::` and `super::`.

use serde_json::Value;

/// An array of the JSON; nothing where there is none.
pub fn array(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// A text of the JSON; empty where there is none.
pub fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// The one key of an object that stands for a case of an enum, and what is below it. A case without
/// content is a string.
pub fn case(value: &Value) -> (&str, &Value) {
    match value.as_object().and_then(|object| object.iter().next()) {
        Some((key, below)) => (key, below),
        None => (text(value), &Value::Null),
    }
}

fn joined(values: &[Value], separator: &str, one: impl Fn(&Value) -> String) -> String {
    values.iter().map(one).collect::<Vec<_>>().join(separator)
}

/// A path as it is written, but for where it begins.
fn path(value: &Value) -> String {
    let names: Vec<&str> = text(&value["path"]).split("::").collect();
    let first = match names[0] {
        // A derive wrote it.
        "$crate" => names.len() - 1,
        _ => names
            .iter()
            .position(|name| !["", "crate", "self", "super"].contains(name))
            .unwrap_or(0),
    };
    names[first..].join("::") + &arguments(&value["args"])
}

/// A trait by its last name: derives write whole paths and people do not.
pub fn trait_name(value: &Value) -> String {
    let path = path(value);
    let names = path.find(['<', '(']).unwrap_or(path.len());
    let start = path[..names].rfind("::").map_or(0, |place| place + 2);
    path[start..].to_owned()
}

fn arguments(value: &Value) -> String {
    let (kind, below) = case(value);
    match kind {
        "angle_bracketed" => {
            let one = |argument: &Value| match case(argument) {
                ("lifetime", lifetime) => text(lifetime).to_owned(),
                ("type", own) => type_text(own),
                ("const", own) => text(&own["expr"]).to_owned(),
                (other, _) => if other == "infer" { "_" } else { other }.to_owned(),
            };
            let constraint = |constraint: &Value| {
                let name = text(&constraint["name"]).to_owned() + &arguments(&constraint["args"]);
                match case(&constraint["binding"]) {
                    ("equality", term) => format!("{name} = {}", one(term)),
                    (_, own) => format!("{name}: {}", bounds(array(own))),
                }
            };
            let mut parts: Vec<String> = array(&below["args"]).iter().map(one).collect();
            parts.extend(array(&below["constraints"]).iter().map(constraint));
            if parts.is_empty() { String::new() } else { format!("<{}>", parts.join(", ")) }
        }
        "parenthesized" => {
            format!(
                "({}){}",
                joined(array(&below["inputs"]), ", ", type_text),
                output(&below["output"])
            )
        }
        _ => String::new(),
    }
}

fn output(value: &Value) -> String {
    if value.is_null() { String::new() } else { format!(" -> {}", type_text(value)) }
}

/// A type.
pub fn type_text(value: &Value) -> String {
    let (kind, below) = case(value);
    match kind {
        "resolved_path" => path(below),
        "generic" | "primitive" => text(below).to_owned(),
        "tuple" => match array(below) {
            [one] => format!("({},)", type_text(one)),
            several => format!("({})", joined(several, ", ", type_text)),
        },
        "slice" => format!("[{}]", type_text(below)),
        "array" => format!("[{}; {}]", type_text(&below["type"]), text(&below["len"])),
        "borrowed_ref" => {
            let lifetime = below["lifetime"].as_str().map(|name| format!("{name} "));
            let mutable = if below["is_mutable"] == true { "mut " } else { "" };
            format!("&{}{mutable}{}", lifetime.unwrap_or_default(), type_text(&below["type"]))
        }
        "raw_pointer" => {
            let kind = if below["is_mutable"] == true { "mut" } else { "const" };
            format!("*{kind} {}", type_text(&below["type"]))
        }
        "dyn_trait" => {
            let one = |poly: &Value| higher_ranked(&poly["generic_params"]) + &path(&poly["trait"]);
            let mut parts: Vec<String> = array(&below["traits"]).iter().map(one).collect();
            parts.extend(below["lifetime"].as_str().map(str::to_owned));
            format!("dyn {}", parts.join(" + "))
        }
        "impl_trait" => format!("impl {}", bounds(array(below))),
        "function_pointer" => {
            let signature = &below["sig"];
            let inputs = joined(array(&signature["inputs"]), ", ", |input| type_text(&input[1]));
            format!(
                "{}{}fn({inputs}){}",
                higher_ranked(&below["generic_params"]),
                header(&below["header"]),
                output(&signature["output"])
            )
        }
        "qualified_path" => {
            let (own, name) = (type_text(&below["self_type"]), text(&below["name"]));
            let arguments = arguments(&below["args"]);
            match &below["trait"] {
                named if !text(&named["path"]).is_empty() && own != "Self" => {
                    format!("<{own} as {}>::{name}{arguments}", path(named))
                }
                _ => format!("{own}::{name}{arguments}"),
            }
        }
        _ => "_".to_owned(),
    }
}

fn higher_ranked(parameters: &Value) -> String {
    match array(parameters) {
        [] => String::new(),
        some => format!("for<{}> ", joined(some, ", ", |one| text(&one["name"]).to_owned())),
    }
}

/// Bounds, joined by plus signs.
pub fn bounds(values: &[Value]) -> String {
    joined(values, " + ", |bound| match case(bound) {
        ("trait_bound", own) => {
            let maybe = if own["modifier"] == "maybe" { "?" } else { "" };
            format!("{}{maybe}{}", higher_ranked(&own["generic_params"]), path(&own["trait"]))
        }
        ("use", own) => {
            format!("use<{}>", joined(array(own), ", ", |one| text(case(one).1).into()))
        }
        (_, own) => text(own).to_owned(),
    })
}

/// What stands between the name and the parentheses.
pub fn parameters(generics: &Value) -> String {
    let with = |name: &str, bounds: String| {
        if bounds.is_empty() { name.to_owned() } else { format!("{name}: {bounds}") }
    };
    let written = array(&generics["params"]).iter().filter_map(|parameter| {
        let name = text(&parameter["name"]);
        match case(&parameter["kind"]) {
            ("type", own) if own["is_synthetic"] == true => None,
            ("type", own) => {
                let default = match &own["default"] {
                    Value::Null => String::new(),
                    default => format!(" = {}", type_text(default)),
                };
                Some(with(name, bounds(array(&own["bounds"]))) + &default)
            }
            ("const", own) => Some(format!("const {name}: {}", type_text(&own["type"]))),
            (_, own) => {
                Some(with(name, joined(array(&own["outlives"]), " + ", |one| text(one).into())))
            }
        }
    });
    let written: Vec<String> = written.collect();
    if written.is_empty() { String::new() } else { format!("<{}>", written.join(", ")) }
}

/// The clauses behind a signature, with a space before them.
pub fn clauses(generics: &Value) -> String {
    let one = |predicate: &Value| match case(predicate) {
        ("bound_predicate", own) => {
            let of = higher_ranked(&own["generic_params"]) + &type_text(&own["type"]);
            format!("{of}: {}", bounds(array(&own["bounds"])))
        }
        ("lifetime_predicate", own) => {
            let outlives = joined(array(&own["outlives"]), " + ", |one| text(one).to_owned());
            format!("{}: {outlives}", text(&own["lifetime"]))
        }
        (_, own) => format!("{} == {}", type_text(&own["lhs"]), type_text(case(&own["rhs"]).1)),
    };
    match array(&generics["where_predicates"]) {
        [] => String::new(),
        some => format!(" where {}", joined(some, ", ", one)),
    }
}

fn header(value: &Value) -> String {
    let words = [("is_const", "const "), ("is_async", "async "), ("is_unsafe", "unsafe ")];
    words.iter().filter(|(key, _)| value[key] == true).map(|(_, word)| *word).collect()
}

/// A function, called so.
pub fn function(value: &Value, name: &str) -> String {
    let (signature, generics) = (&value["sig"], &value["generics"]);
    let input = |input: &Value| {
        let (name, own) = (text(&input[0]), type_text(&input[1]));
        match own.strip_suffix("Self") {
            Some(before) if name == "self" && (before.is_empty() || before.starts_with('&')) => {
                format!("{before}self")
            }
            _ => format!("{name}: {own}"),
        }
    };
    format!(
        "{}fn {name}{}({}){}{}",
        header(&value["header"]),
        parameters(generics),
        joined(array(&signature["inputs"]), ", ", input),
        output(&signature["output"]),
        clauses(generics)
    )
}
