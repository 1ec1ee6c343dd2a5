import pytest

from robustbo.replay.cells.cell import cells
from robustbo.replay.cells.optimization import OptimizationCell
from robustbo.replay.execute import waiting as module
from robustbo.replay.execute.waiting import Waiting
from robustbo.replay.execute.work import Progress
from robustbo.replay.spec.optimization import RunSpec

SPEC = RunSpec.model_validate(
    {"problem": "hartmann6", "methods": ["sobol", "standard"], "trials": 4, "num_initial": 3, "replications": 2}
)


class Clock:
    """Time that passes when it is told to."""

    now = 0.0

    def perf_counter(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(module, "time", clock)
    return clock


@pytest.fixture
def made(tmp_path):
    """Replication by replication: sobol, standard, sobol, standard."""
    return cells(OptimizationCell, SPEC, tmp_path)


def run(waiting, clock, seconds):
    """The next cell is taken, makes a trial, and is done after so many seconds."""
    cell = waiting.take()
    waiting.note_start(Progress(cell.method, cell.replication, 1, None))
    clock.now += seconds
    waiting.note_end(cell)
    return cell


def test_the_methods_that_take_longest_go_first_and_unknown_ones_before_them(made, clock):
    waiting = Waiting(made)
    assert run(waiting, clock, 1.0) == made[0]
    assert run(waiting, clock, 6.0) == made[1]
    assert (waiting.take().method, len(waiting)) == ("standard", 1)


def test_of_a_method_of_which_nothing_is_known_one_goes_before_all_others(made, clock):
    waiting = Waiting([made[1], made[3], made[0]])
    run(waiting, clock, 6.0)
    assert waiting.take().method == "sobol"


def test_one_that_was_cut_short_waits_again(made):
    waiting = Waiting(made)
    waiting.again(waiting.take())
    assert len(waiting) == len(made)


def test_a_cell_that_was_done_before_says_nothing_of_its_method(made, clock):
    waiting = Waiting(made)
    waiting.note_end(waiting.take())
    assert run(waiting, clock, 6.0) == made[1]
    assert waiting.take() == made[2]
