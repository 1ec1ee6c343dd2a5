import torch

from robustbo.numerics.gp.ascent import Ascent
from robustbo.numerics.gp.objective import highest


def test_the_fine_climb_begins_at_the_highest_end_and_all_evaluations_count():
    begun = []

    def rough(start):
        begun.append(start)
        return Ascent(torch.tensor([start]), -((start - 2.1) ** 2), None, 3, False)

    def fine(best):
        return Ascent(best.x + 0.1, 0.0, "there", 4, True)

    found = highest([5.0, 2.0, 1.0], rough, fine)
    assert begun == [5.0, 2.0, 1.0]
    torch.testing.assert_close(found.x, torch.tensor([2.1]))
    assert (found.F, found.value, found.num_evaluations, found.converged) == (0.0, "there", 13, True)


def test_of_ends_of_one_height_the_first_counts():
    ends = [Ascent(torch.tensor([float(i)]), 0.0, None, 1, True) for i in range(3)]
    assert highest(ends, lambda end: end, lambda best: best).x == 0
