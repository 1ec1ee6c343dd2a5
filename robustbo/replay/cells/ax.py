"""A cell whose trials Ax proposes: its default strategy, or ours inside it. Imported only where such a cell is run.

Ax's decisions are not ours to repeat bit for bit: such a cell begins anew where it was stopped, its asks are not
verified, and a recommendation is asked for after the last trial alone, since Ax cross-validates for it.
"""

import logging
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from robustbo.ax import best, client_for, complete, generation_strategy, outliers
from robustbo.replay.cells.cell import Progress
from robustbo.replay.cells.optimization import OptimizationCell, flagged_of, told_value, truth_of
from robustbo.trials.codec import header
from robustbo.trials.storage.journal import Journal

METRIC = "value"


def run(cell: OptimizationCell, progress: Progress) -> None:
    """Run a cell from its first trial to its last."""
    if cell.is_done:
        return
    for path in (cell.journal, cell.record):
        path.unlink(missing_ok=True)
    problem, corruption, client = cell.spec.load_problem(), cell.spec.build_corruption(), client_of(cell)
    journal = Journal.create(cell.journal, header(cell.settings))
    truth = cell.opened()
    with _hushed():
        for number in range(cell.spec.trials):
            started = time.perf_counter()
            ((index, params),) = client.get_next_trials(max_trials=1).items()
            seconds = round(time.perf_counter() - started, 4)
            times = {"fit_s": seconds, "acquisition_s": 0.0}
            journal.append({"event": "ask", "trial": number, "params": params, "origin": "ax", **times})
            clean = problem(params)
            value, is_corrupted = cell.spec.measure(corruption, params, clean, root=cell.root, number=number)
            told = told_value(cell, clean, value)
            complete(client, index, {METRIC: told})
            journal.append({"event": "tell", "trial": number, "value": told, "sd": None})
            made = _recommended(cell, client) if number + 1 == cell.spec.trials else None
            truth.append(truth_of(number, clean, value, is_corrupted, made))
            progress(number + 1, None)
        truth.append(flagged_of(cell, _flagged(cell, client)))


def client_of(cell: OptimizationCell) -> Any:
    """A client for a cell's problem, with the strategy of its method."""
    problem, method, seed = cell.spec.load_problem(), cell.how, cell.root % 2**31
    with _hushed():
        client = client_for(problem.space, problem.direction, METRIC, seed=seed)
        if method.engine == "ax":
            ours = generation_strategy(method.surrogate, method.options, cell.spec.num_initial, seed)
            client.set_generation_strategy(ours)
        else:
            client.configure_generation_strategy(
                initialization_budget=cell.spec.num_initial, initialization_random_seed=seed
            )
    return client


def _recommended(cell: OptimizationCell, client: Any) -> int:
    """The trial that Ax recommends, or that we do where the strategy is ours."""
    if cell.how.engine == "ax":
        return best(client).trial_index
    _, _, trial_index, _ = client.get_best_parameterization()
    return trial_index


def _flagged(cell: OptimizationCell, client: Any) -> list[int]:
    if cell.how.engine != "ax":
        return []
    report = outliers(client)
    return sorted(int(index) for index in report["trial_index"][report["flagged"]])


@contextmanager
def _hushed() -> Iterator[None]:
    """Run the block without what Ax logs of each trial, and what its libraries warn their own developers of."""
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            yield
        finally:
            logging.disable(before)
