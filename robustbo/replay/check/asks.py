"""The asks of a journal, computed once more."""

from robustbo.loop.decide import step
from robustbo.replay.check.comparison import Comparison
from robustbo.study.recomputing import Decision, decisions
from robustbo.trials import trust
from robustbo.trials.codec import changed_versions, fold
from robustbo.trials.repair.salvage import SALVAGED
from robustbo.trials.storage import places
from robustbo.trials.storage.places import Place
from robustbo.trials.storage.reading import warn_of_torn

# Of an ask all that is no decision, or follows from it: older versions gave fewer reasons.
UNREPEATABLE = ("event", "trial", "fit_s", "acquisition_s", "by", "at", "unseen", "reason")


def verify_journal(place: Place) -> int:
    """Recompute each ask of an optimization's journal, but those that a repaired one cannot repeat.

    Returns:
        How many were recomputed and are the same to the last bit.

    Raises:
        ReplayMismatch: At the first difference.
        JournalError: If it cannot be read.
        FitError: If a surrogate cannot be fitted.
    """
    contents = places.contents(place)
    name = places.shown(place)
    warn_of_torn(name, contents.torn)
    settings, _ = fold(name, contents)
    trust.check(name, settings, False)
    same, count = Comparison(name, changed_versions(contents)), 0
    for made in decisions(settings, contents.events, decide=step):
        compare(same, made)
        count += 1
    return count


def salvaged(place: Place) -> int:
    """How many asks of a repaired journal cannot be computed again."""
    return sum(event["event"] == "ask" and bool(event.get(SALVAGED)) for event in places.contents(place).events)


def compare(same: Comparison, made: Decision) -> None:
    """Compare an ask, and the diagnosis made with it."""
    number = made.recorded["trial"]
    same(f"trial {number}: diagnosis", made.diagnosis, made.diagnosis_recomputed)
    asks = ({k: e[k] for k in e if k not in UNREPEATABLE} for e in (made.recorded, made.recomputed))
    same(f"trial {number}: ask", *asks)
