import numpy as np
import pandas as pd
import pytest
from bofire.data_models.acquisition_functions.api import qLogEI, qLogNEHVI, qUCB
from bofire.data_models.domain.api import Inputs, Outputs
from bofire.data_models.strategies.api import (
    AlwaysTrueCondition,
    AnyStrategy,
    BotorchOptimizer,
    MoboStrategy,
    NumberOfExperimentsCondition,
    RandomStrategy,
    SoboStrategy,
    Step,
    StepwiseStrategy,
)
from bofire.data_models.surrogates.api import BotorchSurrogates, SingleTaskGPSurrogate
from bofire.strategies.api import map as made
from pydantic import TypeAdapter

from robustbo.bofire import RobustSurrogate, outliers

pytestmark = [  # what BoFire does in a way of old
    pytest.mark.filterwarnings("ignore:The inplace keyword in DataFrame.drop_duplicates is deprecated"),
    pytest.mark.filterwarnings("ignore:The given NumPy array is not writable"),
    pytest.mark.filterwarnings("ignore:Optimization failed in `gen_candidates_scipy`"),  # BoTorch begins again
    pytest.mark.filterwarnings("ignore:Optimization failed on the second try"),  # at slopes of 1e-4, for rounding
]
QUICK = {"acquisition_optimizer": BotorchOptimizer(n_restarts=2, n_raw_samples=64), "seed": 1}


def specs(domain, cls=RobustSurrogate, inputs=None, **options):
    inputs = domain.inputs if inputs is None else inputs
    each = [cls(inputs=inputs, outputs=Outputs(features=[o]), **options) for o in domain.outputs]
    return BotorchSurrogates(surrogates=each)


def sobo(domain, surrogate_specs=None, **options):
    return SoboStrategy(domain=domain, surrogate_specs=surrogate_specs or specs(domain), **QUICK, **options)


def mobo(domain, surrogate_specs=None):
    return MoboStrategy(
        domain=domain,
        surrogate_specs=surrogate_specs or specs(domain),
        ref_point={"y": 800.0, "z": 10.0},
        acquisition_function=qLogNEHVI(n_mc_samples=32),
        **QUICK,
    )


@pytest.mark.parametrize(
    "acquisition", [pytest.param(None, marks=pytest.mark.slow), qLogEI(), pytest.param(qUCB(), marks=pytest.mark.slow)]
)
def test_a_strategy_asks_where_the_right_values_lead(branin, acquisition):
    domain, experiments = branin
    options = {} if acquisition is None else {"acquisition_function": acquisition}
    strategy = made(sobo(domain, **options))
    strategy.tell(experiments)
    found = strategy.ask(1)
    assert -60 < found["y_pred"].item() < 30
    assert found["y_sd"].item() < 60


@pytest.mark.slow
def test_the_same_experiments_and_the_same_seed_have_the_same_candidates(branin):
    domain, experiments = branin

    def asked():
        strategy = made(sobo(domain))
        strategy.tell(experiments.copy())
        return strategy.ask(2)

    pd.testing.assert_frame_equal(asked(), asked(), check_exact=True)


def test_a_strategy_is_read_from_json(branin):
    domain, experiments = branin
    written = sobo(domain, acquisition_function=qLogEI())
    text = written.model_dump_json()
    assert SoboStrategy.model_validate_json(text).model_dump_json() == text
    read = TypeAdapter(AnyStrategy).validate_json(text)
    assert isinstance(read.surrogate_specs.surrogates[0], RobustSurrogate)
    candidates = []
    for each in (written, read):
        strategy = made(each)
        strategy.tell(experiments.copy())
        candidates.append(strategy.ask(1))
    pd.testing.assert_frame_equal(*candidates, check_exact=True)


@pytest.mark.slow
def test_a_strategy_in_steps_is_read_from_json(branin):
    domain, experiments = branin
    steps = [
        Step(strategy_data=RandomStrategy(domain=domain), condition=NumberOfExperimentsCondition(n_experiments=5)),
        Step(strategy_data=sobo(domain), condition=AlwaysTrueCondition()),
    ]
    written = StepwiseStrategy(domain=domain, steps=steps)
    read = StepwiseStrategy.model_validate_json(written.model_dump_json())
    assert read.model_dump_json() == written.model_dump_json()
    strategy = made(read)
    strategy.tell(experiments)
    assert strategy.ask(1)["y_pred"].item() < 30


@pytest.mark.slow
def test_several_outputs_have_a_surrogate_each(mixed):
    domain, experiments = mixed
    strategy = made(mobo(domain))
    strategy.tell(experiments)
    found = strategy.ask(1)
    assert found["y_pred"].item() < 1500
    assert found["z_pred"].item() < 12
    assert found["dose"].item() in (1, 2, 5, 10)
    report = outliers(strategy)
    assert report[report["flagged"]].groupby("output").groups.keys() == {"y", "z"}
    assert report.loc[report["flagged"] & (report["output"] == "y")].index.tolist() == [3, 9]
    assert report.loc[report["flagged"] & (report["output"] == "z")].index.tolist() == [5]


@pytest.mark.slow
def test_a_surrogate_may_see_some_inputs_and_stand_beside_bofires_own(mixed):
    domain, experiments = mixed
    few = Inputs(features=[domain.inputs.get_by_key(name) for name in ("heat", "base", "solvent")])
    y, z = domain.outputs
    ours = RobustSurrogate(inputs=few, outputs=Outputs(features=[z]))
    theirs = SingleTaskGPSurrogate(inputs=domain.inputs, outputs=Outputs(features=[y]))
    strategy = made(mobo(domain, BotorchSurrogates(surrogates=[theirs, ours])))
    strategy.tell(experiments)
    inside = strategy.surrogates.surrogates[1]
    assert inside.is_compatibilized
    before = strategy.predict(experiments)
    report = outliers(strategy)
    assert set(report["output"]) == {"z"}
    assert report.index[report["flagged"]].tolist() == [5]
    pd.testing.assert_frame_equal(strategy.predict(experiments), before, check_exact=True)  # nothing has changed
    dump = inside.dumps()  # takes out what only the strategy needs
    alone = inside.predict(experiments)
    assert np.allclose(alone["z_pred"], before["z_pred"])
    inside.loads(dump)
    assert inside.predict(experiments).equals(alone)


def test_the_report_begins_with_the_most_suspicious_and_has_its_labcode(branin):
    domain, experiments = branin
    strategy = made(sobo(domain))
    strategy.tell(experiments.assign(labcode=[f"L{i:02d}" for i in range(40)]))
    report = outliers(strategy)
    assert list(report) == ["output", "labcode", "value", "expected", "sd", "evidence", "flagged"]
    assert report["labcode"].head(3).tolist() == ["L04", "L11", "L20"]
    assert report["flagged"].sum() == 3
    assert report["evidence"].iloc[3:].is_monotonic_decreasing


@pytest.mark.slow
def test_a_value_that_is_found_wrong_can_be_taken_out(branin):
    domain, experiments = branin
    strategy = made(sobo(domain))
    strategy.tell(experiments)
    wrong = outliers(strategy).query("flagged").index
    mended = strategy.experiments.copy()
    mended.loc[wrong, "valid_y"] = False
    strategy.tell(mended, replace=True)
    report = outliers(strategy)
    assert len(report) == 37
    assert not report["flagged"].any()


def test_a_strategy_that_has_nothing_to_say_is_refused(branin):
    domain, experiments = branin
    with pytest.raises(ValueError, match=r"strategy must have fitted surrogates, .* got a SoboStrategy without"):
        outliers(made(sobo(domain)))
    with pytest.raises(ValueError, match="got a RandomStrategy without"):
        outliers(made(RandomStrategy(domain=domain)))
    plain = made(sobo(domain, specs(domain, SingleTaskGPSurrogate)))
    plain.tell(experiments)
    with pytest.raises(ValueError, match=r"must have a RobustSurrogate for an output, got \['SingleTaskGPSurrogate'\]"):
        outliers(plain)


def test_surrogates_are_fitted_again_where_they_were_before(branin):
    """BoFire hands the inputs' transform of a strategy's last surrogate to its next."""
    domain, experiments = branin
    strategy = made(sobo(domain))
    strategy.tell(experiments.head(20))
    strategy.tell(experiments.tail(20))
    whole = made(sobo(domain))
    whole.tell(experiments)
    assert np.allclose(strategy.predict(experiments), whole.predict(experiments))
