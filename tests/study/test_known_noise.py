"""Noise is used where it is known, and learned elsewhere; values may be means of several measurements."""

import json
import math
import warnings

import numpy as np
import pandas as pd
import pytest

import robustbo as rb
from robustbo.errors import NumericsWarning
from robustbo.loop.observations.table import observations
from robustbo.loop.surrogate.fit import fit

SPACE = rb.Space(x=rb.Float(0.0, 1.0))


def study(path=None, **options):
    return rb.Optimizer(
        SPACE, **({"direction": "minimize", "seed": 0, "surrogate": "standard", "journal": path} | options)
    )


def test_a_mean_of_n_has_an_nth_of_the_variance(tmp_path):
    opt = study(tmp_path / "j.jsonl")
    told = opt.tell({"x": 0.1}, 1.0, sd=0.2, n=4)
    assert (told.sd, told.n) == (0.1, 4)
    assert opt.tell({"x": 0.2}, 1.0, n=9).n == 9
    lines = [json.loads(line) for line in (tmp_path / "j.jsonl").read_text().splitlines()]
    assert [line["sd"] for line in lines[1:]] == ["0.2/4", "/9"]  # which an older version refuses
    assert rb.Optimizer.resume(tmp_path / "j.jsonl").history == opt.history
    frame = opt.frame(evidence=False)
    assert frame["sd"].tolist() == pytest.approx([0.2, math.nan], nan_ok=True)
    assert frame["n"].tolist() == [4, 9]
    again = study()
    again.tell_frame(frame[["x", "value", "sd", "n"]])
    assert [(t.sd, t.n) for t in again.history] == [(0.1, 4), (None, 9)]
    assert opt.amend(0, 2.0, sd=0.3, n=9).sd == pytest.approx(0.1)


@pytest.mark.parametrize("n", [0, 2.5, "3"])
def test_a_count_that_is_none_is_refused(n):
    with pytest.raises(ValueError, match="n must be a whole number of at least 1"):
        study().tell({"x": 0.1}, 1.0, n=n)
    with pytest.raises(ValueError, match="the bound"):
        study().tell({"x": 0.1}, rb.Below(1.0), n=2)


@pytest.mark.parametrize("surrogate", ["standard", "relevance-pursuit"])
def test_what_is_known_is_used_and_the_rest_is_learned(surrogate):
    rng = np.random.default_rng(0)
    opt = study(surrogate=surrogate)
    x = np.linspace(0, 1, 24)
    for i, (at, z) in enumerate(zip(x, rng.standard_normal(24), strict=True)):
        known = i % 2 == 0
        value = math.sin(6 * at) + z * (0.01 if known else 0.3)
        opt.tell({"x": float(at)}, value, sd=0.01 if known else None)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted = fit(opt.settings, opt.history)
        predictions = opt.predict([{"x": float(at)} for at in x[::2]])
    assert fitted.observations.is_mixed
    off = np.abs(predictions["mean"].to_numpy() - np.sin(6 * x[::2]))
    assert np.median(off) < 0.02
    assert fitted.units.sd_to_user(fitted.model.likelihood.noise.sqrt()).item() > 0.0
    assert opt.ask().origin == "model"
    assert opt.best().mean < -0.9


def test_surrogates_that_cannot_say_so_and_infer_all():
    opt = study(surrogate="student-t", num_initial=3)
    for i in range(6):
        opt.tell({"x": i / 5}, float(i % 3), sd=0.1 if i else None, n=2)
    with pytest.warns(
        NumericsWarning, match="sd is not known for trial 0, and student-t takes it for all values or for none"
    ):
        assert opt.ask().origin == "model"


def test_where_none_or_all_are_known_nothing_changes():
    opt = study()
    for i in range(4):
        opt.tell({"x": i / 3}, float(i))
    assert observations(opt.settings, opt.history).all_observations().sds is None
    opt = study()
    for i in range(4):
        opt.tell({"x": i / 3}, float(i), sd=0.1 * (i + 1))
    assert observations(opt.settings, opt.history).all_observations().sds == (0.1, 0.2, 0.1 * 3, 0.4)


def test_several_outcomes_have_counts_of_their_own():
    opt = rb.Optimizer(SPACE, objectives={"f": "minimize", "g": "maximize"}, seed=0)
    told = opt.tell({"x": 0.1}, {"f": 1.0, "g": 2.0}, sd={"f": 0.2}, n={"f": 4})
    assert [(m.sd, m.n) for m in told.outcomes.values()] == [(0.1, 4), (None, 1)]
    opt.tell_frame(pd.DataFrame({"x": [0.3], "f": [1.0], "g": [2.0], "g.n": [3]}))
    assert opt.history[1].outcomes["g"].n == 3
