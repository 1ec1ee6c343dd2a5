"""A client of Ax as our decisions see it: a view of its trials, and the arm that each of them is."""

from collections.abc import Mapping
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from robustbo.ax.experiment import Run, history_of, runs_of
from robustbo.ax.space import space_of
from robustbo.ax.wanted import Goals, goals_of
from robustbo.errors import SpaceError
from robustbo.loop.surrogate.cache import FitCache
from robustbo.searchspace.space import Space
from robustbo.surrogates.registry import SURROGATES
from robustbo.trials.history import History
from robustbo.trials.settings import DEFAULT_SURROGATE, Direction, Settings, default_num_initial, options_text
from robustbo.view.view import View

FITS: WeakKeyDictionary[Any, FitCache] = WeakKeyDictionary()  # by client, as long as it is there
VIEWS: WeakKeyDictionary[Any, dict[str, View]] = WeakKeyDictionary()  # by client, and by what they are of


class ClientView(NamedTuple):
    """A client as our decisions see it.

    Attributes:
        view: Its trials, and our settings for it.
        runs: Its arms; number i is trial i of the history.
    """

    view: View
    runs: list[Run]


def client_view(client: Any, surrogate: str | None = None, **rest: Any) -> ClientView:
    """A client and what it is to optimize: one metric in the short form, or several by their names.

    Args:
        client: An Ax client.
        surrogate: A registry name, that of the client's strategy unless given.
        rest: Other settings.

    Raises:
        ValueError: If the experiment has no objective, or one that we cannot have, or a parameter of another kind.
    """
    experiment = client._experiment
    space = space_of(experiment)
    goals = goals_of(experiment).absolute(lambda metric: _at_baseline(client, space, metric))
    if not goals.is_several:
        ((metric, direction),) = goals.objectives
        runs = runs_of(experiment, space, metric)
        return ClientView(
            view_of(client, settings_of(client, space, direction, surrogate, **rest), history_of(runs)), runs
        )
    settings = settings_of(client, space, goals.objectives[0][1], surrogate, **_outcome_settings(goals), **rest)
    runs = runs_of(experiment, space, *(outcome.name for outcome in settings.outcomes))
    return ClientView(view_of(client, settings, history_of(runs, is_named=True)), runs)


def _outcome_settings(goals: Goals) -> dict[str, Any]:
    return {
        "objectives": goals.objectives,
        "outcome_constraints": goals.constraints,
        "reference_point": goals.reference_point,
    }


def _at_baseline(client: Any, space: Space, metric: str) -> float:
    """Posterior mean of a metric at the baseline, which has been measured there; one wrong value is no bound."""
    if (baseline := client._experiment.status_quo) is None:
        raise ValueError(f"{metric} is bounded relative to a baseline, got none; client.attach_baseline first")
    runs = runs_of(client._experiment, space, metric)
    if not any(run.values for run in runs if run.arm_name == baseline.name):
        raise ValueError(f"the baseline must have a value of {metric} within the space, got none; complete it first")
    try:
        point = space.validate({name: baseline.parameters[name] for name in space.names})
    except (SpaceError, KeyError):
        raise ValueError(f"the baseline must be in the space, got {baseline.parameters!r}") from None
    settings, part = settings_of(client, space, "minimize"), f"baseline {metric}"
    return view_of(client, settings, history_of(runs), part, fits_of(client).of(part)).predict(point).mean


def fits_of(client: Any) -> FitCache:
    """The last fits to a client's trials."""
    return FITS.setdefault(client, FitCache())


def view_of(client: Any, settings: Settings, history: History, of: str = "", fits: FitCache | None = None) -> View:
    """A view of a client's trials: the last one, if nothing has happened since.

    Args:
        client: An Ax client.
        settings: Ours for it.
        history: Its trials.
        of: What it is a view of: all that is optimized, unless given.
        fits: The last fits to that; those of the client unless given.
    """
    views = VIEWS.setdefault(client, {})
    last = views.get(of) or View(settings, history, fits_of(client) if fits is None else fits)
    views[of] = last.at(settings, history)
    return views[of]


def settings_of(client: Any, space: Space, direction: Direction, surrogate: str | None = None, **rest: Any) -> Settings:
    """Ours for a client: with the surrogate of its strategy, or the default one, unless another is given."""
    name, options = _surrogate(client) if surrogate is None else (surrogate, {})
    initial = default_num_initial(space)
    return Settings(space, direction, name, options_text(options), num_initial=initial, **rest)


def _surrogate(client: Any) -> tuple[str, Mapping[str, Any]]:
    strategy = client._maybe_generation_strategy
    for node in strategy._nodes if strategy is not None else ():
        for spec in node.generator_specs:
            surrogate_spec = spec.generator_kwargs.get("surrogate_spec")
            for config in surrogate_spec.model_configs if surrogate_spec is not None else ():
                if config.name in SURROGATES:
                    return config.name, config.model_options
    return DEFAULT_SURROGATE, {}
