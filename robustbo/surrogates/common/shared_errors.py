"""Errors that a model's observations share, as those of one source do: a term of low rank in their covariance."""

from typing import Any

import torch
from torch import Tensor

from robustbo.numerics.gp.model import Model
from robustbo.numerics.sources.covariance import with_shared_errors
from robustbo.surrogates.common.contract import outcome_transform
from robustbo.surrogates.common.units import in_outcome_units


def beside_shared_errors(gp: Any, model: Model, rows: Tensor | slice) -> Model:
    """The model for a search with the errors that a surrogate's observations share, if there are any.

    Args:
        gp: The surrogate, in whose ``shared_errors`` they are, in the outcome's units.
        model: Of some of its observations.
        rows: Which these are.
    """
    A, y = gp.shared_errors, gp.train_targets
    if A is None or len(A) != len(y):  # they are of other data
        return model
    _, stretch = in_outcome_units(outcome_transform(gp), y, torch.ones_like(y))
    return with_shared_errors(model, (A / stretch.unsqueeze(-1))[rows])
