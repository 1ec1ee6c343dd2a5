"""The surrogates' names: as a type, for editors and type checkers, and of classes that people name in this process.

A test compares those of ours with the registry, which has the classes: a journal is read, and a value recorded, by
names alone.
"""

import importlib
from typing import TYPE_CHECKING, Any, Literal, get_args

from robustbo.lazy import Module
from robustbo.validation import name_in_registry

if TYPE_CHECKING:
    from botorch.models import gpytorch as botorch_models
else:
    botorch_models = Module("botorch.models.gpytorch")

SurrogateName = Literal[
    "auto",
    "standard",
    "scaled-clip",
    "winsorized",
    "power-transform",
    "trimmed",
    "filtered",
    "relevance-pursuit",
    "botorch-relevance-pursuit",
    "student-t",
    "student-t-process",
    "conjugate",
    "computation-aware",
    "committee",
    "student-t-variational",
    "laplace-variational",
    "huber",
    "huber-projection",
]

NAMES = frozenset(get_args(SurrogateName)) - {"auto"}

ALLOWED: dict[str, "type[botorch_models.GPyTorchModel]"] = {}  # classes that people have named in this process


def name_of(surrogate: "str | type[botorch_models.GPyTorchModel]") -> str:
    """The name under which a journal keeps a surrogate that a person has named: as registered, or "module:Class".

    A class that is named here may be named by a journal from then on; `model_class` imports nothing by itself.

    Raises:
        ValueError: If the name is not registered, or the class cannot be found again by its name.
        TypeError: If it is neither a name nor a BoTorch model class.
    """
    if isinstance(surrogate, str):
        if surrogate not in NAMES:
            ALLOWED[surrogate] = _import_class(surrogate)
        return surrogate
    if not (isinstance(surrogate, type) and issubclass(surrogate, botorch_models.GPyTorchModel)):
        raise TypeError(f"surrogate must be one of {sorted(NAMES)} or a GPyTorchModel class, got {surrogate!r}")
    name = f"{surrogate.__module__}:{surrogate.__qualname__}"
    if "<locals>" in name:
        raise ValueError(f"surrogate must be importable so that a journal can name it, got the local class {name}")
    ALLOWED[name] = surrogate
    return name


def is_known(name: str) -> bool:
    """Return whether a name is registered, or that of a class that a person has named in this process."""
    return name in NAMES or name in ALLOWED


def _import_class(name: str) -> "type[botorch_models.GPyTorchModel]":
    """The class "module:Class"."""
    module, _, qualified = name.partition(":")
    if not qualified:
        name_in_registry("surrogate", name, ["auto", *sorted(NAMES)])
    try:
        target: Any = importlib.import_module(module)
        for part in qualified.split("."):
            target = getattr(target, part)
    except (ImportError, AttributeError) as error:
        raise ValueError(f"surrogate {name!r} must be importable here: {error}") from error
    if not (isinstance(target, type) and issubclass(target, botorch_models.GPyTorchModel)):
        raise ValueError(f"surrogate {name!r} must be a GPyTorchModel class, got {target!r}")
    return target
