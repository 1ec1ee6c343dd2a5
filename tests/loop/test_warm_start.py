import pytest

from robustbo.loop.observations import Observations
from robustbo.loop.warm_start import FEW, Beginning, Line, anchor, line, predecessor


def told(numbers):
    numbers = tuple(numbers)
    return Observations(numbers, tuple((i / 1000,) for i in numbers), tuple(map(float, numbers)), None)


def chain(n):
    steps = 0
    while (before := predecessor(n)) is not None:
        assert before < n
        n, steps = before, steps + 1
    return n, steps


@pytest.mark.parametrize("n", [*range(1, 700), 1999, 5119, 10239])
def test_a_resumed_study_makes_a_handful_of_fits(n):
    end, steps = chain(n)
    assert end == anchor(n)
    assert steps <= 9
    assert n - end < max(10, n / 16)


def test_searches_from_nothing_become_rarer():
    assert [anchor(n) for n in (5, 15, 319, 320, 339, 341, 640, 679, 10000)] == [
        5,
        10,
        310,
        320,
        320,
        340,
        640,
        640,
        9920,
    ]


def test_a_line_of_all_values_begins_from_nothing_at_its_anchor():
    of = line(told(range(105)), told(range(105)))
    before = of.before
    assert (before.told, before.origin) == (told(range(104)), None)
    assert before.before.told == told(range(100))
    assert before.before.before is None


def test_where_one_is_left_out_the_anchor_begins_at_the_fit_to_all():
    everything = told(range(105))
    of = line(told(i for i in range(105) if i != 40), everything)
    while of.before.told.numbers != tuple(range(100)):
        of = of.before
        assert 40 not in of.told.numbers
    assert of.before == Line(told(range(100)), None)


def test_one_that_came_after_the_anchor_changes_nothing_before_it():
    everything = told(range(105))
    assert line(told(i for i in range(105) if i != 102), everything).origin is None


def test_of_few_a_search_from_nothing_is_cheap():
    everything = told(range(FEW))
    assert line(told(i for i in range(FEW) if i != 3), everything).origin is None
    assert line(told([]), everything) == Line(told([]), None)


def test_a_beginning_knows_which_of_its_values_are_which():
    end = Beginning((0, 1, 3, 4), 0.0, 1.0, None)
    assert end.rows_of((0, 2, 3, 4, 5)).tolist() == [0, -1, 2, 3, -1]
    assert end.serves(2.0)
    assert not end.serves(3.0)


@pytest.mark.parametrize(("n", "counts"), [(250, []), (260, [250]), (505, [504, 500, 250]), (2000, [1000, 500, 250])])
def test_of_many_none_begins_from_nothing_but_at_the_first_few_hundred(n, counts):
    of, seen = line(told(range(n)), told(range(n))), []
    while (of := of.before) is not None:
        seen.append(len(of.told.values))
    assert seen == counts
