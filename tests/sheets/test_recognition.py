"""Rows of somebody's own: which of them were told before, and which are other measurements that agree."""

import pytest

import robustbo as rb


@pytest.fixture
def read(tmp_path):
    """Reads rows of somebody's own, each time as another file; gives the states of all trials."""
    opt = rb.Optimizer(rb.Space(x=rb.Float(0, 1)), direction="minimize", acquisition="sobol", seed=1)

    def read_rows(header, *rows):
        path = tmp_path / f"{len(list(tmp_path.iterdir()))}.csv"
        path.write_text("\n".join([f"trial,x,value{header}", *rows, ""]))
        opt.read_sheet(path)
        return [trial.sources or (trial.sd, trial.n) for trial in opt.history]

    read_rows.opt = opt
    return read_rows


def test_what_two_sources_measured_alike_is_told_twice(read):
    read(",source.reactor", ",0.5,51.9,R1")
    assert read(",source.reactor", ",0.5,51.9,R2") == [{"reactor": "R1"}, {"reactor": "R2"}]
    assert len(read("", ",0.5,51.9")) == 3


def test_so_is_what_is_as_noisy_as_nothing_else(read):
    read(",sd,n", ",0.5,51.9,0.5,", ",0.5,51.9,0.25,", ",0.5,51.9,,4")
    with pytest.warns(rb.SheetWarning, match="is taken for trial"):
        assert read(",sd,n", ",0.5,51.9,,4", ",0.5,51.9,,9", ",0.5,51.9,0.5,") == [
            (0.5, 1),
            (0.25, 1),
            (None, 4),
            (None, 9),
        ]


def test_a_row_that_may_be_another_measurement_is_said(read):
    read("", ",0.5,51.9")
    with pytest.warns(rb.SheetWarning, match=r"line 2: is taken for trial 0, .*another measurement, say what measured"):
        read("", ",0.5,51.9")
    assert len(read.opt.history) == 1


@pytest.mark.filterwarnings("ignore:.*is taken for trial:robustbo.SheetWarning")
def test_a_row_is_known_by_the_value_before_an_amendment_and_a_correction(read):
    read(",sd,source.reactor", ",0.5,51.9,0.5,R1")
    read.opt.amend(0, 50.0)
    read.opt.correct(source={"reactor": "R1"}, error=1.0)
    read(",sd,source.reactor", ",0.5,51.9,0.5,R1", ",0.5,50.0,,R1")
    assert [trial.value for trial in read.opt.history] == [49.0, 49.0]
    read(",sd,source.reactor", ",0.5,50.0,,R1", ",0.5,50.0,,R1")
    assert len(read.opt.history) == 2


@pytest.mark.filterwarnings("ignore:.*is taken for trial:robustbo.SheetWarning")
def test_the_target_may_be_named_or_not(tmp_path):
    sources = {"lab": rb.Source(target=True), "sim": rb.Source(cost=0.1)}
    opt = rb.Optimizer(rb.Space(x=rb.Float(0, 1)), direction="minimize", acquisition="sobol", sources=sources)
    for name in ("lab", "", "sim", "sim"):
        (tmp_path / "s.csv").write_text(f"trial,x,source,value\n,0.5,{name},1\n")
        opt.read_sheet(tmp_path / "s.csv")
    assert [trial.source for trial in opt.history] == ["lab", "sim"]
