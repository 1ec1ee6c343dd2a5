"""The content of a trial of ours by what became of one of Optuna's: state, value or outcomes, noise, expectations."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from optuna.trial import FrozenTrial, TrialState

from robustbo.errors import NumericsWarning, warn
from robustbo.optuna import notes
from robustbo.optuna.pruned import is_stand_in
from robustbo.trials.sources import labels_to_record
from robustbo.trials.trial import EXPECTATION, Measured
from robustbo.validation import noise_sd

Content = dict[str, Any]  # of a trial of ours


def content(
    trial: FrozenTrial,
    note: notes.Note,
    user_note: Mapping[str, Any],
    names: Sequence[str],
    *,
    stand_in: float | None,
    is_exact: bool,
) -> Content:
    """State, value, noise and reason of a trial, and what was expected of it.

    Args:
        trial: It.
        note: What was decided on it.
        user_note: What the user says of it.
        names: Of several objectives; none where there is one.
        stand_in: The value of a pruned trial; None where it is to have none.
        is_exact: Whether values have no noise, unless the user has said how much.
    """
    if not trial.state.is_finished():
        return {"state": "pending", **_expectation(note, names)}
    if broken := sorted(name for name, value in trial.constraints.items() if not value <= 0):
        return {"state": "failed", "reason": f"breaks the constraint {broken[0]}", "retry": False}
    values = _values(trial, user_note) if stand_in is None else [stand_in]
    if not any(map(math.isfinite, values)):
        return {"state": "failed", "reason": "pruned" if trial.state == TrialState.PRUNED else "failed"}
    is_left_out = is_stand_in(trial, user_note) and stand_in is None
    state = "excluded" if user_note.get("is_excluded", is_left_out) else "told"
    is_judged = "is_excluded" in user_note or user_note.get("value") is not None
    expected = _expectation({} if is_judged else note, names)
    noise = [0.0 if is_exact and sd is None else sd for sd in _noise(trial, user_note, len(values))]
    is_vouched = user_note.get("is_vouched", False)
    if not names:
        return {"state": state, "value": values[0], "sd": noise[0], "is_vouched": is_vouched, **expected}
    outcomes: dict[str, Measured] = expected.get("outcomes", {})
    for name, value, sd in zip(names, values, noise, strict=True):
        hoped = outcomes.get(name, Measured())
        measured = {"value": value, "sd": sd} if math.isfinite(value) else {"is_lost": True}
        outcomes[name] = Measured(
            **{key: getattr(hoped, key) for key in EXPECTATION}, is_vouched=is_vouched, **measured
        )
    return {"state": state, "outcomes": outcomes}


def _values(trial: FrozenTrial, user_note: Mapping[str, Any]) -> list[float]:
    """The values that count, one an objective; none where there are none."""
    amended = user_note.get("value")
    if amended is not None:
        return [float(value) for value in (amended if isinstance(amended, list) else [amended])]
    return [] if trial.state == TrialState.FAIL else [float(value) for value in trial.values or ()]


def _expectation(note: notes.Note, names: Sequence[str]) -> Content:
    """Values that the model expected that asked for the trial."""
    expectation = {key: note.get(key) for key in EXPECTATION}
    if not names:
        return expectation
    by_key = {key: by_name if isinstance(by_name, dict) else {} for key, by_name in expectation.items()}
    expected_names = [name for name in names if name in by_key["expected"]]
    by_name: dict[str, Content] = {name: {key: of.get(name) for key, of in by_key.items()} for name in expected_names}
    return {"outcomes": {name: Measured(**expectation) for name, expectation in by_name.items()}}


def _noise(trial: FrozenTrial, user_note: Mapping[str, Any], count: int) -> list[float | None]:
    """Noise of the values by the user's word; unknown, with a warning, where that cannot be: it ends no study."""
    if user_note.get("value") is not None:
        sd = user_note.get("sd")
        return sd if isinstance(sd, list) else [sd] * count
    attribute = trial.user_attrs.get(notes.SD)
    try:
        if count == 1 or attribute is None:
            return [noise_sd(attribute)] * count
        return noise_sds(attribute, count)
    except (TypeError, ValueError) as error:
        warn(f"trial {trial.number}: its attribute {notes.SD!r} is ignored: {error}", NumericsWarning)
        return [None] * count


def sources(trial: FrozenTrial) -> dict[str, str]:
    """Labels of what measured a trial; none, with a warning, where they cannot be: that ends no study."""
    try:
        return labels_to_record(trial.user_attrs.get(notes.SOURCE))
    except (TypeError, ValueError) as error:
        warn(f"trial {trial.number}: its attribute {notes.SOURCE!r} is ignored: {error}", NumericsWarning)
        return {}


def noise_sds(sd: Any, count: int) -> list[float | None]:
    """Standard deviations of several values.

    Raises:
        TypeError, ValueError: If they are none, or not so many.
    """
    if not isinstance(sd, Sequence) or isinstance(sd, str) or len(sd) != count:
        raise ValueError(f"sd must be a list of {count} standard deviations or None, one a value, got {sd!r}")
    return [noise_sd(entry) for entry in sd]
