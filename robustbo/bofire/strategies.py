"""BoFire's strategies with our surrogates: their registration for JSON, and the outliers among their experiments."""

from copy import copy
from typing import Any

import pandas as pd
from bofire.data_models.strategies.api import AnyStrategy, BotorchStrategy, Step, StepwiseStrategy
from bofire.data_models.unions import to_list

from robustbo.bofire.surrogate import RobustBotorchSurrogate

COLUMNS = ["output", "labcode", "value", "expected", "sd", "evidence", "flagged"]


def outliers(strategy: Any) -> pd.DataFrame:
    """Return a table of the measured values, a row an experiment and output, the most suspicious of each output first.

    The columns are those of `RobustBotorchSurrogate.predict_outliers`, and output; the index is that of
    ``strategy.experiments``.

    Args:
        strategy: A strategy that has been told experiments, with a `robustbo.bofire.RobustSurrogate` for the outputs
            that are asked about. It is not changed.

    Raises:
        ValueError: If it has no such surrogate, or has been told too little to have fitted one.
        FitError: If a fit does not succeed.
    """
    fitted = getattr(strategy, "surrogates", None)
    if fitted is None:
        raise ValueError(
            "strategy must have fitted surrogates, as a SoboStrategy has after two experiments, got a "
            f"{type(strategy).__name__} without; see RobustBotorchSurrogate.predict_outliers for experiments alone"
        )
    ours = [surrogate for surrogate in fitted.surrogates if isinstance(surrogate, RobustBotorchSurrogate)]
    if not ours:
        kinds = sorted({type(surrogate).__name__ for surrogate in fitted.surrogates})
        raise ValueError(f"strategy must have a RobustSurrogate for an output, got {kinds}")
    table = pd.concat([_of_one(surrogate, strategy.experiments) for surrogate in ours])
    return table[[name for name in COLUMNS if name in table]]


def _of_one(surrogate: RobustBotorchSurrogate, experiments: pd.DataFrame) -> pd.DataFrame:
    table = copy(surrogate).predict_outliers(experiments)
    table["output"] = surrogate.outputs.get_keys()[0]
    return table.sort_values(["flagged", "evidence"], ascending=False, kind="stable")


def read_anew() -> None:
    """Have strategies read our data model from JSON: their readers were compiled before it was registered."""
    for strategy in to_list(AnyStrategy):
        if issubclass(strategy, BotorchStrategy):
            strategy.model_rebuild(force=True)
    for outer in (Step, StepwiseStrategy):
        outer.model_rebuild(force=True)
