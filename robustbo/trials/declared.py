"""Sources of values that people declare beside the target: old studies, simulators, other labs."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from robustbo.trials.sources import DEFAULT_KIND, Labels, labels_to_record
from robustbo.validation import flag, nearest, real, short_list

MOST = 8  # sources of a study beside the target

Declared = tuple[tuple[str, "Source"], ...]  # sources by name


@dataclass(frozen=True, kw_only=True)
class Source:
    """A source of values, which may read higher, on another scale, or with a bias that is a function of the parameters.

    Attributes:
        target: Whether it is what is optimized: recommendations are of it alone.
        cost: What a value of it costs, in any unit; 1 unless said. Costs are compared with that of the target.
        ask: Whether it may be asked for values; False of what is there and grows no more, such as an old study.
        trusted: Whether it is known to measure the same as the target, but for its noise: that is not learned then.

    Example:
        >>> Source(cost=0.05)
        Source(target=False, cost=0.05, ask=True, trusted=False)
    """

    target: bool = False
    cost: float = 1.0
    ask: bool = True
    trusted: bool = False

    def __post_init__(self) -> None:
        for name in ("target", "ask", "trusted"):
            object.__setattr__(self, name, flag(name, getattr(self, name)))
        object.__setattr__(self, "cost", real("cost", self.cost))
        if not (math.isfinite(self.cost) and self.cost > 0):
            raise ValueError(f"cost must be a number above 0, got {self.cost}; leave it out where all cost the same")
        if self.target and not self.ask:
            raise ValueError("the target must be one that may be asked, got ask=False; leave it out")
        if self.target and self.trusted:
            raise ValueError("trusted is said of other sources than the target, got both; leave it out")

    def to_dict(self) -> dict[str, Any]:
        """Entries that differ from the defaults, as JSON has them."""
        defaults = {field.name: field.default for field in fields(self)}
        return {name: value for name, value in asdict(self).items() if value != defaults[name]}


def sources_by_name(sources: Any) -> Declared:
    """Sources by name, checked.

    Raises:
        TypeError, ValueError: If it is no mapping of names to sources, or they have no target, or several.

    Example:
        >>> [name for name, _ in sources_by_name({"lab": Source(target=True), "2025": Source(ask=False)})]
        ['lab', '2025']
    """
    pairs = dict(sources).items() if isinstance(sources, Mapping | tuple) else None
    if pairs is None or not all(isinstance(source, Source) for _, source in pairs):
        raise TypeError(f'sources must be such as {{"lab": robustbo.Source(target=True)}}, got {sources!r}')
    names = [labels_to_record({DEFAULT_KIND: name}).get(DEFAULT_KIND, "") for name, _ in pairs]
    if "" in names or len({*names}) < len(names):
        raise ValueError(f"sources must have a name each, all different, got {[name for name, _ in pairs]}")
    targets = [name for name, (_, source) in zip(names, pairs, strict=True) if source.target]
    if pairs and len(targets) != 1:
        raise ValueError(f"one of the sources must be the target (target=True), got {targets or 'none'}")
    if len(names) > MOST + 1:
        raise ValueError(f"sources must be at most {MOST} beside the target, got {len(names) - 1}")
    return tuple(zip(names, (source for _, source in pairs), strict=True))


def target_of(declared: Declared) -> str | None:
    """The name of the target; None where no sources are declared."""
    return next((name for name, source in declared if source.target), None)


def others_of(declared: Declared) -> dict[str, Source]:
    """All sources but the target."""
    return {name: source for name, source in declared if not source.target}


def source_in(declared: Declared, labels: Mapping[str, str] | Labels) -> str | None:
    """The declared source, other than the target, that labels name; None where it is the target."""
    name = dict(labels).get(DEFAULT_KIND)
    return name if name in others_of(declared) else None


def check_source_name(declared: Declared, labels: Mapping[str, str]) -> None:
    """Raise a `ValueError` where sources are declared and labels name another one."""
    name, names = labels.get(DEFAULT_KIND), [name for name, _ in declared]
    if declared and name is not None and name not in names:
        raise ValueError(
            f"source must be one of those declared, {short_list(names)}, got {name!r}{nearest(name, names)}"
        )
