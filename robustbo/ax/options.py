"""The options of a generation strategy of Ax's, as far as it is one of ours; Ax is only looked at, never imported."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from robustbo.ax.old_experiments import OldArm
from robustbo.surrogates.registry import SURROGATES
from robustbo.trials.declared import Source
from robustbo.trials.settings import DEFAULT_SURROGATE


class StrategyOptions(NamedTuple):
    """The options of a strategy.

    Attributes:
        surrogate: A registry name.
        surrogate_options: The surrogate's own options.
        sources: The sources that it declares, by name.
        old: The arms of old experiments, by the name of the source that each is.
        decisions: Settings of its decisions, where these are those of `robustbo.Optimizer`.
    """

    surrogate: str = DEFAULT_SURROGATE
    surrogate_options: Mapping[str, Any] = {}
    sources: Mapping[str, Source] = {}
    old: Mapping[str, tuple[OldArm, ...]] = {}
    decisions: Mapping[str, Any] = {}


def options_of(strategy: Any) -> StrategyOptions:
    """The options of a strategy; the defaults where it is none of ours, or there is none."""
    for kwargs in _generator_kwargs(strategy):
        if "sources" in kwargs:
            return options_from(kwargs)
        for config in kwargs["surrogate_spec"].model_configs if kwargs.get("surrogate_spec") is not None else ():
            if config.name in SURROGATES:
                return StrategyOptions(config.name, config.model_options)
    return StrategyOptions()


def options_from(kwargs: Mapping[str, Any]) -> StrategyOptions:
    """The options from the arguments of a generator that takes sources, which are JSON values.

    It proposes no replicate, as no strategy of Ax's does: `next_replicate` says when one is worth it.
    """
    sources = {name: Source(**entries) for name, entries in kwargs["sources"].items()}
    old = {name: tuple(map(OldArm.from_dict, arms)) for name, arms in kwargs["old"].items()}
    decisions = {name: kwargs[name] for name in ("num_initial", "seed", "failures")} | {"replicate": "never"}
    return StrategyOptions(DEFAULT_SURROGATE, kwargs["surrogate_options"], sources, old, decisions)


def _generator_kwargs(strategy: Any) -> Iterator[Mapping[str, Any]]:
    for node in strategy._nodes if strategy is not None else ():
        for spec in node.generator_specs:
            yield spec.generator_kwargs
