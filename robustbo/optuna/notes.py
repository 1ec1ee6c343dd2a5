"""Notes in a study: in a trial the decision on it, in the study the user's word on a trial.

A decision is kept in the system attributes of its trial, in pieces, since databases take 2,046 characters of each;
other processes see from it what is being measured before the objective has asked for it. The user's word is kept in
the study's user attributes, a key a trial, so that no two people overwrite each other's.
"""

import json
import secrets
from collections.abc import Mapping, Sequence
from typing import Any

from optuna.study import Study
from optuna.trial import FrozenTrial, TrialState

from robustbo.loop.candidates.suggestion import Suggestion

MARK = "robustbo:"
NOTE = f"{MARK}note:"  # of a trial, followed by the number of the piece
TRIAL_NOTE = f"{MARK}trial:"  # of a study, followed by the number of the trial
SEED = f"{MARK}seed"  # of a study
SD = f"{MARK}sd"  # of a trial, by the user: the standard deviation of its value's noise
SOURCE = f"{MARK}source"  # of a trial, by the user: what measured it, a label or labels by kind
REPEATS = f"{MARK}repeats"  # of a trial, by `next_replicate`: the trial that it replicates
LONGEST = 2000  # characters of a piece, and a number before the first

Note = Mapping[str, Any]


def write(study: Study, trial: FrozenTrial, suggestion: Suggestion, repeats: int | None) -> None:
    """Keep a decision, with Optuna's number of the trial that it repeats."""
    note = {**suggestion.decision, "repeats": repeats}
    text = json.dumps({key: value for key, value in note.items() if value is not None})
    pieces = [text[start : start + LONGEST] for start in range(0, len(text), LONGEST)]
    for place, piece in enumerate([f"{len(pieces)}:{pieces[0]}", *pieces[1:]]):
        study._storage.set_trial_system_attr(trial._trial_id, f"{NOTE}{place}", piece)


def read(trial: FrozenTrial) -> Note:
    """The decision on a trial; empty where there is none, or it is not there as a whole yet."""
    count, _, first = trial.system_attrs.get(f"{NOTE}0", "0:").partition(":")
    rest = [trial.system_attrs.get(f"{NOTE}{place}", "") for place in range(1, int(count))]
    try:
        return json.loads("".join([first, *rest]))
    except json.JSONDecodeError:  # somebody is writing
        return {}


def is_overtaken(study: Study, trial: FrozenTrial, trials_before: Sequence[FrozenTrial]) -> bool:
    """Return whether another process has decided on an earlier trial since then: it may have the same point."""
    before = {other.number for other in trials_before if read(other)}
    if all(other.state.is_finished() for other in trials_before if other.number != trial.number):
        return False
    running = study.get_trials(deepcopy=False, states=(TrialState.RUNNING,))
    return any(other.number < trial.number and other.number not in before and read(other) for other in running)


def say(study: Study, number: int, **content: Any) -> None:
    """Keep what the user says of a trial, with what was said before."""
    study.set_user_attr(f"{TRIAL_NOTE}{number}", {**user_notes(study).get(number, {}), **content})


def user_notes(study: Study) -> dict[int, dict[str, Any]]:
    """Notes of the user by trial."""
    attrs = study._storage.get_study_user_attrs(study._study_id)
    return {int(key.removeprefix(TRIAL_NOTE)): content for key, content in attrs.items() if key.startswith(TRIAL_NOTE)}


def seed_of(study: Study) -> int:
    """The root of a study's randomness where the sampler was given none: drawn once, and kept."""
    seed = study._storage.get_study_system_attrs(study._study_id).get(SEED)
    if seed is None:
        study._storage.set_study_system_attr(study._study_id, SEED, secrets.randbits(31))
        seed = study._storage.get_study_system_attrs(study._study_id)[SEED]
    return seed
