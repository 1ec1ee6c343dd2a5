import pytest

from robustbo.replay.cell import cells, recorded
from robustbo.replay.pool import run_cells
from robustbo.replay.spec import RunSpec
from robustbo.replay.waiting import Waiting
from robustbo.replay.work import Failure, Progress

SPEC = RunSpec.model_validate(
    {"problem": "hartmann6", "methods": ["sobol", "standard"], "trials": 4, "num_initial": 3, "replications": 2}
)


@pytest.mark.parametrize("jobs", [1, 2])
def test_every_trial_of_every_cell_is_run_and_told_of(tmp_path, jobs):
    heard = []
    made = cells(SPEC, tmp_path)
    assert run_cells(made, jobs, heard.append) == []
    assert {(p.method, p.replication, p.trials) for p in heard} == {
        (m, r, t) for m in SPEC.methods for r in range(2) for t in range(1, 5)
    }
    assert all(isinstance(p, Progress) for p in heard)
    assert all(len(recorded(cell).entries) == 4 for cell in made)


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_failing_cell_does_not_stop_the_others(tmp_path, jobs):
    made = cells(SPEC, tmp_path)
    made[0].truth.parent.mkdir()
    made[0].truth.write_text("garbage\n")
    (failure,) = run_cells(made, jobs, lambda _: None)
    assert failure[:2] == ("sobol", 0)
    assert "line 1: damaged" in failure.reason
    assert isinstance(failure, Failure)
    assert all(len(recorded(cell).entries) == 4 for cell in made[1:])


def test_the_methods_that_take_longest_go_first_and_unknown_ones_before_them(tmp_path):
    made = cells(SPEC, tmp_path)
    waiting = Waiting(made)
    assert waiting.take() == made[0]
    waiting.again(made[0])
    waiting.took(next(cell for cell in made if cell.method == "standard"), 6.0)
    assert waiting.take().method == "sobol"
    waiting.took(made[0], 1.0)
    assert (waiting.take().method, len(waiting)) == ("standard", 2)
