"""What an overview has of several outcomes: what is wanted of each, how much is known of it, and the front."""

from collections.abc import Sequence
from functools import partial
from typing import Any

from robustbo.loop.belief import front as several
from robustbo.loop.belief.front import Front
from robustbo.loop.belief.judge import Outlier
from robustbo.loop.belief.measured_points import FrontPoint
from robustbo.loop.surrogate.attempt import attempt
from robustbo.loop.surrogate.cache import FitCache
from robustbo.trials.history import History
from robustbo.trials.outcomes import Wanted
from robustbo.trials.settings import Settings

Plain = dict[str, Any]


def outcomes(settings: Settings, history: History, report: Sequence[Outlier] | None, fits: FitCache | None) -> Plain:
    """What an overview has of several outcomes, as plain JSON values; nothing in the short form.

    Returns:
        ``goal``, in words; ``objectives`` and ``outcome_constraints``; ``outcomes``, an object each; and where there
        are several objectives ``front``, None where an outcome has no value yet, or no surrogate can say; then
        ``not_computed`` says why not.
    """
    if not settings.outcomes:
        return {}
    made: Plain = {"goal": settings.goal, "objectives": dict(settings.objectives)}
    made |= {"outcome_constraints": list(settings.outcome_constraints)}
    made |= {"outcomes": [_known(wanted, history, report) for wanted in settings.outcomes]}
    if len(settings.objectives) > 1:
        is_known = not without_value(settings, history)
        look = partial(several.front, settings, history, fits)
        around, why = attempt(look, settings.surrogate) if is_known else (None, None)
        made["front"] = None if around is None else front(around)
        if why is not None:
            made["not_computed"] = {"front": why}
    return made


def without_value(settings: Settings, history: History) -> list[str]:
    """The outcomes of which no value counts, so that nothing is believed of any point."""
    told = history.having("told")
    return [w.name for w in settings.outcomes if not any(trial.of(w.name).state == "told" for trial in told)]


def _known(wanted: Wanted, history: History, report: Sequence[Outlier] | None) -> Plain:
    states = [trial.of(wanted.name).state for trial in history if trial.state in ("told", "excluded")]
    counts = {"values": states.count("told"), "missing": states.count("failed"), "excluded": states.count("excluded")}
    flagged = sum(o.flagged for o in report or () if o.outcome == wanted.name)
    return {"outcome": wanted.name, "wanted": in_words(wanted), **counts, "flagged": flagged}


def in_words(wanted: Wanted) -> str:
    """What is wanted of an outcome.

    Example:
        >>> in_words(Wanted("cost", "minimize", high=3.0)), in_words(Wanted("pH", None, 6.0, 8.0))
        ('minimize, at most 3', '6 to 8')
    """
    low, high = (f"{bound:.6g}" for bound in wanted.bounds)
    bounds = {(True, True): f"{low} to {high}", (True, False): f"at least {low}", (False, True): f"at most {high}"}
    kept = bounds.get((low != "-inf", high != "inf"))
    return ", ".join(part for part in (wanted.direction, kept) if part)


def front(found: Front) -> Plain:
    """A front as plain JSON values."""
    points = [point(each) for each in found]
    return {"points": points, "reference_point": dict(found.reference_point), "hypervolume": found.hypervolume}


def point(found: FrontPoint) -> Plain:
    """A point of a front as plain JSON values."""
    said = {name: {"mean": found.means[name], "sd": found.sds[name]} for name in found.means}
    chances = {"probability": found.probability, "probability_feasible": found.probability_feasible}
    return {"trial": found.trial.number, "outcomes": said, **chances, "params": found.params}
