"""Inside Optuna: a sampler that believes no single value, and its word on what a study has measured.

    study = optuna.create_study(sampler=RobustSampler(seed=0))
    study.optimize(objective, n_trials=50)
    best(study), outliers(study)

`best`, `front` (of several objectives), `outliers` and the others take a study of any sampler's.
"""

from robustbo.optuna.front import FrontTrial, front
from robustbo.optuna.notes import SD, SOURCE
from robustbo.optuna.old_studies import OldStudy
from robustbo.optuna.sampler import RobustSampler
from robustbo.optuna.sources import sources
from robustbo.optuna.study import Best, amend, best, exclude, failures, include, next_repeat, next_replicate, outliers

__all__ = [
    "SD",
    "SOURCE",
    "Best",
    "FrontTrial",
    "OldStudy",
    "RobustSampler",
    "amend",
    "best",
    "exclude",
    "failures",
    "front",
    "include",
    "next_repeat",
    "next_replicate",
    "outliers",
    "sources",
]
