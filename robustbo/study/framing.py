"""Trials as a data frame, with the evidence on each value where that is wanted."""

from collections.abc import Sequence

import pandas as pd

from robustbo.errors import FitError, NumericsWarning, warn
from robustbo.loop.cache import FitCache
from robustbo.loop.outliers import Outlier, outliers
from robustbo.trials.history import History
from robustbo.trials.outcomes import Wanted
from robustbo.trials.settings import Settings

EVIDENCE = ("expected", "expected_sd", "evidence", "probability_wrong", "status", "flagged", "weight")
KINDS = dict.fromkeys(EVIDENCE, "float64") | {"status": "object", "flagged": "boolean"}
OWN = ("trial", "state", "origin", "reason", "repeats", "asked_by", "asked_at")


def check_names(outcomes: Sequence[Wanted], parameters: Sequence[str]) -> None:
    """Raise a ValueError where outcomes cannot be told from the other columns of a frame by their names."""
    if clash := [wanted.name for wanted in outcomes if wanted.name in parameters]:
        hint = "bounds of parameters are constraints of the space: Space(constraints=[...])"
        raise ValueError(f"an outcome must have another name than a parameter, got {clash[0]!r}; {hint}")
    columns = [*OWN, *(f"{wanted.name}.{key}" for wanted in outcomes for key in ("mean", "sd", "excluded", *EVIDENCE))]
    if clash := [wanted.name for wanted in outcomes if wanted.name in columns]:
        raise ValueError(f"an outcome must have another name than a column of `frame`, got {clash[0]!r}")


def evidence_of(settings: Settings, history: History, fits: FitCache) -> list[Outlier]:
    """What is believed of each told value; none, and a `NumericsWarning`, where no surrogate can judge them."""
    try:
        return outliers(settings, history, fits)
    except FitError as error:
        warn(f"the frame has no evidence: {error}", NumericsWarning)
        return []


def framed(settings: Settings, history: History, report: Sequence[Outlier] | None = None) -> pd.DataFrame:
    """One row a trial; with columns of evidence where there is a report. Of several outcomes they bear its name."""
    space, outcomes = settings.space, [wanted.name for wanted in settings.outcomes]
    before: dict[str | None, str] = {name: f"{name}." for name in outcomes} or {None: ""}
    taken = [] if report is None else [name + key for name in before.values() for key in EVIDENCE]
    numbers = [name for name, p in space.parameters if p.condition and p.interval]  # which may all be missing
    frame = history.to_frame(names=space.names, taken=taken, numbers=numbers, outcomes=outcomes)
    for outcome, name in before.items() if report is not None else ():
        found = {o.trial.number: o for o in report or () if o.outcome == outcome}
        rows = [
            (o.expected, o.sd, o.evidence, o.probability_wrong, o.status, o.flagged, o.weight) for o in found.values()
        ]
        columns = pd.DataFrame(rows, index=[*found], columns=[*EVIDENCE]).astype(KINDS)
        frame = frame.join(columns.add_prefix(name))
    return frame
