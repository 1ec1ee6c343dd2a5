"""Whether a value gets a replicate: where knowing it is worth more than a new point promises, in the same units.

In optimization the best new point looks like an outlier, and an outlier like the best new point. One more measurement
at that very point settles it, since sparse corruptions do not strike twice by chance. It costs what a new point costs,
so the two are compared: the value of knowing (`numerics.improvement.value_of_information`) and the expected
improvement of the new point.

At the beginning there is hardly any evidence: of the values that no model has asked for, the best stands alone whether
it is right or wrong. But errors disappoint as often as they flatter, and what disappoints grossly shows. Where some do,
the best gets a replicate before anything is built on it.
"""

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from robustbo.loop.fitted import Fitted
from robustbo.loop.judge import Belief, Outlier
from robustbo.loop.observations import Data, Row
from robustbo.numerics.baselines.box_plot import whiskers
from robustbo.numerics.gp.replicates import recurring
from robustbo.numerics.improvement.value_of_information import expected_improvement, value_of_repeating
from robustbo.surrogates.common.contract import capabilities

Means = dict[Row, float]  # posterior means at the points measured (larger is better), by unit-cube row

IN_A_ROW = 3  # replicates, before a new point has its turn
WORTH = 0.01  # of the values' scale: what knowing must bring at least
FAR = 2.0  # standard deviations by which a value is better than what the others predict: they do not bear it out
EVEN = 0.5  # probability of being wrong: a flattering value's, and up to which a flagged one may well be right


def is_wanted(data: Data) -> bool:
    """Whether a replicate may come now: while one is pending there is no other, and not too many come in a row."""
    last = data.trials[-IN_A_ROW:]
    is_pending = any(t.repeats is not None for t in data.pending)
    return not is_pending and not (len(last) == IN_A_ROW and all(t.repeats is not None for t in last))


def replicate(
    data: Data, fitted: Fitted, belief: Belief, new: Row, *, max_repeats: int, is_any: bool = False
) -> Outlier | None:
    """The value that gets a replicate in place of a new point, if any.

    A value and its replicate that disagree, where the others do not tell which is wrong, come first. Next is the best
    of all, if it may flatter: what a new point promises rests on it, and is no yardstick. Then any value that the
    surrogate flags, or any value at all, that was measured once, if knowing it is worth more than the new point
    promises. A flagged value that has been refuted at another point is a failure's signature, and not asked about
    twice; one that recurs at several points and is flagged at each says nothing of any, and is passed over.

    Args:
        data: All trials.
        fitted: The surrogate fitted to them.
        belief: What it believes of each value.
        new: The unit-cube row of the new point.
        max_repeats: How many measurements more one point may get.
        is_any: Whether a value that is not flagged will do.
    """
    disputed, once = measured_once(data, fitted, belief, max_repeats)
    if disputed is not None:
        return disputed
    best = _best(data.sign, belief)
    flattering = [o for o in once if o is best and _may_flatter(data, fitted, o)]
    candidates = [o for o in once if o.flagged or is_any]
    return _worthwhile(data, fitted, flattering, candidates, new) if flattering or candidates else None


def measured_once(data: Data, fitted: Fitted, belief: Belief, max_repeats: int) -> tuple[Outlier | None, list[Outlier]]:
    """The first value whose replicate disagrees with it; and those measured once that may be measured again."""
    reports = {o.trial.number: o for o in belief}
    signatures = {o.value for o in belief if o.flagged and o.remeasured == "refuted"}
    failures = _failures(data, fitted, belief.values)
    once: list[Outlier] = []
    for place in data.places.values():
        known = place.without(failures)
        if not known.told or len(place.trials) > max_repeats or place.is_closed:
            continue
        if not data.region.contains(place.trials[0].params):
            continue
        first = reports[known.told[0].number]
        if known.is_open(data.sign):
            return first, once
        if len(known.told) == 1 and not (first.flagged and first.value in signatures):
            once.append(first)
    return None, once


def _worthwhile(
    data: Data, fitted: Fitted, flattering: Sequence[Outlier], candidates: Sequence[Outlier], new: Row
) -> Outlier | None:
    """What is worth a replicate: what may flatter, for its own sake, or the best candidate, against a new point."""
    means = {row: data.sign * mean for row, (mean, _) in fitted.at_points(is_averaged=False).items()}
    least = WORTH * fitted.scale
    if flattering and _worth(data, means, flattering, [EVEN])[0] > least:
        return flattering[0]
    if not candidates:
        return None
    worth = _worth(data, means, candidates, [o.probability_wrong for o in candidates])
    i = int(worth.argmax())
    return candidates[i] if worth[i] > max(_promise(data, fitted, means, new), least) else None


def _failures(data: Data, fitted: Fitted, reports: Sequence[Outlier]) -> set[float]:
    """The values that recur at several points and are flagged at each: what a sensor that sticks leaves."""
    rows = data.rows_of([report.trial.number for report in reports])
    values = [(report.value - fitted.center) / fitted.scale for report in reports]
    groups = recurring(*(torch.tensor(given, dtype=torch.float64) for given in (rows, values)))
    return {reports[i].value for group in groups.recurring if all(reports[i].flagged for i in group) for i in group}


def _best(sign: float, belief: Belief) -> Outlier | None:
    """The best of the values that may well be right."""
    credible = [o for o in belief if not o.flagged or (o.remeasured != "refuted" and o.probability_wrong <= EVEN)]
    return max(credible, key=lambda o: sign * o.value, default=None)


def _may_flatter(data: Data, fitted: Fitted, best: Outlier) -> bool:
    """Whether the best value is one that no model has asked for and the others do not bear out, and failures show.

    They do where any value, an excluded one too, lies below the whisker of a box plot of those that no model has asked
    for. A model that is too sure of what the others predict is not asked.
    """
    better = data.sign * (best.value - best.expected)
    is_too_sure = capabilities(fitted.model).is_too_sure
    if best.trial.origin == "model" or is_too_sure or better <= FAR * best.sd:
        return False
    known = [*data.told, *data.excluded]
    sample = [data.sign * t.measured for t in known if t.origin != "model"]
    low, _ = whiskers(torch.tensor(sample, dtype=torch.float64).unsqueeze(-1))
    return any(data.sign * t.measured < low.item() for t in known)


def _worth(data: Data, means: Means, candidates: Sequence[Outlier], chances: Sequence[float]) -> Tensor:
    """The value of knowing values that were measured once, each wrong with some probability."""
    rows = data.rows_of([o.trial.number for o in candidates])
    best = sorted(means, key=means.__getitem__, reverse=True)[:2]
    others = [max((means[other] for other in best if other != row), default=-math.inf) for row in rows]
    y, mu, sd, p, B = torch.tensor(
        [
            [data.sign * o.value, data.sign * o.expected, o.sd, chance, other]
            for o, chance, other in zip(candidates, chances, others, strict=True)
        ],
        dtype=torch.float64,
    ).T
    return value_of_repeating(y, p, mu, sd, B).nan_to_num(0.0)  # NaN: nothing to compare it with


def _promise(data: Data, fitted: Fitted, means: Means, new: Row) -> float:
    """The expected improvement of a new point, apart from the doubts."""
    (mean,), (sd,) = fitted.predict(fitted.encoded([new]), is_averaged=False)
    promised = torch.tensor([data.sign * mean, sd, max(means.values())], dtype=torch.float64)
    return expected_improvement(*promised).item()
