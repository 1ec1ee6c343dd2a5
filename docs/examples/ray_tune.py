"""Ray Tune with our sampler: thirty trials, two at a time, of which some die and three give a wrong value.

pip install "robustbo[optuna]" "ray[tune]"
python ray_tune.py
"""

import math
from pathlib import Path

import optuna
from ray import tune
from ray.tune.search import ConcurrencyLimiter
from ray.tune.search.optuna import OptunaSearch

from robustbo.optuna import RobustSampler, best, failures, outliers

WRONG = {8, 14, 21}  # of Ray's numbers of trials, which begin at 1


def train(config):
    if config["batch"] * config["width"] > 12_000:
        raise MemoryError("out of memory")
    loss = (config["width"] / 100 - 1.7) ** 2 + (math.log10(config["lr"]) + 2) ** 2 + 1 / config["batch"]
    if int(Path(tune.get_context().get_trial_dir()).name.split("_")[2]) in WRONG:
        loss = -50.0  # a job that read another's result
    tune.report({"loss": loss})


storage = optuna.storages.InMemoryStorage()
search = OptunaSearch(sampler=RobustSampler(seed=0), storage=storage, study_name="net", metric="loss", mode="min")
tuner = tune.Tuner(
    train,
    param_space={
        "lr": tune.loguniform(1e-4, 1e-1),
        "width": tune.randint(16, 512),
        "batch": tune.choice([16, 32, 64]),
    },
    tune_config=tune.TuneConfig(search_alg=ConcurrencyLimiter(search, max_concurrent=2), num_samples=30),
)
results = tuner.fit()
study = optuna.load_study(study_name="net", storage=storage, sampler=search._sampler)

print("Ray's best:", results.get_best_result(metric="loss", mode="min").metrics["loss"])
print("The best that is believed:", best(study))
print("What looks wrong:", sorted(outliers(study).query("flagged").index))
print("What died:", len(failures(study)), "of", len(study.trials))
