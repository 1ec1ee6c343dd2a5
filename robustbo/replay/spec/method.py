"""Settings by which the competitors of a run decide, and meanings of their names."""

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_serializer,
    model_validator,
)

from robustbo.surrogates.registry import SURROGATES, check_options, is_known, name_of
from robustbo.trials.former_names import in_new_names, warn_of_old_names
from robustbo.trials.settings import (
    DEFAULT_MAX_REPLICATES,
    DEFAULT_REPLICATE,
    DEFAULT_SURROGATE,
    Acquisition,
    Failures,
    Replicate,
)
from robustbo.validation import name_in_registry

OF_ONE = ("robustbo", "ax", "ax-default", "ax-viability", "optuna-gp", "optuna-tpe")  # engines
OF_SEVERAL = ("robustbo", "ax-default", "botorch", "optuna-gp", "optuna-tpe")  # of problems of several outcomes
MOST_REPLICATIONS = 10_000  # of a method: each is a cell, which takes memory before it is run
RECORDED = "is_recorded"  # in the context of a validation: what is read must import nothing


class Frozen(BaseModel):
    """Part of a spec. A key of ``later`` is left out where it is not said: cells from before it keep their hash."""

    model_config = ConfigDict(frozen=True)
    later: ClassVar[frozenset[str]] = frozenset()

    @model_serializer(mode="wrap")
    def _drop_unset(self, serialize: Any) -> dict[str, Any]:
        unsaid = {key for key in self.later if getattr(self, key) == type(self).model_fields[key].default}
        return {key: value for key, value in serialize(self).items() if key not in unsaid}


def why_not(error: ValidationError) -> str:
    """Message, in a line, on what is wrong with a part of a spec."""
    return "; ".join(detail["msg"] for detail in error.errors())


class Strict(Frozen):
    """One that takes no key that it does not know."""

    model_config = ConfigDict(extra="forbid")


class SurrogateChoice(Strict):
    """A surrogate.

    Attributes:
        surrogate: A registry name.
        options: The surrogate's options.
    """

    surrogate: str
    options: dict[str, Any] = {}

    @field_validator("surrogate")
    @classmethod
    def _surrogate_exists(cls, name: str, info: ValidationInfo) -> str:
        if (info.context or {}).get(RECORDED) and not is_known(name):
            raise ValueError(f"a record names the class {name!r}, which is not imported; name it in a spec to run it")
        return name_of(name)

    @field_validator("options")
    @classmethod
    def _options_exist(cls, options: dict[str, Any], info: ValidationInfo) -> dict[str, Any]:
        if (info.context or {}).get(RECORDED) and "cluster" in options:
            raise ValueError(f"a record names the cluster {options['cluster']!r}, which is not connected to")
        try:
            check_options(info.data.get("surrogate", DEFAULT_SURROGATE), options)
        except TypeError as error:
            raise ValueError(str(error)) from None
        return options


class Method(SurrogateChoice):
    """Settings by which one competitor decides: its surrogate, and the following.

    Attributes:
        acquisition: As for the optimizer.
        replicate: As for the optimizer; "never" is the papers' protocol.
        max_replicates: As for the optimizer.
        quarantine: As for the optimizer; false is the papers' protocol.
        sees: "measured" values, the "clean" ones that only an oracle sees, "errors": measured values, of which the
            wrong ones are excluded as they come, or "corrected": measured values, without what goes wrong with them.
        engine: Who proposes: "robustbo"; Ax, with its own strategy ("ax-default"; "ax-viability" with its transform
            that learns where trials fail) or the surrogate inside it ("ax"); Optuna's sampler of that name; or, of
            several outcomes, BoTorch's own acquisition functions on plain GPs ("botorch").
        sources: If "told", the method learns which worker measured each value, and sees the old studies; if "hidden",
            it gets neither.
        negligible_error: What a value of a single outcome may be off without being wrong.
        failures: As for the optimizer. It matters where trials can fail, by the corruption "failure" or by the problem.
    """

    later = frozenset({"engine", "max_replicates", "failures", "sources", "negligible_error"})
    acquisition: Acquisition = "auto"
    replicate: Replicate = DEFAULT_REPLICATE
    max_replicates: int = Field(DEFAULT_MAX_REPLICATES, ge=1)
    quarantine: bool = True
    sees: Literal["measured", "clean", "errors", "corrected"] = "measured"
    engine: Literal["robustbo", "ax", "ax-default", "ax-viability", "botorch", "optuna-gp", "optuna-tpe"] = "robustbo"
    failures: Failures = "learn"
    sources: Literal["told", "hidden"] = "told"
    negligible_error: float = Field(default=0.0, ge=0, allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def _read_old_names(cls, entries: Any, info: ValidationInfo) -> Any:
        if not isinstance(entries, dict):
            return entries
        if not (info.context or {RECORDED: True})[RECORDED]:  # somebody has written it
            warn_of_old_names(entries)
        try:
            return in_new_names(entries)
        except TypeError as error:
            raise ValueError(str(error)) from None

    @model_validator(mode="after")
    def _is_excluded_here(self) -> "Method":
        if self.sees == "errors" and self.engine != "robustbo":
            raise ValueError(f'sees = "errors" needs engine = "robustbo", got {self.engine!r}')
        return self


# What a method's name means where the spec says nothing more; any other name is a surrogate's.
NAMED: dict[str, dict[str, Any]] = {
    "sobol": {"surrogate": "standard", "acquisition": "sobol"},
    "oracle": {"surrogate": "standard", "sees": "clean"},
    "informed": {"surrogate": "standard", "sees": "errors"},
    "ax-default": {"surrogate": "standard", "engine": "ax-default"},
    "ax-viability": {"surrogate": "standard", "engine": "ax-viability"},
    "ax-relevance-pursuit": {"surrogate": "relevance-pursuit", "engine": "ax"},
    "botorch": {"surrogate": "standard", "engine": "botorch"},
    "optuna-gp": {"surrogate": "standard", "engine": "optuna-gp"},
    "optuna-tpe": {"surrogate": "standard", "engine": "optuna-tpe"},
}
NAMED_ABOUT = {
    "sobol": "The Sobol sequence alone.",
    "oracle": "The standard GP, told the clean values.",
    "informed": "The standard GP, told which values are wrong.",
    "ax-default": "Ax as it comes.",
    "ax-viability": "Ax's default with its own model of where trials fail.",
    "ax-relevance-pursuit": "Relevance pursuit inside Ax.",
    "botorch": "BoTorch's noisy expected (hypervolume) improvement on plain GPs, for several outcomes.",
    "optuna-gp": "Optuna's Gaussian process.",
    "optuna-tpe": "Optuna's tree-structured Parzen estimator.",
}


def sees(methods: Mapping[str, Method], name: str) -> str:
    """Meaning of a method's name, for those that see more or are none of ours."""
    return methods[name].sees if name in methods else NAMED.get(name, {}).get("sees", "measured")


def by_name(methods: Any) -> Any:
    """Methods as a spec has them, a table or a plain list of names, with what their names mean.

    Raises:
        ValueError: If a name cannot be part of a file's, or means nothing and its surrogate is not said.
    """
    methods = as_table(methods)
    if not isinstance(methods, dict):
        return methods
    for name in methods:
        if not name or name.startswith(".") or any(part in name for part in "/\\\0"):
            raise ValueError(f"a method's name must be fit for a file's (no slash, no dot in front), got {name!r}")
        if isinstance(methods[name], dict) and "surrogate" not in methods[name] and not (":" in name or name in NAMED):
            name_in_registry("method", name, [*NAMED, "auto", *sorted(SURROGATES)])
    return {name: with_defaults(NAMED.get(name, {"surrogate": name}), method) for name, method in methods.items()}


def with_defaults(defaults: dict[str, Any], value: Any) -> Any:
    """A table with what it does not say; what is no table stays as it is, for validation to name."""
    return defaults | value if isinstance(value, dict) else value


def as_table(value: Any) -> Any:
    """A plain list of names as a table of empty tables; anything else as it is, for validation to name."""
    is_list = isinstance(value, list) and all(isinstance(name, str) for name in value)
    return {name: {} for name in value} if is_list else value
