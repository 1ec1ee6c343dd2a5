"""Where a trial was measured, means, withdrawn trials and changed spaces, at the command line."""

import json

import pytest

import robustbo as rb


@pytest.fixture
def begun(cli, tmp_path):
    (tmp_path / "s.json").write_text('{"x": {"kind": "float", "low": 0, "high": 1}}')
    wider = {"x": {"kind": "float", "low": 0, "high": 2}, "y": {"kind": "float", "low": 1, "high": 2}}
    (tmp_path / "wider.json").write_text(json.dumps(wider))
    assert cli("create", "m.jsonl", "s.json", "--seed", 1, "--acquisition", "sobol", "--direction", "minimize")[0] == 0
    assert cli("ask", "m.jsonl", "-n", 2)[0] == 0
    return cli


def test_a_trial_is_told_where_it_was_measured_and_as_a_mean(begun):
    code, out, _ = begun("tell", "m.jsonl", 0, "1.5", "--params", '{"x": 0.52}', "--sd", "0.2", "--n", 4)
    (trial, other) = rb.Study.resume("m.jsonl").history
    assert (code, trial.params, trial.sd, trial.n) == (0, {"x": 0.52}, 0.1, 4)
    assert f"x=0.52 (asked for x={trial.target['x']!r}): 1.5" in out
    code, out, _ = begun("tell", "m.jsonl", "2.5", "--params", json.dumps(other.params))  # as before: at a point
    assert (code, out[:14]) == (0, "trial 1 (told,")


def test_a_trial_is_withdrawn_and_the_space_changed(begun):
    code, out, _ = begun("withdraw", "m.jsonl", 0, "--reason", "no reagent")
    assert (code, out[:20]) == (0, "trial 0 (withdrawn, ")
    code, out, _ = begun("change", "m.jsonl", "wider.json", "--was", "y=0")  # which is outside the new range
    study = rb.Study.resume("m.jsonl")
    assert code == 0
    assert study.settings.space.names == ["x", "y"]
    assert study.history[1].params["y"] == 0.0
    code, _, err = begun("tell", "m.jsonl", 0, "1", "--as-measured")
    assert (code, "--as-measured needs --sheet" in err) == (2, True)
