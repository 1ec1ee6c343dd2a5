"""Random spaces of all kinds, each with a point that keeps its constraints, so that none of them is empty."""

import random
from collections.abc import Callable
from typing import Any, NamedTuple

import pandas as pd

import robustbo as rb
from robustbo.searchspace.constraints.constraint import parse
from robustbo.searchspace.parameters import Parameter
from tests.searchspace.drawn import any_parameter, listed, real, single, whole

NAMES = ("x", "y", "share a", "n", "größe", "k_2", "lambda", "w")  # some are no identifiers
Point = dict[str, Any]


class Made(NamedTuple):
    """A space.

    Attributes:
        kind: One of `KINDS`.
        space: It.
        witness: A point of it that keeps its constraints.
        fixed: Values of some parameters that the point has too; often none.
    """

    kind: str
    space: rb.Space
    witness: Point
    fixed: Point


def made(rng: random.Random, kind: str | None = None) -> Made:
    """A random space, of a given kind or of any."""
    kind = rng.choice(list(KINDS)) if kind is None else kind
    space, witness = KINDS[kind](rng)
    return Made(kind, space, witness, _fixed(rng, space, witness))


def _fixed(rng: random.Random, space: rb.Space, witness: Point) -> Point:
    names = [name for name in witness if rng.random() < 0.5][: rng.choice((0, 0, 1, 2))]
    needed = dict(space.parameters)
    while more := [o for n in names for o, _ in needed[n].condition if o not in names]:
        names += more
    return {name: witness[name] for name in witness if name in names}


def space_of(parameters: dict[str, Parameter], texts: list[str]) -> rb.Space:
    """A space of parameters with any names."""
    return rb.Space.from_dict(parameters, texts)


def _drawn(rng: random.Random, space: rb.Space) -> Point:
    return space.from_unit([rng.random() for _ in space.names])


def _plain(rng: random.Random) -> tuple[rb.Space, Point]:
    names = rng.sample(NAMES, rng.randint(1, 5))
    parameters: dict[str, Parameter] = {name: any_parameter(rng) for name in names}
    parameters[names[0]] = rng.choice((real, whole, listed))(rng)
    space = space_of(parameters, [])
    return space, _drawn(rng, space)


def _conditional(rng: random.Random) -> tuple[rb.Space, Point]:
    """Conditions two deep, and now and then a constraint on what may be absent."""
    names = rng.sample(NAMES, rng.randint(3, 5))
    root = rng.choice((rb.Choice("tree", "dart", True), rb.Int(0, 3), rb.Ordinal(1, 2, 4), rb.Ordinal("s", "m")))
    values = [root.nth(k) for k in range(root.count or 1)]
    when = {names[0]: rng.sample(values, rng.randint(1, len(values) - 1))}
    parameters: dict[str, Parameter] = {names[0]: root, names[1]: rb.Choice("p", "q", when=when)}
    for name in names[2:]:
        deep = rng.choice((when, {names[1]: "q"}, None))
        parameters[name] = any_parameter(rng, when=deep)
    order = rng.sample(list(parameters), len(parameters))
    space = space_of({name: parameters[name] for name in order}, [])
    witness = _drawn(rng, space)
    texts = _inequalities(rng, parameters, witness, 1) if rng.random() < 0.5 else []
    return space_of(dict(space.parameters), texts), witness


def _numbers(rng: random.Random, count: int) -> dict[str, Parameter]:
    names = rng.sample(NAMES, count)
    kinds = (real, real, real, whole, whole, lambda r: rb.Ordinal(0.5, 1, 2, 8))
    return {name: rng.choice(kinds)(rng) for name in names}


def _term(rng: random.Random, name: str, parameter: Parameter) -> str:
    """A parameter in an expression, in the size of 1."""
    low, high = parameter.interval or (0.0, 1.0)
    return f"{rng.choice((-2.0, -1.0, 0.5, 1.0, 3.0))} * (`{name}` - {low!r}) / {high - low or 1.0!r}"


def _nonlinear(rng: random.Random, name: str, other: str, parameters: dict[str, Parameter]) -> str:
    a, b = (_term(rng, each, parameters[each]) for each in (name, other))
    return rng.choice((f"({a} - 0.3)**2 + ({b} + 0.4)**2", f"({a}) * ({b})", f"({a}) / (4 + {b})", f"{a} + ({b})**3"))


def _inequalities(
    rng: random.Random, parameters: dict[str, Parameter], witness: Point, count: int, *, curved: bool = False
) -> list[str]:
    """Texts that a point keeps, some of them chains."""
    names = [n for n, p in parameters.items() if p.interval is not None and p.count != 1]
    texts = []
    for _ in range(count if names else 0):
        chosen = rng.sample(names, rng.randint(1, min(3, len(names))))
        left = " + ".join(_term(rng, name, parameters[name]) for name in chosen)
        if curved and len(chosen) > 1:
            left = _nonlinear(rng, *chosen[:2], parameters)
        (there,) = parse(f"{left} <= 0", names)
        held = set(there.names) <= set(witness)
        value = float(there.excess(witness)) if held else 0.0
        below, above = (rng.choice((0.02, 0.1, 0.5)) for _ in range(2))
        texts.append(
            rng.choice(
                (
                    f"{left} <= {value + above!r}",
                    f"{value - below!r} <= {left}",
                    f"{value - below!r} <= {left} <= {value + above!r}",
                )
            )
        )
    return texts


def _restricted(rng: random.Random, *, curved: bool) -> tuple[rb.Space, Point]:
    parameters = _numbers(rng, rng.randint(2, 4))
    if rng.random() < 0.5:
        parameters |= {"choice": rb.Choice("a", "b", "c"), "one": single(rng)}
    space = space_of(parameters, [])
    witness = _drawn(rng, space)
    return space_of(parameters, _inequalities(rng, parameters, witness, rng.randint(1, 3), curved=curved)), witness


def _mixture(rng: random.Random) -> tuple[rb.Space, Point]:
    """Parts that add up to one, with something beside them."""
    names = rng.sample(NAMES, rng.randint(3, 5))
    *parts, rest = names
    weights = [rng.uniform(0.05, 1.0) for _ in parts]
    step = rng.choice((None, None, 0.05))
    if step is None:
        shares = [round(w / sum(weights), 6) for w in weights[1:]]
        shares = [round(1 - sum(shares), 6), *shares]
        parameters: dict[str, Parameter] = {name: rb.Float(0, 1) for name in parts}
        parameters[parts[0]] = rb.Float(0, rng.choice((1, max(shares[0] + 0.02, 0.6))))
    else:
        counts = [rng.randint(0, 20 // len(parts)) for _ in parts[1:]]
        shares = [round(step * count, 10) for count in (20 - sum(counts), *counts)]
        parameters = {name: rb.Float(0, 1, step=step) for name in parts}
    parameters[rest] = rng.choice((real, listed))(rng)
    space = space_of(parameters, [])
    witness = space.validate(_drawn(rng, space) | dict(zip(parts, shares, strict=True)))
    texts = [" + ".join(f"`{name}`" for name in parts) + " == 1"]
    if rng.random() < 0.5:
        texts += _inequalities(rng, {name: parameters[name] for name in parts}, witness, 1)
    return space_of(parameters, texts), witness


def _equation(rng: random.Random) -> tuple[rb.Space, Point]:
    """Linear equations with any coefficients, some of them two at once."""
    names = rng.sample(NAMES, rng.randint(3, 5))
    parameters: dict[str, Parameter] = {name: rb.Float(-1, rng.choice((1, 5))) for name in names[:3]}
    parameters |= {name: rng.choice((whole, listed))(rng) for name in names[3:]}
    space = space_of(parameters, [])
    witness = _drawn(rng, space)
    texts = []
    for pair in ((0, 1), (1, 2))[: rng.randint(1, 2)]:
        a, b = (names[i] for i in pair)
        c = rng.choice((0.5, 1.0, 2.0, -3.0))
        value = witness[a] + c * witness[b]
        texts.append(f"`{a}` + {c} * `{b}` == {value!r}")
    return space_of(parameters, texts), witness


def _integers(rng: random.Random) -> tuple[rb.Space, Point]:
    """Whole numbers that add up."""
    names = rng.sample(NAMES, rng.randint(2, 4))
    parameters: dict[str, Parameter] = {name: rb.Int(0, rng.choice((6, 20, 2000))) for name in names}
    space = space_of(parameters, [])
    witness = _drawn(rng, space)
    times = [rng.choice((1, 1, 2)) for _ in names]
    total = sum(c * witness[name] for c, name in zip(times, names, strict=True))
    left = " + ".join(f"{c} * `{name}`" for c, name in zip(times, names, strict=True))
    parameters["beside"] = rng.choice((rb.Float(0, 1), rb.Choice("a", "b")))
    witness["beside"] = parameters["beside"].from_unit(0.7)
    return space_of(parameters, [f"{left} == {total}"]), witness


def _all_at_once(rng: random.Random) -> tuple[rb.Space, Point]:
    """An equation between parameters of different kinds, an inequality, a choice, and what exists by it."""
    a, b, c, d, choice, absent = rng.sample(NAMES, 6)
    parameters: dict[str, Parameter] = {
        a: rng.choice((rb.Float(1e-3, 10, log=True), rb.Float(0, 10, step=0.5), rb.Float(0, 10), rb.Int(1, 10))),
        b: rng.choice((rb.Int(0, 8), rb.Ordinal(0.5, 1, 2, 4.5), rb.Choice(1, 2, 3), rb.Int(0, 4, step=2))),
        c: rng.choice((rb.Float(-5, 5, step=0.25), rb.Float(-5, 5), rb.Int(1, 3000, log=True))),
        d: real(rng),
        choice: rb.Choice("p", "q", "r"),
        absent: any_parameter(rng, when={choice: ["q", "r"]}),
    }
    space = space_of(parameters, [])
    witness = _drawn(rng, space)
    value = witness[a] + 2 * witness[b] - witness[c]
    of_two = f"`{a}` == 2 * `{b}` + {witness[a] - 2 * witness[b]!r}"
    texts = [f"`{a}` + 2 * `{b}` - `{c}` == {value!r}" if rng.random() < 0.7 else of_two]
    texts += _inequalities(rng, {name: parameters[name] for name in (a, b, d, absent)}, witness, 1, curved=True)
    return space_of(parameters, texts), witness


def _many(rng: random.Random) -> tuple[rb.Space, Point]:
    """Dozens of inequalities, linear ones and others, between parameters of all kinds, some of which may be absent."""
    parameters = _numbers(rng, 4)
    parameters |= {"c": rb.Choice("p", "q"), "d": rb.Float(1e-3, 1, log=True, when={"c": "q"})}
    space = space_of(parameters, [])
    witness = _drawn(rng, space)
    texts = [_inequalities(rng, parameters, witness, 15, curved=curved) for curved in (False, True)]
    return space_of(parameters, list(dict.fromkeys(text for each in texts for text in each))), witness


def _pool(rng: random.Random) -> tuple[rb.Space, Point]:
    space = space_of({"p": real(rng), "q": rb.Int(0, 5), "r": rb.Choice("a", "b", "c"), "big": whole(rng)}, [])
    points = [_drawn(rng, space) for _ in range(rng.randint(6, 40))]
    frame = pd.DataFrame(points).drop_duplicates()
    witness = points[rng.randrange(len(points))]
    texts = [f"q <= {witness['q']}"] if rng.random() < 0.5 else []
    given = {"q": rb.Int(0, 5)} if rng.random() < 0.5 else {}
    pool = rb.Pool(frame, constraints=texts, **given)
    return pool, pool.validate(witness)


KINDS: dict[str, Callable[[random.Random], tuple[rb.Space, Point]]] = {
    "plain": _plain,
    "conditional": _conditional,
    "linear": lambda rng: _restricted(rng, curved=False),
    "nonlinear": lambda rng: _restricted(rng, curved=True),
    "mixture": _mixture,
    "equation": _equation,
    "integers": _integers,
    "all at once": _all_at_once,
    "many": _many,
    "pool": _pool,
}
