"""A client of Ax as our decisions see it: a view of its trials, and the arm that each of them is."""

from collections.abc import Sequence
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from robustbo.ax.declared import ExperimentSources, sources_of
from robustbo.ax.experiment import Run, history_of, runs_of
from robustbo.ax.levels import with_levels
from robustbo.ax.options import StrategyOptions, options_of
from robustbo.ax.space import space_of
from robustbo.ax.stored_digits import is_kept, round_to_storage
from robustbo.ax.wanted import Goals, goals_of, metrics_of
from robustbo.errors import SpaceError
from robustbo.lazy import cached_property
from robustbo.loop.surrogate.cache import FitCache
from robustbo.searchspace.space import Space
from robustbo.study.declared import check_settings_for_sources
from robustbo.trials.declared import Declared, check_source_name
from robustbo.trials.initial import default_num_initial
from robustbo.trials.settings import Direction, Settings, options_text
from robustbo.trials.source_space import check_values, space_with_former_values
from robustbo.view.view import View

FITS: WeakKeyDictionary[Any, FitCache] = WeakKeyDictionary()  # by client, as long as it is there
VIEWS: WeakKeyDictionary[Any, dict[str, View]] = WeakKeyDictionary()  # by client, and by what they are of


class ExperimentCache(NamedTuple):
    """Results for an experiment: the last fits to its trials, and the last views, by what they are of."""

    fits: FitCache
    views: dict[str, View]


class ClientView(NamedTuple):
    """An experiment's trials as our decisions see them.

    Attributes:
        view: Its trials, and our settings for it.
        runs: Its arms, those of old experiments first; number i is trial i of the history.
    """

    view: View
    runs: list[Run]


class ExperimentReader:
    """An experiment that is read, each part of it once; it is never changed.

    Args:
        experiment: An Ax experiment.
        options: Those of its strategy.
        cache: Earlier results.
    """

    def __init__(self, experiment: Any, options: StrategyOptions, cache: ExperimentCache) -> None:
        self.experiment, self.options, (self.fits, self._views) = experiment, options, cache

    @cached_property
    def sources(self) -> ExperimentSources:
        """The sources that are declared, or attached to the experiment.

        Raises:
            ValueError: If they break a rule; see `robustbo.ax.declared.sources_of`.
        """
        return sources_of(self.experiment, self.options)

    @cached_property
    def space(self) -> Space:
        """The search space, with the values of choices that sources alone had.

        Raises:
            ValueError: If a parameter is of a kind that we cannot have, or the space is empty; or a source has values
                of what is none of its parameters.
        """
        space = space_with_former_values(space_of(self.experiment), self.sources.declared)
        check_values(space, self.sources.declared)
        return space

    @cached_property
    def goals(self) -> Goals:
        """Objectives and outcome constraints; no bound is relative.

        Raises:
            ValueError: If there is no objective, or one that we cannot have.
        """
        return goals_of(self.experiment).absolute(self._at_baseline)

    def view(self, surrogate: str | None = None, **rest: Any) -> ClientView:
        """All that is optimized: one metric in the short form, or several by their names.

        Args:
            surrogate: A registry name, that of the strategy by default.
            rest: Other settings.

        Raises:
            ValueError: If the surrogate takes no sources, and there are some; or a trial's source is none of them.
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
            fits: The last fits to it; those of the experiment by default.
        """
        return self._view(part, self._settings(direction), metric, fits=fits)

    def view_of_failures(self) -> ClientView:
        """The metrics of all that is wanted, as far as failures go."""
        metrics = metrics_of(self.experiment)
        return self._view("failures", self._settings("minimize"), *metrics, is_named=len(metrics) > 1)

    def has_values(self) -> bool:
        """Return whether an arm has a value of any metric that is wanted."""
        return any(run.values for run in self._runs(*metrics_of(self.experiment)))

    def _runs(self, *metrics: str) -> list[Run]:
        """The arms of old experiments, and those of the experiment, at levels too."""
        runs, declared = runs_of(self.experiment, self.space, *metrics), self.sources.declared
        for run in runs if declared else ():
            _check_source(declared, run)
        runs = with_levels(self.experiment, declared, runs, metrics)
        return _round_values([*self.sources.old_runs(self.space, metrics), *runs])

    def _view(
        self, part: str, settings: Settings, *metrics: str, is_named: bool = False, fits: FitCache | None = None
    ) -> ClientView:
        """A view of a part of what is measured: the last one of that name, if nothing has happened since."""
        runs, views = self._runs(*metrics), self._views
        history = history_of(runs, is_named=is_named, declared=self.sources.declared)
        if part not in views:
            views[part] = View(settings, history, self.fits if fits is None else fits)
        views[part] = views[part].at(settings, history)
        return ClientView(views[part], runs)

    def _settings(self, direction: Direction, surrogate: str | None = None, **rest: Any) -> Settings:
        """Ours for the experiment: with the surrogate of its strategy, unless another is given."""
        own = self.options.surrogate, self.options.surrogate_options
        name, options = own if surrogate is None else (surrogate, {})
        rest = {"num_initial": default_num_initial(self.space), **self.options.decisions, **rest}
        rest["sources"] = self.sources.declared
        settings = Settings(self.space, direction, name, options_text(options), **rest)
        check_settings_for_sources(settings)
        return settings

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


class ClientReader(ExperimentReader):
    """A client that is read, each part of it once; it is never changed.

    Args:
        client: An Ax client.

    Raises:
        TypeError: If it is none.
    """

    def __init__(self, client: Any) -> None:
        experiment, strategy = _experiment_and_strategy(client)
        own = ExperimentCache(FITS.setdefault(client, FitCache()), VIEWS.setdefault(client, {}))
        cache = getattr(None if strategy is None else strategy.adapter, "cache", own)  # that of a `SourcesAdapter`
        super().__init__(experiment, options_of(strategy), cache)


def _experiment_and_strategy(client: Any) -> tuple[Any, Any]:
    """The experiment and the strategy of Ax's `Client` or `AxClient`; None before there is a strategy."""
    if hasattr(client, "_maybe_generation_strategy"):
        return client._experiment, client._maybe_generation_strategy
    if hasattr(client, "_generation_strategy"):
        return client.experiment, client._generation_strategy
    raise TypeError(f"client must be ax.api.client.Client or AxClient, got {client!r}")


def _check_source(declared: Declared, run: Run) -> None:
    """Raise a `ValueError` where an arm's source is none of those declared."""
    try:
        check_source_name(declared, run.sources)
    except ValueError as error:
        raise ValueError(f"trial {run.trial_index}: {error}") from None


def _round_values(runs: Sequence[Run]) -> list[Run]:
    """Runs with values that are the same after storage."""
    means: dict[str, list[float]] = {}
    for run in runs:
        for metric, (mean, _) in run.values.items():
            means.setdefault(metric, []).append(mean)
    is_stored = {metric: is_kept(metric, values) for metric, values in means.items()}

    def round_one(metric: str, value: float) -> float:
        return float(round_to_storage([value], is_stored=is_stored[metric])[0])

    return [
        run._replace(
            values={
                metric: (round_one(metric, mean), None if sd is None else round_one(metric, sd))
                for metric, (mean, sd) in run.values.items()
            }
        )
        for run in runs
    ]
