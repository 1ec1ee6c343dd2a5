"""Surrogates: each class is a BoTorch model; `robustbo.surrogates.registry` has them by name."""

from typing import TYPE_CHECKING

from robustbo.lazy import exports

if TYPE_CHECKING:
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

__getattr__ = exports(
    globals(),
    {
        "BoTorchRelevancePursuitGP": "robustbo.surrogates.baselines.botorch_relevance_pursuit",
        "CommitteeGP": "robustbo.surrogates.committee.model",
        "ComputationAwareGP": "robustbo.surrogates.iterative.model",
        "ConjugateGP": "robustbo.surrogates.weighted.model",
        "FilteredGP": "robustbo.surrogates.filtered",
        "RelevancePursuitGP": "robustbo.surrogates.pursuit.model",
        "StandardGP": "robustbo.surrogates.baselines.standard",
        "StudentTGP": "robustbo.surrogates.student_t.model",
        "StudentTProcess": "robustbo.surrogates.student_t_process.model",
    },
)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
