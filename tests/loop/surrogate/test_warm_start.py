import math
from itertools import pairwise

import pytest

from robustbo.loop.observations.table import Observations
from robustbo.loop.observations.units import Units
from robustbo.loop.surrogate.warm_start import MOST, ROOT, WarmStart, anchor, predecessor, sample_size


def told(numbers):
    numbers = tuple(numbers)
    return Observations(numbers, tuple((i / 1000,) for i in numbers), tuple(map(float, numbers)), None)


def chain(n, before):
    sizes = [n]
    while (n := before(n)) is not None:
        sizes.append(n)
    return sizes


@pytest.mark.few(70)
@pytest.mark.parametrize("n", [*range(1, 700), 1999])
def test_a_search_begins_from_nothing_or_at_a_sample_of_no_less_than_a_quarter(n):
    sizes = chain(n, sample_size)
    assert sizes[-1] <= ROOT
    assert len(sizes) == (1 if n <= ROOT else 2 if n <= MOST else 3)
    assert all(small < large <= 4 * small for large, small in pairwise(sizes) if large <= MOST)


@pytest.mark.few(70)
@pytest.mark.parametrize("n", [*range(1, 700), 1999, 5119, 10239])
def test_in_the_order_of_trials_a_handful_is_made_again(n):
    sizes = chain(n, predecessor)
    assert sizes[-1] == anchor(n)
    assert len(sizes) <= 10
    assert n - sizes[-1] < max(10, n / 16)


def test_searches_anew_become_rarer():
    counts = (5, 15, 319, 320, 339, 341, 640, 679, 10000)
    assert [anchor(n) for n in counts] == [5, 10, 310, 320, 320, 340, 640, 640, 9920]


def test_a_beginning_knows_which_of_its_values_are_which():
    end = WarmStart((0, 1, 3, 4), Units(0.0, 1.0), 1.0, None)
    assert end.rows_of((0, 2, 3, 4, 5)).tolist() == [0, -1, 2, 3, -1]
    assert end.serves(3.0)
    assert not end.serves(5.0)


class TestAnOrderOfTheirOwn:
    def test_is_the_same_whatever_that_of_the_trials(self):
        one = told(range(40))
        other = told([*range(39, 10, -1), *range(11)])
        assert other.in_own_order(1.0) == one.in_own_order(1.0)
        assert sorted(one.in_own_order(1.0).numbers) == list(range(40))

    def test_makes_of_the_first_a_fair_sample(self):
        first = told(range(1000)).in_own_order(1.0).first(200)
        assert 0.4 < sum(x for (x,) in first.X) / 200 < 0.6

    def test_keeps_those_at_one_point_together_in_the_order_of_nothing_but_their_values(self):
        rows = ((0.1,), (0.5,), (0.1,), (0.9,), (0.1,))
        ordered = Observations((0, 1, 2, 3, 4), rows, (1.0, 2.0, 3.0, 4.0, 2.0), None).in_own_order(1.0)
        other = Observations((0, 1, 2, 3, 4), rows, (3.0, 2.0, 2.0, 4.0, 1.0), None).in_own_order(1.0)
        at = [i for i, row in enumerate(ordered.X) if row == (0.1,)]
        assert at == [*range(at[0], at[0] + 3)]
        assert (other.X, other.values) == (ordered.X, ordered.values)

    def test_is_the_same_in_all_units_and_directions(self):
        rows, values = ((0.1,), (0.5,)) * 20, [round(0.37 * i % 1, 3) for i in range(40)]
        one = Observations((*range(40),), rows, tuple(values), None).in_own_order(1.0)
        assert one.numbers != tuple(sorted(one.numbers, key=lambda i: (one.X.index(rows[i]), values[i])))
        for slope, center in ((1e-9, 0.0), (3.7, -1.0), (-1.0, 0.0), (-2.0, 1e4)):
            other = Observations((*range(40),), rows, tuple(slope * v + center for v in values), None)
            assert other.in_own_order(math.copysign(1.0, slope)).numbers == one.numbers

    def test_does_not_tell_zeros_apart(self):
        one = Observations((0, 1), ((0.0,), (0.5,)), (0.0, 1.0), None)
        assert Observations((0, 1), ((-0.0,), (0.5,)), (-0.0, 1.0), None).in_own_order(1.0).numbers == (
            one.in_own_order(1.0).numbers
        )
