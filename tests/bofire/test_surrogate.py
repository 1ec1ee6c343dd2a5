import numpy as np
import pandas as pd
import pytest
import torch
from bofire.data_models.domain.api import Domain, Inputs, Outputs
from bofire.data_models.enum import RegressionMetricsEnum
from bofire.data_models.features.api import CategoricalInput, ContinuousInput, ContinuousOutput
from bofire.data_models.kernels.api import (
    AdditiveKernel,
    HammingDistanceKernel,
    MaternKernel,
    RBFKernel,
    ScaleKernel,
)
from bofire.data_models.surrogates.api import Standardize
from bofire.surrogates.api import map as made

import robustbo
from robustbo.bofire import RobustSurrogate
from robustbo.bofire.data_model import EXACT
from robustbo.bofire.surrogate import RobustBotorchSurrogate as Functional
from robustbo.errors import FitError
from robustbo.searchspace.encoding import encode
from robustbo.surrogates.common.contract import diagnose, fit
from robustbo.surrogates.pursuit.model import RelevancePursuitGP
from robustbo.surrogates.transforms.input_encoding import one_hot_inputs

pytestmark = pytest.mark.filterwarnings("ignore:The given NumPy array is not writable")  # as BoFire hands it to torch
WRONG = [4, 11, 20]


def surrogate(domain, output="y", **options):
    outputs = Outputs(features=[domain.outputs.get_by_key(output)])
    return made(RobustSurrogate(**{"inputs": domain.inputs, "outputs": outputs, **options}))


def flagged(report):
    return report.index[report["flagged"]].tolist()


@pytest.fixture(scope="module")
def found(branin_of_all):
    """A model fitted to these experiments, and its report."""
    domain, experiments = branin_of_all
    model = surrogate(domain)
    return model, model.predict_outliers(experiments)


def test_it_finds_what_is_wrong_and_predicts_without(branin, found):
    domain, experiments = branin
    model, report = found
    assert isinstance(model, Functional)
    assert flagged(report) == WRONG
    assert report["value"].equals(experiments["y"])
    assert list(report) == ["value", "expected", "sd", "evidence", "flagged"]
    wrong = report.loc[WRONG]
    assert (wrong["evidence"] > 20).all()
    assert wrong["expected"].between(-50, 350).all()
    right = report.drop(WRONG)
    assert ((right["value"] - right["expected"]).abs() < 4 * right["sd"]).all()
    assert (right["evidence"] < 1.0).all()
    clean = surrogate(domain).predict_outliers(experiments.drop(WRONG))
    assert np.allclose(clean["expected"], right["expected"], atol=10.0)
    assert model.predict(experiments)["y_pred"].between(-50, 350).all()


def test_the_numbers_are_those_of_our_own_model(branin, found):
    (_, experiments), (_, report) = branin, found
    unit = torch.tensor(((experiments[["a", "b"]] - [-5, 0]) / 15).to_numpy(dtype=float))
    own = fit(RelevancePursuitGP(unit, torch.tensor(experiments[["y"]].to_numpy(dtype=float))))
    said = diagnose(own)
    for column, of_own in zip(["expected", "sd", "evidence"], said, strict=False):
        assert np.allclose(report[column], of_own.numpy(), rtol=1e-6, atol=1e-9)


def test_the_numbers_are_in_the_users_units(branin, found):
    (domain, experiments), (_, report) = branin, found
    other = surrogate(domain).predict_outliers(experiments.assign(y=1e9 + 1e6 * experiments["y"]))
    assert flagged(other) == WRONG
    assert np.allclose(other["expected"], 1e9 + 1e6 * report["expected"], rtol=1e-6)
    assert np.allclose(other["sd"], 1e6 * report["sd"], rtol=1e-3)
    assert np.allclose(other["evidence"], report["evidence"], rtol=1e-2, atol=1e-2)


def test_a_flagged_value_that_is_measured_again_counts_again(branin):
    domain, experiments = branin
    again = experiments.loc[[20]].assign(y=experiments.loc[20, "y"] + 0.1)
    report = surrogate(domain).predict_outliers(pd.concat([experiments, again], ignore_index=True))
    assert report.loc[[4, 11], "flagged"].all()
    assert not report.loc[[20, 40], "flagged"].any()


def test_rows_are_told_by_index_and_labcode(branin):
    domain, experiments = branin
    experiments = experiments.set_index(pd.Index([f"run {i}" for i in range(40)]))
    experiments["labcode"] = [f"L{i:02d}" for i in range(40)]
    experiments.loc["run 0", "valid_y"] = 0
    experiments.loc["run 1", "y"] = np.nan
    experiments.loc["run 2", "y"] = np.inf
    before = experiments.copy()
    report = surrogate(domain).predict_outliers(experiments)
    assert experiments.equals(before)
    assert report.index.tolist() == [f"run {i}" for i in range(3, 40)]
    assert report.loc[report["flagged"], "labcode"].tolist() == ["L04", "L11", "L20"]


def test_without_a_value_there_is_nothing_to_fit_to(branin):
    domain, experiments = branin
    with pytest.raises(ValueError, match="experiments must have a valid value of 'y', got none"):
        surrogate(domain).fit(experiments.assign(valid_y=0))
    with pytest.raises(ValueError, match="no col for input feature `b`"):
        surrogate(domain).predict_outliers(experiments.drop(columns="b"))


@pytest.mark.few(1)
@pytest.mark.parametrize("count", [1, 2, 3])
def test_few_experiments_are_enough(branin, count):
    domain, experiments = branin
    few = experiments.head(count)
    model = surrogate(domain)
    assert not model.predict_outliers(few)["flagged"].any()
    assert np.isfinite(model.predict(experiments)).all(axis=None)


@pytest.mark.few(6)
@pytest.mark.parametrize("name", EXACT)
def test_every_exact_method_of_ours_can_be_used(branin, name):
    domain, experiments = branin
    model = surrogate(domain, surrogate=name)
    report = model.predict_outliers(experiments.head(15))
    assert len(report) == 15
    assert np.isfinite(report[["expected", "sd", "evidence"]]).all(axis=None)
    assert np.isfinite(model.predict(experiments)).all(axis=None)


def test_options_reach_the_method(branin):
    domain, experiments = branin
    one = surrogate(domain, surrogate_options={"num_outliers": 1}).predict_outliers(experiments)
    assert flagged(one) in ([WRONG[0]], [WRONG[1]])
    none = surrogate(domain, surrogate_options={"num_outliers": 0}).predict_outliers(experiments)
    assert flagged(none) == []


def test_a_mixed_space_is_seen_as_our_own_optimizer_sees_it(mixed):
    """Categories one-hot, numbers in the unit cube: the same model, and the same word on each value."""
    domain, experiments = mixed
    names = ["heat", "dose", "base"]
    inputs = Inputs(features=[domain.inputs.get_by_key(name) for name in names])
    part = Domain(inputs=inputs, outputs=domain.outputs)
    report = surrogate(part).predict_outliers(experiments)
    assert flagged(report) == [3, 9]
    space = robustbo.Space(heat=robustbo.Float(20, 80), dose=robustbo.Float(1, 10), base=robustbo.Choice("A", "B", "C"))
    X = encode(space, [space.to_unit(row) for row in experiments[names].to_dict("records")])
    Y = torch.tensor(experiments[["y"]].to_numpy(dtype=float))
    own = diagnose(fit(RelevancePursuitGP(X, Y, input_transform=one_hot_inputs(space))))
    assert np.allclose(report["expected"], own.expected, rtol=1e-5)
    assert np.allclose(report["evidence"], own.evidence, rtol=1e-4, atol=1e-6)


def test_descriptors_take_the_place_of_categories(mixed):
    domain, experiments = mixed
    model = surrogate(domain)
    assert flagged(model.predict_outliers(experiments)) == [3, 9]
    inside = model.model.train_inputs[0]
    assert inside.shape == (30, 7)  # heat, dose, three bases, two descriptors
    assert inside.min().item() == pytest.approx(0, abs=1e-6)
    assert inside.max().item() == pytest.approx(1, abs=1e-6)


def test_a_category_that_was_never_measured_can_be_predicted(mixed):
    domain, experiments = mixed
    model = surrogate(domain)
    model.fit(experiments[experiments["base"] != "C"].copy())
    found = model.predict(experiments)
    is_new = (experiments["base"] == "C").to_numpy()
    assert np.isfinite(found).all(axis=None)
    assert found["y_sd"][is_new].min() > found["y_sd"][~is_new].median()


@pytest.mark.few(1)
@pytest.mark.parametrize("scaler", [None, Standardize()])
def test_inputs_are_scaled_as_bofire_has_it(branin, scaler):
    domain, experiments = branin
    model = surrogate(domain, scaler=scaler)
    assert flagged(model.predict_outliers(experiments)) == WRONG
    spread = model.model.train_inputs[0].std(0)
    assert torch.allclose(spread, torch.ones(2, dtype=torch.float64)) == (scaler is not None)


def test_another_fit_scales_anew_and_leaves_an_earlier_model_as_it_was(branin):
    domain, experiments = branin
    model = surrogate(domain, scaler=Standardize())
    model.fit(experiments)
    first, X = model.model, torch.tensor([[1.0, 2.0], [-4.0, 9.0]], dtype=torch.float64)
    before = first.posterior(X).mean
    model.fit(experiments[experiments["a"] > 0].copy())
    assert torch.equal(first.posterior(X).mean, before)
    assert torch.allclose(model.model.train_inputs[0].std(0), torch.ones(2, dtype=torch.float64))


def test_outcomes_that_are_standardized_already_stay_as_they_are(branin):
    domain, experiments = branin
    right = experiments["y"].drop(WRONG)
    experiments["y"] = (experiments["y"] - right.mean()) / right.std()
    model = surrogate(domain, output_scaler="IDENTITY")
    assert flagged(model.predict_outliers(experiments)) == WRONG
    assert np.allclose(model.model.train_targets, experiments["y"])


@pytest.mark.slow
@pytest.mark.parametrize(
    "kernel",
    [
        MaternKernel(nu=2.5, ard=True),
        AdditiveKernel(
            kernels=[
                ScaleKernel(base_kernel=RBFKernel(ard=True, features=["heat", "dose", "solvent"])),
                ScaleKernel(base_kernel=HammingDistanceKernel(features=["base"])),
            ]
        ),
    ],
)
def test_kernels_of_bofires_can_take_the_place_of_ours(mixed, kernel):
    domain, experiments = mixed
    assert flagged(surrogate(domain, kernel=kernel).predict_outliers(experiments)) == [3, 9]


@pytest.mark.few(1)
@pytest.mark.parametrize("warp", ["asinh", "learned"])
def test_a_dump_predicts_the_same(branin, warp):
    domain, experiments = branin
    model = surrogate(domain, surrogate_options={"warp": warp})
    model.fit(experiments)
    if warp == "asinh":
        assert len(model.model.components) > 1  # which a state of hyperparameters alone would lose
    predicted = model.predict(experiments)
    loaded = surrogate(domain, surrogate_options={"warp": warp}, dump=model.dumps())
    assert loaded.predict(experiments).equals(predicted)
    assert flagged(loaded.predict_outliers(experiments)) == WRONG


@pytest.mark.slow
def test_cross_validation_is_that_of_any_surrogate(branin):
    domain, experiments = branin
    _, tested, _ = surrogate(domain).cross_validate(experiments.drop(WRONG), folds=5, random_state=0)
    assert tested.get_metric(RegressionMetricsEnum.R2).iloc[0] > 0.9


def test_a_fit_depends_on_the_experiments_alone_and_draws_nothing(branin, found):
    (domain, experiments), (_, first) = branin, found
    torch.manual_seed(2)
    state = torch.get_rng_state()
    with torch.no_grad():
        assert surrogate(domain).predict_outliers(experiments).equals(first)
    assert torch.equal(torch.get_rng_state(), state)


def test_a_fit_that_cannot_be_is_an_error_of_ours(branin, monkeypatch):
    domain, experiments = branin
    monkeypatch.setattr(RelevancePursuitGP, "search", lambda self, model: _raise(torch.linalg.LinAlgError("no")))
    with pytest.raises(FitError, match="RelevancePursuitGP could not be fitted to 40 observations: no"):
        surrogate(domain).fit(experiments)


def _raise(error):
    raise error


def test_two_categories_are_told_apart_by_their_values():
    inputs = Inputs(
        features=[ContinuousInput(key="x", bounds=(0, 1)), CategoricalInput(key="oven", categories=["old", "new"])]
    )
    domain = Domain(inputs=inputs, outputs=Outputs(features=[ContinuousOutput(key="y")]))
    experiments = domain.inputs.sample(24, seed=0)
    experiments["y"] = experiments["x"] + 10.0 * (experiments["oven"] == "new")
    experiments.loc[7, "y"] += 40.0
    model = surrogate(domain)
    assert flagged(model.predict_outliers(experiments.assign(valid_y=1))) == [7]
    found = model.predict(pd.DataFrame({"x": [0.5, 0.5], "oven": ["old", "new"]}))["y_pred"]
    assert found.tolist() == pytest.approx([0.5, 10.5], abs=0.5)
