"""The region of a space with some values fixed, cached for the next asks."""

from functools import lru_cache

from robustbo.errors import SpaceError
from robustbo.searchspace.constraints.system import check_together
from robustbo.searchspace.region.faces import UnionOfFaces
from robustbo.searchspace.region.region import Fixed, Region
from robustbo.searchspace.space import Space


def region_of(space: Space, fixed: Fixed = ()) -> Region:
    """The region of a space with some values fixed.

    Raises:
        SpaceError: If it can be proved to be empty.
    """
    return (_of_a_pool if space.is_pool else _of_a_space)(space, fixed, repr((space.parameters, fixed)))


def _region_of(space: Space, fixed: Fixed, _: str) -> Region:
    """The region; the text is a part of the cache's key, since True, 1 and 1.0 are equal to each other."""
    kind = UnionOfFaces if space.groups and not space.is_pool else Region
    region = kind(space, fixed)
    if region.is_restricted:
        points = {name: (float(value),) * 2 for name, value in fixed if isinstance(value, int | float)}
        if fixed and space.constraints:
            always = {n: p.interval for n, p in space.parameters if p.interval is not None and not p.condition}
            check_together(space.constraints, {**always, **points}, f" with {dict(fixed)!r}")
        if region.all_points == []:
            why = [f"keeps {' and '.join(map(repr, space.texts))}"] if space.texts else []
            why += [f"has {dict(fixed)!r}"] if fixed else []
            raise SpaceError(f"no point {' and '.join(why)}: there is no point to ask for")
    return region


_of_a_space = lru_cache(maxsize=64)(_region_of)
# One of 100,000 rows takes some 80 MB, and all are new once rows are added.
_of_a_pool = lru_cache(maxsize=4)(_region_of)
