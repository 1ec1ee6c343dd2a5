"""Sources of results: keys that say what measured them, or sources that are declared beside the target."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from robustbo.trials.declared import Source
from robustbo.trials.sources import DEFAULT_KIND, kinds_of


class ResultSources(NamedTuple):
    """Sources that may have measured a result.

    Attributes:
        kinds: The keys of results that say it.
        declared: Sources by name, where they are declared.
    """

    kinds: tuple[str, ...]
    declared: dict[str, Source]


def result_sources(sources: Iterable[str] | Mapping[str, Source]) -> ResultSources:
    """Read the argument ``sources`` of a generator.

    Raises:
        TypeError, ValueError: If it is no list of keys, or a source beside the target may be asked.

    Example:
        >>> result_sources(["sim_worker"]).kinds, result_sources({"lab": Source(target=True)}).kinds
        (('sim_worker',), ('source',))
    """
    if not isinstance(sources, Mapping):
        return ResultSources(kinds_of(sources, "sources"), {})
    for name, source in sources.items():
        if isinstance(source, Source) and source.ask and not source.target:
            raise ValueError(
                f"a source beside the target must have ask=False, got {name!r}: {source}; loops that speak gest-api "
                "evaluate the target alone, robustbo.Optimizer asks others too"
            )
    return ResultSources((DEFAULT_KIND,), dict(sources))
