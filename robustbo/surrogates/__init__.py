"""Surrogates: each class is a BoTorch model; `robustbo.surrogates.registry` has them by name."""

from robustbo.surrogates.baselines.botorch_relevance_pursuit import BoTorchRelevancePursuitGP
from robustbo.surrogates.baselines.standard import StandardGP
from robustbo.surrogates.committee.model import CommitteeGP
from robustbo.surrogates.filtered import FilteredGP
from robustbo.surrogates.iterative.model import ComputationAwareGP
from robustbo.surrogates.pursuit.model import RelevancePursuitGP
from robustbo.surrogates.student_t.model import StudentTGP
from robustbo.surrogates.student_t_process.model import StudentTProcess
from robustbo.surrogates.weighted.model import ConjugateGP

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
