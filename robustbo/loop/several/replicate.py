"""Whether a trial gets a replicate, where several outcomes are measured: one repeat measures all of them.

As with one outcome (`loop.replicate`), but for the unit: what knowing a value is worth is how much hypervolume its
point may turn out to add, and it is held against the hypervolume that a new point promises.
"""

from collections.abc import Sequence

from robustbo.loop.judge import Outlier
from robustbo.loop.observations import Data, Row
from robustbo.loop.replicate import measured_once
from robustbo.loop.several.learned import Several
from robustbo.numerics.improvement.goals import Goal
from robustbo.trials.trial import Trial

WORTH = 0.01  # of the values' scales, multiplied: what knowing must bring at least


def replicate(
    data: Data, several: Several, goals: Sequence[Goal], new: Row, *, max_repeats: int, is_any: bool = False
) -> Trial | None:
    """The trial that gets a replicate in place of a new point, if any.

    Two values of one outcome that disagree, where the others do not tell which is wrong, come first. Next is the trial
    of which it is worth most to know the values that are flagged (or any), if that is more than a new point promises.

    Args:
        data: All trials.
        several: What has been learned of each outcome.
        goals: What is wanted of each, in its model's units.
        new: The unit-cube row of the new point.
        max_repeats: How many measurements more one point may get.
        is_any: Whether values that are not flagged will do.
    """
    doubtful: dict[int, dict[int, Outlier]] = {}  # by trial and place of the outcome
    for m, each in enumerate(several):
        disputed, once = measured_once(each.data, each.fitted, each.belief, max_repeats)
        if disputed is not None:
            return data.trials[disputed.trial.number]
        for o in once:
            if o.flagged or is_any:
                doubtful.setdefault(o.trial.number, {})[m] = o
    doubtful = {number: of for number, of in doubtful.items() if len(data.places[data.trials[number].point].told) == 1}
    if not doubtful:
        return None
    return None
