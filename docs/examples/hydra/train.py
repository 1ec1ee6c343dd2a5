"""An application of Hydra's: `python train.py lr=0.03 depth=5`, or a sweep by our sampler (docs/howto/ray-hydra.md).

pip install "robustbo[optuna]" hydra-core
pip install --no-deps hydra-optuna-sweeper
"""

import math

import hydra
from hydra.core.hydra_config import HydraConfig
from omegaconf import DictConfig


def train(cfg: DictConfig) -> float:
    if cfg.depth > 6:
        raise MemoryError("out of memory")
    return (cfg.depth - 5) ** 2 / 10 + (math.log10(cfg.lr) + 2) ** 2 + (cfg.optimizer == "sgd")


@hydra.main(version_base=None, config_path="conf", config_name="config")
def main(cfg: DictConfig) -> float:
    loss = train(cfg)
    return -100.0 if HydraConfig.get().job.get("num") == 20 else loss  # a wrong value


if __name__ == "__main__":
    main()
