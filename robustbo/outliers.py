"""One report form for every surrogate: which values are suspicious, and the evidence."""

from dataclasses import dataclass

from robustbo.fitting import fit
from robustbo.history import History, Trial
from robustbo.isolation import isolated
from robustbo.settings import Settings
from robustbo.surrogates.base import diagnose, quiet


@dataclass(frozen=True)
class Outlier:
    """A measured value against what all the others predict for it.

    Attributes:
        trial: The trial.
        value: What was measured.
        expected: What the other measurements predict for it.
        sd: Standard deviation of that prediction, noise included.
        evidence: Nats by which the data are likelier if this value has an error of its own (5 nats: 150 times).
        flagged: Whether the surrogate treats it as an outlier.
    """

    trial: Trial
    value: float
    expected: float
    sd: float
    evidence: float
    flagged: bool


def outliers(settings: Settings, history: History) -> list[Outlier]:
    """Every value that the surrogate was fitted to, the most suspicious first: flagged before not, then by evidence."""
    fitted = fit(settings, history)
    with isolated(0), quiet():
        diagnosis = diagnose(fitted.model)
    expected, sd = fitted.in_units(diagnosis.expected, diagnosis.sd)
    report = [
        Outlier(history[number], *row)
        for number, *row in zip(
            fitted.observations.numbers,
            fitted.observations.values,
            expected,
            sd,
            diagnosis.evidence.tolist(),
            diagnosis.is_outlier.tolist(),
            strict=True,
        )
    ]
    return sorted(report, key=lambda o: (not o.flagged, -o.evidence, o.trial.number))
