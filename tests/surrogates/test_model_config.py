"""Our classes inside Ax, named in a `ModelConfig`; needs ax-platform."""

import math

import pytest
import torch
from ax.adapter.cross_validation import cross_validate
from ax.adapter.registry import Generators
from ax.api.client import Client
from ax.api.configs import RangeParameterConfig
from ax.generation_strategy.generation_node import GenerationNode
from ax.generation_strategy.generation_strategy import GenerationStrategy
from ax.generation_strategy.generator_spec import GeneratorSpec
from ax.generation_strategy.transition_criterion import MinTrials
from ax.generators.torch.botorch_modular.surrogate import ModelConfig, SurrogateSpec
from botorch.acquisition.logei import qLogNoisyExpectedImprovement

from robustbo.surrogates.filtered import FilteredGP
from robustbo.surrogates.pursuit.model import RelevancePursuitGP
from robustbo.surrogates.student_t.model import StudentTGP
from robustbo.surrogates.student_t_process.model import StudentTProcess

pytestmark = pytest.mark.filterwarnings("ignore")  # what Ax and its libraries say to their own developers


def run(model_class, option):
    """The adapter of a strategy that fits our class after Sobol points; the fifth value is gross."""
    config = ModelConfig(
        botorch_model_class=model_class,
        model_options=option,
        input_transform_classes=None,
        outcome_transform_classes=[],
    )
    options = {
        "surrogate_spec": SurrogateSpec(model_configs=[config]),
        "botorch_acqf_class": qLogNoisyExpectedImprovement,
    }
    ours = GenerationNode("ours", [GeneratorSpec(Generators.BOTORCH_MODULAR, generator_kwargs=options)])
    first = GenerationNode(
        "first",
        [GeneratorSpec(Generators.SOBOL, generator_kwargs={"seed": 0})],
        transition_criteria=[MinTrials(threshold=8, transition_to="ours")],
    )
    client = Client(random_seed=0)
    client.configure_experiment(
        [RangeParameterConfig(name=name, parameter_type="float", bounds=(0.0, 1.0)) for name in "xy"]
    )
    client.configure_optimization(objective="-f")
    strategy = GenerationStrategy(nodes=[first, ours], name="ours after Sobol")
    client.set_generation_strategy(strategy)
    for trial in range(10):
        ((index, p),) = client.get_next_trials(max_trials=1).items()
        client.complete_trial(index, {"f": -1e3 if trial == 4 else (p["x"] - 0.3) ** 2 + (p["y"] - 0.6) ** 2})
    return strategy.adapter


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("model_class", "option", "kept"),
    [
        (RelevancePursuitGP, {"outlier_rate": 0.05}, lambda model: model.options.outlier_rate),
        (StudentTGP, {"dof": 6.0}, lambda model: model.likelihood.dof.item()),
        (FilteredGP, {"start": 5}, lambda model: min(model.verdict.observations, 5)),
    ],
)
def test_options_go_through_ax_and_a_bad_value_is_found(model_class, option, kept):
    model = run(model_class, option).generator.surrogate.model
    assert isinstance(model, model_class)
    assert model.support == [4]
    assert [kept(model)] == list(option.values())


@pytest.mark.slow
@pytest.mark.parametrize("refit", [False, True])
def test_ax_takes_a_student_t_posterior_for_the_normal_one_of_its_moments(refit):
    adapter = run(StudentTProcess, {"dof": 3.0})
    model = adapter.generator.surrogate.model
    assert model.posterior(torch.rand(2, 2)).df == len(model.train_targets) + 3.0
    adapter.generator.surrogate.refit_on_cv = refit
    found = cross_validate(adapter, folds=-1)
    assert len(found) == len(model.train_targets)
    assert all(math.isfinite(one.predicted.means[0]) and one.predicted.covariance[0, 0] > 0 for one in found)
