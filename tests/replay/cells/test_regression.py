import math
import re

import numpy as np
import pandas as pd
import pytest
import torch

from robustbo.errors import FitError, ReplayMismatch, SpecError
from robustbo.replay import kinds
from robustbo.replay.cells.cell import cells
from robustbo.replay.cells.regression import RegressionCell, run
from robustbo.replay.execute import pool
from robustbo.replay.output import report
from robustbo.replay.output.loaded import load as load_recorded
from robustbo.replay.output.page import page, write
from robustbo.replay.plan import plan
from robustbo.replay.score import regression
from robustbo.replay.spec.reading import load
from robustbo.replay.spec.regression import RegressionSpec
from robustbo.replay.verify import verify, verify_folder
from robustbo.surrogates import StandardGP
from robustbo.surrogates.common.contract import fit
from robustbo.trials.storage.journal import Journal
from robustbo.trials.storage.reading import read
from robustbo_problems.regression import task

SPEC = """
kind = "regression"
title = "<i>two tasks</i>"
corruptions = ["none", "uniform"]
rates = [0.1, 0.2]
replications = 2
[tasks.neal]
n = 20
[tasks.small]
task = "friedman5"
n = 24
noise_sd = 0.0
[methods.standard]
[methods.trimmed]
[methods.oracle]
"""


@pytest.fixture
def path(tmp_path):
    (tmp_path / "spec.toml").write_text(SPEC)
    return tmp_path


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """A finished run."""
    folder = tmp_path_factory.mktemp("recorded")
    (folder / "spec.toml").write_text(SPEC)
    spec = load(folder)
    assert pool.run_cells(cells(RegressionCell, spec, folder), 1, lambda progress: None) == []
    report.write(folder, spec)
    return folder


def only(folder, method):
    spec = load(folder)
    return next(cell for cell in cells(RegressionCell, spec, folder) if cell.method == method)


class TestSpec:
    def test_every_method_meets_every_scenario_and_no_corruption_has_no_rate(self, path):
        spec = load(path)
        assert isinstance(spec, RegressionSpec)
        assert [s[:3] for s in spec.scenarios] == [
            ("neal", "none", 0.0),
            ("neal", "uniform", 0.1),
            ("neal", "uniform", 0.2),
            ("small", "none", 0.0),
            ("small", "uniform", 0.1),
            ("small", "uniform", 0.2),
        ]
        assert spec.trials == 6
        assert spec.scenarios[3].task == "friedman5"
        assert spec.scenarios[3].options == {"n": 24, "noise_sd": 0.0}

    @pytest.mark.parametrize(
        ("override", "message"),
        [
            ("tasks.nile={}", "there is no task 'nile'; did you mean 'neal'"),
            ("tasks.neal.rows=3", r"task 'neal' has the options \['n', 'noise_sd'\], got 'rows'"),
            ("corruptions=['rust']", "corruptions must be of .*'uniform'.*, got 'rust'"),
            ("rates=[1.5]", "must be at most 1"),
            ("methods.standard.surrogate='gp'", "surrogate must be one of"),
            (
                "methods.standard.acquisition='sobol'",
                "no such key, expected one of surrogate, options, transform, sees",
            ),
            ("trials=9", "no such key, expected one of kind, title"),
            ("rates=[0.1, 0.1]", "each must be there once"),
            ("corruptions=['none', 'none']", "each must be there once"),
            ("tasks.neal=3", "tasks.neal: .*got 3"),
            ("methods.standard=3", "methods.standard: .*got 3"),
            ("methods.sobol={}", "'sobol' says how to optimize, and cannot be fitted"),
            ("methods.informed={}", "'informed' says how to optimize, and cannot be fitted"),
            ("methods={'a/b' = {surrogate = 'standard'}}", "fit for a file's .*got 'a/b'"),
            ("published='nowhere.csv'", "published must be a CSV file beside the spec, got .*nowhere.csv"),
            ("kind='classification'", "kind: expected one of optimization, regression, got 'classification'"),
        ],
    )
    def test_what_is_wrong_is_named(self, path, override, message):
        with pytest.raises(SpecError, match=message):
            load(path, [override])


class TestScores:
    @pytest.mark.slow
    def test_are_those_of_a_fit_to_the_task_in_the_targets_units(self, recorded):
        cell = only(recorded, "standard")
        entry = cell.entries()[4]
        given = task("friedman5", n=24, noise_sd=0.0, corruption="uniform", rate=0.1, seed=cell.root)
        X, y = torch.from_numpy(given.X), torch.from_numpy(given.y)
        model = fit(StandardGP(X, y.unsqueeze(-1), outcome_transform=None))
        with torch.no_grad():
            posterior = model.posterior(torch.from_numpy(given.X_test), observation_noise=True)
        scale = float(given.y_scaling.scale)
        e = scale * (posterior.mean.squeeze(-1).numpy() - given.y_test)
        v = scale**2 * posterior.variance.detach().squeeze(-1).numpy()
        assert (entry["n"], entry["wrong"], entry["flagged"], entry["hits"]) == (24, 2, 0, 0)
        assert entry["rmse"] == pytest.approx(math.sqrt((e**2).mean()), rel=1e-9)
        assert entry["mae"] == pytest.approx(np.abs(e).mean(), rel=1e-9)
        assert entry["nlpd"] == pytest.approx(0.5 * (np.log(2 * np.pi * v) + e**2 / v).mean(), rel=1e-9)

    def test_an_oracle_is_fitted_to_the_clean_rows_alone(self, recorded):
        found = only(recorded, "oracle").entries()
        assert [(entry["n"], entry["wrong"]) for entry in found[3:]] == [(24, 0), (22, 0), (20, 0)]

    def test_flags_are_counted(self, recorded):
        found = only(recorded, "trimmed").entries()
        assert all(entry["hits"] <= min(entry["wrong"], entry["flagged"]) for entry in found)
        assert sum(entry["hits"] for entry in found) > 0


class TestRecord:
    def test_a_cell_that_was_stopped_goes_on_and_holds_what_an_undisturbed_one_does(self, path, recorded):
        cell = only(path, "standard")

        def stop(done, value):
            if done == 3:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            run(cell, stop)
        assert len(cell.entries()) == 3
        run(cell, lambda done, value: None)
        there = [only(folder, cell.method).entries() for folder in (path, recorded)]
        for found in there:
            for entry in found:
                entry.pop("fit_s")
        assert there[0] == there[1]

    def test_another_task_adds_to_what_is_recorded(self, path):
        cell = only(path, "standard")
        run(cell, lambda done, value: None)
        more = cells(RegressionCell, load(path, ["tasks.friedman10={n = 12}"]), path)[0]
        done = []
        run(more, lambda count, value: done.append(count))
        assert done == [7, 8, 9]
        assert more.entries()[:6] == cell.entries()

    def test_another_task_of_the_same_name_is_refused(self, path):
        run(only(path, "standard"), lambda done, value: None)
        with pytest.raises(SpecError, match=r"recorded with another task.*'n': 24.*now .*'n': 30"):
            cells(RegressionCell, load(path, ["tasks.small.n=30"]), path)[0].entries()

    def test_a_run_of_the_other_kind_is_refused(self, path, recorded):
        (path / "optimization.toml").write_text('problem = "branin"\nmethods = ["sobol"]\ntrials = 3\nreplications = 1')
        with pytest.raises(SpecError, match="holds a run of another kind"):
            plan(load(path / "optimization.toml"), recorded, resume=True)

    def test_what_cannot_be_fitted_is_named_and_the_others_go_on(self, path):
        cell = next(c for c in cells(RegressionCell, load(path, ["rates=[0.1, 1.0]"]), path) if c.method == "oracle")
        with pytest.raises(FitError, match=r"neal, uniform, 1: at least 2 rows .* got 0; small, uniform, 1: at least"):
            run(cell, lambda done, value: None)
        assert [(entry["name"], entry["rate"]) for entry in cell.entries()] == [
            ("neal", 0.0),
            ("neal", 0.1),
            ("small", 0.0),
            ("small", 0.1),
        ]

    def test_another_seed_is_refused(self, path):
        run(only(path, "standard"), lambda done, value: None)
        with pytest.raises(SpecError, match="seed: recorded 0, now 1"):
            cells(RegressionCell, load(path, ["seed=1"]), path)[0].entries()

    def test_is_verified_bit_for_bit(self, recorded):
        found = kinds.read_cells(recorded)
        assert len(found) == 6
        assert verify(found[0]).bits == 6
        verify_folder(recorded, found)

    @pytest.mark.parametrize(("off", "is_found"), [(1e-12, False), (1e-3, True)])
    def test_a_changed_score_is_found_unless_rounding_may_do_that(self, path, off, is_found):
        cell = only(path, "standard")
        run(cell, lambda done, value: None)
        contents = read(cell.journal)
        cell.journal.unlink()
        header = {key: value for key, value in contents.header.items() if key in ("hash", "cell")}
        changed = contents.events[0] | {"rmse": contents.events[0]["rmse"] + off}
        Journal.create(cell.journal, header).append(changed)
        if is_found:
            with pytest.raises(ReplayMismatch, match=r"standard, replication 0, neal none 0\.0, rmse: recorded"):
                verify(kinds.read_cells(path)[0])
        else:
            assert re.match(r"1 fits: the same to rounding .*of the score", str(verify(kinds.read_cells(path)[0])))

    @pytest.mark.slow
    def test_two_processes_leave_the_same_rows(self, path, recorded):
        spec = load(path)
        assert pool.run_cells(cells(RegressionCell, spec, path), 2, lambda progress: None) == []
        rows = [kinds.rows_of(kinds.read_cells(folder)).drop(columns="fit_s") for folder in (path, recorded)]
        pd.testing.assert_frame_equal(*rows)


class TestSummary:
    @pytest.fixture
    def table(self):
        rows = [
            {"method": method, "replication": r, "task": "neal", "corruption": "uniform", "rate": 0.1, "n": 20}
            | {"rmse": 1.0 + r, "mae": 0.5, "nlpd": -1.0, "wrong": 2, "flagged": 1, "hits": 1, "fit_s": 0.1 + r}
            for method in ("standard", "oracle")
            for r in range(3)
        ]
        return pd.DataFrame(rows)

    def test_has_means_errors_precision_and_recall(self, table):
        found = regression.summary(table, ["standard"])
        row = found.iloc[0]
        assert (row["rmse"], row["rmse_error"]) == (2.0, pytest.approx(1 / math.sqrt(3)))
        assert (row["precision"], row["recall"], row["fit_s"]) == (1.0, 0.5, 1.1)

    def test_a_papers_figures_stand_beside(self, table):
        columns = ["task", "corruption", "rate", "method", "score", "mean", "error"]
        published = pd.DataFrame([["neal", "uniform", 0.1, "standard", "rmse", 1.5, 0.2]], columns=columns)
        found = regression.summary(table, ["standard", "oracle"], published)
        assert found["published_rmse"].tolist()[0] == 1.5
        assert math.isnan(found["published_rmse"].tolist()[1])
        row = found.to_dict("records")[0]
        assert regression.readable(row)["rmse"] == "2 ± 0.6 (1.5)"


def test_the_page_has_its_tables_charts_and_switches(recorded):
    text = page([load_recorded(recorded)])
    assert "&lt;i&gt;two tasks&lt;/i&gt;" in text
    assert text.count("<svg viewBox") >= 4
    assert text.count("data-key=") == 3
    assert text.count("<tr>") >= 18
    assert (recorded / "curves.png").stat().st_size > 10_000


def test_pages_of_two_runs_of_one_name_have_a_picture_each(recorded, tmp_path):
    written = write([recorded, recorded], tmp_path / "new" / "all.html")
    assert [path.name for path in written] == ["all.html", f"{recorded.name}.png", f"{recorded.name}~2.png"]
    assert all(path.stat().st_size > 10_000 for path in written)
    with pytest.raises(SpecError, match=r"must end in \.html, got 'all'"):
        write([recorded], tmp_path / "all")
