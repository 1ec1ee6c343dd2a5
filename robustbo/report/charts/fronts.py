"""The front of several objectives, a chart for each pair of them, and the hypervolume by trial."""

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from robustbo.loop.belief.judge import Outlier
from robustbo.loop.best.front import Front
from robustbo.loop.best.measured_points import LIKELY, FrontPoint
from robustbo.report.charts.chart import Axis, Chart, Dots, Line, axis, trials_axis
from robustbo.report.charts.marks import BLUE, GREEN, ORANGE, OUTSIDE, PALE, within_reach
from robustbo.report.charts.one_outcome import bounds, limits, steps
from robustbo.rounding import format_number
from robustbo.trials.outcomes import OutcomeGoal
from robustbo.trials.settings import Settings

Pair = tuple[OutcomeGoal, OutcomeGoal]
Place = tuple[float, float]
HEIGHT = 360.0
KINDS = {OUTSIDE: (PALE, 4.0), "believed": (BLUE, 4.0), "on the front": (GREEN, 5.0)}


class Doubt(NamedTuple):
    """A trial some value of which is called wrong: where it was measured, and where the others expect it to be, which
    is the same place if it is neither of the two outcomes that are shown; and its text."""

    measured: Place
    expected: Place
    title: str


def charts(settings: Settings, points: Sequence[FrontPoint], front: Front, judged: Iterable[Outlier]) -> list[Chart]:
    """A chart for each pair of objectives: what is believed, the front, and the values that are not believed.

    The frame is around what is believed: what is far from it is drawn at its edge.

    Args:
        settings: What the study was told at its beginning.
        points: All that are believed.
        front: Those that no other beats.
        judged: All values, with whether they are believed.
    """
    flagged = [o for o in judged if o.flagged]
    pairs = combinations((outcome for outcome in settings.outcomes if outcome.is_objective), 2)
    return [_chart(pair, points, front, _doubts(pair, flagged)) for pair in pairs]


def _chart(pair: Pair, points: Sequence[FrontPoint], front: Front, doubts: Sequence[Doubt]) -> Chart:
    inside = {point.trial.number for point in front}
    kinds: dict[str, list[FrontPoint]] = {kind: [] for kind in KINDS}
    for point in points:
        is_likely, is_best = point.probability_feasible >= LIKELY, point.trial.number in inside
        kinds["on the front" if is_best else "believed" if is_likely else OUTSIDE].append(point)
    reference = _place(pair, front.reference_point)
    extra = [reference, *(place for doubt in doubts for place in doubt[:2])]
    across, up = (_axis(outcome, points, [place[k] for place in extra]) for k, outcome in enumerate(pair))
    lines = [*limits(pair[0], across, up, is_upright=True), *limits(pair[1], across, up)]
    lines += [bar for kind, of_kind in kinds.items() for point in of_kind for bar in _bars(pair, point, KINDS[kind][0])]
    best = [_place(pair, point.means) for point in front]
    lines += _stairs(pair, best, reference if len(front.reference_point) == 2 else None)
    lines += [Line("", ORANGE, *_columns(doubt[:2]), dash="2 3", width=1.2) for doubt in doubts]
    dots = [*_point_dots(pair, kinds), *_doubt_dots(doubts)]
    dots.append(Dots("reference point", "none", "#000000", *_columns([reference]), shape="D", size=5.0))
    dots = [kind for kind in dots if len(kind.x)]
    about = f"{pair[1].name} against {pair[0].name}; " + "; ".join(f"{kind.label}: {len(kind.x)}" for kind in dots)
    return Chart("", across, up, lines, dots, height=HEIGHT, about=about)


def _point_dots(pair: Pair, kinds: Mapping[str, Sequence[FrontPoint]]) -> list[Dots]:
    """Marks at the means of believed points."""
    dots = []
    for kind, points in kinds.items():
        (color, size), titles = KINDS[kind], [f"{point}; {kind}" for point in points]
        x, y = _columns([_place(pair, point.means) for point in points])
        dots.append(Dots(kind, color, "none", x, y, size=size, titles=titles))
    return dots


def _doubt_dots(doubts: Sequence[Doubt]) -> list[Dots]:
    """Marks of values that are called wrong, where they were measured and where they are expected."""
    moved = [d for d in doubts if d.measured != d.expected]
    unmoved = [d for d in doubts if d.measured == d.expected]
    titles, x_y = [d.title for d in moved], _columns([d.measured for d in unmoved])
    return [
        Dots("where the others expect it", "none", ORANGE, *_columns([d.expected for d in moved]), titles=titles),
        Dots("called wrong", ORANGE, "none", *_columns([d.measured for d in moved]), "X", 5.0, titles=titles),
        Dots("another outcome called wrong", "none", ORANGE, *x_y, "X", 5.0, titles=[d.title for d in unmoved]),
    ]


def _doubts(pair: Pair, flagged: Sequence[Outlier]) -> list[Doubt]:
    """The doubts about the trials both of whose values have been told."""
    by_trial: dict[int, dict[str | None, Outlier]] = {}
    for o in flagged:
        by_trial.setdefault(o.trial.number, {})[o.outcome] = o
    doubts = []
    for by_outcome in by_trial.values():
        values = next(iter(by_outcome.values())).trial.values
        if all(outcome.name in values for outcome in pair):
            expected = values | {name: o.expected for name, o in by_outcome.items() if name is not None}
            title = "; ".join(map(str, by_outcome.values()))
            doubts.append(Doubt(_place(pair, values), _place(pair, expected), title))
    return doubts


def _place(pair: Pair, numbers: Mapping[str, float]) -> Place:
    return numbers[pair[0].name], numbers[pair[1].name]


def _columns(places: Iterable[Place]) -> tuple[np.ndarray, np.ndarray]:
    x, y = np.array([*places], dtype=float).reshape(-1, 2).T
    return x, y


def _axis(outcome: OutcomeGoal, points: Sequence[FrontPoint], extra: Sequence[float]) -> Axis:
    mean, sd = np.array([(point.means[outcome.name], point.sds[outcome.name]) for point in points]).T
    believed = np.concatenate([mean - sd, mean + sd])
    further = within_reach(np.array([*bounds(outcome), *extra]), believed)
    return axis(outcome.quantity.label_with_goal(outcome.direction), believed, further, margin=0.05)


def _bars(pair: Pair, point: FrontPoint, color: str) -> list[Line]:
    """One standard deviation to each side."""
    (x, y), (dx, dy) = _place(pair, point.means), _place(pair, point.sds)
    ends = ((np.array([x - dx, x + dx]), np.array([y, y])), (np.array([x, x]), np.array([y - dy, y + dy])))
    return [Line("", color, *end, width=1.0) for end in ends]


def _stairs(pair: Pair, places: Sequence[Place], reference: Place | None) -> list[Line]:
    """The steps between the points that no other beats in both, and what they dominate beyond the reference point."""
    signs = np.array([outcome.sign for outcome in pair])
    Y = np.array(places).reshape(-1, 2) * signs
    corner = None if reference is None else np.array(reference) * signs
    if corner is not None:
        Y = Y[(corner < Y).all(1)]
    Y = Y[np.lexsort((-Y[:, 1], -Y[:, 0]))]  # the best in the first objective first
    Y = Y[Y[:, 1] > np.append(-np.inf, np.maximum.accumulate(Y[:, 1])[:-1])] if len(Y) else Y
    if not len(Y):
        return []
    if corner is None:
        x, y = steps(*Y.T)
        return [Line("", GREEN, signs[0] * x, signs[1] * y, width=1.5)]
    x, y = steps(np.append(Y[:, 0], corner[0]), np.append(Y[:, 1], Y[-1, 1]))
    x, y = signs[0] * np.append(x[0], x), signs[1] * np.append(corner[1], y)
    return [Line("", GREEN, x, y, np.full(len(x), signs[1] * corner[1]), y, width=1.5)]


def compromise(settings: Settings, front: Front) -> FrontPoint:
    """The point of a front that by itself dominates the most."""
    signs = {outcome.name: outcome.sign for outcome in settings.outcomes}

    def alone(point: FrontPoint) -> float:
        leads = (signs[name] * (point.means[name] - end) for name, end in front.reference_point.items())
        return math.prod(max(lead, 0.0) for lead in leads)

    return max(front, key=alone)


def volume_line(volumes: Sequence[float]) -> Line:
    """The hypervolume by trial, as a curve."""
    numbers = np.arange(len(volumes) + 1, dtype=float)
    return Line("", GREEN, *steps(numbers, np.append(volumes, volumes[-1:])))


def progress(volumes: Sequence[float]) -> Chart:
    """The hypervolume by trial."""
    up = axis("hypervolume", np.array([0.0, volumes[-1] or 1.0]), margin=0.05)
    about = f"hypervolume by trial, {format_number(volumes[-1])} in the end"
    return Chart("", trials_axis(len(volumes)), up, [volume_line(volumes)], height=220, about=about)
