import tomllib
from argparse import Namespace
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def plan(load):
    return load("league.plan")


@pytest.fixture(scope="module")
def run(load):
    return load("league.run")


def test_problems_are_sixteen_and_registered(plan):
    entry_points = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]["robustbo.problems"]
    own = {name: entry for name, entry in plan.PROBLEMS.items() if entry.registered != "table"}
    assert len(own) == 16
    assert {entry.registered for entry in own.values()} <= set(entry_points)
    assert set(plan.ABOUT) == set(plan.SETTINGS)


def test_methods_are_those_that_the_far_end_serves(plan, load):
    peers, groups = load("league.server.serve").PEERS, load("league.environments").GROUPS
    assert set(plan.METHODS) == {*peers, *plan.OURS}
    assert {entry.environment for entry in plan.METHODS.values()} - {None} == set(groups)
    serve = load("league.server.serve")
    others = serve.OF_OLD_STUDIES | serve.OF_TABLES
    assert not {*peers} & {*others}
    assert len(others) == len(serve.OF_OLD_STUDIES) + len(serve.OF_TABLES)
    modules = [module for module, _, _ in (*peers.values(), *others.values())]
    assert all((ROOT / "benchmarks/league/server" / f"{module}.py").exists() for module in modules)


def test_the_core_has_every_setting_with_enough_problems(plan):
    core = list(plan.cases(plan.PROBLEMS, plan.SETTINGS, "core"))
    assert set(core) < set(plan.cases(plan.PROBLEMS, plan.SETTINGS, "all"))
    for setting in plan.SETTINGS:
        problems = [problem for problem, s in core if s == setting]
        assert len(problems) >= (2 if setting == "repeats" else 4), setting


def test_replications_come_first_and_cheap_methods_before_dear_ones(plan):
    keys = list(plan.order(range(10), ["hebo", "default", "random"], ["branin", "hplc"], ["clean", "repeats"]))
    assert [key[0] for key in keys] == sorted(key[0] for key in keys)
    first = [key[1:] for key in keys if key[0] == 0]
    assert first[:3] == [("random", "branin", "clean"), ("random", "hplc", "clean"), ("random", "hplc", "repeats")]
    costs = [plan.METHODS[method].ask_s for method, _, _ in first]
    assert costs == sorted(costs)
    assert {method for replication, method, _, _ in keys if replication == 9} == {"default", "random"}


@pytest.mark.parametrize("problem", ["branin", "mixture", "ackley-20"])
def test_the_best_point_never_crashes(plan, problem):
    corruption = plan.spec_of(problem, "crash").build_corruption()
    of = plan.problem_of(problem)
    assert not corruption.fails_at(of.optimizer or of.best_seen_at)
    if problem == "branin":
        fails = [corruption.fails_at(point) for point in of.space.sobol_points(0, 0, 200)]
        assert sum(fails) / 200 == pytest.approx(0.3, abs=0.05)


def test_every_setting_makes_a_run_file(plan):
    for problem, setting in plan.cases(plan.PROBLEMS, plan.SETTINGS, "all"):
        if problem in ("branin", "hplc"):
            plan.spec_of(problem, setting).build_corruption()
    with pytest.raises(ValueError, match="branin must be in a setting"):
        plan.spec_of("branin", "repeats")


def test_methods_meet_the_same_errors(load, plan, tmp_path, monkeypatch):
    cells = load("league.cells")
    monkeypatch.setattr(cells, "python_of", lambda work, group: __import__("sys").executable)
    cell = cells.Cell(tmp_path, 1, "random", "branin", "good-20", trials=30)
    entry = cells.run(cell)
    spec, corruption = plan.spec_of("branin", "good-20"), plan.spec_of("branin", "good-20").build_corruption()
    anywhere = [spec.measure(corruption, {"x1": 0.0, "x2": 0.0}, 0.0, root=cell.root, number=n) for n in range(30)]
    assert entry["wrong"] == [n for n, (_, is_wrong) in enumerate(anywhere) if is_wrong] != []
    errors = [value - clean for value, clean in zip(entry["values"], entry["clean"], strict=True)]
    assert errors == pytest.approx([value for value, _ in anywhere])
    assert entry["recommended_clean"] == {30: plan.problem_of("branin").truth(entry["recommended"][30])}


def test_cells_that_cannot_differ_are_one(load, tmp_path):
    cells = load("league.cells")

    def alike(method, setting):
        cell = cells.Cell(tmp_path, 0, method, "branin", setting).alike
        return cell.method, cell.setting

    assert alike("oracle", "any-5") == alike("oracle", "noise-5") == ("oracle", "clean")
    assert alike("informed", "noise-5") == ("standard", "noise-5")
    assert alike("informed", "flakes") == ("standard", "flakes")
    assert alike("informed", "any-5") == ("informed", "any-5")
    assert alike("hebo", "any-5") == ("hebo", "any-5")


def test_a_recording_goes_on_where_it_stopped(run, plan, load, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(load("league.cells"), "python_of", lambda work, group: __import__("sys").executable)
    words = ["--work", str(tmp_path), "--methods", "random", "--problems", "branin", "--settings", "clean", "any-5"]
    few = [*words, "--replications", "0:1", "--trials", "30", "--commit", "abc"]
    run.main(["record", *few])
    assert len(capsys.readouterr().out.splitlines()) == 2
    run.main(["record", *few])
    assert capsys.readouterr().out == ""
    run.main(["keep", *few, "--out", str(tmp_path / "rows")])
    rows = load("league.scores").read(tmp_path / "rows")
    assert list(rows["setting"]) == ["any-5", "clean"]
    assert rows["regret_30"].notna().all()
    assert rows["regret_100"].isna().all()
    run.write_page(Namespace(rows=tmp_path / "rows", page=None))
    assert "Nothing is recorded yet" in capsys.readouterr().out


def test_rows_of_another_machine_stay(run, load, tmp_path, monkeypatch):
    monkeypatch.setattr(load("league.cells"), "python_of", lambda work, group: __import__("sys").executable)
    of, out = ["--methods", "random", "--problems", "branin", "--trials", "30"], tmp_path / "rows"
    for machine, settings in (("abc", ("clean", "any-5")), ("def", ("clean",))):
        words = ["--work", str(tmp_path / machine), *of, "--replications", "0:1", "--settings", *settings]
        run.main(["record", *words, "--commit", machine])
        run.main(["keep", *words, "--commit", machine, "--out", str(out)])
    rows = load("league.scores").read(out)
    assert list(zip(rows["setting"], rows["commit"], strict=True)) == [("any-5", "abc"), ("clean", "def")]
    assert rows["regret_30"].notna().all()
    about = load("league.run").pd.read_csv(out / "about.csv")
    assert list(about["commit"]) == ["abc", "def"]
    run.main(["record", *words[:-1], "any-5", "--commit", "def"])
    run.main(["keep", *words[:-1], "any-5", "--commit", "def", "--out", str(out)])
    assert list(load("league.run").pd.read_csv(out / "about.csv")["commit"]) == ["def"]


def test_a_peer_that_cannot_search_a_space_says_why(load, tmp_path, monkeypatch):
    cells, protocol = load("league.cells"), load("league.protocol")

    def refuse(cell):
        raise protocol.CannotSearch("no sums")

    monkeypatch.setattr(cells, "start", refuse)
    cell = cells.Cell(tmp_path, 0, "cma", "branin", "clean")
    assert cells.record(cell)[1:] == (0.0, "cannot: no sums")
    assert load("league.scores").row(cell, cell.entry())["cannot"] == "no sums"


def test_core_hours_count_cells_that_cannot_differ_once(plan):
    settings = ["clean", "noise-5", "any-5", "any-10"]
    hours = plan.core_hours(["oracle", "informed"], ["branin"], settings, "all")
    hours_of = {name: plan.METHODS[name].ask_s * plan.REPLICATIONS * 100 / 3600 for name in hours}
    assert hours == pytest.approx(
        {name: n * hours_of[name] for name, n in {"oracle": 1, "standard": 2, "informed": 2}.items()}
    )
