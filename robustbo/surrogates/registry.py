"""Surrogates by name, for people and for journals."""

import json
from collections.abc import Mapping
from typing import Any

import torch
from botorch.models.gpytorch import GPyTorchModel

from robustbo.surrogates.baselines.exponential_variational import HuberGP, HuberProjectionGP, LaplaceVariationalGP
from robustbo.surrogates.baselines.power_transform import PowerTransformGP
from robustbo.surrogates.baselines.scaled_clip import ScaledClipGP
from robustbo.surrogates.baselines.standard import StandardGP
from robustbo.surrogates.baselines.student_t_variational import StudentTVariationalGP
from robustbo.surrogates.baselines.trimmed import TrimmedGP
from robustbo.surrogates.baselines.winsorized import WinsorizedGP
from robustbo.surrogates.committee.model import CommitteeGP
from robustbo.surrogates.common.contract import own_options
from robustbo.surrogates.common.quiet import quiet
from robustbo.surrogates.filtered import DETECTORS, FilteredGP
from robustbo.surrogates.iterative.model import ComputationAwareGP
from robustbo.surrogates.names import ALLOWED, is_known, name_of
from robustbo.surrogates.student_t_process.model import StudentTProcess
from robustbo.surrogates.weighted.model import ConjugateGP
from robustbo.validation import name_in_registry, nearest

__all__ = ["ALLOWED", "SURROGATES", "check_options", "is_known", "model_class", "name_of"]

TRIAL_SIZE = 8  # observations that options are tried on

SURROGATES: dict[str, type[GPyTorchModel]] = {
    "standard": StandardGP,
    "scaled-clip": ScaledClipGP,
    "winsorized": WinsorizedGP,
    "power-transform": PowerTransformGP,
    "trimmed": TrimmedGP,
    "filtered": FilteredGP,
    **DETECTORS,
    "student-t-process": StudentTProcess,
    "conjugate": ConjugateGP,
    "computation-aware": ComputationAwareGP,
    "committee": CommitteeGP,
    "student-t-variational": StudentTVariationalGP,
    "laplace-variational": LaplaceVariationalGP,
    "huber": HuberGP,
    "huber-projection": HuberProjectionGP,
}


def model_class(name: str) -> type[GPyTorchModel]:
    """The class of a name that `is_known`; nothing is imported.

    Raises:
        ValueError: If it is not known.
    """
    if not is_known(name):
        if ":" not in name:
            name_in_registry("surrogate", name, ["auto", *sorted(SURROGATES)])
        raise ValueError(f"surrogate {name!r} must be a class that was named in this process; it is not imported")
    return SURROGATES[name] if name in SURROGATES else ALLOWED[name]


def check_options(name: str, options: Mapping[str, Any]) -> None:
    """Raise for options that the surrogate does not have or cannot take, before anything is measured.

    Raises:
        TypeError: For one that it does not have, or one of the wrong type.
        ValueError: For one that cannot be, as the surrogate says it itself: one is made of a few values for that.
    """
    cls: Any = model_class(name)
    names = own_options(cls)
    if unknown := sorted(set(options) - names):
        hint = nearest(unknown[0], names)
        raise TypeError(f"surrogate {name!r} has the options {sorted(names)}, got {json.dumps(unknown[0])}{hint}")
    if options:
        _try(cls, options)


def _try(cls: Any, options: Mapping[str, Any]) -> None:
    X = torch.linspace(0, 1, TRIAL_SIZE, dtype=torch.float64).unsqueeze(-1)
    Y, Yvar = X.sin(), torch.full_like(X, 0.01)
    with quiet():
        try:
            cls(X, Y, **options)
        except TypeError as error:
            raise TypeError(
                f"surrogate_options must be such as {cls.__name__} takes, got {options}: {error}"
            ) from error
        except ValueError:
            cls(X, Y, Yvar, **options)  # some options need known noise
