//! What can be reached in a crate by public paths, from rustdoc's JSON. Crates of the workspace
//! whose items are exported again are documented too, when the first of these is met.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::rc::Rc;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::examples;
use super::signature::{
    array, bounds, case, clauses, function, parameters, text, trait_name, type_text,
};
use crate::project::Project;

/// The version of rustdoc's JSON that this is written for, Rust 1.95's.
const FORMAT: u64 = 57;

/// The public items of a crate.
#[derive(Default)]
pub struct Items {
    /// Lines by the names of their paths, so that what is in an item follows it; implementations
    /// after the item itself.
    lines: BTreeSet<(Vec<String>, bool, String)>,
    /// How many items of a kind there are; fields, variants, methods and implementations are not
    /// counted.
    counts: BTreeMap<&'static str, usize>,
    /// Paths of types, traits and functions.
    shown: Vec<String>,
    /// Paths that examples of the crate use.
    used: BTreeSet<String>,
}

impl Items {
    /// The file that is committed.
    pub fn text(&self) -> String {
        let mut text = format!("# {}\n", self.summary());
        self.lines.iter().for_each(|(_, _, line)| text.extend([line, "\n"]));
        text
    }

    /// How many items there are.
    pub fn count(&self) -> usize {
        self.counts.values().sum()
    }

    /// The paths of types, traits and functions that no example uses.
    pub fn without_example(&self) -> Vec<&str> {
        let mut paths: Vec<&str> = self.shown.iter().map(String::as_str).collect();
        paths.retain(|path| !self.used.contains(*path));
        paths.sort_unstable();
        paths
    }

    /// How many items there are, and of which kinds.
    pub fn summary(&self) -> String {
        let total = self.count();
        let kinds: Vec<String> =
            self.counts.iter().map(|(kind, count)| format!("{kind} {count}")).collect();
        format!("{total} public items: {}", kinds.join(", "))
    }
}

/// What rustdoc says of a crate.
struct Documented {
    name: String,
    json: Value,
}

impl Documented {
    fn item(&self, id: &Value) -> &Value {
        &self.json["index"][id.to_string()]
    }

    /// The documentation of all items, and of what is exported again.
    fn docs(&self) -> impl Iterator<Item = &str> {
        let items = self.json["index"].as_object().into_iter().flat_map(|index| index.values());
        items.filter(|item| item["crate_id"] == 0).filter_map(|item| item["docs"].as_str())
    }

    /// Whether an item is of another crate.
    fn is_foreign(&self, id: &Value) -> bool {
        self.json["paths"][id.to_string()]["crate_id"].as_u64().is_some_and(|number| number != 0)
    }

    /// The item that is defined at a path, which begins with the crate's name.
    fn find(&self, path: &[Value]) -> Option<Value> {
        if path.len() == 1 {
            return Some(self.json["root"].clone());
        }
        let paths = self.json["paths"].as_object()?;
        let (id, _) = paths.iter().find(|(_, own)| array(&own["path"]) == path)?;
        id.parse::<u64>().ok().map(Value::from)
    }
}

/// Goes from the root of a crate to all that can be reached.
pub struct Walk<'p> {
    project: &'p Project,
    crates: HashMap<String, Rc<Documented>>,
    /// What was met, by crate and number, with the path under which it was met first.
    met: HashMap<(String, String), String>,
    items: Items,
}

impl<'p> Walk<'p> {
    /// Lists a package; costs a run of rustdoc for each package of the workspace that it exports
    /// items of.
    pub fn of_package(project: &'p Project, package: &str) -> Result<Items> {
        let (crates, met) = (HashMap::new(), HashMap::new());
        let mut walk = Self { project, crates, met, items: Items::default() };
        let root = walk.documented(&package.replace('-', "_"))?.context("no such package")?;
        walk.of_crate(&root)
    }

    fn of_crate(mut self, root: &Rc<Documented>) -> Result<Items> {
        self.module(root, &root.json["root"], &root.name)?;
        for block in root.docs().flat_map(examples::blocks) {
            examples::add_used(&block, &root.name, &mut self.items.used);
        }
        Ok(self.items)
    }

    /// A crate of the workspace; `None` for another.
    fn documented(&mut self, name: &str) -> Result<Option<Rc<Documented>>> {
        if let Some(documented) = self.crates.get(name) {
            return Ok(Some(documented.clone()));
        }
        let package = name.replace('_', "-");
        if !self.project.folder_of(&package).is_dir() {
            return Ok(None);
        }
        super::document(self.project, &package)?;
        let path = self.project.target.join("doc").join(format!("{name}.json"));
        let json = fs::read(&path).with_context(|| format!("reading {}", path.display()))?;
        let json: Value = serde_json::from_slice(&json)?;
        let found = json["format_version"].as_u64();
        ensure!(
            found == Some(FORMAT),
            "rustdoc's JSON has version {found:?}, and {FORMAT} is known; \
             adapt crates/xtask/src/api to this Rust"
        );
        let documented = Rc::new(Documented { name: name.to_owned(), json });
        self.crates.insert(name.to_owned(), documented.clone());
        Ok(Some(documented))
    }

    fn line(&mut self, path: &str, line: String) {
        let names = path.split("::").map(str::to_owned).collect();
        let is_implementation = line.starts_with("impl");
        self.items.lines.insert((names, is_implementation, line));
    }

    fn module(&mut self, of: &Rc<Documented>, id: &Value, path: &str) -> Result<()> {
        for id in array(&of.item(id)["inner"]["module"]["items"]) {
            let item = of.item(id);
            match case(&item["inner"]) {
                ("use", used) => self.used(of, used, path)?,
                _ if item["visibility"] == "public" => {
                    self.item(of, id, &format!("{path}::{}", text(&item["name"])))?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// An item that is exported again, or all of a module.
    fn used(&mut self, of: &Rc<Documented>, used: &Value, path: &str) -> Result<()> {
        let (id, name) = (&used["id"], text(&used["name"]));
        let here = format!("{path}::{name}");
        let (owner, id) = if of.item(id).is_null() {
            let defined = &of.json["paths"][id.to_string()];
            let owner = &of.json["external_crates"][defined["crate_id"].to_string()]["name"];
            match self.documented(text(owner))? {
                Some(owner) => {
                    let found = owner.find(array(&defined["path"]));
                    let id = found.with_context(|| format!("{here} is not in {}", owner.name))?;
                    (owner, id)
                }
                None => {
                    let names: Vec<&str> = array(&defined["path"]).iter().map(text).collect();
                    if let Some(kind) = kind_of(text(&defined["kind"])) {
                        *self.items.counts.entry(kind).or_default() += 1;
                    }
                    self.line(&here, format!("use {here} = {}", names.join("::")));
                    return Ok(());
                }
            }
        } else {
            (of.clone(), id.clone())
        };
        match (used["is_glob"] == true, case(&owner.item(&id)["inner"])) {
            (true, ("enum", inner)) => {
                for id in array(&inner["variants"]) {
                    self.member(&owner, id, path);
                }
                Ok(())
            }
            (true, _) => self.module(&owner, &id, path),
            // Of what is exported again and again, the last step is the item.
            (false, ("use", further)) => self.used(&owner, further, path),
            (false, _) => self.item(&owner, &id, &here),
        }
    }

    fn item(&mut self, of: &Rc<Documented>, id: &Value, path: &str) -> Result<()> {
        let item = of.item(id);
        let (kind, inner) = case(&item["inner"]);
        let key = (of.name.clone(), id.to_string());
        if let Some(first) = self.met.get(&key) {
            if first != path {
                let line = format!("use {path} = {first}");
                self.line(path, line);
            }
            return Ok(());
        }
        self.met.insert(key, path.to_owned());
        if let Some(kind) = kind_of(kind) {
            *self.items.counts.entry(kind).or_default() += 1;
            if ["structs", "enums", "traits", "functions"].contains(&kind) {
                self.items.shown.push(path.to_owned());
                // Of this crate, an example of its own may have it from a method, without a name.
                let docs = item["docs"].as_str().unwrap_or_default();
                if path.starts_with(&format!("{}::", of.name)) && examples::is_shown(docs) {
                    self.items.used.insert(path.to_owned());
                }
            }
        }
        let generics = &inner["generics"];
        let named = |kind: &str| format!("{kind} {path}{}", parameters(generics));
        let line = match kind {
            "module" => {
                self.line(path, format!("mod {path}"));
                return self.module(of, id, path);
            }
            "struct" | "union" => {
                let fields = fields(of, &inner["kind"]);
                named(kind) + &fields + &clauses(generics)
            }
            "enum" => named(kind) + &clauses(generics),
            "trait" => {
                let above = bounds(array(&inner["bounds"]));
                let above = if above.is_empty() { above } else { format!(": {above}") };
                let unsafety = if inner["is_unsafe"] == true { "unsafe " } else { "" };
                format!("{unsafety}{}{above}{}", named(kind), clauses(generics))
            }
            "function" => function(inner, path),
            "constant" => format!("const {path}: {}", type_text(&inner["type"])),
            "static" => format!("static {path}: {}", type_text(&inner["type"])),
            "type_alias" => format!("{} = {}", named("type"), type_text(&inner["type"])),
            "macro" | "proc_macro" => format!("macro {path}!"),
            _ => return Ok(()),
        };
        self.line(path, attributed(item, line));
        let (_, shape) = case(&inner["kind"]);
        for list in [&inner["variants"], &inner["fields"], &inner["items"], &shape["fields"]] {
            array(list).iter().for_each(|id| self.member(of, id, path));
        }
        array(&inner["impls"]).iter().for_each(|id| self.implementation(of, id, path));
        // Types of this crate have a line of their own for it.
        let others = array(&inner["implementations"]).iter().filter(|id| {
            let id = &of.item(id)["inner"]["impl"]["for"]["resolved_path"]["id"];
            id.is_null() || of.is_foreign(id)
        });
        others.for_each(|id| self.implementation(of, id, path));
        Ok(())
    }

    /// What stands in a type, a trait or an implementation.
    fn member(&mut self, of: &Rc<Documented>, id: &Value, above: &str) {
        let item = of.item(id);
        let path = format!("{above}::{}", text(&item["name"]));
        let (kind, inner) = case(&item["inner"]);
        let line = match kind {
            "struct_field" => format!("field {path}: {}", type_text(inner)),
            "variant" => {
                let (_, shape) = case(&inner["kind"]);
                array(&shape["fields"]).iter().for_each(|id| self.member(of, id, &path));
                let discriminant = text(&inner["discriminant"]["value"]);
                let fields = fields(of, &inner["kind"]);
                let value = [" = ", discriminant].concat();
                let value = if discriminant.is_empty() { "" } else { &value };
                format!("variant {path}{fields}{value}")
            }
            "function" => {
                let is_provided = of.is_in_trait(item) && inner["has_body"] == true;
                function(inner, &path) + if is_provided { " { .. }" } else { "" }
            }
            "assoc_const" => format!("const {path}: {}", type_text(&inner["type"])),
            "assoc_type" => match bounds(array(&inner["bounds"])) {
                bounds if bounds.is_empty() => format!("type {path}"),
                bounds => format!("type {path}: {bounds}"),
            },
            _ => return,
        };
        self.line(&path, attributed(item, line));
    }

    /// The methods of an inherent implementation, or one line for that of a trait. Of what the
    /// compiler implements by itself, only that a type cannot be sent or shared is told.
    fn implementation(&mut self, of: &Rc<Documented>, id: &Value, path: &str) {
        let inner = &of.item(id)["inner"]["impl"];
        let generics = &inner["generics"];
        if inner["trait"].is_null() {
            let parameters = parameters(generics);
            if parameters.contains(':') || !array(&generics["where_predicates"]).is_empty() {
                let own = type_text(&inner["for"]);
                self.line(path, format!("impl{parameters} {own}{}", clauses(generics)));
            }
            for id in array(&inner["items"]) {
                if of.item(id)["visibility"] == "public" {
                    self.member(of, id, path);
                }
            }
            return;
        }
        let name = trait_name(&inner["trait"]);
        let is_negative = inner["is_negative"] == true;
        let is_told = is_negative && ["Send", "Sync"].contains(&&name[..]);
        if !inner["blanket_impl"].is_null() || inner["is_synthetic"] == true && !is_told {
            return;
        }
        if inner["trait"]["path"].as_str().is_some_and(|path| path.contains("StructuralPartialEq"))
        {
            return;
        }
        let types = array(&inner["items"]).iter().filter_map(|id| {
            let item = of.item(id);
            let (kind, own) = case(&item["inner"]);
            let is_type = kind == "assoc_type";
            is_type.then(|| format!("{} = {}", text(&item["name"]), type_text(&own["type"])))
        });
        let types: Vec<String> = types.collect();
        let types =
            if types.is_empty() { String::new() } else { format!(" {{ {} }}", types.join(", ")) };
        let line = format!(
            "impl{} {}{name} for {}{}{types}",
            parameters(generics),
            if is_negative { "!" } else { "" },
            type_text(&inner["for"]),
            clauses(generics)
        );
        self.line(path, line);
    }
}

impl Documented {
    /// Whether a function is of a trait: what is in one has no visibility of its own.
    fn is_in_trait(&self, item: &Value) -> bool {
        item["visibility"] == "default"
    }
}

/// What stands behind the name of a struct or variant. Fields with names have lines of their own;
/// braces say that all of them are public.
fn fields(of: &Documented, kind: &Value) -> String {
    match case(kind) {
        ("tuple", ids) => {
            let one = |id: &Value| match case(&of.item(id)["inner"]) {
                ("struct_field", own) => type_text(own),
                _ => "_".to_owned(),
            };
            format!("({})", array(ids).iter().map(one).collect::<Vec<_>>().join(", "))
        }
        ("plain" | "struct", own) => {
            let is_whole = own["has_stripped_fields"] == false && !array(&own["fields"]).is_empty();
            if is_whole { " {}".to_owned() } else { String::new() }
        }
        _ => String::new(),
    }
}

/// The line with the attribute that binds users.
fn attributed(item: &Value, line: String) -> String {
    let is_open = array(&item["attrs"]).iter().any(|attribute| attribute == "non_exhaustive");
    if is_open { format!("#[non_exhaustive] {line}") } else { line }
}

/// The name of a kind that is counted.
fn kind_of(kind: &str) -> Option<&'static str> {
    Some(match kind {
        "module" => "modules",
        "struct" | "union" => "structs",
        "enum" => "enums",
        "trait" => "traits",
        "function" => "functions",
        "constant" | "static" => "constants",
        "type_alias" => "type aliases",
        "macro" | "proc_macro" | "proc_attribute" | "proc_derive" => "macros",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// A crate with a module, types of its own and of another crate, and what their documentation
    /// says.
    fn documented(docs: [&str; 3]) -> Rc<Documented> {
        let module = |items: &[u32]| json!({ "module": { "items": items } });
        let structure = json!({ "struct": { "kind": "unit", "generics": {}, "impls": [] } });
        let function = json!({ "function": { "sig": { "inputs": [] }, "generics": {} } });
        let item = |name: &str, docs: &str, inner: Value| {
            json!({
                "crate_id": 0, "name": name, "docs": docs, "visibility": "public", "inner": inner,
            })
        };
        let [root, first, second] = docs;
        let index = json!({
            "0": item("lib", root, module(&[1, 2, 3])),
            "1": item("First", first, structure.clone()),
            "2": item("inner", "", module(&[4])),
            "3": item("run", "", function),
            "4": item("Second", second, structure),
        });
        let json = json!({ "root": 0, "index": index, "paths": {} });
        Rc::new(Documented { name: "lib".into(), json })
    }

    fn items(docs: [&str; 3]) -> Items {
        let project = Project::find().unwrap();
        let (crates, met) = (HashMap::new(), HashMap::new());
        let walk = Walk { project: &project, crates, met, items: Items::default() };
        walk.of_crate(&documented(docs)).unwrap()
    }

    #[test]
    fn items_are_counted_and_those_without_example_named() {
        let none = items(["", "", ""]);
        assert_eq!(none.summary(), "4 public items: functions 1, modules 1, structs 2");
        assert_eq!(none.without_example(), ["lib::First", "lib::inner::Second", "lib::run"]);
        // Each in its own documentation, in that of another, or of the crate.
        let own = "```\nassert_eq!(lib::First, lib::First);\n```";
        let others = "```\nuse lib::{inner::Second, run};\nassert_eq!(run(), Second);\n```";
        assert_eq!(items(["", own, ""]).without_example(), ["lib::inner::Second", "lib::run"]);
        assert_eq!(items(["", own, others]).without_example(), [""; 0]);
        assert_eq!(items([others, own, ""]).without_example(), [""; 0]);
        let unnamed = "```\nassert_eq!(lib::run(), 1);\n```";
        assert_eq!(items(["", unnamed, unnamed]).without_example(), [""; 0]);
        // A link is no example, nor is code that does not run.
        let link = "See [`lib::First`].\n```ignore\nassert_eq!(lib::First, 1);\n```";
        assert_eq!(items([link, "", others]).without_example(), ["lib::First"]);
    }
}
