import pytest

from robustbo.replay.cell import cells
from robustbo.replay.spec import RunSpec
from robustbo.replay.waiting import Waiting
from robustbo.replay.work import Progress

SPEC = RunSpec.model_validate(
    {"problem": "hartmann6", "methods": ["sobol", "standard"], "trials": 4, "num_initial": 3, "replications": 2}
)


@pytest.fixture
def made(tmp_path):
    """Replication by replication: sobol, standard, sobol, standard."""
    return cells(SPEC, tmp_path)


def took(waiting, cell, seconds):
    waiting.heard(Progress(cell.method, cell.replication, 1, None))
    waiting.took(cell, seconds)


def test_the_methods_that_take_longest_go_first_and_unknown_ones_before_them(made):
    waiting = Waiting(made)
    assert waiting.take() == made[0]
    waiting.again(made[0])
    took(waiting, made[1], 6.0)
    assert waiting.take().method == "sobol"
    took(waiting, made[0], 1.0)
    assert (waiting.take().method, len(waiting)) == ("standard", 2)


def test_a_cell_that_was_done_before_says_nothing_of_its_method(made):
    waiting = Waiting(made[1:])
    waiting.took(made[0], 0.0)
    took(waiting, made[1], 6.0)
    assert waiting.take().method == "sobol"
