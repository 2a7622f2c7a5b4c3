"""Holds decoder.py to the golden archives: `python3 -m unittest` in this folder."""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import decoder

HERE = Path(__file__).resolve().parent
VERSIONS = [HERE.parent / "testdata" / "golden" / version for version in ("v1", "v2")]
GOLDEN = VERSIONS[-1]


def manifest(path):
    """The rows of a manifest, by archive."""
    rows = {}
    for line in path.read_text("utf-8").split("\n")[1:-1]:
        archive, *row = line.split("\t")
        rows.setdefault(archive, []).append(row)
    return rows


def row(document, text):
    """A document as good.tsv has it."""
    shown = ["-" if value is None else str(value) for value in (document.seconds, document.nanoseconds)]
    mode = "-" if document.mode is None else f"{document.mode:04o}"
    return [decoder.escape(document.name), str(len(text)), f"{decoder.xxh64(text):016x}", *shown, mode]


class Golden(unittest.TestCase):
    def test_good_archives_are_restored(self):
        for version in VERSIONS:
            expected = manifest(version / "good.tsv")
            for path in sorted((version / "good").iterdir()):
                with self.subTest(version=version.name, archive=path.stem):
                    archive = decoder.open_archive(path.read_bytes())
                    found = [row(document, text) for document, text in decoder.restore(archive)]
                    self.assertEqual(found, expected.get(path.stem, []))

    def test_bad_archives_are_refused_for_the_reason_given(self):
        for version in VERSIONS:
            expected = manifest(version / "bad.tsv")
            self.assertEqual({path.stem for path in (version / "bad").iterdir()}, set(expected))
            for name, [[error]] in expected.items():
                with self.subTest(version=version.name, archive=name):
                    with self.assertRaises(decoder.Rejected) as raised:
                        archive = decoder.open_archive((version / "bad" / f"{name}.tdc").read_bytes())
                        for _ in decoder.restore(archive):
                            pass
                        for document in decoder.current_documents(archive):
                            decoder.check_name(document.name)
                    self.assertIn(error, str(raised.exception))

    def test_lines_are_joined_to_files(self):
        archive = decoder.open_archive((GOLDEN / "good" / "split-lines.tdc").read_bytes())
        files = [(file.name, text, file.mode) for file, text in decoder.restore_files(archive)]
        expected = [(b"a", b"one\ntwo\n\nno line feed at the end", None), (b"a.txt", b"only\r\n", 0o640)]
        self.assertEqual(files, [*expected, (b"empty", b"", 0o600)])

    def test_every_truncation_is_refused(self):
        whole = (GOLDEN / "good" / "one-line.tdc").read_bytes()
        for length in range(len(whole)):
            with self.assertRaises(decoder.Rejected):
                decoder.open_archive(whole[:length])


class Command(unittest.TestCase):
    def run_decoder(self, *arguments):
        command = [sys.executable, str(HERE / "decoder.py"), *map(str, arguments)]
        return subprocess.run(command, capture_output=True, check=False)

    def test_files_are_written_with_their_attributes(self):
        with tempfile.TemporaryDirectory() as folder:
            result = self.run_decoder(GOLDEN / "good" / "attributes.tdc", "-C", folder)
            self.assertEqual((result.returncode, result.stderr), (0, b""))
            path = os.path.join(os.fsencode(folder), b"not utf-8: \xff\xfe")
            status = os.stat(path)
            self.assertEqual(status.st_mode & 0o7777, 0o600)
            self.assertEqual(status.st_mtime_ns, 1_700_000_000_123_456_789)
            self.assertEqual(os.stat(os.path.join(folder, "1969")).st_mtime_ns, -1)
            self.assertEqual(os.stat(os.path.join(folder, "far", "future")).st_mode & 0o7777, 0o777)
            again = self.run_decoder(GOLDEN / "good" / "attributes.tdc", "-C", folder)
            self.assertEqual(again.returncode, 2)

    def test_unsafe_names_are_not_written(self):
        with tempfile.TemporaryDirectory() as folder:
            inner = os.path.join(folder, "inner")
            result = self.run_decoder(GOLDEN / "bad" / "name-parent.tdc", "-C", inner)
            self.assertEqual(result.returncode, 2)
            self.assertIn("its name leads out of the folder", result.stderr.decode())
            self.assertEqual(os.listdir(folder), [])

    def test_list(self):
        result = self.run_decoder(GOLDEN / "good" / "one-line.tdc", "--list")
        self.assertEqual((result.returncode, result.stdout), (0, b"hamlet.txt\t18\n"))

    def test_no_archive(self):
        self.assertEqual(self.run_decoder("no/such/file").returncode, 2)


if __name__ == "__main__":
    unittest.main()
