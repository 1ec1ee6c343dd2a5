"""A context without the warnings of BoTorch and its libraries to their own developers."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from botorch.exceptions.warnings import BotorchWarning
from linear_operator.utils.warnings import NumericalWarning

MENDED = (
    "Optimization failed in `gen_candidates_scipy`",  # it goes on from other initial conditions
    "Optimization failed on the second try",  # and takes the best point it saw
    "Sparse invariant checks are implicitly disabled",  # said once, of a tensor of BoTorch's own making
    "Converting a tensor with requires_grad=True to a scalar",  # harmless, in BoTorch's relevance pursuit
)


@contextmanager
def quiet() -> Iterator[None]:
    """Run the block without the warnings of BoTorch and its libraries to their developers, or of what they mend."""
    with warnings.catch_warnings():
        for category in (BotorchWarning, NumericalWarning, DeprecationWarning, FutureWarning):
            warnings.filterwarnings("ignore", category=category)
        for message in MENDED:
            warnings.filterwarnings("ignore", message=message)
        yield
