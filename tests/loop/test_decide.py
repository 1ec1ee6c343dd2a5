import math
from dataclasses import replace

import pytest
import torch

from robustbo.loop.belief.judge import OutlierReports
from robustbo.loop.belief.outliers import outliers
from robustbo.loop.best.incumbent import incumbent
from robustbo.loop.decide import step
from robustbo.loop.observations.table import observations
from robustbo.loop.surrogate.fit import fit
from robustbo.searchspace.encoding import decode, encode
from robustbo.searchspace.parameters import Choice, Float, Int
from robustbo.searchspace.space import Space
from robustbo.trials.history import History
from robustbo.trials.settings import Settings

SPACE = Space(x=Float(0.0, 1.0), k=Int(1, 5), c=Choice("a", "b", "c"))


def history(n):
    made = History()
    for i in range(n):
        params = SPACE.sobol(3, i)
        made = made.apply(
            {"event": "tell", "trial": i, "params": params, "value": params["x"] + params["k"], "sd": None}
        )
    return made


def settings(**options):
    return Settings(SPACE, surrogate="standard", **{"num_initial": 4, **options})


def test_a_step_is_a_pure_function_of_its_arguments():
    first = step(settings(), history(6), 6).params
    assert step(settings(), history(6), 6).params == first


def test_every_trial_has_its_own_sobol_point():
    assert step(settings(), history(2), 2).params != step(settings(), history(2), 3).params


def test_the_number_of_threads_changes_no_bit():
    first = step(settings(), history(6), 6).params
    try:
        torch.set_num_threads(2)
        assert step(settings(), history(6), 6).params == first
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(1)


def test_choices_are_encoded_as_their_index_and_back():
    rows = [SPACE.to_unit({"x": 0.25, "k": k, "c": c}) for k in range(1, 6) for c in "abc"]
    X = encode(SPACE, rows)
    assert X[:, 2].tolist() == [0.0, 1.0, 2.0] * 5
    assert [SPACE.from_unit(row) for row in decode(SPACE, X)] == [SPACE.from_unit(row) for row in rows]


def test_only_told_trials_are_fitted():
    made = (
        history(5)
        .apply({"event": "exclude", "trial": 1})
        .apply({"event": "ask", "trial": 5, "params": SPACE.sobol(0, 9)})
    )
    assert observations(settings(), made).all_observations().numbers == (0, 2, 3, 4)


def test_predictions_speak_the_users_units_in_either_direction():
    for direction in ("minimize", "maximize"):
        fitted = fit(settings(direction=direction), history(12))
        means, sds = fitted.predict(fitted.X)
        assert max(abs(m - v) for m, v in zip(means, fitted.observations.values, strict=True)) < 0.3
        assert all(0 < sd < 1 for sd in sds)


def wave(sign, spoilt):
    """A smooth hill whose top, at trial 6, was measured wrong; and measured again where a repeat is given."""
    line, made = Space(x=Float(0.0, 1.0)), History()
    for i in range(13):
        value = math.sin(math.pi * i / 12) if i != 6 else spoilt
        made = made.apply({"event": "tell", "trial": i, "params": {"x": i / 12}, "value": sign * value, "sd": None})
    return line, made


@pytest.mark.few(1)
@pytest.mark.parametrize("surrogate", ["relevance-pursuit", "student-t", "filtered"])
@pytest.mark.parametrize("direction", ["minimize", "maximize"])
def test_a_point_whose_value_is_disbelieved_is_not_the_incumbent(surrogate, direction):
    """What the others predict there is the best, but nobody has measured it."""
    sign = 1.0 if direction == "maximize" else -1.0
    line, made = wave(sign, -40.0)
    told = Settings(line, direction=direction, surrogate=surrogate)
    fitted = fit(told, made)
    assert max(fitted.at_points().values(), key=lambda at: sign * at[0]) == fitted.at_points()[(0.5,)]
    assert incumbent(told, made).trial.number in (5, 7)
    again = made.apply({"event": "tell", "trial": 13, "params": {"x": 0.5}, "value": sign * 1.0, "sd": None})
    assert incumbent(told, again).trial.number == 13  # whose value is believed


def test_where_nothing_is_believed_any_point_may_be_the_incumbent(monkeypatch):
    line, made = wave(1.0, 1.0)
    told = Settings(line, direction="maximize")
    reports = OutlierReports(tuple(replace(o, status="flagged") for o in outliers(told, made)))
    monkeypatch.setattr("robustbo.loop.belief.outcome_models.judge", lambda *_: reports)
    assert incumbent(told, made).trial.number == 6
