//! Cases that look like what people keep: a log, pages, code and records, in miniature.

use super::Case;
use crate::Random;

pub(super) fn cases() -> Vec<Case> {
    vec![log(), pages(), code(), json_lines(), prose()]
}

/// Lines of a few templates with numbers, names and times in them.
fn log() -> Case {
    let mut random = Random::new(6);
    let levels = ["INFO", "INFO", "INFO", "DEBUG", "WARN", "ERROR"];
    let paths = ["/", "/login", "/api/v1/items", "/api/v1/items/42", "/static/app.js"];
    let documents = (1..=4).map(|day| {
        let lines = (0..250).map(|index| {
            let (hour, minute, second) = (index / 11, index * 7 % 60, random.below(60));
            let event = match random.below(4) {
                0 => format!("GET {} 200 in {} ms", random.choose(&paths), random.below(90)),
                1 => format!(
                    "user u{:04} signed in from 10.0.{}.{}",
                    random.rank() % 10_000,
                    day,
                    random.below(256)
                ),
                2 => "connection to database lost, retrying in 5 s".to_string(),
                _ => format!("job {:08x} finished with status ok", random.next_u64() as u32),
            };
            let level = random.choose(&levels);
            format!(
                "2024-03-{day:02}T{hour:02}:{minute:02}:{second:02}Z {level} worker-{} {event}\n",
                index % 3
            )
        });
        (format!("server-2024-03-{day:02}.log"), lines.collect::<String>().into_bytes())
    });
    Case::new("log", documents.collect())
}

/// Pages of one template: most of each page is the same.
fn pages() -> Case {
    let documents = (0..20).map(|page| {
        let links: String = (0..10)
            .map(|to| format!("    <li><a href=\"page-{to:02}.html\">Page {to}</a></li>\n"))
            .collect();
        let page = format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n  <meta charset=\"utf-8\">\n  \
             <title>Page {page} &mdash; The Little Site</title>\n  \
             <link rel=\"stylesheet\" href=\"style.css\">\n</head>\n<body>\n  <nav><ul>\n{links}  \
             </ul></nav>\n  <main>\n    <h1>Page {page}</h1>\n    <p>This page tells of item \
             {item} &amp; its neighbours.</p>\n  </main>\n  <footer>&copy; The Little Site. All \
             rights reserved.</footer>\n</body>\n</html>\n",
            item = page * 17 % 23
        );
        page.into_bytes()
    });
    Case::new(
        "pages",
        documents
            .enumerate()
            .map(|(page, bytes)| (format!("page-{page:02}.html"), bytes))
            .collect(),
    )
}

/// Code, where punctuation is half of the text and lines repeat with other names.
fn code() -> Case {
    let fields = ["width", "height", "depth", "weight", "colour", "price", "name", "owner"];
    let header = "/* Accessors of struct item. */\n#include <stddef.h>\n#include \"item.h\"\n\n";
    let functions = fields.iter().map(|field| {
        format!(
            "int item_get_{field}(const struct item *item, int *out)\n{{\n\tif (item == NULL || out \
             == NULL)\n\t\treturn -1;\n\t*out = item->{field};\n\treturn 0;\n}}\n\nint \
             item_set_{field}(struct item *item, int value)\n{{\n\tif (item == NULL)\n\t\treturn \
             -1;\n\titem->{field} = value;\n\treturn 0;\n}}\n\n"
        )
    });
    let source = header.to_string() + &functions.collect::<String>();
    let members: String = fields.iter().map(|field| format!("\tint {field};\n")).collect();
    let declarations = format!("struct item {{\n{members}}};\n");
    Case::new(
        "code",
        vec![
            ("item.c".to_string(), source.into_bytes()),
            ("item.h".to_string(), declarations.into_bytes()),
        ],
    )
}

/// Records of the same keys, one a line.
fn json_lines() -> Case {
    let mut random = Random::new(7);
    let cities = ["Basel", "Göteborg", "Łódź", "Kyōto", "São Paulo"];
    let lines: String = (0..400)
        .map(|index| {
            format!(
                "{{\"id\":{index},\"city\":\"{}\",\"amount\":{}.{:02},\"tags\":[\"new\",\"t{}\"],\"note\":\"line\\nbreak \\u00e9\",\"paid\":{}}}\n",
                random.choose(&cities),
                random.below(500),
                random.below(100),
                random.rank() % 30,
                random.below(2) == 0
            )
        })
        .collect();
    Case::single("json-lines", lines)
}

/// Sentences put together from parts: words repeat, sentences now and then.
fn prose() -> Case {
    let subjects = ["The keeper", "An old sailor", "Nobody", "My sister", "The whole village"];
    let verbs = ["remembers", "has forgotten", "talks about", "never saw", "still waits for"];
    let objects = ["the storm", "the harbour light", "that winter", "the last ship", "the sea"];
    let endings = [".", ", they say.", "; who would not?", ", and it snows.", "!"];
    let mut random = Random::new(8);
    let documents = (0..6).map(|_| {
        let sentences = (0..120).map(|index| {
            let [subject, verb] = [random.choose(&subjects), random.choose(&verbs)];
            let [object, ending] = [random.choose(&objects), random.choose(&endings)];
            let space = if index % 8 == 7 { "\n\n" } else { " " };
            format!("{subject} {verb} {object}{ending}{space}")
        });
        sentences.collect::<String>().into_bytes()
    });
    Case::numbered("prose", documents)
}
