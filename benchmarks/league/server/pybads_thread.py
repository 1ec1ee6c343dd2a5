"""PyBADS, which calls its function by itself: it runs in a thread that waits for each value.

It is told that values are noisy, and how many trials there are; where it stops before, it begins anew elsewhere. A
trial that failed has the worst value so far. It searches the unit box (choices one-hot). Constraints are not told:
whoever asks refuses a point beyond one. It recommends its incumbent, or the best measured point before it has one.
"""

import queue
import random
import threading
from typing import Any

import numpy as np
from pybads import BADS

from benchmarks.league.server.base import Base, Point
from benchmarks.league.server.box import Box

PLAUSIBLE = (0.1, 0.9)


class Peer(Base):
    """A search in a thread."""

    def __init__(self, message: dict[str, Any]) -> None:
        super().__init__(message)
        self._box, self._generator = Box(self.space), random.Random(self.seed)
        self._points: queue.Queue[Any] = queue.Queue()
        self._values: queue.Queue[float] = queue.Queue()
        self._search: Any = None
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        try:
            while True:
                self._search = self._begin()
                self._search.optimize()
        except Exception as error:  # PyBADS' own: whoever asks is told
            self._points.put(error)

    def _begin(self) -> BADS:
        d = self._box.dim
        options = {
            "uncertainty_handling": True,
            "max_fun_evals": max(self.budget - len(self.trials), 2 * d + 2),
            "random_seed": self._generator.randrange(2**31),
            "display": "off",
        }
        x0 = np.array([[self._generator.uniform(*PLAUSIBLE) for _ in range(d)]])
        bounds = [np.full((1, d), bound) for bound in (0.0, 1.0, *PLAUSIBLE)]
        return BADS(self._evaluate, x0, *bounds, options=options)

    def _evaluate(self, x: Any) -> float:
        self._points.put(np.asarray(x).ravel().tolist())
        return self._values.get()

    def ask(self) -> Point:
        """The point at which the search waits."""
        row = self._points.get()
        if isinstance(row, Exception):
            self._points.put(row)
            raise row
        return self._box.point(row)

    def tell(self, point: Point, value: float | None) -> None:
        """Give the search its value."""
        super().tell(point, value)
        self._values.put(self.worst if value is None else self.sign * value)

    def recommend(self) -> Point:
        """The incumbent of the search."""
        u = getattr(self._search, "u_best", None)
        if u is None:  # in its initial design
            return super().recommend()
        return self._box.point(np.asarray(self._search.var_transf.inverse_transf(np.atleast_2d(u))).ravel().tolist())
