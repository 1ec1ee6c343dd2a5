"""Arithmetic expressions of parameters: their values, rounding errors and bounds, and which are linear."""

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from robustbo.lazy import cached_property
from robustbo.searchspace.constraints import arithmetic, intervals, linear
from robustbo.searchspace.constraints.grammar import Program, ProgramStep, read_expression
from robustbo.searchspace.constraints.linear import Linear

T = TypeVar("T")


@dataclass(frozen=True)
class Expression:
    """An arithmetic expression, as a program in postfix order.

    Example:
        >>> cost = Expression.parse("2 * x - y / 4")
        >>> cost.names, cost({"x": 1.0, "y": 2.0})
        (('x', 'y'), 1.5)
        >>> cost.linear
        Linear(coefficients=(('x', 2.0), ('y', -0.25)), constant=0.0)
    """

    program: Program

    @classmethod
    def parse(cls, text: str, names: Collection[str] | None = None) -> "Expression":
        """The expression that a text says.

        Raises:
            SpaceError: If it says none, or has a name that is not among those known.
        """
        return cls(read_expression(text, names))

    def minus(self, other: "Expression") -> "Expression":
        """The difference of two."""
        return Expression((*self.program, *other.program, ProgramStep("-")))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The parameters in it, in the order in which they come first."""
        return tuple(dict.fromkeys(step.value for step in self.program if step.kind == "name"))

    def __call__(self, values: Mapping[str, T]) -> T:
        """The value, elementwise: of floats a float, of arrays an array, of tensors a differentiable tensor.

        It is NaN where there is none (a division by zero, a root of a negative number) or it is no finite number.

        Example:
            >>> Expression.parse("1 / x")({"x": np.array([0.0, 2.0])})
            array([nan, 0.5])
        """
        with np.errstate(all="ignore"):
            return self._fold(lambda name: arithmetic.plain(values[name]), float, arithmetic.VALUES)

    def magnitude(self, values: Mapping[str, T]) -> T:
        """The factor of relative errors of the values: without a power, the expression with every sign made positive.

        Example:
            >>> change, params = Expression.parse("x - y"), {"x": 3.0, "y": 3.0}
            >>> change(params), change.magnitude(params)
            (0.0, 6.0)
        """

        def leaf(value: Any) -> arithmetic.Pair:
            return arithmetic.plain(value), abs(arithmetic.plain(value))

        with np.errstate(all="ignore"):
            return self._fold(lambda name: leaf(values[name]), leaf, arithmetic.MAGNITUDES)[1]

    def bounds(self, within: Mapping[str, tuple[float, float]]) -> tuple[float, float]:
        """Bounds of every value where the parameters are within theirs.

        Example:
            >>> low, high = Expression.parse("x**2 - y").bounds({"x": (-1.0, 2.0), "y": (0.0, 1.0)})
            >>> round(low, 9), round(high, 9)
            (-1.0, 4.0)
        """
        return self._interval_bounds(within)[0]

    def max_magnitude(self, within: Mapping[str, tuple[float, float]]) -> float:
        """The largest magnitude where the parameters are within their bounds."""
        return self._interval_bounds(within)[1]

    def _interval_bounds(self, within: Mapping[str, tuple[float, float]]) -> intervals.Bounded:
        return self._fold(
            lambda name: intervals.leaf_bounds(float(within[name][0]), float(within[name][1])),
            lambda number: intervals.leaf_bounds(number, number),
            intervals.OPERATIONS,
        )

    @cached_property
    def linear(self) -> Linear | None:
        """The expression as a linear form; None where it is not linear."""
        return self._fold(linear.name, linear.number, linear.OPERATIONS)

    @property
    def is_defined(self) -> bool:
        """False where a part without parameters has no value, or 0 divides: then no point has a value.

        Example:
            >>> Expression.parse("x + 9**9**9**9").is_defined, Expression.parse("x / (1 - 1)").is_defined
            (False, False)
        """

        def leave_out(operation: Callable[..., float]) -> Callable[..., float | None]:
            def apply(*operands: float | None) -> float | None:
                numbers = [operand for operand in operands if operand is not None]
                if any(map(math.isnan, numbers)) or (operation is arithmetic.divide and operands[1] == 0.0):
                    return math.nan
                return None if None in operands else operation(*numbers)

            return apply

        operations = {kind: leave_out(operation) for kind, operation in arithmetic.VALUES.items()}
        value = self._fold(lambda _: None, float, operations)
        return value is None or not math.isnan(value)

    def _fold(self, name: Callable[[str], Any], number: Callable[[float], Any], operations: Mapping[str, Any]) -> Any:
        """Run the program in some arithmetic."""
        stack: list[Any] = []
        for kind, value in self.program:
            if kind == "name":
                stack.append(name(value))
            elif kind == "number":
                stack.append(number(value))
            elif kind == "negative":
                stack.append(operations[kind](stack.pop()))
            else:
                second = stack.pop()
                stack.append(operations[kind](stack.pop(), second))
        return stack.pop()
