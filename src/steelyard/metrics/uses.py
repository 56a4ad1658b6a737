"""Uses: what predictions are for, and the one number that each use is judged by; a profile is what a field reports."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, replace
from importlib.resources import files
from os import PathLike, fspath
from pathlib import Path
from typing import Any, TypeAlias

from steelyard.exceptions import InputError, InputTypeError, did_you_mean
from steelyard.metrics.spec import MetricSpec


@dataclass(frozen=True)
class Use:
    """What predictions are for: the metric that leads, of scores and of labels, what stands beside it, and the aim.

    `of_labels` is None where labels alone have no number for the use, `aim` where a threshold cannot be found for it.
    Of a profile `profile` is its name or its file, `metrics` what a field reports, in its order.
    """

    name: str
    purpose: str
    of_scores: str
    of_labels: str | None
    beside: tuple[str, ...]
    aim: str | None
    profile: str | None = None
    title: str = ""
    metrics: tuple[str, ...] = ()
    figures: tuple[str, ...] = ()
    follows: str = ""  # the key of the guideline that chose the metrics

    @property
    def given(self) -> str:
        """The word that asks for it: its name, or its profile."""
        return self.profile or self.name

    def leading(self, *, has_scores: bool) -> str | None:
        """The metric that leads, of scores where there are some."""
        return self.of_scores if has_scores else self.of_labels

    def metrics_at(self, threshold: float | None) -> tuple[str, ...]:
        """The metrics of a profile, of which `{threshold}` is the threshold in force, 0.5 where there is none.

        >>> read_use("clinical").metrics_at(0.2)[5]
        'net_benefit[threshold=0.2]'
        """
        at = f"{0.5 if threshold is None else threshold:g}"
        return tuple(metric.replace("{threshold}", at) for metric in self.metrics)


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
_PLACE = files("steelyard.metrics").joinpath("profiles")
PROFILES = tuple(sorted(entry.name.removesuffix(".toml") for entry in _PLACE.iterdir()))
_FIELDS = {"use": str, "title": str, "metrics": list, "follows": str, "figures": list}

UseLike: TypeAlias = str | PathLike[str] | Use


def read_use(given: UseLike | None) -> Use | None:
    """The use of that name, of a profile, or of a TOML file of one's own; None where none is stated.

    >>> read_use("alerts").of_scores
    'average_precision'
    >>> read_use("fraud").name, read_use("fraud").metrics[0]
    ('alerts', 'average_precision')
    """
    if given is None or isinstance(given, Use):
        return given
    if not isinstance(given, (str, PathLike)):
        raise InputTypeError(argument="use", expected=_expected_uses(), given=given)
    return USES[given] if isinstance(given, str) and given in USES else _profile(fspath(given))


def _expected_uses() -> str:
    return f"one of {', '.join(USES)}, a profile ({', '.join(PROFILES)}) or a TOML file of your own"


def _profile(name: str) -> Use:
    """The use that a profile is built on, with the profile's metrics."""
    fields = _fields(name)
    for key, value in fields.items():
        if key not in _FIELDS or not isinstance(value, _FIELDS[key]):
            expected = "use, title and follows, a text each, and metrics and figures, a list each"
            raise InputError(f"The profile {name!r} has {key} = {value!r}; it takes {expected}.")
    if fields.get("use") not in USES:
        ways = ", ".join(USES)
        stated = f"has use = {fields['use']!r}" if "use" in fields else "does not say what it is for"
        raise InputError(f'The profile {name!r} {stated}; write use = "alerts" in it, or another of {ways}.')
    if not fields.get("metrics") or not all(isinstance(each, str) for each in fields["metrics"]):
        raise InputError(f'The profile {name!r} names no metrics; write metrics = ["recall", ...] in it.')
    use = replace(
        USES[fields["use"]],
        profile=name,
        title=fields.get("title", "Performance"),
        metrics=tuple(fields["metrics"]),
        figures=tuple(fields.get("figures", ())),
        follows=fields.get("follows", ""),
    )
    MetricSpec.all_of(use.metrics_at(None))  # refuses a name that is none
    return use


def _fields(name: str) -> dict[str, Any]:
    place = _PLACE.joinpath(f"{name}.toml") if name in PROFILES else Path(name)
    try:
        return tomllib.loads(place.read_text(encoding="utf-8"))
    except OSError:
        near = did_you_mean(name, [*USES, *PROFILES])
        raise InputError(f"No use is called {name!r}; give {_expected_uses()}.{near}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"The profile {name!r} is no TOML: {error}.") from None
