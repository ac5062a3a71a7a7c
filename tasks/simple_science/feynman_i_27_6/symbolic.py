"""Formulas as sympy expressions: is one constant, and how far is its form from the true law?

Imported where it is used, in the scoring process: sympy is slow to load and can be made to hang.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from typing import Any

import sympy

from tasks.simple_science.feynman_i_27_6.expression import VARIABLES, syntax_tree
from tasks.simple_science.feynman_i_27_6.trees import Tree, distance

LAW = "1/(1/x0+x1/x2)"
MAX_TREE = 200
MAX_EXACT_BITS = 4096

_NAMES: dict[str, sympy.Expr] = {
    **{name: sympy.Symbol(name) for name in VARIABLES},
    "pi": sympy.pi,
    "E": sympy.E,
    "I": sympy.I,
}
_BINARY: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}


def from_tree(node: ast.expr) -> sympy.Expr:
    """The sympy expression of a syntax tree, a candidate's or that of text that sympy printed.

    Raises ``ValueError`` for what is neither number, name, operator nor function.
    """
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return sympy.Integer(node.value)
    if isinstance(node, ast.Constant) and type(node.value) is float:
        return sympy.Float(node.value)
    if isinstance(node, ast.Name) and node.id in _NAMES:
        return _NAMES[node.id]
    if isinstance(node, ast.UnaryOp):
        operand = from_tree(node.operand)
        return -operand if isinstance(node.op, ast.USub) else operand
    if isinstance(node, ast.BinOp):
        left, right = from_tree(node.left), from_tree(node.right)
        if isinstance(node.op, ast.Pow) and isinstance(left, sympy.Rational):
            left = _bounded(left)
        return _BINARY[type(node.op)](left, right)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        function = getattr(sympy, node.func.id, None)
        elementary = isinstance(function, sympy.FunctionClass) or function is sympy.sqrt
        if elementary and function is not None:
            return function(*map(from_tree, node.args))
    raise ValueError(f"no expression: {ast.unparse(node)[:80]}")


def _bounded(number: sympy.Rational) -> sympy.Expr:
    """The number, or a rounded one: powers of powers of fractions would fill the memory."""
    bits = int(number.p).bit_length() + int(number.q).bit_length()
    return number if bits <= MAX_EXACT_BITS else sympy.Float(number)


def is_constant(formula: ast.expr) -> bool:
    """Whether sympy's automatic evaluation leaves no variable."""
    return not from_tree(formula).free_symbols


def edit_distance(formula: ast.expr) -> float:
    """Normalised tree edit distance to the true law, 0 (same form) to 1.

    Raises ``ValueError`` for a tree of more than 200 nodes, and whatever sympy stumbles over.
    """
    law = syntax_tree(LAW)
    assert law is not None
    reference = as_tree(canonical(from_tree(law)))
    tree = as_tree(canonical(from_tree(formula)))
    if tree.size > MAX_TREE:
        raise ValueError(f"the canonical form has {tree.size} nodes")
    return min(distance(tree, reference), reference.size) / reference.size


def canonical(expression: sympy.Expr) -> sympy.Expr:
    """Numbers evaluated, factored and simplified; written out and read again before and after."""
    expression = _reread(expression)
    expression = expression.subs(sympy.pi, sympy.Float(sympy.pi.evalf()))
    expression = sympy.simplify(sympy.factor(expression.evalf()))
    return _reread(expression.subs(1.0, 1))


def _reread(expression: sympy.Expr) -> sympy.Expr:
    """The expression that sympy builds from its own text: unevaluated parts get evaluated."""
    tree = syntax_tree(str(expression))
    if tree is None:
        raise ValueError(f"sympy printed no expression: {str(expression)[:80]}")
    return from_tree(tree)


def as_tree(expression: sympy.Basic) -> Tree:
    """Ordered tree: ``Const`` for every number, names of variables, names of sympy's functions."""
    if expression.is_Atom:
        return Tree(expression.name if isinstance(expression, sympy.Symbol) else "Const")
    return Tree(expression.func.__name__, tuple(map(as_tree, expression.args)))
