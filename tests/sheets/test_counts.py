"""A sheet's column of how many measurements a value is the mean of."""

import pytest

import robustbo as rb


def write(path, header, *rows):
    path.write_text("\n".join([header, *rows, ""]))
    return path


def test_a_mean_of_replicates_is_told_once_and_amended_when_it_has_changed(tmp_path):
    opt = rb.Optimizer(rb.Space(x=rb.Float(0, 1)), direction="maximize", acquisition="sobol")
    header, sheet = "trial,x,value,sd,n", tmp_path / "s.csv"
    opt.read_sheet(write(sheet, header, ",0.5,1.0,0.3,3", ",0.6,2.0,,9", ",0.7,3.0,,"))
    assert [(trial.value, trial.n) for trial in opt.history] == [(1.0, 3), (2.0, 9), (3.0, 1)]
    assert [trial.sd for trial in opt.history] == [pytest.approx(0.3 / 3**0.5), None, None]
    assert opt.read_sheet(write(sheet, header, "0,0.5,1.0,0.3,3", "1,0.6,2.0,,9", "2,0.7,3.0,,")) == []
    changed = write(sheet, header, "0,0.5,1.0,0.3,5", "1,0.6,2.0,,", "2,0.7,3.0,,1")
    with pytest.raises(rb.SheetError, match=r"\(sd 0\.3\d*, n 3\), the cell has '1.0' \(sd 0.3, n 5\)"):
        opt.read_sheet(changed)
    (amended,) = opt.read_sheet(changed, amend=True)
    assert (amended.number, amended.n) == (0, 5)
    with pytest.raises(rb.SheetError, match="n must be a whole number of at least 1, got"):
        opt.read_sheet(write(sheet, header, ",0.1,1.0,,2.5"))


@pytest.mark.parametrize("name", ["n", "N"])
def test_a_numbering_of_rows_counts_nothing_and_is_said(tmp_path, name):
    opt = rb.Optimizer(rb.Space(x=rb.Float(0, 1)), direction="maximize", acquisition="sobol")
    rows = [",0.5,1.0,1", ",0.6,2.0,2", ",0.7,3.0,3"]
    with pytest.warns(rb.SheetWarning, match=r"'n' is taken for a numbering of the rows, .* rename it to 'value\.n'"):
        told = opt.read_sheet(write(tmp_path / "s.csv", f"trial,x,value,{name}", *rows))
    assert [(trial.n, trial.labels) for trial in told] == [(1, {name: "1"}), (1, {name: "2"}), (1, {name: "3"})]
    told = opt.read_sheet(write(tmp_path / "t.csv", "trial,x,value,value.n,n", *(f"{row}1,9" for row in rows)))
    assert [(trial.n, trial.labels) for trial in told] == [(n, {"n": "9"}) for n in (11, 21, 31)]


def test_of_several_outcomes_each_has_its_own_and_a_parameter_called_n_stays_one(tmp_path):
    opt = rb.Optimizer(
        rb.Space(n=rb.Int(1, 8)), objectives={"a": "maximize", "b": "minimize"}, acquisition="sobol", seed=0
    )
    opt.read_sheet(write(tmp_path / "s.csv", "trial,n,a,b,b.n", ",3,1.0,2.0,4"))
    (trial,) = opt.history
    assert trial.params == {"n": 3}
    assert {name: outcome.n for name, outcome in trial.outcomes.items()} == {"a": 1, "b": 4}
