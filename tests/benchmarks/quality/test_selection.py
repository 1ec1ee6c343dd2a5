import pytest
import torch

pytestmark = pytest.mark.usefixtures("double_precision")  # the script sets it itself


@pytest.fixture(scope="module")
def selection(load):
    return load("quality.selection")


@pytest.mark.parametrize("kind", ["none", "uniform", "constant", "in-range", "student-t"])
def test_a_corruption_hits_its_mask_and_nothing_else(selection, kind):
    given = selection.data(selection.Cell("friedman5", 40, kind, 0.2, 3))
    clean = selection.data(selection.Cell("friedman5", 40, kind, 0.0, 3))
    assert torch.equal(given.X, clean.X)
    changed = (given.Y != clean.Y).squeeze(-1)
    assert torch.equal(changed, given.bad if kind != "none" else torch.zeros_like(changed))
    assert given.bad.any()


def test_hartmann6_for_many_points_is_the_problem(selection):
    from robustbo_problems.hartmann6 import hartmann6

    X = torch.rand(5, 6, generator=torch.Generator().manual_seed(0))
    values = [hartmann6(dict(zip(hartmann6.space.names, x, strict=True))) for x in X.tolist()]
    torch.testing.assert_close(selection.hartmann6(X), torch.tensor(values))


def test_f1_counts_what_was_found_and_is_one_where_there_is_nothing_to_find(selection):
    bad = torch.tensor([True, True, False, False])
    assert selection.f1(torch.tensor([True, False, True, False]), bad) == 0.5
    assert selection.f1(bad, bad) == 1.0
    assert selection.f1(torch.zeros(4, dtype=torch.bool), torch.zeros(4, dtype=torch.bool)) == 1.0


@pytest.mark.slow
def test_one_cell_is_scored_for_every_method_and_the_oracle(selection):
    cell = selection.Cell("neal", 20, "constant", 0.1, 0)
    found = selection.scores(cell)
    assert set(found) == {*selection.METHODS, "oracle"}
    assert found["oracle"][2] == 1.0
    assert found["relevance-pursuit"][0] < found["standard"][0]
    rows = selection.table({cell: found})
    assert len(rows) == len(found)
    assert "relevance-pursuit" in selection.summary(rows, kind="constant")


def test_the_grid_has_every_data_set_once(selection):
    cells = selection.cells(2)
    assert len(cells) == len(set(cells)) <= 2 * 4 * 4 * 17
    assert {cell.rate for cell in cells} == {0.0, 0.05, 0.1, 0.2, 0.4}
    left_out = 2 * 4 * 4 * 17 - len(cells)
    assert left_out < 0.05 * len(cells)
    assert not any(2 * selection.data(cell).bad.sum() >= cell.n for cell in cells)


def test_rows_of_methods_that_are_not_asked_for_stay(selection, tmp_path):
    cell = selection.Cell("neal", 20, "uniform", 0.2, 0)
    both = selection.table({cell: selection.scores(cell, ["standard", "oracle"])})
    path = tmp_path / "results.csv"
    path.write_text(selection.render(both, "csv"))
    again = selection.table({cell: selection.scores(cell, ["standard"])})
    assert selection.rows_of_others(None, ["standard"]) == []
    assert selection.rows_of_others(path, selection.NAMES) == []
    (kept,) = selection.rows_of_others(path, ["standard"])
    assert {key: kept[key] for key in ("method", "rmse", "nlpd", "f1")} == {
        key: both[1][key] for key in ("method", "rmse", "nlpd", "f1")
    }
    assert "oracle" in selection.summary([*again, kept], kind="uniform")
    assert "oracle" not in selection.summary(again)
