"""A cell of several outcomes whose trials BoTorch's own acquisition functions propose, on plain Gaussian processes.

As its tutorials have it: a `SingleTaskGP` an outcome, qLogNEHVI with the problem's reference point, or of one objective
qLogNEI, with the constraints as callables. It begins with the points that our own methods begin with. What it
recommends is what its processes say of the points measured, by their posterior means.
"""

from typing import Any

import torch
from botorch import fit_gpytorch_mll
from botorch.acquisition import AcquisitionFunction, qLogNoisyExpectedImprovement
from botorch.acquisition.multi_objective.logei import qLogNoisyExpectedHypervolumeImprovement
from botorch.acquisition.multi_objective.objective import IdentityMCMultiOutputObjective
from botorch.acquisition.objective import GenericMCObjective
from botorch.models import ModelListGP, SingleTaskGP
from botorch.optim import optimize_acqf
from botorch.sampling import SobolQMCNormalSampler
from gpytorch.mlls import SumMarginalLogLikelihood
from torch import Tensor

from robustbo import seeds
from robustbo.determinism.isolation import seed_everything
from robustbo.numerics.improvement.front import pareto_mask
from robustbo.replay.cells import peer
from robustbo.replay.cells.cell import Progress
from robustbo.replay.cells.optimization import OptimizationCell
from robustbo.replay.cells.peer import Proposal
from robustbo.replay.cells.recommendation import Recommended
from robustbo.searchspace.region.factory import region_of
from robustbo.searchspace.region.sampling import sobol_points

NUM_SAMPLES, NUM_RESTARTS, RAW_SAMPLES = 128, 10, 512  # as in BoTorch's tutorials
BATCH_LIMIT, MAXITER = 5, 200


def run(cell: OptimizationCell, progress: Progress) -> None:
    """Run a cell from its first trial to its last."""
    peer.run(cell, progress, BoTorch)


class BoTorch:
    """A process an outcome, in the unit cube and with larger always better."""

    def __init__(self, cell: OptimizationCell) -> None:
        self._cell, self._space, self._wanted = cell, cell.settings.space, cell.settings.outcomes
        self._bounds = [tuple(sorted((w.sign * w.low, w.sign * w.high))) for w in self._wanted]
        self._count = len(cell.settings.objectives)
        self._rows: list[list[float]] = []  # of all trials
        self._told: list[dict[str, float]] = []
        self._fitted: tuple[int, ModelListGP] | None = None

    def ask(self, number: int) -> Proposal:
        """One of the initial points; later the best by the acquisition function."""
        if number < self._cell.spec.num_initial:
            sobol = seeds.derive(self._cell.root, 0, "sobol")
            params, origin = sobol_points(region_of(self._space), sobol, number, 1)[0], "sobol"
        else:
            seed = seeds.derive(self._cell.root, number, "botorch")
            with seed_everything(seed):
                candidate, _ = optimize_acqf(
                    self._acquisition(seed),
                    torch.tensor([[0.0], [1.0]], dtype=torch.float64).repeat(1, len(self._space)),
                    q=1,
                    num_restarts=NUM_RESTARTS,
                    raw_samples=RAW_SAMPLES,
                    options={"batch_limit": BATCH_LIMIT, "maxiter": MAXITER},
                )
            params, origin = self._space.from_unit(candidate.squeeze(0).tolist()), "botorch"
        self._rows.append(list(self._space.to_unit(params)))
        self._told.append({})
        return Proposal(number, params, origin)

    def _acquisition(self, seed: int) -> AcquisitionFunction:
        shared = {
            "X_baseline": self._baseline,
            "sampler": SobolQMCNormalSampler(torch.Size([NUM_SAMPLES]), seed=seed % 2**31),
            "constraints": self._constraints() or None,
            "prune_baseline": True,
        }
        if self._count == 1:
            first = GenericMCObjective(lambda Y, X=None: Y[..., 0])
            return qLogNoisyExpectedImprovement(self._model(), objective=first, **shared)
        outcomes = IdentityMCMultiOutputObjective(outcomes=list(range(self._count)))
        reference = dict(self._cell.settings.reference_point)
        point = [w.sign * reference[w.name] for w in self._wanted if w.is_objective]
        return qLogNoisyExpectedHypervolumeImprovement(self._model(), ref_point=point, objective=outcomes, **shared)

    def _constraints(self) -> list[Any]:
        """Functions of samples of all outcomes that must not be positive."""
        low = [lambda Y, i=i, b=b: b - Y[..., i] for i, (b, _) in enumerate(self._bounds) if b > -torch.inf]
        return low + [lambda Y, i=i, b=b: Y[..., i] - b for i, (_, b) in enumerate(self._bounds) if b < torch.inf]

    @property
    def _baseline(self) -> Tensor:
        return torch.tensor([r for r, told in zip(self._rows, self._told, strict=True) if told], dtype=torch.float64)

    def _model(self) -> ModelListGP:
        """The processes, fitted to all values so far."""
        count = sum(map(bool, self._told))
        if self._fitted is None or self._fitted[0] != count:
            models = []
            for w in self._wanted:
                measured = [i for i, told in enumerate(self._told) if w.name in told]
                X = torch.tensor([self._rows[i] for i in measured], dtype=torch.float64)
                y = torch.tensor([[w.sign * self._told[i][w.name]] for i in measured], dtype=torch.float64)
                models.append(SingleTaskGP(X, y))
            model = ModelListGP(*models)
            with seed_everything(seeds.derive(self._cell.root, count, "botorch fit")):
                fit_gpytorch_mll(SumMarginalLogLikelihood(model.likelihood, model))
            self._fitted = count, model
        return self._fitted[1]

    def tell(self, handle: int, value: dict[str, float]) -> None:
        """Keep the values."""
        self._told[handle] = dict(value)

    def fail(self, handle: int) -> None:
        """Keep nothing."""

    def recommendation(self, is_last: bool) -> Recommended:
        """Front, by posterior means, of the measured points that keep the constraints; of one objective the best.

        Where no point keeps them the front is empty; of one objective it is then the point most likely to.
        """
        numbers = [i for i, told in enumerate(self._told) if told]
        with torch.no_grad():
            posterior = self._model().posterior(self._baseline)
            mean, sd = posterior.mean, posterior.variance.clamp_min(1e-300).sqrt()
        bounds = torch.tensor(self._bounds, dtype=torch.float64)
        keeps = ((bounds[:, 0] <= mean) & (mean <= bounds[:, 1])).all(-1)
        Y = mean[:, : self._count]
        if self._count > 1:
            feasible = keeps.nonzero().squeeze(-1)
            return [numbers[int(i)] for i in feasible[pareto_mask(Y[feasible])]] if len(feasible) else []
        below, above = (torch.special.ndtr((bounds[:, i] - mean) / sd) for i in (0, 1))
        chance = (above - below).clamp_min(0).prod(-1)
        return numbers[int((torch.where(keeps, Y.squeeze(-1), -torch.inf) if keeps.any() else chance).argmax())]

    def flags(self) -> list[int]:
        """Plain processes call no value wrong."""
        return []
