"""Our strategies in Ax's search spaces of all kinds, through a real client; needs ax-platform."""

import math
import re
from pathlib import Path

import pytest
import torch
from ax.api.client import Client
from ax.api.configs import ChoiceParameterConfig, RangeParameterConfig
from ax.core.parameter_constraint import ParameterConstraint

from robustbo.ax import best, failures, generation_strategy, next_replicate, outliers
from robustbo.ax.space import space_of
from robustbo.ax.viability import OPTION
from robustbo.errors import SpaceError

pytestmark = pytest.mark.filterwarnings("ignore")  # what Ax and its libraries say to their own developers
SQUARE = [RangeParameterConfig(name=name, parameter_type="float", bounds=(0.0, 1.0)) for name in "xy"]
TREE = [
    ChoiceParameterConfig(
        name="kind", parameter_type="str", values=["line", "tree"], dependent_parameters={"line": ["x"], "tree": ["y"]}
    ),
    *SQUARE,
]


def client(parameters, constraints=None, surrogate="standard", **options):
    made = Client(random_seed=0)
    made.configure_experiment(parameters, parameter_constraints=constraints)
    made.configure_optimization(objective="-f")
    made.set_generation_strategy(generation_strategy(surrogate, seed=0, num_initial=3, **options))
    return made


def go_on(made, trials, value, does_fail=lambda p: False, q=1, **fixed):
    """Go on; returns the points."""
    points = []
    for _ in range(trials):
        for index, params in made.get_next_trials(max_trials=q, **fixed).items():
            points.append(params)
            if does_fail(params):
                made.mark_trial_failed(index)
            else:
                made.complete_trial(index, {"f": value(params)})
    return points


@pytest.mark.slow
def test_constraints_are_kept_where_trials_fail_are_pending_and_come_in_batches():
    made = client(SQUARE, ["x + y <= 1"])
    points = go_on(made, 5, lambda p: -p["x"] - 2 * p["y"], does_fail=lambda p: p["y"] > 0.9)
    points += made.get_next_trials(max_trials=2).values()
    points += made.get_next_trials(max_trials=1).values()  # with two pending
    assert len({tuple(p.values()) for p in points}) == 8
    assert max(p["x"] + p["y"] for p in points) <= 1 + 1e-8
    assert made._experiment.trials[7].generator_runs[0]._generation_node_name == "robustbo"
    assert len(failures(made)) + len(outliers(made)) == 5
    assert sum(best(made).parameters.values()) <= 1 + 1e-8
    assert next_replicate(made) is None


def measured():
    """A client with 16 values of a wave, the eleventh too good."""
    one = ChoiceParameterConfig(name="one", parameter_type="str", values=["z"])
    made = client([SQUARE[0], one], None, "relevance-pursuit")
    for i in range(16):
        value = -math.sin(3 * i / 15) - 0.1 * math.sin(40 * i) - (1.2 if i == 10 else 0.0)
        made.complete_trial(made.attach_trial({"x": i / 15, "one": "z"}), {"f": value})
    return made


def test_a_point_that_breaks_a_constraint_is_neither_repeated_nor_best():
    made = measured()
    assert next_replicate(made) == {"x": 10 / 15, "one": "z"}
    assert best(made).parameters["x"] > 0.4
    made._experiment.search_space.add_parameter_constraints([ParameterConstraint(inequality="x <= 0.25")])
    assert next_replicate(made) is None
    assert best(made).parameters["x"] <= 0.25


def test_only_an_arm_with_today_s_values_is_repeated():
    made = measured()
    assert next_replicate(made, fixed_parameters={"one": "z"}) == {"x": 10 / 15, "one": "z"}
    assert next_replicate(made, fixed_parameters={"x": 0.0}) != {"x": 10 / 15, "one": "z"}
    with pytest.raises(SpaceError, match="y: no such parameter"):
        next_replicate(made, fixed_parameters={"y": 0.25})


def test_fixed_parameters_are_as_they_are_given():
    kinds = [
        *SQUARE,
        RangeParameterConfig(name="n", parameter_type="int", bounds=(0, 9)),
        ChoiceParameterConfig(name="o", parameter_type="float", values=[0.1, 0.2, 0.5], is_ordered=True),
        ChoiceParameterConfig(name="c", parameter_type="str", values=["a", "b", "z"], is_ordered=False),
    ]
    made = client(kinds)
    for fixed in ({"y": 0.25, "n": 4, "o": 0.2, "c": "z"}, {"y": 0.75}):
        for p in go_on(made, 4, lambda p: (p["x"] - p["y"]) ** 2, fixed_parameters=fixed):
            assert {name: p[name] for name in fixed} == fixed
    found = best(made, fixed_parameters={"y": 0.5})
    assert found.parameters["y"] == 0.5
    assert found.parameters.keys() == made._experiment.trials[0].arm.parameters.keys()


@pytest.mark.slow
def test_constraints_hold_with_what_is_fixed():
    made = client(SQUARE, ["x + y <= 1"])
    points = go_on(made, 5, lambda p: -p["x"], fixed_parameters={"y": 0.75})
    assert all(p["y"] == 0.75 and p["x"] <= 0.25 + 1e-8 for p in points)
    assert max(p["x"] for p in points) > 0.2


@pytest.mark.slow
def test_a_mixture():
    made = client(SQUARE)
    made._experiment.search_space.add_parameter_constraints([ParameterConstraint(equality="x + y == 1")])
    points = go_on(made, 5, lambda p: -p["x"])
    assert all(p["x"] + p["y"] == pytest.approx(1.0, abs=1e-8) for p in points)
    assert best(made).parameters in points
    assert next_replicate(made) is None


def test_orders_steps_logs_and_single_values():
    kinds = [
        SQUARE[0],
        RangeParameterConfig(name="lr", parameter_type="float", bounds=(1e-4, 1.0), scaling="log"),
        RangeParameterConfig(name="s", parameter_type="float", bounds=(0.0, 1.0), step_size=0.25),
        RangeParameterConfig(name="i", parameter_type="int", bounds=(0, 10), step_size=5),
        ChoiceParameterConfig(name="o", parameter_type="float", values=[0.1, 0.2, 0.5], is_ordered=True),
        ChoiceParameterConfig(name="w", parameter_type="str", values=["low", "mid", "high"], is_ordered=True),
        ChoiceParameterConfig(name="one", parameter_type="str", values=["z"]),
    ]
    made = client(kinds)
    space = space_of(made._experiment)
    points = go_on(made, 8, lambda p: p["s"] + p["i"] + abs(math.log10(p["lr"]) + 2) + (p["w"] != "mid"))
    assert all(space.is_as_written({name: p[name] for name in space.names}) for p in points)
    assert len(outliers(made)) == 8
    assert best(made).parameters in points


@pytest.mark.slow
def test_conditional_parameters(tmp_path):
    made = client(TREE)
    points = go_on(made, 8, lambda p: p.get("x", 1.0) + p.get("y", 1.0), does_fail=lambda p: p.get("y", 0.0) > 0.5)
    assert {tuple(sorted(p)) for p in points} == {("kind", "x"), ("kind", "y")}
    assert len(failures(made)) + len(outliers(made)) == 8
    assert best(made).parameters in points
    made.save_to_json_file(str(tmp_path / "client.json"))
    loaded = Client.load_from_json_file(str(tmp_path / "client.json"))
    assert go_on(loaded, 1, lambda p: 0.0) == go_on(made, 1, lambda p: 0.0)


def test_failures_are_where_the_acquisition_sees_them_though_parameters_do_not_exist_there():
    made = client(TREE)
    go_on(made, 6, lambda p: p.get("x", 1.0) + p.get("y", 1.0), does_fail=lambda p: p["kind"] == "tree")
    made.get_next_trials(max_trials=1)
    adapter = made._generation_strategy.adapter
    handed = adapter.generator._acquisition.options[OPTION]
    assert 0 < sum(handed.is_ok) < 6
    assert torch.equal(handed.X[torch.tensor(handed.is_ok)], adapter.generator.surrogate.Xs[0])


@pytest.mark.slow
def test_the_page_runs():
    page = (Path(__file__).parents[2] / "docs" / "howto" / "ax.md").read_text(encoding="utf-8")
    block, *_ = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    names = {}
    exec(block, names)
    arms = [trial.arm.parameters for trial in names["client"]._experiment.trials.values()]
    assert len(arms) == 7
    assert all(p["resin"] + p["filler"] <= 1 + 1e-8 and p["oven"] in (350.0, 360.0) for p in arms)
    assert names["found"].parameters["oven"] == 350.0
