"""Methods that predict a target from its values and those of another source."""

import math
import time
import warnings
from typing import Any, NamedTuple

import numpy as np
import torch
from botorch.fit import fit_gpytorch_mll
from botorch.models import MultiTaskGP
from botorch.models.transforms.outcome import Standardize
from gpytorch.mlls import ExactMarginalLogLikelihood
from torch import Tensor

from benchmarks.transfer import rgpe
from benchmarks.transfer.data import Case
from robustbo.numerics.transfer.configuration import Problem
from robustbo.numerics.transfer.search import Averaging, search_relations
from robustbo.surrogates.common import contract
from robustbo.surrogates.pursuit.model import RelevancePursuitGP
from robustbo.surrogates.transfer.auxiliary import AuxiliaryValues
from robustbo.surrogates.transfer.model import TransferGP


class Prediction(NamedTuple):
    """A prediction of the objective at the test points.

    Attributes:
        mean, sd: Of each.
        log_density: Of a measurement at each, as the method has it.
        seconds: What the fit took.
        relation: The likeliest relation of the source, where the method says one.
        probability: Of "unrelated".
        wrong: Of all values, the target's first, the probability of being wrong; None where it is not said.
    """

    mean: np.ndarray
    sd: np.ndarray
    log_density: np.ndarray
    seconds: float
    relation: str = ""
    probability: float = float("nan")
    wrong: np.ndarray | None = None


class AlwaysBiased(TransferGP):
    """A `TransferGP` that takes every source for biased."""

    def search_all(self, problem: Problem) -> Averaging:
        """The search, of which nothing but the biased relation counts."""
        averaging = search_relations(problem, least=0.0)
        biased = tuple(c for c in averaging.configurations if c.relations == ("biased",))
        shares = ({"biased": 1.0},)
        return averaging._replace(configurations=biased, weights=(1.0,), probabilities=shares)


def _predict(model: Any, case: Case) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Means, standard deviations and log densities by one of our surrogates."""
    X = torch.from_numpy(case.test_X)
    mean, sd = contract.marginals(model, X)
    return mean.numpy(), sd.numpy(), model.predictive(X).log_density(torch.from_numpy(case.test_measured)).numpy()


def _log_normal(y: np.ndarray, mean: np.ndarray, variance: np.ndarray) -> np.ndarray:
    """Log densities of normal distributions."""
    density: np.ndarray = -0.5 * ((y - mean) ** 2 / variance + np.log(2 * math.pi * variance))
    return density


def _column(y: np.ndarray) -> Tensor:
    return torch.from_numpy(y).unsqueeze(-1)


def model_data(case: Case) -> tuple[Tensor, Tensor]:
    """Inputs and values of the target."""
    return torch.from_numpy(case.target.X), _column(case.target.y)


def fit_target(case: Case) -> Prediction:
    """The default surrogate of the target's values alone."""
    begin = time.perf_counter()
    model = contract.fit(RelevancePursuitGP(*model_data(case)))
    return Prediction(*_predict(model, case), time.perf_counter() - begin)


def fit_pooled(case: Case) -> Prediction:
    """The default surrogate of all values, as if they were of one source."""
    begin = time.perf_counter()
    X, y = np.concatenate([case.target.X, case.source.X]), np.concatenate([case.target.y, case.source.y])
    model = contract.fit(RelevancePursuitGP(torch.from_numpy(X), _column(y)))
    return Prediction(*_predict(model, case), time.perf_counter() - begin)


def fit_multi_task(case: Case) -> Prediction:
    """BoTorch's multi-task process with its defaults."""
    begin = time.perf_counter()
    tasks = np.repeat([0.0, 1.0], [len(case.target.y), len(case.source.y)])[:, None]
    X = torch.from_numpy(np.hstack([np.concatenate([case.target.X, case.source.X]), tasks]))
    y = _column(np.concatenate([case.target.y, case.source.y]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = MultiTaskGP(X, y, task_feature=-1, output_tasks=[0], outcome_transform=Standardize(m=1))
        fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
        with torch.no_grad():
            X = torch.from_numpy(case.test_X)
            posteriors = [model.posterior(X, observation_noise=is_noisy) for is_noisy in (False, True)]
    mean = posteriors[0].mean.squeeze(-1).numpy()
    variance, noisy = (posterior.variance.squeeze(-1).numpy() for posterior in posteriors)
    density = _log_normal(case.test_measured, mean, noisy)
    return Prediction(mean, np.sqrt(variance), density, time.perf_counter() - begin)


def fit_rgpe(case: Case) -> Prediction:
    """A ranking-weighted ensemble of one process a task."""
    begin = time.perf_counter()
    pairs = [(torch.from_numpy(of.X), torch.from_numpy(of.y)) for of in (case.target, case.source)]
    mean, sd, noise_sd, weights = rgpe.predict(pairs[0], pairs[1:], torch.from_numpy(case.test_X))
    density = _log_normal(case.test_measured, mean, sd**2 + noise_sd**2)
    return Prediction(mean, sd, density, time.perf_counter() - begin, probability=float(weights[-1]))


def fit_transfer(case: Case, cls: type[TransferGP]) -> Prediction:
    """Our surrogate of the values of both."""
    begin, m = time.perf_counter(), len(case.source.y)
    model: Any = cls(*model_data(case))
    zeros, unknown = torch.zeros(m, dtype=torch.long), torch.full((m,), torch.nan, dtype=torch.float64)
    X, Y = torch.from_numpy(case.source.X), torch.from_numpy(case.source.y)
    model.auxiliary = AuxiliaryValues(X, Y, zeros, unknown, zeros > 0, torch.ones(len(zeros)), (False,))
    contract.fit(model)
    (source,), predictor = model.relations, model
    wrong = torch.cat([1 - model.probability_right(), model.auxiliary_wrong]).numpy()
    if model.is_of_unrelated:  # as the optimizer does
        predictor = contract.fit(RelevancePursuitGP(*model_data(case)))
    prediction, seconds = _predict(predictor, case), time.perf_counter() - begin
    unrelated = source.probabilities.get("unrelated", float("nan"))
    return Prediction(*prediction, seconds, source.relation, unrelated, wrong)


def fit_averaged(case: Case) -> Prediction:
    """Our surrogate, averaged over relations; of a source that is almost certainly unrelated, the target's alone."""
    return fit_transfer(case, TransferGP)


def fit_with_bias(case: Case) -> Prediction:
    """Our surrogate where every source is taken for biased."""
    return fit_transfer(case, AlwaysBiased)


METHODS = {
    "target alone": fit_target,
    "pooled": fit_pooled,
    "always biased": fit_with_bias,
    "MultiTaskGP": fit_multi_task,
    "RGPE": fit_rgpe,
    "averaged": fit_averaged,
}
