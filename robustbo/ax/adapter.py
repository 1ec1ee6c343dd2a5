"""An experiment with sources: an Ax generator whose decisions and predictions are those of `robustbo.Optimizer`.

Ax's own adapters model one kind of row. Here the rows of other sources are set aside, and our surrogate learns from
them beside the target's; a candidate says in its metadata which source is to measure it.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from ax.adapter.adapter_utils import array_to_observation_data
from ax.adapter.base import Adapter, GenResults
from ax.adapter.data_utils import ExperimentData
from ax.adapter.registry import GENERATOR_KEY_TO_GENERATOR_SETUP, GeneratorRegistryBase, GeneratorSetup
from ax.adapter.transforms.base import Transform
from ax.core.data import Data
from ax.core.experiment import Experiment
from ax.core.observation import ObservationData, ObservationFeatures
from ax.core.search_space import SearchSpace
from ax.exceptions.core import SearchSpaceExhausted
from ax.generators.base import Generator

from robustbo.ax.declared import ATTACHED
from robustbo.ax.experiment import ORIGIN, SOURCE, history_of, point_in
from robustbo.ax.options import options_from
from robustbo.ax.seen import ClientView, ExperimentCache, ExperimentReader
from robustbo.errors import FitError, SpaceExhausted
from robustbo.loop.candidates.suggestion import Suggestion
from robustbo.loop.surrogate.cache import FitCache
from robustbo.searchspace.parameters import Value
from robustbo.study.declared import source_to_measure
from robustbo.trials.declared import source_in
from robustbo.trials.history import History
from robustbo.trials.sources import labels_to_record
from robustbo.view.view import View

KEY = "robustbo"  # of the generator, in Ax's registry and in generator runs


class SourcesGenerator(Generator):
    """The options of a strategy with sources, as JSON values; `SourcesAdapter` decides by them.

    Args:
        sources: The declared sources by name, as `robustbo.Source.to_dict` has them.
        old: The arms of old experiments, by the name of the source, as `OldArm.to_dict` has them.
        surrogate_options: Those of relevance pursuit.
        num_initial: Number of initial trials of the target.
        seed: Root of all randomness.
        failures: "learn" or "ignore".
    """

    can_predict = True
    can_model_in_sample = True

    def __init__(
        self,
        *,
        sources: Mapping[str, Any],
        old: Mapping[str, Any],
        surrogate_options: Mapping[str, Any],
        num_initial: int,
        seed: int,
        failures: str,
    ) -> None:
        decisions = {"num_initial": num_initial, "seed": seed, "failures": failures}
        self.options = options_from(
            {"sources": sources, "old": old, "surrogate_options": surrogate_options, **decisions}
        )


class SourcesAdapter(Adapter):
    """An experiment for our own decisions; its transforms are those of our space.

    Args:
        experiment: The experiment.
        generator: The options of the strategy.
        search_space: That of the experiment, by default.
        data: That of the experiment, by default; of the rows those of other sources than the target are set aside.

    Attributes:
        cache: Earlier results; it changes nothing except the time.
    """

    def __init__(
        self,
        *,
        experiment: Experiment,
        generator: SourcesGenerator,
        search_space: SearchSpace | None = None,
        data: Data | None = None,
    ) -> None:
        self._options, self.cache, self._pending = (
            generator.options,
            ExperimentCache(FitCache(), {}),
            list[Suggestion](),
        )
        super().__init__(experiment=experiment, generator=generator, search_space=search_space, data=data)

    @property
    def reader(self) -> ExperimentReader:
        """The experiment as it stands."""
        return ExperimentReader(self._experiment, self._options, self.cache)

    def _transform_data(
        self,
        experiment_data: ExperimentData,
        search_space: SearchSpace,
        transforms: Sequence[type[Transform]] | None,
        transform_configs: Mapping[str, Any],
        assign_transforms: bool = True,
    ) -> tuple[ExperimentData, SearchSpace]:
        """Return data and space as they are."""
        return experiment_data, search_space

    def _set_and_filter_training_data(
        self, experiment_data: ExperimentData, search_space: SearchSpace
    ) -> ExperimentData:
        """Keep the rows of the target, which cross-validation and Ax's analyses are about."""
        arms, observed = experiment_data.arm_data, experiment_data.observation_data
        reader = self.reader
        declared = reader.sources.declared
        runs = (run for run in reader.view().runs if run.values and source_in(declared, run.sources) is None)
        own = [(run.trial_index, run.arm_name) for run in runs]
        is_own = observed.index.droplevel(observed.index.names[2:]).isin(own)
        experiment_data = ExperimentData(arms[arms.index.isin(own)], observed[is_own])
        return super()._set_and_filter_training_data(experiment_data, search_space)

    def _fit(self, search_space: SearchSpace, experiment_data: ExperimentData) -> None:
        """Forget the candidates of the last call, which are trials of the experiment now, or were never used."""
        self._pending = []
        self.outcomes = list(self.reader.goals.metrics)

    def _gen(
        self,
        n: int,
        search_space: SearchSpace,
        optimization_config: Any,
        pending_observations: dict[str, list[ObservationFeatures]],
        fixed_features: ObservationFeatures,
        model_gen_options: Any,
    ) -> GenResults:
        reader = self.reader
        view, _ = reader.view()
        fixed = view.space.partial(fixed_features.parameters)
        by = source_to_measure(view.settings, None, (fixed_features.metadata or {}).get(SOURCE))
        labels = tuple(labels_to_record(by).items())
        candidates = list[Suggestion]()
        for _ in range(n):
            history = _with_pending(view.history, self._pending)
            try:
                candidate = View(view.settings, history, self.cache.fits).suggest(len(history), fixed, labels)
            except SpaceExhausted as error:
                raise SearchSpaceExhausted(str(error)) from error
            self._pending.append(candidate)
            candidates.append(candidate)
        features = [
            ObservationFeatures(self._parameters(of.params), metadata={**dict(of.source), ORIGIN: of.origin})
            for of in candidates
        ]
        noted = {ATTACHED: list(reader.sources.attached)}
        return GenResults(features, [1.0] * n, self._best(view), noted)

    def _best(self, view: View) -> ObservationFeatures | None:
        """The best point of the target so far, by what is believed; None where there is none yet."""
        if len(view.settings.objectives) > 1 or not view.is_measured:
            return None
        try:
            return ObservationFeatures(self._parameters(view.best().trial.params))
        except FitError:
            return None

    def _parameters(self, point: Mapping[str, Value]) -> dict[str, Any]:
        """A point of our space as Ax has it: of its types, and with parameters that follow from others."""
        space = self._search_space.parameters
        parameters = {name: space[name].cast(value) for name, value in point.items()}
        derived = {name: parameter for name, parameter in space.items() if hasattr(parameter, "expression_str")}
        return parameters | {name: parameter.compute(parameters=parameters) for name, parameter in derived.items()}

    def _predict(
        self, observation_features: list[ObservationFeatures], use_posterior_predictive: bool = False
    ) -> list[ObservationData]:
        return self._posteriors(self.reader.view(), observation_features, is_noisy=use_posterior_predictive)

    def _cross_validate(
        self,
        search_space: SearchSpace,
        cv_training_data: ExperimentData,
        cv_test_points: list[ObservationFeatures],
        use_posterior_predictive: bool = False,
    ) -> list[ObservationData]:
        """Predictions without the values of the target that are left out; those of other sources stay."""
        reader = self.reader
        view, runs = reader.view()
        declared, in_fold = reader.sources.declared, {*cv_training_data.arm_data.index}
        fold = [
            run
            for run in runs
            if source_in(declared, run.sources) or not run.values or (run.trial_index, run.arm_name) in in_fold
        ]
        history = history_of(fold, is_named=reader.goals.is_several, declared=declared)
        of_fold = ClientView(View(view.settings, history), fold)
        return self._posteriors(of_fold, cv_test_points, is_noisy=use_posterior_predictive)

    def _posteriors(
        self, client_view: ClientView, points: list[ObservationFeatures], *, is_noisy: bool
    ) -> list[ObservationData]:
        """Means and variances of what is wanted of the target."""
        view = client_view.view
        rows = [view.space.to_unit(point_in(view.space, point.parameters)) for point in points]
        posteriors = view.posteriors(rows, is_noisy=is_noisy)
        names = self.outcomes if None in posteriors else [str(name) for name in posteriors]
        means = np.array([of[0] for of in posteriors.values()]).T
        variances = np.array([of[1] for of in posteriors.values()]).T ** 2
        return array_to_observation_data(means, np.apply_along_axis(np.diag, -1, variances), names)


def _with_pending(history: History, pending: Sequence[Suggestion]) -> History:
    """The history with candidates that are no trials of the experiment yet."""
    for candidate in pending:
        event = {"event": "ask", "trial": len(history), "params": candidate.params, "origin": candidate.origin}
        history = history.apply(event | {"source": dict(candidate.source)})
    return history


class RobustGenerators(GeneratorRegistryBase):
    """Generators of this library, as Ax's strategies name them."""

    WITH_SOURCES = KEY


GENERATOR_KEY_TO_GENERATOR_SETUP[KEY] = GeneratorSetup(
    adapter_class=SourcesAdapter,
    generator_class=SourcesGenerator,
    transforms=[],
    not_saved_generator_kwargs=["old"],
)
