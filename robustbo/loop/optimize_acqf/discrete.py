"""Climbs along discrete parameters, one of which changes after the other, and moves between faces of a region."""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from robustbo.loop.optimize_acqf.slsqp import Score
from robustbo.loop.optimize_acqf.ties import first_of_best
from robustbo.searchspace.columns import cell_middles, cell_numbers
from robustbo.searchspace.parameters import Choice, Parameter
from robustbo.searchspace.region.face_moves import rows_in_other_faces
from robustbo.searchspace.region.faces import UnionOfFaces
from robustbo.searchspace.region.region import Region
from robustbo.surrogates.transforms.input_encoding import ONE_HOT

MEASURED = 32  # values of one of very many that are tried: those measured at the best points
GAIN = 1e-6  # of a score, in nats, below which a round was the last


def values_of(score: Score, rows: Tensor) -> Tensor:
    """Scores of rows; where one is no number, minus infinity."""
    with torch.no_grad():
        return score(rows).nan_to_num(nan=-torch.inf, neginf=-torch.inf)


def levels_to_try(region: Region, column: int, best: Tensor) -> list[int]:
    """The numbers of a parameter's values that are tried from everywhere: of few without an order all of them.

    Of many it is those measured at the best points. Those never measured are much alike to a model: others are reached
    by steps.
    """
    parameter = region.space.parameters[column][1]
    if not isinstance(parameter, Choice):
        return []
    if len(parameter.values) <= ONE_HOT:
        return [*range(len(parameter.values))]
    return [*dict.fromkeys(cell_numbers(parameter, best[:, column]).tolist())][:MEASURED]


def climb_discrete(
    score: Score, region: Region, tried: Mapping[int, Sequence[int]], rows: Tensor, values: Tensor
) -> tuple[Tensor, Tensor]:
    """Rows and scores where one discrete parameter changes after the other, the one that gains most."""
    rows, values = rows.clone(), values.clone()
    going = torch.arange(len(rows) if tried else 0)
    while len(going):
        near = [_neighbors(region, tried, row) for row in rows[going]]
        counts = [len(neighbors) for neighbors in near]
        scores = values_of(score, torch.cat(near)) if sum(counts) else rows.new_zeros(0)
        still = []
        for i, neighbors, row_scores in zip(going.tolist(), near, scores.split(counts), strict=True):
            if len(neighbors) and row_scores.max() > values[i] + GAIN:
                best = first_of_best(row_scores)
                rows[i], values[i] = neighbors[best], row_scores[best]
                still.append(i)
        going = torch.tensor(still, dtype=torch.long)
    return rows, values


def _neighbors(region: Region, tried: Mapping[int, Sequence[int]], row: Tensor) -> Tensor:
    """The points of a region that differ from one in a discrete parameter, and in what follows from that."""
    neighbors = []
    for column, numbers in tried.items():
        levels = _neighbor_levels(region.space.parameters[column][1], row[column], numbers)
        changed = row.expand(len(levels), -1).clone()
        changed[:, column] = levels
        neighbors.append(changed)
    rows = region.complete(torch.cat(neighbors))
    return region.canonical(rows[region.holds(rows)])


def _neighbor_levels(parameter: Parameter, u: Tensor, tried: Sequence[int]) -> Tensor:
    """Coordinates of a parameter's other values: those tried, and those 1, 2, 4, 8 ... places away.

    Where there is no order the last is followed by the first. From one to the next of these every value is reached.
    """
    count, place = parameter.count or 1, int(cell_numbers(parameter, u))
    away = [place + sign * 2**k for k in range(count.bit_length()) for sign in (-1, 1)]
    if isinstance(parameter, Choice):
        places = {number % count for number in away} | {*tried}
    else:
        places = {*away} & {*range(count)}
    return cell_middles(parameter, torch.tensor(sorted(places - {place}), dtype=torch.long))


def change_faces(score: Score, region: UnionOfFaces, rows: Tensor, most: int) -> tuple[Tensor, Tensor]:
    """The best rows of the faces beside those of some rows, one of each, and their scores.

    Args:
        score: What is maximized.
        region: The union of the faces.
        rows: From where.
        most: How many at most, of as many faces.
    """
    neighbors = torch.cat([rows_in_other_faces(region, row) for row in rows]).unique(dim=0)
    values = values_of(score, neighbors)
    best = best_of_faces(region, neighbors, values, most)
    return neighbors[best], values[best]


def best_of_faces(region: UnionOfFaces, rows: Tensor, values: Tensor, most: int) -> list[int]:
    """The index of the best row in each of the best faces, at most so many."""
    best, on = dict[tuple[bool, ...], int](), region.on(rows).tolist()
    for i in values.argsort(descending=True, stable=True).tolist():
        best.setdefault(tuple(on[i]), i)
    return [*best.values()][:most]
