"""Surrogates: each class is a BoTorch model; `robustbo.surrogates.registry` has them by name."""

from robustbo.surrogates.botorch_relevance_pursuit import BoTorchRelevancePursuitGP
from robustbo.surrogates.relevance_pursuit import RelevancePursuitGP
from robustbo.surrogates.standard import StandardGP

__all__ = ["BoTorchRelevancePursuitGP", "RelevancePursuitGP", "StandardGP"]
