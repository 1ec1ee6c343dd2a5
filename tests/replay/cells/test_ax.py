"""Ax as a competitor in a replayed run; needs ax-platform."""

import pytest

from robustbo.ax import client_for
from robustbo.errors import SpecError
from robustbo.replay.cells.cell import cells
from robustbo.replay.cells.engine import run as run_cell
from robustbo.replay.cells.optimization import OptimizationCell
from robustbo.replay.spec.optimization import RunSpec
from robustbo.replay.verify import verify
from robustbo.searchspace.parameters import Choice, Float, Int
from robustbo.searchspace.space import Space

pytestmark = pytest.mark.filterwarnings("ignore")  # what Ax and its libraries say to their own developers


@pytest.fixture
def spec():
    return RunSpec.model_validate(
        {
            "problem": "branin",
            "methods": ["ax-default", "ax-relevance-pursuit"],
            "trials": 9,
            "num_initial": 5,
            "replications": 1,
            "corruption": {"kind": "constant", "value": -1e3, "probability": 1.0, "trials": [4]},
        }
    )


@pytest.fixture
def ran(spec, tmp_path):
    found = cells(OptimizationCell, spec, tmp_path)
    for cell in found:
        run_cell(cell, lambda number, value: None)
    return {cell.method: cell for cell in found}


@pytest.mark.slow
def test_both_meet_the_same_corruption_at_the_same_trial(ran):
    for cell in ran.values():
        entries = cell.entries()
        assert [entry["trial"] for entry in entries if entry["corrupted"]] == [4]
        assert entries[4]["value"] == -1e3
        assert len(entries) == 9
        assert [entry["recommended"] is None for entry in entries] == [True] * 8 + [False]


@pytest.mark.slow
def test_ours_finds_the_liar_and_does_not_recommend_it(ran):
    ours = ran["ax-relevance-pursuit"]
    entries, flagged = ours.entries(), ours.flags()
    assert 4 in flagged
    assert len(flagged) <= 2  # of nine values, one that is twice as large as any other is doubtful
    assert entries[-1]["recommended"] != 4
    assert ran["ax-default"].flags() == []


@pytest.mark.slow
def test_what_can_be_verified_is(ran):
    for cell in ran.values():
        assert verify(cell).bits == 0  # asks
    path = ran["ax-default"].record
    path.write_text(path.read_text().replace('"corrupted": true', '"corrupted": false'))
    with pytest.raises(Exception, match=r"damaged|corrupted"):
        verify(ran["ax-default"])


@pytest.mark.slow
def test_one_that_was_stopped_begins_anew_and_one_that_is_done_does_not(ran):
    cell = ran["ax-relevance-pursuit"]
    before, flagged = cell.record.read_bytes(), cell.flags()
    run_cell(cell, lambda number, value: pytest.fail("it was done"))
    cell.record.write_bytes(b"\n".join(before.splitlines()[:4]) + b"\n")
    done = []
    run_cell(cell, lambda number, value: done.append(number))
    assert done == list(range(1, 10))
    assert cell.flags() == flagged


def test_a_space_becomes_a_client():
    space = Space(x=Float(1e-3, 1.0, log=True), n=Int(1, 8), c=Choice("a", "b"))
    client = client_for(space, "minimize", "loss", seed=0)
    parameters = client._experiment.search_space.parameters
    assert (parameters["x"].lower, parameters["x"].upper, parameters["x"].log_scale) == (1e-3, 1.0, True)
    assert (parameters["n"].lower, parameters["n"].upper) == (1, 8)
    assert parameters["c"].values == ["a", "b"]
    assert client._experiment.optimization_config.objective.minimize
    numbers = client_for(Space(c=Choice(1, 2, 4), b=Choice(True, False)), "maximize", "loss")
    found = numbers._experiment.search_space.parameters
    assert (found["c"].values, sorted(found["b"].values)) == ([1, 2, 4], [False, True])
    with pytest.raises(ValueError, match=r"c must have values of one type for Ax, got \['int', 'str'\]"):
        client_for(Space(c=Choice(1, "b")), "minimize", "loss")


def test_without_ax_it_says_what_to_install(spec, tmp_path, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(SpecError, match=r"method 'ax-default' needs ax-platform; pip install 'robustbo\[ax\]'"):
        run_cell(cells(OptimizationCell, spec, tmp_path)[0], lambda number, value: None)
