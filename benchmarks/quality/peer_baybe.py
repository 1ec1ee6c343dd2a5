"""BayBE's task parameter in an environment of its own: `python -m benchmarks.quality.peer_baybe`, by `PeerProcess`.

The campaign has a `TaskParameter` with two values, of which the target's is active, and BayBE's defaults otherwise.
"""

import warnings

import pandas as pd
import torch
from baybe import Campaign
from baybe.objectives import SingleTargetObjective
from baybe.parameters import NumericalContinuousParameter, TaskParameter
from baybe.recommenders import BotorchRecommender
from baybe.searchspace import SearchSpace
from baybe.targets import NumericalTarget

from benchmarks.quality.peer_process import serve


class BayBE:
    """A campaign that has the old study's values as those of another task."""

    def __init__(self, X: list[list[float]], y: list[float], d: int, seed: int) -> None:
        torch.set_num_threads(1)
        warnings.simplefilter("ignore")
        self._names, self._seed = [f"x{i}" for i in range(d)], seed
        box = [NumericalContinuousParameter(name=name, bounds=(0, 1)) for name in self._names]
        task = TaskParameter(name="task", values=["lab", "old"], active_values=["lab"])
        self._campaign = Campaign(
            SearchSpace.from_product([*box, task]),
            SingleTargetObjective(NumericalTarget(name="y", minimize=True)),
            BotorchRecommender(),
        )
        self._campaign.add_measurements(self._frame(X, "old").assign(y=y))
        self._own: list[list[float]] = []

    def ask(self) -> list[float]:
        """The next point."""
        torch.manual_seed(self._seed + len(self._own))
        return [float(value) for value in self._campaign.recommend(1)[self._names].iloc[0]]

    def tell(self, x: list[float], y: float) -> None:
        """A value of the target."""
        self._campaign.add_measurements(self._frame([x], "lab").assign(y=[y]))
        self._own.append(x)

    def best(self) -> list[float]:
        """The point of the lowest posterior mean."""
        means = self._campaign.posterior_stats(self._frame(self._own, "lab"), stats=["mean"])["y_mean"]
        return self._own[int(means.to_numpy().argmin())]

    def _frame(self, X: list[list[float]], task: str) -> pd.DataFrame:
        return pd.DataFrame(X, columns=self._names).assign(task=task)


if __name__ == "__main__":
    serve(BayBE)
