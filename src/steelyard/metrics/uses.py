"""Uses: what predictions are for, and the one number that each use is judged by."""

from __future__ import annotations

from dataclasses import dataclass

from steelyard.exceptions import InputError, InputTypeError, did_you_mean


@dataclass(frozen=True)
class Use:
    """What predictions are for: the metric that leads, of scores and of labels, what stands beside it, and the aim.

    `of_labels` is None where labels alone have no number for the use, `aim` where a threshold cannot be found for it.
    """

    name: str
    purpose: str
    of_scores: str
    of_labels: str | None
    beside: tuple[str, ...]
    aim: str | None

    def leading(self, *, has_scores: bool) -> str | None:
        """The metric that leads, of scores where there are some."""
        return self.of_scores if has_scores else self.of_labels


USES = {
    use.name: use
    for use in (
        Use("alerts", "act on the flagged rows", "average_precision", "f1", ("precision", "recall"), "f1"),
        Use(
            "balance",
            "both classes matter alike, or prevalence differs between test and use",
            "ac_score",
            "ac_score",
            ("recall", "specificity", "g_mean", "tpnr", "balanced_accuracy"),
            "ac_score",
        ),
        Use("ranking", "order rows, choose the threshold later", "roc_auc", None, ("average_precision",), None),
        Use(
            "probabilities",
            "show or multiply the probability",
            "brier_skill_score",
            None,
            ("calibration_slope", "observed_to_expected", "net_benefit"),
            None,
        ),
    )
}


def read_use(given: str | Use | None) -> Use | None:
    """The use of that name; None where none is stated.

    >>> read_use("alerts").of_scores
    'average_precision'
    """
    if given is None or isinstance(given, Use):
        return given
    if not isinstance(given, str):
        raise InputTypeError(argument="use", expected=f"one of {', '.join(USES)}", given=given)
    if given not in USES:
        near = did_you_mean(given, USES)
        raise InputError(f"No use is called {given!r}; there are {', '.join(USES)}.{near}")
    return USES[given]
