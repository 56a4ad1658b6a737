"""Notation: an expression written as text, LaTeX or JavaScript."""

from __future__ import annotations

from steelyard.metrics.expression import Expression, Named, Number, Operation, Ratio, Symbol

_RANK = {"+": 1, "-": 1, "*": 2, "/": 2, "neg": 3, "**": 4}
_ATOM = 9


def plain_number(value: float) -> str:
    """A constant as a person writes it: 2 and not 2.0."""
    return repr(int(value)) if float(value).is_integer() else repr(float(value))


def _rank(node: Expression) -> int:
    match node:
        case Operation(sign=sign):
            return _RANK.get(sign, 0 if sign in ("==", "!=", "<", "<=", ">", ">=") else _ATOM)
        case Ratio():
            return 2
    return _ATOM


def text(node: Expression) -> str:
    """The expression as plain text, other metrics by name."""
    match node:
        case Symbol(name=name) | Named(name=name):
            return name
        case Number(value=value):
            return plain_number(value)
        case Ratio(above=above, below=below):
            return f"{_wrap(above, 2)} / {_wrap(below, 3)}"
        case Operation(sign="where", args=(condition, then, otherwise)):
            return f"({text(then)} if {text(condition)} else {text(otherwise)})"
        case Operation(sign="sqrt" | "abs" as sign, args=(inner,)):
            return f"{sign}({text(inner)})"
        case Operation(sign="angle", args=(cosine, _)):
            return f"arccos({text(cosine)}) / pi"
        case Operation(sign="neg", args=(inner,)):
            return f"-{_wrap(inner, 3)}"
        case Operation(sign=sign, args=(left, right)):
            return f"{_wrap(left, _rank(node) + (sign == '**'))} {sign} {_wrap(right, _right_rank(node))}"
    raise TypeError(f"{node!r} is no expression.")


def _right_rank(node: Operation) -> int:
    """The rank that the right side needs to stand without brackets: a + (b - c) keeps them, a + b + c needs none."""
    right = node.args[1]
    same = node.sign in ("+", "*") and isinstance(right, Operation) and right.sign == node.sign
    return _rank(node) + (node.sign != "**" and not same)


def _wrap(node: Expression, rank: int) -> str:
    written = text(node)
    return f"({written})" if _rank(node) < rank else written


_LATEX_SIGN = {"*": r"\,", "<=": r"\le ", ">=": r"\ge ", "==": "=", "!=": r"\ne "}


def latex(node: Expression) -> str:
    """The expression as LaTeX, other metrics by name."""
    match node:
        case Symbol(name=name):
            return r"\mathit{" + name.replace("_", r"\_") + "}"
        case Named(name=name):
            return r"\mathrm{" + name.replace("_", r"\_") + "}"
        case Number(value=value):
            return plain_number(value)
        case Ratio(above=above, below=below) | Operation(sign="/", args=(above, below)):
            return rf"\frac{{{latex(above)}}}{{{latex(below)}}}"
        case Operation():
            return _latex_operation(node)
    raise TypeError(f"{node!r} is no expression.")


def _latex_operation(node: Operation) -> str:
    match node:
        case Operation(sign="where", args=(condition, then, otherwise)):
            return (
                rf"\begin{{cases}}{latex(then)} & {latex(condition)}\\"
                rf"{latex(otherwise)} & \text{{otherwise}}\end{{cases}}"
            )
        case Operation(sign="sqrt", args=(inner,)):
            return rf"\sqrt{{{latex(inner)}}}"
        case Operation(sign="abs", args=(inner,)):
            return rf"\left|{latex(inner)}\right|"
        case Operation(sign="angle", args=(cosine, _)):
            return rf"\frac{{1}}{{\pi}}\arccos\left({latex(cosine)}\right)"
        case Operation(sign="neg", args=(inner,)):
            return f"-{_bracket(inner, 3)}"
        case Operation(sign="**", args=(base, power)):
            return rf"{_bracket(base, 5)}^{{{latex(power)}}}"
        case Operation(sign="*", args=(left, right)) if isinstance(right, Number):
            return rf"{_bracket(left, 2)} \cdot {latex(right)}"
        case Operation(sign=sign, args=(left, right)):
            rank = _rank(node)
            return f"{_bracket(left, rank)} {_LATEX_SIGN.get(sign, sign)} {_bracket(right, rank + (sign == '-'))}"
    raise TypeError(f"{node!r} is no expression.")


def _bracket(node: Expression, rank: int) -> str:
    written = latex(node)
    fraction = isinstance(node, Ratio) or (isinstance(node, Operation) and node.sign == "/")
    return rf"\left({written}\right)" if _rank(node) < rank and not (fraction and rank <= 3) else written


JAVASCRIPT_HELPERS = (
    "const ratio = (a, b, limit) => b === 0 ? (limit !== undefined && a === 0 ? limit : NaN) : a / b;\n"
    "const where = (condition, then, otherwise) => condition ? then : otherwise;"
)


def javascript(node: Expression) -> str:
    """The expression as JavaScript over tp, fn, fp, tn, every other metric written out; needs JAVASCRIPT_HELPERS."""
    match node:
        case Symbol(name=name):
            return name
        case Named(inner=inner):
            return javascript(inner)
        case Number(value=value):
            return plain_number(value)
        case Ratio(above=above, below=below, limit=limit):
            tail = "" if limit is None else f", {plain_number(limit)}"
            return f"ratio({javascript(above)}, {javascript(below)}{tail})"
        case Operation(sign="where", args=args):
            return f"where({', '.join(map(javascript, args))})"
        case Operation(sign="sqrt" | "abs" as sign, args=(inner,)):
            return f"Math.{sign}({javascript(inner)})"
        case Operation(sign="angle", args=(cosine, sine)):
            return f"(Math.atan2({javascript(sine)}, {javascript(cosine)}) / Math.PI)"
        case Operation(sign="neg", args=(inner,)):
            return f"(-{javascript(inner)})"
        case Operation(sign="/", args=(above, below)) if not isinstance(below, Number):
            return f"ratio({javascript(above)}, {javascript(below)})"
        case Operation(sign=sign, args=(left, right)):
            return f"({javascript(left)} {sign + '=' if sign in ('==', '!=') else sign} {javascript(right)})"
    raise TypeError(f"{node!r} is no expression.")


def canonical(node: Expression) -> str:
    """The expression in one spelling: other metrics written out, the parts of a sum or a product in one order.

    >>> from steelyard import get_metric
    >>> canonical(get_metric("recall").expression)
    'ratio(tp, +(fn, tp))'
    """
    match node:
        case Symbol(name=name):
            return name
        case Named(inner=inner):
            return canonical(inner)
        case Number(value=value):
            return plain_number(value)
        case Ratio(above=above, below=below, limit=limit):
            tail = "" if limit is None else f", {plain_number(limit)}"
            return f"ratio({canonical(above)}, {canonical(below)}{tail})"
        case Operation(sign="+" | "*" as sign):
            return f"{sign}({', '.join(sorted(canonical(part) for part in _terms(node, sign)))})"
        case Operation(sign=sign, args=args):
            return f"{sign}({', '.join(map(canonical, args))})"
    raise TypeError(f"{node!r} is no expression.")


def _terms(node: Expression, sign: str) -> list[Expression]:
    """The parts of nested sums, or of nested products, in a row."""
    inner = node.inner if isinstance(node, Named) else node
    if isinstance(inner, Operation) and inner.sign == sign:
        return [part for arg in inner.args for part in _terms(arg, sign)]
    return [inner]
