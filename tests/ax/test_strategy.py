"""Our surrogates as an Ax generation strategy, through a real client; needs ax-platform."""

import json
import math
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from ax.adapter.cross_validation import cross_validate
from ax.analysis import ArmEffectsPlot, ContourPlot, CrossValidationPlot, SlicePlot, Summary
from ax.api.client import Client
from ax.api.configs import ChoiceParameterConfig, RangeParameterConfig, StorageConfig
from ax.generators.torch.botorch_modular.acquisition import Acquisition
from ax.storage.sqa_store.db import create_all_tables, get_engine, init_engine_and_session_factory

from robustbo.ax import best, complete, generation_strategy, outliers
from robustbo.ax.acquisition import SeededAcquisition
from robustbo.ax.stored_digits import is_kept, round_to_storage
from robustbo.errors import NumericsWarning
from robustbo.loop.acquisition.log_nei import LogNEI
from robustbo.surrogates.registry import SURROGATES
from robustbo_problems.synthetic import branin

pytestmark = pytest.mark.filterwarnings("ignore")  # what Ax and its libraries say to their own developers
BRANIN = [
    RangeParameterConfig(name="x1", parameter_type="float", bounds=(-5.0, 10.0)),
    RangeParameterConfig(name="x2", parameter_type="float", bounds=(0.0, 15.0)),
]


def client(surrogate="relevance-pursuit", parameters=BRANIN, objective="-f", **options):
    made = Client(random_seed=0)
    made.configure_experiment(parameters)
    made.configure_optimization(objective=objective)
    made.set_generation_strategy(generation_strategy(surrogate, seed=3, **options))
    return made


def go_on(made, trials, bad=None, at=4, function=branin):
    for _ in range(trials):
        ((index, params),) = made.get_next_trials(max_trials=1).items()
        made.complete_trial(index, {"f": bad if index == at and bad is not None else function(params)})
    return made


@pytest.mark.slow
@pytest.mark.parametrize("bad", [-1e3, 1e5])
def test_a_gross_value_on_either_side_is_named_and_not_followed(bad):
    made = go_on(client(), 20, bad)
    found, report = best(made), outliers(made)
    assert branin(found.parameters) - branin.optimum < 3.0  # at random it is 54, at the liar up to 145
    assert found.trial_index != 4
    assert found.mean == pytest.approx(branin(found.parameters), abs=3 * found.sd)
    assert report.iloc[0][["trial_index", "arm_name", "metric", "value"]].tolist() == [4, "4_0", "f", bad]
    assert report["flagged"].tolist()[0]
    assert report["evidence"][0] > 10
    assert len(report) == 20


@pytest.mark.few(2)
@pytest.mark.parametrize("surrogate", sorted(SURROGATES))
def test_every_surrogate_fits_generates_cross_validates_and_is_saved(surrogate, tmp_path):
    made = go_on(client(surrogate), 6)
    adapter = made._generation_strategy.adapter
    assert type(adapter.generator.surrogate.model) is SURROGATES[surrogate]
    folds = cross_validate(adapter, folds=2)
    assert all(math.isfinite(fold.predicted.means[0]) for fold in folds)
    ((_, mean_sem),) = made.predict([{"x1": 1.0, "x2": 2.0}])[0].items()
    assert all(math.isfinite(number) for number in mean_sem)
    made.save_to_json_file(str(tmp_path / "client.json"))
    loaded = go_on(Client.load_from_json_file(str(tmp_path / "client.json")), 2)
    assert type(loaded._generation_strategy.adapter.generator.surrogate.model) is SURROGATES[surrogate]


CONTINUE = """
import json, logging, sys, warnings
warnings.simplefilter("ignore")
logging.disable(logging.CRITICAL)
import torch
import robustbo.ax
from ax.api.client import Client
torch.rand(7)
print(json.dumps(Client.load_from_json_file(sys.argv[1]).get_next_trials(max_trials=2)))
"""


@pytest.mark.slow
@pytest.mark.parametrize("trials", [3, 10])
def test_a_client_that_was_loaded_proposes_what_one_that_went_on_does(tmp_path, trials):
    made = go_on(client(), trials)
    made.save_to_json_file(str(tmp_path / "client.json"))
    wanted = {str(index): params for index, params in made.get_next_trials(max_trials=2).items()}
    command = [sys.executable, "-c", CONTINUE, str(tmp_path / "client.json")]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}  # as here
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    assert json.loads(done.stdout.splitlines()[-1]) == wanted


@pytest.mark.few(1)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_it_goes_on_alike_for_good(tmp_path, dtype):
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        made = go_on(client("standard"), 7)
        made.save_to_json_file(str(tmp_path / "client.json"))
        loaded = Client.load_from_json_file(str(tmp_path / "client.json"))
        for one in (made, loaded):
            go_on(one, 1)
        asked = [one.get_next_trials(max_trials=1) for one in (made, loaded)]
        assert asked[0] == asked[1]
    finally:
        torch.set_default_dtype(before)


@pytest.mark.parametrize("surrogate", ["student-t-variational", "laplace-variational", "huber", "huber-projection"])
def test_a_variational_fit_is_the_same_in_a_client_that_was_loaded(tmp_path, surrogate):
    made = go_on(client(surrogate), 6)
    made.save_to_json_file(str(tmp_path / "client.json"))
    torch.manual_seed(7)
    loaded = Client.load_from_json_file(str(tmp_path / "client.json"))
    assert made.get_next_trials(max_trials=1) == loaded.get_next_trials(max_trials=1)


def test_a_value_counts_alike_before_and_after_json():
    value = 18.884271655037722  # 18.884271655 in JSON: a tie
    for scale in (1e-3, 1.0, 1e3, -1.0):
        x = scale * value
        assert round_to_storage(np.array([x])) == round_to_storage(np.array([float(f"{x:.10f}")]))


@pytest.mark.slow
def test_the_unit_of_a_metric_changes_no_candidate():
    first, small = (go_on(client(), 7, function=lambda p, u=u: u * branin(p)) for u in (1.0, 2.0**-43))
    with pytest.warns(NumericsWarning, match="'f' differ by less than 1e-05, and Ax saves 10 decimals"):
        candidates = small.get_next_trials(max_trials=1)
    ((_, expected),) = first.get_next_trials(max_trials=1).items()
    ((_, params),) = candidates.items()
    assert params == pytest.approx(expected, abs=1e-3)


def test_a_metric_without_a_spread_is_as_storage_has_it():
    assert is_kept("f", [0.0, 0.0])
    assert is_kept("f", [3.0])
    assert is_kept("f", [math.nan, 1.0, 1.00002])
    for small in ([1.0, 1.000002, 1.000004], [1e-12, 3e-12, 2e-12, 1e-3]):  # whatever one value is
        with pytest.warns(NumericsWarning):
            assert not is_kept("f", small)
    assert round_to_storage([1e-13], is_stored=False).tolist() == [1e-13]


@pytest.mark.slow
def test_the_seed_says_it_all():
    first, again, other = (
        go_on(client() if same else client_of(4), 7).get_next_trials(max_trials=1) for same in (True, True, False)
    )
    assert first == again != other


def client_of(seed):
    made = Client(random_seed=0)
    made.configure_experiment(BRANIN)
    made.configure_optimization(objective="-f")
    made.set_generation_strategy(generation_strategy(seed=seed))
    return made


def test_values_reach_the_model_robustly_scaled_and_unclipped():
    made = go_on(client(), 8, bad=1e5)
    made.get_next_trials(max_trials=1)
    model = made._generation_strategy.adapter.generator.surrogate.model
    raw, _ = model.outcome_transform.untransform(model.train_targets.unsqueeze(-1))
    others, gross = raw.sort(dim=0).values[:-1], raw.max()
    assert gross > 100  # not winsorized
    assert others.std() > 0.3  # not crushed by it
    assert model.support == [4]


@pytest.mark.slow
def test_log_integer_and_choice_parameters_and_options():
    parameters = [
        RangeParameterConfig(name="lr", parameter_type="float", bounds=(1e-4, 1e-1), scaling="log"),
        RangeParameterConfig(name="n", parameter_type="int", bounds=(1, 8)),
        ChoiceParameterConfig(name="c", parameter_type="str", values=["a", "b", "z"]),
    ]

    def value(p):
        return (math.log10(p["lr"]) + 2) ** 2 + (p["n"] - 3) ** 2 / 10 + (p["c"] != "b")

    options = {"surrogate_options": {"outlier_rate": 0.1}, "num_initial": 6}
    made = go_on(client(parameters=parameters, **options), 14, bad=-50.0, function=value)
    assert value(best(made).parameters) < 1.2
    assert outliers(made)["trial_index"][0] == 4
    assert made._generation_strategy.adapter.generator.surrogate.model.options.outlier_rate == 0.1
    sobol = [t for t in made._experiment.trials.values() if t.generator_runs[0]._generation_node_name == "Sobol"]
    assert len(sobol) == 6


@pytest.mark.slow
def test_constraints_batches_pending_failed_and_abandoned_trials():
    made = Client(random_seed=0)
    made.configure_experiment(BRANIN, parameter_constraints=["x1 + x2 <= 12"])
    made.configure_optimization(objective="-f")
    made.set_generation_strategy(generation_strategy(seed=0))
    go_on(made, 6)
    batch = made.get_next_trials(max_trials=3)
    points = {tuple(p.values()) for p in batch.values()}
    assert len(points) == 3
    assert all(p["x1"] + p["x2"] <= 12 + 1e-6 for p in batch.values())
    first, second, third = batch
    made.mark_trial_failed(first)
    made.mark_trial_abandoned(second)
    made.complete_trial(third, {"f": branin(batch[third])})
    made.attach_trial({"x1": math.pi, "x2": 2.275})
    go_on(made, 1)
    report = outliers(made)
    assert sorted(report["trial_index"]) == [0, 1, 2, 3, 4, 5, 8, 10]
    by_trial = dict(zip(report["trial_index"], report["value"], strict=True))
    assert by_trial[8] == pytest.approx(branin(batch[third]))


@pytest.mark.few(1)
@pytest.mark.parametrize("sem", [None, 0.1])
def test_what_is_not_finite_fails_and_shifts_nothing(sem):
    made = client("standard")
    for _ in range(12):
        ((index, params),) = made.get_next_trials(max_trials=1).items()
        value = {2: math.inf, 5: math.nan}.get(index, branin(params))
        assert complete(made, index, {"f": value if sem is None else (value, sem)}) == math.isfinite(value)
    report = outliers(made)
    assert sorted(report["trial_index"]) == [0, 1, 3, 4, 6, 7, 8, 9, 10, 11]
    for index, value in zip(report["trial_index"], report["value"], strict=True):
        assert value == pytest.approx(branin(made._experiment.trials[index].arm.parameters))
    assert made._experiment.trials[2].status.is_failed
    assert "not finite" in made._experiment.trials[2].status_reason


@pytest.mark.parametrize("sem", [math.nan, None])
def test_the_mean_alone_decides_whether_a_trial_has_failed(sem):
    made = client()
    for mean in (0.3, math.nan):
        ((index, _),) = made.get_next_trials(max_trials=1).items()
        assert complete(made, index, {"f": (mean, sem)}) == math.isfinite(mean)
        assert made._experiment.trials[index].status.is_failed != math.isfinite(mean)
    ((index, _),) = made.get_next_trials(max_trials=1).items()
    with pytest.raises(ValueError, match="f's standard error must be finite and at least 0, got inf; NaN if it is unk"):
        complete(made, index, {"f": (0.3, math.inf)})


def test_standard_errors_of_some_trials_alone_are_refused_with_the_name_of_the_metric():
    made = go_on(client("standard"), 4)
    made.complete_trial(made.attach_trial({"x1": 1.0, "x2": 2.0}), {"f": (1.0, 0.1)})
    with pytest.raises(ValueError, match="f must have a standard error at all trials or at none, got one at 1 of 5"):
        made.get_next_trials(max_trials=1)


def test_a_measured_point_where_most_is_promised_gives_way_to_its_neighbors():
    square = [RangeParameterConfig(name=name, parameter_type="float", bounds=(0.0, 1.0)) for name in "xy"]
    made = go_on(client("standard", square, num_initial=4), 4, function=lambda p: p["x"] + p["y"])
    made.complete_trial(made.attach_trial({"x": 0.0, "y": 0.0}), {"f": 0.0})
    go_on(made, 3, function=lambda p: p["x"] + p["y"])
    last = [made._experiment.trials[index] for index in (5, 6, 7)]
    assert max(sum(trial.arm.parameters.values()) for trial in last) < 0.3
    assert {run._generator_key for trial in last for run in trial.generator_runs} == {"BoTorch"}


def test_beliefs_are_the_same_to_the_last_bit_in_a_client_that_was_loaded(tmp_path):
    made = go_on(client("standard"), 6)
    made.save_to_json_file(str(tmp_path / "client.json"))
    loaded = Client.load_from_json_file(str(tmp_path / "client.json"))
    assert best(loaded) == best(made)


def test_what_complete_cannot_take_is_refused():
    made = client()
    for value in (1.0, 2):
        ((index, _),) = made.get_next_trials(max_trials=1).items()
        assert complete(made, index, {"f": value})
    ((index, _),) = made.get_next_trials(max_trials=1).items()
    with pytest.raises(ValueError, match="f must have a standard error at all trials or at none"):
        complete(made, index, {"f": (1.0, 0.1)})
    with pytest.raises(TypeError, match="f must be a real number, got None"):
        complete(made, index, {"f": None})
    with pytest.raises(TypeError, match=r"f must be a value or \(value, standard error\)"):
        complete(made, index, {"f": (1.0, 0.1, 2.0)})
    with pytest.raises(ValueError, match="f's standard error must be finite and at least 0, got -1"):
        complete(made, index, {"f": (1.0, -1.0)})
    assert complete(made, index, {"f": np.float64(3.0)})


@pytest.mark.slow
def test_several_metrics_have_a_model_each_and_a_report_each():
    made = client(objective="-f, g")
    for _ in range(8):
        ((index, p),) = made.get_next_trials(max_trials=1).items()
        made.complete_trial(index, {"f": 1e4 if index == 3 else branin(p), "g": -1e4 if index == 6 else p["x1"]})
    report = outliers(made)
    assert {"f", "g"} == set(report["metric"])
    assert report[report["flagged"]].groupby("metric")["trial_index"].apply(list).to_dict() == {"f": [3], "g": [6]}
    assert outliers(made, metric="g")["metric"].unique().tolist() == ["g"]
    with pytest.raises(ValueError, match="must have one objective"):
        best(made)


def test_a_bad_option_is_refused_at_once():
    with pytest.raises(TypeError, match="has the options"):
        generation_strategy("relevance-pursuit", {"colour": 1})
    for surrogate in ("nonsense", "botorch.models:SingleTaskGP"):
        with pytest.raises(ValueError, match="surrogate must be one of"):
            generation_strategy(surrogate)
    with pytest.raises(ValueError, match="num_initial must be"):
        generation_strategy(num_initial=0)
    with pytest.raises(ValueError, match="seed must be"):
        generation_strategy(seed=-1)
    with pytest.raises(ValueError, match=r"metric must be one of \['f'\], got 'lossy'"):
        outliers(go_on(client(), 1), "lossy")


def test_a_database_keeps_it(tmp_path):
    url = f"sqlite:///{tmp_path / 'ax.db'}"
    init_engine_and_session_factory(url=url, force_init=True)
    create_all_tables(get_engine())
    made = Client(storage_config=StorageConfig(url=url), random_seed=0)
    made.configure_experiment(BRANIN, name="kept")
    made.configure_optimization(objective="-f")
    made.set_generation_strategy(generation_strategy("relevance-pursuit", {"outlier_rate": 0.1}, seed=3))
    go_on(made, 7)
    loaded = Client.load_from_database("kept", storage_config=StorageConfig(url=url))
    assert len(go_on(loaded, 1)._experiment.trials) == 8
    assert loaded._generation_strategy.adapter.generator.surrogate.model.options.outlier_rate == 0.1


def test_analyses_are_computed():
    """Ax asks for thousands of points at once."""
    wanted = [CrossValidationPlot(), ArmEffectsPlot("f"), SlicePlot("x1", "f"), ContourPlot("x1", "x2", "f"), Summary()]
    made = go_on(client(), 8, bad=-1e3)
    cards = made.compute_analyses(wanted, display=False)
    assert len(cards) >= len(wanted)
    assert not [card for card in cards if "Error" in type(card).__name__]


@pytest.mark.slow
def test_leaving_one_out_fits_nothing_and_believes_no_lie(monkeypatch):
    """A fit for each value left out made Ax's analyses twenty times as dear as with Ax's own strategy."""
    made = go_on(client(), 12, bad=-1e3)
    adapter = made._generation_strategy.adapter
    model = adapter.generator.surrogate.model
    monkeypatch.setattr(type(model), "custom_fit", lambda *_, **__: pytest.fail("a fit"))
    folds = cross_validate(adapter, folds=-1)
    assert len(folds) == len(model.train_targets)
    predicted = np.array([fold.predicted.means[0] for fold in folds])
    observed = np.array([fold.observed.data.means[0] for fold in folds])
    believed = observed != -1e3
    assert np.corrcoef(predicted[believed], observed[believed])[0, 1] > 0.5
    assert abs(predicted - observed)[believed].max() < 300  # a plain GP's is beyond, beside the lie


@pytest.mark.parametrize("trials", [12, pytest.param(14, marks=pytest.mark.slow)])
def test_the_readmes_example_runs(capsys, trials):
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    (example,) = [block for block in re.findall(r"```python\n(.*?)```", readme, re.DOTALL) if "ax.api" in block]
    names = {}
    exec(example.replace("range(14)", f"range({trials})"), names)
    found = names["best"](names["client"]).parameters
    assert (found["x"] - 0.3) ** 2 + (found["y"] - 0.6) ** 2 < 0.02
    report = names["outliers"](names["client"])
    assert (report["trial_index"][0], report["flagged"].sum()) == (6, 1)
    assert "Best(trial_index=" in capsys.readouterr().out


@pytest.mark.few(1)
@pytest.mark.parametrize("objective", ["f", "-f"])
def test_a_single_candidate_is_found_by_the_closed_form_of_what_ax_would_maximize(objective, monkeypatch):
    made, seen = go_on(client(objective=objective), 9), []

    def seeing(self, *args, **kwargs):
        ours = construct(self, *args, **kwargs)
        theirs = Acquisition._construct_botorch_acquisition(self, *args, **kwargs)
        assert isinstance(ours, LogNEI)
        X = torch.rand(200, 1, 2, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
        seen.append((ours(X).detach(), theirs(X).detach()))
        return ours

    construct = SeededAcquisition._construct_botorch_acquisition
    monkeypatch.setattr(SeededAcquisition, "_construct_botorch_acquisition", seeing)
    made.get_next_trials(max_trials=1)
    ((ours, theirs),) = seen
    assert theirs[ours.argmax()] > theirs.max() - 0.5  # theirs samples the new point's value too
    assert torch.corrcoef(torch.stack([ours, theirs]))[0, 1] > 0.9
