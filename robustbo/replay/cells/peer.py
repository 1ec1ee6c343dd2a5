"""A cell whose trials another library proposes.

Its decisions are not ours to repeat bit for bit: such a cell begins anew where it was stopped, and its asks are not
verified.
"""

import logging
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, Protocol

from robustbo.replay.cells.cell import Progress
from robustbo.replay.cells.events import flags_event, trial_event
from robustbo.replay.cells.optimization import OptimizationCell
from robustbo.replay.cells.own_loop import FAILED, value_to_tell
from robustbo.replay.cells.recommendation import Recommended, trials_of
from robustbo.trials.codec import header
from robustbo.trials.storage.journal import Journal


class Proposal(NamedTuple):
    """A point, what the peer knows it by, and where it comes from."""

    handle: Any
    params: dict[str, Any]
    origin: str


class Peer(Protocol):
    """Loop of another library, as a cell drives it."""

    def ask(self, number: int) -> Proposal:
        """The point of a trial."""

    def tell(self, handle: Any, value: Any) -> None:
        """A measured value, or those of several outcomes by name."""

    def fail(self, handle: Any) -> None:
        """A trial without a value."""

    def recommendation(self, is_last: bool) -> Recommended:
        """Trials recommended now; None where the library names none, or it costs too much before the last trial."""

    def flags(self) -> list[int]:
        """The trials whose values are called wrong."""


def run(cell: OptimizationCell, progress: Progress, begin: Callable[[OptimizationCell], Peer]) -> None:
    """Run a cell from its first trial to its last.

    Args:
        cell: Which one.
        progress: Called after each trial.
        begin: Makes the peer of a cell.
    """
    if cell.is_done:
        return
    for path in (cell.journal, cell.record):
        path.unlink(missing_ok=True)
    problem, corruption = cell.spec.load_problem(), cell.spec.build_corruption()
    with silence():
        peer = begin(cell)
        journal = Journal.create(cell.journal, header(cell.settings))
        truth, cleans, points = cell.open_record(), [], []  # type: ignore[var-annotated]
        value: Any = None
        for number in range(cell.spec.trials):
            started = time.perf_counter()
            handle, params, origin = peer.ask(number)
            times = {"fit_s": round(time.perf_counter() - started, 4), "acquisition_s": 0.0}
            journal.append({"event": "ask", "trial": number, "params": params, "origin": origin, **times})
            clean = problem.truth(params)
            cleans.append(clean)
            where: dict[str, Any] = {
                "root": cell.root,
                "number": number,
                "num_earlier": points.count(params),
                "last": value,
            }
            points.append(params)
            value, wrong = cell.spec.measure(corruption, params, clean, **where)
            told = value_to_tell(cell, clean, value, number)
            if told is None:
                peer.fail(handle)
                journal.append({"event": "fail", "trial": number, "reason": FAILED})
            else:
                peer.tell(handle, told)
                journal.append({"event": "tell", "trial": number, "value": told, "sd": None})
            is_asked = (number + 1) % cell.spec.recommend_every == 0
            recommendation = peer.recommendation(number + 1 == cell.spec.trials) if is_asked else None
            truth.append(trial_event(number, clean, value, wrong, recommendation))
            progress(
                number + 1,
                None if recommendation is None else problem.worth([cleans[n] for n in trials_of(recommendation)]),
            )
        truth.append(flags_event(cell.spec.trials, peer.flags()))


@contextmanager
def silence() -> Iterator[None]:
    """Run the block without what a library logs of each trial, and what it warns its own developers of."""
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            yield
        finally:
            logging.disable(before)
