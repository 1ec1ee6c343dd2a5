"""Labels of sources as the mathematics has them."""

from datetime import UTC, datetime

import pytest

from robustbo.loop.observations.source_labels import source_labels
from robustbo.trials.history import History
from robustbo.trials.trial import Trial


def tell(number, **more):
    return {"event": "tell", "trial": number, "value": 1.0, "sd": None, **more}


def test_nobody_told_a_source():
    history = History().apply_all(tell(i, params={"x": 0.1 * i}) for i in range(3))
    assert source_labels(history.trials, [0, 1, 2]) is None


def test_order_is_that_of_telling_and_rows_are_as_they_come():
    asks = [{"event": "ask", "trial": i, "params": {"x": 0.1 * i}} for i in range(3)]
    tells = [tell(2, source={"reactor": "R3"}), tell(0, source={"reactor": "R1", "plate": "7"}), tell(1)]
    history = History().apply_all([*asks, *tells])
    labels = source_labels(history.trials, [1, 2, 0])
    assert (labels.names, labels.levels) == (("plate", "reactor"), (("7",), ("R1", "R3")))
    assert labels.codes.tolist() == [[-1, -1], [-1, 1], [0, 0]]
    assert labels.order.tolist() == [2.0, 0.0, 1.0]


def test_only_levels_of_the_rows_count():
    history = History().apply_all(tell(i, params={"x": 0.1 * i}, source={"reactor": f"R{i}"}) for i in range(3))
    assert source_labels(history.trials, [2]).levels == (("R2",),)


def test_a_computer_is_a_source_only_where_there_are_several():
    def trials(*labels):
        return [Trial(i, {"x": 0.5}, "told", 1.0, sources=source, order=i) for i, source in enumerate(labels)]

    one, other, reactor = {"computer": "node7"}, {"computer": "node8"}, {"reactor": "R3"}
    assert source_labels(trials(one, one), [0, 1]) is None
    assert source_labels(trials(one, {}), [0, 1]).names == ("computer",)
    assert source_labels(trials(one, other), [0, 1]).names == ("computer",)
    assert source_labels(trials({**one, **reactor}, one), [0, 1]).names == ("reactor",)


def test_times_are_hours_where_it_was_told_when_values_were_measured():
    def trials(*hours):
        times = [None if hour is None else datetime(2026, 11, 24, hour, tzinfo=UTC) for hour in hours]
        told = datetime(2026, 11, 24, 12, tzinfo=UTC)
        return [
            Trial(i, {"x": 0.5}, "told", 1.0, sources={"reactor": "R3"}, order=i, measured_at=time, told_at=told)
            for i, time in enumerate(times)
        ]

    order = source_labels(trials(9, 8, None, 9), range(4)).order
    assert order.tolist() == pytest.approx([1.0, 0.0, 4.0, 1.0], abs=1e-5)
    assert order[3] > order[0]
    assert source_labels(trials(None, None), range(2)).order.tolist() == [0.0, 1.0]
