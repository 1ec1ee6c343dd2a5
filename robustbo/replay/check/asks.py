"""The asks of a journal, computed once more."""

from functools import partial

from robustbo.loop.decide import rival, step
from robustbo.loop.surrogate.cache import FitCache
from robustbo.replay.check import rounding
from robustbo.replay.check.comparison import Agreement, Comparison, Loss, apart
from robustbo.replay.check.rounding import Apart, Rounding
from robustbo.study.recomputing import Decision, decisions
from robustbo.trials import trust
from robustbo.trials.codec import changed_versions, fold
from robustbo.trials.extent import space_of
from robustbo.trials.repair.salvage import SALVAGED
from robustbo.trials.settings import Settings
from robustbo.trials.storage import places
from robustbo.trials.storage.line import Event
from robustbo.trials.storage.places import Place
from robustbo.trials.storage.reading import warn_loss
from robustbo.trials.trial import EXPECTED_ERROR

# Of an ask all that is no decision, or follows from it: older versions gave fewer reasons.
UNREPEATABLE = ("event", "trial", "fit_s", "acquisition_s", "by", "at", "source", "unseen", "reason")
ADDED = ("expected_noise", *EXPECTED_ERROR)  # what older versions did not write
SHORTFALL = 1e-3  # nats of the acquisition function: a thousandth of what is won is nothing lost


def verify_journal(place: Place, *, to_the_end: bool = False) -> Agreement:
    """Recompute each ask of an optimization's journal, but those that a repaired one cannot repeat.

    Args:
        place: Of the journal.
        to_the_end: Whether to go on after a difference, and count.

    Returns:
        How many were recomputed and are the same to the last bit, or to rounding.

    Raises:
        ReplayMismatch: At the first difference.
        JournalError: If it cannot be read.
        FitError: If a surrogate cannot be fitted.
    """
    contents = places.contents(place)
    name = places.display_name(place)
    warn_loss(name, contents.torn)
    settings, history = fold(name, contents)
    trust.check(name, settings, False)
    same = Comparison(name, changed_versions(contents), to_the_end=to_the_end)
    may_be = rounding.asks(space_of(settings, history), rounding.scales_of(settings, history))
    fits = FitCache()
    for decision in decisions(settings, contents.events, decide=step, fits=fits):
        compare(same, decision, may_be, partial(loss, settings, decision, fits, may_be))
    return same.agreement


def num_salvaged(place: Place) -> int:
    """Number of asks of a repaired journal that cannot be computed again."""
    return sum(event["event"] == "ask" and bool(event.get(SALVAGED)) for event in places.contents(place).events)


def compare(same: Comparison, decision: Decision, may_be: Rounding, loss: Loss) -> None:
    """Compare an ask, and the diagnosis made with it."""
    number = decision.recorded["trial"]
    same(f"trial {number}: diagnosis", decision.diagnosis, decision.diagnosis_recomputed, may_be, of=number)
    recorded, recomputed = repeatable(decision)
    same(f"trial {number}: ask", recorded, recomputed, may_be, of=number, is_counted=True, loss=loss)


def repeatable(decision: Decision) -> tuple[Event, Event]:
    """The repeatable part of an ask, as it was recorded and as it is computed again."""
    left_out = {*UNREPEATABLE, *(key for key in ADDED if key not in decision.recorded)}
    recorded, recomputed = ({k: e[k] for k in e if k not in left_out} for e in (decision.recorded, decision.recomputed))
    return recorded, recomputed


def loss(settings: Settings, decision: Decision, fits: FitCache, may_be: Rounding) -> Apart | None:
    """The acquisition that is lost at the recorded new point; None where the two differ by more than their points.

    What is expected at the recorded point has to be what was recorded, so that the acquisition function is the same.
    Where a source is chosen with each point it is not known.
    """
    recorded, recomputed = repeatable(decision)
    is_new = all(ask["origin"] == "model" and "repeats" not in ask for ask in (recorded, recomputed))
    if settings.sources or not is_new:
        return None
    points, number = (recomputed["params"], recorded["params"]), decision.recorded["trial"]
    other = rival(settings, decision.history, number, points, fits, decision.fixed, decision.by)
    if other is None:
        return None
    expected = {key: value for key, value in other.suggestion.decision.items() if key in recorded}
    off = apart(recorded, expected | {key: recomputed[key] for key in recomputed if key not in expected}, may_be)
    is_same = off is None or off.share <= 1
    text = f"acquisition lower by {max(other.shortfall, 0.0):.1g} nats"
    return Apart(max(other.shortfall, 0.0) / SHORTFALL, text) if is_same else None
