"""Ax clients for spaces of ours; needs ax-platform."""

import json
import math

import pandas as pd
import pytest
from ax.api.client import Client

from robustbo.ax import best, client_for, generation_strategy
from robustbo.ax.space import space_of
from robustbo.searchspace.parameters import Choice, Float, Int, Ordinal
from robustbo.searchspace.pool import Pool
from robustbo.searchspace.space import Space

pytestmark = pytest.mark.filterwarnings("ignore")  # what Ax and its libraries say to their own developers


def asked(space, value, trials=6):
    """Points that Ax asks, with our surrogate from the third on."""
    made = client_for(space, "minimize", "f", seed=0)
    made.set_generation_strategy(generation_strategy("standard", seed=0, num_initial=3))
    points = []
    for _ in range(trials):
        ((index, params),) = made.get_next_trials(max_trials=1).items()
        made.complete_trial(index, {"f": value(params)})
        points.append(space.validate(params))
    assert best(made).parameters in points
    return points


def test_steps_orders_and_single_values_come_back_as_ours(tmp_path):
    space = Space(
        s=Float(0, 1, step=0.1),
        whole=Float(0, 3, step=1),
        n=Int(0, 10, step=5),
        i=Int(1, 8, step=1),
        powers=Ordinal(1, 10, 100),
        mixed=Ordinal(0.5, 1, 2, log=True),
        w=Ordinal("low", "mid", "high"),
        one=Choice("z"),
        half=Float(0.5, 0.5),
        seven=Int(7, 7),
    )
    made = client_for(space, "minimize", "f")
    made.save_to_json_file(str(tmp_path / "client.json"))
    for client in (made, Client.load_from_json_file(str(tmp_path / "client.json"))):
        assert dict(space_of(client._experiment).parameters) == {
            "s": Ordinal(*(round(0.1 * i, 1) for i in range(11))),
            "whole": Ordinal(0.0, 1.0, 2.0, 3.0),
            "n": Ordinal(0, 5, 10),
            "i": Int(1, 8),
            "powers": Ordinal(1, 10, 100),  # not on a log scale, as Ax would have guessed
            "mixed": Ordinal(0.5, 1.0, 2.0, log=True),
            "w": Ordinal("low", "mid", "high"),
            "one": Choice("z"),
            "half": Choice(0.5),
            "seven": Choice(7),
        }
    points = asked(space, lambda p: p["s"] + math.log(p["powers"]) + (p["w"] != "mid"))
    assert all(p["one"] == "z" and p["half"] == 0.5 and p["seven"] == 7 for p in points)


@pytest.mark.slow
def test_linear_constraints_are_kept():
    texts = ["x + y / 3 <= 1 + one", "x >= y / 9", "2 * one <= 5"]
    space = Space(x=Float(0, 3), y=Float(0, 9), one=Float(0.5, 0.5), constraints=texts)
    points = asked(space, lambda p: -p["x"] - p["y"])
    assert not any(space.broken(p) for p in points)
    assert max(p["x"] + p["y"] / 3 for p in points) == pytest.approx(1.5)


def test_sobol_points_with_integers_keep_constraints():
    space = Space(x=Float(0, 3), n=Int(0, 9), constraints=["x + n / 3 <= 1.5"])
    points = asked(space, lambda p: -p["x"] - p["n"], trials=3)
    assert not any(space.broken(p) for p in points)


@pytest.mark.slow
def test_a_mixture_adds_up():
    space = Space(**{name: Float(0, 1) for name in "abc"}, constraints=["a + b + c == 1", "0.1 <= a <= 0.6"])
    points = asked(space, lambda p: -p["a"], trials=5)
    assert not any(space.broken(p) for p in points)
    assert points[-1]["a"] == max(p["a"] for p in points)


def test_conditions():
    space = Space(
        kind=Choice("tree", "dart", "line"),
        rate=Float(0, 1, when={"kind": "dart"}),
        how=Ordinal(1, 2, 3, when={"kind": "dart"}),
        deep=Int(1, 5, when={"how": 2}),
    )
    assert space_of(client_for(space, "minimize", "f")._experiment) == space
    points = asked(space, lambda p: p.get("rate", 1.0) + p.get("deep", 3), trials=8)  # each is validated
    assert len({json.dumps(sorted(p)) for p in points}) > 1


@pytest.mark.parametrize(
    ("parameters", "constraints", "message"),
    [
        ({"x": Float(0, 1)}, ["x * y <= 0.5"], r"constraint 'x \* y <= 0.5' must be linear for Ax"),
        ({"x": Float(0.1, 1, log=True)}, ["x + y <= 1"], "must not be on 'x' for Ax: .* log scale"),
        ({"x": Choice(1, 2, 4)}, ["x + y <= 3"], "must not be on 'x' for Ax: its Sobol points"),
        ({"x": Ordinal(1, 2, 4)}, ["x + y <= 3"], "must not be on 'x' for Ax: its Sobol points"),
        ({"x": Float(0, 1, step=0.1)}, ["x + y <= 1"], "must not be on 'x' for Ax: its Sobol points"),
        ({"x": Int(0, 4)}, ["x + y == 3"], "must not be on 'x' for Ax: no point of an equation with an Int"),
        ({"lambda": Float(0, 1)}, ["`lambda` + y <= 1"], "must have names that Ax can read"),
        ({"x": Float(0, 1, when={"k": "a"})}, ["x + y <= 1"], "must not be on 'x' for Ax: it must always exist"),
        ({"x": Float(0, 1, when={"k": ["a", "b"]})}, (), "x.when must name one value of one parameter for Ax"),
        ({"x": Float(0, 1, when={"k": "a", "n": 2})}, (), "x.when must name one value of one parameter for Ax"),
        ({"x": Float(0, 1, when={"n": 2})}, (), "x.when must name a Choice or an Ordinal for Ax, got 'n'"),
        ({"x": Float(0, 1, step=1e-4)}, (), "x must have at most 1000 values for Ax, got 10001 steps"),
        ({"x": Choice(None)}, (), "x must have values of .* for Ax, got"),
    ],
)
def test_what_ax_cannot_have_is_named(parameters, constraints, message):
    others = {"y": Float(0, 1), "k": Choice("a", "b", "z"), "n": Int(1, 3)}
    space = Space.from_dict(parameters | others, constraints)
    with pytest.raises(ValueError, match=message):
        client_for(space, "minimize", "f")


def test_a_pool_is_refused():
    with pytest.raises(ValueError, match="must not be a pool for Ax"):
        client_for(Pool(pd.DataFrame({"x": [0.1, 0.2]})), "minimize", "f")


@pytest.mark.parametrize(
    ("direction", "metric", "message"),
    [
        ("max", "f", "direction must be one of .* did you mean 'maximize'"),
        ("minimize", "-x", "metric must be a name, got '-x', which Ax takes for the formula"),
        ("maximize", "-x", "metric must be a name"),
        ("minimize", "a,b", "metric must be a name"),
        ("maximize", "2*f", "metric must be a name"),
    ],
)
def test_a_direction_or_a_metric_that_is_none_is_named(direction, metric, message):
    with pytest.raises(ValueError, match=message):
        client_for(Space(x=Float(0, 1)), direction, metric)


def test_a_metric_may_have_any_name():
    objective = client_for(Space(x=Float(0, 1)), "minimize", "val-loss of 3")._experiment.optimization_config.objective
    assert objective.metric_names == ["val-loss of 3"]
