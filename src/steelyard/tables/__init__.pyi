# The names of steelyard.tables with their types, written by `make stub`.

from steelyard.counting import multilabel as multilabel
from steelyard.counting import paired as paired
from steelyard.tables.multilabel_table import MultilabelTable as MultilabelTable
from steelyard.tables.paired_table import Paired as Paired
from steelyard.tables.probability_table import ProbabilityTable as ProbabilityTable
from steelyard.tables.tally import Tally as Tally

def __dir__() -> list[str]: ...
