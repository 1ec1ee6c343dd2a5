"""Tuning the training of a small convolutional network on handwritten digits, maximized: the test accuracy.

One pass of stochastic gradient descent whose learning rate is multiplied by gamma once every so many batches. Good
parameters reach an accuracy of 0.92 with the preset "small" (0.90 by 50 quasi-random trials); many are as bad as
guessing.

References:
    Ament et al. (2024), relevance pursuit, appendix on real-world problems, for parameters, ranges and failures; the
    network and the schedule are not stated there, and ours.
"""

from collections.abc import Mapping
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from robustbo.determinism.isolation import seed_everything
from robustbo.determinism.surroundings import pin_surroundings
from robustbo.searchspace.parameters import Float, Int
from robustbo.searchspace.space import Space
from robustbo.tasks.problem import Problem
from robustbo.validation import whole_number
from robustbo_problems.mnist import mnist

MEAN, SD = 0.1307, 0.3081  # of the training images' pixels in [0, 1]
FEWEST, MOST, OF = 100, 1000, 1875  # batches that are left when reading fails, of a pass through all; the paper's
SPACE = Space(
    learning_rate=Float(1e-4, 1e-1),
    momentum=Float(0.0, 1.0),
    weight_decay=Float(0.0, 1.0),
    step_size=Int(1, 100),
    gamma=Float(0.0, 1.0),
)


class Preset(NamedTuple):
    """The amount of digits to use.

    Attributes:
        batches: Of training images in a pass.
        size: Images a batch.
        tests: Test images.
        channels: Of the two convolutions.
        cost_s: Seconds of an evaluation on one core.
    """

    batches: int
    size: int
    tests: int
    channels: tuple[int, int]
    cost_s: float | None = None


class Digits(NamedTuple):
    """Standardized images and their digits, on the device that does the work."""

    X: Tensor
    y: Tensor
    X_test: Tensor
    y_test: Tensor


PRESETS = {"small": Preset(128, 32, 2000, (8, 16), 0.9), "paper": Preset(1875, 32, 10_000, (16, 32))}
BEST_SEEN = {
    "small": (
        0.9355,
        {
            "learning_rate": 0.0893660990592,
            "momentum": 0.56478911366,
            "weight_decay": 0.0,
            "step_size": 43,
            "gamma": 1.0,
        },
    )
}


def cnn(preset: str = "small", seed: int = 0) -> Problem:
    """The problem; runs on a GPU where there is one.

    Args:
        preset: "small" (128 batches of 32 images) or "paper" (all 60,000 images).
        seed: Of the weights and of the images' order: the same seed, the same value (on the same kind of machine).

    Raises:
        ValueError: If there is no such preset.
    """
    if preset not in PRESETS:
        raise ValueError(f"preset must be one of {sorted(PRESETS)}, got {preset!r}")
    settings, seed = PRESETS[preset], whole_number("seed", seed, 0)
    value, point = BEST_SEEN.get(preset, (None, None)) if seed == 0 else (None, None)
    return Problem(
        name="cnn",
        space=SPACE,
        direction="maximize",
        objective=partial(accuracy, settings, seed),
        best_seen=value,
        best_seen_at=point,
        cost_s=settings.cost_s,
        reference="Ament et al. (2024), appendix; MNIST (LeCun, Cortes and Burges)",
        failures={"io-failure": partial(io_failure, settings, seed)},
    )


@pin_surroundings
def accuracy(preset: Preset, seed: int, params: Mapping[str, Any], batches: int | None = None) -> float:
    """The share of test digits that are recognized after training on the first so many batches, or on all."""
    data = digits(preset)
    exact = torch.backends.cudnn.flags(enabled=True, deterministic=True, benchmark=False)
    with seed_everything(seed), torch.enable_grad(), exact:
        net = network(preset.channels).to(data.X)
        order = torch.randperm(len(data.X)).view(preset.batches, preset.size)[:batches]
        train(net, data, order.to(data.y.device), params)
        with torch.no_grad():
            return (net(data.X_test).argmax(1) == data.y_test).double().mean().item()


def io_failure(preset: Preset, seed: int, params: Mapping[str, Any], generator: np.random.Generator) -> float:
    """The accuracy where only U[100, 1000] of 1875 batches could be read, or as large a share of fewer."""
    count = int(generator.integers(FEWEST, MOST + 1))
    return accuracy(preset, seed, params, max(1, round(count * preset.batches / OF)))


def train(net: nn.Module, data: Digits, order: Tensor, params: Mapping[str, Any]) -> None:
    """One pass through ``batches x size`` rows of the training data."""
    optimizer = torch.optim.SGD(
        net.parameters(),
        lr=params["learning_rate"],
        momentum=params["momentum"],
        weight_decay=params["weight_decay"],
    )
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, params["step_size"], params["gamma"])
    for rows in order:
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(data.X[rows]), data.y[rows]).backward()
        optimizer.step()
        schedule.step()


def network(channels: tuple[int, int]) -> nn.Sequential:
    """Two convolutions with pooling, and two linear layers: from ``n x 1 x 28 x 28`` to ``n x 10``."""
    first, second = channels
    return nn.Sequential(
        *(nn.Conv2d(1, first, 5, dtype=torch.float32), nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.Conv2d(first, second, 5, dtype=torch.float32), nn.ReLU(), nn.MaxPool2d(2)),
        nn.Flatten(),
        *(nn.Linear(16 * second, 64, dtype=torch.float32), nn.ReLU(), nn.Linear(64, 10, dtype=torch.float32)),
    )


@lru_cache(maxsize=2)
def digits(preset: Preset) -> Digits:
    """The first images of a preset; the rest of the training set is not used.

    Raises:
        DataError: If they cannot be had.
    """
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    images, n = mnist(), preset.batches * preset.size
    X, y = _tensors(images.X[:n], images.y[:n], device)
    return Digits(X, y, *_tensors(images.X_test[: preset.tests], images.y_test[: preset.tests], device))


def _tensors(images: np.ndarray, labels: np.ndarray, device: torch.device) -> tuple[Tensor, Tensor]:
    pixels = torch.from_numpy(images.astype(np.float32) / 255).unsqueeze(1)
    return ((pixels - MEAN) / SD).to(device), torch.from_numpy(labels.astype(np.int64)).to(device)
