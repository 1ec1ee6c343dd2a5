"""Optuna's samplers with their defaults; GPSampler takes values as noisy by itself.

Parameters that exist under conditions are suggested there alone (define by run). A failed trial is told as failed, of
which a sampler learns nothing. What was measured elsewhere than asked is added as a trial of its own. Constraints are
not told: whoever asks refuses a suggestion beyond one. It recommends the best measured point.
"""

from typing import Any

import optuna
from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.trial import TrialState, create_trial

from benchmarks.league.server.base import Base, Point


def distribution(parameter: dict[str, Any]) -> BaseDistribution:
    """Optuna's distribution of a parameter; of an ordered list, that of its ranks."""
    if parameter["kind"] == "choice":
        return CategoricalDistribution(parameter["values"])
    if "values" in parameter:
        return IntDistribution(0, len(parameter["values"]) - 1)
    of = IntDistribution if parameter["kind"] == "int" else FloatDistribution
    step = {"step": parameter["step"]} if parameter.get("step") else {}
    return of(parameter["low"], parameter["high"], log=bool(parameter.get("log")), **step)


class Peer(Base):
    """A study with a sampler."""

    def __init__(self, message: dict[str, Any], sampler: str) -> None:
        super().__init__(message)
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        chooser = getattr(optuna.samplers, sampler)(seed=self.seed)
        self._study = optuna.create_study(sampler=chooser, direction=self.direction)
        self._pending: tuple[Point, Any] | None = None

    def ask(self) -> Point:
        """The sampler's point."""
        if self._pending is not None:  # it was measured elsewhere
            self._study.tell(self._pending[1], state=TrialState.FAIL)
        trial, values = self._study.ask(), {}
        while new := [name for name in self.space if name not in values and self._exists(name, values)]:
            for name in new:
                suggestion = trial._suggest(name, distribution(self.space[name]))
                values[name] = self.space[name]["values"][suggestion] if self._is_ranked(name) else suggestion
        self._pending = (values, trial)
        return values

    def _exists(self, name: str, values: Point) -> bool:
        when = self.space[name].get("when") or {}
        return all(other in values and values[other] in allowed for other, allowed in when.items())

    def _is_ranked(self, name: str) -> bool:
        return self.space[name]["kind"] not in ("choice", "int", "float")

    def tell(self, point: Point, value: float | None) -> None:
        """Complete a trial, or add one."""
        super().tell(point, value)
        state = TrialState.FAIL if value is None else TrialState.COMPLETE
        if self._pending is not None and self._pending[0] == {name: point.get(name) for name in self._pending[0]}:
            self._study.tell(self._pending[1], value, state=state)
            self._pending = None
            return
        params: dict[str, Any] = {}
        while new := [name for name in point if name not in params and self._exists(name, params)]:
            params |= {name: point[name] for name in new}
        ranks = {n: self.space[n]["values"].index(v) if self._is_ranked(n) else v for n, v in params.items()}
        distributions = {name: distribution(self.space[name]) for name in ranks}
        self._study.add_trial(create_trial(state=state, value=value, params=ranks, distributions=distributions))
