"""Space-filling points that keep away from where trials fail."""

import torch

from robustbo import seeds
from robustbo.loop.distinct import Params, first_point, free_points
from robustbo.loop.observations import Data
from robustbo.loop.viability import Viability

AWAY = "away from failures"  # the reason of a trial whose Sobol point would probably fail
LEAST = 2  # values, without which no model proposes anything
FAIR = 0.5  # of the greatest probability of a value anywhere: a point with as much will do


def is_filled(data: Data, num_initial: int) -> bool:
    """Whether enough is known to leave the first phase, of which some trials have failed."""
    return len(data.trials) >= num_initial and len(data.told) >= LEAST


def away(data: Data, viability: Viability, seed: int, trial: int) -> tuple[Params, str | None]:
    """The Sobol point of a trial's number if a value may well be had there; else the farthest from all where it may.

    Returns:
        The point, and the reason where it is another.

    Raises:
        SpaceExhausted: If every point is being measured.
    """
    first = first_point(data, seed, trial)
    taken = {t.point for t in data.trials}
    if data.space.size is not None and data.space.size <= len(taken):
        taken = {t.point for t in (*data.pending, *data.barred)}
    others = [first, *free_points(data.space, taken, seeds.derive(seed, trial, "away"))]
    rows = torch.tensor([data.space.to_unit(other) for other in others], dtype=torch.float64)
    p = viability.log_p(rows.tolist()).exp()
    fair = p >= FAIR * p.max()
    if fair[0]:
        return first, None
    asked = torch.tensor(data.rows, dtype=torch.float64)
    distance = torch.cdist(rows, asked).amin(-1)
    return others[int(distance.where(fair, -1.0).argmax())], AWAY
