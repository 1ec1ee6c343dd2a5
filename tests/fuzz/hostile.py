"""What hostile people and broken instruments give to an optimizer, for hypothesis to choose from."""

import math

import numpy as np
import pandas as pd
import torch
from hypothesis import strategies as st

import robustbo as rb
from robustbo.surrogates.registry import SURROGATES

# A baseline of BoTorch's or GPyTorch's takes seconds a fit, and is drawn seldom; the default is what most people use.
SLOW = ("botorch-relevance-pursuit", "student-t-variational", "laplace-variational", "huber", "huber-projection")
USUAL = [name for name in SURROGATES if name not in SLOW]
surrogates = st.sampled_from([*["auto"] * 24, *["standard"] * 6, *USUAL * 6, *SLOW])

# ---------------------------------------------------------------- numbers

HUGE = 1.7e308
exponents = st.integers(-300, 300)


def power(exponent, digits, sign):
    """sign * digits * 10^exponent."""
    return sign * digits * 10.0**exponent


wild = st.builds(power, exponents, st.sampled_from([1.0, 2.5, 9.9]), st.sampled_from([1, -1]))
tame = st.floats(-1e3, 1e3).map(lambda value: round(value, 3))
ties = st.sampled_from([0.0, 1.0, -1.0, 0.5])
edges = st.sampled_from([-0.0, 5e-324, -5e-324, HUGE, -HUGE, 1e16, 1e16 + 2, 1 + 2**-52])
finite = st.one_of(tame, tame, tame, ties, ties, wild, edges)
not_finite = st.sampled_from([math.nan, math.inf, -math.inf])


def _float32(value):
    with np.errstate(over="ignore"):
        return np.float32(value)


TYPES = (
    float,
    float,
    float,
    np.float64,
    _float32,
    np.array,
    torch.tensor,
    lambda value: pd.Series([value]).iloc[0],
    lambda value: int(value) if math.isfinite(value) else value,
)


def typed(numbers, kinds=TYPES):
    """Numbers as people's libraries give them."""
    return st.builds(lambda kind, value: kind(value), st.sampled_from(kinds), numbers)


values = typed(st.one_of(finite, finite, finite, finite, finite, finite, finite, not_finite))
no_numbers = st.sampled_from([None, "1.0", [1.0], {}, 1j, pd.NA, True, np.array([1.0, 2.0]), b"1", object()])
sds = typed(st.sampled_from([0.0, 0.0, 1e-300, 1e-9, 0.01, 1.0, 30.0, 1e100, 1e200]), [float, np.float64, np.array])
no_sds = st.sampled_from([-1.0, -1e-300, math.nan, math.inf, "0.1", True, [0.1]])
SD_KINDS = ("never", "never", "always", "zero", "sometimes")

# ---------------------------------------------------------------- spaces

names = st.sampled_from(
    ["x", "y", "trial", "value", "sd", "state", "learning rate", "β", "a/b", "<b>", "0", "\x1b[31m"]
)


@st.composite
def floats(draw):
    """A real parameter, of any width anywhere."""
    if draw(st.booleans()):
        return rb.Float(0.0, 1.0)
    if draw(st.booleans()):
        low, ratio = 10.0 ** draw(st.integers(-300, 200)), 10.0 ** draw(st.integers(1, 100))
        return rb.Float(low, low * ratio, log=True)
    low, width = draw(st.one_of(tame, wild)), abs(draw(st.one_of(tame, wild)))
    try:
        return rb.Float(low, low + width)  # of one value where nothing fits in between
    except rb.SpaceError:  # too wide
        return rb.Float(0.0, abs(low) + 1.0)


@st.composite
def integers(draw):
    """A whole parameter, of two values or of very many."""
    low = draw(st.sampled_from([0, 1, -5, -(2**44)]))
    high = low + draw(st.sampled_from([1, 2, 7, 1001, 2**44]))
    return rb.Int(low, high, log=low >= 1 and draw(st.booleans()))


choices = st.lists(
    st.sampled_from(["a", "b", "", "A", 1, 2.5, True, False, None, "None", "1"]),
    min_size=2,
    max_size=5,
    unique_by=lambda value: (isinstance(value, bool), value),
).map(lambda kinds: rb.Choice(*kinds))
parameters = st.one_of(floats(), floats(), floats(), floats(), integers(), choices)


@st.composite
def spaces(draw):
    """A search space of 1 to 12 parameters, of few more often than of many."""
    most = draw(st.sampled_from([1, 1, 2, 2, 3, 5, 12]))
    found = draw(st.lists(names, min_size=1, max_size=most, unique=True))
    made = {name: draw(parameters) for name in found}
    if all(parameter.count == 1 for parameter in made.values()):  # which is no space
        made[found[0]] = rb.Float(0.0, 1.0)
    return rb.Space(**made)


settings = st.fixed_dictionaries(
    {
        "direction": st.sampled_from(["minimize", "maximize"]),
        "surrogate": surrogates,
        "acquisition": st.sampled_from(["auto"] * 6 + ["qLogNEI", "qLogEI", "LogEI", "sobol"]),
        "num_initial": st.sampled_from([1, 1, 2, 3, 5]),
        "replicate": st.sampled_from(["flagged", "flagged", "any", "never"]),
        "quarantine": st.booleans(),
        "seed": st.integers(0, 2**31 - 1),
    }
)


def corner(space, bits):
    """A corner of a space, or near one."""
    return space.from_unit([float(bits >> i & 1) for i in range(len(space))])


@st.composite
def points(draw, space):
    """A point of a space: a corner, near another, anywhere."""
    kind = draw(st.sampled_from(["corner", "anywhere", "anywhere", "grid", "near"]))
    if kind == "corner":
        return corner(space, draw(st.integers(0, 2 ** len(space) - 1)))
    if kind == "grid":
        units = [draw(st.sampled_from([0.0, 0.25, 0.5, 1.0])) for _ in range(len(space))]
    elif kind == "near":
        units = [0.5 + draw(st.sampled_from([0.0, 1e-11, 1e-9, 1e-6])) for _ in range(len(space))]
    else:
        units = [draw(st.floats(0, 1)) for _ in range(len(space))]
    return space.from_unit(units)


def is_in(space, params):
    """Whether a point is one of a space: each parameter there, of its type, within its bounds."""
    if list(params) != [name for name, _ in space.parameters]:
        return False
    for name, parameter in space.parameters:
        value = params[name]
        if isinstance(parameter, rb.Choice):
            if not any(value == v and type(value) is type(v) for v in parameter.values):
                return False
        elif (
            type(value) is not (int if isinstance(parameter, rb.Int) else float)
            or not parameter.low <= value <= parameter.high
        ):
            return False
    return True
