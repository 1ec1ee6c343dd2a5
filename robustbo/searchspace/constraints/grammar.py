"""The grammar of a constraint's text: Python's own, of which names, numbers, arithmetic and comparisons are allowed.

The text is parsed into a syntax tree and never compiled or run. Everything that is not on the list is refused by name.
A tree is kept as a program in postfix order: flat, so that nothing that uses it recurses, however long a sum is.
"""

import ast
import math
import re
import warnings
from collections.abc import Collection
from dataclasses import dataclass
from keyword import iskeyword
from typing import Any, NamedTuple

from robustbo import limits
from robustbo.errors import SpaceError
from robustbo.validation import nearest

MAX_DEPTH = 100  # of what stands within something else; the terms of a sum do not count
ALLOWED = "only names, numbers, + - * / **, parentheses and comparisons are"
BINARY = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Pow: "**"}
COMPARISONS = {ast.Lt: "<=", ast.LtE: "<=", ast.Gt: ">=", ast.GtE: ">=", ast.Eq: "=="}
REFUSED = {ast.NotEq: "!=", ast.In: "in", ast.NotIn: "not in", ast.Is: "is", ast.IsNot: "is not"}
MISSPELT = (("=<|≤", "<="), ("=>|≥", ">="), ("(?<![<>=!:])=(?!=)", "=="))  # what people write, and what is meant
NOT_ONE = "a constraint is one comparison: give each as a constraint of its own"
OF_GROUP = "how many of a group may differ from 0 is written 'at most 2 of a, b, c'"
INSTEAD: dict[type[ast.AST], str] = {
    ast.BitXor: "a power is written **",
    **dict.fromkeys((ast.BoolOp, ast.BitAnd, ast.BitOr, ast.Not), NOT_ONE),
    ast.Compare: f"{NOT_ONE}; {OF_GROUP}",
}


class ProgramStep(NamedTuple):
    """A step of a postfix program: a "name", a "number", "negative", or one of + - * / **."""

    kind: str
    value: Any = None


Program = tuple[ProgramStep, ...]


@dataclass(frozen=True)
class ConstraintText:
    """A constraint's text, and a copy in which an identifier stands in place of every name in backquotes.

    Its first ``indent`` characters are left out: Python wants no space before the first token.
    """

    text: str
    plain: str
    indent: int
    quoted: dict[int, str]  # by where the identifier begins in the text

    def error(self, message: str) -> SpaceError:
        """An error that quotes the text."""
        return SpaceError(f"constraint {shorten(self.text)!r}: {message}")

    def place(self, node: Any) -> tuple[int, int]:
        """The characters at which a node begins and ends; Python counts bytes."""
        line = self.plain.encode()
        begin, end = (len(line[:offset].decode()) for offset in (node.col_offset, node.end_col_offset))
        return self.indent + begin, self.indent + end

    def of(self, node: Any) -> str:
        """The text of a node."""
        begin, end = self.place(node)
        return shorten(self.text[begin:end])


def shorten(text: str) -> str:
    """A text of at most 80 characters."""
    return text if len(text) <= 80 else f"{text[:77]}..."


def read_expression(text: Any, names: Collection[str] | None = None) -> Program:
    """The program of an arithmetic expression.

    Raises:
        SpaceError: If it is none, has something that is not allowed, or a name that is not among those known.

    Example:
        >>> [step.value or step.kind for step in read_expression("2 * `learning rate` - x")]
        [2.0, 'learning rate', '*', 'x', '-']
    """
    source = _source(text)
    return _program(_tree(source), source, names)


def read_comparisons(text: Any, names: Collection[str] | None = None) -> list[tuple[Program, str, Program]]:
    """(left, one of <=, >= and ==, right) of every comparison in a chain; < and > are read as <= and >=.

    Raises:
        SpaceError: As `read_expression`, and if it compares nothing, or otherwise.

    Example:
        >>> [relation for _, relation, _ in read_comparisons("0 < x + y <= 1")]
        ['<=', '<=']
    """
    source = _source(text)
    tree = _tree(source)
    if not isinstance(tree, ast.Compare):
        _program(tree, source, names)  # errors within its parts come first
        raise source.error("has no comparison; write <=, >= or ==")
    for relation in tree.ops:
        if type(relation) not in COMPARISONS:
            raise source.error(f"{REFUSED[type(relation)]!r} is not allowed; write <=, >= or ==")
    sides = [_program(side, source, names) for side in (tree.left, *tree.comparators)]
    relations = [COMPARISONS[type(relation)] for relation in tree.ops]
    return list(zip(sides[:-1], relations, sides[1:], strict=True))


def _source(text: Any) -> ConstraintText:
    if not isinstance(text, str):
        raise SpaceError(f"a constraint must be a str such as 'x + y <= 1', got {text!r}")
    text = text.strip()
    if not text:
        raise SpaceError("a constraint must be a str such as 'x + y <= 1', got an empty one")
    if len(text) > (most := limits.CONSTRAINT_CHARACTERS):
        raise SpaceError(f"constraint {shorten(text)!r}: must have at most {most} characters, got {len(text)}")
    quoted = {match.start() + 1: match[1] for match in re.finditer("`([^`]*)`", text)}
    plain = re.sub("`([^`]*)`", lambda match: f" {'_' * len(match[1])} ", text)
    plain = "".join(" " if c.isspace() else c for c in plain)
    source = ConstraintText(text, plain.lstrip(), len(plain) - len(plain.lstrip()), quoted)
    if "" in quoted.values():
        raise source.error("has an empty name in backquotes")
    if "`" in plain:
        raise source.error("has a backquote that is not closed")
    for character in "#\\\0":
        if character in plain:
            raise source.error(f"{character!r} is not allowed; {ALLOWED}")
    return source


def _tree(source: ConstraintText) -> ast.expr:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # "1or x", which Python will refuse one day
            return ast.parse(source.plain, mode="eval").body
    except (RecursionError, MemoryError):
        raise source.error("is nested too deeply") from None
    except SyntaxError as error:
        for pattern, correct in MISSPELT:
            if match := re.search(pattern, source.plain):
                where = f"at character {source.indent + match.start() + 1}"
                raise source.error(f"{match[0]!r} {where} is no comparison; write {correct}") from None
        at = source.indent + error.offset - 1 if error.offset else len(source.text)  # 0 where the text ends too early
        rest = f"before {shorten(source.text[at:])!r}" if source.text[at:] else "where it ends"
        advice = f"; {OF_GROUP}" if re.search(r"\bof\b", source.plain) else ""
        raise source.error(f"{error.msg}, at character {at + 1}, {rest}{advice}") from None
    except ValueError as error:  # what cannot be encoded
        raise source.error(f"cannot be read: {error}") from None


def _program(tree: ast.expr, source: ConstraintText, names: Collection[str] | None) -> Program:
    """The postfix program of a tree: the operands, then what is done with them."""
    steps: list[ProgramStep] = []
    pending: list[tuple[ast.expr | ProgramStep, int]] = [(tree, 0)]
    while pending:
        node, depth = pending.pop()
        if depth > MAX_DEPTH:
            raise source.error(f"is nested too deeply, more than {MAX_DEPTH} times")
        if isinstance(node, ProgramStep):
            steps.append(node)
        elif isinstance(node, ast.BinOp) and type(node.op) in BINARY:
            step = ProgramStep(BINARY[type(node.op)])
            pending += [(step, 0), (node.right, depth + 1), (node.left, depth)]
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            pending += [(ProgramStep("negative"), 0), (node.operand, depth + 1)]
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.UAdd):
            pending.append((node.operand, depth + 1))
        elif isinstance(node, ast.Name):
            steps.append(ProgramStep("name", _name(node, source, names)))
        elif isinstance(node, ast.Constant) and type(node.value) in (int, float):
            steps.append(ProgramStep("number", _number(node, source)))
        else:
            raise _refusal(node, source)
    return tuple(steps)


def _name(node: ast.Name, source: ConstraintText, names: Collection[str] | None) -> str:
    begin, end = source.place(node)
    written = source.quoted.get(begin, source.text[begin:end])
    if names is None or written in names:
        return written
    if begin not in source.quoted and node.id in names:  # as Python spells it: the micro sign is a mu
        return node.id
    choices = [name if name.isidentifier() and not iskeyword(name) else f"`{name}`" for name in names]
    raise source.error(f"{written!r} is no parameter; there are {shorten(str(choices))}{nearest(written, choices)}")


def _number(node: ast.Constant, source: ConstraintText) -> float:
    try:
        number = float(node.value)  # type: ignore[arg-type]
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise source.error(f"{source.of(node)} is too large for a number")
    return number


def _refusal(node: ast.expr, source: ConstraintText) -> SpaceError:
    operation: Any = getattr(node, "op", node)
    instead = INSTEAD.get(type(operation)) or INSTEAD.get(type(node))
    return source.error(f"{source.of(node)!r} is not allowed; {instead or ALLOWED}")
