"""Outcomes standardized anew by the inliers alone, where gross outliers have spoilt their scale."""

import math

import torch
from botorch.models import SingleTaskGP
from botorch.models.transforms.outcome import OutcomeTransform
from torch import Tensor

from robustbo.surrogates.transforms.retransform import original_outcomes, retransform
from robustbo.surrogates.transforms.robust_standardize import RobustStandardize, are_equal

RESCALE = 2.0  # outcomes are standardized anew where the inliers' scale differs by more than this factor


def standardize_by_inliers(model: SingleTaskGP, transform: OutcomeTransform | None, inliers: Tensor) -> bool:
    """Learn center and scale of a model's outcomes again from those of the inliers, if it changes much.

    Args:
        model: A model.
        transform: Of its outcomes, if it has one.
        inliers: ``n`` booleans.

    Returns:
        Whether the scale changed by more than `RESCALE`; nothing has changed if not.
    """
    if not isinstance(transform, RobustStandardize) or inliers.all() or inliers.sum() < 2:
        return False
    (raw, variance), X = original_outcomes(model, transform), model.train_inputs[0]
    before = transform.stdvs
    if are_equal(raw[inliers]):  # of these no scale can be learned
        return False
    transform.learn(raw[inliers], X[inliers])
    if (transform.stdvs / before).log().abs().item() < math.log(RESCALE):
        transform.learn(raw, X)
        return False
    retransform(model, transform, raw, variance)
    return True


def standardize_like(model: SingleTaskGP, transform: RobustStandardize, means: Tensor, stdvs: Tensor) -> None:
    """Take the center and the scale of a model's outcomes from another's, ``1 x 1`` each."""
    if torch.equal(transform.means, means) and torch.equal(transform.stdvs, stdvs):
        return
    raw, variance = original_outcomes(model, transform)
    transform.take(means, stdvs)
    retransform(model, transform, raw, variance)
