"""Formula text: the formula of a metric as plain text, LaTeX and JavaScript, and what its divisions by zero mean."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from steelyard.metrics import notation, reasons
from steelyard.metrics.expression import Symbol, trace

if TYPE_CHECKING:
    from collections.abc import Mapping

    from steelyard.metrics.expression import Expression
    from steelyard.metrics.formula import Formula


class FormulaText:
    """The formula written, for whatever has one as an expression."""

    if TYPE_CHECKING:
        name: str
        function: Formula | None
        parameters: Mapping[str, Any]
        is_fixed: bool

        @property
        def is_of_label_sets(self) -> bool: ...
        @property
        def takes_scores(self) -> bool: ...

    def trace(self, **parameters: Any) -> Expression | None:
        """The formula as an expression over tp, fn, fp, tn; None where it cannot be run on symbols."""
        values = {**self.parameters, **parameters}
        usual = all(value is self.parameters[key] for key, value in values.items())
        return self.expression if usual else self._traced(values)

    @cached_property
    def expression(self) -> Expression | None:
        """The formula as an expression at the parameters' defaults."""
        return self._traced(self.parameters)

    @cached_property
    def general(self) -> Expression | None:
        """The formula as an expression with its parameters as letters, for reading."""
        letters = {key: Symbol(key) for key, value in self.parameters.items() if isinstance(value, float)}
        return self.expression if self.is_fixed else self._traced({**self.parameters, **letters})

    def _traced(self, parameters: Mapping[str, object]) -> Expression | None:
        return None if self.function is None else trace(self.function, dict(parameters))

    @property
    def text(self) -> str:
        """The formula as plain text, other metrics by name."""
        if self.general is not None:
            return notation.text(self.general)
        if self.is_of_label_sets:
            read = "labels and scores" if self.takes_scores else "labels"
            return f"the mean over the rows of a function of the {read} of each"
        return "a function of the scores of each class" if self.function is None else "a function of tp, fn, fp, tn"

    @property
    def latex(self) -> str:
        """The formula as LaTeX, other metrics by name."""
        return notation.latex(Symbol(self.name) if self.general is None else self.general)

    @property
    def javascript(self) -> str | None:
        """The formula as a JavaScript function of (tp, fn, fp, tn); None where it cannot be traced."""
        return f"(tp, fn, fp, tn) => {notation.javascript(self.expression)}" if self.expression is not None else None

    @property
    def guards(self) -> list[tuple[str, str]]:
        """What each division by zero means: ("no positives", "undefined"), or a limit in place of "undefined"."""
        return reasons.guards(self.expression) if self.expression is not None else []

    @property
    def zeros(self) -> list[tuple[str, str]]:
        """Each part that leaves the value undefined where it is 0, in words and as JavaScript: "no positives"."""
        parts = reasons.zeros(self.expression) if self.expression is not None else []
        return list(dict.fromkeys((why, notation.javascript(part)) for why, part in parts))
