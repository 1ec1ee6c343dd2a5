"""Our surrogates as a generation strategy of Ax.

Importing this registers our classes with Ax's storage, so that clients that use them can be saved and loaded.
"""

import secrets
from collections.abc import Mapping
from typing import Any, TypeAlias

from ax.adapter.registry import Generators, MBM_X_trans
from ax.adapter.transforms.base import Transform
from ax.adapter.transforms.derelativize import Derelativize
from ax.adapter.transforms.standardize_y import StandardizeY
from ax.core.auxiliary import AuxiliaryExperimentPurpose
from ax.core.trial_status import TrialStatus
from ax.generation_strategy.generation_node import GenerationNode
from ax.generation_strategy.generation_strategy import GenerationStrategy
from ax.generation_strategy.generator_spec import GeneratorSpec
from ax.generation_strategy.transition_criterion import AuxiliaryExperimentCheck, MinTrials
from ax.generators.torch.botorch_modular.surrogate import ModelConfig, SurrogateSpec
from ax.storage.botorch_modular_registry import (
    CLASS_TO_REGISTRY,
    CLASS_TO_REVERSE_REGISTRY,
    register_acquisition,
    register_mll,
    register_model,
)
from ax.storage.json_store.registry import CORE_DECODER_REGISTRY
from ax.storage.transform_registry import register_transform
from botorch.models.transforms.outcome import OutcomeTransform, Standardize
from gpytorch.mlls import VariationalELBO
from torch import as_tensor

from robustbo.ax.acquisition import SeededAcquisition
from robustbo.ax.adapter import RobustGenerators
from robustbo.ax.declared import with_target
from robustbo.ax.experiment import ALL_OR_NONE
from robustbo.ax.old_experiments import PURPOSE, OldExperiment, arms_of, is_old_experiment
from robustbo.ax.stored_digits import is_kept, round_to_storage
from robustbo.ax.viability import HandOverFailures
from robustbo.surrogates.baselines.variational import VariationalGP
from robustbo.surrogates.common.contract import outcome_class
from robustbo.surrogates.registry import SURROGATES, check_options, model_class
from robustbo.surrogates.transforms.robust_standardize import RobustStandardize
from robustbo.trials.declared import Declared, Source
from robustbo.trials.settings import DEFAULT_SURROGATE, FAILURES, Failures
from robustbo.validation import name_in_registry, one_of, short_list, whole_number

NUM_INITIAL = 5  # Ax's
# As many as Ax climbs at once. Its 20 of 1024 led higher by over 0.01 in one of 60 asks (Hartmann6, 7 to 90 values).
CLIMBS = {"num_restarts": 5, "raw_samples": 512}


class LowerBound(VariationalELBO):
    """The evidence's lower bound with the arguments that Ax gives to a marginal log likelihood."""

    def __init__(self, likelihood: Any, model: Any) -> None:
        super().__init__(likelihood, model.model, num_data=len(model.train_targets))


WITH_SOURCES = "robustbo with sources"  # the name of a node
_HAS_SOURCES = AuxiliaryExperimentCheck(WITH_SOURCES, [AuxiliaryExperimentPurpose(PURPOSE)])
SourceLike: TypeAlias = Source | OldExperiment | Any  # or an old experiment, or its client


BOUNDS = {name: LowerBound for name, cls in SURROGATES.items() if issubclass(cls, VariationalGP)}


class RobustStandardizeY(StandardizeY):
    """Ax's standardization by median and interquartile range, which a few wild values cannot move.

    Values count by their first digits, those that Ax's storage keeps (`robustbo.ax.stored_digits`).
    """

    def __init__(
        self, search_space: Any = None, experiment_data: Any = None, adapter: Any = None, config: Any = None
    ) -> None:
        Transform.__init__(self, search_space, experiment_data, adapter, config)
        self.Ymean, self.Ystd, self._is_stored = {}, {}, dict[str, bool]()
        for metric, column in experiment_data.observation_data["mean"].items():
            scale, values = RobustStandardize(m=1), column.dropna().to_numpy(dtype=float)
            self._is_stored[metric] = is_kept(metric, values)
            rounded = round_to_storage(values, is_stored=self._is_stored[metric])
            scale.learn(as_tensor(rounded).unsqueeze(-1))
            self.Ymean[metric], self.Ystd[metric] = scale.means.item(), scale.stdvs.item()

    def transform_experiment_data(self, experiment_data: Any) -> Any:
        """The data with means and standard errors rounded, then scaled.

        Raises:
            ValueError: If a metric has standard errors at some trials alone, which no model can take.
        """
        observed = experiment_data.observation_data
        for metric in self.Ymean:
            is_known = observed["sem", metric].notna()[observed["mean", metric].notna()]
            if is_known.any() and not is_known.all():
                raise ValueError(f"{metric} {ALL_OR_NONE}, got one at {is_known.sum()} of {len(is_known)}")
        for column in ("mean", "sem"):
            for metric in self.Ymean:
                values = observed[column, metric].to_numpy(dtype=float)
                observed[column, metric] = round_to_storage(values, is_stored=self._is_stored[metric])
        return super().transform_experiment_data(experiment_data)


def generation_strategy(
    surrogate: str = DEFAULT_SURROGATE,
    surrogate_options: Mapping[str, Any] | None = None,
    num_initial: int | None = None,
    seed: int | None = None,
    failures: Failures = "learn",
    sources: Mapping[str, SourceLike] | None = None,
) -> GenerationStrategy:
    """Sobol points, then one of our surrogates with qLogNEI, for `Client.set_generation_strategy`.

    A single candidate is found by the closed form of it, in the outcomes as the surrogate transforms them; so is one of
    several objectives, or under outcome constraints.

    Where trials have failed or were abandoned, the probability of a value counts too
    (`loop.acquisition.feasibility_weight.CAUTION`).

    Each metric has a model of its own, with outliers of its own. Several objectives have qLogNEHVI, and outcome
    constraints count as they do in Ax, by what is believed: see `SeededAcquisition`.

    The values reach the surrogate as measured, with a robust scale: Ax's winsorizing is off, and so are mean and
    standard deviation, which one extreme value would move.

    Args:
        surrogate: A registry name.
        surrogate_options: Its own options.
        num_initial: Number of initial trials; 5 by default, as in Ax.
        seed: Seed of the Sobol points and of the acquisition's samples; drawn by default, and saved with the client.
        failures: "learn" where trials fail, and keep away from there; or "ignore" failures.
        sources: By name a `robustbo.Source` that trials may be of (a simulator, another lab), or an old experiment (its
            client will do; see `OldExperiment`). With sources, and as soon as the experiment has an auxiliary
            experiment to be learned from (Ax's purpose TRANSFERABLE_EXPERIMENT), all decisions are those of
            `robustbo.Optimizer`, and each candidate says in its metadata which source is to measure it: `source_of`.

    Raises:
        ValueError: If the surrogate or an option is not possible here, or the sources break a rule.
        TypeError: If there is no such option.

    Example:
        >>> generation_strategy("relevance-pursuit", seed=0).name
        'Sobol+robustbo:relevance-pursuit'
        >>> import robustbo as rb
        >>> generation_strategy(sources={"simulator": rb.Source(cost=0.05)}, seed=0).name
        'robustbo:relevance-pursuit with sources'
    """
    name_in_registry("surrogate", surrogate, sorted(SURROGATES))
    options = dict(surrogate_options or {})
    check_options(surrogate, options)
    seed = secrets.randbits(31) if seed is None else whole_number("seed", seed, 0)
    one_of("failures", failures, FAILURES)
    initial = NUM_INITIAL if num_initial is None else whole_number("num_initial", num_initial, 1)
    decisions = {"num_initial": initial, "seed": seed, "failures": failures}
    declared, old = _read_sources(sources)
    if sources is not None and surrogate != DEFAULT_SURROGATE:
        raise ValueError(f"sources need the surrogate {DEFAULT_SURROGATE!r}, got {surrogate!r}; leave it out")
    with_sources = _node_with_sources(options, declared, old, decisions)
    if sources is not None:
        return GenerationStrategy(name=f"robustbo:{surrogate} with sources", nodes=[with_sources])
    takes_sources = surrogate == DEFAULT_SURROGATE
    leave = [_HAS_SOURCES] if takes_sources else []
    first = GeneratorSpec(Generators.SOBOL, generator_kwargs={"seed": seed % 2**31})
    robust = _robust_spec(surrogate, options, seed, failures)
    nodes = [
        GenerationNode("Sobol", [first], [*leave, *_enough(initial)], should_deduplicate=True),
        GenerationNode("robustbo", [robust], leave, should_deduplicate=True),
    ]
    name = f"Sobol+robustbo:{surrogate}"
    return GenerationStrategy(name=name, nodes=[*nodes, with_sources] if takes_sources else nodes)


def _robust_spec(surrogate: str, options: Mapping[str, Any], seed: int, failures: Failures) -> GeneratorSpec:
    """One of our surrogates with Ax's acquisition."""
    model = model_class(surrogate)
    outcome = outcome_class(model)
    handed_over = [HandOverFailures] if failures == "learn" else []
    config = ModelConfig(
        botorch_model_class=model,
        model_options=dict(options),
        mll_class=BOUNDS.get(surrogate),
        outcome_transform_classes=[outcome],
        outcome_transform_options={outcome.__name__: {"m": 1}},
        name=surrogate,
    )
    return GeneratorSpec(
        Generators.BOTORCH_MODULAR,
        generator_kwargs={
            "surrogate_spec": SurrogateSpec(model_configs=[config], allow_batched_models=False),
            "transforms": [*MBM_X_trans, Derelativize, RobustStandardizeY, *handed_over],
            "acquisition_class": SeededAcquisition,
            "acquisition_options": {"seed": seed},
            "use_p_feasible": False,  # by the values as they were told; `SeededAcquisition` decides by what is believed
            "warm_start_refit": False,  # our searches begin where they should themselves
        },
        generator_gen_kwargs={"model_gen_options": {"optimizer_kwargs": dict(CLIMBS)}},
    )


def _node_with_sources(
    options: Mapping[str, Any], declared: Declared, old: Mapping[str, Any], decisions: Mapping[str, Any]
) -> GenerationNode:
    """The node that decides as `robustbo.Optimizer` does, by values of sources too."""
    kwargs = {"sources": {name: source.to_dict() for name, source in declared}, "old": dict(old), **decisions}
    spec = GeneratorSpec(RobustGenerators.WITH_SOURCES, generator_kwargs=kwargs | {"surrogate_options": dict(options)})
    return GenerationNode(WITH_SOURCES, [spec])


def _read_sources(sources: Mapping[str, SourceLike] | None) -> tuple[Declared, dict[str, Any]]:
    """Declared sources by name, and the arms of old experiments as JSON values."""
    read, old = dict[str, Source](), dict[str, Any]()
    for name, of in (sources or {}).items():
        if isinstance(of, Source):
            read[name] = of
            continue
        experiment = of if isinstance(of, OldExperiment) else OldExperiment(of)
        if not is_old_experiment(experiment.experiment):
            must = "sources must be robustbo.Source, or old experiments (their clients, or OldExperiment)"
            raise TypeError(f"{must}, got {short_list([of])} for {name!r}")
        read[name] = experiment.source
        old[name] = [arm.to_dict() for arm in arms_of(experiment.experiment)]
    return with_target(read), old


def _enough(num_initial: int) -> list[MinTrials]:
    """Criterion of so many trials that did not fail, half of them with data: Ax's own rule."""
    failure_statuses = [TrialStatus.FAILED, TrialStatus.ABANDONED]
    with_data = {"only_in_statuses": [TrialStatus.COMPLETED], "count_only_trials_with_data": True}
    return [
        MinTrials(num_initial, transition_to="robustbo", use_all_trials_in_exp=True, not_in_statuses=failure_statuses),
        MinTrials(max(1, num_initial // 2), transition_to="robustbo", use_all_trials_in_exp=True, **with_data),
    ]


for _class in dict.fromkeys(SURROGATES.values()):
    register_model(_class)
register_acquisition(SeededAcquisition)
register_mll(LowerBound)
register_transform(RobustStandardizeY)
register_transform(HandOverFailures)
CORE_DECODER_REGISTRY[RobustGenerators.__name__] = RobustGenerators
for _class in {outcome_class(model) for model in SURROGATES.values()} - {Standardize}:
    CLASS_TO_REGISTRY[OutcomeTransform][_class] = _class.__name__
    CLASS_TO_REVERSE_REGISTRY[OutcomeTransform][_class.__name__] = _class
