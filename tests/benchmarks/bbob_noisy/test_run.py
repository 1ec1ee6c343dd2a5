import io
import tarfile
from argparse import Namespace

import numpy as np
import pandas as pd
import pytest

NO_COCOEX = "no cocoex: pip install coco-experiment"


@pytest.fixture(scope="module")
def scores(load):
    return load("bbob_noisy.scores")


@pytest.fixture(scope="module")
def page(load):
    return load("bbob_noisy.page")


@pytest.fixture(scope="module")
def bbob(load):
    return load("bbob_noisy.run")


@pytest.fixture(scope="module")
def problems(load):
    pytest.importorskip("cocoex", reason=NO_COCOEX)
    return load("bbob_noisy.problem")


def made(scores, shares, seed=0):
    """Rows of two functions and three instances, by method as many targets as said and a draw of the instance."""
    draw, rows = np.random.default_rng(seed), []
    for function in (107, 110):
        for instance in (1, 2, 3):
            luck = int(draw.integers(10))
            for method, count in shares.items():
                entry = {"precision": [float(scores.TARGETS[count + luck - 1])] * 40, "cpu_s": 1.0}
                entry["recommended_precision"] = {str(n): 10.0**-n for n in scores.RECOMMENDED}
                rows.append(scores.row(function, 2, instance, method, entry))
    return scores.with_times(pd.DataFrame(rows))


def test_the_targets_are_the_fields(scores):
    assert len(scores.TARGETS) == 51
    assert (scores.TARGETS[0], scores.TARGETS[-1]) == (pytest.approx(100), pytest.approx(1e-8))
    assert np.allclose(np.diff(np.log10(scores.TARGETS)), -0.2)


def test_a_target_is_reached_at_the_first_evaluation_that_is_as_good(scores):
    precision = [500.0, 50.0, 200.0, 1e-3, 0.5, 2e-9]
    expected = [next(n for n, p in enumerate(precision, 1) if p <= target) for target in scores.TARGETS]
    assert scores.evaluations_to_targets(precision) == expected
    assert scores.evaluations_to_targets(precision[:5]) == [n for n in expected if n < 6]
    assert scores.evaluations_to_targets([500.0]) == []
    assert scores.evaluations_to_targets([0.0]) == [1] * 51


def test_methods_are_compared_over_the_same_instances(scores):
    rows = made(scores, {"default": 20, "random": 10})
    found = scores.compare_methods(rows, "share", ["noise"]).set_index("method")
    assert set(found["noise"]) == {"gaussian"}
    assert found.loc["random", "difference"] == pytest.approx(-10 / 51, abs=1e-4)
    assert found.loc["random", "difference_error"] == pytest.approx(0, abs=1e-4)  # luck is that of the instance
    assert found.loc["random", "error"] > 0.005
    by_hand = rows[rows["method"] == "random"].groupby("function")["share"]
    error = np.sqrt((by_hand.var(ddof=0) / by_hand.count()).sum()) / 2
    assert found.loc["random", "error"] == pytest.approx(error, rel=0.1)
    missing = rows.drop(rows.index[0])  # without one cell of ours its instance has no pair
    assert len(scores.complete_pairs(missing)) == len(rows) - 2
    alone = scores.compare_methods(rows[rows["instance"] == 1], "share", ["noise"])
    assert alone[["error", "difference_error"]].isna().all(axis=None)


def test_what_is_recommended_is_told_from_what_is_evaluated(scores):
    rows = made(scores, {"default": 20, "random": 10})
    tables = scores.tables(rows, None)
    assert (tables["recommended_5d"]["recommended_5d"] == -5).all()
    assert (tables["recommended_20d"]["recommended_20d"] == -8).all()  # no better than the last target
    assert tables["cost"]["sum"].sum() == len(rows)


def test_a_curve_ends_in_the_share_of_targets(scores, page):
    rows = made(scores, {"default": 20, "random": 10})
    ours = rows[rows["method"] == "default"]
    at = np.array([0.4, 0.5, 20.0])  # evaluations a dimension: all is reached at the first evaluation, in 2 dimensions
    assert page.curve(ours["reached"], at) == pytest.approx([0.0, ours["share"].mean(), ours["share"].mean()])


def test_the_reference_is_read_drawn_and_put_into_the_page(scores, page, tmp_path):
    text = (
        "% algorithm type = best\n1 1.584893192461113e+01 15.8 A 15 15\n7 1.0e-01 0.1 B 15 15\n30 1e-8 1e-8 C 15 15\n"
    )
    archive = tmp_path / "best.tar.gz"
    with tarfile.open(archive, "w:gz") as files:
        for name, content in (("b/x_f107_d02.dat", text), ("b/x_f101_d02.dat", text), ("b/x_f107_d02.tdat", "")):
            member = tarfile.TarInfo(name)
            member.size = len(content)
            files.addfile(member, io.BytesIO(content.encode()))
    found = scores.reference(archive)
    assert found[["function", "dimension"]].to_numpy().tolist() == [[107, 2]]
    times = [float(each) for each in found["reached"].iloc[0].split()]
    assert times == [1.0] * 5 + [7.0] * 11 + [30.0] * 35
    rows = made(scores, {"default": 20, "random": 10})
    tables = scores.tables(rows, found)
    assert scores.REFERENCE not in [f"{name}.csv" for name in tables]  # they are written into one folder
    assert tables["best_2009"].to_numpy().tolist() == [[pytest.approx(16 / 51)] * 2 + [1.0]]
    page.draw(rows, found, tmp_path / "drawn.png")
    assert (tmp_path / "drawn.png").stat().st_size > 1000
    file = tmp_path / "page.md"
    file.write_text("before\n<!-- tables -->\nold\n<!-- /tables -->\nafter\n")
    for _ in range(2):  # and again in place of the first
        page.put_into([file], rows, found)
    text = file.read_text()
    assert (text.count("best of 2009"), text.count("old")) == (1, 0)
    assert text.startswith("before\n")
    assert text.endswith("after\n")
    share = rows[rows["method"] == "random"]["share"].mean()
    assert f"| {share:.3f} ±" in text
    assert "| -0.196 ± 0.000 |" in text
    page.put_into([file], rows[rows["method"] == "random"], None)  # nothing to be compared with
    assert "paired" not in file.read_text()
    file.write_text("no marks")
    with pytest.raises(SystemExit, match="must have one line"):
        page.put_into([file], rows, found)


@pytest.mark.parametrize("function", [107, 108, 109])
def test_values_without_noise_are_the_spheres(problems, function):
    problem, draw = problems.NoisyProblem(function, 3, 2), np.random.default_rng(0)
    for x in draw.uniform(-5, 5, (20, 3)):
        assert problem.precision(x) == pytest.approx(np.sum((x - problem.best) ** 2), rel=1e-10)
    assert problem.precision(problem.best) < 1e-12


@pytest.mark.parametrize("base", [110, 113, 116, 119, 122, 125, 128])
def test_noise_lies_around_the_value_without_it(problems, base):
    x = np.array([1.5, -2.5])
    gaussian, cauchy = (problems.NoisyProblem(base + kind, 2, 4) for kind in (0, 2))
    values = np.array([gaussian(x) for _ in range(4000)])
    logs = np.log(values - problems.EPSILON - gaussian.optimum)  # of the precision, plus a standard normal number
    exact = cauchy.precision(x)
    assert logs.mean() == pytest.approx(np.log(exact), abs=0.07)
    assert logs.std() == pytest.approx(1, abs=0.07)
    assert gaussian.precision(x) == exact
    values = np.array([cauchy(x) for _ in range(4000)])
    is_exact = np.isclose(values, exact + cauchy.optimum + problems.ADDED, rtol=1e-12)
    assert is_exact.mean() == pytest.approx(0.775, abs=0.02)  # of what its generator draws; 0.8 by its definition
    assert cauchy.precision(cauchy.best) < 1e-12


def test_a_cell_is_recorded_once_and_the_same_again(problems, bbob, scores, tmp_path, monkeypatch):
    pytest.importorskip("cocoex", reason=NO_COCOEX)
    options = {"instances": range(1, 3), "functions": range(107, 110), "dimensions": [2], "methods": ["random"]}
    work = Namespace(work=tmp_path / "a", jobs=1, commit="", out=tmp_path / "kept", **options)
    bbob.record(work)
    cells = list(bbob.cells(work))
    assert [(cell.function, cell.instance) for cell in cells] == [(f, i) for i in (1, 2) for f in (107, 108, 109)]
    written = [cell.file.stat().st_mtime_ns for cell in cells]
    bbob.record(work)
    assert [cell.file.stat().st_mtime_ns for cell in cells] == written
    again = Namespace(**{**vars(work), "work": tmp_path / "b", "instances": range(2, 3)})
    bbob.record(again)  # another order of cells
    for cell in bbob.cells(again):
        first = cell._replace(work=work.work).entry()
        for key in ("points", "values", "precision"):
            assert cell.entry()[key] == first[key], key
    kept = cells[0].entry()
    assert kept["recommended"]["20"] == kept["points"][int(np.argmin(kept["values"]))]
    bbob.keep(work)
    rows = scores.read(work.out)
    assert len(rows) == 6
    assert (rows["recommended_20d"] >= rows["best"]).all()
    assert cells[0].entry()["about"]["versions"].count("coco-experiment==") == 1
    monkeypatch.chdir(tmp_path)
    bbob.coco(work)
    for instance, logged in enumerate(_logged(tmp_path / "exdata" / "random" / "data_f107")):
        best = np.minimum.accumulate(cells[3 * instance].entry()["precision"])
        assert max(logged) == len(best)
        assert [*logged.values()] == pytest.approx([best[n - 1] for n in logged], rel=1e-9)


def _logged(folder):
    """The best precisions in COCO's own files, by instance and evaluation."""
    (file,) = folder.glob("*.tdat")
    runs = [[line.split() for line in run.splitlines()[1:]] for run in file.read_text().split("%")[1:]]
    return [{int(words[0]): float(words[2]) for words in run if words} for run in runs]


@pytest.mark.parametrize(
    "method", [pytest.param("default", marks=pytest.mark.slow), "standard", "optuna-gp", "cma", "random"]
)
def test_every_method_proposes_points_of_the_box_and_recommends_one(load, method):
    if method == "cma":
        pytest.importorskip("cma", reason="no cma: pip install cma")
    methods = load("bbob_noisy.methods")
    points, recommended = played(methods.start_method(method, (107, 2, 1)))
    assert (points, recommended) == played(methods.start_method(method, (107, 2, 1)))
    assert np.abs(points).max() <= 5
    assert len({tuple(point) for point in points}) >= 6
    assert recommended in points or method == "cma"
    assert len(recommended) == 2
    assert np.abs(recommended).max() <= 5


def played(begun):
    """What a method asks for, and what it recommends in the end."""
    points = []
    for value in (4.0, 2.0, 1e9, -3.0, 5.0, 1.0, 7.0, 8.0):
        points.append(begun.ask())
        begun.tell(value)
    return points, begun.recommendation()
