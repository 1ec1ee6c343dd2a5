"""Histories whose values are of two or three sizes, as a limit that a meter writes beside what it measures."""

import warnings
from random import Random

import robustbo as rb

KINDS = ("two sizes", "three sizes", "a limit", "zeros", "ties")
FEW, MANY = (3, 4, 4, 5, 5, 6, 6, 7, 8, 9, 10, 11, 12), (14, 16, 20, 23, 30, 40)
SHARE = 0.08  # of histories with many values, whose fits take most of the time


def space_of(random):
    """One or two parameters of any kind."""

    def parameter():
        kind = random.choice(["float", "float", "float", "int", "choice"])
        if kind == "float":
            return rb.Float(0.0, 1.0)
        return rb.Int(1, random.choice([4, 9, 30])) if kind == "int" else rb.Choice("a", "b", "c")

    named = {name: parameter() for name in ("x", "y")[: random.choice([1, 2])]}
    if all(isinstance(each, rb.Choice) for each in named.values()):
        named["x"] = rb.Float(0.0, 1.0)
    return rb.Space(**named)


def value_at(random, kind, unit, ratio):
    """A value of a smooth function, or of another size where it fails: in a region, or anywhere."""
    smooth = 12.0 + 8.0 * sum((u - 0.3) ** 2 for u in unit)
    is_other = unit[0] > 0.6 if random.random() < 0.8 else random.random() < 0.3
    if kind == "zeros":
        return 0.0 if is_other else smooth
    if kind == "ties":
        return ratio if is_other else round(smooth)
    if not is_other:
        return smooth
    if kind == "a limit":
        return ratio
    size = ratio**2 if kind == "three sizes" and random.random() < 0.5 and ratio < 1e7 else ratio
    return size * (1 + 0.1 * random.random()) * random.choice([1, 1, 1, -1])


def study_of(seed):
    """A study with a history that follows from a seed; its next ask is a model's."""
    random = Random(seed)
    space, kind = space_of(random), random.choice(KINDS)
    ratio = 10.0 ** random.uniform(2, 12)
    study = rb.Optimizer(space, seed=seed, num_initial=1, direction=random.choice(["minimize", "maximize"]))
    points = []
    for _ in range(random.choice(MANY if random.random() < SHARE else FEW)):
        again = points and random.random() < 0.2
        point = random.choice(points) if again else space.from_unit([random.random() for _ in range(len(space))])
        points.append(point)
        study.tell(point, value_at(random, kind, space.to_unit(point), ratio))
    return study


def looked_at(seed):
    """Ask, judge and recommend; what the ladder fell back to, if it did.

    Returns:
        The fallback of the ask, how many values were judged, and how many there are.
    """
    study = study_of(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rb.ExhaustedWarning)
        trial = study.ask()
    study.best()
    return trial.fallback, len(study.outliers()), len(study.history.having("told"))
