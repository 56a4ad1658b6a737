"""Label words: how a sentence names a class."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard._types import Label

_WIDEST = 24  # characters of a label in a sentence
_CONVENTIONS = ("yes", "true", "positive", "pos", "y", "t", "no", "false", "negative", "neg", "n", "f")


def quoted_label(label: Label) -> str:
    """A label inside a sentence: text in quotes, shortened where it would drown the sentence; a number as it is."""
    words = " ".join(str(label).split()) if isinstance(label, str) else str(label)
    shown = words if len(words) <= _WIDEST else f"{words[: _WIDEST - 1]}…"
    return f'"{shown}"' if isinstance(label, str) else shown


def is_word(label: Label) -> bool:
    """Whether a label is a short word that a reader knows the class by: "fraud", not 1 or "yes"."""
    return (
        isinstance(label, str)
        and label.replace(" ", "").isalpha()
        and len(label) <= _WIDEST
        and label.lower() not in _CONVENTIONS
    )


def positive_word(label: Label) -> str:
    """What a row of the positive class is: positive, or its own name."""
    return quoted_label(label) if is_word(label) else "positive"


def constant_words(labels: Sequence[Label], positive: Label) -> tuple[str, str]:
    """What a classifier does that predicts one side alone: never the positive class, or always."""
    others = [label for label in labels if label != positive]
    always = f"always predicting {quoted_label(positive)}"
    if len(others) != 1:
        return f"never predicting {quoted_label(positive)}", always
    return f"always predicting {quoted_label(others[0])}", always
