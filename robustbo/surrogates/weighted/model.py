"""Robust conjugate GP: wild values weigh less, and the posterior stays in closed form."""

from dataclasses import dataclass

import torch
from botorch.models.transforms.input import InputTransform
from torch import Tensor

from robustbo.numerics.gp.ascent import Ascent
from robustbo.numerics.gp.model import Model
from robustbo.numerics.gp.posterior import LatentProcess
from robustbo.numerics.weighted import map_fit, rcgp
from robustbo.numerics.weighted.rcgp import Conjugate, PredictionErrors
from robustbo.surrogates.common.map_gp import MapGP
from robustbo.surrogates.weighted.observation_weights import ObservationWeights, WeightOptions
from robustbo.validation import one_of

WEIGHTS = ("inverse-multiquadric", "homoscedastic", "heteroscedastic")


@dataclass(frozen=True, kw_only=True)
class ConjugateOptions(WeightOptions):
    """The options of `ConjugateGP`; see there."""

    weights: str = WEIGHTS[0]

    def check(self) -> None:
        """Raise a ValueError or a TypeError for invalid options."""
        super().check()
        one_of("weights", self.weights, WEIGHTS)

    @property
    def is_robust(self) -> bool:
        """Return whether the weights are not those of the plain process."""
        return self.weights == WEIGHTS[0]


class ConjugateGP(ObservationWeights, MapGP):
    """A GP whose observations count by weights that fall with their distance from what is expected there.

    The prior mean is the median. Hyperparameters are found by the leave-one-out objective.

    Args:
        train_X: ``n x d`` inputs; other arguments as in `MapGP`.
        train_Y: ``n x 1`` outcomes.
        train_Yvar: ``n x 1`` known noise variances.
        weights: "inverse-multiquadric", or those of the plain process: "homoscedastic" (one noise variance) or
            "heteroscedastic" (``train_Yvar``).
        quantile: The soft threshold is this quantile of the distances.
        threshold: The soft threshold itself: in units of the standardized outcomes in the first round, of predictions'
            standard deviations in later ones.
        rounds: How often weights are taken: around the median alone (1, the source's), which does not see wrong values
            within the range of the others, or then around the last leave-one-out predictions.
        is_weighted: Whether an observation counts by its squared weight in the leave-one-out objective too. In the
            source (False) it does not, and one gross value passes for noise.

    Attributes:
        conjugate: After the fit, the process given its observations, in the model's own (transformed) units.

    References:
        Altamirano, Briol and Knoblauch (2024), Robust and conjugate Gaussian process regression; docs/equations.md
        section 7.

    Example:
        >>> import torch
        >>> from robustbo.surrogates.common.contract import diagnose, fit
        >>> X = torch.linspace(0, 1, 20, dtype=torch.float64).unsqueeze(-1)
        >>> Y = torch.sin(6 * X)
        >>> Y[[4, 11]] += 1e6
        >>> diagnose(fit(ConjugateGP(X, Y))).is_outlier.nonzero().flatten().tolist()
        [4, 11]
    """

    options_class = ConjugateOptions
    conjugate: Conjugate | None = None

    def begin(self, X: Tensor, Y: Tensor, Yvar: Tensor | None, input_transform: InputTransform | None) -> None:
        """Raise a ValueError for a noise that does not go with the weights."""
        weights = self.options.weights
        if weights == "heteroscedastic" and Yvar is None:
            raise ValueError("heteroscedastic weights need train_Yvar, got none; give it, or take other weights")
        if weights == "homoscedastic" and Yvar is not None and (Yvar != Yvar.flatten()[0]).any():
            raise ValueError("homoscedastic weights need one noise variance, got several; take heteroscedastic ones")

    def search(self, model: Model) -> Ascent:
        """The highest of the maxima of the leave-one-out objective that the starts lead to."""
        return map_fit.search(model, self.options.weight_rule)

    def _adopt(self, ascent: Ascent) -> None:
        model = self.search_model()
        self._set_theta(model, ascent.x)
        self.mean_module.constant = map_fit.prior_mean(model.y)
        self._follow(model)

    def _follow(self, model: Model) -> None:
        """Weigh this model's own rows."""
        m = self.mean_module.constant.detach()
        self.conjugate = map_fit.evaluate(model, self._theta(model), m, self.options.weight_rule)
        _ = self.conjugate.root  # else one of inference mode, which autograd refuses, may be the first
        self._mark()
        self._set_outlier_variances(self.conjugate.s2 * (self.conjugate.weighting.J - 1))

    @property
    def has_posterior(self) -> bool:
        """Return whether the posterior has been computed."""
        return self.conjugate is not None

    def explain(self, k: Tensor) -> tuple[Tensor, Tensor]:
        """Moves of mean and covariance by the data; see `ExplicitPosterior`."""
        assert self.conjugate is not None
        return self.conjugate.explain(k)

    def draw_weights(self, u: Tensor) -> Tensor:
        """See `ExplicitPosterior`: the observations' noise is s2 J."""
        assert self.conjugate is not None
        N = self.conjugate.s2 * self.conjugate.weighting.J
        return self.conjugate.v - (u + N.sqrt() * torch.randn_like(u)) @ self.conjugate.root.mT @ self.conjugate.root

    def latent(self) -> LatentProcess:
        """The fitted process in numbers, for explicit formulas; the kernel must be a named one."""
        assert self.conjugate is not None
        return self._latent(self.mean_module.constant.detach(), self.conjugate.root, self.conjugate.v)

    @property
    def leave_one_out(self) -> PredictionErrors:
        """Leave-one-out errors and variances of the values, in the model's own (transformed) units."""
        assert self.conjugate is not None
        model = self.search_model()
        K = model.covariance.at(self._theta(model)[: len(model.covariance.bounds)]).K
        return rcgp.leave_one_out(K, self.conjugate)

    @property
    def in_sample(self) -> PredictionErrors:
        """Errors and variances where each value is predicted by all, itself included."""
        assert self.conjugate is not None
        return rcgp.in_sample(self.conjugate)

    @property
    def share(self) -> Tensor:
        """``n`` squared weights."""
        assert self.conjugate is not None
        return self.conjugate.weighting.share
