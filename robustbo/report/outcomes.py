"""What an overview has of several outcomes: what is wanted of each, how much is known of it, and the front."""

from collections.abc import Mapping, Sequence
from typing import Any

from robustbo.loop.cache import FitCache
from robustbo.loop.judge import Outlier
from robustbo.loop.several import front as several
from robustbo.loop.several.candidates import FrontPoint
from robustbo.loop.several.front import Front
from robustbo.trials.history import History
from robustbo.trials.outcomes import Wanted
from robustbo.trials.settings import Settings

Plain = dict[str, Any]
TAKEN = ("trial", "at", "keeps bounds", "on the front")  # columns of a front's table


def outcomes(settings: Settings, history: History, report: Sequence[Outlier], fits: FitCache | None) -> Plain:
    """What an overview has of several outcomes, as plain JSON values; nothing in the short form.

    Returns:
        ``goal``, in words; ``objectives`` and ``outcome_constraints``; ``outcomes``, an object each; and where there
        are several objectives ``front``, None where an outcome has no value yet.
    """
    if not settings.outcomes:
        return {}
    made: Plain = {"goal": settings.goal, "objectives": dict(settings.objectives)}
    made |= {"outcome_constraints": list(settings.outcome_constraints)}
    made |= {"outcomes": [_known(wanted, history, report) for wanted in settings.outcomes]}
    if len(settings.objectives) > 1:
        is_known = not without_value(settings, history)
        made["front"] = front(several.front(settings, history, fits)) if is_known else None
    return made


def without_value(settings: Settings, history: History) -> list[str]:
    """The outcomes of which no value counts, so that nothing is believed of any point."""
    told = history.having("told")
    return [w.name for w in settings.outcomes if not any(trial.of(w.name).state == "told" for trial in told)]


def _known(wanted: Wanted, history: History, report: Sequence[Outlier]) -> Plain:
    states = [trial.of(wanted.name).state for trial in history if trial.state in ("told", "excluded")]
    counts = {"values": states.count("told"), "missing": states.count("failed"), "excluded": states.count("excluded")}
    flagged = sum(o.flagged for o in report if o.outcome == wanted.name)
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


def title(found: Plain) -> str:
    """What a front is, above its table.

    Args:
        found: The `front` of an overview.
    """
    count, beyond = len(found["points"]), values(found["reference_point"])
    if not count:
        return "the front is empty: no point measured probably keeps the bounds"
    points = f"{count} points" if count > 1 else "1 point"
    return f"the front: {points}, hypervolume {found['hypervolume']:.4g} beyond {beyond}"


def rows(found: Plain, *, is_plain: bool = False) -> list[Plain]:
    """A front as a table's rows: means with their standard deviations, or (plain) a column each.

    The probabilities are those of keeping the bounds, where a point may break them, and of being on the front.
    """
    points, made = found["points"], list[Plain]()
    is_bounded = is_plain or any(each["probability_feasible"] < 1 for each in points)
    for each in points:
        row: Plain = {"trial": each["trial"]}
        for name, said in each["outcomes"].items():
            column = f"outcome {name}" if name in TAKEN else name
            if is_plain:
                row |= {column: said["mean"], f"{column}.sd": said["sd"]}
            else:
                row[column] = f"{said['mean']:.4g} (sd {said['sd']:.2g})"
        row |= {"keeps bounds": _chance(each["probability_feasible"], is_plain)} if is_bounded else {}
        row["on the front"] = _chance(each["probability"], is_plain)
        made.append(row | (_columns(each["params"], row) if is_plain else {"at": place_of(_rounded(each["params"]))}))
    return made


def _rounded(params: Mapping[str, Any]) -> Plain:
    return {name: float(f"{value:.6g}") if isinstance(value, float) else value for name, value in params.items()}


def _columns(params: Mapping[str, Any], taken: Mapping[str, Any]) -> Plain:
    return {f"params.{name}" if name in taken else name: value for name, value in params.items()}


def _chance(probability: float, is_plain: bool) -> float | str:
    return probability if is_plain else f"{100 * probability:.3g} %"


def values(found: Mapping[str, float]) -> str:
    """Numbers by outcome, in a line."""
    return ", ".join(f"{name} {number:.6g}" for name, number in found.items())


def place_of(params: Mapping[str, Any]) -> str:
    """A point in a line."""
    return ", ".join(f"{name}={value!r}" for name, value in params.items())
