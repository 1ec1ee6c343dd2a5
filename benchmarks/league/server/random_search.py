"""Random search: points drawn uniformly. It recommends the best measured one."""

import random
from typing import Any

from benchmarks.league.server.base import Base, Point
from benchmarks.league.server.box import draw


class Peer(Base):
    """Uniform search."""

    def __init__(self, message: dict[str, Any]) -> None:
        super().__init__(message)
        self._generator = random.Random(self.seed)

    def ask(self) -> Point:
        """Any point."""
        return draw(self.space, self._generator)
