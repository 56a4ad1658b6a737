"""Column question: models that give a column of scores for each class, compared by these and by their highest."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING

from steelyard.analysis.comparison.column_comparison import ColumnRows, column_differences, usual_column_specs
from steelyard.analysis.comparison.model_intervals import RowDesign
from steelyard.analysis.comparison.model_question import JudgedModels
from steelyard.analysis.comparison.paired_difference import ModelTables
from steelyard.analysis.results.rows import Rows
from steelyard.exceptions import InputError
from steelyard.ingest.score_matrix import HIGHEST_TAKEN
from steelyard.metrics.score_values import reads_columns
from steelyard.statistics.paired import MOST_PAIRED_LABELS

if TYPE_CHECKING:
    from steelyard.analysis.comparison.column_models import ColumnModels
    from steelyard.analysis.comparison.comparison import Comparison
    from steelyard.analysis.comparison.model_columns import Thresholds
    from steelyard.analysis.comparison.model_question import Question
    from steelyard.metrics.spec import MetricSpec


def compared_columns(question: Question, models: ColumnModels, threshold: Thresholds) -> Comparison:
    """The comparison by a column of scores for each class; of one class, or of two, by the column of that class."""
    one = models.of_one_class(question.options.pos_label)
    if one is not None:
        return question.of_scores(one, threshold)
    if threshold is not None:
        raise InputError("threshold= is for the scores of one positive class; name one with pos_label=.")
    asked = usual_column_specs(models.tables) if question.specs is None else question.specs
    asked = tuple(replace(spec, metric=spec.metric.of_many_columns) for spec in asked)  # with its range there
    rows, columns = ColumnRows(models.tables, models.mass), tuple(spec for spec in asked if reads_columns(spec))
    of_columns = ModelTables(columns, question.options, columns=models.tables)
    judged = JudgedModels(list(column_differences(rows, of_columns)), of_columns, Rows(), Rows())
    labelled, stated = _of_highest(question, models, tuple(spec for spec in asked if spec not in columns))
    if labelled is not None:
        specs = tuple(dict.fromkeys((*asked, *labelled.tables.specs)))
        tables = replace(of_columns, specs=specs, labels=labelled.tables.labels)
        judged = labelled._replace(pairs=[*judged.pairs, *labelled.pairs], tables=tables)
    predicted = {name: table.most_probable for name, table in models.tables.items()}
    design = RowDesign(rows.codes, models.mass, {} if labelled is None else predicted)
    pairs, order = list(combinations(models.tables, 2)), list(judged.tables.specs)
    judged.pairs.sort(key=lambda pair: (pairs.index((pair.row.a, pair.row.b)), order.index(pair.row.spec)))
    return question.concluded(judged._replace(design=design), (*stated, *models.mass.sentences))


def _of_highest(
    question: Question, models: ColumnModels, specs: tuple[MetricSpec, ...]
) -> tuple[JudgedModels | None, tuple[str, ...]]:
    """The judged differences of the labels of each row's highest column; none where no metric of them is asked for."""
    if question.specs is not None and not specs:
        return None, ()
    if question.specs is None and len(models.labels) > MOST_PAIRED_LABELS:
        return None, (f"Labels of more than {MOST_PAIRED_LABELS} classes are not compared, the scores alone.",)
    first = next(iter(models.tables.values()))
    codes = [first.codes, *(table.most_probable for table in models.tables.values())]
    asked = replace(question, specs=None if question.specs is None else specs)
    return asked.of_codes(list(models.tables), codes, models.labels, None, models.mass), (HIGHEST_TAKEN,)
