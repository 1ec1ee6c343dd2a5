"""Restricted spaces as other libraries are given them."""

import numpy as np
import pandas as pd
import pytest

from robustbo.replay.cells.cell import cells
from robustbo.replay.cells.engine import run as run_cell
from robustbo.replay.cells.optimization import OptimizationCell
from robustbo.replay.cells.peer_space import PeerSpace, is_restricted
from robustbo.replay.spec.optimization import RunSpec
from robustbo.replay.verify import verify
from robustbo.searchspace.parameters import MAX_LEVELS, Choice, Float, Ordinal
from robustbo.searchspace.pool import Pool
from robustbo.searchspace.space import Space
from robustbo.trials.storage.reading import read

MIXTURE = Space(**{name: Float(0, 1) for name in "abc"}, constraints=["a + b + c == 1", "a <= 0.5", "b * c <= 0.1"])


def test_what_follows_from_others_is_left_out_and_its_bounds_are_constraints():
    given = PeerSpace(MIXTURE)
    assert list(given.parameters) == ["b", "c"]
    point, excess = given.complete({"b": 0.6, "c": 0.1})
    assert point == pytest.approx({"a": 0.3, "b": 0.6, "c": 0.1})
    assert excess == pytest.approx([-0.3, -0.7, -0.2, -0.04])
    assert given.linear == [
        ({"b": 1.0, "c": 1.0}, -1.0),
        ({"b": -1.0, "c": -1.0}, 0.0),
        ({"b": -1, "c": -1}, 0.5),
        None,
    ]
    point, excess = given.complete({"b": 0.9, "c": 0.9})
    assert point is None
    assert excess == pytest.approx([0.8, -1.8, -1.3, 0.71])


def test_a_slip_by_rounding_is_drawn_back_and_no_other():
    given = PeerSpace(MIXTURE)
    point, _ = given.complete({"b": 0.5 - 1e-7, "c": 0.0})
    assert point is not None
    assert MIXTURE.broken(point) == []
    assert point["b"] == pytest.approx(0.5, abs=1e-3)
    assert given.complete({"b": 0.45, "c": 0.0}).point is None


def test_what_the_bounds_say_need_not_be_learnt():
    given = PeerSpace(Space(x=Float(0, 1), y=Float(0, 1), constraints=["x + y <= 3", "x * y <= 0.5"]))
    assert [each.text for each in given.inequalities] == ["x * y <= 0.5"]


def test_a_pool_is_a_space_of_its_columns():
    frame = pd.DataFrame({"x": [1.0, 2.0, 1.0, 2.0], "k": ["a", "a", "b", "b"]})
    given = PeerSpace(Pool(frame))
    assert given.parameters == {"x": Ordinal(1.0, 2.0), "k": Choice("a", "b")}
    assert given.complete({"x": 2.0, "k": "b"}) == ({"x": 2.0, "k": "b"}, [])
    part = PeerSpace(Pool(frame.iloc[:3]))
    assert part.complete({"x": 2.0, "k": "b"}) == (None, [1.0])
    assert part.complete({"x": 1.0, "k": "b"}) == ({"x": 1.0, "k": "b"}, [-1.0])


def scattered():
    """More rows than a parameter may have levels, of numbers that are all different, and of words."""
    x = np.linspace(0.0, 1.0, MAX_LEVELS + 2) ** 2
    return Pool(pd.DataFrame({"x": x, "k": ["a", "b"] * (len(x) // 2)}), constraints=["x <= 0.9"])


def test_where_rows_lie_scattered_a_point_stands_for_the_nearest_that_is_not_taken():
    pool = scattered()
    given = PeerSpace(pool)
    assert given.parameters == dict(pool.parameters)
    assert given.linear == [({"x": 1.0}, -0.9)]
    even = [x for x, k in pool.rows if k == "a"]
    first = given.rows.nearest({"x": 0.25, "k": "a"})
    assert first == {"x": min(even, key=lambda x: abs(x - 0.25)), "k": "a"}
    given.rows.take(first)
    second = given.rows.nearest({"x": 0.25, "k": "a"})
    assert second["k"] == "a"
    assert second["x"] == min((x for x in even if x != first["x"]), key=lambda x: abs(x - 0.25))
    assert given.rows.nearest({"x": 1.0, "k": "b"})["x"] <= 0.9
    for i in range(pool.size):
        given.rows.take(pool.point(i))
    assert given.rows.nearest({"x": 0.25, "k": "a"}) == first


def test_a_grid_and_a_space_are_not_scattered():
    frame = pd.DataFrame({"x": [float(i) for i in range(MAX_LEVELS)]})
    assert PeerSpace(Pool(frame)).rows is None
    assert PeerSpace(MIXTURE).rows is None


def test_what_does_not_exist_is_left_away():
    space = Space(k=Choice("a", "b"), x=Float(0, 1, when={"k": "b"}))
    given = PeerSpace(space)
    assert given.complete({"k": "a", "x": 0.3}).point == {"k": "a"}
    assert given.own({"k": "a"}, is_whole=True) == {"k": "a", "x": 0.5}
    assert is_restricted(space)
    assert not is_restricted(Space(x=Float(0, 1)))


def spec(problem, method, **changes):
    given = {"problem": problem, "methods": [method], "replications": 1, "trials": 9, "num_initial": 6}
    return RunSpec.model_validate(given | changes)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("method", ["optuna-gp", "optuna-tpe", "ax-default"])
@pytest.mark.parametrize("problem", ["mixture", "two-circles", "conditional", "table"])
def test_peers_measure_what_keeps_the_constraints_alone(tmp_path, problem, method):
    trials = 7 if method == "ax-default" else 9
    changes = {"trials": trials} | ({"corruption": {"kind": "repeats"}} if problem == "table" else {})
    (cell,) = cells(OptimizationCell, spec(problem, method, **changes), tmp_path)
    run_cell(cell, lambda number, value: None)
    asked = [event for event in read(cell.journal).events if event["event"] == "ask"]
    space = cell.settings.space
    assert len(asked) == trials
    assert all(space.validate(event["params"]) and not space.broken(event["params"]) for event in asked)
    assert [event["origin"] for event in asked[:6]] == ["sobol"] * 6
    assert {event["origin"] for event in asked[6:]} & {"optuna", "ax"} or problem == "two-circles"
    assert cell.entries()[-1]["recommended"] is not None
    assert verify(cell).bits == 0


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("method", ["optuna-gp", "optuna-tpe", "ax-default"])
def test_peers_measure_each_row_once_where_rows_lie_scattered(tmp_path, method):
    pool = scattered()
    file = tmp_path / "mine.csv"
    pd.DataFrame(pool.rows, columns=pool.names).assign(y=range(pool.size)).to_csv(file, index=False)
    (cell,) = cells(OptimizationCell, spec("table", method, problem_options={"file": str(file)}), tmp_path)
    run_cell(cell, lambda number, value: None)
    asked = [event for event in read(cell.journal).events if event["event"] == "ask"]
    assert len({tuple(cell.settings.space.validate(event["params"]).values()) for event in asked}) == 9
    assert [event["origin"] for event in asked[6:]] == [method.split("-")[0]] * 3
    values = [entry["value"] for entry in cell.entries()]
    if method != "ax-default":  # whose models think for themselves
        assert cell.entries()[-1]["recommended"] == np.argmax(values)


def test_they_begin_with_the_points_of_our_own_methods(tmp_path):
    first = []
    for method in ("standard", "optuna-tpe"):
        (cell,) = cells(OptimizationCell, spec("two-circles", method, trials=6), tmp_path)
        run_cell(cell, lambda number, value: None)
        first.append([event["params"] for event in read(cell.journal).events if event["event"] == "ask"])
    assert first[0] == first[1]
