"""Outcomes as a Gaussian process likes them: robustly standardized, then through the inverse hyperbolic sine.

The values of an objective are often skewed: most are poor, a few are good, and the best stands alone. A stationary
process takes such a value for an outlier. The inverse hyperbolic sine is the identity near zero and a logarithm far
out, on both sides, so that a peak of ten standard deviations becomes one of three, and one of 1e12 still stands out.
"""

from torch import Tensor

from robustbo.surrogates.transforms.warp import WarpedStandardize


class RobustArcsinh(WarpedStandardize):
    """asinh((Y - median) / scale), scaled as by `RobustStandardize`.

    References:
        Burbidge, Magee and Robb (1988), Alternative transformations to handle extreme values of the dependent variable.

    Example:
        >>> import torch
        >>> Y = torch.tensor([[0.0], [1.0], [2.0], [3.0], [1e9]], dtype=torch.float64)
        >>> RobustArcsinh(m=1)(Y)[0].max() < 25
        tensor(True)
    """

    def warp(self, z: Tensor) -> Tensor:
        """asinh z."""
        return z.asinh()

    def unwarp(self, u: Tensor) -> Tensor:
        """sinh u."""
        return u.sinh()

    def stretch(self, u: Tensor) -> Tensor:
        """cosh u."""
        return u.cosh()

    def variance_stretch(self, z: Tensor) -> Tensor:
        """1 + z^2."""
        return 1 + z.square()
