"""Which values are quarantined, judged by what was expected of them before they were known.

A model fitted to a wrong value adapts to it: with few observations its length-scales shrink until nothing looks wrong.
The model that asked for the value has not seen it. So what it expected is kept with the trial, and a value that
disappoints it beyond belief is quarantined: left out of the fit, until another measurement, or a later model, bears it
out.

References:
    Dawid (1984), Statistical theory: the prequential approach.
"""

from typing import NamedTuple

from robustbo.loop.observations import Data

SPARSE = 0.3  # of the told values: where more are in doubt, it is the model that is wrong
SETTLED = 2  # measurements at a point after which nothing there is in doubt any more


class Quarantine(NamedTuple):
    """The numbers of the told trials that are not to be modelled.

    Attributes:
        doubted: Those in doubt, unless a later model finds them credible.
        refuted: Those that another value at their point has refuted.
    """

    doubted: frozenset[int]
    refuted: frozenset[int]


def quarantine(data: Data, max_repeats: int) -> Quarantine:
    """What is quarantined.

    Args:
        data: All trials.
        max_repeats: How many measurements more one point may get; after them, or two, nothing is in doubt any more.
    """
    doubted, refuted = set[int](), set[int]()
    for place in data.places.values():
        refuted |= {t.number for t in place.refuted}
        if place.num_ended <= min(max_repeats, SETTLED) and place.is_disappointing(data.sign):
            doubted |= {t.number for t in place.judged}
    is_sparse = len(doubted) <= SPARSE * len(data.told)
    return Quarantine(frozenset(doubted if is_sparse else ()), frozenset(refuted))
