"""The decision of a step: the next point, or a replicate of one."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from robustbo.loop.observations.correction import SourceShift
from robustbo.loop.observations.expectation import Expectation
from robustbo.searchspace.parameters import Value
from robustbo.searchspace.region.region import Fixed
from robustbo.trials.history import REMEASURE, RETRY, Diagnosis
from robustbo.trials.sources import Labels
from robustbo.trials.trial import EXPECTATION, EXPECTED_ERROR


@dataclass(frozen=True)
class Suggestion:
    """The next point, or a replicate of one.

    Attributes:
        params: The point.
        origin: "sobol" or "model".
        expected: The value that a robust model expects there, without any source's error, the standard deviation of
            that, noise included, and that of the noise; of several outcomes that of each, by its name.
        repeats: The trial that it replicates, if it does.
        reason: "re-measure" or "retry" where it replicates another, "asked before" where the model wants another value
            at a point, "away from failures" where a Sobol point would probably fail, "nothing new left" where every
            point of a finite space has been asked for.
        fallback: Which surrogate it comes from, and why, where that of the settings could not be used.
        diagnosis: The verdict of a surrogate that judges on a schedule, if it is not the last one in the history.
        fit_s: Seconds that the fit took.
        acquisition_s: Seconds that the rest took.
        fixed: The parameters that have a given value, and it.
        elsewhere: Of a replicate, the sources of the value in doubt: another should measure it.
        expected_error: The error that the source which will measure it adds to ``expected``, where one is believed;
            of several outcomes that of each, by its name.
        source: The declared source that is to measure it, where some are.
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
    elsewhere: Labels = ()
    expected_error: SourceShift | dict[str, SourceShift] | None = None
    source: Labels = ()

    @property
    def trial_to_replicate(self) -> int | None:
        """The trial that is replicated; None of a new point, and of a failed trial that is tried again."""
        return None if self.reason == RETRY else self.repeats

    @property
    def decision(self) -> dict[str, Any]:
        """The suggestion except for the times: all that is the same whenever it is computed again."""
        record: dict[str, Any] = {"params": self.params, "origin": self.origin}
        record |= _by_key(EXPECTATION, self.expected) | _by_key(EXPECTED_ERROR, self.expected_error)
        if self.fallback is not None:
            record["fallback"] = self.fallback
        if self.fixed:
            record["fixed"] = dict(self.fixed)
        if self.elsewhere:
            record["elsewhere"] = dict(self.elsewhere)
        if self.repeats is not None:
            return record | {"repeats": self.repeats, "reason": self.reason or REMEASURE}
        return record if self.reason is None else record | {"reason": self.reason}

    def events(self, trial: int) -> list[dict[str, Any]]:
        """The events that a journal keeps of it: the diagnosis, if there is one, then the decision and its times."""
        times = {"fit_s": round(self.fit_s, 4), "acquisition_s": round(self.acquisition_s, 4)}
        ask = {"event": "ask", "trial": trial, **self.decision, **times}
        ask |= {"source": dict(self.source)} if self.source else {}
        return [ask] if self.diagnosis is None else [{"event": "diagnose", **asdict(self.diagnosis)}, ask]


def _by_key(keys: tuple[str, ...], numbers: Sequence[float | None] | Mapping[str, Any] | None) -> dict[str, Any]:
    """Numbers under their keys, except for those that are None; of several outcomes each by its name."""
    if numbers is None:
        return {}
    if not isinstance(numbers, Mapping):
        return {key: x for key, x in zip(keys, numbers, strict=False) if x is not None}
    by_key = {key: {name: of[i] for name, of in numbers.items() if of[i] is not None} for i, key in enumerate(keys)}
    return {key: by_name for key, by_name in by_key.items() if by_name}
