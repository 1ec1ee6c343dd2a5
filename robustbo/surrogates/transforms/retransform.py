"""A model's own outcomes, and their noise variances where these are known, transformed anew."""

from botorch.models import SingleTaskGP
from botorch.models.transforms.outcome import OutcomeTransform
from gpytorch.likelihoods import FixedNoiseGaussianLikelihood
from torch import Tensor


def original_outcomes(model: SingleTaskGP, transform: OutcomeTransform | None) -> tuple[Tensor, Tensor | None]:
    """``n x 1`` outcomes and noise variances as the model was given them; None where the noise is not known."""
    is_known = isinstance(model.likelihood, FixedNoiseGaussianLikelihood)
    Y, Yvar = model.train_targets.unsqueeze(-1), model.likelihood.noise.unsqueeze(-1) if is_known else None
    return (Y, Yvar) if transform is None else transform.untransform(Y, Yvar)


def retransform(model: SingleTaskGP, transform: OutcomeTransform, Y: Tensor, Yvar: Tensor | None) -> None:
    """Take ``n x 1`` outcomes and noise variances through a transform, which learns nothing from them."""
    y, s2 = transform.eval()(Y, Yvar)
    set_outcomes(model, y.squeeze(-1), None if s2 is None else s2.squeeze(-1))


def set_outcomes(model: SingleTaskGP, y: Tensor, s2: Tensor | None) -> None:
    """Take ``n`` outcomes, transformed, and their noise variances where these are known."""
    model.set_train_data(targets=y, strict=False)
    if s2 is not None:
        model.likelihood.noise = s2
