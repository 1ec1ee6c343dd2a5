"""The reference cases of `tests/fixtures`, made by independent programs; see docs/equations.md."""

import json
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor

from robustbo.numerics.gp.kernels import KERNELS, Kernel, squared_differences
from robustbo.numerics.student_t.laplace import Noise

FILES = sorted((Path(__file__).parents[2] / "fixtures").glob("student_t_laplace_*.json"))
NAMES = [file.stem.removeprefix("student_t_laplace_") for file in FILES]


class Case(NamedTuple):
    content: dict
    X: Tensor
    X_test: Tensor
    y: Tensor
    m: Tensor
    noise: Noise
    l: Tensor
    s2f: Tensor

    def kernel(self, X: Tensor, Z: Tensor) -> Kernel:
        return KERNELS[self.content["kernel"]["name"]](squared_differences(X, Z), self.l, self.s2f)

    @property
    def K(self) -> Tensor:
        return self.kernel(self.X, self.X).K


def load(name: str) -> Case:
    content = json.loads(FILES[NAMES.index(name)].read_text())

    def number(value):
        return torch.tensor(value, dtype=torch.float64)

    kernel, noise = content["kernel"], content["likelihood"]
    X, X_test = (number(content[key]) for key in ("X", "X_test"))
    return Case(
        content,
        X,
        X_test,
        number(content["y"]),
        number(content.get("mean", 0.0)),
        Noise(number(noise["sigma2"]), number(noise["nu"])),
        number(kernel["lengthscales"]),
        number(kernel["variance"]),
    )
