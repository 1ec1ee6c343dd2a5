"""Acquisition functions by name, and their maximization over continuous and mixed spaces."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext

import torch
from botorch.acquisition import AcquisitionFunction, LogExpectedImprovement, qLogExpectedImprovement
from botorch.acquisition.logei import qLogNoisyExpectedImprovement
from botorch.models.gpytorch import GPyTorchModel
from botorch.optim import optimize_acqf
from botorch.optim.optimize_mixed import MAX_DISCRETE_VALUES, optimize_acqf_mixed_alternating
from botorch.sampling import SobolQMCNormalSampler
from torch import Tensor

from robustbo import seeds
from robustbo.determinism.isolation import drawing_in_python, drawing_nothing
from robustbo.loop.fit import Fitted
from robustbo.loop.log_ei import NUM_SAMPLES, LogNEI, LogViable, StudentTLogExpectedImprovement, is_student_t
from robustbo.loop.observations import Row
from robustbo.loop.viability import Viability
from robustbo.searchspace.encoding import categories, one_hot_inputs
from robustbo.searchspace.parameters import Choice
from robustbo.searchspace.space import Space
from robustbo.surrogates.common.contract import capabilities, quiet
from robustbo.surrogates.common.map_gp import MapGP
from robustbo.trials.settings import ACQUISITIONS

NUM_RESTARTS = 4
RAW_SAMPLES = 256
CHUNK = 256  # points whose acquisition is computed at once
NEARBY = {"sample_around_best": True}  # as many again, near the best posterior means: a narrow maximum lies there


def build(name: str, model: GPyTorchModel, X: Tensor, X_pending: Tensor | None, seed: int) -> AcquisitionFunction:
    """An acquisition function of a fitted model that is to be maximized.

    Args:
        name: One of `ACQUISITIONS` but "sobol"; "auto" is `StudentTLogExpectedImprovement` where the posterior is
            Student-t and nothing is pending, else `LogNEI` for surrogates of ours with a named kernel, else qLogNEI.
            The incumbent of LogEI (Student-t or not) and qLogEI is the best posterior mean among the points measured,
            not the best value. LogEI has no closed form with points pending, or where a Student-t process is
            transformed: it is qLogEI then.
        model: A fitted model.
        X: ``n x d`` points measured.
        X_pending: ``p x d`` points asked and not told, or None.
        seed: Of the Monte Carlo samples.

    Raises:
        ValueError: If there is no acquisition function of that name.
    """
    if name == "auto" and isinstance(model, MapGP) and model.is_named and capabilities(model).is_normal:
        return LogNEI(model, X if X_pending is None else torch.cat([X, X_pending]), seed)
    sampler = SobolQMCNormalSampler(torch.Size([NUM_SAMPLES]), seed=seed)
    match name:
        case "auto" | "LogEI" if X_pending is None and is_student_t(model, X):
            return StudentTLogExpectedImprovement(model, best_f=incumbent_value(model, X))
        case "auto" | "qLogNEI":
            return qLogNoisyExpectedImprovement(model, X, sampler=sampler, X_pending=X_pending)
        case "LogEI" if X_pending is None and capabilities(model).is_normal:
            return LogExpectedImprovement(model, best_f=incumbent_value(model, X))
        case "LogEI" | "qLogEI":
            return qLogExpectedImprovement(model, incumbent_value(model, X), sampler=sampler, X_pending=X_pending)
    raise ValueError(f"acquisition must be one of {list(ACQUISITIONS)}, got {name!r}")


def incumbent_value(model: GPyTorchModel, X: Tensor) -> Tensor:
    """The best posterior mean among ``n x d`` points."""
    with torch.no_grad():
        return model.posterior(X).mean.max()


def maximize(function: AcquisitionFunction, space: Space) -> Tensor:
    """The point that maximizes an acquisition function over a space: ``d`` encoded coordinates.

    Continuous spaces go through `optimize_acqf`, from raw samples everywhere and near the best points, spaces with an
    Int or a Choice through BoTorch's alternating mixed optimizer, which has starting points of its own (near the
    measured ones too, unless an Int has more than two levels).
    """
    choices = categories(space)
    discrete = {
        i: p.levels for i, (_, p) in enumerate(space.parameters) if not isinstance(p, Choice) and p.levels is not None
    }
    bounds = torch.tensor([[0.0] * len(space), [1.0] * len(space)], dtype=torch.float64)
    for column, levels in discrete.items():
        bounds[:, column] = torch.tensor([levels[0], levels[-1]], dtype=torch.float64)
    for column, count in choices.items():
        bounds[1, column] = count - 1
    if not discrete and not choices:
        X, _ = optimize_acqf(function, bounds, q=1, num_restarts=NUM_RESTARTS, raw_samples=RAW_SAMPLES, options=NEARBY)
    else:
        X, _ = optimize_acqf_mixed_alternating(
            function,
            bounds,
            discrete_dims=discrete,
            cat_dims={column: list(range(count)) for column, count in choices.items()},
            num_restarts=NUM_RESTARTS,
            raw_samples=RAW_SAMPLES,
        )
    return X.squeeze(0)


def next_point(name: str, fitted: Fitted, viability: Viability | None, pending: Sequence[Row], seed: int) -> Tensor:
    """Where to measure next: ``d`` encoded coordinates; a pure function of its arguments.

    Args:
        name: One of `ACQUISITIONS`.
        fitted: The surrogate.
        viability: Where trials give a value; None where none has failed.
        pending: Unit-cube rows of the points asked and not told.
        seed: Of everything random in here.
    """
    with _apart(seed, fitted), quiet():
        return maximize(_function(name, fitted, viability, pending, seed), fitted.space)


def values_at(
    name: str,
    fitted: Fitted,
    viability: Viability | None,
    pending: Sequence[Row],
    seed: int,
    rows: Sequence[Sequence[float]],
) -> Tensor:
    """The acquisition function at ``m`` unit-cube rows, where not every point will do; see `next_point`."""
    with _apart(seed, fitted), quiet(), torch.no_grad():
        function = _function(name, fitted, viability, pending, seed)
        parts = fitted.encoded(rows).unsqueeze(-2).split(CHUNK)
        return torch.cat([function(part) for part in parts])


@contextmanager
def _apart(seed: int, fitted: Fitted) -> Iterator[None]:
    levels = categories(fitted.space).values()
    is_sampled = any(count > MAX_DISCRETE_VALUES for count in levels)  # by Python's generator
    with fitted.apart(seed), drawing_in_python(seed) if is_sampled else nullcontext():
        yield


def _function(
    name: str, fitted: Fitted, viability: Viability | None, pending: Sequence[Row], seed: int
) -> AcquisitionFunction:
    X_pending = fitted.encoded(pending) if pending else None
    function = build(name, fitted.model, fitted.X, X_pending, seeds.derive(seed, 0, "samples") % 2**31)
    if fitted.is_ours:  # its samples are drawn
        function.forward = drawing_nothing()(function.forward)
    return function if viability is None else LogViable(function, viability.predictor, one_hot_inputs(fitted.space))
