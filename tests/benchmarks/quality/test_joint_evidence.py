import math

import pandas as pd
import pytest
import torch

pytestmark = pytest.mark.usefixtures("double_precision")  # the script sets it itself


@pytest.fixture(scope="module")
def joint(load):
    return load("quality.joint_evidence")


@pytest.mark.parametrize("mode", ["elsewhere", "uniform", "shrunk", "moderate"])
@pytest.mark.parametrize(("strikes", "outcomes"), [("all", 4), ("one", 1)])
def test_a_failure_changes_what_it_strikes_and_nothing_else(joint, strikes, outcomes, mode):
    given = joint.data(joint.Cell("welded-beam", 20, strikes, mode, 0.2, 3))
    clean = joint.data(joint.Cell("welded-beam", 20, "none", "none", 0.0, 3))
    assert torch.equal(given.Y != clean.Y, given.bad)
    assert torch.equal(given.X, clean.X)
    assert torch.equal(given.Y_test, clean.Y_test)
    assert given.bad.sum(-1).tolist().count(outcomes) == 4
    assert given.bad.sum() == 4 * outcomes


def test_a_failed_trial_is_found_whole_and_a_gross_value_beside_good_ones_alone(joint):
    q = torch.full((40, 3), 0.01)
    q[0], q[1] = torch.tensor([0.9, 0.4, 0.3]), torch.tensor([0.9, 0.01, 0.01])
    flagged = q > 0.5
    said = joint.rules(q, flagged)
    for rule in ("failed", "learned"):
        assert said[rule][1].nonzero().tolist() == [[0, 0], [0, 1], [0, 2], [1, 0]]
    assert said["alone"][1].nonzero().tolist() == [[0, 0], [1, 0]]


@pytest.mark.slow
def test_a_row_has_all_scores_and_rules_that_agree_predict_the_same(joint, tmp_path):
    cell = joint.Cell("branin-currin", 20, "all", "moderate", 0.1, 0)
    path = tmp_path / "rows.csv"
    joint.fill(path, [cell])
    written = path.read_text(encoding="utf-8")
    joint.fill(path, [cell])
    assert path.read_text(encoding="utf-8") == written
    rows = pd.read_csv(path, keep_default_na=False)
    assert tuple(rows.columns) == joint.COLUMNS
    assert rows.loc[0, "wrong"] == 4
    assert math.isfinite(rows.loc[0, "told.nlpd"])
    assert "failed" in joint.table(rows, ["strikes"])
