"""The asks of a journal, computed once more."""

from robustbo.loop.decide import step
from robustbo.replay.check import rounding
from robustbo.replay.check.comparison import Agreement, Comparison
from robustbo.replay.check.rounding import Rounding
from robustbo.study.recomputing import Decision, decisions
from robustbo.trials import trust
from robustbo.trials.codec import changed_versions, fold
from robustbo.trials.extent import space_of
from robustbo.trials.repair.salvage import SALVAGED
from robustbo.trials.storage import places
from robustbo.trials.storage.places import Place
from robustbo.trials.storage.reading import warn_loss
from robustbo.trials.trial import EXPECTED_ERROR

# Of an ask all that is no decision, or follows from it: older versions gave fewer reasons.
UNREPEATABLE = ("event", "trial", "fit_s", "acquisition_s", "by", "at", "source", "unseen", "reason")
ADDED = ("expected_noise", *EXPECTED_ERROR)  # what older versions did not write


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
    for decision in decisions(settings, contents.events, decide=step):
        compare(same, decision, may_be)
    return same.agreement


def num_salvaged(place: Place) -> int:
    """Number of asks of a repaired journal that cannot be computed again."""
    return sum(event["event"] == "ask" and bool(event.get(SALVAGED)) for event in places.contents(place).events)


def compare(same: Comparison, decision: Decision, may_be: Rounding) -> None:
    """Compare an ask, and the diagnosis made with it."""
    number = decision.recorded["trial"]
    same(f"trial {number}: diagnosis", decision.diagnosis, decision.diagnosis_recomputed, may_be, of=number)
    left_out = {*UNREPEATABLE, *(key for key in ADDED if key not in decision.recorded)}
    recorded, recomputed = ({k: e[k] for k in e if k not in left_out} for e in (decision.recorded, decision.recomputed))
    same(f"trial {number}: ask", recorded, recomputed, may_be, of=number, is_counted=True)
