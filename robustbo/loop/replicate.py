"""Whether to measure a value again: where knowing it is worth more than a new point promises, in the same units.

In optimization the best new point looks like an outlier, and an outlier like the best new point. One more measurement
at that very point settles it, since sparse corruptions do not strike twice by chance. It costs what a new point costs,
so the two are compared: the value of knowing (`numerics.improvement.value_of_information`) and the expected
improvement of the new point.

At the beginning there is hardly any evidence: of the values that no model has asked for, the best stands alone whether
it is right or wrong. But errors disappoint as often as they flatter, and what disappoints grossly shows. Where some do,
the best is measured again before anything is built on it.
"""

import math
from collections.abc import Iterable, Sequence

import torch
from torch import Tensor

from robustbo.loop import quarantine
from robustbo.loop.fit import Fitted, is_robust
from robustbo.loop.outliers import Outlier, reported
from robustbo.numerics.baselines.box_plot import whiskers
from robustbo.numerics.gp.replicates import recurring
from robustbo.numerics.improvement.value_of_information import chance_of_error, expected_improvement, value_of_repeating
from robustbo.searchspace.encoding import encode
from robustbo.surrogates.common.contract import capabilities
from robustbo.trials.history import History, Trial
from robustbo.trials.settings import Settings

Means = dict[tuple[float, ...], float]  # posterior means at the points measured (larger is better), by unit-cube row

IN_A_ROW = 3  # repeats, before a new point has its turn
WORTH = 0.01  # of the values' scale: what knowing must bring at least
FAR = 2.0  # standard deviations by which a value is better than what the others predict: they do not bear it out
EVEN = 0.5  # probability of being wrong: a flattering value's, and up to which a flagged one may well be right


def repeat(settings: Settings, history: History, fitted: Fitted, new: Trial) -> Outlier | None:
    """The value that is to be measured again in place of a new point, if any.

    A value and its repeat that disagree, where the others do not tell which is wrong, come first. Next is the best of
    all, if it may flatter: what a new point promises rests on it, and is no yardstick. Then, with "promising", any
    value that a robust surrogate flags, with "suspicious" any value at all that was measured once, if knowing it is
    worth more than the new point promises. A flagged value that has been refuted at another point is a failure's
    signature, and not asked about twice; one that recurs at several points and is flagged at each says nothing of any,
    and is passed over. While a repeat is pending there is no other.

    Args:
        settings: What the run was told at its beginning.
        history: All that happened before.
        fitted: The surrogate fitted to it.
        new: The trial in whose place it would be.
    """
    is_off = settings.remeasure == "never" or (settings.remeasure == "promising" and not is_robust(settings))
    if is_off or _is_busy(history):
        return None
    reports = {o.trial.number: o for o in reported(settings, history, fitted)}
    signatures = {o.value for o in reports.values() if o.flagged and o.remeasured == "refuted"}
    failures = _failures(settings, fitted, list(reports.values()))
    once = []
    for trials in history.at_points().values():
        known = [t for t in trials if t.state != "told" or t.value not in failures]
        told = [t for t in known if t.state == "told"]
        if not told or len(trials) > settings.max_repeats or any(t.is_open for t in trials):
            continue
        first = reports[told[0].number]
        if quarantine.is_open(quarantine.judged(known), settings.sign):
            return first
        if len(told) == 1 and not (first.flagged and first.value in signatures):
            once.append(first)
    best = _best(settings, reports.values())
    flattering = [o for o in once if o is best and _may_flatter(settings, history, fitted, o)]
    candidates = [o for o in once if o.flagged or settings.remeasure == "suspicious"]
    return _worthwhile(settings, fitted, flattering, candidates, new) if flattering or candidates else None


def _worthwhile(
    settings: Settings, fitted: Fitted, flattering: Sequence[Outlier], candidates: Sequence[Outlier], new: Trial
) -> Outlier | None:
    """What is worth measuring again: what may flatter, for its own sake, or the best candidate, against a new point."""
    at_points = fitted.at_points(settings.space, is_averaged=False)
    means = {row: settings.sign * mean for row, (mean, _) in at_points.items()}
    least = WORTH * fitted.scale
    if flattering and _worth(settings, means, flattering, [EVEN])[0] > least:
        return flattering[0]
    if not candidates:
        return None
    worth = _worth(settings, means, candidates, [_chance_of_error(o) for o in candidates])
    i = int(worth.argmax())
    return candidates[i] if worth[i] > max(_promise(settings, fitted, means, new), least) else None


def _failures(settings: Settings, fitted: Fitted, reports: Sequence[Outlier]) -> set[float]:
    """The values that recur at several points and are flagged at each: what a sensor that sticks leaves."""
    rows = [settings.space.to_unit(report.trial.params) for report in reports]
    values = [(report.value - fitted.center) / fitted.scale for report in reports]
    groups = recurring(*(torch.tensor(given, dtype=torch.float64) for given in (rows, values)))
    return {reports[i].value for group in groups if all(reports[i].flagged for i in group) for i in group}


def _best(settings: Settings, reports: Iterable[Outlier]) -> Outlier | None:
    """The best of the values that may well be right."""
    credible = [o for o in reports if not o.flagged or (o.remeasured != "refuted" and _chance_of_error(o) <= EVEN)]
    return max(credible, key=lambda o: settings.sign * o.value, default=None)


def _may_flatter(settings: Settings, history: History, fitted: Fitted, best: Outlier) -> bool:
    """Whether the best value is one that no model has asked for and the others do not bear out, and failures show.

    They do where any value, an excluded one too, lies below the whisker of a box plot of those that no model has asked
    for. A model that is too sure of what the others predict is not asked.
    """
    better = settings.sign * (best.value - best.expected)
    is_too_sure = capabilities(fitted.model).is_too_sure
    if best.trial.origin == "model" or is_too_sure or better <= FAR * best.sd:
        return False
    known = [*history.having("told"), *history.having("excluded")]
    sample = [settings.sign * t.measured for t in known if t.origin != "model"]
    low, _ = whiskers(torch.tensor(sample, dtype=torch.float64).unsqueeze(-1))
    return any(settings.sign * t.measured < low.item() for t in known)


def _worth(settings: Settings, means: Means, candidates: Sequence[Outlier], chances: Sequence[float]) -> Tensor:
    """The value of knowing values that were measured once, each wrong with some probability."""
    rows = [tuple(settings.space.to_unit(o.trial.params)) for o in candidates]
    others = [max((m for row, m in means.items() if row != mine), default=-math.inf) for mine in rows]
    y, mu, sd, p, B = torch.tensor(
        [
            [settings.sign * o.value, settings.sign * o.expected, o.sd, chance, other]
            for o, chance, other in zip(candidates, chances, others, strict=True)
        ],
        dtype=torch.float64,
    ).T
    return value_of_repeating(y, p, mu, sd, B).nan_to_num(0.0)  # NaN: nothing to compare it with


def _promise(settings: Settings, fitted: Fitted, means: Means, new: Trial) -> float:
    """The expected improvement of a new point, apart from the doubts."""
    x = encode(settings.space, [settings.space.to_unit(new.params)])
    (mean,), (sd,) = fitted.predict(x, is_averaged=False)
    promised = torch.tensor([settings.sign * mean, sd, max(means.values())], dtype=torch.float64)
    return expected_improvement(*promised).item()


def _chance_of_error(report: Outlier) -> float:
    """By the surprise against what was expected when it was asked, or against all the others: whichever is the more."""
    said = report.trial.expectation
    g = report.evidence if said is None else max(quarantine.surprise(report.value, *said), report.evidence)
    return chance_of_error(torch.tensor(g, dtype=torch.float64)).item()


def _is_busy(history: History) -> bool:
    last = history.trials[-IN_A_ROW:]
    is_pending = any(t.is_open and t.repeats is not None for t in history)
    return is_pending or (len(last) == IN_A_ROW and all(t.repeats is not None for t in last))
