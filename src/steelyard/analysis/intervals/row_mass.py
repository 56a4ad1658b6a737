"""Row mass: what each row of a comparison counts for: its frequency, its sample weight, and its cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from steelyard.exceptions import TooFewRowsError
from steelyard.ingest import label_codes

if TYPE_CHECKING:
    from steelyard._types import Array


class RowMass(NamedTuple):
    """What each row counts for: how many rows, their weight and its squares, and the code of its cluster."""

    times: Array | None = None
    weights: Array | None = None
    squares: Array | None = None
    clusters: Array | None = None
    cluster_name: str | None = None

    @classmethod
    def of_rows(
        cls, times: Array | None, weights: Array | None, clusters: Array | None, cluster_name: object = None
    ) -> RowMass:
        """Of the columns of rows; a row of weight w that counts for t rows has weight t w, and squares t w^2."""
        codes = None if clusters is None else label_codes.encode(clusters, None, "cluster")[0]
        if codes is not None and (codes == codes[:1]).all():
            raise TooFewRowsError(
                "cluster= names one cluster only; with no second one the variation between clusters is unknown."
            )
        return cls.of_codes(times, weights, codes, None if cluster_name is None else str(cluster_name))

    @classmethod
    def of_codes(
        cls, times: Array | None, weights: Array | None, clusters: Array | None, name: str | None = None
    ) -> RowMass:
        """The same where the clusters are numbered already, by codes from 0 on."""
        if weights is None:
            return cls(times, None, None, clusters, name)
        often = 1.0 if times is None else times
        return cls(times, often * weights, often * weights**2, clusters, name)

    def at(self, rows: Array) -> RowMass:
        """That of some rows."""
        columns = (self.times, self.weights, self.squares, self.clusters)
        times, weights, squares, clusters = (None if column is None else column[rows] for column in columns)
        return RowMass(times, weights, squares, clusters, self.cluster_name)

    @property
    def sentences(self) -> tuple[str, ...]:
        """What a result states of the clusters."""
        by = f" by {self.cluster_name}" if self.cluster_name else ""
        return () if self.clusters is None else (f"The rows are clustered{by}; whole clusters are compared.",)

    @property
    def is_plain(self) -> bool:
        """Whether rows have neither weights nor clusters."""
        return self.weights is None and self.clusters is None

    @property
    def mass(self) -> Array | None:
        """The weight of each row; None where it is 1."""
        return self.times if self.weights is None else self.weights
