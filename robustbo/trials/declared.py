"""Sources of values that people declare beside the target: old studies, simulators, other labs."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from robustbo.searchspace.parameters import Value
from robustbo.trials.sources import DEFAULT_KIND, Labels, labels_to_record
from robustbo.validation import flag, nearest, plain_scalar, real, short_list

MOST = 8  # sources of a study beside the target
EXAMPLES = {"was": '{"stirring": 300}', "had": '{"solvent": ["THF"]}'}

Declared = tuple[tuple[str, "Source"], ...]  # sources by name


@dataclass(frozen=True, kw_only=True)
class Source:
    """A source of values. It may have an offset, another scale, or a bias that depends on the parameters.

    Attributes:
        target: Whether this source is the one to optimize; recommendations are for it alone.
        cost: The cost of a value, in any unit, 1 by default; compared with the target's cost.
        ask: Whether the optimizer may ask this source for values; False for an old study, which does not grow.
        trusted: Whether it measures the same as the target, except for noise; the surrogate then learns no difference.
        was: Values of parameters that it does not have, by name: of an old study, or a simulator, that knows no
            stirring ``{"stirring": 300}``. Its points need not say them, and it is asked with these alone.
        level: Its level, if the sources are one thing at several levels (epochs, a mesh's width): the nearer to the
            target's level, the smaller its error. See `fidelity_levels`.
        had: Values of a choice that only this source has, by the choice's name; modelled, but never asked for.

    Example:
        >>> Source(cost=0.05), Source(ask=False, was={"stirring": 300})
        (Source(cost=0.05), Source(ask=False, was={'stirring': 300}))
    """

    target: bool = False
    cost: float = 1.0
    ask: bool = True
    trusted: bool = False
    was: Any = ()
    had: Any = ()
    level: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "was", tuple((name, plain_scalar(value)) for name, value in _pairs("was", self.was)))
        object.__setattr__(self, "had", tuple((name, _value_lists(of)) for name, of in _pairs("had", self.had)))
        for name in ("target", "ask", "trusted"):
            object.__setattr__(self, name, flag(name, getattr(self, name)))
        object.__setattr__(self, "cost", real("cost", self.cost))
        if not (math.isfinite(self.cost) and self.cost > 0):
            raise ValueError(f"cost must be a number above 0, got {self.cost}; leave it out if all cost the same")
        if self.target and not self.ask:
            raise ValueError("the target must allow asks, got ask=False; leave it out")
        if self.target and self.trusted:
            raise ValueError("trusted is for other sources than the target, got both; leave it out")
        if self.level is not None:
            object.__setattr__(self, "level", real("level", self.level))
            if not (math.isfinite(self.level) and self.level > 0):
                raise ValueError(f"level must be a number above 0, got {self.level}; count epochs, or a mesh's cells")
            if self.trusted:
                raise ValueError(
                    "a source is trusted or has a level, whose error the surrogate learns; got both, leave one out"
                )
        if self.target and (self.was or self.had):
            raise ValueError("was and had are for other sources than the target, whose space is the study's own")

    def __repr__(self) -> str:
        return f"Source({', '.join(f'{name}={value!r}' for name, value in self.to_dict().items())})"

    @property
    def values(self) -> dict[str, Value]:
        """The values of parameters that it does not have."""
        return dict(self.was)

    def to_dict(self) -> dict[str, Any]:
        """Entries that differ from the defaults, as JSON has them."""
        plain = {"was": self.values, "had": {name: [*of] for name, of in self.had}}
        own = [field.name for field in fields(self) if getattr(self, field.name) != field.default]
        return {name: plain.get(name, getattr(self, name)) for name in own}


def _pairs(name: str, mapping: Any) -> tuple[tuple[str, Any], ...]:
    """The entries of a mapping by names of parameters."""
    pairs = tuple(mapping.items()) if isinstance(mapping, Mapping) else mapping
    if not isinstance(pairs, tuple) or not all(isinstance(pair, tuple) and isinstance(pair[0], str) for pair in pairs):
        raise TypeError(f"{name} must be a mapping of parameters, such as {EXAMPLES[name]}, got {mapping!r}")
    return pairs


def _value_lists(values: Any) -> tuple[Value, ...]:
    if isinstance(values, str) or not isinstance(values, list | tuple):
        raise TypeError(f"had must be lists of values, such as {EXAMPLES['had']}, got {values!r}")
    return tuple(map(plain_scalar, values))


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
    check_levels(names, [source for _, source in pairs])
    if len(names) > MOST + 1:
        raise ValueError(f"sources must be at most {MOST} beside the target, got {len(names) - 1}")
    return tuple(zip(names, (source for _, source in pairs), strict=True))


def check_levels(names: Sequence[str], sources: Sequence[Source]) -> None:
    """Raise a `ValueError` where levels have no target's, two are one, or they are not all on one side of it."""
    levels = {name: source.level for name, source in zip(names, sources, strict=True) if source.level is not None}
    if not levels:
        return
    at_target = next((source.level for source in sources if source.target), None)
    if at_target is None:
        raise ValueError(f"the target must have a level where others have one, got none; they are {levels}")
    if len(set(levels.values())) < len(levels):
        raise ValueError(f"levels must all be different, got {levels}")
    if min(levels.values()) < at_target < max(levels.values()):
        raise ValueError(f"all levels must be below the target's, {at_target:g}, or all above it, got {levels}")


def fidelity_levels(
    name: str, levels: Sequence[float], cost: Callable[[float], float] | Sequence[float] | None = None
) -> dict[str, Source]:
    """Sources for one thing at several levels: epochs, a mesh, a size of the data.

    Args:
        name: Name of the quantity that has the levels.
        levels: The levels, the target's last.
        cost: Cost of a value at a level, as a function or a list; by default proportional to the level.

    Raises:
        ValueError: If there is only one level, two are equal, or there is not one cost for each.

    Example:
        >>> fidelity_levels("epochs", [10, 100])
        {'epochs=10': Source(cost=0.1, level=10.0), 'epochs=100': Source(target=True, level=100.0)}
    """
    if len(levels) < 2:
        raise ValueError(f"levels must have at least two entries, the target's last, got {list(levels)}")
    if len({*levels}) < len(levels):
        raise ValueError(f"levels must all be different, got {list(levels)}")
    of = cost if callable(cost) else (lambda level: level / levels[-1])
    costs = [of(level) for level in levels] if cost is None or callable(cost) else list(cost)
    if len(costs) != len(levels):
        raise ValueError(f"cost must have one number for each level, got {len(costs)} of {len(levels)}")
    texts = [f"{level:g}" for level in levels]
    if len({*texts}) < len(texts):
        texts = [repr(plain_scalar(level)) for level in levels]
    return {
        f"{name}={text}": Source(target=level == levels[-1], cost=c, level=level)
        for text, level, c in zip(texts, levels, costs, strict=True)
    }


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


def label_in(declared: Declared, labels: Mapping[str, str]) -> dict[str, str]:
    """The part of labels that names a declared source; none where no sources are declared."""
    return {kind: label for kind, label in labels.items() if declared and kind == DEFAULT_KIND}


def check_source_name(declared: Declared, labels: Mapping[str, str]) -> None:
    """Raise a `ValueError` where sources are declared and labels name another one."""
    name, names = labels.get(DEFAULT_KIND), [name for name, _ in declared]
    if declared and name is not None and name not in names:
        raise ValueError(
            f"source must be one of those declared, {short_list(names)}, got {name!r}{nearest(name, names)}"
        )
