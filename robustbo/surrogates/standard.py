"""The plain GP: what everything robust is measured against, on the same base."""

from robustbo.numerics.hyperparameters import Model
from robustbo.numerics.levels import empty
from robustbo.numerics.search import Fit
from robustbo.surrogates.map_gp import MapGP


class StandardGP(MapGP):
    """The base GP without outliers: every value counts. Arguments as in `MapGP`.

    Example:
        >>> import torch
        >>> from robustbo.surrogates.base import fit
        >>> X = torch.rand(10, 2, dtype=torch.float64)
        >>> fit(StandardGP(X, X.sum(-1, keepdim=True))).support
        []
    """

    def search(self, model: Model) -> Fit:
        """The highest of the maxima that the model's starts lead to."""
        return empty(model).fit
