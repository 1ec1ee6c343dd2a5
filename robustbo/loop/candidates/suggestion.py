"""What is decided: the next point, or one to re-evaluate."""

from dataclasses import asdict, dataclass
from typing import Any

from robustbo.loop.observations.expectation import Expectation
from robustbo.searchspace.parameters import Value
from robustbo.searchspace.region.region import Fixed
from robustbo.trials.history import REMEASURE, Diagnosis


@dataclass(frozen=True)
class Suggestion:
    """The next point, or one to re-evaluate.

    Attributes:
        params: The point.
        origin: "sobol" or "model".
        expected: What a robust model expects to be told there, and the standard deviation of that, noise included; of
            several outcomes that of each, by its name.
        repeats: The trial that it replicates, if it does.
        reason: "re-measure" or "retry" where it repeats another, "asked before" where the model wants another value at
            a point, "away from failures" where a Sobol point would probably fail, "nothing new left" where every point
            of a finite space has been asked for.
        fallback: Which surrogate it comes from, and why, where that of the settings could not be used.
        diagnosis: What a surrogate that judges on a schedule has found since the last one in the history.
        fit_s: Seconds that the fit took.
        acquisition_s: Seconds that the rest took.
        fixed: What was given.
    """

    params: dict[str, Value]
    origin: str
    expected: Expectation | dict[str, Expectation] | None = None
    repeats: int | None = None
    reason: str | None = None
    fallback: str | None = None
    diagnosis: Diagnosis | None = None
    fit_s: float = 0.0
    acquisition_s: float = 0.0
    fixed: Fixed = ()

    @property
    def decision(self) -> dict[str, Any]:
        """All but the times: what is the same whenever it is computed again."""
        made: dict[str, Any] = {"params": self.params, "origin": self.origin}
        if isinstance(self.expected, dict):
            for i, key in enumerate(("expected", "expected_sd")):
                made[key] = {name: said[i] for name, said in self.expected.items()}
        elif self.expected is not None:
            made |= dict(zip(("expected", "expected_sd"), self.expected, strict=True))
        if self.fallback is not None:
            made["fallback"] = self.fallback
        if self.fixed:
            made["fixed"] = dict(self.fixed)
        if self.repeats is not None:
            return made | {"repeats": self.repeats, "reason": self.reason or REMEASURE}
        return made if self.reason is None else made | {"reason": self.reason}

    def events(self, trial: int) -> list[dict[str, Any]]:
        """What a journal keeps of it: the diagnosis, if there is one, then the decision and how long it took."""
        times = {"fit_s": round(self.fit_s, 4), "acquisition_s": round(self.acquisition_s, 4)}
        ask = {"event": "ask", "trial": trial, **self.decision, **times}
        return [ask] if self.diagnosis is None else [{"event": "diagnose", **asdict(self.diagnosis)}, ask]
