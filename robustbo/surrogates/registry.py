"""Surrogates by name, for people and for journals."""

import importlib
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
from robustbo.surrogates.student_t_process.model import StudentTProcess
from robustbo.surrogates.weighted.model import ConjugateGP
from robustbo.validation import name_in_registry, nearest

ALLOWED: dict[str, type[GPyTorchModel]] = {}  # classes that people have named in this process

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


def name_of(surrogate: str | type[GPyTorchModel]) -> str:
    """The name under which a journal keeps a surrogate that a person has named: as registered, or "module:Class".

    A class that is named here may be named by a journal from then on; `model_class` imports nothing by itself.

    Raises:
        ValueError: If the name is not registered, or the class cannot be found again by its name.
        TypeError: If it is neither a name nor a BoTorch model class.
    """
    if isinstance(surrogate, str):
        if surrogate not in SURROGATES:
            ALLOWED[surrogate] = _import_class(surrogate)
        return surrogate
    if not (isinstance(surrogate, type) and issubclass(surrogate, GPyTorchModel)):
        raise TypeError(f"surrogate must be one of {sorted(SURROGATES)} or a GPyTorchModel class, got {surrogate!r}")
    name = f"{surrogate.__module__}:{surrogate.__qualname__}"
    if "<locals>" in name:
        raise ValueError(f"surrogate must be importable so that a journal can name it, got the local class {name}")
    ALLOWED[name] = surrogate
    return name


def is_known(name: str) -> bool:
    """Return whether a name is registered, or that of a class that a person has named in this process."""
    return name in SURROGATES or name in ALLOWED


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


def _import_class(name: str) -> type[GPyTorchModel]:
    """The class "module:Class"."""
    module, _, qualified = name.partition(":")
    if not qualified:
        name_in_registry("surrogate", name, ["auto", *sorted(SURROGATES)])
    try:
        target: Any = importlib.import_module(module)
        for part in qualified.split("."):
            target = getattr(target, part)
    except (ImportError, AttributeError) as error:
        raise ValueError(f"surrogate {name!r} must be importable here: {error}") from error
    if not (isinstance(target, type) and issubclass(target, GPyTorchModel)):
        raise ValueError(f"surrogate {name!r} must be a GPyTorchModel class, got {target!r}")
    return target


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
