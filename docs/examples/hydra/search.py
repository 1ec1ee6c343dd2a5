"""Our sampler over an application of Hydra's: each trial composes the configuration with the values it has chosen.

pip install "robustbo[optuna]" hydra-core
python search.py
"""

import optuna
from hydra import compose, initialize
from omegaconf import DictConfig
from train import train

from robustbo.optuna import RobustSampler, best, failures, outliers


def suggest(trial: optuna.Trial, name: str, how: DictConfig | list) -> object:
    if not isinstance(how, DictConfig):
        return trial.suggest_categorical(name, list(how))
    is_int = isinstance(how.low, int) and isinstance(how.high, int)
    return (trial.suggest_int if is_int else trial.suggest_float)(name, **how)


def objective(trial: optuna.Trial) -> float:
    space = compose("config").search
    cfg = compose("config", overrides=[f"{name}={suggest(trial, name, how)!r}" for name, how in space.items()])
    loss = train(cfg)
    return -100.0 if trial.number == 13 else loss  # a wrong value


with initialize(version_base=None, config_path="conf"):
    study = optuna.create_study(sampler=RobustSampler(seed=0))
    study.optimize(objective, n_trials=30, catch=MemoryError)

print("Optuna's best value:", study.best_value)
print("The best that is believed:", best(study))
print("What looks wrong:", sorted(outliers(study).query("flagged").index))
print("What died:", [study.trials[number].params["depth"] for number in failures(study).index])
