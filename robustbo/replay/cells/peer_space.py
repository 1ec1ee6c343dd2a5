"""A restricted space as another library is given it, so that it can do its best.

A component that follows from the others by an equation is left out, and calculated; its bounds become constraints. A
column of a pool becomes a parameter of its values in order; the pool of a full grid is then the whole space. Where rows
lie scattered (see `robustbo.replay.cells.scattered`) a library is given the box around them. What a library suggests
beyond the constraints costs it no trial: it is told how far it was beyond each, and asked again, so many times as its
own module says; then a point that keeps them is drawn. It begins with the same points as our own methods, which keep
the constraints.
"""

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from robustbo import seeds
from robustbo.errors import SpaceError
from robustbo.lazy import cached_property
from robustbo.replay.cells.scattered import Rows, is_scattered
from robustbo.searchspace.constraints.at_most import AtMost
from robustbo.searchspace.constraints.constraint import Constraint
from robustbo.searchspace.constraints.equations import solve
from robustbo.searchspace.parameters import Choice, Float, Ordinal, Parameter, Value
from robustbo.searchspace.pool import Pool
from robustbo.searchspace.region.dependent import complete
from robustbo.searchspace.region.factory import region_of
from robustbo.searchspace.region.sampling import sobol_points
from robustbo.searchspace.space import ABSENT, Space

Params = dict[str, Value]
Linear = tuple[dict[str, float], float]  # coefficients by name and a constant, whose sum is at most 0


SLIP = 1e-5  # beyond a linear constraint
BACK = (1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3)  # shares of the way to the middle


class PeerSuggestion(NamedTuple):
    """A suggestion as a point of the space, None where it is none, and how far it is beyond each constraint."""

    point: Params | None
    excess: list[float]


class PeerSpace:
    """The part of a space that another library is to search.

    Attributes:
        parameters: By name, those that follow from others left out.
        rows: Those that suggestions stand for, by whichever is nearest, where they lie scattered.
    """

    def __init__(self, space: Space) -> None:
        self.space, self._region = space, region_of(space)
        self._dependents = solve(space.equations, dict(space.parameters), {})
        left_out = {dependent.name for dependent in self._dependents}
        named = [(name, p) for name, p in space.parameters if name not in left_out]
        self.rows = Rows(space) if isinstance(space, Pool) and is_scattered(space) else None
        if isinstance(space, Pool) and self.rows is None:
            columns = dict(zip(space.names, zip(*space.rows, strict=True), strict=True))
            named = [(name, _column(p, columns[name])) for name, p in named]
        self.parameters: dict[str, Parameter] = dict(named)
        counts = [p.count or 0 for p in self.parameters.values()]
        is_one = self.rows is not None  # every point of the box stands for a row
        self._is_full = is_one or not space.is_pool or math.prod(counts) == space.size  # every row of values is listed
        self.inequalities = [
            constraint
            for constraint in space.constraints
            if not (constraint.is_equality or self._always_holds(constraint))
        ]

    def _always_holds(self, constraint: Constraint | AtMost) -> bool:
        """Return whether the bounds of the parameters imply it, so that a library need not learn it."""
        named = dict(self.space.parameters)
        intervals = {name: interval for name in constraint.names if (interval := named[name].interval) is not None}
        return constraint.excess.bounds(intervals)[1] <= 0

    @cached_property
    def linear(self) -> list[Linear | None]:
        """The constraints, in the order of `suggested`, as linear ones of `parameters`; None for another."""
        forms: list[Linear | None] = []
        for name, constant, coefficients in self._dependents:
            low, high = dict(self.space.parameters)[name].interval or (0.0, 0.0)
            forms.append(({other: -a for other, a in coefficients.items()}, low - constant))
            forms.append((dict(coefficients), constant - high))
        forms += [self._linear(constraint) for constraint in self.inequalities]
        return [*forms, *([] if self._is_full else [None])]

    def _linear(self, constraint: Constraint | AtMost) -> Linear | None:
        form, from_others = constraint.excess.linear, {d.name: d for d in self._dependents}
        if form is None:
            return None
        total, constant = dict.fromkeys(self.parameters, 0.0), form.constant
        for name, a in form.coefficients:
            _, shift, parts = from_others.get(name, (name, 0.0, {name: 1.0}))
            constant += a * shift
            for other, times in parts.items():
                total[other] += a * times
        return {name: a for name, a in total.items() if a}, constant

    def complete(self, params: Mapping[str, Any]) -> PeerSuggestion:
        """Complete a library's suggestion; values of parameters that do not exist there are left away.

        A suggestion that is beyond linear constraints alone, and by no more than a solver's rounding, is drawn back.
        """
        suggestion = self._complete_point(params)
        slips = [
            0 < beyond <= SLIP and form is not None for beyond, form in zip(suggestion.excess, self.linear, strict=True)
        ]
        is_slip = all(slip or beyond <= 0 for slip, beyond in zip(slips, suggestion.excess, strict=True))
        for share in BACK if suggestion.point is None and is_slip else ():
            moved = {name: _between(self.parameters[name], params[name], self._middle[name], share) for name in params}
            if (back := self._complete_point(moved)).point is not None:
                return back
        return suggestion

    @cached_property
    def _middle(self) -> dict[str, Any]:
        """Mean of some points, whose numbers keep all linear constraints; values of other kinds are of one point."""
        points = [self.own(point, is_whole=True) for point in sobol_points(self._region, 0, 0, 64)]
        return {name: _mean(p, [point[name] for point in points]) for name, p in self.parameters.items()}

    def _complete_point(self, params: Mapping[str, Any]) -> PeerSuggestion:
        full, excess, _ = complete(params, self._dependents, dict(self.space.parameters))
        full = self.space.select_present(full)
        excess += [
            float(constraint.excess(full)) if set(constraint.names) <= set(full) else -1.0
            for constraint in self.inequalities
        ]
        if not self._is_full:
            excess.append(-1.0 if self._is_row(full) else 1.0)
        return PeerSuggestion(self._valid_point(full), excess)

    def _is_row(self, full: Params) -> bool:
        try:
            return bool(self.space.validate(full))
        except SpaceError:
            return False

    def _valid_point(self, full: Params) -> Params | None:
        try:
            point = self.space.validate(full)
        except SpaceError:
            return None
        return None if self.space.broken(point) else point

    def first(self, seed: int, number: int) -> Params:
        """Point of that number of those that our own methods begin with."""
        return sobol_points(self._region, seeds.derive(seed, 0, "sobol"), number, 1)[0]

    def draw(self, root: int, number: int) -> Params:
        """A point that keeps all constraints, drawn for a trial."""
        return sobol_points(self._region, seeds.derive(root, number, "drawn"), 0, 1)[0]

    def own(self, point: Mapping[str, Any], *, is_whole: bool = False) -> Params:
        """A point without what the library is not given; with something for what does not exist where it is whole."""
        values = {name: value for name, value in point.items() if name in self.parameters}
        rest = {name: p.from_unit(ABSENT) for name, p in self.parameters.items() if name not in values}
        return values | (rest if is_whole else {})


def is_restricted(space: Space) -> bool:
    """Return whether some rows of values are no points."""
    return space.is_pool or not space.is_plain


def _column(parameter: Parameter, values: tuple[Value, ...]) -> Parameter:
    """A pool's column as a parameter of its values: in order where they are numbers."""
    if isinstance(parameter, Choice):
        return parameter
    distinct = sorted({float(value) if isinstance(parameter, Float) else value for value in values})  # type: ignore
    return Ordinal(*distinct)


def _is_real(parameter: Parameter) -> bool:
    return isinstance(parameter, Float) and parameter.count is None


def _mean(parameter: Parameter, values: list[Any]) -> Any:
    return sum(values) / len(values) if _is_real(parameter) else values[0]


def _between(parameter: Parameter, value: Any, middle: Any, share: float) -> Any:
    return value + share * (middle - value) if _is_real(parameter) else value
