"""Evaluation diff: what changed from one evaluation to another, paired where the same rows were kept of both."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from steelyard.analysis.comparison.compare import compare
from steelyard.evaluation.evaluation import Evaluation
from steelyard.exceptions import InputError
from steelyard.ledger.data_differences import check_comparable, data_sentences, prevalence_sentences
from steelyard.ledger.diff_side import distinguished
from steelyard.ledger.kept_rows import label_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    import polars as pl

    from steelyard.analysis.comparison.comparison import Comparison
    from steelyard.ledger.diff_side import DiffSide
    from steelyard.metrics.spec import SpecLike

_LEAST_JOINED = 0.5  # of the rows of the smaller evaluation, below which pairing would leave too much out


@dataclass(frozen=True)
class JoinedRows:
    """The rows that both evaluations kept, of one truth; how many there are, and how many have two truths."""

    table: pl.DataFrame
    relabelled: int


def evaluation_diff(
    old: DiffSide,
    new: DiffSide,
    *,
    metrics: Iterable[SpecLike] | None = None,
    level: float = 0.95,
    prevalence: float | None = None,
) -> Comparison:
    """The second evaluation less the first by each metric, Holm's p-values over all of them, and what else differs."""
    old, new = distinguished(old, new)
    names = old.name, new.name
    before, after = _evaluation(old), _evaluation(new)
    check_comparable(names, before, after)
    joined, notes = _joined(old, new) if prevalence is None else (None, [])
    metrics = None if metrics is None else list(metrics)
    if joined is not None:
        result = _paired(names, before, after, joined, {"metrics": metrics, "level": level})
    else:
        sides = {new.name: after, old.name: before}
        if prevalence is not None:
            sides = {name: replace(side, prevalence=prevalence) for name, side in sides.items()}
        result = compare(sides, metrics=metrics, level=level)
    stated = [*notes, *data_sentences(names, before, after, paired=joined is not None)]
    stated += [] if joined is not None or prevalence is not None else prevalence_sentences(names, before, after, result)
    return replace(result, assumed=(*result.assumed, *stated))


def _evaluation(side: DiffSide) -> Evaluation:
    """The evaluation, which needs tables of its own."""
    if not isinstance(side.evaluation, Evaluation):
        raise InputError(
            f"{side.name!r} is of label sets, of which an evaluation keeps no rows to test a difference by; give both "
            "models' columns to `steelyard compare`."
        )
    return side.evaluation


# ---------------------------------------------------------------- the same rows


def _joined(old: DiffSide, new: DiffSide) -> tuple[JoinedRows | None, list[str]]:
    """The rows that both kept, where enough are the same, and what is to be known of that."""
    if old.rows is None or new.rows is None:
        return None, []
    if old.key != new.key:
        return None, ["The rows of the two were hashed with different keys, so that they cannot be paired."]
    both = old.rows.join(new.rows, on="key", how="inner", suffix="_new")
    same = both.filter(both["true"] == both["true_new"])
    sizes = f"{same.height:,} rows are in both, of {old.rows.height:,} and {new.rows.height:,}"
    if same.height < _LEAST_JOINED * min(old.rows.height, new.rows.height) or same["true"].n_unique() < 2:
        return None, [f"{sizes}: too few to pair, so that the two are compared as of different rows."]
    relabelled = both.height - same.height
    notes = [f"Paired by the keys of the rows: {sizes}, and the tests are of these."]
    notes += [f"{relabelled:,} rows have another true label in {new.name!r}, and are left out."] if relabelled else []
    return JoinedRows(same, relabelled), notes


def _paired(
    names: tuple[str, str], old: Evaluation, new: Evaluation, joined: JoinedRows, asked: dict[str, Any]
) -> Comparison:
    """The paired comparison by scores where both have them, at the thresholds of both, else by labels."""
    rows, positive = joined.table, None if new.positive is None else label_text(new.positive)
    truth = rows["true"].to_numpy()
    asked |= {"pos_label": positive}
    limits = {names[1]: new.threshold, names[0]: old.threshold}
    scored = positive is not None and {"score", "score_new"} <= {*rows.columns}
    if scored and not {"pred", "pred_new"} & {*rows.columns}:
        models = {names[1]: rows["score_new"].to_numpy(), names[0]: rows["score"].to_numpy()}
        threshold = None if None in limits.values() else limits
        return compare(truth, models, scores=True, threshold=threshold, **asked)  # type: ignore[arg-type]  # no None
    labels = {
        names[1]: _labels(rows, "_new", new, positive),
        names[0]: _labels(rows, "", old, positive),
    }
    return compare(truth, labels, **asked)


def _labels(rows: pl.DataFrame, suffix: str, evaluation: Evaluation, positive: str | None) -> Any:
    """The predicted labels, of scores those at the threshold."""
    if f"pred{suffix}" in rows.columns:
        return rows[f"pred{suffix}"].to_numpy()
    others = [label for label in map(label_text, evaluation.labels) if label != positive]
    if evaluation.threshold is None or positive is None or len(others) != 1:
        raise InputError("One of the two has labels and the other scores without a threshold; evaluate both alike.")
    import polars as pl

    flagged = rows[f"score{suffix}"] >= evaluation.threshold
    return pl.select(pl.when(flagged).then(pl.lit(positive)).otherwise(pl.lit(others[0]))).to_series().to_numpy()
