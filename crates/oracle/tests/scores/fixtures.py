"""Makes the fixtures beside it: what scikit-learn and NLTK say that weights and scores are.

    python3 -m venv venv && venv/bin/pip install nltk==3.10.4 scikit-learn==1.9.1
    venv/bin/python crates/oracle/tests/scores/fixtures.py

`documents.txt`: a made-up corpus, one document a line, words between spaces.
`tfidf.tsv`: norm, use_idf, smooth_idf, sublinear_tf, document, term, weight.
`collocations.tsv`: window, first, second, their counts (pair, first, second, words), PMI, G2, t, logDice.
`large.tsv`: counts of a large text (pair, first, second, words) and the same scores, computed with
fifty digits, for NLTK's own are not exact there.
"""

import decimal
import itertools
import math
import pathlib
import random

from nltk.collocations import BigramCollocationFinder
from nltk.metrics import BigramAssocMeasures as measures
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer

HERE = pathlib.Path(__file__).parent


def documents():
    generator = random.Random("tadoc scores")
    vocabulary = "the of to and in cat dog sat on mat strong tea powerful computer new york".split()
    weights = [1 / rank for rank in range(1, len(vocabulary) + 1)]
    made = []
    for length in (40, 1, 25, 0, 60, 33):
        words = []
        while len(words) < length:
            word = generator.choices(vocabulary, weights)[0]
            words.append(word)
            # Pairs that belong together, so that there is something to find.
            follower = {"new": "york", "strong": "tea", "cat": "sat"}.get(word)
            if follower and generator.random() < 0.7:
                words.append(follower)
        made.append(words[:length])
    return made


def write(name, rows):
    lines = ["\t".join(str(field) for field in row) for row in rows]
    (HERE / name).write_text("\n".join(lines) + "\n", "utf-8")


def tfidf(corpus):
    vectorizer = CountVectorizer(analyzer=lambda document: document)
    counts = vectorizer.fit_transform(corpus)
    terms = vectorizer.get_feature_names_out()
    rows = []
    for norm, use_idf, smooth_idf, sublinear_tf in [
        ("l2", True, True, False),
        ("l1", True, True, False),
        (None, True, True, False),
        ("l2", True, False, False),
        ("l2", True, True, True),
        ("l2", False, True, False),
        (None, True, False, True),
    ]:
        transformer = TfidfTransformer(
            norm=norm, use_idf=use_idf, smooth_idf=smooth_idf, sublinear_tf=sublinear_tf
        )
        weights = transformer.fit_transform(counts).toarray()
        for document, row in enumerate(weights):
            for term, weight in zip(terms, row):
                if weight:
                    options = (norm or "none", int(use_idf), int(smooth_idf), int(sublinear_tf))
                    rows.append((*options, document, term, repr(float(weight))))
    write("tfidf.tsv", rows)


def collocations(corpus):
    rows = []
    for window in (2, 3, 5):
        # A row of None after each document, which the finder skips, keeps documents apart.
        padded = itertools.chain.from_iterable(words + [None] * (window - 1) for words in corpus)
        finder = BigramCollocationFinder.from_words(padded, window_size=window)
        for (first, second), count in sorted(finder.ngram_fd.items()):
            pair = (first, second)
            scores = [
                finder.score_ngram(measures.pmi, *pair),
                finder.score_ngram(measures.likelihood_ratio, *pair),
                finder.score_ngram(measures.student_t, *pair),
                14 + math.log2(finder.score_ngram(measures.dice, *pair)),
            ]
            marginals = (count, finder.word_fd[first], finder.word_fd[second], finder.N)
            rows.append((window, *pair, *marginals, *map(repr, scores)))
    write("collocations.tsv", rows)


def large():
    decimal.getcontext().prec = 50
    rows = []
    generator = random.Random("tadoc large")
    for _ in range(40):
        words = generator.randrange(10**9, 10**10)
        first, second = (int(10 ** generator.uniform(1, 7)) for _ in range(2))
        pair = generator.randrange(1, min(first, second))
        n_ii, n_ix, n_xi, n_xx = map(decimal.Decimal, (pair, first, second, words))
        two = decimal.Decimal(2)
        chance = n_ix * n_xi / n_xx
        ratio = decimal.Decimal(0)
        for observed, expected in (
            (n_ii, chance),
            (n_ix - n_ii, n_ix * (n_xx - n_xi) / n_xx),
            (n_xi - n_ii, (n_xx - n_ix) * n_xi / n_xx),
            (n_xx - n_ix - n_xi + n_ii, (n_xx - n_ix) * (n_xx - n_xi) / n_xx),
        ):
            ratio += 2 * observed * (observed / expected).ln()
        scores = (
            (n_ii / chance).ln() / two.ln(),
            ratio,
            (n_ii - chance) / n_ii.sqrt(),
            14 + (2 * n_ii / (n_ix + n_xi)).ln() / two.ln(),
        )
        rows.append((pair, first, second, words, *(repr(float(score)) for score in scores)))
    write("large.tsv", rows)


if __name__ == "__main__":
    corpus = documents()
    write("documents.txt", [[" ".join(words)] for words in corpus])
    tfidf(corpus)
    collocations(corpus)
    large()
