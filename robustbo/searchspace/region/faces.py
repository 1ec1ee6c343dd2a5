"""The region of a space in which at most so many parameters of a group are on: a union of faces.

A face is the region in which some parameters are on and the others of their groups have the value that is off: an
ordinary region with these fixed, whose equations are solved for what is on. Points are drawn in faces of all sizes.

Notation (n rows, d parameters, m of them in some group):
    U    n x d    unit-cube rows
    on   n x m    which parameters of groups are on
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from robustbo.errors import SpaceError
from robustbo.lazy import cached_property
from robustbo.searchspace.columns import cell_middles, is_continuous
from robustbo.searchspace.conditions import absent_names
from robustbo.searchspace.constraints.constraint import TOLERANCE
from robustbo.searchspace.constraints.constraint_set import Bools
from robustbo.searchspace.constraints.equations import Dependent
from robustbo.searchspace.parameters import Value
from robustbo.searchspace.region.dependent import ROUNDING
from robustbo.searchspace.region.region import Region
from robustbo.searchspace.region.shape import ParameterColumns
from robustbo.searchspace.region.subsets import Group, draw_subsets
from robustbo.searchspace.sobol import sobol_rows
from robustbo.searchspace.space import Space

MOST_FACES = 1024  # that are kept at once


class UnionOfFaces(Region):
    """The points of a space that has groups of parameters of which at most some are on; made by `region_of`."""

    @cached_property
    def dependents(self) -> list[Dependent]:
        """The parameters that follow from others in all faces: none, since each face has its own."""
        return []

    @cached_property
    def free(self) -> list[int]:
        """The columns of the parameters that can be chosen."""
        bound = {*dict(self.fixed)} | absent_names(self.space.conditions, dict(self.fixed))
        return [i for i, (name, p) in enumerate(self.space.parameters) if name not in bound and p.count != 1]

    @property
    def is_boxed(self) -> bool:
        """Return whether nothing but bounds is in the way of a climb within a face."""
        return not self.space.arithmetic

    @cached_property
    def _without_groups(self) -> Space:
        texts = [constraint.text for constraint in self.space.arithmetic]
        return Space.from_dict(dict(self.space.parameters), list(dict.fromkeys(texts)))

    @cached_property
    def _names(self) -> list[str]:
        return list(dict.fromkeys(name for group in self.space.groups for name in group.names))

    @cached_property
    def _groups(self) -> list[Group]:
        return [Group(group, self._names) for group in self.space.groups]

    @cached_property
    def _members(self) -> ParameterColumns:
        return ParameterColumns(self.space, self._names)

    @cached_property
    def _off(self) -> dict[str, Value]:
        named = dict(self.space.parameters)
        pairs = {name: group.off for group in self.space.groups for name in group.names}
        return {name: named[name].validate(name, int(v) if v.is_integer() else v) for name, v in pairs.items()}

    @cached_property
    def _off_units(self) -> np.ndarray:
        named = dict(self.space.parameters)
        return np.array([named[name].to_unit(value) for name, value in self._off.items()])

    @cached_property
    def member_columns(self) -> list[int]:
        """The columns of the parameters in groups, in the order of ``on``."""
        return [int(column) for column in self._members.at]

    def off_value(self, column: int) -> float:
        """The value of a parameter of a group that is off."""
        return float(self._off[self.space.names[column]])  # type: ignore[arg-type]

    def off_unit(self, column: int) -> float:
        """The coordinate of that value."""
        return float(self._off_units[self.member_columns.index(column)])

    @cached_property
    def _rounding(self) -> np.ndarray:
        named = dict(self.space.parameters)
        intervals = (named[name].interval or (0.0, 0.0) for name in self._names)
        return np.array([TOLERANCE * (high - low) for low, high in intervals])

    def on(self, U: Tensor) -> Bools:
        """``n x m`` booleans: which parameters of groups are on at rows."""
        off = np.array([float(value) for value in self._off.values()])  # type: ignore[arg-type]
        return np.asarray(~(np.abs(self._members.values(U.numpy()) - off[:, None]) <= self._rounding[:, None])).T

    def _are_few(self, on: Bools) -> Bools:
        return np.asarray(np.array([on[:, group.at].sum(1) <= group.most for group in self._groups]).all(0))

    def project(self, U: Tensor) -> Tensor:
        """Rows where only those are on that are furthest from off, as many as may be; what is fixed stays."""
        is_fixed = np.array([name in dict(self.fixed) for name in self._names])
        at = self._members.at
        far = np.where(is_fixed, np.inf, np.abs(U.numpy()[:, at] - self._off_units))
        on = self.on(self._with_fixed(U))
        for group in self._groups:
            order = np.argsort(-np.where(on[:, group.at], far[:, group.at], -np.inf), axis=1, kind="stable")
            rank = np.argsort(order, axis=1, kind="stable")
            on[:, group.at] &= rank < group.most
        return self._turn_off(U, on)

    def _with_fixed(self, U: Tensor) -> Tensor:
        U = U.clone()
        columns = {name: i for i, name in enumerate(self.space.names)}
        for name, value in self.fixed:
            U[:, columns[name]] = self.space.parameters[columns[name]][1].to_unit(value)
        return U

    def _turn_off(self, U: Tensor, on: Bools) -> Tensor:
        rows = U.numpy().copy()
        rows[:, self._members.at] = np.where(on, rows[:, self._members.at], self._off_units)
        return torch.from_numpy(rows)

    def complete(self, U: Tensor) -> Tensor:
        """Rows with all filled in that follows in the face where they are; where too many are on nothing follows."""
        U = self._with_fixed(U)
        on = self.on(U)
        U = self._turn_off(U, on)
        if not self.space.equations:
            return U
        for key, rows in self._by_face(on):
            face = self._face(key)
            U[rows] = torch.nan if face is None else face.complete(U[rows])
        return U

    def _by_face(self, on: Bools) -> Iterator[tuple[tuple[bool, ...], Tensor]]:
        """The faces where rows are, and the indices of their rows."""
        indices = np.flatnonzero(self._are_few(on))
        different, face_numbers = np.unique(on[indices], axis=0, return_inverse=True)
        for k, key in enumerate(different.tolist()):
            yield tuple(key), torch.from_numpy(indices[face_numbers.reshape(-1) == k])

    @cached_property
    def _faces(self) -> dict[tuple[bool, ...], Region | None]:
        return {}

    def _face(self, on: tuple[bool, ...]) -> Region | None:
        """The face where these are on; None where its equations contradict each other."""
        if on not in self._faces:
            while len(self._faces) >= MOST_FACES:
                self._faces.pop(next(iter(self._faces)))
            off = [(name, self._off[name]) for name, is_on in zip(self._names, on, strict=True) if not is_on]
            face = Region(self._without_groups, tuple({**dict(self.fixed), **dict(off)}.items()))
            try:
                face.dependents  # noqa: B018 - raises where there are none
            except SpaceError:
                self._faces[on] = None
            else:
                self._faces[on] = face
        return self._faces[on]

    def face_at(self, row: Tensor) -> Region:
        """The face where a row of the region is."""
        face = self._face(tuple(self.on(row[None])[0].tolist()))
        return self if face is None else face

    def holds(self, U: Tensor) -> Tensor:
        """``n`` booleans: whether completed rows belong to the region, to rounding."""
        is_in = ((U >= -ROUNDING) & (U <= 1 + ROUNDING)).all(-1)
        return is_in & super().holds(U.nan_to_num(ROUNDING))

    def can_move(self, U: Tensor) -> Bools:
        """``n x d`` booleans: which columns can change in the faces where rows are."""
        movable = np.ones(U.shape, dtype=bool)
        movable[:, self._members.at] = self.on(U)
        return movable

    def _complete_points(self, rows: Sequence[Any]) -> list[dict[str, Value] | None]:
        if not len(rows):
            return []
        on = self.on(self._with_fixed(torch.as_tensor(np.array(rows, dtype=float))))
        faces = [
            self._face(tuple(key)) if few else None for key, few in zip(on.tolist(), self._are_few(on), strict=True)
        ]
        return [None if face is None else face._complete_point(row) for face, row in zip(faces, rows, strict=True)]

    def sobol_rows(self, seed: int, index: int, count: int) -> Tensor:
        """Rows spread over the faces: of each group a number that is on, all as often, then which, then where."""
        d = len(self.space)
        raw = sobol_rows(d + len(self._groups), seed, index, count)
        on = np.ones((count, len(self._names)), dtype=bool)
        is_fixed = np.array([name in dict(self.fixed) for name in self._names])
        always = self.on(self._with_fixed(torch.from_numpy(raw[:1, :d])))[0] & is_fixed
        for k, group in enumerate(self._groups):
            at = group.at[~is_fixed[group.at]]
            subsets = draw_subsets(raw[:, d + k], len(at), max(0, group.most - int(always[group.at].sum())))
            on[:, at] &= subsets
        return self._turn_off(self._with_fixed(self._away_from_off(torch.from_numpy(raw[:, :d].copy()))), on | always)

    def _away_from_off(self, U: Tensor) -> Tensor:
        """Rows in which parameters of few values have one that is not off, each of the others as often."""
        for column, off in zip(self._members.at.tolist(), self._off_units.tolist(), strict=True):
            parameter = self.space.parameters[column][1]
            if not is_continuous(parameter) and (count := parameter.count or 1) > 1:
                numbers = (U[:, column] * (count - 1)).floor().clamp(0, count - 2).long()
                middles = cell_middles(parameter, torch.arange(count))
                U[:, column] = middles[numbers + (numbers >= (middles - off).abs().argmin())]
        return U
