"""Settings that differ from those that a journal was begun with, in words."""

from dataclasses import replace

from robustbo.searchspace.parameters import Float, Parameter
from robustbo.searchspace.pool import Pool
from robustbo.trials.settings import DEFAULT_SURROGATE, Settings


def differences(current: Settings, recorded: Settings) -> list[str]:
    """Each setting that differs from the recorded one, in words."""
    ours, theirs = _entries(current), _entries(recorded)
    names = dict.fromkeys([*theirs, *ours])
    if ours["surrogate"] != theirs["surrogate"]:
        names.pop("committee_from", None)  # only "auto" has it
    pairs = {name: (theirs.get(name, "nothing"), ours.get(name, "nothing")) for name in names}
    return [f"{name}: recorded {old}, given {new}" for name, (old, new) in pairs.items() if old != new]


def _entries(settings: Settings) -> dict[str, str]:
    """The settings one by one, the space's parameters and their order among them."""
    rest = {name: repr(value) for name, value in settings.plain_values().items() if name not in ("space", "pool")}
    if isinstance(settings.space, Pool):
        rest["pool"] = f"{len(settings.space.rows)} rows ({settings.space.digest[:8]})"
    if settings.committee_from is not None and settings.surrogate == DEFAULT_SURROGATE:
        rest["surrogate"] = repr("auto")
    parameters = {f"parameter {name!r}": _parameter_text(parameter) for name, parameter in settings.space.parameters}
    return {"parameters": repr(settings.space.names)} | parameters | rest


def _parameter_text(parameter: Parameter) -> str:
    """A parameter in words; 0 and 0.0 are the same bound."""
    if isinstance(parameter, Float):
        return repr(replace(parameter, low=float(parameter.low), high=float(parameter.high)))
    return repr(parameter)
