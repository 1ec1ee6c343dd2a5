"""Competitors: ours, robust, plain and inside Ax; Optuna's GPSampler; Ax's default; plain BoTorch."""

import logging
from collections.abc import Callable
from typing import Any, NamedTuple

import torch

from benchmarks.common.measured_values import Values, space, told

NUM_RESTARTS, RAW_SAMPLES = 4, 256  # of plain BoTorch's maximization

Ask = Callable[[], tuple[Any, Values]]
Tell = Callable[[Any, Values, float], None]


class Competitor(NamedTuple):
    """An optimization that goes on.

    Attributes:
        ask: Gives a handle and the parameters of the next point.
        tell: Takes the handle, the parameters and the value.
        looks: What else can be asked of it, by name.
    """

    ask: Ask
    tell: Tell
    looks: dict[str, Callable[[], Any]]


def ours(surrogate: str, function: str, n: int, seed: int) -> Competitor:
    """An optimizer of our own."""
    import robustbo as rb

    opt = rb.Optimizer(space(function), direction="minimize", surrogate=surrogate, num_initial=5, seed=seed)
    for x, value in told(function, n, seed):
        opt.tell(x, value)

    def ask() -> tuple[Any, Values]:
        trial = opt.ask()
        return trial, trial.params

    def tell(trial: Any, _: Values, value: float) -> None:
        opt.tell(trial, value)

    return Competitor(ask, tell, {"best": opt.best, "outliers": opt.outliers})


def optuna(function: str, n: int, seed: int) -> Competitor:
    """Optuna's Gaussian process sampler, with all its defaults."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(direction="minimize", sampler=optuna.samplers.GPSampler(seed=seed))
    box = {name: optuna.distributions.FloatDistribution(0.0, 1.0) for name in space(function).names}
    of = optuna.trial.create_trial
    study.add_trials([of(params=x, distributions=box, value=value) for x, value in told(function, n, seed)])

    def ask() -> tuple[Any, Values]:
        trial = study.ask(box)
        return trial, trial.params

    def tell(trial: Any, _: Values, value: float) -> None:
        study.tell(trial, value)

    return Competitor(ask, tell, {})


def ax(surrogate: str | None, function: str, n: int, seed: int) -> Competitor:
    """Ax's default strategy, or a surrogate of ours inside it."""
    from robustbo.ax import client_for, generation_strategy

    logging.disable(logging.INFO)
    names = space(function).names
    client = client_for(space(function), "minimize", "value", seed=seed)
    if surrogate is None:
        client.configure_generation_strategy(initialization_budget=5)
    else:
        client.set_generation_strategy(generation_strategy(surrogate, seed=seed))
    for x, value in told(function, n, seed):
        client.complete_trial(client.attach_trial(x), {"value": value})

    def ask() -> tuple[Any, Values]:
        ((index, x),) = client.get_next_trials(max_trials=1).items()
        return index, {name: float(x[name]) for name in names}

    def tell(index: Any, _: Values, value: float) -> None:
        client.complete_trial(index, {"value": value})

    return Competitor(ask, tell, {})


def botorch(function: str, n: int, seed: int) -> Competitor:
    """`SingleTaskGP` with its defaults and LogEI, maximized from as few points as anybody's."""
    from botorch.acquisition import LogExpectedImprovement
    from botorch.fit import fit_gpytorch_mll
    from botorch.models import SingleTaskGP
    from botorch.optim import optimize_acqf
    from gpytorch.mlls import ExactMarginalLogLikelihood

    names = space(function).names
    points, values = ([*column] for column in zip(*told(function, n, seed), strict=True))
    box = torch.tensor([[0.0] * len(names), [1.0] * len(names)], dtype=torch.float64)

    def ask() -> tuple[Any, Values]:
        X = torch.tensor([[x[name] for name in names] for x in points], dtype=torch.float64)
        Y = -torch.tensor(values, dtype=torch.float64).unsqueeze(-1)
        model = SingleTaskGP(X, Y)
        fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
        function = LogExpectedImprovement(model, best_f=Y.max())
        candidate, _ = optimize_acqf(function, box, q=1, num_restarts=NUM_RESTARTS, raw_samples=RAW_SAMPLES)
        return None, dict(zip(names, candidate.squeeze(0).tolist(), strict=True))

    def tell(_: Any, x: Values, value: float) -> None:
        points.append(x)
        values.append(value)

    return Competitor(ask, tell, {})


COMPETITORS: dict[str, Callable[[str, int, int], Competitor]] = {
    "default": lambda *data: ours("auto", *data),
    "standard": lambda *data: ours("standard", *data),
    "optuna": optuna,
    "ax": lambda *data: ax(None, *data),
    "default in ax": lambda *data: ax("relevance-pursuit", *data),
    "botorch": botorch,
}
