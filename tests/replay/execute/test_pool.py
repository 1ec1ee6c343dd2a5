import signal
import sys

import pytest

from robustbo.replay.cells.cell import cells
from robustbo.replay.cells.optimization import OptimizationCell
from robustbo.replay.execute.pool import run_cells
from robustbo.replay.execute.work import CellFailure, Progress
from robustbo.replay.spec.optimization import RunSpec

SPEC = RunSpec.model_validate(
    {"problem": "hartmann6", "methods": ["sobol", "standard"], "trials": 4, "num_initial": 3, "replications": 2}
)


@pytest.mark.few(1)
@pytest.mark.parametrize("jobs", [1, 2])
def test_every_trial_of_every_cell_is_run_and_told_of(tmp_path, jobs):
    heard = []
    made = cells(OptimizationCell, SPEC, tmp_path)
    assert run_cells(made, jobs, heard.append) == []
    assert {(p.method, p.replication, p.trials) for p in heard} == {
        (m, r, t) for m in SPEC.methods for r in range(2) for t in range(1, 5)
    }
    assert all(isinstance(p, Progress) for p in heard)
    assert all(len(cell.entries()) == 4 for cell in made)


@pytest.mark.few(1)
@pytest.mark.parametrize("jobs", [1, 2])
def test_a_failing_cell_does_not_stop_the_others(tmp_path, jobs):
    made = cells(OptimizationCell, SPEC, tmp_path)
    made[0].record.parent.mkdir()
    made[0].record.write_text("garbage\n")
    (failure,) = run_cells(made, jobs, lambda _: None)
    assert failure[:2] == ("sobol", 0)
    assert "is not a journal of robustbo" in failure.reason
    assert isinstance(failure, CellFailure)
    assert all(len(cell.entries()) == 4 for cell in made[1:])


@pytest.mark.few(1)
@pytest.mark.parametrize("jobs", [1, 2])
def test_the_first_failure_stops_the_others_where_it_may(tmp_path, jobs):
    made = cells(OptimizationCell, SPEC.model_copy(update={"trials": 2000, "replications": 1}), tmp_path)
    made[0].record.parent.mkdir()
    made[0].record.write_text("garbage\n")
    (failure,) = run_cells(made, jobs, lambda _: None, fail_fast=True)
    assert failure.method == "sobol"
    assert len(made[1].entries()) < 2000


class Swallows:
    """Deletes itself while Ctrl-C comes, as a library's garbage collector does: Python drops what is raised there."""

    def __del__(self):
        signal.raise_signal(signal.SIGINT)


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [1, 2])
def test_an_interrupt_that_a_library_swallows_still_ends_the_run(tmp_path, jobs):
    """Nor is anything said of it: pytest would make an error of it."""
    hook = sys.unraisablehook
    made = cells(OptimizationCell, SPEC.model_copy(update={"trials": 50}), tmp_path)
    heard = []

    def notify(progress):
        heard.append(progress)
        if len(heard) == 2:
            Swallows()

    with pytest.raises(KeyboardInterrupt):
        run_cells(made, jobs, notify)
    assert len(heard) == 2
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert sys.unraisablehook is hook
