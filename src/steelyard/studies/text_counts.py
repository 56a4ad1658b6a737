"""Counts of words: texts counted once, and a learner whose vocabulary is that of its training part.

Equal to scikit-learn's TfidfVectorizer and MultinomialNB fitted on the training texts alone, and many times faster
where hundreds of fits share the texts; a test holds the two together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scipy.sparse import csr_array
    from sklearn.pipeline import Pipeline

    from steelyard._types import Array

HASHES = 2**31 - 1  # so many that of four million phrases one in five hundred shares its number with another


def phrases(texts: Sequence[str], longest: int = 3) -> csr_array:
    """The counts of all runs of 1 to `longest` words, stop words left out first: a row a text, a column a phrase."""
    from scipy.sparse import csr_array
    from sklearn.feature_extraction.text import HashingVectorizer

    hashing = HashingVectorizer(
        stop_words="english", ngram_range=(1, longest), n_features=HASHES, alternate_sign=False, norm=None
    )
    hashed = hashing.transform(texts)
    hashes, columns = np.unique(hashed.indices, return_inverse=True)
    counts = csr_array((hashed.data, columns.astype(np.int32), hashed.indptr), shape=(len(texts), len(hashes)))
    counts.sort_indices()
    return counts


def known_columns(counts: csr_array, trained: Array) -> Array:
    """The columns of the phrases that the rows trained on hold: what is unseen in training is no attribute."""
    return np.unique(counts[trained].indices)


def naive_bayes() -> Pipeline:
    """TF-IDF and the multinomial naive Bayes classifier, Laplace's smoothing."""
    from sklearn.feature_extraction.text import TfidfTransformer
    from sklearn.naive_bayes import MultinomialNB
    from sklearn.pipeline import make_pipeline

    return make_pipeline(TfidfTransformer(), MultinomialNB())
