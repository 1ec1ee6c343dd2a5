"""Surrogates: each class is a BoTorch model; `robustbo.surrogates.registry` has them by name."""

from robustbo.surrogates.botorch_relevance_pursuit import BoTorchRelevancePursuitGP
from robustbo.surrogates.committee import CommitteeGP
from robustbo.surrogates.computation_aware import ComputationAwareGP
from robustbo.surrogates.conjugate import ConjugateGP
from robustbo.surrogates.filtered import FilteredGP
from robustbo.surrogates.relevance_pursuit import RelevancePursuitGP
from robustbo.surrogates.standard import StandardGP
from robustbo.surrogates.student_t import StudentTGP
from robustbo.surrogates.student_t_process import StudentTProcess

__all__ = [
    "BoTorchRelevancePursuitGP",
    "CommitteeGP",
    "ComputationAwareGP",
    "ConjugateGP",
    "FilteredGP",
    "RelevancePursuitGP",
    "StandardGP",
    "StudentTGP",
    "StudentTProcess",
]
