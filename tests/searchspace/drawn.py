"""Random parameters of each kind."""

import random
from typing import Any

import robustbo as rb
from robustbo.searchspace.parameters import Parameter

WORDS = ("a", "b", "c", True, None, 1)


def real(rng: random.Random, **when: Any) -> rb.Float:
    """A Float of some scale."""
    low = round(rng.uniform(-10.0, 10.0), 2)
    match rng.randrange(4):
        case 0:
            return rb.Float(10.0 ** rng.randint(-6, 0), 10.0 ** rng.randint(1, 4), log=True, **when)
        case 1:
            step = rng.choice((0.1, 0.25, 0.3, 5.0))
            return rb.Float(low, low + step * rng.randint(2, 30), step=step, **when)
        case 2:
            return rb.Float(0, 1, **when)
    return rb.Float(low, low + 10.0 ** rng.randint(-2, 3), **when)


def whole(rng: random.Random, **when: Any) -> rb.Int:
    """An Int, with few values or very many."""
    low = rng.randint(-5, 20)
    match rng.randrange(4):
        case 0:
            return rb.Int(1, rng.choice((8, 300, 5000)), log=True, **when)
        case 1:
            step = rng.randint(2, 7)
            return rb.Int(low, low + step * rng.randint(1, 12), step=step, **when)
        case 2:
            return rb.Int(low, low + rng.choice((1500, 10**6)), **when)
    return rb.Int(low, low + rng.randint(1, 9), **when)


def listed(rng: random.Random, **when: Any) -> rb.Ordinal | rb.Choice:
    """An Ordinal of numbers or words, or a Choice."""
    match rng.randrange(4):
        case 0:
            return rb.Ordinal(*sorted(rng.sample((0.1, 0.2, 0.5, 1, 2, 5.5, 10), rng.randint(2, 5))), **when)
        case 1:
            return rb.Ordinal(1, 10, 100, 1000, log=True, **when)
        case 2:
            return rb.Ordinal("low", "medium", "high", **when)
    return rb.Choice(*rng.sample(WORDS, rng.randint(2, 5)), **when)


def single(rng: random.Random, **when: Any) -> Parameter:
    """A parameter of one value."""
    return rng.choice((rb.Float(0.5, 0.5, **when), rb.Int(3, 3, **when), rb.Choice("z", **when), rb.Ordinal(7, **when)))


def any_parameter(rng: random.Random, **when: Any) -> Parameter:
    """A parameter of any kind."""
    return rng.choice((real, real, whole, listed, listed, single))(rng, **when)
