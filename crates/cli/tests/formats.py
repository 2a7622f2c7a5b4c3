"""The formats of rows, loaded by pyarrow, polars, pandas and DuckDB: every command, format and value.

    python formats.py PATH/TO/tadoc

`cargo xtask test formats` runs it. The rows of `--format tsv --header` are what all other formats
must say, with these types: text, unsigned integers and floating-point numbers of 64 bits, and
timestamps in nanoseconds (UTC) that may be null. Formats without types of their own (CSV, TSV, JSON)
are read with the columns' types told to the reader, and times as text.
"""

import datetime
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import duckdb
import pandas
import polars
import pyarrow
import pyarrow.csv
import pyarrow.feather
import pyarrow.ipc
import pyarrow.json
import pyarrow.parquet

DOCUMENTS = {
    "plain.txt": "the tide gauge reads a level, the gauge sends it\n" * 3,
    "comma, and \"quotes\".txt": "the tide \"rises\" and falls; 2024 has 0042 and 1e5 of it\n",
    "tab\tand\nline.txt": "naïve 日本語 emoji 🙂 the tide\n",
    "back\\slash\\x41.txt": "C:\\new\\table the gauge null NaN NULL true\n",
    "empty.txt": "",
    "turned\u202e.txt": "the last tide\n",
}
# 2024-05-01T12:24:05.123456789Z
MODIFIED = 1_714_566_245_123_456_789

COMMANDS = [
    ["list"],
    ["list", "--long"],
    ["search", "the"],
    ["count", "the"],
    ["count", "the", "--per-document"],
    ["sample", "-k", "50", "--seed", "1"],
    ["kwic", "tide"],
    ["find", "tide gauge"],
    ["word-count"],
    ["sort"],
    ["inverted-index"],
    ["term-vector"],
    ["sequence-count", "--n", "2"],
    ["ranked-inverted-index", "--n", "2"],
    ["tfidf"],
    ["cooccurrence"],
    ["collocations"],
]

COUNTS = {"bytes", "offset", "count"}
REALS = {"score", "weight", "pmi", "log_likelihood", "t_score", "log_dice"}
TIMES = {"modified"}


def kind(column):
    """What the values of a column are."""
    if column in COUNTS:
        return "count"
    if column in REALS:
        return "real"
    return "time" if column in TIMES else "text"


# The types that readers of CSV, TSV and JSON are told.
ARROW = {"count": pyarrow.uint64(), "real": pyarrow.float64()}
POLARS = {"count": polars.UInt64, "real": polars.Float64}
PANDAS = {"count": "uint64", "real": "float64"}
DUCKDB = {"count": "UBIGINT", "real": "DOUBLE"}


def types(columns, of, otherwise):
    return {column: of.get(kind(column), otherwise) for column in columns}


def unescaped(field):
    """The bytes of a field of TSV."""
    names = {b"\\": b"\\", b"t": b"\t", b"n": b"\n", b"r": b"\r"}

    def byte(found):
        return bytes.fromhex(found[1].decode()) if found[1] else names[found[2]]

    return re.sub(rb"\\(?:x([0-9a-f]{2})|(.))", byte, field.encode())


def as_utf8(raw):
    """Bytes as CSV, Arrow and Parquet have them: those that are not UTF-8 as \\xHH."""
    return re.sub(rb"\\(?=x[0-9a-f]{2})", rb"\\x5c", raw).decode("utf-8", "backslashreplace")


def nanoseconds(moment):
    """Nanoseconds since 1970 of a time as RFC 3339 has it; None for none."""
    if not moment:
        return None
    whole, _, fraction = moment.removesuffix("Z").partition(".")
    seconds = datetime.datetime.fromisoformat(whole + "+00:00").timestamp()
    return int(seconds) * 10**9 + int(fraction.ljust(9, "0") or 0)


class Answer:
    """What a command says, by column, from its TSV."""

    def __init__(self, text):
        header, *rows = text.split("\n")[:-1]
        self.columns = header.split("\t")
        fields = [row.split("\t") for row in rows]
        assert all(len(row) == len(self.columns) for row in fields), text
        self.fields = {
            column: [row[place] for row in fields] for place, column in enumerate(self.columns)
        }

    def values(self, column, text):
        """The values of a column, with `text` to make text of fields."""
        read = {"count": int, "real": float, "time": nanoseconds, "text": text}
        return [read[kind(column)](field) for field in self.fields[column]]


# What a format makes of a field of TSV: TSV itself, JSON, and all others.
TEXT = {
    "tsv": lambda field: field,
    "json": lambda field: unescaped(field).decode(),
    "jsonl": lambda field: unescaped(field).decode(),
    "ndjson": lambda field: unescaped(field).decode(),
}


def check(answer, table, typed, text, microseconds):
    """A table says what the answer does; `typed` formats say its types, too."""
    assert table.column_names == answer.columns, (table.column_names, answer.columns)
    for column in answer.columns:
        found = table.column(column)
        if pyarrow.types.is_dictionary(found.type):
            found = found.cast(found.type.value_type)
        is_of = {
            "count": pyarrow.types.is_uint64 if typed else pyarrow.types.is_integer,
            "real": pyarrow.types.is_float64,
            "time": lambda type: pyarrow.types.is_timestamp(type) and type.tz == "UTC",
            "text": lambda type: pyarrow.types.is_string(type)
            or pyarrow.types.is_large_string(type)
            or pyarrow.types.is_string_view(type),
        }
        expected = answer.values(column, text)
        if kind(column) == "time" and not typed and is_of["text"](found.type):
            found = [nanoseconds(moment) for moment in found.to_pylist()]
        else:
            assert is_of[kind(column)](found.type), (column, found.type)
            if kind(column) == "time":
                found = found.cast(pyarrow.timestamp("ns", "UTC")).cast(pyarrow.int64())
            found = found.to_pylist()
        if kind(column) == "text" and not typed:
            # Some readers of text take what is empty for missing.
            found = [value or "" for value in found]
        if microseconds and kind(column) == "time":
            found, expected = (
                [value and value // 1000 for value in values] for values in (found, expected)
            )
        if kind(column) == "real":
            # Some readers of text are exact to the last place but one.
            near = 0 if typed else 1e-12
            assert len(found) == len(expected)
            for one, other in zip(found, expected):
                assert abs(one - other) <= near * abs(other), (column, one, other)
        else:
            assert found == expected, (column, found, expected)


def from_pandas(frame):
    return pyarrow.Table.from_pandas(frame, preserve_index=False)


def from_duckdb(relation):
    table = relation.to_arrow_table()
    # DuckDB calls the zone by the session's name.
    fields = [
        pyarrow.field(field.name, pyarrow.timestamp(field.type.unit, "UTC"))
        if pyarrow.types.is_timestamp(field.type)
        else field
        for field in table.schema
    ]
    return table.cast(pyarrow.schema(fields))


def tables_of_columns(path, ending):
    """A file of Arrow or Parquet, by each of the readers."""
    if ending == "parquet":
        yield "pyarrow", pyarrow.parquet.read_table(path)
        yield "polars", polars.read_parquet(path).to_arrow()
        yield "pandas", from_pandas(pandas.read_parquet(path))
        yield "duckdb", from_duckdb(duckdb.read_parquet(path))
        return
    if ending in ("arrow", "feather"):
        table = pyarrow.ipc.open_file(path).read_all()
        yield "polars", polars.read_ipc(path).to_arrow()
        yield "pandas", from_pandas(pandas.read_feather(path))
        yield "feather", pyarrow.feather.read_table(path)
    else:
        table = pyarrow.ipc.open_stream(path).read_all()
        yield "polars", polars.read_ipc_stream(path).to_arrow()
        yield "pandas", from_pandas(table.to_pandas())
    yield "pyarrow", table
    yield "duckdb", from_duckdb(duckdb.from_arrow(table))


def tables_of_text(path, ending, columns):
    """A file of CSV, TSV or JSON, by each of the readers."""
    arrow = types(columns, ARROW, pyarrow.string())
    of_polars = types(columns, POLARS, polars.String)
    of_pandas = types(columns, PANDAS, "str")
    of_duckdb = types(columns, DUCKDB, "VARCHAR")
    if ending in ("csv", "tsv"):
        tsv = ending == "tsv"
        yield "pyarrow", pyarrow.csv.read_csv(
            path,
            parse_options=pyarrow.csv.ParseOptions(
                delimiter="\t" if tsv else ",",
                quote_char=False if tsv else '"',
                newlines_in_values=not tsv,
            ),
            convert_options=pyarrow.csv.ConvertOptions(column_types=arrow),
        )
        yield "polars", polars.read_csv(
            path,
            separator="\t" if tsv else ",",
            quote_char=None if tsv else '"',
            schema=of_polars,
        ).to_arrow()
        yield "pandas", from_pandas(
            pandas.read_csv(
                path,
                sep="\t" if tsv else ",",
                quoting=3 if tsv else 0,
                dtype=of_pandas,
                keep_default_na=False,
            )
        )
        yield "duckdb", from_duckdb(
            duckdb.read_csv(
                path,
                header=True,
                delimiter="\t" if tsv else ",",
                quotechar="" if tsv else '"',
                escapechar="" if tsv else '"',
                columns=of_duckdb,
                na_values="no value is missing",
                auto_detect=False,
            )
        )
        return
    schema = pyarrow.schema(list(arrow.items()))
    if ending == "json":
        rows = json.loads(unpacked(path))
        yield "json", pyarrow.Table.from_pylist(rows, schema=schema)
        if path.endswith(".json"):
            yield "polars", polars.read_json(path, schema=of_polars).to_arrow()
    else:
        yield "pyarrow", pyarrow.json.read_json(
            pyarrow.input_stream(path),
            parse_options=pyarrow.json.ParseOptions(explicit_schema=schema),
        )
        yield "polars", polars.read_ndjson(path, schema=of_polars).to_arrow()
    yield "pandas", from_pandas(
        pandas.read_json(
            path, lines=ending != "json", orient="records", dtype=False, precise_float=True
        )
    )
    layout = "array" if ending == "json" else "newline_delimited"
    yield "duckdb", from_duckdb(duckdb.read_json(path, columns=of_duckdb, format=layout))


def unpacked(path):
    with pyarrow.input_stream(path) as stream:
        return stream.read()


class Run:
    def __init__(self, tadoc, folder):
        self.tadoc, self.folder, self.loaded = tadoc, folder, 0

    def tadoc_says(self, *arguments):
        command = [self.tadoc, *arguments]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, check=False)
        assert done.returncode == 0, (arguments, done.stderr.decode())
        return done.stdout

    def compress(self, name, documents):
        for document, text in documents.items():
            path = pathlib.Path(self.folder, name, os.fsdecode(document))
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(text if isinstance(text, bytes) else text.encode())
            os.utime(path, ns=(MODIFIED, MODIFIED))
        self.tadoc_says("compress", name, "-o", f"{name}.tdc")
        return f"{name}.tdc"

    def check(self, archive, command, endings):
        asked = [command[0], archive, *command[1:]]
        answer = Answer(self.tadoc_says(*asked, "--format", "tsv", "--header").decode())
        assert any(answer.fields.values()), command
        for ending in endings:
            path = os.path.join(self.folder, f"rows.{ending}")
            self.tadoc_says(*asked, "--header", "-o", path, "--force")
            inner = ending.split(".")[0]
            is_typed = inner in ("arrow", "feather", "arrows", "parquet")
            tables = (
                tables_of_columns(path, inner)
                if is_typed
                else tables_of_text(path, inner, answer.columns)
            )
            for reader, table in tables:
                try:
                    # DuckDB's times with a zone have microseconds.
                    text = TEXT.get(inner, lambda field: as_utf8(unescaped(field)))
                    check(answer, table, is_typed, text, reader == "duckdb")
                except AssertionError as error:
                    what = f"{' '.join(asked)} -o rows.{ending}, read by {reader}"
                    raise AssertionError(what) from error
                self.loaded += 1


def main():
    duckdb.sql("SET TimeZone = 'UTC'")
    with tempfile.TemporaryDirectory() as folder:
        run = Run(os.path.abspath(sys.argv[1]), folder)
        columns = ["arrow", "feather", "arrows", "parquet"]
        texts = ["csv", "tsv", "json", "jsonl", "ndjson"]
        compressed = [f"{text}.{ending}" for text in texts[:4] for ending in ["gz", "zst"]]
        archive = run.compress("corpus", DOCUMENTS)
        for command in COMMANDS:
            run.check(archive, command, columns + texts)
        run.check(archive, ["list", "--long"], compressed)
        run.check(archive, ["tfidf"], compressed)
        # Bytes that are not UTF-8; JSON has them under other keys.
        broken = {b"bad\xff.txt": b"caf\xe9 \\xe9 the\n", b"good.txt": b"the end\n"}
        archive = run.compress("broken", broken)
        for command in [["list", "--long"], ["word-count"], ["kwic", "the"], ["term-vector"]]:
            run.check(archive, command, columns + ["csv", "tsv"])
        print(f"{run.loaded} files loaded")


if __name__ == "__main__":
    main()
