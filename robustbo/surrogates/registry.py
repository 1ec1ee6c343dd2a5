"""Surrogates by name, for people and for journals."""

import importlib
import json
from collections.abc import Iterator, Mapping
from typing import Any

import torch
from botorch.models.gpytorch import GPyTorchModel

from robustbo.surrogates.common.contract import own_options
from robustbo.surrogates.common.quiet import quiet
from robustbo.surrogates.names import ALLOWED, is_known, name_of
from robustbo.validation import name_in_registry, nearest

__all__ = ["ALLOWED", "SURROGATES", "check_options", "is_known", "model_class", "name_of"]

TRIAL_SIZE = 8  # observations that options are tried on

PLACES = {
    "standard": "baselines.standard:StandardGP",
    "scaled-clip": "baselines.scaled_clip:ScaledClipGP",
    "winsorized": "baselines.winsorized:WinsorizedGP",
    "power-transform": "baselines.power_transform:PowerTransformGP",
    "trimmed": "baselines.trimmed:TrimmedGP",
    "filtered": "filtered:FilteredGP",
    "relevance-pursuit": "pursuit.model:RelevancePursuitGP",
    "student-t": "student_t.model:StudentTGP",
    "botorch-relevance-pursuit": "baselines.botorch_relevance_pursuit:BoTorchRelevancePursuitGP",
    "student-t-process": "student_t_process.model:StudentTProcess",
    "conjugate": "weighted.model:ConjugateGP",
    "computation-aware": "iterative.model:ComputationAwareGP",
    "committee": "committee.model:CommitteeGP",
    "student-t-variational": "baselines.student_t_variational:StudentTVariationalGP",
    "laplace-variational": "baselines.exponential_variational:LaplaceVariationalGP",
    "huber": "baselines.exponential_variational:HuberGP",
    "huber-projection": "baselines.exponential_variational:HuberProjectionGP",
}
BESIDE_SOURCES = "transfer.model:TransferGP"  # relevance pursuit, where values of other sources are declared


class Registry(Mapping[str, type[GPyTorchModel]]):
    """The classes by name, each imported when it is asked for: an ask needs one of them."""

    def __getitem__(self, name: str) -> type[GPyTorchModel]:
        module, _, qualified = PLACES[name].partition(":")
        cls: type[GPyTorchModel] = getattr(importlib.import_module(f"robustbo.surrogates.{module}"), qualified)
        return cls

    def __iter__(self) -> Iterator[str]:
        return iter(PLACES)

    def __len__(self) -> int:
        return len(PLACES)

    def __contains__(self, name: object) -> bool:
        return name in PLACES

    def has(self, cls: type) -> bool:
        """Return whether a class is one of them, or what one becomes beside values of other sources."""
        place = f"{cls.__module__}:{cls.__qualname__}".removeprefix("robustbo.surrogates.")
        return place in PLACES.values() or place == BESIDE_SOURCES


SURROGATES = Registry()


def model_class(name: str) -> type[GPyTorchModel]:
    """The class of a name that `is_known`; nothing of anybody else's is imported.

    Raises:
        ValueError: If it is not known.
    """
    if not is_known(name):
        if ":" not in name:
            name_in_registry("surrogate", name, ["auto", *sorted(SURROGATES)])
        raise ValueError(f"surrogate {name!r} must be a class that this process has named; robustbo does not import it")
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
