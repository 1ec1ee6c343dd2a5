"""A client of Ax as our decisions see it: a view of its trials, and the arm that each of them is."""

from collections.abc import Mapping
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from robustbo.ax.experiment import Run, history_of, runs_of
from robustbo.ax.space import space_of
from robustbo.ax.wanted import Goals, goals_of, metrics_of
from robustbo.errors import SpaceError
from robustbo.lazy import cached_property
from robustbo.loop.surrogate.cache import FitCache
from robustbo.searchspace.space import Space
from robustbo.surrogates.registry import SURROGATES
from robustbo.trials.initial import default_num_initial
from robustbo.trials.settings import DEFAULT_SURROGATE, Direction, Settings, options_text
from robustbo.view.view import View

FITS: WeakKeyDictionary[Any, FitCache] = WeakKeyDictionary()  # by client, as long as it is there
VIEWS: WeakKeyDictionary[Any, dict[str, View]] = WeakKeyDictionary()  # by client, and by what they are of


class ClientView(NamedTuple):
    """A client's trials as our decisions see them.

    Attributes:
        view: Its trials, and our settings for it.
        runs: Its arms; number i is trial i of the history.
    """

    view: View
    runs: list[Run]


class ClientReader:
    """A client that is read, each part of it once; it is never changed.

    Args:
        client: An Ax client.
    """

    def __init__(self, client: Any) -> None:
        self._client, self.experiment = client, client._experiment

    @cached_property
    def space(self) -> Space:
        """The search space.

        Raises:
            ValueError: If a parameter is of a kind that we cannot have, or the space is empty.
        """
        return space_of(self.experiment)

    @cached_property
    def goals(self) -> Goals:
        """Objectives and outcome constraints; no bound is relative.

        Raises:
            ValueError: If there is no objective, or one that we cannot have.
        """
        return goals_of(self.experiment).absolute(self._at_baseline)

    @property
    def fits(self) -> FitCache:
        """The last fits to the client's trials."""
        return FITS.setdefault(self._client, FitCache())

    def view(self, surrogate: str | None = None, **rest: Any) -> ClientView:
        """All that is optimized: one metric in the short form, or several by their names.

        Args:
            surrogate: A registry name, that of the client's strategy by default.
            rest: Other settings.
        """
        goals = self.goals
        settings = self._settings(goals.objectives[0][1], surrogate, **goals.as_settings(), **rest)
        return self._view("", settings, *goals.metrics, is_named=goals.is_several)

    def view_of_metric(self, metric: str, part: str, direction: Direction, fits: FitCache | None = None) -> ClientView:
        """One metric alone.

        Args:
            metric: Its name.
            part: The name of this view.
            direction: Whether it is minimized or maximized.
            fits: The last fits to it; those of the client by default.
        """
        return self._view(part, self._settings(direction), metric, fits=fits)

    def view_of_failures(self) -> ClientView:
        """The metrics of all that is wanted, as far as failures go."""
        metrics = metrics_of(self.experiment)
        return self._view("failures", self._settings("minimize"), *metrics, is_named=len(metrics) > 1)

    def has_values(self) -> bool:
        """Return whether an arm has a value of any metric that is wanted."""
        return any(run.values for run in runs_of(self.experiment, self.space, *metrics_of(self.experiment)))

    def _view(
        self, part: str, settings: Settings, *metrics: str, is_named: bool = False, fits: FitCache | None = None
    ) -> ClientView:
        """A view of a part of what is measured: the last one of that name, if nothing has happened since."""
        runs = runs_of(self.experiment, self.space, *metrics)
        history, views = history_of(runs, is_named=is_named), VIEWS.setdefault(self._client, {})
        if part not in views:
            views[part] = View(settings, history, self.fits if fits is None else fits)
        views[part] = views[part].at(settings, history)
        return ClientView(views[part], runs)

    def _settings(self, direction: Direction, surrogate: str | None = None, **rest: Any) -> Settings:
        """Ours for the client: with the surrogate of its strategy, or the default one, unless another is given."""
        name, options = _surrogate(self._client) if surrogate is None else (surrogate, {})
        initial = default_num_initial(self.space)
        return Settings(self.space, direction, name, options_text(options), num_initial=initial, **rest)

    def _at_baseline(self, metric: str) -> float:
        """Posterior mean of a metric at the baseline, which has been measured there; one wrong value is no bound."""
        if (baseline := self.experiment.status_quo) is None:
            raise ValueError(f"{metric} is bounded relative to a baseline, got none; client.attach_baseline first")
        part = f"baseline {metric}"
        view, runs = self.view_of_metric(metric, part, "minimize", self.fits.of(part))
        if not any(run.values for run in runs if run.arm_name == baseline.name):
            raise ValueError(
                f"the baseline must have a value of {metric} within the space, got none; complete it first"
            )
        try:
            point = self.space.validate({name: baseline.parameters[name] for name in self.space.names})
        except (SpaceError, KeyError):
            raise ValueError(f"the baseline must be in the space, got {baseline.parameters!r}") from None
        return view.predict(point).mean


def _surrogate(client: Any) -> tuple[str, Mapping[str, Any]]:
    strategy = client._maybe_generation_strategy
    for node in strategy._nodes if strategy is not None else ():
        for spec in node.generator_specs:
            surrogate_spec = spec.generator_kwargs.get("surrogate_spec")
            for config in surrogate_spec.model_configs if surrogate_spec is not None else ():
                if config.name in SURROGATES:
                    return config.name, config.model_options
    return DEFAULT_SURROGATE, {}
