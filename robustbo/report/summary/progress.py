"""Lines before a fit that takes long: all that needs none, and about how long it takes."""

from robustbo.report.summary import text_summary
from robustbo.report.summary.overview import at_once
from robustbo.view.view import View

LONG = 1000  # told values from which on a look takes seconds
# Seconds that an overview by the default surrogate takes: of a smooth objective, and of noise alone, where hundreds of
# values are doubtful; for so many told values (docs/evidence/speed.md).
SECONDS = ((1000, 2, 10), (2000, 5, 40), (5000, 10, 50), (10000, 15, 60))


def ahead(name: str, view: View) -> list[str]:
    """Lines to show people before they wait for an `overview`; none where that is quick.

    Args:
        name: Of the optimization.
        view: It.
    """
    told = view.history.trials.num("told")
    if told < LONG:
        return []
    times = max(1, len(view.settings.outcomes))
    _, least, most = [row for row in SECONDS if row[0] <= told][-1]
    surrogates = "the surrogate" if times == 1 else f"{times} surrogates"
    return [
        *text_summary.lines(name, at_once(view)),
        f"fitting {surrogates} to {told} values, to say what is best and what looks wrong: about "
        f"{times * least} to {times * most} s",
    ]
