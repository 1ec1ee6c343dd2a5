"""Loops of this and of other libraries that begin with the values of an old study, with one interface."""

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol, Self

import numpy as np
import torch
from botorch.acquisition.logei import qLogNoisyExpectedImprovement
from botorch.acquisition.objective import GenericMCObjective
from botorch.fit import fit_gpytorch_mll
from botorch.models import MultiTaskGP
from botorch.models.transforms.outcome import Standardize
from botorch.optim import optimize_acqf
from gpytorch.mlls import ExactMarginalLogLikelihood

import robustbo as rb
from benchmarks.league.protocol import PeerProcess
from benchmarks.transfer.data import Values

ALONE, OURS = "target alone", "sources"
RESTARTS, RAW = 4, 128  # of BoTorch's search
MANY = 10_000  # trials, more than there will be
Point = list[float]


class Peer(Protocol):
    """A loop that has been begun with an old study, in the unit cube; what it minimizes."""

    def ask(self) -> Point:
        """The next point of the target."""

    def tell(self, x: Point, y: float) -> None:
        """A value of the target."""

    def best(self) -> Point:
        """The point recommended, of those of the target."""

    def __enter__(self) -> Self:
        """Begin; processes end when it ends."""

    def __exit__(self, *_: object) -> None:
        """End."""


Begin = Callable[[Values, int, int], Peer]  # from the old values, the dimension and a seed


class InProcess:
    """A loop in this process: nothing has to be ended."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass


class WithNames:
    """A loop whose parameters have names, x0 and so on."""

    _names: list[str]

    def _params(self, x: Any) -> dict[str, float]:
        return dict(zip(self._names, map(float, x), strict=True))

    def _point(self, params: Any) -> Point:
        return [params[name] for name in self._names]


class Ours(WithNames, InProcess):
    """An optimizer of this library.

    Args:
        old, d, seed: As of `Begin`.
        use: "source" tells the old study as one, "pooled" as the target's own values, "nothing" leaves it out.
    """

    def __init__(self, old: Values, d: int, seed: int, use: str) -> None:
        self._names = [f"x{i}" for i in range(d)]
        space = rb.Space({name: rb.Float(0.0, 1.0) for name in self._names})
        sources = {"lab": rb.Source(target=True), "old": rb.Source(ask=False)} if use == "source" else {}
        self._study = rb.Optimizer(space, direction="minimize", seed=seed, num_initial=1, sources=sources)
        self._trial: rb.Trial | None = None
        for x, y in zip(old.X, old.y, strict=True) if use != "nothing" else ():
            self._study.tell(self._params(x), y, source="old" if sources else None)
        self._told = set[int]()

    def ask(self) -> Point:
        """The next point."""
        self._trial = self._study.ask()
        return self._point(self._trial.params)

    def tell(self, x: Point, y: float) -> None:
        """A value of the trial that was asked, or of a point of the beginning."""
        told = self._study.tell(self._params(x) if self._trial is None else self._trial, y)
        self._told.add(told.number)
        self._trial = None

    def best(self) -> Point:
        """The recommendation, of the points that this study measured."""
        of_study = [t for t in self._study.history if t.number in self._told]
        best = self._study.best()
        if best.trial.number in self._told:
            return self._point(best.params)
        means = self._study.predict([t.params for t in of_study])["mean"].to_numpy()
        return self._point(of_study[int(np.argmin(means))].params)


class MultiTask(InProcess):
    """BoTorch's multi-task process with its defaults, and its noisy expected improvement."""

    def __init__(self, old: Values, d: int, seed: int) -> None:
        self._old, self._seed, self._bounds = old, seed, torch.tensor([[0.0] * d, [1.0] * d], dtype=torch.float64)
        self._X, self._y = list[Point](), list[float]()

    def ask(self) -> Point:
        """The next point."""
        model = self._fit()
        torch.manual_seed(self._seed + len(self._y))
        lowest = GenericMCObjective(lambda Y, X=None: -Y[..., 0])
        acqf = qLogNoisyExpectedImprovement(model, torch.tensor(self._X, dtype=torch.float64), objective=lowest)
        point, _ = optimize_acqf(acqf, self._bounds, q=1, num_restarts=RESTARTS, raw_samples=RAW)
        return point[0].tolist()

    def tell(self, x: Point, y: float) -> None:
        """A value of the target."""
        self._X.append(x)
        self._y.append(y)

    def best(self) -> Point:
        """The point of the lowest posterior mean."""
        model = self._fit()
        with torch.no_grad():
            means = model.posterior(torch.tensor(self._X, dtype=torch.float64)).mean.squeeze(-1)
        return self._X[int(means.argmin())]

    def _fit(self) -> MultiTaskGP:
        tasks = np.repeat([0.0, 1.0], [len(self._y), len(self._old.y)])[:, None]
        X = torch.from_numpy(np.hstack([np.vstack([np.array(self._X), self._old.X]), tasks]))
        y = torch.from_numpy(np.concatenate([self._y, self._old.y])).unsqueeze(-1)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = MultiTaskGP(X, y, task_feature=-1, output_tasks=[0], outcome_transform=Standardize(m=1))
            fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
        return model


class OptunaWarmStart(InProcess):
    """Optuna's GPSampler, with the old values added as trials."""

    def __init__(self, old: Values, d: int, seed: int) -> None:
        import optuna

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        sampler = optuna.samplers.GPSampler(seed=seed, n_startup_trials=1)
        self._study, self._create = optuna.create_study(sampler=sampler), optuna.trial.create_trial
        self._box = {f"x{i}": optuna.distributions.FloatDistribution(0.0, 1.0) for i in range(d)}
        self._own, self._trial = list[tuple[float, Point]](), None
        for x, y in zip(old.X, old.y, strict=True):
            self._add(x, float(y))

    def ask(self) -> Point:
        """The next point."""
        self._trial = self._study.ask(self._box)
        return [self._trial.params[name] for name in self._box]

    def tell(self, x: Point, y: float) -> None:
        """A value of the target."""
        if self._trial is None:
            self._add(x, y)
        else:
            self._study.tell(self._trial, y)
        self._own.append((y, x))
        self._trial = None

    def best(self) -> Point:
        """The point of the lowest value."""
        return min(self._own)[1]

    def _add(self, x: Any, y: float) -> None:
        params = dict(zip(self._box, map(float, x), strict=True))
        self._study.add_trial(self._create(params=params, distributions=self._box, value=y))


class Piped(WithNames):
    """A library in an environment of its own, at the other end of a pipe.

    Args:
        python: The interpreter of its environment.
        name: Of the peer, as `benchmarks.league.server.serve` knows it.
        old, d, seed: As of `Begin`.

    Raises:
        PeerError: At any call, if it fails.
    """

    def __init__(self, python: str | Path, name: str, old: Values, d: int, seed: int) -> None:
        self._names = [f"x{i}" for i in range(d)]
        space = {x: {"kind": "float", "low": 0.0, "high": 1.0} for x in self._names}
        rows = [[self._params(x), float(y)] for x, y in zip(old.X, old.y, strict=True)]
        self._process = PeerProcess(python, name)
        try:
            self._process.call("begin", space=space, direction="minimize", seed=seed, budget=MANY, old=rows)
        except BaseException:
            self._process.close()
            raise

    def ask(self) -> Point:
        """The next point."""
        return self._point(self._process.call("ask")["point"])

    def tell(self, x: Point, y: float) -> None:
        """A value of the target."""
        self._process.call("tell", point=self._params(x), value=y)

    def best(self) -> Point:
        """The point that it recommends."""
        return self._point(self._process.call("recommend")["point"])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.close()


PEERS: dict[str, Begin] = {
    ALONE: lambda old, d, seed: Ours(old, d, seed, "nothing"),
    OURS: lambda old, d, seed: Ours(old, d, seed, "source"),
    "pooled": lambda old, d, seed: Ours(old, d, seed, "pooled"),
    "MultiTaskGP, qLogNEI": MultiTask,
    "Optuna, add_trial": OptunaWarmStart,
}
