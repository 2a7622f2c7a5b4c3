"""Makes the fixtures beside it: what Python and Snowball say that terms are.

    python3 -m venv venv && venv/bin/pip install snowballstemmer==3.1.1
    venv/bin/python crates/engine/tests/analyzer/fixtures.py

`case_folding.tsv`: every scalar that `str.casefold` changes, as runs of code points that go up in step:
first, last, step, and the folded code points of the first (the others follow by adding). Its first line
is Python's version of Unicode, its second the runs of scalars assigned in that version: what came later
is not compared.

`stems.tsv`: for each language made-up words and their stems. Words are put together from letters and
the endings in the tables of the stemmer itself, so that they reach its branches, and no dictionary and
its licence are needed. A line is a word, how many characters of it the stem keeps, and what is
put behind them.
"""

import importlib
import pathlib
import random
import sys
import unicodedata

import snowballstemmer

HERE = pathlib.Path(__file__).parent
WORDS = 1000

# Second stemmers for languages that have one.
OTHER_ALGORITHMS = {"dutch_porter", "porter"}


def scalars():
    return (c for c in range(sys.maxunicode + 1) if not 0xD800 <= c <= 0xDFFF)


def runs(numbers):
    """Ascending numbers as [first, last] runs of neighbours."""
    found = []
    for number in numbers:
        if found and found[-1][1] == number - 1:
            found[-1][1] = number
        else:
            found.append([number, number])
    return found


def case_folding():
    assigned = runs(c for c in scalars() if unicodedata.category(chr(c)) != "Cn")
    lines = [unicodedata.unidata_version]
    lines.append(" ".join(f"{first:X}-{last:X}" for first, last in assigned))
    found = []
    for scalar in scalars():
        folded = [ord(c) for c in chr(scalar).casefold()]
        if folded == [scalar]:
            continue
        if found and len(folded) == 1 and len(found[-1][3]) == 1:
            first, last, step, start = found[-1]
            stride = scalar - last
            in_step = stride == step or (step == 0 and stride in (1, 2))
            if in_step and folded[0] - start[0] == scalar - first:
                found[-1] = [first, scalar, stride, start]
                continue
        found.append([scalar, scalar, 0, folded])
    for first, last, step, folded in found:
        lines.append(f"{first:X}\t{last:X}\t{step}\t{' '.join(f'{c:X}' for c in folded)}")
    (HERE / "case_folding.tsv").write_text("\n".join(lines) + "\n", "utf-8")


def tables(language):
    """The strings in the tables of a stemmer, and the letters of its alphabet."""
    module = importlib.import_module(f"snowballstemmer.{language}_stemmer")
    stemmer = next(v for k, v in vars(module).items() if k.endswith("Stemmer") and k != "BaseStemmer")
    endings = sorted({a.s for table in vars(stemmer).values() if isinstance(table, (list, tuple))
                      for a in table if hasattr(a, "s") and a.s})
    letters = {c for ending in endings for c in ending}
    if max(letters) < "\u0250":
        letters |= set("abcdefghijklmnopqrstuvwxyz")
    return endings, sorted(c for c in letters if c == c.casefold())


def words(language):
    generator = random.Random(f"tadoc {language}")
    endings, letters = tables(language)
    endings = [e for e in endings if e == e.casefold()]
    made = set()
    while len(made) < WORDS:
        word = "".join(generator.choices(letters, k=generator.randrange(0, 8)))
        for _ in range(generator.choice((0, 1, 1, 1, 2, 2, 3))):
            word += generator.choice(endings)
        if generator.random() < 0.1:
            word = generator.choice(endings) + word
        if word and not any(c.isspace() for c in word) and word == word.casefold():
            made.add(word)
    return sorted(made)


def stems():
    lines = []
    for language in sorted(set(snowballstemmer.algorithms()) - OTHER_ALGORITHMS):
        stemmer = snowballstemmer.stemmer(language)
        lines.append(f"# {language}")
        for word in words(language):
            stem = stemmer.stemWord(word)
            kept = 0
            while kept < min(len(word), len(stem)) and word[kept] == stem[kept]:
                kept += 1
            lines.append(f"{word}\t{kept}\t{stem[kept:]}")
    (HERE / "stems.tsv").write_text("\n".join(lines) + "\n", "utf-8")


if __name__ == "__main__":
    case_folding()
    stems()
