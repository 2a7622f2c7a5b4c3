"""The tasks in SQL: what a column store makes of them, beside `tadoc-bench rival`.

    python duckdb.py TASK PATH [--n N] [--lexer words|whitespace] [--threads T] [--output tsv|none]

Needs the `duckdb` package. Prints its seconds as JSON to standard error. Words of the `words` lexer are those of
RE2's ASCII classes only, so rows equal the rival's on ASCII text; documents must be UTF-8. Sequences are built
with window functions over numbered words, the way a person would write them; n is 2 to 5.
"""

import argparse
import json
import os
import sys
import time

# This file's own folder comes first among modules, and this file has the package's name.
sys.path.pop(0)
import duckdb  # noqa: E402

CUT = {
    "words": "regexp_extract_all(content, '[0-9A-Za-z_]+')",
    "whitespace": r"regexp_extract_all(content, '[^ \t\n\v\f\r]+')",
}


def load(connection, path):
    """One row a document, in the order of names: number, name, content."""
    if os.path.isdir(path):
        names = [
            os.path.relpath(os.path.join(folder, file), path)
            for folder, _, files in os.walk(path)
            for file in files
        ]
    else:
        names = [path]
    names.sort(key=os.fsencode)
    files = [os.path.join(path, name) if os.path.isdir(path) else name for name in names]
    connection.execute("CREATE TABLE files AS SELECT unnest(?) AS file, unnest(?) AS name", [files, names])
    # Long lists of names are cut, as a query is planned for each file of one.
    connection.execute("CREATE TABLE documents (document INTEGER, name VARCHAR, content VARCHAR)")
    for start in range(0, len(files), 2000):
        connection.execute(
            "INSERT INTO documents SELECT ? + list_position(?, filename) - 1, "
            "list_extract(?, list_position(?, filename)), content FROM read_text(?)",
            [start] + [files[start : start + 2000], names[start : start + 2000]]
            + [files[start : start + 2000]] * 2,
        )


def query(task, lexer, n):
    words = f"SELECT document, name, unnest({CUT[lexer]}) AS term FROM documents"
    sequences = (
        "SELECT document, name, concat_ws(' ', term, "
        + ", ".join(f"lead(term, {k}) OVER w" for k in range(1, n))
        + f") AS sequence, lead(term, {n - 1}) OVER w AS last FROM (SELECT document, name, "
        f"unnest(words) AS term, generate_subscripts(words, 1) AS place FROM "
        f"(SELECT document, name, {CUT[lexer]} AS words FROM documents)) "
        "WINDOW w AS (PARTITION BY document ORDER BY place)"
    )
    return {
        "word-count": f"SELECT term, count(*) AS c FROM ({words}) GROUP BY term ORDER BY c DESC, term",
        "sort": f"SELECT term, count(*) FROM ({words}) GROUP BY term ORDER BY term",
        "inverted-index": f"SELECT term, any_value(name) FROM ({words}) GROUP BY term, document "
        "ORDER BY term, document",
        "term-vector": f"SELECT any_value(name), term, count(*) AS c FROM ({words}) "
        "GROUP BY document, term ORDER BY document, c DESC, term",
        "sequence-count": f"SELECT sequence, count(*) AS c FROM ({sequences}) WHERE last IS NOT NULL "
        "GROUP BY sequence ORDER BY c DESC, sequence",
    }[task]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("task")
    parser.add_argument("path")
    parser.add_argument("--n", type=int, default=3)
    parser.add_argument("--lexer", choices=CUT, default="words")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--output", choices=["tsv", "none"], default="tsv")
    given = parser.parse_args()
    connection = duckdb.connect(config={"threads": given.threads})
    begin = time.perf_counter()
    load(connection, given.path)
    read = time.perf_counter()
    connection.execute(f"CREATE TABLE answer AS {query(given.task, given.lexer, given.n)}")
    answered = time.perf_counter()
    rows = connection.execute("SELECT count(*) FROM answer").fetchone()[0]
    if given.output == "tsv":
        connection.execute("COPY answer TO '/dev/stdout' (DELIMITER '\t', HEADER false, QUOTE '')")
    times = {"read": read - begin, "count": answered - read, "rows": rows, "user": os.times().user}
    print(json.dumps(times), file=sys.stderr)


if __name__ == "__main__":
    main()
