"""Given: rows as they were given, before they are read; one record for values, for frames and for counted rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from steelyard.exceptions import InputError, first_ten
from steelyard.frames.source import FrameColumns

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

    from steelyard._types import Label

# What changes no table, so that what was counted is kept.
_UNCOUNTED = {"threshold", "design", "in_call"}


class Model(NamedTuple):
    """What one model made of the rows: labels, scores or both; values, or the names of their columns."""

    pred: Any = None
    score: Any = None


@dataclass(frozen=True, eq=False)
class Given(ABC):
    """Rows as they were given, each option by the one meaning that it has everywhere, and what was made of them.

    `data` is the values of the truth, a frame or files whose columns `true` and the models name, or a table.
    """

    data: Any = None
    models: Mapping[str, Model] = field(default_factory=dict)
    sample_weight: Any = None  # values, or the name of a column
    frequency: Any = None
    cluster: Any = None
    by: Any = None
    bins: Any = None
    columns: Any = None  # beside values
    pos_label: Label = None
    labels: Any = None
    threshold: Any = None
    design: Any = "random"
    filter: str | None = None
    true: Any = None  # of a frame, as are the next three
    label_sep: str | None = None
    long: tuple[str, str] | None = None
    exact: bool | None = None
    cut_at: float | None = None  # of a table of labels: the threshold at which an evaluation made them
    is_stated: bool = False  # whether the positive class was stated by a table, so that no convention is asked
    in_call: frozenset[str] = frozenset()  # the options that were given to the question itself
    kept: dict[Any, Any] = field(default_factory=dict, repr=False)

    is_frame: ClassVar[bool] = False
    is_table: ClassVar[bool] = False

    def other(self, **changed: Any) -> Self:
        """The same but for some options; what was made is kept where they do not change it."""
        return replace(self, **changed, kept=self.kept if changed.keys() <= _UNCOUNTED else {})

    def keep(self, key: Any, make: Callable[[], Any]) -> Any:
        """What was made once, or is made now and kept; threads that meet here make it twice and keep the first."""
        if key not in self.kept:
            made = make()
            self.kept.setdefault(key, made)
        return self.kept[key]

    @abstractmethod
    def refuse_options(self, stated: Mapping[str, Any]) -> None:
        """Refuse options that such rows cannot take, whether they come with them or later."""

    # ---------------------------------------------------------------- what values, frames and tables tell

    @property
    @abstractmethod
    def rows(self) -> int:
        """How many rows there are, counted where they live."""

    @property
    @abstractmethod
    def source(self) -> str:
        """Where the rows come from: the files, or what holds them."""

    @property
    @abstractmethod
    def engine(self) -> str:
        """What holds the rows: "numpy", "torch cuda:0", "polars" and the like."""

    @property
    @abstractmethod
    def has_truth(self) -> bool:
        """Whether the truth of the rows is there."""

    @property
    def has_scores(self) -> bool:
        """Whether a model gave scores."""
        return any(model.score is not None for model in self.models.values())

    @property
    @abstractmethod
    def are_sets(self) -> bool:
        """Whether each row may have several labels."""

    @property
    @abstractmethod
    def column_names(self) -> tuple[str, ...]:
        """The columns that questions may name."""

    @property
    @abstractmethod
    def group_names(self) -> tuple[str, ...]:
        """The columns by which rows are grouped."""

    @property
    def is_remote(self) -> bool:
        """Whether a look at the rows would cost a query of another machine or engine."""
        return False

    @property
    def reads_columns(self) -> bool:
        """Whether a filter or an option reads the columns that stand beside values."""
        by = self.by if isinstance(self.by, (list, tuple)) else [self.by]
        return self.filter is not None or any(isinstance(each, str) for each in (*by, self.cluster, self.frequency))

    @property
    def needs_rows(self) -> bool:
        """Whether rows of a frame cannot be counted where they live."""
        return False

    @abstractmethod
    def has_classes(self, model: Model) -> bool:
        """Whether a model gave scores of each class."""

    @abstractmethod
    def values(self, columns: tuple[str, ...]) -> Given:
        """The rows as values, with the columns that a question names; of the filter alone, their groups in bins."""

    def of_one_class(self) -> Given:
        """The same with one column of scores, where there is one for each class and one of them is meant."""
        return self

    # ---------------------------------------------------------------- models

    @property
    def model(self) -> Model:
        """The one model; several are refused."""
        self.check_one_model()
        return next(iter(self.models.values()), Model())

    def check_one_model(self) -> None:
        """Refuse rows of several models where a question is about one."""
        if len(self.models) > 1:
            names = [*self.models]
            as_one = (
                " Columns of classes or labels are one model by a pattern, such as 'p_*'." if len(names) > 2 else ""
            )
            raise InputError(
                f"These rows have {len(names)} models, {first_ten(names)}, and one is asked about; take one, such as "
                f"predictions[{names[0]!r}], or compare them.{as_one if self.is_frame else ''}"
            )

    @property
    def y_pred(self) -> Any:
        """The labels that the one model predicted, as values."""
        return None if self.is_frame else self.model.pred

    @property
    def y_score(self) -> Any:
        """The scores of the one model, as values."""
        return None if self.is_frame else self.model.score

    @property
    def names(self) -> FrameColumns:
        """The columns of a frame that hold the truth, the one model and the weights."""
        if not self.is_frame:
            return FrameColumns()
        score = self.model.score
        scores: Any = [*score.values()] if isinstance(score, Mapping) else score  # those of each class
        return FrameColumns(self.true, self.model.pred, scores, self.sample_weight)

    @property
    def weights(self) -> dict[str, Any]:
        """The weights of rows that are values."""
        return {"sample_weight": self.sample_weight, "frequency": self.frequency}

    def uses(self) -> dict[str, str | tuple[str, ...]]:
        """The columns of a frame that were named, by what they are for."""
        if not self.is_frame:
            return {}
        row, label = self.long or (None, None)
        others = {"label_sep": self.label_sep, "row": row, "label": label}
        named = self.names.names(frequency=self.frequency, by=self.by, cluster=self.cluster)
        return named | {use: name for use, name in others.items() if name is not None}
