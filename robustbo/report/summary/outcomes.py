"""Several outcomes in an overview: the goal of each, the number of its values, and the front."""

from collections.abc import Sequence
from typing import Any

from robustbo.loop.belief.judge import Outlier
from robustbo.loop.best.front import Front
from robustbo.loop.best.measured_points import FrontPoint
from robustbo.loop.surrogate.attempt import attempt
from robustbo.trials.history import History
from robustbo.trials.outcomes import OutcomeGoal
from robustbo.view.view import View

Plain = dict[str, Any]


def outcome_values(view: View, outliers: Sequence[Outlier] | None) -> Plain:
    """The part of an overview on several outcomes, as plain JSON values; nothing in the short form.

    Returns:
        ``goal``, in words; ``objectives`` and ``outcome_constraints``; ``outcomes``, an object each; and where there
        are several objectives ``front``, None where an outcome has no value yet, or no surrogate can say; then
        ``not_computed`` says why not.
    """
    settings, history = view.settings, view.history
    if not settings.outcomes:
        return {}
    values: Plain = {"goal": settings.goal, "objectives": dict(settings.objectives)}
    values |= {"outcome_constraints": list(settings.outcome_constraints)}
    values |= {"outcomes": [_counts(outcome, history, outliers) for outcome in settings.outcomes]}
    if len(settings.objectives) > 1:
        front, reason = attempt(view.front, settings.surrogate) if view.is_measured else (None, None)
        values["front"] = None if front is None else front_values(front)
        if reason is not None:
            values["not_computed"] = {"front": reason}
    return values


def _counts(outcome: OutcomeGoal, history: History, outliers: Sequence[Outlier] | None) -> Plain:
    states = [trial.of(outcome.name).state for trial in history if trial.state in ("told", "excluded")]
    counts = {"values": states.count("told"), "missing": states.count("failed"), "excluded": states.count("excluded")}
    flagged = sum(o.flagged for o in outliers or () if o.outcome == outcome.name)
    return {"outcome": outcome.name, "wanted": goal_text(outcome), **counts, "flagged": flagged}


def goal_text(outcome: OutcomeGoal) -> str:
    """The direction and the bounds of an outcome in words.

    Example:
        >>> goal_text(OutcomeGoal("cost", "minimize", high=3.0)), goal_text(OutcomeGoal("pH", None, 6.0, 8.0))
        ('minimize, at most 3', '6 to 8')
    """
    low, high = (f"{bound:.6g}" for bound in outcome.bounds)
    texts = {(True, True): f"{low} to {high}", (True, False): f"at least {low}", (False, True): f"at most {high}"}
    bounds = texts.get((low != "-inf", high != "inf"))
    return ", ".join(part for part in (outcome.direction, bounds) if part)


def front_values(front: Front) -> Plain:
    """A front as plain JSON values."""
    points = [point_values(point) for point in front]
    return {"points": points, "reference_point": dict(front.reference_point), "hypervolume": front.hypervolume}


def point_values(point: FrontPoint) -> Plain:
    """A point of a front as plain JSON values."""
    posteriors = {name: {"mean": point.means[name], "sd": point.sds[name]} for name in point.means}
    chances = {"probability": point.probability, "probability_feasible": point.probability_feasible}
    return {"trial": point.trial.number, "outcomes": posteriors, **chances, "params": point.params}
