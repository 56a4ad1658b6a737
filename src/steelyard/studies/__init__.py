"""Studies: the papers' experiments again, each of two modules or more, with its tables, figures and claims."""

from __future__ import annotations

from pkgutil import iter_modules

from steelyard._names import shelved

__getattr__, __dir__ = shelved("studies")


def study_names() -> tuple[str, ...]:
    """The studies: every module here that has its claims beside it.

    >>> study_names()
    ('asawa', 'garcia', 'kalita', 'nguyen', 'selection', 'wu')
    """
    modules = {module.name for module in iter_modules(__path__)}
    return tuple(sorted(name for name in modules if f"{name}_claims" in modules))
