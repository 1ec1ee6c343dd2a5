"""The BoTorch model of a study's surrogate, before it is fitted, and what it can do."""

import math
from dataclasses import replace
from typing import Any

import torch
from botorch.exceptions import InputDataError
from torch import Tensor

from robustbo.errors import FitError, NumericsWarning, warn
from robustbo.loop.observations.auxiliary import AuxiliaryObservations
from robustbo.loop.observations.table import Observations
from robustbo.loop.observations.units import Units, noise_of_all, noise_parts
from robustbo.loop.surrogate.cache import FitCache
from robustbo.searchspace.encoding import encode
from robustbo.surrogates.common import contract
from robustbo.surrogates.common.capabilities import Capabilities
from robustbo.surrogates.common.row_variances import RowVariancesGP
from robustbo.surrogates.pursuit.model import RelevancePursuitGP
from robustbo.surrogates.registry import model_class
from robustbo.surrogates.transfer.auxiliary import AuxiliaryValues
from robustbo.surrogates.transfer.model import TransferGP
from robustbo.surrogates.transforms.input_encoding import one_hot_inputs
from robustbo.trials.settings import Settings


def is_robust(settings: Settings) -> bool:
    """Return whether the surrogate says of itself that single values may be wrong, and is heeded."""
    return capabilities_of(settings).is_heeded


def capabilities_of(settings: Settings) -> Capabilities:
    """The capabilities of the surrogate with its options."""
    return contract.capabilities_for(model_class(settings.surrogate), settings.surrogate_options)


def new_model(
    settings: Settings,
    told: Observations,
    X: Tensor,
    Y: Tensor,
    Yvar: Tensor | None,
    units: Units,
    fits: FitCache | None = None,
) -> Any:
    """The model of ``n`` values in its units, not fitted yet; bounds need no variance of their own.

    Where ``fits`` are given, they keep what follows from the values of another source alone.
    """
    cls, beside = model_class(settings.surrogate), told.beside
    is_learning = beside is not None and cls is RelevancePursuitGP  # a simpler one, where numbers fail, does not
    try:
        model = (TransferGP if is_learning else cls)(
            X,
            Y.unsqueeze(-1),
            None if Yvar is None else Yvar.unsqueeze(-1),
            input_transform=one_hot_inputs(settings.space),
            **settings.surrogate_options,
        )
    except InputDataError as error:
        raise FitError(f"{settings.surrogate} cannot fit these values; exclude the most extreme: {error}") from error
    if cleared := told.vouched | told.bound_numbers:
        is_cleared = torch.tensor([number in cleared for number in told.numbers])
        model.vouched = is_cleared  # of which a model that is none of ours takes no notice
    model.zero = units.to_model(0.0)
    if (least_noise := settings.quantity.least_noise) > 0:
        model.least_noise = units.sd_to_model(least_noise)  # likewise
    if Yvar is None and (parts := noise_parts(told, units)) is not None:
        model.set_noise_parts(*parts)
    if told.correction is not None:
        shares = torch.tensor(told.correction.shares_of(told.numbers), dtype=torch.float64)
        model.shared_errors = units.sd_to_model(shares)
    if beside is not None and is_learning:
        model.auxiliary = _auxiliary_values(settings, beside, units)
        if fits is not None:
            model.remember = fits.get_small
    return model


def new_plain_model(
    settings: Settings, told: Observations, X: Tensor, Y: Tensor, variance: Tensor, units: Units
) -> Any:
    """The model of `standard`, not fitted yet, where ``n`` values have variances beside their noise; 0 where none."""
    plain = replace(settings, surrogate="standard", options="{}", committee_from=None)
    fixed, share = noise_of_all(told, units)
    is_known = not share.any()
    model = new_model(plain, told, X, Y, fixed + variance if is_known else None, units)
    if not is_known:
        model.set_noise_parts(fixed + variance, torch.where(variance > 0, 0.0, share))
    return model


def _auxiliary_values(settings: Settings, beside: AuxiliaryObservations, units: Units) -> AuxiliaryValues:
    """Values of other sources in a model's units."""
    values = torch.tensor([units.to_model(value) for value in beside.values], dtype=torch.float64)
    sds = torch.tensor([math.nan if sd is None else sd for sd in beside.sds], dtype=torch.float64)
    return AuxiliaryValues(
        encode(settings.space, [list(row) for row in beside.X]),
        values,
        torch.tensor([beside.groups[place] - 1 for place in beside.source]),
        units.sd_to_model(sds),
        torch.tensor(beside.is_vouched),
        torch.tensor([1.0 / n for n in beside.counts], dtype=torch.float64),
        tuple(beside.trusted[beside.groups.index(group)] for group in sorted(set(beside.groups))),
        torch.tensor([beside.depths[at] for at in beside.source], dtype=torch.float64) if any(beside.depths) else None,
    )


def prior_rate(settings: Settings, n: int) -> float:
    """The prior probability that each of n told values is wrong, before a fit."""
    return contract.prior_rate_for(model_class(settings.surrogate), settings.surrogate_options, n)


def rate_of_wrong_bounds(settings: Settings, n: int) -> float:
    """The prior probability that a bound among n values is wrong: none is by a surrogate that believes every value."""
    return prior_rate(settings, n) if is_robust(settings) else 0.0


def takes_bounds(settings: Settings, told: Observations) -> bool:
    """Return whether the surrogate takes bounds among values: else limits stand for measurements, with a warning."""
    if len(told.bounds) == len(told.values):
        return False  # nothing is measured yet
    if not has_row_noise(settings):
        text = f"{settings.surrogate} takes no bounds: {len(told.bounds)} of them count as if measured at their limits"
        warn(f"{text}; relevance-pursuit, the default, uses them as they are", NumericsWarning)
        return False
    return True


def takes_noise_parts(settings: Settings, told: Observations) -> bool:
    """Return whether the surrogate learns the noise of some values beside that of others; else a warning says so."""
    if capabilities_of(settings).mixes_noise:
        return True
    lacking = [number for number, sd in zip(told.numbers, told.sds or (), strict=True) if sd < 0]
    trials = f"trial {lacking[0]}" + (f" and {len(lacking) - 1} more" if len(lacking) > 1 else "")
    text = f"sd is not known for {trials}, and {settings.surrogate} takes it for all values or for none"
    advice = "relevance-pursuit, the default, and standard take it where it is known"
    warn(f"{text}: noise is inferred for all, means of several measurements among them; {advice}", NumericsWarning)
    return False


def has_row_noise(settings: Settings) -> bool:
    """Return whether each observation of the surrogate may have a noise of its own, as bounds need."""
    return issubclass(model_class(settings.surrogate), RowVariancesGP)
