"""One report form for every surrogate: which values are suspicious, and the evidence."""

from dataclasses import dataclass

from robustbo.doubt import surprise
from robustbo.fitting import fit
from robustbo.history import History, Trial
from robustbo.isolation import isolated
from robustbo.settings import Settings
from robustbo.surrogates.base import diagnose, quiet

Row = tuple[float, float, float, bool]  # expected, sd, evidence, whether flagged


@dataclass(frozen=True)
class Outlier:
    """A measured value against what all the others predict for it.

    Attributes:
        trial: The trial.
        value: What was measured.
        expected: What the other measurements predict for it.
        sd: Standard deviation of that prediction, noise included.
        evidence: Nats by which the data are likelier if this value has an error of its own (5 nats: 150 times).
        flagged: Whether it is treated as an outlier: by the surrogate, or by being left out (`robustbo.doubt`).
        remeasured: What another measurement at its point said of it: "confirmed", "refuted", or "not yet".
    """

    trial: Trial
    value: float
    expected: float
    sd: float
    evidence: float
    flagged: bool
    remeasured: str


def outliers(settings: Settings, history: History) -> list[Outlier]:
    """Every told value, the most suspicious first: flagged before not, then by evidence."""
    fitted = fit(settings, history)
    with isolated(0), quiet():
        diagnosis = diagnose(fitted.model)
    expected, sd = fitted.in_units(diagnosis.expected, diagnosis.sd)
    columns = (expected, sd, diagnosis.evidence.tolist(), diagnosis.is_outlier.tolist())
    found = dict(zip(fitted.observations.numbers, zip(*columns, strict=True), strict=True))
    left_out = [history[number] for number in fitted.aside]
    for trial, said in zip(left_out, fitted.expect(settings.space, left_out), strict=True):
        found[trial.number] = (*said, surprise(trial.measured, *said), True)
    report = [Outlier(history[n], history[n].measured, *row, _remeasured(history, n, row)) for n, row in found.items()]
    return sorted(report, key=lambda o: (not o.flagged, -o.evidence, o.trial.number))


def _remeasured(history: History, number: int, row: Row) -> str:
    """A flagged value is confirmed by another at its point that is nearer to it than half way to what was expected;
    one that is believed, by being believed still.
    """
    (expected, _, _, is_flagged), trial = row, history[number]
    others = [t for t in history.having("told") if t.params == trial.params and t.number != number]
    if not others:
        return "not yet"
    nearest = min(abs(t.measured - trial.measured) for t in others)
    return "confirmed" if not is_flagged or nearest < abs(trial.measured - expected) / 2 else "refuted"
