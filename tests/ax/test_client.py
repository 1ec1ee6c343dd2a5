"""The helper for Ax; needs ax-platform."""

import gc
import math

import pytest
from ax.api.client import Client
from ax.api.configs import ChoiceParameterConfig, RangeParameterConfig
from ax.generation_strategy.generation_node import DEFAULT_FALLBACK
from ax.service.ax_client import AxClient, ObjectiveProperties

import robustbo as rb
from robustbo.ax import best, complete, failures, generation_strategy, next_replicate, outliers
from robustbo.ax import client as module
from robustbo.ax.experiment import DESIGNS, history_of, runs_of
from robustbo.ax.seen import ClientReader
from robustbo.ax.space import space_of
from robustbo.ax.wanted import find_goals

pytestmark = pytest.mark.filterwarnings("ignore")  # what Ax and its libraries say to their own developers


def client(objective="f", parameters=()):
    made = Client(random_seed=0)
    ranges = [RangeParameterConfig(name="x", parameter_type="float", bounds=(0.0, 1.0))]
    made.configure_experiment([*ranges, *parameters])
    made.configure_optimization(objective=objective)
    return made


def measured(sign=1.0, off=1.2, **options):
    """16 values of a wave, the eleventh too good."""
    made = client("f" if sign > 0 else "-f", **options)
    for i in range(16):
        value = math.sin(3 * i / 15) + 0.1 * math.sin(40 * i) + (off if i == 10 else 0.0)
        made.complete_trial(made.attach_trial({"x": i / 15}), {"f": sign * value})
    return made


@pytest.mark.few(1)
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_flagged_value_that_would_be_the_best_is_measured_again_once(sign):
    made = measured(sign, 3.0)
    again = next_replicate(made)
    assert again == {"x": 10 / 15}
    index = made.attach_trial(again)
    assert next_replicate(made) is None  # pending
    made.complete_trial(index, {"f": sign * math.sin(2.0)})
    assert next_replicate(made) is None  # settled


@pytest.mark.slow
def test_what_was_fitted_to_a_client_is_kept_as_long_as_it_is_there():
    made = measured()
    first = next_replicate(made)
    count = module.FITS[made].misses
    assert count > 0
    assert next_replicate(made) == first
    assert best(made).parameters
    assert module.FITS[made].misses == count
    gc.collect()  # what other tests have left
    others = len(module.FITS)
    del made
    gc.collect()
    assert len(module.FITS) == others - 1


def test_a_failed_repeat_counts():
    made = measured()
    for _ in range(2):
        made.mark_trial_failed(made.attach_trial(next_replicate(made)))
    assert next_replicate(made) is None


@pytest.mark.few(1)
@pytest.mark.parametrize("end", [Client.mark_trial_failed, Client.mark_trial_abandoned])
def test_a_flake_where_much_is_promised_is_tried_again_once(end):
    made = measured(off=0.0)
    end(made, made.attach_trial({"x": 0.5}))
    assert failures(made)[["trial_index", "looks_like"]].to_numpy().tolist() == [[16, None]]  # of one nothing is said
    assert next_replicate(made, failures="ignore") is None
    again = next_replicate(made)
    assert again == {"x": 0.5}
    index = made.attach_trial(again)
    assert next_replicate(made) is None
    assert failures(made)["again"].tolist() == ["pending"]
    made.complete_trial(index, {"f": math.sin(1.5)})
    assert next_replicate(made) is None
    assert failures(made)[["again", "looks_like"]].to_numpy().tolist() == [["told", "flake"]]


def test_nothing_suspicious_is_nothing_to_repeat():
    assert next_replicate(measured(off=0.0)) is None
    assert next_replicate(measured(), replicate="never") is None
    assert next_replicate(client()) is None


def test_other_parameters_are_understood():
    made = client(
        parameters=[
            RangeParameterConfig(name="n", parameter_type="int", bounds=(1, 100), scaling="log"),
            ChoiceParameterConfig(name="c", parameter_type="str", values=["a", "b"]),
        ]
    )
    for i in range(9):
        made.complete_trial(made.attach_trial({"x": i / 8, "n": i + 1, "c": "ab"[i % 2]}), {"f": i / 8})
    assert next_replicate(made) is None


def test_what_is_no_number_or_outside_is_left_out():
    made = measured()
    made.complete_trial(made.attach_trial({"x": 0.42}), {"f": math.nan})
    made.complete_trial(made.attach_trial({"x": 1.2}), {"f": 0.0})
    assert next_replicate(made) == {"x": 10 / 15}


def test_it_is_known_who_asked():
    made = client()
    made.set_generation_strategy(generation_strategy("standard", seed=0))
    made.complete_trial(made.attach_trial({"x": 0.2}), {"f": 0.2})
    for _ in range(8):
        for index, params in made.get_next_trials(max_trials=1).items():
            made.complete_trial(index, {"f": params["x"]})
    runs = runs_of(made._experiment, space_of(made._experiment), "f")
    origins = [trial.origin for trial in history_of(runs)]
    sobol = origins.count("sobol")
    assert 0 < sobol < 8
    assert origins == ["user", *["sobol"] * sobol, *["model"] * (8 - sobol)]


@pytest.mark.parametrize("direction", ["minimize", "maximize"])
def test_outliers_are_those_of_the_view_by_which_the_best_is_found(direction):
    made = measured(1.0 if direction == "maximize" else -1.0)
    report, view = outliers(made).set_index("trial_index")["evidence"], ClientReader(made).view().view
    assert view.settings.direction == direction == find_goals(made._experiment).directions["f"]
    assert report.to_dict() == {each.trial.number: each.evidence for each in view.outliers()}


def test_a_standard_error_of_zero_says_that_a_value_is_exact():
    made, own = client("-f"), rb.Optimizer(rb.Space(x=rb.Float(0, 1)), direction="minimize", seed=0)
    for i in range(8):
        point, value = {"x": i / 7}, round(math.sin(5 * i), 3)
        made.complete_trial(made.attach_trial(point), {"f": (value, 0.0)})
        own.tell(point, value, sd=0.0)
    assert best(made)[3:5] == (own.best().mean, own.best().sd)
    runs = runs_of(made._experiment, space_of(made._experiment), "f")
    assert {run.values["f"][1] for run in runs} == {0.0}


def test_the_older_client_of_ax_is_read_too():
    made = AxClient(generation_strategy=generation_strategy("standard", seed=0), verbose_logging=False)
    spaces = [{"name": "x", "type": "range", "bounds": [0.0, 1.0]}]
    made.create_experiment(parameters=spaces, objectives={"f": ObjectiveProperties(minimize=True)})
    for _ in range(3):
        p, index = made.get_next_trial()
        assert complete(made, index, {"f": p["x"]})
    assert not complete(made, made.get_next_trial()[1], {"f": math.nan})
    assert best(made).parameters["x"] == pytest.approx(outliers(made)["value"].min())
    assert failures(made)["trial_index"].tolist() == [3]
    assert next_replicate(made) is None
    with pytest.raises(TypeError, match=r"client must be ax\.api\.client\.Client or AxClient, got 3"):
        best(3)


def test_a_design_of_ax_s_own_is_no_model():
    made = client()
    for _ in range(3):
        for index, params in made.get_next_trials(max_trials=1).items():
            made.complete_trial(index, {"f": params["x"]})
    runs = runs_of(made._experiment, space_of(made._experiment), "f")
    assert runs[0].point == {"x": 0.5}  # the center of the space
    assert [run.origin for run in runs] == ["sobol"] * 3
    assert {spec.generator_key for spec in DEFAULT_FALLBACK.values()} <= DESIGNS
