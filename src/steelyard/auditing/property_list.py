"""Properties: what is asked of a metric, as one or more laws of tables, and who asks it."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

from steelyard.auditing.laws import (
    CLASS_SWAP,
    CORRECTIONS,
    EQUAL_RECALLS,
    LEANING_TO_POSITIVES,
    MAXIMAL_AGREEMENT,
    MINIMAL_AGREEMENT,
    MORE_POSITIVES,
    NO_CREDIT,
    NO_NEGATIVE_FOUND,
    NO_POSITIVE_FOUND,
    NO_SKILL,
    TRANSPOSITION,
    Law,
    changed_cell,
    grown_cell,
    strictly_grown_cell,
)
from steelyard.exceptions import UnknownNameError, did_you_mean
from steelyard.statistics.counts import CELLS


@dataclass(frozen=True)
class Property:
    """What is asked of a metric: its laws, and who asks. `wanted` gives both readings where papers disagree.

    `upward` is asked only of metrics that are better when higher.
    """

    name: str
    title: str
    meaning: str
    wanted: str
    cite: tuple[str, ...]
    laws: tuple[Law, ...] = ()
    upward: bool = False

    @property
    def is_equality(self) -> bool:
        """Whether it says that values are equal, so that algebra decides it."""
        return bool(self.laws) and all(law.relation == "=" for law in self.laws)


_BOTH_READINGS = (
    "García calls noticing the exchange a virtue, since a metric that does not may hide which class has the errors; "
    "Asawa and Wu want a metric that does not, since which class is called positive is a convention."
)


_NOTICE = "García wants a metric to notice every change of the table, so that invariance is a fault."


_ORDER = "Whoever orders models by a metric: a model that does better in one cell alone is not to be ranked lower."

CHANGED_CELLS = {"p2": "tn", "p3": "fp", "p4": "tp", "p5": "fn"}  # García's, each by the cell that alone changes

_ALL = (
    Property(
        "p1",
        "Exchange of the classes (García's p1)",
        "The value stays when tp is exchanged with tn and fn with fp.",
        _BOTH_READINGS,
        ("garcia2012", "asawa", "wu2025"),
        (CLASS_SWAP,),
    ),
    *(
        Property(
            name,
            f"Change of {cell} (García's {name})",
            f"The value stays when {cell} alone changes.",
            _NOTICE,
            ("garcia2012",),
            (changed_cell(cell),),
        )
        for name, cell in CHANGED_CELLS.items()
    ),
    Property(
        "class_symmetry",
        "Symmetry of the classes",
        "The value does not depend on which of the two classes is called positive.",
        _BOTH_READINGS,
        ("asawa", "wu2025", "garcia2012"),
        (CLASS_SWAP,),
    ),
    Property(
        "prevalence_invariance",
        "Invariance to prevalence",
        "The value stays when the positives become k times as many at the same recall, for any k above 0.",
        "Asawa (balancing the test set), Nguyen and Wu (null-biased) want it; "
        "whoever needs the value at the deployment prevalence does not.",
        ("asawa", "nguyen2019", "wu2025"),
        (MORE_POSITIVES,),
    ),
    Property(
        "equal_recalls_kept",
        "Equal recalls kept",
        "The value is x where recall and specificity both are x.",
        "Wu wants it, so that the value reads like a rate.",
        ("wu2025",),
        (EQUAL_RECALLS,),
    ),
    Property(
        "zero_when_a_class_fails",
        "Zero when a class fails",
        "The value is 0 where one of the classes has zero recall.",
        "Asawa and Wu want it where no class may have zero recall; one half is fine where one may.",
        ("asawa", "wu2025"),
        (NO_POSITIVE_FOUND, NO_NEGATIVE_FOUND),
    ),
    Property(
        "no_credit_when_a_class_fails",
        "No credit when a class fails",
        "The value is at most 0 where one of the classes has zero recall.",
        "Whoever accepts zero recall for no class: Asawa and Wu ask for 0; a chance-corrected metric falls below.",
        ("asawa", "wu2025"),
        NO_CREDIT,
        upward=True,
    ),
    Property(
        "leans_to_positives",
        "Leans to the positives",
        "Of two classes of one size, finding more of the positives is never worth less than as many of the negatives.",
        "García wants it where the positives matter more; who gives both classes equal weight asks for symmetry.",
        ("garcia2012",),
        (LEANING_TO_POSITIVES,),
    ),
    Property(
        "approximate_constant_baseline",
        "Constant no-skill baseline, approximately",
        "The value is the same on every table on which truth and prediction are independent.",
        "Powers wants it, so that a value can be compared with a random predictor's without the margins; "
        "Gösgens, as what many rows come close to.",
        ("powers2011", "gosgens2021"),
        (NO_SKILL,),
    ),
    Property(
        "constant_baseline",
        "Constant no-skill baseline in expectation",
        "The mean over random predictions is the same whatever the classes' sizes and the number of flagged rows.",
        "Gösgens wants it, so that no margins of a table make a random predictor look better.",
        ("gosgens2021",),
    ),
    Property(
        "transposition_symmetry",
        "Symmetry of truth and prediction",
        "The value stays when fn and fp are exchanged, as if the predictions were the truth.",
        "Gösgens wants it where two labellings are compared; who knows which of them is true need not.",
        ("gosgens2021",),
        (TRANSPOSITION,),
    ),
    Property(
        "maximal_agreement",
        "Best exactly without errors",
        "All tables of both classes without errors have one value, and every table with an error a worse one.",
        "Gösgens wants it, so that the best value means that nothing is wrong.",
        ("gosgens2021",),
        MAXIMAL_AGREEMENT,
    ),
    Property(
        "minimal_agreement",
        "Worst exactly without hits",
        "All tables of both classes without a right prediction have one value, and every other table a better one.",
        "Gösgens wants it, so that the worst value means that nothing is right.",
        ("gosgens2021",),
        MINIMAL_AGREEMENT,
    ),
    Property(
        "corrections_improve",
        "Every correction improves",
        "Of both classes, the value is better when a wrong prediction is made right, whichever it is.",
        "Gösgens (monotonicity) and whoever trains towards a metric: no error is then free.",
        ("gosgens2021",),
        CORRECTIONS,
    ),
    Property(
        "strictly_monotone",
        "Strictly monotone in every cell",
        "The value is better for one more right prediction where there are errors, and worse for one more wrong one "
        "where there are right ones.",
        "Gösgens (strong monotonicity), where test sets of different sizes are compared.",
        ("gosgens2021",),
        tuple(map(strictly_grown_cell, CELLS)),
    ),
    Property(
        "distance",
        "A distance between labellings",
        "What is missing of the best value is 0 of equal labellings alone, the same both ways, and obeys the triangle "
        "inequality.",
        "Gösgens wants it, so that labellings near to the truth are near to each other.",
        ("gosgens2021",),
    ),
    Property(
        "fixed_threshold",
        "One threshold for true probabilities",
        "Of true probabilities, flagging the rows above one threshold is best, whatever the rows are.",
        "Decision theory wants it (Elkan): the costs alone determine which probability is high enough.",
        ("elkan2001",),
    ),
    *(
        Property(
            f"monotone_{cell}",
            f"Monotone in {cell}",
            f"The value never {'worsens' if cell in ('tp', 'tn') else 'improves'} when {cell} grows.",
            _ORDER,
            (),
            (grown_cell(cell),),
        )
        for cell in CELLS
    ),
    Property(
        "bounds_attained",
        "Range kept, bounds attained",
        "No value lies outside the range, and each finite end of it is the value of some table.",
        "Whoever reads a value as a share of what is possible.",
        (),
    ),
)


_FORMER = {"constant_chance": "approximate_constant_baseline"}  # of 0.1


PROPERTIES: dict[str, Property] = {property_.name: property_ for property_ in _ALL}


def get_property(name: str | Property) -> Property:
    """The property of that name."""
    if isinstance(name, Property):
        return name
    if name in _FORMER:
        warnings.warn(f"The property {name} is now called {_FORMER[name]}.", DeprecationWarning, stacklevel=3)
        name = _FORMER[name]
    if name not in PROPERTIES:
        near = did_you_mean(name, PROPERTIES) or f" There are {', '.join(PROPERTIES)}."
        raise UnknownNameError(f"No property is called {name!r}.{near}")
    return PROPERTIES[name]
