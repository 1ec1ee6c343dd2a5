"""Quarantined values that a fit without them finds credible."""

from robustbo.loop.observations.probability_wrong import (
    CorruptionModel,
    groups_left_out,
    probably_wrong,
    unseen_probabilities_wrong,
)
from robustbo.loop.observations.table import Data
from robustbo.loop.surrogate.fitted_model import FittedSurrogate


def credible_after_all(data: Data, fitted: FittedSurrogate, left_out: frozenset[int]) -> set[int]:
    """Trials, of those that are left out, believed by the model without them."""
    groups = groups_left_out(data, left_out)
    expected = fitted.expect(data.rows_of([group.told[0].number for group in groups]))
    appraisals = fitted.appraise(data.all_observations().of(left_out))
    model = CorruptionModel.of(data, fitted.prior_rate(len(data.told)))
    unseen = {t.number: expectation for group, expectation in zip(groups, expected, strict=True) for t in group.told}
    wrong = unseen_probabilities_wrong(data, model, appraisals, unseen)
    return wrong.keys() - probably_wrong(wrong)
