"""The base of trials and their outcomes: how they are shown, and what was expected of them."""

from dataclasses import fields

from robustbo.guidance import TRIAL, Guided


class Brief(Guided):
    """A dataclass that is shown without its defaults.

    Example:
        >>> from robustbo.trials.trial import Trial
        >>> Trial(3, {"x": 0.5}, state="told", value=1.25)
        Trial(number=3, params={'x': 0.5}, state='told', value=1.25)
    """

    MEANT = TRIAL

    def __repr__(self) -> str:
        shown = {f.name: getattr(self, f.name) for f in fields(self) if f.repr}  # type: ignore[arg-type]
        plain = {f.name: f.default for f in fields(self)}  # type: ignore[arg-type]
        parts = (f"{name}={value!r}" for name, value in shown.items() if value != plain[name] and value != {})
        return f"{type(self).__name__}({', '.join(parts)})"


class Expecting(Brief):
    """A dataclass of a trial or an outcome of which something was expected before it was measured."""

    expected_sd: float | None

    @property
    def expected_measurement_sd(self) -> float | None:
        """The standard deviation of the value expected, the noise of one measurement included: `expected_sd`."""
        return self.expected_sd
