"""Branin with two values that are wrong and one trial that dies.

From the root of the registry: python package/samplers/robustbo/example.py
"""

from __future__ import annotations

import math

import optuna
import optunahub
from robustbo.optuna import best
from robustbo.optuna import outliers


def objective(trial: optuna.Trial) -> float:
    x = trial.suggest_float("x", -5, 10)
    y = trial.suggest_float("y", 0, 15)
    if trial.number == 9:
        raise RuntimeError("the rig has stopped")
    if trial.number in (7, 12):
        return -1000.0  # a sensor that was off
    a = y - 5.1 / (4 * math.pi**2) * x**2 + 5 / math.pi * x - 6
    return a**2 + 10 * (1 - 1 / (8 * math.pi)) * math.cos(x) + 10


# From OptunaHub: optunahub.load_module("samplers/robustbo")
module = optunahub.load_local_module("samplers/robustbo", registry_root="./package")
study = optuna.create_study(sampler=module.RobustSampler(seed=0))
study.optimize(objective, n_trials=25, catch=RuntimeError)

print("Optuna's best value:", study.best_value)
print("The best that is believed:", best(study))
print("What looks wrong:", [*outliers(study).query("flagged").index])
