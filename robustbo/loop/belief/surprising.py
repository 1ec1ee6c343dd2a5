"""Points where the objective is surprising: their values agree with each other, and not with what the others predict.

A smooth process cannot follow a lone peak or a cliff, and a robust one takes its values for errors. But errors do not
agree on the scale of the noise. So several values at a point are judged together, by what the fit predicts there; in
that, values count for nothing which it takes for errors. Where they are right, and the prediction is not, the objective
there is what they say: their mean. So it is where a fit takes for noise what replicates show to be none: their mean is
further from it than their differences allow (a test of lack of fit).

References:
    docs/equations.md section 16.
"""

import math
import statistics
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from robustbo.loop.observations.expectation import Appraisal, Expectation, surprise
from robustbo.loop.observations.probability_wrong import EVEN, CorruptionModel, probably_wrong
from robustbo.loop.observations.table import Data, Row
from robustbo.loop.surrogate.fitted_model import FittedSurrogate
from robustbo.numerics.gp.wrong_density import TINY
from robustbo.numerics.improvement.wrong import LEAST, agreement
from robustbo.surrogates.transforms.robust_standardize import NORMAL_MAD
from robustbo.trials.trial import Trial

LACK = 4.0  # standard deviations of a mean of replicates, beyond which a fit has missed it: 1 in 16,000 by chance
SHOWN = 12  # values at points with replicates, from which on these show the noise: to a quarter or so


class SurprisingPoint(NamedTuple):
    """A point whose values are believed though the fit does not follow them.

    Attributes:
        believed: The trials whose values are believed, two at least.
        noise: By trial, the standard deviation of the noise of its value.
        wrong: By trial, the probability that its value is wrong.
    """

    believed: tuple[Trial, ...]
    noise: dict[int, float]
    wrong: dict[int, float]

    def value(self, without: Trial | None = None) -> tuple[float, float]:
        """Mean and standard deviation of the objective there, by the values that are believed (but one)."""
        trials = [t for t in self.believed if t is not without]
        together = agreement([t.measured for t in trials], [self.noise[t.number] for t in trials])
        return together.mean, together.sd

    def appraise(self, trial: Trial, appraisal: Appraisal) -> Appraisal:
        """The appraisal of a value there by those that are believed beside it."""
        mean, sd = self.value(without=trial)
        sd = math.hypot(sd, self.noise[trial.number])
        return appraisal._replace(expected=mean, sd=sd, evidence=surprise(trial.measured, mean, sd))


def points_of_surprise(
    data: Data, model: CorruptionModel, fitted: FittedSurrogate, wrong: Mapping[int, float]
) -> dict[Row, SurprisingPoint]:
    """The surprising points of a fit, by unit-cube row.

    Args:
        data: All trials.
        model: Of wrong values.
        fitted: The surrogate.
        wrong: By told trial, the probability that its value is wrong, as the surrogate has it.
    """
    bound_numbers = fitted.observations.bound_numbers
    values = [tuple(t for t in group.values if t.number not in bound_numbers) for group in data.groups.values()]
    groups = [told for told in values if len(told) > 1]
    rows = data.rows_of([told[0].number for told in groups])
    points, shown = dict[Row, SurprisingPoint](), _replicate_noise(groups)
    for told, row, expectation in zip(groups, rows, fitted.expect(rows), strict=True):
        chances, surprising = model.judge(told, expectation)
        chances |= {t.number: 0.0 for t in told if t.is_vouched}
        are_out = all(wrong[t.number] > EVEN for t in told)
        if not are_out:
            chances = {t.number: wrong[t.number] for t in told}
        believed = tuple(t for t in told if t.number not in probably_wrong(chances))
        if len(believed) < 2:
            continue
        is_needle = are_out or surprising > EVEN
        if is_needle:
            noise: float | None = _noise_of_replicates(believed, expectation)
        else:
            noise = _lack_of_fit(believed, expectation, shown, model.least_noise)
        if noise is not None:
            least = max(LEAST * model.scale, model.least_noise)
            noises = {t.number: max(t.noise_sd(noise), least) for t in told}
            points[row] = SurprisingPoint(believed, noises, chances)
    return points


def _noise_of_replicates(believed: Sequence[Trial], expectation: Expectation) -> float:
    """The noise that was expected at a point, or more, if its values differ by more."""
    sds = [t.noise_sd(expectation.noise_sd) for t in believed]
    together = agreement([t.measured for t in believed], [max(sd, TINY) for sd in sds], expectation.noise_dof)
    return expectation.noise_sd * together.factor


def _lack_of_fit(
    believed: Sequence[Trial], expectation: Expectation, shown: float | None, least: float
) -> float | None:
    """The noise of values whose mean a fit misses by more than that noise allows; None where it does not."""
    values = [t.measured for t in believed]
    sds = [t.sd for t in believed if t.sd is not None]
    usual = max(sds) if len(sds) == len(values) else shown
    if usual is None:
        return None
    noise = max(usual, statistics.stdev(values), least)
    off = abs(statistics.fmean(values) - expectation.mean) * math.sqrt(len(values))
    return noise if off > LACK * noise and off > LACK * LEAST * expectation.sd else None


def _replicate_noise(groups: Sequence[Sequence[Trial]]) -> float | None:
    """The noise that replicates show by their differences, robustly; None where there are fewer than `SHOWN`."""
    off = []
    for told in groups:
        values = [t.measured for t in told]
        mean, k = statistics.fmean(values), len(values)
        off += [abs(v - mean) * math.sqrt(k / (k - 1)) for v in values]
    return statistics.median(off) / NORMAL_MAD if len(off) >= SHOWN else None
