"""The formulas that a candidate may return: their grammar, and their values on rows of data.

A formula is parsed into Python's syntax tree and walked by hand; nothing of it is ever executed.
"""

from __future__ import annotations

import ast
import math
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from benchmark.evaluator import Invalid

VARIABLES = ("x0", "x1", "x2")
FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "sin": np.sin,
    "cos": np.cos,
    "exp": np.exp,
    "log": np.log,
    "sqrt": np.sqrt,
}
BINARY: Mapping[type[ast.operator], Callable[..., Any]] = {
    ast.Add: np.add,
    ast.Sub: np.subtract,
    ast.Mult: np.multiply,
    ast.Div: np.divide,
    ast.Pow: np.power,
}
UNARY: Mapping[type[ast.unaryop], Callable[..., Any]] = {
    ast.UAdd: np.positive,
    ast.USub: np.negative,
}

MAX_CHARACTERS = 2000
MAX_NODES = 80
MAX_DEPTH = 16
MAX_LITERAL = 1e100
MAX_EXPONENT = 8


def parse(text: str) -> ast.expr:
    """The syntax tree of a formula; raises :class:`Invalid` for anything outside the grammar."""
    if not 1 <= len(text) <= MAX_CHARACTERS:
        raise Invalid(
            f"the expression has {len(text)} characters; allowed are 1 to {MAX_CHARACTERS}"
        )
    tree = syntax_tree(text)
    if tree is None:
        raise Invalid("the expression is no formula: syntax error")
    nodes = _count(tree, 1)
    if nodes > MAX_NODES:
        raise Invalid(f"the expression has {nodes} nodes; allowed are {MAX_NODES}")
    return tree


def syntax_tree(text: str) -> ast.expr | None:
    """The tree of one Python expression, or ``None`` when the text is none."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None


def _count(node: ast.expr, depth: int) -> int:
    """Number of nodes of a subtree; raises :class:`Invalid` at the first forbidden one."""
    if depth > MAX_DEPTH:
        raise Invalid(f"the expression is nested more than {MAX_DEPTH} levels deep")
    if isinstance(node, ast.Constant):
        _check_literal(node)
        return 1
    if isinstance(node, ast.Name):
        if node.id not in (*VARIABLES, "pi"):
            raise Invalid(f"unknown name {node.id[:40]!r}; known are {', '.join(VARIABLES)} and pi")
        return 1
    return 1 + sum(_count(child, depth + 1) for child in _operands(node))


def _operands(node: ast.expr) -> list[ast.expr]:
    """The operands of an operator or function call of the grammar."""
    if isinstance(node, ast.UnaryOp) and type(node.op) in UNARY:
        return [node.operand]
    if isinstance(node, ast.BinOp) and type(node.op) in BINARY:
        if isinstance(node.op, ast.Pow):
            _check_exponent(node.right)
        return [node.left, node.right]
    if isinstance(node, ast.Call):
        if not isinstance(node.func, ast.Name) or node.func.id not in FUNCTIONS:
            raise Invalid(f"the only functions are {', '.join(FUNCTIONS)}")
        if len(node.args) != 1 or node.keywords or isinstance(node.args[0], ast.Starred):
            raise Invalid(f"{node.func.id} takes exactly one argument")
        return node.args
    raise Invalid(f"{type(node).__name__} is not allowed in an expression")


def _check_literal(node: ast.Constant) -> None:
    if type(node.value) not in (int, float):
        raise Invalid(f"literals are integers or decimals, not {type(node.value).__name__}")
    if node.value > MAX_LITERAL:
        raise Invalid(f"literals have magnitudes of at most {MAX_LITERAL:g}")


def _check_exponent(node: ast.expr) -> None:
    literal = node.operand if _is_negation(node) else node
    if not isinstance(literal, ast.Constant) or type(literal.value) not in (int, float):
        raise Invalid("the exponent of ** must be a literal number, with at most one minus sign")
    if literal.value > MAX_EXPONENT:
        raise Invalid(f"exponents lie between -{MAX_EXPONENT} and {MAX_EXPONENT}")


def _is_negation(node: ast.expr) -> bool:
    return isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub)


def predict(formula: ast.expr, inputs: np.ndarray) -> np.ndarray:
    """Values of a formula on the rows of ``inputs`` (rows x 3), in double precision.

    Raises :class:`Invalid` for any floating-point event: overflow, underflow, division by zero or
    an undefined (also a complex) value.
    """
    columns = dict(zip(VARIABLES, inputs.T, strict=True))
    try:
        with np.errstate(all="raise"):
            values = np.asarray(_value(formula, columns), dtype=np.float64)
    except FloatingPointError as event:
        raise Invalid(f"the expression cannot be evaluated on every row: {event}") from None
    if not np.isfinite(values).all():
        raise Invalid("the expression has no finite value on some row")
    return np.broadcast_to(values, len(inputs))


def _value(node: ast.expr, columns: Mapping[str, np.ndarray]) -> Any:
    if isinstance(node, ast.Constant):
        return np.float64(float(node.value))
    if isinstance(node, ast.Name):
        return np.float64(math.pi) if node.id == "pi" else columns[node.id]
    if isinstance(node, ast.UnaryOp):
        return UNARY[type(node.op)](_value(node.operand, columns))
    if isinstance(node, ast.BinOp):
        left, right = _value(node.left, columns), _value(node.right, columns)
        return BINARY[type(node.op)](left, right)
    assert isinstance(node, ast.Call)
    assert isinstance(node.func, ast.Name)
    result = FUNCTIONS[node.func.id](_value(node.args[0], columns))
    if node.func.id == "exp" and np.any(np.abs(result) < np.finfo(np.float64).tiny):
        raise FloatingPointError("underflow encountered in exp")  # not every library flags it
    return result


def relative_error(predicted: np.ndarray, target: np.ndarray) -> float:
    """Mean squared relative error (MSRE); raises :class:`Invalid` for floating-point events."""
    try:
        with np.errstate(all="raise"):
            return float(np.mean(((predicted - target) / target) ** 2))
    except FloatingPointError as event:
        raise Invalid(f"the relative error cannot be computed: {event}") from None
