"""A network whose training runs out of memory, minimized: its validation loss, synthetic and smooth.

The loss falls with width and depth far beyond what fits in memory, and its best learning rate falls with them too. With
u = log2(width / 384), v = log2(depth / 10) and t = log10(learning_rate / (0.00316 2^(-(u + v) / 2))) it is

    0.06 + 0.02 u^2 + 0.03 v^2 + 0.08 t^2 (1 + tanh(2 t) / 2),

so that too large a learning rate costs more than one as much too small. The best there is, 0.06 at 384 x 10, lies well
inside the region "out-of-memory", width x depth > 1,500; the best that fits, 0.0822, lies at its boundary, at 214 x 7.
"""

import math
from collections.abc import Mapping
from typing import Any

from robustbo.searchspace.parameters import Float, Int
from robustbo.searchspace.space import Space
from robustbo.tasks.problem import Problem

WIDTH, DEPTH, RATE = 384, 10, 10**-2.5  # of the best there is
FITS = 1500  # width x depth


def validation_loss(params: Mapping[str, Any]) -> float:
    """The loss of a width, a depth and a learning rate, whether or not they fit."""
    u, v = math.log2(params["width"] / WIDTH), math.log2(params["depth"] / DEPTH)
    t = math.log10(params["learning_rate"] / RATE) + (u + v) / 2 * math.log10(2)
    return 0.06 + 0.02 * u**2 + 0.03 * v**2 + 0.08 * t**2 * (1 + math.tanh(2 * t) / 2)


def is_out_of_memory(params: Mapping[str, Any]) -> bool:
    """Return whether the network does not fit into memory."""
    return params["width"] * params["depth"] > FITS


out_of_memory = Problem(
    name="out-of-memory",
    space=Space(width=Int(16, 1024, log=True), depth=Int(1, 16), learning_rate=Float(1e-4, 1e-1, log=True)),
    direction="minimize",
    objective=validation_loss,
    optimum=0.06,
    optimizer={"width": WIDTH, "depth": DEPTH, "learning_rate": RATE},
    cost_s=1e-5,
    reference="synthetic",
    regions={"out-of-memory": is_out_of_memory},
)
