"""Label set input: rows of several labels each as a user gives them, a table, arrays or a frame, and their reading."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from steelyard.exceptions import InputError, InputTypeError
from steelyard.ingest.label_frames import label_frame, names_label_sets
from steelyard.ingest.label_sets import are_label_sets
from steelyard.ingest.multilabel_tables import label_set_table, label_sets_where_they_are
from steelyard.statistics.multilabel_table import MultilabelTable

if TYPE_CHECKING:
    from collections.abc import Callable

    from steelyard.ingest.frame_columns import FrameColumns


class LabelSetInput(NamedTuple):
    """Rows of label sets as they are given: a table, arrays, or a frame whose columns are named."""

    data: Any
    y_pred: Any
    y_score: Any
    columns: FrameColumns
    labels: Any = None
    sample_weight: Any = None
    frequency: Any = None
    by: Any = None
    cluster: Any = None

    @property
    def are_sets(self) -> bool:
        """Whether the rows may have several labels each."""
        has_others = self.y_pred is not None or self.y_score is not None
        if self.columns.true is not None:
            return not has_others and names_label_sets(self.data, self.columns)
        return isinstance(self.data, MultilabelTable) or (has_others and are_label_sets(self.data))

    def read(self) -> LabelSetInput:
        """The same with a table in place of rows or a frame, and groups and clusters as arrays."""
        given = self._read(label_set_table)
        return given._replace(data=given.data.on_host())

    def read_where_they_are(self) -> LabelSetInput:
        """The same, of which matrices on a device stay there unless the rows have groups or clusters."""
        is_whole = self.by is None and self.cluster is None
        return self._read(label_sets_where_they_are) if is_whole else self.read()

    def _read(self, count: Callable[..., MultilabelTable]) -> LabelSetInput:
        if self.columns.true is None:
            return self._of_arrays(count)
        if self.labels is not None:
            raise InputError("labels= is for arrays; of a frame the columns that are named are the labels.")
        groups = [self.by] if isinstance(self.by, str) else [*(self.by or ())]
        table, rows = label_frame(self.data, self.columns, self.frequency, by=groups, cluster=self.cluster)
        return self._replace(data=table, by=rows.by or None, cluster=rows.clusters)

    def _of_arrays(self, count: Callable[..., MultilabelTable]) -> LabelSetInput:
        if isinstance(self.data, MultilabelTable):
            given = ("y_pred", "y_score", "labels", "sample_weight", "frequency")
            if beside := [name for name in given if getattr(self, name) is not None]:
                raise InputTypeError(f"{beside[0]}= has no place beside a MultilabelTable; give it to multilabel().")
            return self
        weights = {"sample_weight": self.sample_weight, "frequency": self.frequency}
        return self._replace(data=count(self.data, self.y_pred, y_score=self.y_score, labels=self.labels, **weights))


def refuse_of_one_label(**given: object) -> None:
    """Refuse what is of rows with one label each, such as a hierarchy, where they may have several."""
    for name, value in given.items():
        if value is not None:
            raise InputError(f"{name}= is of rows with one label each, and these may have several; leave it out.")
